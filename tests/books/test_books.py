"""The books balance: recordings of real programs beside what the kernel and other tools say."""
import json
import os
import re
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from harness import (  # noqa: E402
    GALVO, Skip, check, integral, main, need, read_messages, record, run, same, series,
    session_of, start, test, wait_until,
)
from zram import Zram  # noqa: E402

BUSY = "cpu__cycles_busy.avg.pct_of_peak_sustained_elapsed"
ACTIVE = "proc__cycles_active.sum.per_second"
# What is measured happens between two rests that are longer than the slowest source's turn, so that
# rows lie in both: then what the rows between say is all of it, and nothing else.
REST_S = 0.5
plain = dict(os.environ, LC_ALL="C", S_TIME_FORMAT="ISO")  # for the figures of other tools


def between(points, first_ns, last_ns):
    """From the last row before first_ns to the first one after last_ns."""
    start = max(i for i, (at, _) in enumerate(points) if at <= first_ns)
    end = min(i for i, (at, _) in enumerate(points) if at >= last_ns)
    return points[start:end + 1]


def recorded_python(text, *options):
    """Runs a Python program in a recording; the JSON that it prints."""
    rest = """import time, os, sys, json
def rest(): time.sleep(%g)
now = time.monotonic_ns
""" % REST_S
    done = record("-q", "-f", "-o", "r", *options, "--", sys.executable, "-c", rest + text)
    same((done.returncode, done.stderr), (0, b""))
    check("r")
    return json.loads(done.stdout)


def about(found, wanted, tolerance, what):
    assert abs(found - wanted) <= tolerance, "%s: %.9g, in the other book %.9g: off by > %g" % (
        what, found, wanted, tolerance)
    print("        %s: %.6g, by the other book %.6g" % (what, found, wanted))


def of_process(column, pid):
    return series(read_messages("r/system_metrics.pb"), "process_samples", column, pid)


def mean(points, first_ns, last_ns):
    """Of a level or a rate, weighted with time, over the rows between two instants."""
    points = [(at, v) for at, v in points if first_ns <= at <= last_ns]
    return integral(points) / ((points[-1][0] - points[0][0]) / 1e9)


# ---- exact ---------------------------------------------------------------------------------------


@test
def bytes_a_program_reads_and_writes_to_the_byte():
    told = recorded_python("""
rest()
a, io = now(), os.open("file", os.O_RDWR | os.O_CREAT)
written = sum(os.write(io, b"x" * n) for n in [1, 4096, 1000003] * 7)
rest()
os.lseek(io, 0, 0)
read = 0
while True:
    n = len(os.read(io, 123457))
    read += n
    if not n:
        break
b = now()
rest()
print(json.dumps([a, b, os.getpid(), read, written]))
""")
    first, last, pid, read, written = told
    disk = read_messages("r/disk_metrics.pb")
    for column, wanted in (("proc__io_rchar.sum.per_second", read),
                           ("proc__io_wchar.sum.per_second", written)):
        points = between(series(disk, "process_samples", column, pid), first, last)
        about(integral(points), wanted, 0.5, column)  # it is a sum of floating numbers: to the byte


@test
def cpu_time_of_a_process_by_its_own_clock():
    told = recorded_python("""
rest()
a, before = now(), time.process_time_ns()
while time.process_time_ns() - before < 700e6:
    pass
used, b = time.process_time_ns() - before, now()
rest()
print(json.dumps([a, b, os.getpid(), used]))
""")
    first, last, pid, used = told
    points = between(of_process(ACTIVE, pid), first, last)
    # 1 ms: waking up, asking the clock, going to sleep are on galvo's side of it.
    about(integral(points) / 100, used / 1e9, 0.001, "seconds of CPU")


@test
def memory_of_a_process_as_it_was_mapped():
    told = recorded_python("""
import mmap
rest()
page = os.sysconf("SC_PAGE_SIZE")
rss = lambda: int(open("/proc/self/statm").read().split()[1]) * page
before, a = rss(), now()
m = mmap.mmap(-1, 192 << 20)
for at in range(0, len(m), page):
    m[at] = 1
b, high = now(), rss()
rest()
c = now()
m.close()
rest()
print(json.dumps([a, b, c, os.getpid(), before, high]))
""")
    first, full, closed, pid, before, high = told
    points = of_process("proc__rss_bytes", pid)
    peak = max(v for at, v in points)
    assert before + (192 << 20) <= high
    # 1 MiB: Python's own comings and goings.
    about(peak - before, 192 << 20, 1 << 20, "bytes mapped")
    assert all(v >= 192 << 20 for at, v in points if full < at < closed)
    assert [v for at, v in points][-1] < 64 << 20
    # The kernel keeps that peak from counters that each CPU holds a share of back from.
    assert session_of("r").workload.max_rss_bytes >= peak - (1 << 20)


