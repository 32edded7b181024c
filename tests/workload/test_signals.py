"""Signals and the terminal: who gets them, how often, and how the recording ends."""
import fcntl
import os
import pty
import signal
import sys
import termios
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from harness import (  # noqa: E402
    GALVO, check, main, read_messages, record, same, session_of, start, test, wait_until,
)

# Counts the signals it gets, says so, and ends a while after the first, with the count.
COUNTER = """
import os, signal, sys, time
got = []
def take(number, frame):
    got.append(number)
    try:
        os.write(1, b"got %d\\n" % number)
    except OSError:
        pass  # the terminal is gone
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
    signal.signal(number, take)
if "own-group" in sys.argv:
    os.setpgid(0, 0)
os.write(1, b"ready %d\\n" % all(os.isatty(fd) for fd in (0, 1, 2)))
end = time.monotonic() + 30
while not got and time.monotonic() < end:
    time.sleep(0.01)
time.sleep(0.4)  # for one too many
sys.exit(40 + len(got))
"""
# The same in little, ready within moments of its start.
QUICK_COUNTER = "n=0; trap 'n=$((n+1))' INT TERM; " \
    "while [ $n = 0 ]; do sleep 0.02; done; sleep 0.2; sleep 0.2; exit $((40 + n))"
STUBBORN = "trap '' INT QUIT TERM HUP; echo ready; while :; do sleep 0.05; done"


