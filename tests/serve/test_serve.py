"""galvo serve: what is told to those who watch a recording, whatever becomes of it."""
import os
import shutil
import signal
import socket
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from harness import GALVO, main, record, same, start, test, wait_until  # noqa: E402
from client import LIMIT_S, Server, points  # noqa: E402


def recorder(*words, **options):
    return start(GALVO, "record", "-q", *words, **options)


def stop(process):
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=LIMIT_S)


def has(path):
    return lambda: os.path.exists(path)


def together(data, news):
    """Points of a viewer that has loaded data and then been told news."""
    all_points = points(data)
    for number, event, document in news:
        if event == "news":
            for key, more in points(document).items():
                all_points.setdefault(key, []).extend(more)
    return all_points


@test
def no_hole_and_no_double():
    process = recorder("-o", "run", "--flush", "150ms", "--all", "--for", "2s")
    wait_until(has("run/session_metadata.pb"), "it records")
    with Server("run") as server:
        viewers = []
        while process.poll() is None:  # they come at any time
            data = server.data()
            viewers.append((data, server.news(data["sequence"])))
            try:
                process.wait(0.07)
            except Exception:
                pass
        viewers = [(data, events.until("end") if data["live"] else []) for data, events in viewers[:24]]
        end = server.data()
    same(end["live"], False)
    wanted = {key: len(p) for key, p in points(end).items()}
    assert wanted["cpu/user"] > 100, wanted
    for data, news in viewers:
        same([int(n[0]) for n in news], list(range(int(data["sequence"]) + 1, int(data["sequence"]) + 1 + len(news))))
        got = together(data, news)
        same({key: len(p) for key, p in got.items()}, wanted)
        for key, all_of_them in got.items():
            ends = [p[1] for p in all_of_them]
            same(ends, [p[1] for p in points(end)[key]])


if __name__ == "__main__":
    main()