SECTORS = """
def sectors(name):
    for line in open("/proc/diskstats"):
        words = line.split()
        if words[2] == name:
            return int(words[5]) * 512, int(words[9]) * 512
"""


@test
def bytes_of_a_disk_to_the_byte():
    with Zram() as zram:
        told = recorded_python(SECTORS + """
import mmap
name, place = %r, %r
os.sync()
rest()
a, before = now(), sectors(name)
block = mmap.mmap(-1, 1 << 20)
io = os.open(place + "/file", os.O_RDWR | os.O_CREAT | os.O_DIRECT)
for i in range(24):
    block[:] = os.urandom(1 << 20)
    os.write(io, block)
    if i %% 8 == 0:
        rest()
os.fsync(io)
os.lseek(io, 0, 0)
for i in range(12):
    os.readv(io, [block])
os.sync()
after, b = sectors(name), now()
rest()
print(json.dumps([a, b, before, after, os.getpid()]))
""" % (zram.name, zram.mounted), "--disk", zram.name)
        first, last, before, after, pid = told
        disk = read_messages("r/disk_metrics.pb")
        for column, i, least in (("disk__read_bytes.sum.per_second", 0, 12 << 20),
                                 ("disk__write_bytes.sum.per_second", 1, 24 << 20)):
            points = between(series(disk, "device_samples", column, zram.name), first, last)
            about(integral(points), after[i] - before[i], 0.5, column)
            assert after[i] - before[i] >= least
        written = series(disk, "process_samples", "proc__io_write_bytes.sum.per_second", pid)
        assert integral(between(written, first, last)) >= 24 << 20


@test
def bytes_of_fio_by_fio_and_by_iostat():
    need("fio")
    need("iostat")
    with Zram() as zram:
        # iostat watches one interval, with rests at both ends, while galvo records all of it.
        watch = start("iostat", "-y", "-d", "-k", zram.name, 4, 1, env=plain)
        done = record("-q", "-o", "r", "--", "sh", "-c", """
            sleep 0.5
            fio --name=w --directory="$0" --rw=write --bs=64k --size=16m --direct=1 --rate=8m \\
                --output-format=json --output=fio.json
            sync -f "$0"
            sleep 0.5""", zram.mounted)
        same((done.returncode, done.stderr), (0, b""))
        table = watch.communicate()[0].decode()
        with open("fio.json") as file:
            text = file.read()
        written = json.loads(text[text.index("{"):])["jobs"][0]["write"]["io_bytes"]
        same(written, 16 << 20)
        total = integral(series(read_messages("r/disk_metrics.pb"), "device_samples",
                                "disk__write_bytes.sum.per_second", zram.name))
        assert total >= written, (total, written)
        row = next(line.split() for line in table.splitlines() if line.startswith(zram.name))
        # Device tps kB_read/s kB_wrtn/s kB_dscd/s kB_read kB_wrtn kB_dscd
        kilobytes = float(row[6])
        about(total / 1024, kilobytes, 1, "kB written by fio")  # iostat prints whole ones


# ---- beside other tools ------------------------------------------------------------------------


def timed(*command):
    """In one recording under time -v: its figures and the session's workload."""
    if not os.path.exists("/usr/bin/time"):
        raise Skip("time is not installed")
    done = record("-q", "-f", "-o", "r", "--", "/usr/bin/time", "-v", "-o", "time.txt", *command)
    same(done.returncode, 0)
    check("r")
    with open("time.txt") as file:
        text = file.read()

    def figure(name):
        return float(re.search(re.escape(name) + r"[^:]*: ([0-9.]+)", text).group(1))

    return figure, session_of("r").workload


