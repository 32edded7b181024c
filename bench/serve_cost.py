"""What galvo serve costs: its CPU time and memory with no viewer, one, four and as many as it lets in."""
import os
import sys
import tempfile
import threading
import time

sys.path[:0] = [os.path.join(os.environ["GALVO_TREE"], "tests"), os.path.join(os.environ["GALVO_TREE"], "tests/serve")]
from harness import GALVO, start, wait_until  # noqa: E402
from client import Server  # noqa: E402

SECONDS = 10
FLUSHES = ("500ms", "5s")
VIEWERS = (0, 1, 4, 32)


class Watcher(threading.Thread):
    """A viewer that takes what it gets and looks at nothing."""

    def __init__(self, server, sequence):
        super().__init__(daemon=True)
        self.connection = server.send("/news?after=" + sequence)
        self.connection.settimeout(None)
        self.bytes = 0

    def run(self):
        while True:
            more = self.connection.recv(1 << 20)
            if not more:
                return
            self.bytes += len(more)


def cpu_s(pid):
    """By nanoseconds: ticks of a clock are too coarse."""
    with open("/proc/%d/schedstat" % pid) as file:
        own = int(file.read().split()[0])
    total = 0
    for task in os.listdir("/proc/%d/task" % pid):
        with open("/proc/%d/task/%s/schedstat" % (pid, task)) as file:
            total += int(file.read().split()[0])
    return max(total, own) / 1e9


def measure(flush, viewers):
    with tempfile.TemporaryDirectory() as place:
        run = os.path.join(place, "run")
        recorder = start(GALVO, "record", "-q", "-o", run, "--flush", flush, "-p", str(os.getpid()))
        wait_until(lambda: os.path.exists(os.path.join(run, "system_metrics.pb")), "it records")
        with Server("--port", "0", run) as server:
            # None comes while it is measured: what an overview costs is measured below.
            watchers = [Watcher(server, server.data()["sequence"]) for _ in range(viewers)]
            for w in watchers:
                w.start()
            time.sleep(1)
            before, recorded = cpu_s(server.process.pid), cpu_s(recorder.pid)
            took = sum(w.bytes for w in watchers)
            time.sleep(SECONDS)
            cost = (cpu_s(server.process.pid) - before) / SECONDS
            recorder_cost = (cpu_s(recorder.pid) - recorded) / SECONDS
            took = (sum(w.bytes for w in watchers) - took) / SECONDS
            print("%-8s %7d  %8.3f %%  %8.3f %%  %10.1f  %8.2f" % (
                flush, viewers, 100 * cost, 100 * recorder_cost, took / 1024 / max(viewers, 1),
                server.rss_bytes() / 2**20))
            sys.stdout.flush()
        recorder.terminate()
        recorder.communicate()
    return cost


def main():
    print("flush    viewers  of one CPU    recorder  KiB/s each   RSS MiB")
    for flush in FLUSHES:
        costs = [measure(flush, n) for n in VIEWERS]
        print("%-8s one more viewer costs %.4f %% of one CPU" % (
            flush, 100 * (costs[-1] - costs[1]) / (VIEWERS[-1] - VIEWERS[1])))


if __name__ == "__main__":
    main()
