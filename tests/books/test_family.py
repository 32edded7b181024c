"""A family of processes keeps its own books: recordings of it beside what it says itself."""
import collections
import os
import signal
import struct
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from harness import (  # noqa: E402
    GALVO, Skip, check, integral, main, need, read_messages, rows, run, same, series, session_of,
    start, test, wait_until,
)

FAMILY = os.path.abspath(os.environ["FAMILY"])
ACTIVE = "proc__cycles_active.sum.per_second"
CPU, RCHAR, WCHAR, READ, WRITE, CANCELLED = range(1, 7)
NAMES = ("", "cpu", "rchar", "wchar", "read_bytes", "write_bytes", "cancelled")
PARTS = ("head", "sampled", "tail", "unseen", "mixed")
WAITED, ADOPTED, LOST, STRANGER = range(4)
RECORD = struct.Struct("=IIQQQQQQQQQ")
RECORDS_MAX = 4096
Record = collections.namedtuple(
    "Record", "pid fate start end own_cpu cpu rchar wchar read_bytes write_bytes cancelled")


class Truth:
    """The file that members of the family write to, in memory: writing there is no I/O."""

    def __init__(self):
        handle, self.path = tempfile.mkstemp(prefix="galvo-family-", dir="/dev/shm")
        os.truncate(handle, 16 + RECORDS_MAX * RECORD.size)
        os.fchmod(handle, 0o666)
        os.close(handle)

    def __enter__(self):
        return self

    def __exit__(self, *why):
        os.unlink(self.path)

    def records(self):
        with open(self.path, "rb") as file:
            data = file.read()
        count = struct.unpack_from("=Q", data)[0]
        assert count <= RECORDS_MAX
        return [Record(*RECORD.unpack_from(data, 16 + i * RECORD.size)) for i in range(count)]


class Books:
    """The tables of a run: by identity the last that was said of a process."""

    def __init__(self, path, both=True):
        self.path, self.process = path, {}
        self.of_stream = []
        for name in ("system_metrics.pb", "disk_metrics.pb"):
            messages, table = read_messages(os.path.join(path, name)), {}
            for message in messages:
                for p in message.tracked_processes:
                    table[(p.pid, p.start_ticks)] = p
            for key, p in table.items():
                kinds = self.process.setdefault(key, {"info": p})
                kinds[name] = p
                for u in p.usage:
                    assert u.kind not in kinds, (key, u.kind)
                    kinds[u.kind] = u
            self.of_stream.append((messages, table))
        if both:
            same(set(self.of_stream[0][1]), set(self.of_stream[1][1]))

    def sum(self, kind, parts=PARTS):
        return sum(getattr(p[kind], part) for p in self.process.values() if kind in p
                   for part in parts)

    def of(self, pid):
        return [p for (number, _), p in sorted(self.process.items()) if number == pid]

    def reaped(self):
        """What wait4 said to galvo."""
        return [p["info"].end for p in self.process.values() if p["info"].end.has_usage]

    def waited_ns(self):
        return sum(e.user_ns + e.system_ns for e in self.reaped())

    def tell(self):
        for kind in range(CPU, CANCELLED + 1):
            print("        %-13s %s" % (NAMES[kind], {part: self.sum(kind, [part])
                                                      for part in PARTS}))

    def look_sane(self):
        """What holds of every recording: rows lie in lives, and make no more than the books say."""
        for messages, table in self.of_stream:
            lives = collections.defaultdict(list)
            for (pid, _), p in table.items():
                lives[pid].append((p.first_timestamp_ns, p.end_timestamp_ns or 1 << 63, p))
            for at, pid, values in rows(messages, "process_samples"):
                assert sum(first <= at <= end for first, end, p in lives[pid]) == 1, (
                    "a row of %d at %d" % (pid, at), lives[pid])
            for pid, of_pid in lives.items():
                if messages is not self.of_stream[0][0]:
                    break
                points = series(messages, "process_samples", ACTIVE, pid)
                for first, end, p in of_pid:
                    own = [x for x in points if first <= x[0] <= end]
                    use = self.process[(pid, p.start_ticks)].get(CPU)
                    # Rates are doubles; ns are summed up to seconds.
                    assert integral(own) * 1e7 <= (use.sampled if use else 0) + 1000, (p, use)


