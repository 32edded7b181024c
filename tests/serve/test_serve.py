"""galvo serve: what is told to those who watch a recording, whatever becomes of it."""
import functools
import os
import pty
import re
import select
import shutil
import signal
import socket
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import harness  # noqa: E402
from harness import GALVO, Skip, main, one_line, record, run, same, start, wait_until  # noqa: E402
from client import LIMIT_S, Page, Server, points  # noqa: E402


recorders = []


def test(function):
    """As of the harness; recorders that a failure has left behind are ended."""
    @functools.wraps(function)
    def guarded():
        try:
            function()
        finally:
            while recorders:
                left = recorders.pop()
                if left.poll() is None:
                    left.kill()
                left.communicate()
    return harness.test(guarded)


def recorder(*words, **options):
    recorders.append(start(GALVO, "record", "-q", *words, **options))
    return recorders[-1]


def stop(process):
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=LIMIT_S)


def has(path):
    return lambda: os.path.exists(path)


@test
def no_hole_and_no_double():
    process = recorder("-o", "run", "--flush", "150ms", "--budget", "100", "--all", "--for", "2s")
    wait_until(has("run/session_metadata.pb"), "it records")
    with Server("run") as server:
        viewers = []
        while process.poll() is None:  # they come at any time
            if len(viewers) < 24:
                viewers.append(Page(server))
            try:
                process.wait(0.07)
            except Exception:
                pass
        for viewer in viewers:
            if viewer.data["live"]:
                viewer.until("end")
        end = points(server.data())
    assert len(end["cpu/user"]) > 50 and len(viewers) > 10, (len(end["cpu/user"]), len(viewers))
    for viewer in viewers:
        for key, all_of_them in viewer.points().items():
            wanted = end[key]
            if len(all_of_them) < len(wanted):  # before it had done something it was not there
                assert not any(p[2] for p in wanted[:-len(all_of_them)]), key
                wanted = wanted[-len(all_of_them):]
            same([(key, p[1], p[2]) for p in all_of_them], [(key, p[1], p[2]) for p in wanted])
        same(set(end) - set(viewer.points()), set())


# ---- the life of a recording -------------------------------------------------------------------------

@test
def the_page_waits_for_a_run_that_is_not_there_yet():
    with Server("run") as server:
        page = Page(server)
        data = page.data
        assert data["live"] and data["runs"] == [] and data["waiting"].startswith("run: "), data
        process = recorder("-o", "run", "--flush", "100ms", "--all", "--for", "300ms")
        page.until("end")
        end = server.data()
        process.communicate()
        assert page.restarts >= 1
    same(len(page.points()["cpu/user"]), len(points(end)["cpu/user"]))
    assert "waiting" not in end and "not " not in server.stop()[1].replace("nothing is", ""), end


@test
def another_recording_takes_its_place():
    first = recorder("-o", "run", "--flush", "50ms", "--all")
    wait_until(has("run/system_metrics.pb"), "it records")
    with Server("run") as server:
        page = Page(server)
        page.until("news")
        stop(first)
        page.until("end")
        before = page.data
        assert not server.data()["live"]
        second = recorder("-f", "-o", "run", "--flush", "50ms", "--all")
        page.until("news")
        assert page.restarts >= 1
        stop(second)
        page.until("end")
        zero = server.data()["runs"][0]["zero_mono_ns"]
        assert zero != before["runs"][0]["zero_mono_ns"]
        same({d["runs"][0]["zero_mono_ns"] for d in [page.data] + [n[2] for n in page.news if n[1] == "news"]}, {zero})
        same(page.counts()["cpu/user"], len(points(server.data())["cpu/user"]))


@test
def its_directory_goes_and_comes_again():
    record("-q", "-o", "run", "--all", "--for", "50ms")
    with Server("run") as server:
        data = server.data()
        assert not data["live"] and data["runs"]
        events = server.news(data["sequence"])
        shutil.move("run", "away")
        events.until("restart")
        assert server.data()["waiting"]
        shutil.move("away", "run")
        events.until("restart")
        same(server.data()["runs"][0]["zero_mono_ns"], data["runs"][0]["zero_mono_ns"])


