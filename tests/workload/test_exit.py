"""How galvo record ends: the workload's exit status, what cannot be started, what galvo refuses."""
import os
import re
import signal
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from harness import (  # noqa: E402
    GALVO, TREE, Skip, check, main, one_line, record, run, same, session_of, start, test, wait_until,
)


def script(path, text, mode=0o755):
    with open(path, "wb") as file:
        file.write(text)
    os.chmod(path, mode)


@test
def exit_status_passes_through():
    for status in (0, 1, 3, 125, 255):
        same(record("-q", "-f", "-o", "r", "--", "sh", "-c", "exit %d" % status).returncode, status)
        workload = session_of("r").workload
        same((workload.exited, workload.exit_code, workload.term_signal), (True, status, 0))
        check("r")


@test
def a_signal_that_ends_the_workload_is_128_and_its_number():
    for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGSEGV, signal.SIGUSR1):
        done = record("-q", "-f", "-o", "r", "--", "sh", "-c", "kill -%d $$" % number)
        same(done.returncode, 128 + number)
        same(session_of("r").workload.term_signal, number)
        check("r")


@test
def a_short_command_leaves_rows_and_a_sound_run():
    for _ in range(10):
        same(record("-q", "-f", "-o", "r", "--", "true").returncode, 0)
        assert "system_metrics.pb: 1 message, 0 rows" not in check("r")


@test
def what_is_not_there_is_127_and_what_cannot_run_126():
    script("plain", b"echo no\n", 0o644)
    script("lost", b"#!/nowhere/at/all\n")
    os.mkdir("folder")
    for name, status, words in (
            ("no-such-command", 127, "command not found"), ("./no-such-file", 127, "No such file"),
            ("plain/x", 127, "Not a directory"), ("", 127, "command not found"),
            ("./plain", 126, "Permission denied"), ("./folder", 126, "Is a directory"),
            ("./lost", 127, "No such file")):
        done = record("-q", "-f", "-o", "r", "--", name)
        same((name, done.returncode, done.stdout), (name, status, b""))
        one_line(done.stderr, words)


@test
def a_closed_directory_on_the_path_hides_nothing():
    os.chmod(".", 0o777)
    os.makedirs("closed/inner")
    script("closed/inner/tool", b"#!/bin/sh\n")
    script("tool", b"plain", 0o644)
    os.chmod("closed", 0)
    try:
        options = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
        for path, status, words in (("closed/inner", 127, "command not found"),
                                    ("closed/inner:.", 126, "Permission denied")):
            done = record("-o", "r", "--", "tool", env={"PATH": path}, **options)
            same((path, done.returncode), (path, status))
            one_line(done.stderr, words)
    except PermissionError:
        raise Skip("galvo lies where only root may go")
    finally:
        os.chmod("closed", 0o755)


@test
def a_text_without_interpreter_is_a_script_of_sh():
    script("text", b"echo $1\n")
    done = record("-q", "-o", "r", "--", "./text", "hello")
    same((done.returncode, done.stdout), (0, b"hello\n"))


@test
def commands_are_sought_as_execvp_does():
    script("tool", b"#!/bin/sh\necho found\n")
    os.mkdir("bin")
    os.mkdir("bin/tool")
    for path in (":/usr/bin:/bin", "/usr/bin:/bin:", "/usr/bin::/bin", "bin:.:/usr/bin:/bin"):
        done = record("-q", "-f", "-o", "r", "--", "tool", env={"PATH": path})
        same((path, done.returncode, done.stdout), (path, 0, b"found\n"))
    same(record("-q", "-f", "-o", "r", "--", "true", env={}).returncode, 0)


@test
def a_huge_command_line_arrives_and_the_run_is_sound():
    words = ["x" * 100] * 10000
    done = record("-q", "-o", "r", "--", "sh", "-c", "echo $#", "sh", *words)
    same((done.returncode, done.stdout), (0, b"10000\n"))
    check("r")


@test
def a_recording_is_replaced_only_by_force():
    same(record("-q", "-o", "r", "--", "true").returncode, 0)
    before = os.stat("r/session_metadata.pb")
    done = record("-q", "-o", "r", "--", "touch", "ran")
    same((done.returncode, os.path.exists("ran")), (125, False))
    one_line(done.stderr, "r holds a recording", "--force")
    same(os.stat("r/session_metadata.pb"), before)
    same(record("-q", "-f", "-o", "r", "--", "touch", "ran").returncode, 0)
    assert os.path.exists("ran")
    check("r")