def is_near(found, wanted, tolerance, what):
    assert abs(found - wanted) <= tolerance, "%s: %d in the books, in truth %d: off by %d > %d" % (
        what, found, wanted, found - wanted, tolerance)


def recorded(scenario, number, *options, expected=0, env=None, before=()):
    """One scenario in a recording: its books, and what the family says."""
    with Truth() as truth:
        done = run(*before, GALVO, "record", "-q", "-f", "-o", "r", *options, "--", FAMILY,
                   truth.path, scenario, number, env=env)
        same((done.returncode, done.stderr), (expected, b""))
        records = truth.records()
    check("r")
    if os.environ.get("KEEP"):
        run("cp", "-a", "r", os.environ["KEEP"])
    books = Books("r")
    books.tell()
    books.look_sane()
    return books, records


# Reading the CPU clock and leaving are apart: the end of an address space costs some 100 us, many
# times that on a busy machine whose caches are cold.
LEAVING_NS = 1000000


def cpu_balances(books, records=(), lost=0):
    """
    All parts of all processes are what galvo's wait4 said (in us, two to a process), and what those
    used that nobody waits for. The kernel tells of children in units of 10 ms, rounded down; whoever
    is between them and galvo is known to no better than two of these.
    """
    waited = books.waited_ns()
    is_near(books.sum(CPU), waited + lost, max(waited // 100, 2000 * len(books.reaped())), "CPU")


def bytes_balance(books, records, kinds=(RCHAR, WCHAR, READ, WRITE, CANCELLED)):
    """What those said who are waited for by nobody of the family: to the byte."""
    tops = [r for r in records if r.fate in (ADOPTED, LOST) and r.end]
    off = {NAMES[kind]: books.sum(kind) - sum(getattr(r, NAMES[kind]) for r in tops)
           for kind in kinds}
    assert not any(off.values()), off


@test
def a_storm_of_children():
    books, records = recorded("storm", 300)
    cpu_balances(books)
    bytes_balance(books, records)


@test
def a_chain_that_is_gone_at_once():
    books, records = recorded("chain", 20)
    cpu_balances(books)
    bytes_balance(books, records)


@test
def a_chain_that_is_seen():
    books, records = recorded("slow-chain", 20)
    cpu_balances(books)
    bytes_balance(books, records)
    same(len(books.process), 20)


@test
def zombies_of_a_parent_that_never_waits():
    books, records = recorded("zombies", 40)
    cpu_balances(books)
    bytes_balance(books, records)


@test
def threads_that_come_and_go():
    books, records = recorded("threads", 6)
    cpu_balances(books)
    bytes_balance(books, records)
    same(len(books.process), 1)
    for kind in range(CPU, CANCELLED + 1):
        same(books.sum(kind, ["unseen", "mixed"]), 0)


@test
def a_main_thread_that_goes_first():
    books, records = recorded("headless", 64)
    cpu_balances(books)
    bytes_balance(books, records)


@test
def threads_beside_children():
    books, records = recorded("mixed", 20)
    cpu_balances(books)
    bytes_balance(books, records)


@test
def five_hundred_that_are_killed():
    books, records = recorded("massacre", 500)
    cpu_balances(books)
    bytes_balance(books, records)
    books, records = recorded("deep-massacre", 200)
    cpu_balances(books)


@test
def orphans_of_those_in_the_middle():
    books, records = recorded("break-chain", 20)
    cpu_balances(books)
    bytes_balance(books, records)
    same(len(books.reaped()), 21)


@test
def daemons_that_end_before():
    books, records = recorded("daemons", 20)
    cpu_balances(books)
    bytes_balance(books, records)
    same(len(books.reaped()), 21)


main()
