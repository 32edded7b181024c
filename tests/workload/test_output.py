"""Where the run cannot be written: the workload comes first, and one line tells."""
import os
import resource
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from harness import (  # noqa: E402
    GALVO, Skip, check, main, one_line, record, run, same, start, test, wait_until,
)


def mounted(size, script):
    """A script with a tmpfs of that size in "small", which nobody else sees."""
    if os.geteuid() != 0 or run("unshare", "-m", "true").returncode != 0:
        raise Skip("mounting needs root and a mount namespace")
    os.mkdir("small")
    script = "mount -t tmpfs -o size=%s none small && %s" % (size, script)
    return run("unshare", "-m", "sh", "-c", script, GALVO)


@test
def a_directory_that_cannot_be_made():
    open("file", "w").close()
    for path, words in (("file", "Not a directory"), ("file/r", "Not a directory"),
                        ("no/r", "No such file")):
        done = record("-o", path, "--", "touch", "ran")
        same((done.returncode, done.stdout, os.path.exists("ran")), (125, b"", False))
        one_line(done.stderr, path, words)


@test
def a_file_system_that_is_read_only():
    done = mounted("1m", """mkdir small/old && mount -o remount,ro small
                            "$0" record -o small/r -- touch ran; echo $?
                            "$0" record -o small/old -- touch ran; echo $?""")
    same((done.stdout, os.path.exists("ran")), (b"125\n125\n", False))
    for line, path in zip(done.stderr.splitlines(True), ("small/r", "small/old")):
        one_line(line, path, "Read-only file system")
    same(len(done.stderr.splitlines()), 2)


@test
def a_disk_that_is_full_from_the_start():
    done = mounted("64k", 'head -c 57344 /dev/zero >small/fill; "$0" record -o small/r -- touch ran')
    same((done.returncode, os.path.exists("ran")), (125, False))
    one_line(done.stderr, "small/r", "session_metadata.pb", "No space left on device")


@test
def a_disk_that_fills_up_leaves_the_workload_alone():
    for status, wanted in ((0, 125), (3, 3)):
        shutil.rmtree("small", ignore_errors=True)
        work = "i=0; while [ $i -lt 12 ]; do echo $i; i=$((i+1)); sleep 0.1; done; exit %d" % status
        done = mounted("40k", """"$0" record --hz 500 --budget 100 --flush 50ms -o small/r -- sh -c '%s'
                                 status=$?
                                 cp -r small/r kept; exit $status""" % work)
        same((done.returncode, done.stdout), (wanted, b"".join(b"%d\n" % i for i in range(12))))
        one_line(done.stderr, "part of the recording is lost", "small/r", "No space left on device")
        assert "missing" in check("kept", 1) or "did not end" in check("kept", 1)
        same(run(GALVO, "check", "-q", "--repair", "whole", "kept").returncode, 1)
        shutil.rmtree("kept")
        shutil.rmtree("whole")


@test
def a_directory_that_is_deleted_on_the_way():
    for status, wanted in ((b"0\n", 125), (b"3\n", 3)):
        recorder = start(GALVO, "record", "--flush", "20ms", "-o", "r", "--",
                         "sh", "-c", "read n; exit $n", stdin=-1)
        wait_until(lambda: os.path.exists("r/session_metadata.pb"), "recording")
        shutil.rmtree("r")
        err = recorder.communicate(status)[1]
        same(recorder.returncode, wanted)
        one_line(err, "r", "No such file")


@test
def a_limit_on_the_size_of_files():
    def at_most(n):
        return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (n, n))

    done = record("-o", "r", "--", "touch", "ran", preexec_fn=at_most(2048))
    same((done.returncode, os.path.exists("ran")), (125, False))
    one_line(done.stderr, "r", "File too large")
    done = record("--hz", "1000", "--budget", "100", "--flush", "20ms", "-o", "s", "--",
                  "sh", "-c", "sleep 0.5; exit 3",
                  preexec_fn=at_most(32768))
    same(done.returncode, 3)
    one_line(done.stderr, "part of the recording is lost", "File too large")
    check("s", 1)


@test
def a_limit_on_descriptors():
    def at_most(n):
        return lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (n, n))

    for n in range(5, 24):
        done = record("-f", "--budget", "100", "-o", "r", "--", "sh", "-c", "exit 3",
                      preexec_fn=at_most(n))
        assert done.returncode in (3, 125), done.returncode
        one_line(done.stderr, "Too many open files" if done.returncode == 125 else "recorded")


@test
def a_relative_directory_is_the_callers():
    os.mkdir("elsewhere")
    same(record("-q", "-o", "r", "--", "sh", "-c", "cd elsewhere; sleep 0.05").returncode, 0)
    check("r")
    same(sorted(os.listdir("elsewhere")), [])


main()