@test
def for_ends_the_recording_and_not_the_command():
    done = record("-q", "--for", "50ms", "-o", "r", "--", "sh", "-c", "sleep 0.4; echo end; exit 7")
    same((done.returncode, done.stdout, done.stderr), (7, b"end\n", b""))
    session = session_of("r")
    assert session.stop_timestamp_ns - session.start_timestamp_ns < 350e6
    assert not session.workload.exited
    check("r")


@test
def the_machine_alone_is_recorded():
    done = record("-q", "-a", "--for", "100ms", "-o", "r")
    same((done.returncode, done.stdout, done.stderr), (0, b"", b""))
    check("r")


@test
def attaching_ends_when_the_processes_end():
    first, second = (start("cat", stdin=-1) for _ in range(2))
    pids = "%d,%d" % (first.pid, second.pid)
    recorder = start(GALVO, "record", "-q", "-o", "r", "-p", pids)
    wait_until(lambda: os.path.exists("r/session_metadata.pb"), "recording")
    first.communicate()
    assert recorder.poll() is None
    second.communicate()
    same((recorder.communicate(), recorder.returncode), ((b"", b""), 0))
    check("r")


@test
def a_pid_that_is_not_there_is_told():
    process = start("true")
    process.communicate()
    done = record("-o", "r", "-p", process.pid)
    same(done.returncode, 125)
    one_line(done.stderr, "%d: No such process" % process.pid)
    assert not os.path.exists("r")


@test
def a_thread_is_no_process():
    text = """import threading, time
t = threading.Thread(target=time.sleep, args=(60,), daemon=True)
t.start()
print(t.native_id, flush=True)
time.sleep(60)"""
    process = start(sys.executable, "-c", text)
    try:
        thread = int(process.stdout.readline())
        done = record("-o", "r", "-p", thread)
        same(done.returncode, 125)
        one_line(done.stderr, "%d is a thread of process %d" % (thread, process.pid))
    finally:
        process.kill()


@test
def an_end_between_two_rare_readings_is_noticed_at_once():
    process = start("sleep", "0.5")
    before = time.monotonic()
    recorder = start(GALVO, "record", "-q", "--hz", "0.1", "-o", "r", "-p", process.pid)
    process.wait() # a zombie would be an end, too
    same((recorder.communicate(), recorder.returncode), ((b"", b""), 0))
    assert time.monotonic() - before < 3
    check("r")


@test
def what_the_budget_slows_is_told():
    words = ("-f", "--hz", "1000", "-o", "r", "--", "sleep", "0.05")
    done = record("--budget", "0.01", *words)
    told, where = done.stderr.splitlines()
    assert re.fullmatch(rb"galvo: sources slowed by the budget of 0.01 %: .*cpu, memory.*"
                        rb" \(to 1/\d+ at most\); --budget PCT raises it", told), told
    assert b"recorded" in where, where
    one_line(record("--budget", "100", *words).stderr, "recorded")
    same(record("-q", "--budget", "0.01", *words).stderr, b"")
    done = record("-f", "--budget", "0.01", "-o", "r", "--", "true") # no rate was asked for
    same(len(done.stderr.splitlines()), 2)


@test
def quiet_says_nothing_and_otherwise_one_line_says_where():
    same(record("-q", "-o", "r", "--", "true").stderr, b"")
    one_line(record("-f", "--budget", "100", "-o", "r", "--", "true").stderr, " r ")


@test
def a_captured_machine_replays_to_the_same_bytes():
    capture = os.path.join(TREE, "tools", "capture-machine")
    same(run(capture, "machine", 3, 0.05, os.getpid()).returncode, 0)
    for name in ("a", "b"):
        done = record("-q", "--root", "machine", "-p", os.getpid(), "-o", name)
        same((done.returncode, done.stderr), (0, b""))
        check(name)
    for name in ("system_metrics.pb", "disk_metrics.pb"):
        with open("a/" + name, "rb") as a, open("b/" + name, "rb") as b:
            one = a.read()
            assert len(one) > 500
            assert one == b.read(), name


main()