@test
def a_killed_recorder_leaves_what_it_has_written():
    process = recorder("-o", "run", "--flush", "50ms", "--all")
    wait_until(has("run/system_metrics.pb"), "it records")
    with Server("run") as server:
        page = Page(server)
        page.until("news")
        process.kill()
        process.communicate()
        page.rest()
        late = Page(server)
        late.rest()
        same(page.counts()["cpu/user"], late.counts()["cpu/user"])
        stop_now = recorder("-f", "-o", "run", "--flush", "50ms", "--all", "--for", "200ms")
        page.until("end")
        stop_now.communicate()


@test
def who_comes_late_or_comes_back_goes_on_where_it_was():
    process = recorder("-o", "run", "--flush", "50ms", "--all")
    wait_until(has("run/system_metrics.pb"), "it records")
    with Server("run") as server:
        data = server.data()
        events = server.news(data["sequence"])
        seen = [events.next() for _ in range(4)]
        events.close()
        again = server.news(data["sequence"], headers={"Last-Event-ID": seen[1][0]})
        same([again.next()[0] for _ in range(3)], ["%d" % (int(seen[1][0]) + i) for i in (1, 2, 3)])
        same(server.news("999999").next()[1], "gap")
        same(server.news("0").next()[1], "gap")
        for wrong in ("-1", "x", "1.5", ""):
            same(server.ask("/news?after=" + wrong).status, 400)
    stop(process)


@test
def news_have_no_more_points_than_anybody_can_see():
    process = recorder("-o", "run", "--flush", "200ms", "--hz", "1000", "--all")
    wait_until(has("run/system_metrics.pb"), "it records")
    with Server("run") as server:
        page = Page(server)
        page.until("news")
        page.until("news")
        for _, _, document in page.news:
            for base in (b for run in document["runs"] for b in run["bases"]):
                assert all(p["n"] <= 125 * (p["end"] - p["from"]) + 20 for p in base["pieces"]), base
    stop(process)


# ---- who may ask -------------------------------------------------------------------------------------

HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
                               "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}


