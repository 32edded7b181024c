"""Descendants of the workload: found, followed, reaped, and left alone when galvo ends."""
import os
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from harness import (  # noqa: E402
    GALVO, check, main, read_messages, run, same, session_of, start, test, wait_until,
)

# A daemon: forked twice, in a session of its own; it says its number and waits. Then we wait, too.
DAEMON = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.write(1, b"%d\\n" % os.getpid())
        time.sleep(60)
    os._exit(0)
os.wait()
sys.stdin.read()
"""


def children_of(pid):
    with open("/proc/%d/task/%d/children" % (pid, pid)) as file:
        return [int(n) for n in file.read().split()]


def state_of(pid):
    try:
        with open("/proc/%d/stat" % pid, "rb") as file:
            return file.read().rpartition(b")")[2].split()[0].decode()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def pids_of(path):
    return {p.pid for m in read_messages(path) for p in m.tracked_processes}


def names_of(path):
    """The last that was said of each process."""
    return {p.pid: (os.fsdecode(p.comm), os.fsdecode(p.command))
            for m in read_messages(path) for p in m.tracked_processes}


def rows_of(path, pid):
    return sum(row.pid == pid for m in read_messages(path) for row in m.process_samples)


@test
def a_daemon_is_followed_and_survives():
    recorder = start(GALVO, "record", "-q", "--flush", "50ms", "-o", "r", "--",
                     sys.executable, "-c", DAEMON, stdin=-1)
    daemon = int(recorder.stdout.readline())
    try:
        wait_until(lambda: daemon in children_of(recorder.pid), "the daemon is galvo's child")
        wait_until(lambda: rows_of("r/system_metrics.pb", daemon) > 2, "it has rows")
        wait_until(lambda: rows_of("r/disk_metrics.pb", daemon) > 2, "it has rows of I/O")
        recorder.stdin.close()
        same(recorder.wait(), 0)
        same(state_of(daemon), "S")
    finally:
        os.kill(daemon, signal.SIGKILL)
    check("r")


@test
def orphans_are_reaped():
    text = """i=0
              while [ $i -lt 30 ]; do (sh -c 'exit 3' & sh -c 'sleep 0.05 &'); i=$((i+1)); done
              echo done; read x"""
    recorder = start(GALVO, "record", "-q", "-o", "r", "--", "sh", "-c", text, stdin=-1)
    same(recorder.stdout.readline(), b"done\n")
    workload = children_of(recorder.pid)[0]
    wait_until(lambda: children_of(recorder.pid) == [workload], "all orphans are gone")
    recorder.communicate(b"\n")
    same(recorder.returncode, 0)
    check("r")


@test
def the_whole_tree_is_followed():
    recorder = start(GALVO, "record", "-q", "--flush", "50ms", "-o", "r", "--", "sh", "-c",
                     "sh -c 'sh -c \"cat; true\"; true'; true", stdin=-1)
    wait_until(lambda: os.path.exists("r/session_metadata.pb"), "recording")

    def deepest():
        pids = [recorder.pid]
        while children_of(pids[-1]):
            pids.append(children_of(pids[-1])[0])
        return len(pids) == 5 and pids

    pids = wait_until(deepest, "all have started")
    wait_until(lambda: set(pids[1:]) <= pids_of("r/system_metrics.pb"), "all are followed")
    recorder.communicate(b"")
    same(session_of("r").workload.pid, pids[1])
    assert recorder.pid not in pids_of("r/system_metrics.pb")
    check("r")


@test
def other_children_of_the_caller_are_not_followed():
    """A shell that has started something becomes galvo by exec: that is galvo's child, then."""
    caller = start("sh", "-c", 'sleep 60 & echo $!; exec "$0" record -q --flush 50ms -o r -- cat', GALVO,
                   stdin=-1)
    other = int(caller.stdout.readline())
    try:
        wait_until(lambda: os.path.exists("r/system_metrics.pb") and len(pids_of("r/system_metrics.pb")),
                   "recording")
        workload = session_of("r").workload.pid
        wait_until(lambda: rows_of("r/system_metrics.pb", workload) > 50, "many scans")
        caller.stdin.close()
        same(caller.wait(), 0)
        same(pids_of("r/system_metrics.pb"), {workload})
    finally:
        os.kill(other, signal.SIGKILL)
    check("r")


@test
def a_storm_of_short_children_does_no_harm():
    """They die while they are being added; each is an end that galvo has to take in its stride."""
    text = "i=0; while [ $i -lt 400 ]; do /bin/true & i=$((i+1)); done; wait; exit 2"
    recorder = start(GALVO, "record", "-q", "--hz", "1000", "-o", "r", "--", "sh", "-c", text)
    same((recorder.communicate(), recorder.returncode), ((b"", b""), 2))
    check("r")


@test
def a_short_workload_has_its_own_name():
    for _ in range(10):
        run(GALVO, "record", "-q", "--force", "-o", "r", "--", "true")
        comm, command = names_of("r/system_metrics.pb")[session_of("r").workload.pid]
        same(comm, "true")
        assert command in ("", "true"), command
    run(GALVO, "record", "-q", "--force", "-o", "r", "--", "sleep", "0.05")
    same(list(names_of("r/system_metrics.pb").values()), [("sleep", "sleep 0.05")])


@test
def a_late_exec_is_noticed():
    run(GALVO, "record", "-q", "-o", "r", "--", "sh", "-c", "sleep 1.3; exec sleep 1.7")
    workload = session_of("r").workload.pid
    same(names_of("r/system_metrics.pb")[workload], ("sleep", "sleep 1.7"))


@test
def a_name_of_the_last_moment_is_noticed():
    text = """import ctypes, time
time.sleep(1.3)
ctypes.CDLL(None).prctl(15, b"another", 0, 0, 0)
time.sleep(0.2)
print("done", flush=True)
time.sleep(60)"""
    recorder = start(GALVO, "record", "-q", "--hz", "10", "-o", "r", "--for", "1.8s", "--",
                     sys.executable, "-c", text)
    same(recorder.stdout.readline(), b"done\n")
    pid = session_of("r").workload.pid
    wait_until(lambda: any(p.comm == b"another" for m in read_messages("r/system_metrics.pb")
                           for p in m.tracked_processes), "the recording is over")
    os.kill(pid, signal.SIGKILL)
    recorder.wait()
    same(names_of("r/system_metrics.pb")[pid][0], "another")


main()
