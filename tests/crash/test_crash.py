"""A recorder that crashes: it says so in a line, dies of it, and leaves run and workload as they are."""
import os
import platform
import resource
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from harness import (  # noqa: E402
    GALVO, Skip, check, main, need, one_line, run, same, session_of, start, test, wait_until,
)

CRASHES = (signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGABRT)
UNDEFINED = {"x86_64": b"\x0f\x0b", "aarch64": bytes(4)}  # an instruction that is none

# Sanitizers have handlers of their own.
for name in ("ASAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS"):
    os.environ[name] = os.environ.get(name, "") + "".join(
        ":handle_%s=0" % what for what in ("segv", "sigbus", "sigfpe", "sigill", "abort"))


def recorder(**more):
    shutil.rmtree("r", ignore_errors=True)
    process = start(GALVO, "record", "-q", "--flush", "20ms", "-o", "r", "--",
                    "sleep", "60", start_new_session=True, **more)
    wait_until(lambda: os.path.exists("r/system_metrics.pb") and os.path.exists("r/session_metadata.pb")
               and os.path.getsize("r/system_metrics.pb"), "the first flush")
    pid = session_of("r").workload.pid
    wait_until(lambda: status_of(pid)["Name"] == "sleep", "the workload runs")
    return process, pid


def status_of(pid):
    with open("/proc/%d/status" % pid) as file:
        return dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)


def masks(status):
    return {key: status[key] for key in ("SigIgn", "SigBlk")}


def is_left_alone(pid, wanted):
    """It lives, runs, and has the signals that it had."""
    time.sleep(0.1)
    status = status_of(pid)
    assert status["State"][0] in "RS", status["State"]
    same(masks(status), wanted)


def died_of(process, number, pid, wanted):
    err = process.stderr.readline()
    process.wait(30)
    try:
        same(process.returncode, -number)
        one_line(err, "killed by " + number.name, "r is readable", "galvo check r")
        said = check("r", expected=1)
        assert "did not end" in said and "damaged" not in said and "cut short" not in said, said
        is_left_alone(pid, wanted)
    finally:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass  # that was what went wrong
        process.communicate()


def without_core():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


@test
def a_signal_that_tells_of_a_crash():
    plain = start("sleep", "60", preexec_fn=without_core)
    wait_until(lambda: status_of(plain.pid)["Name"] == "sleep", "it runs")
    wanted = masks(status_of(plain.pid))
    plain.kill()
    plain.communicate()
    for number in CRASHES:
        process, pid = recorder(preexec_fn=without_core)
        same(masks(status_of(pid)), wanted)
        process.send_signal(number)
        died_of(process, number, pid, wanted)


@test
def one_that_was_ignored_stays_so():
    def ignore():
        without_core()
        signal.signal(signal.SIGFPE, signal.SIG_IGN)
    process, pid = recorder(preexec_fn=ignore)
    assert int(status_of(pid)["SigIgn"], 16) & 1 << signal.SIGFPE - 1
    process.send_signal(signal.SIGFPE)
    time.sleep(0.2)
    same(process.poll(), None)
    os.kill(pid, signal.SIGTERM)
    process.communicate()
    same(process.returncode, 128 + signal.SIGTERM)
    check("r")


@test
def a_fault_on_a_thread_of_the_library():
    need("nm")
    wrong = UNDEFINED.get(platform.machine())
    symbols = subprocess.run(["nm", GALVO], capture_output=True, text=True).stdout.split("\n")
    at = [int(line.split()[0], 16) for line in symbols if line.endswith(" lane_read")]
    if not wrong or not at:
        raise Skip("the program's functions cannot be told here")
    process, pid = recorder(preexec_fn=without_core)
    wanted = masks(status_of(pid))
    with open("/proc/%d/maps" % process.pid) as maps:
        base = min(int(line.split("-")[0], 16) for line in maps if line.rstrip().endswith(GALVO))
    try:
        with open("/proc/%d/mem" % process.pid, "r+b", buffering=0) as memory:
            memory.seek(base + at[0])
            memory.write(wrong)
    except OSError as why:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise Skip("no program may be broken here: %s" % why)
    died_of(process, signal.SIGILL, pid, wanted)


@test
def a_crash_before_the_workload_runs():
    """Whoever waits to be let go runs nothing."""
    mark = "started"
    for delay_s in (0.001, 0.003, 0.006, 0.01, 0.02):
        if os.path.exists(mark):
            os.unlink(mark)
        process = start(GALVO, "record", "-q", "-f", "-o", "r", "--", "touch", mark,
                        preexec_fn=without_core)
        time.sleep(delay_s)
        process.send_signal(signal.SIGABRT)
        process.communicate()
        assert process.returncode in (0, -signal.SIGABRT), process.returncode
        if os.path.isdir("r") and os.listdir("r"):
            assert run(GALVO, "check", "r").returncode in (0, 1)


main()