@test
def nobody_else_may_ask():
    record("-q", "-o", "run", "--all", "--for", "50ms")
    with Server("run") as server:
        own, token = server.host, server.token
        wrong = ("0" if token[0] != "0" else "1") + token[1:]
        table = [
            # status, path, options
            (200, "/", {}), (200, "/page.js", {}), (200, "/page.css", {}), (200, "/data", {}),
            (200, "/detail?from=0&end=0.01", {}), (200, "/detail?end=1e1&from=-0.5", {}),
            (302, "/?token=" + token, {"cookie": None}),
            (401, "/?token=" + wrong, {"cookie": None}), (401, "/?token=", {"cookie": None}),
            (401, "/?token=" + token[:-1], {"cookie": None}), (401, "/?token=" + token + "0", {"cookie": None}),
            (401, "/data?token=" + token, {"cookie": None}),
            (401, "/", {"cookie": None}), (401, "/data", {"cookie": "galvo-%d=%s" % (server.port, wrong)}),
            (401, "/data", {"cookie": "galvo-1=" + token}), (401, "/data", {"cookie": "galvo=" + token}),
            (401, "/no", {"cookie": None}), (401, "/news", {"cookie": None}),
            (200, "/data", {"cookie": "other=1; galvo-%d=%s; more=2" % (server.port, token)}),
            (404, "/no", {}), (404, "/data/", {}), (404, "//data", {}), (404, "//", {}), (404, "/" + server.place, {}), (404, "/" + server.place + "//", {}),
            (401, "//data", {"cookie": None}), (401, "//page.js", {"cookie": None}), (401, "/page.js", {"cookie": None}),
            (401, "/page.css", {"cookie": None}), (401, "/detail?from=0&end=1", {"cookie": None}),
            (404, "/" + server.place.replace(server.place[1], "x") + "/data", {}), (204, "//favicon.ico", {"cookie": None}), (404, "/../../etc/passwd", {}),
            (404, "/%2e%2e/%2e%2e/etc/passwd", {}), (404, "/run/session_metadata.pb", {}),
            (400, "/detail", {}), (400, "/detail?from=1", {}), (400, "/detail?from=1&end=1", {}),
            (400, "/detail?from=2&end=1", {}), (400, "/detail?from=nan&end=1", {}),
            (400, "/detail?from=0&end=inf", {}), (400, "/detail?from=0&end=1e999", {}),
            (400, "/detail?from=0x1&end=9", {}), (400, "/detail?from=0&end=1s", {}),
            (400, "/detail?from=-5&end=-1", {}), (400, "/detail?from=-5&end=0", {}),
            (400, "/detail?from=0&end=1e9", {}), (400, "/detail?from=1e9&end=2e9", {}),
            (200, "/detail?from=-1e30&end=999999999", {}),
            (400, "/detail?from=%201&end=9", {}), (400, "/detail?from=&end=9", {}),
            (421, "/data", {"headers": {"Host": "example.org"}}),
            (421, "/data", {"headers": {"Host": "example.org:%d" % server.port}}),
            (421, "/data", {"headers": {"Host": "127.0.0.1"}}), (421, "/data", {"headers": {"Host": "127.0.0.1:1"}}),
            (421, "/data", {"headers": {"Host": own + ".example.org"}}),
            (421, "/data", {"headers": {"Host": "LOCALHOST@" + own}}),
            (421, "/?token=" + token, {"headers": {"Host": "rebound.example:%d" % server.port}}),
            (200, "/data", {"headers": {"Host": "localhost:%d" % server.port}}),
            (200, "/data", {"headers": {"Host": "LocalHost:%d" % server.port}}),
            (200, "/data", {"headers": {"Host": "[::1]:%d" % server.port}}),
            (200, "/data", {"headers": {"Origin": "http://" + own}}),
            (403, "/data", {"headers": {"Origin": "https://" + own}}),
            (403, "/data", {"headers": {"Origin": "null"}}), (403, "/data", {"headers": {"Origin": "http://x"}}),
            (403, "/data", {"headers": {"Origin": "http://" + own + ".x"}}),
            (403, "/data", {"headers": {"Origin": "http://localhost:%d" % server.port}}),
            (403, "/data", {"headers": {"Origin": "http://" + own + "/"}}),
            (200, "/data", {"headers": {"Sec-Fetch-Site": "same-origin"}}),
            (200, "/data", {"headers": {"Sec-Fetch-Site": "none"}}),
            (403, "/data", {"headers": {"Sec-Fetch-Site": "same-site"}}),
            (403, "/data", {"headers": {"Sec-Fetch-Site": "cross-site"}}),
            (403, "/?token=" + token, {"headers": {"Sec-Fetch-Site": "cross-site"}}),
            (405, "/data", {"method": "POST"}), (405, "/", {"method": "PUT"}), (405, "/news", {"method": "DELETE"}),
            (405, "/", {"method": "OPTIONS"}), (405, "/", {"method": "PATCH"}),
            (200, "/data", {"method": "HEAD"}), (200, "/", {"method": "HEAD"}),
        ]
        for status, path, options in table:
            reply = server.ask(path, **options)
            same((path, options, reply.status), (path, options, status))
            same({k: reply.headers.get(k) for k in HEADERS}, HEADERS)
            assert not any(k.startswith("access-control") for k in reply.headers), reply.headers
            assert token.encode() not in reply.body
            if status == 405:
                same(reply.headers["allow"], "GET, HEAD")
            if options.get("method") == "HEAD":
                assert not reply.body and int(reply.headers["content-length"]) > 0
        enters = server.ask("/?token=" + token, cookie=None)
        same(enters.headers["location"], server.place + "/")
        same(enters.headers["set-cookie"], server.cookie + "; HttpOnly; SameSite=Strict; Path=%s/" % server.place)
        same(server.ask("/page.js").headers["content-type"], "text/javascript; charset=utf-8")
        same(server.ask("/data").headers["content-type"], "application/json")
        assert server.news().next(0.05) is None


class Asker(threading.Thread):
    """Asks for details one after the other."""

    def __init__(self, server):
        super().__init__(daemon=True)
        self.server, self.answers, self.is_over = server, 0, False
        self.start()

    def run(self):
        while not self.is_over:
            same(self.server.ask("/detail?from=0&end=1").status, 200)
            self.answers += 1


