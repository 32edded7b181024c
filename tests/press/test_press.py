"""Files that cannot be written: a file system that stalls, one that is full, files of /proc that hang."""
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import harness  # noqa: E402
from harness import (  # noqa: E402
    GALVO, Skip, TREE, check, main, one_line, read_messages, record, run, same, session_of, start,
    test, wait_until,
)

HERE = os.path.dirname(os.path.abspath(__file__))
STOP_BOUND_S = 14 + 3  # of samplers, events and the writer; and for a busy machine
HZ, FLUSH_S, STALL_S = 100, 0.05, 2.0


class Stalling:
    """A file system of ours in ./fs, while the block lasts."""

    def __enter__(self):
        if os.geteuid() != 0 or not os.access("/dev/fuse", os.R_OK | os.W_OK):
            raise Skip("mounting a file system of our own needs root and /dev/fuse")
        os.mkdir("fs")
        script = os.path.join(HERE, "stalling_fs.py")
        self.server = start(sys.executable, script, "fs", stdin=subprocess.PIPE)
        if self.server.stdout.readline() != b"done\n":
            raise Skip("no file system can be mounted here: %s" % self.server.communicate()[1][-80:])
        return self

    def tell(self, command):
        self.server.stdin.write(command.encode() + b"\n")
        self.server.stdin.flush()
        same(self.server.stdout.readline(), b"done\n")

    def __exit__(self, *_):
        self.server.communicate()


def missed(message):
    return message.probe_stats.ticks, message.probe_stats.missed_ticks


def gaps(messages):
    numbers = [m.header.sequence for m in messages]
    return sum(b - a - 1 for a, b in zip(numbers, numbers[1:]))


def share_missed(before, after):
    ticks, late = (b - a for a, b in zip(missed(before), missed(after)))
    return late / max(ticks + late, 1)


def dropped_are_told(path):
    """The sum of batches that are missing, which every one has to say who is to know."""
    total = 0
    for name in ("system_metrics.pb", "disk_metrics.pb"):
        messages = read_messages(os.path.join(path, name))
        same(gaps(messages), messages[-1].probe_stats.dropped_batches)
        total += gaps(messages)
    same(session_of(path).cost.dropped_batches >= total, True)  # events have a stream, too
    said = check(path, expected=1)
    assert "missing (dropped while recording" in said, said
    report = run(GALVO, "report", path).stdout.decode()
    assert "messages missing" in report and "rows dropped" in report, report
    return total


def no_tick_is_delayed(messages, last_before, first_after, total):
    """A sampler that waits misses all of them; a busy machine, some before and some in between."""
    calm = share_missed(messages[0], messages[last_before])
    stall = share_missed(messages[last_before], messages[first_after])
    print("        missed: %.1f %% before, %.1f %% in the gap; %d batches dropped" %
          (100 * calm, 100 * stall, total))
    assert stall <= calm + 0.3, (calm, stall)


@test
def a_stall_delays_no_sampler_and_is_told():
    with Stalling() as fs:
        recorder = start(GALVO, "record", "--hz", HZ, "--flush", "%dms" % (FLUSH_S * 1000),
                         "--budget", "50", "-o", "fs/r", "--", "sh", "-c",
                         "sleep 2; sleep 0.3 & wait; while [ ! -e over ]; do sleep 0.1; done")
        wait_until(lambda: os.path.exists("fs/r/session_metadata.pb"), "recording")
        time.sleep(1.5)
        fs.tell("hold write")
        stalled_ns = time.monotonic_ns()
        time.sleep(STALL_S)
        fs.tell("go")
        over_ns = time.monotonic_ns()
        time.sleep(1)
        open("over", "w").close()
        out, err = recorder.communicate()
        same(recorder.returncode, 0)
        shutil.copytree("fs/r", "copy")
    total = dropped_are_told("copy")
    assert total > STALL_S / FLUSH_S / 2, total  # of two streams, each with three batches of room
    messages = read_messages("copy/system_metrics.pb")
    at = [m.header.anchors.steady_clock_reference_ns for m in messages]
    last_before = max(i for i, t in enumerate(at) if t < stalled_ns)
    first_after = min(i for i, t in enumerate(at) if t > over_ns)
    assert messages[first_after].header.sequence - messages[last_before].header.sequence > 10
    no_tick_is_delayed(messages, last_before, first_after, total)
    # Who came and went in between is known all the same, and its end is told.
    known = {p.pid: p for m in messages for p in m.tracked_processes}
    removed = {p.pid for m in messages for p in m.tracked_processes if p.removed}
    unseen = [p.pid for p in known.values() if stalled_ns < p.end_timestamp_ns < over_ns]
    assert unseen and all(pid in removed for pid in unseen), (unseen, removed)
    ends = [p.pid for p in known.values() if p.end_timestamp_ns]
    assert set(ends) <= removed, (ends, removed)


