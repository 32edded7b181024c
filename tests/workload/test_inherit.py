"""What the workload starts with: all that galvo itself was started with, and nothing of galvo's."""
import hashlib
import os
import re
import resource
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from harness import GALVO, check, main, record, run, same, session_of, test  # noqa: E402

READ = {  # what tells how a process was started, and is the same for two processes started alike
    "signals, umask, capabilities": [
        "grep", "-E", "^(Sig(Blk|Ign|Cgt)|ShdPnd|Umask|Cap.*|NoNewPrivs|Seccomp):",
        "/proc/self/status"],
    "limits": ["cat", "/proc/self/limits"],
    "descriptors": ["ls", "-l", "--time-style=+", "/proc/self/fd"],
    "environment": ["env", "-0"],
    "directory": ["readlink", "/proc/self/cwd"],
    "group, session, terminal":
        ["sed", "-E", r"s/^.*\) . [0-9]+ ([0-9]+ [0-9]+ -?[0-9]+) .*$/\1/", "/proc/self/stat"],
    "niceness": ["nice"],
    "scheduling": ["grep", "-E", "^(policy|prio)", "/proc/self/sched"],
    "timer slack": ["cat", "/proc/self/timerslack_ns"],
    "out of memory score": ["cat", "/proc/self/oom_score_adj"],
    "argument 0": ["sed", "-n", "1p", "/proc/self/cmdline"],
}


def described(text):
    """Without the numbers that differ from process to process."""
    lines = text.splitlines()
    return [n for n in lines if b"/proc/" not in n and not n.startswith(b"total")]


def compare(**options):
    for what, command in READ.items():
        plain = run(*command, **options)
        recorded = record("-q", "-f", "-o", "r", "--", *command, **options)
        same((what, recorded.returncode, recorded.stderr), (what, plain.returncode, plain.stderr))
        # Each has pipes of its own; what they are called is no matter.
        # Where to find the recorder is all that is added to the environment.
        found, wanted = ([line.split(b"pipe:")[0] for line in described(
                          re.sub(rb"GALVO_SOCKET=/[^\0]*\0", b"", done.stdout))]
                         for done in (recorded, plain))
        same((what, found), (what, wanted))


@test
def ordinarily():
    compare()


@test
def with_ignored_and_blocked_signals():
    def prepare():
        for name in ("SIGCHLD", "SIGINT", "SIGHUP", "SIGPIPE", "SIGUSR1"):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGUSR2, signal.SIGCHLD})

    compare(preexec_fn=prepare, restore_signals=False)


@test
def with_default_signals():
    def prepare():
        for number in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)

    compare(preexec_fn=prepare)


@test
def with_limits_niceness_umask_and_a_session_of_its_own():
    def prepare():
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (200, hard))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.nice(5)
        os.umask(0o027)

    compare(preexec_fn=prepare)
    group = ["sed", "-E", r"s/^.*\) . [0-9]+ ([0-9]+) .*$/\1/", "/proc/self/stat"]
    done = record("-q", "-f", "-o", "r", "--", *group, preexec_fn=os.setsid)
    assert int(done.stdout) != os.getpgrp()


@test
def with_descriptors_and_an_environment_of_the_callers():
    with open("file", "wb") as file:
        os.set_inheritable(file.fileno(), True)
        os.mkdir("deep")
        env = {"PATH": os.environ["PATH"], "LC_ALL": "C", "X": "a\nb"}
        compare(pass_fds=[file.fileno()], cwd="deep", env=env)


@test
def streams_are_byte_exact():
    data = os.urandom(1 << 20) * 8
    done = record("-o", "r", "--", "cat", input=data)
    same((done.returncode, len(done.stdout)), (0, len(data)))
    same(hashlib.sha256(done.stdout).digest(), hashlib.sha256(data).digest())
    done = record("-q", "-f", "-o", "r", "--", "sh", "-c", "cat >&2", input=data[:100000])
    same((done.stdout, done.stderr), (b"", data[:100000]))


@test
def closed_descriptors_stay_closed_and_nothing_lands_in_the_run():
    # The workload says what it has in a file, and writes into what may be a file of the run.
    text = ("for n in 0 1 2; do if [ -e /proc/$$/fd/$n ]; then echo $n >>seen; fi; done;"
            "printf 'MARK%s\\n' ER; printf 'MARK%s\\n' ER >&2; exit 5")
    for closed in ((0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)):
        open("seen", "w").close()
        done = record("-f", "-o", "r", "--", "sh", "-c", text,
                      preexec_fn=lambda: [os.close(n) for n in closed])
        same((closed, done.returncode), (closed, 5))
        with open("seen") as file:
            left = [n for n in (0, 1, 2) if n not in closed]
            same((closed, [int(n) for n in file.read().split()]), (closed, left))
        check("r")
        for name in os.listdir("r"):
            with open("r/" + name, "rb") as file:
                data = file.read()
            assert b"MARKER" not in data and b"galvo: " not in data, (closed, name)


@test
def galvo_with_closed_output_fails_as_others_do():
    done = run(GALVO, "help", preexec_fn=lambda: os.close(1))
    same(done.returncode, 125)
    assert b"standard output" in done.stderr


@test
def nothing_runs_before_sampling():
    done = record("-q", "-o", "r", "--", sys.executable, "-c",
                  "import time; print(time.clock_gettime_ns(time.CLOCK_MONOTONIC))")
    session = session_of("r")
    assert session.start_timestamp_ns < session.workload.start_timestamp_ns < int(done.stdout)


main()