@test
def who_asks_all_the_time_keeps_nobody_from_news():
    process = recorder("-o", "run", "--flush", "100ms", "--hz", "1000", "--all")
    wait_until(has("run/system_metrics.pb"), "it records")
    with Server("run") as server:
        page = Page(server)
        askers = [Asker(server) for _ in range(12)]
        wait_until(lambda: all(a.answers for a in askers), "all are at it")
        before = [a.answers for a in askers]
        for _ in range(5):
            page.until("news", 5)
        for a in askers:
            a.is_over = True
        for a in askers:
            a.join()
        assert sum(a.answers for a in askers) > sum(before)
    stop(process)


@test
def a_run_that_cannot_be_read_says_why():
    os.symlink("run", "run")
    with Server("run") as server:
        page = Page(server)
        wait_until(lambda: "symbolic links" in server.data()["waiting"], "it says why")
        assert page.data["live"] and page.data["runs"] == []
        os.unlink("run")
        record("-q", "-o", "run", "--all", "--for", "50ms")
        page.until("end")
        assert page.data["runs"], page.data
        err = server.stop()[1]
        one_line(err.encode(), "run: Too many levels of symbolic links")


@test
def the_browser_of_the_desktop_comes_in_once():
    record("-q", "-o", "run", "--all", "--for", "20ms")
    os.mkdir("bin")
    with open("bin/xdg-open", "w") as file:
        file.write("#!/bin/sh\necho \"$*\" >asked.part; mv asked.part asked\n")
    os.chmod("bin/xdg-open", 0o755)
    ours, its = pty.openpty()
    place = {"DISPLAY": ":7", "PATH": os.path.abspath("bin") + ":" + os.environ["PATH"], "TMPDIR": os.getcwd()}
    with Server("run", stdout=its, read_from=ours, env={**os.environ, **place, "XDG_CACHE_HOME": ""}) as server:
        wait_until(has("asked"), "a browser is opened")
        with open("asked") as file:
            path = file.read().strip()
        with open(path) as file:
            once = re.search(r"url=http://%s/\?token=([0-9a-f]{32})\"" % server.host, file.read())[1]
        assert once != server.token and once not in path and server.token not in path
        same(os.stat(path).st_mode & 0o777, 0o600)
        same(server.ask("/data?token=" + once, cookie=None).status, 401)
        from_file = {"Sec-Fetch-Site": "cross-site"}
        first = server.ask("/?token=" + once, cookie=None, headers=from_file)
        same((first.status, first.headers["content-type"]), (200, "text/html; charset=utf-8"))
        assert ("url=%s/\"" % server.place).encode() in first.body, first.body
        assert first.headers["set-cookie"].startswith(server.cookie + "; HttpOnly; SameSite=Strict; Path=/")
        same(server.ask("/?token=" + once, cookie=None).status, 401)
        same(server.ask("/?token=" + once, cookie=None, headers=from_file).status, 403)
        server.stop()
        assert not os.path.exists(path)


@test
def names_of_others_stay_text():
    name = b"</script><b>\"\\\xff\xe2\x80\xa8\x1b[31m&amp;"
    process = recorder("-o", os.fsdecode(b"run<i>\xff"), "--flush", "50ms", "--", "sh", "-c",
                       os.fsdecode(b"exec sleep 100 # " + name))
    wait_until(lambda: os.path.exists(b"run<i>\xff/system_metrics.pb"), "it records")
    process_name = os.fsdecode(b"run<i>\xff")
    with Server(process_name) as server:
        reply = server.ask("/data")
        same(reply.headers["content-type"], "application/json")
        data = reply.json()
        assert b"\xff" not in reply.body and b"\x1b" not in reply.body and b"</script" not in reply.body, reply.body
        events = server.news(data["sequence"])
        events.next()
        shutil.rmtree(process_name)
        events.until("restart")
        waits = server.ask("/data")
        assert b"run\\u003ci>\\ufffd: nothing" in waits.body, waits.body
    stop(process)