class Terminal:
    """A program that leads a session on a terminal of its own."""

    def __init__(self, *words):
        self.master, slave = pty.openpty()
        self.text = b""
        self.process = start(
            *words, stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        os.close(slave)
        os.set_blocking(self.master, False)

    def read(self):
        try:
            self.text += os.read(self.master, 65536)
        except (BlockingIOError, OSError):
            pass  # nothing yet; or the other end is closed
        return self.text

    def expect(self, text):
        wait_until(lambda: text in self.read(), "the terminal shows %r" % text)

    def press(self, key):
        os.write(self.master, key)

    def end(self):
        def ended():
            self.read()
            return self.process.poll() is not None

        wait_until(ended, "the program ends")
        self.read()
        return self.process.returncode


def recording_counter(*words):
    return (GALVO, "record", "-q", "-f", "-o", "r", "--", sys.executable, "-c", COUNTER, *words)


def counting():
    recorder = start(*recording_counter())
    assert recorder.stdout.readline().startswith(b"ready")
    return recorder


def ends_with(recorder, status):
    recorder.communicate()
    same(recorder.returncode, status)
    check("r")


def has_rows(path):
    file = path + "/system_metrics.pb"
    return os.path.exists(file) and os.path.getsize(file)


@test
def the_workload_has_the_terminal_and_ctrl_c_reaches_it_once():
    terminal = Terminal(GALVO, "record", "-o", "r", "--", sys.executable, "-c", COUNTER)
    terminal.expect(b"ready 1")
    terminal.press(b"\x03")
    same(terminal.end(), 41)
    same(terminal.text.count(b"got 2"), 1)
    assert b"recorded in r" in terminal.text
    same(session_of("r").workload.exit_code, 41)
    check("r")


@test
def ctrl_backslash_reaches_it_once():
    terminal = Terminal(*recording_counter())
    terminal.expect(b"ready 1")
    terminal.press(b"\x1c")
    same(terminal.end(), 41)
    check("r")


@test
def ctrl_c_reaches_a_workload_in_a_group_of_its_own():
    terminal = Terminal(*recording_counter("own-group"))
    terminal.expect(b"ready")
    terminal.press(b"\x03")
    same(terminal.end(), 41)
    check("r")


@test
def a_second_ctrl_c_kills_a_workload_that_ignores_the_first():
    terminal = Terminal(GALVO, "record", "-q", "-o", "r", "--", "sh", "-c", STUBBORN)
    terminal.expect(b"ready")
    terminal.press(b"\x03")
    time.sleep(0.05)  # two pending at once would be one
    assert terminal.process.poll() is None
    wait_until(lambda: terminal.press(b"\x03") or terminal.process.poll() is not None, "it dies")
    same(terminal.end(), 128 + signal.SIGKILL)
    same(session_of("r").workload.term_signal, signal.SIGKILL)
    check("r")


@test
def ctrl_c_ends_a_recording_without_a_command():
    terminal = Terminal(GALVO, "record", "-a", "--flush", "200ms", "-o", "r")
    # Its start, which a signal ends at once, is over when there is something in the file.
    wait_until(lambda: has_rows("r"), "recording")
    terminal.press(b"\x03")
    same(terminal.end(), 0)
    check("r")


@test
def a_lost_terminal_reaches_the_workload():
    terminal = Terminal(*recording_counter())
    terminal.expect(b"ready")
    os.close(terminal.master)
    wait_until(lambda: terminal.process.poll() is not None, "the program ends")
    assert terminal.process.returncode > 40, terminal.process.returncode
    check("r")


@test
def a_job_in_the_background_is_not_stopped():
    """The shell of a terminal starts galvo in the background, on a terminal that minds output."""
    terminal = Terminal("sh", "-c", """stty tostop; set -m
                        "$0" record -q -o r -- sh -c 'exit 6' & wait $!; echo end $?""", GALVO)
    terminal.expect(b"end 6")
    terminal.end()
    check("r")


@test
def what_is_sent_to_galvo_is_forwarded():
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
        recorder = counting()
        recorder.send_signal(number)
        same(recorder.stdout.readline(), b"got %d\n" % number)
        ends_with(recorder, 41)


@test
def timeout_may_send_twice_and_kills_nobody():
    """timeout(1) signals galvo, and then the group: galvo gets two, and so does the workload."""
    for number in ("TERM", "INT"):
        recorder = start("timeout", "-s", number, "0.5",
                         GALVO, "record", "-q", "-f", "-o", "r", "--", "sh", "-c", QUICK_COUNTER)
        recorder.communicate()
        same(recorder.returncode, 124)
        workload = session_of("r").workload
        assert workload.term_signal == 0 and workload.exit_code > 40, workload
        check("r")


@test
def a_second_interrupt_kills():
    recorder = start(GALVO, "record", "-q", "-o", "r", "--", "sh", "-c", STUBBORN)
    recorder.stdout.readline()
    recorder.send_signal(signal.SIGTERM)
    recorder.send_signal(signal.SIGTERM)
    wait_until(lambda: recorder.send_signal(signal.SIGINT) or recorder.poll() is not None, "it dies")
    ends_with(recorder, 128 + signal.SIGKILL)


@test
def ignored_signals_stay_ignored():
    """As under nohup, and as shells start jobs in the background."""
    def prepare():
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        signal.signal(signal.SIGINT, signal.SIG_IGN)

    recorder = start(GALVO, "record", "-q", "-o", "r", "--",
                     "sh", "-c", "echo ready; read x; exit 9", stdin=-1, preexec_fn=prepare)
    recorder.stdout.readline()
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGINT):
        recorder.send_signal(number)
    recorder.communicate(b"\n")
    same(recorder.returncode, 9)
    check("r")


@test
def ignored_children_are_waited_for_all_the_same():
    done = record("-q", "-o", "r", "--", "sh", "-c", "exit 4",
                  preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
    same(done.returncode, 4)
    check("r")


@test
def a_stopped_galvo_counts_what_it_missed():
    recorder = start(GALVO, "record", "-q", "--flush", "50ms", "-o", "r", "--", "sh", "-c",
                     "echo ready; cat", stdin=-1)
    recorder.stdout.readline()
    wait_until(lambda: has_rows("r"), "its sampler is at work")
    recorder.send_signal(signal.SIGSTOP)
    stopped_s = time.monotonic()
    wait_until(lambda: time.monotonic() > stopped_s + 0.3, "time passes")
    recorder.send_signal(signal.SIGCONT)
    ends_with(recorder, 0)
    stats = read_messages("r/system_metrics.pb")[-1].probe_stats
    assert stats.missed_ticks >= 25, stats  # of the 30 that 0.3 s have at 100 Hz


main()