def stop_in_a_stall(how, words, flush="50ms", workload="sleep 1; exit 0"):
    """How long after the workload's end galvo said what is lost, and how long until it was gone."""
    with Stalling() as fs:
        recorder = start(GALVO, "record", "--flush", flush, "-o", "fs/r", "--", "sh", "-c",
                         "echo; " + workload)
        recorder.stdout.readline()
        wait_until(lambda: os.path.exists("fs/r/session_metadata.pb"), "recording")
        wait_until(lambda: run("pgrep", "-P", recorder.pid).stdout, "the workload")
        pid = int(run("pgrep", "-P", recorder.pid).stdout.split()[0])
        time.sleep(0.3)
        fs.tell(how)
        wait_until(lambda: not os.path.exists("/proc/%d" % pid), "the workload ends")
        ended = time.monotonic()
        line = recorder.stderr.readline()
        while b"slowed" in line:
            line = recorder.stderr.readline()
        told_s = time.monotonic() - ended
        one_line(line, "part of the recording is lost", *words)
        if how.startswith("hold"):
            time.sleep(0.5)  # the kernel keeps a process whose request is being served
            fs.tell("go")
        recorder.communicate()
        gone_s = time.monotonic() - ended
        same(recorder.returncode, 125)
        print("        %s: told after %.1f s, gone after %.1f s" % (how, told_s, gone_s))
        assert told_s < STOP_BOUND_S and gone_s < STOP_BOUND_S, (told_s, gone_s)


@test
def a_stop_while_writes_stall():
    stop_in_a_stall("hold write", ["/r: ", "the file system does not answer"])


@test
def a_stop_while_the_server_is_stopped():
    stop_in_a_stall("deaf", ["/r: ", "the file system does not answer"])


@test
def a_stop_while_the_metadata_stall():
    stop_in_a_stall("hold rename", ["/r: session_metadata.pb: ", "the file system does not answer"])


@test
def a_workload_that_fails_keeps_its_status_in_a_stall():
    with Stalling() as fs:
        recorder = start(GALVO, "record", "-q", "--flush", "50ms", "-o", "fs/r", "--", "sh", "-c",
                         "sleep 1; exit 7")
        wait_until(lambda: os.path.exists("fs/r/session_metadata.pb"), "recording")
        fs.tell("deaf")
        from_s = time.monotonic()
        recorder.communicate()
        same(recorder.returncode, 7)
        assert time.monotonic() - from_s < STOP_BOUND_S + 1


@test
def a_full_disk_and_room_again():
    os.mkdir("tiny")
    done = run("mount", "-t", "tmpfs", "-o", "size=640k", "tiny", "tiny")
    if done.returncode != 0:
        raise Skip("a small file system needs root: %s" % done.stderr.decode().strip())
    try:
        with open("tiny/ballast", "wb") as file:
            file.write(bytes(400 << 10))
        recorder = start(GALVO, "record", "--hz", 500, "--budget", "50", "--flush", "50ms",
                         "-o", "tiny/r", "--", "sh", "-c", "while [ ! -e over ]; do sleep 0.1; done")
        wait_until(lambda: os.statvfs("tiny").f_bavail == 0, "the disk is full")
        time.sleep(1)
        os.unlink("tiny/ballast")
        time.sleep(0.5)
        open("over", "w").close()
        _, err = recorder.communicate()
        same(recorder.returncode, 125)
        lines = [line for line in err.decode().splitlines() if "slowed" not in line]
        one_line("\n".join(lines).encode(), "part of the recording is lost", "_metrics.pb: No space left")
        shutil.copytree("tiny/r", "copy")
    finally:
        run("umount", "-l", "tiny")
    total = dropped_are_told("copy")
    assert total > 3, total
    messages = read_messages("copy/system_metrics.pb")
    numbers = [m.header.sequence for m in messages]
    gap = max(range(1, len(numbers)), key=lambda i: numbers[i] - numbers[i - 1])
    no_tick_is_delayed(messages, gap - 1, gap, total)