@test
def too_many():
    record("-q", "-o", "run", "--all", "--for", "20ms")
    with Server("run") as server:
        sequence = server.data()["sequence"]
        viewers = [server.news(sequence) for _ in range(32)]
        for viewer in viewers:
            same(wait_until(lambda: viewer.next(0.01) or viewer.status, "it answers"), 200)
        reply = server.ask("/news")
        same((reply.status, reply.headers["retry-after"]), (503, "5"))
        same(server.ask("/data").status, 200)
        for viewer in viewers:
            viewer.close()
        wait_until(lambda: is_welcome(server), "there is room")
        crowd = [server.connect() for _ in range(80)]
        wait_until(lambda: len(select.select(crowd, [], [], 0)[0]) >= 16, "it has hung up on some")
        began = time.monotonic()
        wait_until(lambda: is_served(server), "those that ask for nothing make room")
        assert time.monotonic() - began < 5
        same(server.data()["sequence"], sequence)
        for s in crowd:
            s.close()
        for words in ("&".join("a%d" % i for i in range(500)), "x" * 2500):
            began = time.monotonic()
            same(server.ask("/data?" + words).status, 414)
            assert time.monotonic() - began < 5
        with server.connect() as s:  # headers of more than it has room for
            s.sendall(b"GET / HTTP/1.1\r\n" + b"".join(b"X-%d: %s\r\n" % (i, b"x" * 1000) for i in range(64)))
            assert s.recv(100).split()[1] in (b"413", b"414", b"431")
        same(server.ask("/data").status, 200)


def is_served(server):
    try:
        return server.ask("/data").status == 200
    except (ConnectionError, IndexError):  # hung up on: there are more than it takes, until some are gone
        return False


def is_welcome(server):
    events = server.news("999")
    events.next()
    events.close()
    return events.status == 200


# ---- the program -------------------------------------------------------------------------------------

@test
def it_ends_at_once_with_viewers():
    record("-q", "-o", "run", "--all", "--for", "20ms")
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        with Server("run") as server:
            sequence = server.data()["sequence"]
            viewers = [server.news(sequence) for _ in range(3)]
            same([v.next(0.05) for v in viewers], [None] * 3)
            same(server.stop(number)[0], 0)
            same([v.next(1) for v in viewers], [None] * 3)
            assert all(v.is_over for v in viewers)


@test
def a_port_that_is_taken():
    record("-q", "-o", "run", "--all", "--for", "20ms")
    with Server("--port", "0", "run") as one:
        done = run(GALVO, "serve", "--port", str(one.port), "run")
        same(done.returncode, 125)
        one_line(done.stderr, "127.0.0.1:%d" % one.port, "Address already in use")
    with Server("run") as usual, Server("run") as other:
        assert usual.port != other.port
        same(other.data()["title"], usual.data()["title"])


@test
def a_port_that_is_taken_by_ipv6_alone():
    record("-q", "-o", "run", "--all", "--for", "20ms")
    with socket.socket(socket.AF_INET6) as other:
        other.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        try:
            other.bind(("::1", 0))
        except OSError as why:
            raise Skip("no IPv6: %s" % why)
        other.listen()
        fails("--port", str(other.getsockname()[1]), "run", needs=("Address already in use",))


def fails(*words, needs, **options):
    done = run(GALVO, "serve", *words, **options)
    same((done.returncode, done.stdout), (125, b""))
    one_line(done.stderr, *needs)


@test
def what_cannot_be_served_is_said_in_a_line():
    record("-q", "-o", "run", "--all", "--for", "20ms")
    with Server("run") as server:
        server.stop()
    os.mkdir("lib")
    with open("lib/libmicrohttpd.so.12", "wb"):
        pass
    fails("run", env={**os.environ, "LD_LIBRARY_PATH": "lib"}, needs=("libmicrohttpd.so.12", "not installed"))
    fails("run/system_metrics.pb", needs=("expected the directory of a run",))
    fails("--listen", "unix:" + "x" * 108, "run", needs=("107 bytes",))
    fails("--listen", "unix:no/such", "run", needs=("no/such: No such file",))
    fails("--listen", "192.0.2.1", "run", needs=("192.0.2.1: Cannot assign",))
    for wrong in ("", ":1", "[::1", "[::1]x", "a:123456789", "127.0.0.1:99999", "127.0.0.1: 80",
                  "127.0.0.1:", "127.0.0.1:+80", "127.0.0.1:http", "[::1]:65536"):
        fails("--listen", wrong, "run", needs=("expected ADDRESS",))
    fails("--listen", "127.0.0.1:0", "--port", "5", "run", needs=("127.0.0.1:0 has a port", "no --port"))
    fails("--live", "-o", "run", needs=("run",))
    fails("--live", "-p", "2147483647", needs=("2147483647",))


