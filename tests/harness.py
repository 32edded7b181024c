"""Shared by the tests of real recordings: a table of tests, running galvo, reading its streams.

Environment: GALVO is the program, GALVO_TREE the source tree. What a test says about streams comes
from protoc's Python, not from galvo's own reader.
"""
import math
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback

GALVO = os.path.abspath(os.environ.get("GALVO", "galvo"))
TREE = os.environ.get("GALVO_TREE") or os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PATIENCE_S = 60  # of one test and of everything it waits for: the machine may be busy
tests = []


class Skip(Exception):
    """This test cannot be done here, for that reason."""


def test(function):
    """Decorator: its name, in words, is the test's."""
    tests.append(function)
    return function


def need(program):
    if not shutil.which(program):
        raise Skip(program + " is not installed")


def main():
    """Runs all tests, or those whose names contain one of the words given; exits."""
    wanted = [t for t in tests if not sys.argv[1:] or any(w in t.__name__ for w in sys.argv[1:])]
    passed = failed = skipped = 0
    home = os.getcwd()
    signal.signal(signal.SIGALRM, on_alarm)
    for function in wanted:
        name = function.__name__.replace("_", " ")
        with tempfile.TemporaryDirectory(prefix="galvo-test-", ignore_cleanup_errors=True) as place:
            os.chdir(place)
            signal.alarm(getattr(function, "patience_s", PATIENCE_S))
            try:
                function()
                passed += 1
                print("ok      " + name)
            except Skip as why:
                skipped += 1
                print("skip: " + name + ": " + str(why))
            except Exception:  # an assertion, a timeout, a bug of the test: all the same here
                failed += 1
                print("not ok  " + name)
                traceback.print_exc(limit=-3, chain=False, file=sys.stdout)
            finally:
                signal.alarm(0)
                os.chdir(home)
        sys.stdout.flush()
    print("%d passed, %d failed" % (passed, failed) + (", %d skipped" % skipped if skipped else ""))
    sys.exit(1 if failed else 77 if skipped and not passed else 0)


def on_alarm(number, frame):
    raise TimeoutError("the test takes too long")


def wait_until(condition, what, pause_s=0.005):
    """Polls; the answer of the condition as soon as it is true."""
    end = time.monotonic() + PATIENCE_S / 2
    while time.monotonic() < end:
        answer = condition()
        if answer:
            return answer
        time.sleep(pause_s)
    raise TimeoutError("waiting until " + what)


def start(*words, **options):
    """A program under our eyes; its output is collected unless options say otherwise."""
    for stream in ("stdout", "stderr"):
        options.setdefault(stream, subprocess.PIPE)
    options.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.Popen([str(w) for w in words], **options)


def run(*words, input=None, **options):
    """The same to its end: .returncode, .stdout, .stderr in bytes."""
    if input is not None:
        options["stdin"] = subprocess.PIPE
    process = start(*words, **options)
    try:
        out, err = process.communicate(input, timeout=PATIENCE_S / 2)
    except BaseException:
        process.kill()
        process.wait()
        raise
    return subprocess.CompletedProcess(words, process.returncode, out, err)


def record(*words, **options):
    return run(GALVO, "record", *words, **options)


def check(path, expected=0):
    """galvo check has to answer so; what it says."""
    done = run(GALVO, "check", path)
    assert done.returncode == expected, (done.returncode, done.stdout, done.stderr)
    return done.stdout.decode()


def one_line(text, *words):
    """galvo said one line, with these words in it."""
    lines = text.decode().splitlines()
    assert len(lines) == 1 and lines[0].startswith("galvo: "), lines
    assert all(w in lines[0] for w in words), (words, lines)


def same(found, wanted):
    assert found == wanted, "found %r, not %r" % (found, wanted)


# ---- streams ------------------------------------------------------------------------------------

messages_of = {}


def load_schema():
    """protoc's Python of the tree's schema, once."""
    if messages_of:
        return
    need("protoc")
    try:
        import google.protobuf  # noqa: F401
    except ImportError:
        raise Skip("python3-protobuf is not installed")
    with tempfile.TemporaryDirectory() as place:
        proto = os.path.join(TREE, "proto")
        files = [f for f in os.listdir(proto) if f.endswith(".proto")]
        command = ["protoc", "-I", proto, "--python_out", place, *files]
        subprocess.run(command, check=True, cwd=proto)
        sys.path.insert(0, place)
        try:
            import disk_metrics_pb2
            import gpu_metrics_pb2
            import gpu_telemetry_pb2
            import session_metadata_pb2
            import system_metrics_pb2
        finally:
            sys.path.remove(place)
    messages_of["system_metrics.pb"] = system_metrics_pb2.SystemMetricsTrace
    messages_of["disk_metrics.pb"] = disk_metrics_pb2.DiskMetricsTrace
    messages_of["gpu_metrics.pb"] = gpu_metrics_pb2.GPUMetricsTrace
    messages_of["gpu_telemetry.pb"] = gpu_telemetry_pb2.GPUTelemetryTrace
    messages_of["session_metadata.pb"] = session_metadata_pb2.SessionMetadata


def session_of(path):
    load_schema()
    session = messages_of["session_metadata.pb"]()
    with open(os.path.join(path, "session_metadata.pb"), "rb") as file:
        session.ParseFromString(file.read())
    return session


def read_messages(path):
    """The whole messages of a stream; a torn tail is left out."""
    load_schema()
    with open(path, "rb") as file:
        data = file.read()
    messages, at = [], 0
    while at < len(data):
        size = shift = 0
        while at < len(data):
            byte = data[at]
            at += 1
            size |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
        if at + size > len(data):
            break
        message = messages_of[os.path.basename(path)]()
        message.ParseFromString(data[at:at + size])
        messages.append(message)
        at += size
    return messages


SCOPES = {
    "system_samples": (1, None),
    "device_samples": (2, "device_name"),
    "process_samples": (3, "pid"),
    "samples": (4, "gpu_index"),
    "detail_samples": (105, "gpu_index"),
    "core_samples": (100, "cpu"),
    "interface_samples": (101, "device_name"),
    "system_detail_samples": (102, None),
    "process_detail_samples": (103, "pid"),
    "thread_samples": (104, "tid"),
}


def rows(messages, samples):
    """(timestamp in ns, key, {column: value}) of all rows of a kind, in order."""
    scope, key = SCOPES[samples]
    for message in messages:
        names = next((list(n.fqns) for n in message.scope_metric_names if n.scope == scope), [])
        for row in getattr(message, samples):
            yield row.timestamp_ns, getattr(row, key) if key else None, dict(zip(names, row.values))


def series(messages, samples, column, key=None):
    """[(timestamp in ns, value)] of one column of one process, device…"""
    return [(at, values[column]) for at, of, values in rows(messages, samples)
            if (key is None or of == key) and not math.isnan(values.get(column, math.nan))]


def integral(points):
    """Of a rate a second. A row speaks for the time since the row before: the first for none."""
    return sum(v * (at - before) / 1e9 for (before, _), (at, v) in zip(points, points[1:]))


def last_timestamp(path):
    """Of all rows of a run, in ns; 0 without any."""
    last = 0
    for name, kinds in (("system_metrics.pb", ("system_samples", "process_samples")),
                        ("disk_metrics.pb", ("device_samples", "process_samples"))):
        file = os.path.join(path, name)
        if os.path.exists(file):
            messages = read_messages(file)
            last = max([last] + [row[0] for kind in kinds for row in rows(messages, kind)])
    return last