@test
def a_stop_while_files_of_proc_hang():
    with Stalling() as fs:
        for place in ("proc", "sys"):
            shutil.copytree(os.path.join(TREE, "tests/fixtures/machine/small/t0", place),
                            "fs/" + place, copy_function=shutil.copyfile)
        recorder = start(GALVO, "record", "--root", "fs", "-a", "-o", "r")
        wait_until(lambda: os.path.exists("r/session_metadata.pb"), "recording")
        time.sleep(0.5)
        fs.tell("deaf")
        recorder.send_signal(signal.SIGINT)
        from_s = time.monotonic()
        _, err = recorder.communicate()
        took_s = time.monotonic() - from_s
        same(recorder.returncode, 125)
        one_line(err.splitlines()[-1], "a reading of proc/ or sys/ does not return")
        print("        gone after %.1f s" % took_s)
        assert took_s < 5 + 3, took_s
    assert session_of("r").stop_timestamp_ns
    assert run(GALVO, "check", "r").returncode in (0, 1)


# An exec that closes a file which cannot be closed: some files of the process do not answer meanwhile.
EXEC = """
import os
fd = os.open("fs/x", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC)
print(os.getpid(), flush=True)
input()
"""
OF_ITSELF = EXEC + 'os.execlp("sleep", "sleep", "0.3")'
OF_A_CHILD = EXEC + """
print(os.posix_spawnp("sleep", ["sleep", "0.3"], os.environ), flush=True)
os.wait()
"""


def nobody_waits(script, *options):
    """Both streams go on while it hangs, and the process is known by its new name then."""
    with Stalling() as fs:
        recorder = start(GALVO, "record", "-q", "--flush", "50ms", *options, "-o", "r", "--",
                         sys.executable, "-c", script, stdin=subprocess.PIPE)
        pid = int(recorder.stdout.readline())
        wait_until(lambda: with_io(pid), "it has rows")
        fs.tell("deaf")
        recorder.stdin.write(b"\n")
        recorder.stdin.flush()
        if script == OF_A_CHILD:
            pid = int(recorder.stdout.readline())

        def command():
            with open("/proc/%d/cmdline" % pid, "rb") as file:
                return file.read()

        def sizes():
            return [os.path.getsize("r/%s_metrics.pb" % name) for name in ("system", "disk")]

        wait_until(lambda: not command(), "exec has begun")
        for _ in range(5):
            before = sizes()
            wait_until(lambda: all(b > a for a, b in zip(before, sizes())), "both streams go on")
        same(command(), b"")
        fs.tell("go")
        recorder.communicate()
        same(recorder.returncode, 0)
    check("r")
    same([p["comm"] for p in processes() if p["pid"] == pid], ["sleep"])


def processes():
    done = run(GALVO, "report", "--json", "r")
    return json.loads(done.stdout)["processes"] if done.returncode == 0 else []


def with_io(pid):
    return any(p["pid"] == pid and p["wchar_bytes"] is not None for p in processes())


@test
def nobody_waits_for_an_exec_of_a_child():
    nobody_waits(OF_A_CHILD)


@test
def nobody_waits_for_an_exec_of_who_is_followed():
    nobody_waits(OF_ITSELF, "--hz", "1000", "--disk-hz", "2", "--budget", "100")


harness.PATIENCE_S = 120
main()