def compare_with_time(*command):
    figure, workload = timed(*command)
    # time rounds down to 10 ms, and is a process itself, with some ms from fork to exit, which the
    # kernel may book as a tick of user or of system time.
    for name, ns in (("User time (seconds)", workload.user_ns),
                     ("System time (seconds)", workload.system_ns)):
        about(ns / 1e9, figure(name), 0.025, name)
    rss = figure("Maximum resident set size") * 1024
    about(workload.max_rss_bytes, rss, 0, "maximum resident set size")
    # time's own faults and switches: some hundred of the first, few of the others.
    about(workload.minor_faults, figure("Minor (reclaiming a frame)"), 500, "minor faults")
    switches = figure("Voluntary context switches")
    about(workload.voluntary_switches, switches, 20, "voluntary switches")
    return workload


def processes_cpu_s():
    """Of all processes of the recording, as far as their rows go."""
    system = read_messages("r/system_metrics.pb")
    pids = {row.pid for m in system for row in m.process_samples}
    return sum(integral(series(system, "process_samples", ACTIVE, pid)) / 100 for pid in pids)


@test
def stress_ng_by_time():
    need("stress-ng")
    workload = compare_with_time("stress-ng", "-q", "--cpu", "2", "--vm", "1",
                                 "--vm-bytes", "64m", "-t", "2s")
    total = (workload.user_ns + workload.system_ns) / 1e9
    # Few and long-lived processes: rows cover them but for their first 100 ms, at which descendants
    # are looked for, and the last tick of each.
    assert 0.85 * total <= processes_cpu_s() <= total + 0.01, (processes_cpu_s(), total)


@test
def a_python_program_by_time():
    compare_with_time(sys.executable, "-c", """
x = [list(range(1000)) for i in range(2000)]
for i in range(60):
    sorted(x[i] * 100)
""")


@test
def a_parallel_make_by_time():
    need("make")
    need("gcc")
    os.mkdir("project")
    names = ["part%d" % i for i in range(24)]
    for name in names:
        with open("project/%s.c" % name, "w") as file:
            file.write("#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n")
            for i in range(60):
                file.write("int %s_%d(int x) { int i, s = 0; for (i = 0; i < x; i++) s += i * %d;"
                           " return s; }\n" % (name, i, i + 1))
    with open("project/Makefile", "w") as file:
        file.write("lib.a: %s\n\tar rcs $@ $^\n" % " ".join(n + ".o" for n in names))
        file.write("%.o: %.c\n\tgcc -O2 -c -o $@ $<\n")
    workload = compare_with_time("make", "-s", "-C", "project", "-j2")
    assert os.path.exists("project/lib.a")
    total = (workload.user_ns + workload.system_ns) / 1e9
    # Compilers that live for less than a scan are not seen; none may be seen twice.
    assert processes_cpu_s() <= total + 0.01, (processes_cpu_s(), total)


@test
def the_machine_by_mpstat():
    need("mpstat")
    load = start("sh", "-c", "while :; do :; done")
    try:
        recorder = start(GALVO, "record", "-q", "-a", "-o", "r")
        wait_until(lambda: os.path.exists("r/session_metadata.pb"), "recording")
        first = time.monotonic_ns()
        told = run("mpstat", "3", "1", env=plain)
        last = time.monotonic_ns()
        recorder.terminate()
        same(recorder.wait(), 0)
    finally:
        load.kill()
        load.communicate()
    idle = float(told.stdout.decode().splitlines()[-1].split()[-1])
    iowait = float(told.stdout.decode().splitlines()[-1].split()[5])
    busy = series(read_messages("r/system_metrics.pb"), "system_samples", BUSY)
    # Each has some tens of ms at both ends of 3 s that the other has not.
    about(mean(busy, first, last), 100 - idle - iowait, 4, "percent of the machine")


@test
def a_process_by_pidstat():
    need("pidstat")
    load = start("sh", "-c", """while :; do i=0
                                while [ $i -lt 20000 ]; do i=$((i+1)); done
                                sleep 0.01
                                done""")
    try:
        recorder = start(GALVO, "record", "-q", "-o", "r", "-p", load.pid)
        wait_until(lambda: os.path.exists("r/session_metadata.pb"), "recording")
        first = time.monotonic_ns()
        told = run("pidstat", "-u", "-p", load.pid, "2", "1", env=plain)
        last = time.monotonic_ns()
        recorder.terminate()
        same(recorder.wait(), 0)
    finally:
        load.kill()
        load.communicate()
    rows = [line.split() for line in told.stdout.decode().splitlines()]
    row = next(r for r in rows if r and r[0] == "Average:" and r[-1] == "sh")
    found = mean(of_process(ACTIVE, load.pid), first, last)
    about(found, float(row[7]), 4, "percent of a CPU")  # as with mpstat


main()