@test
def another_address_is_asked_for_by_its_name():
    record("-q", "-o", "run", "--all", "--for", "20ms")
    with Server("--listen", "127.0.0.2:0", "run") as server:
        pass
    with Server("--listen", "0.0.0.0:0", "run") as server:
        for host, status in (("127.0.0.1:%d" % server.port, 200), ("0.0.0.0:%d" % server.port, 200),
                             ("localhost:%d" % server.port, 421), ("example.org:%d" % server.port, 421)):
            same(server.ask("/data", headers={"Host": host}).status, status)
        assert "plain text" in server.stop()[1]
    with Server("--listen", "LOCALHOST:0", "run") as server:
        same(server.ask("/data", headers={"Host": "localhost:%d" % server.port}).status, 200)


@test
def without_ipv6_it_has_the_other():
    record("-q", "-o", "run", "--all", "--for", "20ms")
    if run("unshare", "-rn", "true").returncode:
        raise Skip("no network of its own can be had here")
    script = "ip link set lo up 2>/dev/null; echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6; exec \"$0\" \"$@\""
    inner = run("unshare", "-rn", "sh", "-c", script, "sh", "-c",
                "%s serve run >out & until [ -s out ]; do :; done; kill $!; wait $!; echo $? >>out; cat out" % GALVO)
    lines = inner.stdout.decode().splitlines()
    assert lines[0].startswith("http://127.0.0.1:") and lines[1] == "0", (lines, inner.stderr)


@test
def a_unix_socket_is_its_owners():
    record("-q", "-o", "run", "--all", "--for", "20ms")
    for _ in range(2):  # the second time it finds what a killed one has left
        with Server("--listen", "unix:sock", "run") as server:
            server.unix = "sock"
            same(os.stat("sock").st_mode & 0o777, 0o600)
            same(server.ask("/data").status, 200)
            for host, status in (("localhost", 200), ("localhost:9000", 401), ("127.0.0.1:9000", 401),
                                 ("[::1]", 200), ("example.org", 421), ("localhost:", 421),
                                 ("localhost.example.org", 421)):
                same(server.ask("/data", headers={"Host": host}).status, status)
            cookie = "galvo-9000=" + server.token
            same(server.ask("/data", headers={"Host": "localhost:9000"}, cookie=cookie).status, 200)
            server.process.kill()
            server.process.wait()
    with Server("--listen", "unix:sock", "run") as server:
        server.stop()
        assert not os.path.exists("sock")


@test
def this_machine_live():
    os.mkdir("place")
    options = {"env": {**os.environ, "TMPDIR": os.path.abspath("place"), "XDG_RUNTIME_DIR": "/nowhere"}}
    with Server("--live", **options) as killed, Server("--live", **options) as stays:
        both = set(os.listdir("place"))
        killed.process.kill()
        killed.process.wait()
        os.mkdir("place/galvo-live-1")  # not one of ours: such have names of another length
        for name in os.listdir("place"):
            os.utime(os.path.join("place", name), (0, 0))
        with Server("--live", **options) as other:  # removes what the killed one has left, and nothing else
            other.data()
            left = set(os.listdir("place"))
            same((len(both), len(both & left), len(left)), (2, 1, 3))
            same(stays.ask("/data").status, 200)
            other.stop()
        stays.stop()
        same(os.listdir("place"), ["galvo-live-1"])
        os.rmdir("place/galvo-live-1")
    with Server("--live", **options) as server:
        (name,) = os.listdir("place")
        same(os.stat(os.path.join("place", name)).st_mode & 0o777, 0o700)
        page = Page(server)
        assert page.data["live"]
        page.until("news")
        page.until("news")
        assert len(page.points()["cpu/user"]) > 10
        same(server.stop()[0], 0)
        same(os.listdir("place"), [])
    with Server("--live", "-o", "kept", "-p", str(os.getpid())) as server:
        wait_until(lambda: server.data()["runs"] and server.data()["runs"][0]["processes"], "it follows us")
        same(server.stop()[0], 0)
    assert os.path.getsize("kept/system_metrics.pb")
    harness.check("kept")


if __name__ == "__main__":
    main()
