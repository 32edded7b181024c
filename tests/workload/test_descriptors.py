"""Few descriptors and many processes: nothing fails for want of them, and figures stay right."""
import json
import os
import resource
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from harness import GALVO, check, main, run, same, start, test, wait_until  # noqa: E402

# So many workers: each works for 30 ms once it is let (descriptor 4), and tells its CPU time.
CROWD = """
import os, sys, time
n = int(sys.argv[1])
r, w = os.pipe()
for i in range(n):
    if os.fork() == 0:
        os.close(w)
        os.read(r, 1)
        end = time.process_time() + 0.03
        while time.process_time() < end:
            pass
        os.write(3, b"%d %.6f\\n" % (os.getpid(), time.process_time()))
        time.sleep(60)
os.close(r)
os.read(4, 1)
os.close(w)
while sum(1 for _ in open("/proc/self/fd/3")) < n:
    time.sleep(0.01)
time.sleep(0.1)
os.killpg(0, 9)
"""


def crowd(n, limit, enough, path="r"):
    """Records n workers with so many descriptors; the report, and {pid: CPU seconds} as they tell."""
    script = 'exec 3>told 4<go; exec setsid "$0" -c "$1" "$2"'

    def lower():
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    os.mkfifo("go")
    recording = start(GALVO, "record", "-q", "-f", "-o", path, "--budget", "100", "--flush", "200ms",
                      "--", "sh", "-c", script, sys.executable, CROWD, n, preexec_fn=lower)
    with open("go", "w"):
        wait_until(lambda: len(with_rows(path)) > enough, "the workers have rows", 0.1)
    same((recording.wait(), recording.stderr.read()), (137, b""))
    check(path)
    os.remove("go")
    with open("told") as file:
        told = {int(pid): float(s) for pid, s in (line.split() for line in file)}
    same(len(told), n)
    return json.loads(run(GALVO, "report", "--json", path).stdout), told


def with_rows(path):
    """Who has some of each kind, as far as it is written: the workers, and who has forked them."""
    done = run(GALVO, "report", "--json", path)
    return [p for p in json.loads(done.stdout)["processes"] if has_all(p)] \
        if done.returncode == 0 else []


def has_all(process):
    """Figures of each source: two readings that are up to a second apart."""
    return None not in (process["rss_peak_bytes"], process["threads_peak"], process["wchar_bytes"])


def nothing_failed(report):
    for source in report["sources"]:
        assert "open files" not in str(source["reason"]), source
    assert not any("open files" in str(n["reason"]) for n in report["not_recorded"]), report


def figures_are_right(report, told):
    """How many workers have rows. Who found room when others were killed had no second reading."""
    found = {p["pid"]: p for p in report["processes"] if p["pid"] in told and has_all(p)}
    for pid, process in found.items():
        assert process["cpu_s"] <= told[pid] + 0.01, (process, told[pid])
        assert process["cpu_s"] >= 0.03 - 0.005, (process, told[pid])
        assert process["rss_peak_bytes"] > 1 << 20 and process["threads_peak"] == 1, process
    return len(found)


@test
def more_files_than_descriptors():
    for n, limit in ((13, 64), (50, 256)):
        report, told = crowd(n, limit, n)
        nothing_failed(report)
        same(figures_are_right(report, told), n)


@test
def more_processes_than_descriptors():
    report, told = crowd(40, 64, 8)
    assert 8 <= figures_are_right(report, told) < 17
    assert any("descendants not followed" in str(n["reason"]) for n in report["not_recorded"])


main()
