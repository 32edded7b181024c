"""kill -9 of the recorder and of the workload at random moments: test_kill.py ROUNDS [SEED].

After each, every file has to be readable, galvo check has to say what is missing, at most one flush
interval may be lost, and the repaired copy has to be sound.
"""
import collections
import concurrent.futures
import os
import random
import shutil
import signal
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import harness  # noqa: E402
from harness import (  # noqa: E402
    GALVO, last_timestamp, load_schema, main, record, run, same, session_of, start, test,
    wait_until,
)

ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 20
SEED = int(sys.argv[2]) if len(sys.argv) > 2 else int.from_bytes(os.urandom(4), "big")
AT_ONCE = 6
FLUSHES_S = (0.001, 0.005, 0.05, 0.2)  # the shortest: kills hit the writing itself
MARGIN_NS = 200e6  # for the flush to reach the file, and for our own clock reading

WORKLOADS = (
    ("sleep", "60"),
    ("sh", "-c", "while :; do /bin/true; sleep 0.01; done"),  # processes come and go
    ("sh", "-c", "while :; do dd if=/dev/zero of=data bs=64k count=4 2>&-; sleep 0.02; done"),
)


class Canary(threading.Thread):
    """How late a thread that wants to run gets to run: on a busy machine, galvo is as late."""

    def __init__(self):
        super().__init__(daemon=True)
        self.late = []  # (when, how long), in ns

    def run(self):
        while True:
            before = time.monotonic_ns()
            time.sleep(0.01)
            late = time.monotonic_ns() - before - 10_000_000
            if late > 5_000_000:
                self.late.append((before, late))

    def worst_ns(self, since, until):
        return sum(late for at, late in list(self.late) if since - 1e9 < at < until)


canary = Canary()
outcomes = collections.Counter()


def tell(outcome):
    outcomes[outcome] += 1


def kill_group(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.communicate()


def random_delay(dice, flush_s):
    """Mostly some way into the recording; now and then while it is being set up."""
    return dice.uniform(0, 0.02) if dice.random() < 0.25 else dice.uniform(0, 3 * flush_s + 0.1)


def judge(place, killed_ns, flush_s, recorder_killed, recorder_pid, wants_copy):
    """None, or what is wrong."""
    path = os.path.join(place, "r")
    if not os.path.isdir(path) or not os.listdir(path):
        return tell("nothing there yet")
    done = run(GALVO, "check", path)
    if done.returncode not in (0, 1) or done.stderr:
        return "check: %d, %r" % (done.returncode, done.stderr)
    if done.returncode == 1 and not done.stdout:
        return "check finds fault and does not say what"
    if not recorder_killed and done.returncode != 0:
        return "the recorder lived, and yet: %r" % done.stdout
    if not os.path.exists(os.path.join(path, "session_metadata.pb")):
        return tell("before the first reading")
    session = session_of(path)
    if session.recorder_pid != recorder_pid:  # what was to be replaced is there still, all of it
        return tell("the old one is there") if done.returncode == 0 else "old: %r" % done.stdout
    if recorder_killed:
        since = max(last_timestamp(path), session.start_timestamp_ns)
        lost = killed_ns - since
        limit = flush_s * 1e9 + MARGIN_NS + canary.worst_ns(since, killed_ns)
        if lost > limit:
            return "%.0f ms are lost, of at most %.0f" % (lost / 1e6, limit / 1e6)
        if not session.stop_timestamp_ns and b"did not end" not in done.stdout:
            return "check does not say that the recorder was killed: %r" % done.stdout
    tell("whole" if done.returncode == 0 else
         "torn" if b"torn tail" in done.stdout else "sound up to a flush")
    if not wants_copy:
        return None
    copy = os.path.join(place, "copy")
    mended = run(GALVO, "check", "--repair", copy, path)
    if mended.returncode != done.returncode:
        return "repair: %d, %r" % (mended.returncode, mended.stderr)
    again = run(GALVO, "check", copy)
    if again.returncode != 0 and b"dropped while recording" not in done.stdout:
        return "the repaired copy: %r" % again.stdout
    if last_timestamp(copy) != last_timestamp(path):
        return "the repaired copy lacks rows"
    return None


def workload_of(place, recorder):
    """Its pid, if this recorder has begun by now."""
    try:
        session = session_of(place + "/r")
    except FileNotFoundError:
        return 0
    return session.workload.pid if session.recorder_pid == recorder.pid else 0


def one_round(number, target):
    dice = random.Random("%d %d %s" % (SEED, number, target))
    # What lives on is to be whole, and so must not flush more often than a busy machine can write.
    flush_s = dice.choice(FLUSHES_S if target == "recorder" else FLUSHES_S[2:])
    delay_s = random_delay(dice, flush_s)
    with tempfile.TemporaryDirectory(prefix="galvo-crash-", ignore_cleanup_errors=True) as place:
        options = ["--flush", "%dms" % (flush_s * 1000), "--hz", dice.choice((100, 1000))]
        if dice.random() < 0.3:  # in place of a recording that is there
            shutil.copytree("old", place + "/r")
            options += ["--force"]
        recorder = start(GALVO, "record", "-q", *options, "-o", "r", "--", *dice.choice(WORKLOADS),
                         cwd=place, start_new_session=True)
        time.sleep(delay_s)
        try:
            if target == "workload":
                wait_until(lambda: workload_of(place, recorder), "recording")
                os.kill(workload_of(place, recorder), signal.SIGKILL)
                status = recorder.wait(30)
                if status != 128 + signal.SIGKILL:
                    return "%d: exit status %d" % (number, status)
            else:
                if dice.random() < 0.2 and workload_of(place, recorder):
                    # While it is stopping, or has just stopped.
                    os.kill(workload_of(place, recorder), signal.SIGKILL)
                    time.sleep(dice.uniform(0, 0.005))
                recorder.send_signal(signal.SIGKILL)
            killed_ns = time.monotonic_ns()
        finally:
            kill_group(recorder)
        wrong = judge(place, killed_ns, flush_s, target == "recorder", recorder.pid,
                      dice.random() < 0.3)
        where = "round %d, flush %.3f s, after %.3f s: " % (number, flush_s, delay_s)
        return wrong and where + wrong


def rounds(target, n):
    load_schema()
    outcomes.clear()
    same(record("-q", "-o", "old", "--", "sleep", "0.1").returncode, 0)
    print("%d rounds, seed %d" % (n, SEED))
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        wrong = [w for w in pool.map(lambda i: one_round(i, target), range(n)) if w]
    print("        " + ", ".join("%s: %d" % pair for pair in outcomes.most_common()))
    assert not wrong, "%d of %d rounds:\n%s" % (len(wrong), n, "\n".join(wrong[:10]))


@test
def kill_9_of_the_recorder():
    rounds("recorder", ROUNDS)


@test
def kill_9_of_the_workload():
    rounds("workload", max(ROUNDS // 5, 10))


harness.PATIENCE_S = 60 + 2 * ROUNDS
sys.argv = sys.argv[:1]
canary.start()
main()
