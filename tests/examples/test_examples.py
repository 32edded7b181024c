"""The programs of examples/: what they record is there, and they say what goes wrong."""
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from harness import GALVO, TREE, check, main, read_messages, rows, run, same, test  # noqa: E402

EXAMPLES = os.path.abspath(os.environ["EXAMPLES"])
SMALL = os.path.join(TREE, "tests", "fixtures", "machine", "small")
HINTS = b"recording; afterwards: galvo report %s\n"


def example(name, *words, expected=0):
    done = run(os.path.join(EXAMPLES, name), *words)
    assert done.returncode == expected, (done.returncode, done.stdout, done.stderr)
    return done


def report_of(path):
    return json.loads(run(GALVO, "report", "--json", path).stdout)


def only_gpus_are_missing(said):
    for line in said.splitlines():
        assert line.startswith(b"GPU "), said


@test
def full_system_profiling():
    done = example("full_system_profiling")
    assert done.stdout.startswith(HINTS % b"profiling_output"), done.stdout
    only_gpus_are_missing(done.stderr)
    same(os.listdir(), ["profiling_output"])  # what it wrote is gone
    check("profiling_output")
    report = report_of("profiling_output")
    same([(r["name"], r["count"], r["unfinished"]) for r in report["regions"]],
         [("setup", 1, 0), ("compute", 1, 0), ("write", 1, 0)])
    same([(m["name"], m["count"]) for m in report["marks"]], [("computed", 1)])
    processes = {p["alias"]: p for p in report["processes"]}
    same(sorted(processes), ["helper", "self"])
    same(processes["helper"]["ppid"], processes["self"]["pid"])
    for name, removed in (("self", False), ("helper", True)):
        same(processes[name]["removed"], removed)
        assert processes[name]["cpu_s"] > 0, processes[name]

    again = example("full_system_profiling", expected=1)
    assert b"holds a recording already" in again.stderr, again.stderr
    check("profiling_output")


@test
def full_system_profiling_with_a_sidecar():
    # Where the library is in the program itself, nothing but this tells where the helper was built.
    os.environ["GALVO_SIDECAR"] = os.path.join(os.path.dirname(os.path.abspath(GALVO)), "galvo-sidecar")
    done = example("full_system_profiling", "-s", "-o", "beside")
    assert done.stdout.startswith(HINTS % b"beside"), done.stdout
    only_gpus_are_missing(done.stderr)
    check("beside")
    report = report_of("beside")
    same([(r["name"], r["count"], r["unfinished"]) for r in report["regions"]],
         [("setup", 1, 0), ("compute", 1, 0), ("write", 1, 0)])
    same(sorted(p["alias"] for p in report["processes"]), ["helper", "self"])
    cost = report["cost"]
    assert cost["cpu_of"] == "process" and cost["cpu_s"] > 0 and cost["max_rss_bytes"] > 1 << 20, cost


@test
def full_system_profiling_with_a_file_of_ones_own():
    with open(os.path.join(TREE, "configs", "example.pbtxt")) as file:
        text = file.read()
    without_gpus = re.sub("(gpu|gpu_telemetry) {\n  enabled: true", "\\1 {\n  enabled: false", text)
    same(without_gpus.count("enabled: false"), 2)
    with open("mine.pbtxt", "w") as file:
        file.write(without_gpus.replace('# devices: "nvme0n1"', 'devices: "nvme99n99"'))
    done = example("full_system_profiling", "-c", "mine.pbtxt", "-o", "there")
    assert done.stdout.startswith(HINTS % b"there"), done.stdout
    same(done.stderr, b"nvme99n99: there is no such block device\n")
    check("there")
    same(len(report_of("there")["regions"]), 3)

    with open("mine.pbtxt", "w") as file:
        file.write("system {\n  enable: true\n}\n")
    done = example("full_system_profiling", "-c", "mine.pbtxt", "-o", "nowhere", expected=1)
    assert b"mine.pbtxt:2:3: field 'system.enable'" in done.stderr, done.stderr
    assert b"usage" in example("full_system_profiling", "-x", expected=2).stderr
    same(sorted(os.listdir()), ["mine.pbtxt", "there"])


@test
def system_only():
    done = example("system_only")
    same((done.stdout, done.stderr), (b"20 steps are recorded in system_metrics.pb\n", b""))
    same(os.listdir(), ["system_metrics.pb"])  # one profiler, one file, no run
    messages = read_messages("system_metrics.pb")
    assert len(list(rows(messages, "system_samples"))) > 5
    resident = [values["proc__rss_bytes"] for _, _, values in rows(messages, "process_samples")]
    assert max(resident) - min(resident) > 5 << 20, resident
    same([p.alias for p in messages[0].tracked_processes], ["loop"])

    done = example("system_only", "no/such/file.pb", expected=1)
    assert b"no/such" in done.stderr, done.stderr


@test
def read_run():
    same(run(GALVO, "record", "-q", "-o", "run", "--all", "--root", SMALL).returncode, 0)
    done = example("read_run")
    same(done.stderr, b"")
    lines = done.stdout.decode().splitlines()
    same([line for line in lines if line[0] != " "],
         ["system_metrics.pb: 1 messages", "disk_metrics.pb: 1 messages"])
    busy = [line.split() for line in lines if " cpu__cycles_busy." in line][0]
    same((busy[1], busy[3], busy[5]), ("mean", "max", "pct"))
    assert abs(float(busy[4]) - report_of("run")["cpu"]["busy_peak_pct"]) < 0.001, busy
    assert b"no/such" in example("read_run", "no/such", expected=1).stderr


@test
def follow_run():
    os.mkdir("run")
    with subprocess.Popen([os.path.join(EXAMPLES, "follow_run")], stdout=subprocess.PIPE) as follower:
        run(GALVO, "record", "-q", "-o", "run", "--flush", "50ms", "--", "sleep", "0.5")
        out = follower.communicate(timeout=30)[0].decode()
        same(follower.returncode, 0)
    rows_seen = [line.split() for line in out.splitlines()]
    wanted = list(rows(read_messages("run/system_metrics.pb"), "system_samples"))
    same(len(rows_seen), len(wanted))
    times = [float(words[0]) for words in rows_seen]
    same(times, sorted(times))
    assert abs(times[-1] - os.stat("run/system_metrics.pb").st_mtime) < 5, times[-1]
    assert b"no/such" in example("follow_run", "no/such", expected=1).stderr


main()
