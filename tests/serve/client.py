"""A client of galvo serve: requests as they are written, streams of events, documents of the page."""
import json
import os
import re
import select
import signal
import socket
import sys
import time

from harness import GALVO, Skip, start, wait_until

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "page"))
import page  # noqa: E402

LIMIT_S = 20


class Reply:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    def json(self):
        return json.loads(self.body)


class Server:
    """galvo serve with these words, until the with statement ends."""

    def __init__(self, *words, read_from=None, **options):
        self.process = start(GALVO, "serve", *words, **options)
        line = (os.fdopen(read_from, "rb", 0) if read_from else self.process.stdout).readline().decode()
        if not line:
            err = self.process.stderr.read().decode()
            self.process.wait()
            if "built without" in err or "not installed" in err:
                raise Skip(err.strip())
            raise AssertionError("galvo serve ended: " + err)
        self.url = line.strip()
        found = re.fullmatch(r"http://([^/]+)/\?token=([0-9a-f]{32})", self.url)
        assert found, line
        self.host, self.token = found.groups()
        self.port = int(self.host.rsplit(":", 1)[1]) if ":" in self.host else 0
        self.unix = None
        self._place = None
        self.cookie = "galvo-%d=%s" % (self.port or 80, self.token)

    def __enter__(self):
        return self

    def __exit__(self, *what):
        self.stop()

    def stop(self, number=signal.SIGTERM):
        """(exit status, standard error); it has to be quick."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        out, err = self.process.communicate(timeout=LIMIT_S)
        return self.process.returncode, err.decode()

    def connect(self):
        if self.unix:
            s = socket.socket(socket.AF_UNIX)
            s.connect(self.unix)
        else:
            s = socket.create_connection(("127.0.0.1", self.port))
        s.settimeout(LIMIT_S)
        return s

    @property
    def place(self):
        """Where the page is: "/" and what nobody else knows."""
        if not self._place:
            reply = self.ask("/?token=" + self.token, cookie=None)
            self._place = re.fullmatch("(/[0-9a-f]{32})/", reply.headers["location"])[1]
        return self._place

    def send(self, path, method="GET", cookie=True, headers=()):
        """A connection that has asked; its answer comes yet. None in headers: that one is left out.

        Paths are below the place of the page, but "/?…", which leads there, and "//…", which is "/…"."""
        path = path[1:] if path.startswith("//") else path if path.startswith("/?") else self.place + path
        all_headers = {"Host": self.host, "Cookie": self.cookie if cookie is True else cookie, **dict(headers)}
        text = "%s %s HTTP/1.1\r\n" % (method, path)
        text += "".join("%s: %s\r\n" % h for h in all_headers.items() if h[1])
        s = self.connect()
        s.sendall((text + "\r\n").encode())
        return s

    def ask(self, path, **options):
        with self.send(path, headers={"Connection": "close", **options.pop("headers", {})}, **options) as s:
            data = b""
            while True:
                more = s.recv(1 << 16)
                if not more:
                    break
                data += more
        head, _, body = data.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        headers = {k.lower(): v for k, v in (line.split(": ", 1) for line in lines[1:])}
        return Reply(int(lines[0].split()[1]), headers, body)

    def data(self):
        reply = self.ask("/data")
        assert reply.status == 200, (reply.status, reply.body[:200])
        return reply.json()

    def news(self, after=None, **options):
        return Events(self.send("/news" + ("" if after is None else "?after=%s" % after), **options))

    def cpu_s(self):
        """What it has used so far."""
        with open("/proc/%d/stat" % self.process.pid) as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def rss_bytes(self):
        with open("/proc/%d/statm" % self.process.pid) as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Events:
    """A stream of events, chunks and all."""

    def __init__(self, connection):
        self.connection = connection
        self.raw = self.text = b""
        self.status = None
        self.pings = 0
        self.is_over = False

    def close(self):
        self.connection.close()

    def _dechunk(self):
        while True:
            size, end, rest = self.raw.partition(b"\r\n")
            if not end:
                return
            n = int(size, 16)
            if len(rest) < n + 2:
                return
            self.text += rest[:n]
            self.raw = rest[n + 2:]
            if n == 0:
                self.is_over = True
                return

    def _more(self, deadline):
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([self.connection], [], [], left)[0]:
            return False
        more = self.connection.recv(1 << 16)
        if not more:
            self.is_over = True
            return False
        self.raw += more
        if self.status is None:
            head, end, rest = self.raw.partition(b"\r\n\r\n")
            if not end:
                return True
            self.status = int(head.split()[1])
            self.head = head.decode("latin-1")
            self.raw = rest
            if self.status != 200:
                self.is_over = True
                return False
        self._dechunk()
        return True

    def next(self, limit_s=LIMIT_S):
        """(id, event, document) or None: there is none in that time, or this is the end."""
        deadline = time.monotonic() + limit_s
        while True:
            while b"\n\n" not in self.text:
                if self.is_over or not self._more(deadline):
                    return None
            frame, _, self.text = self.text.partition(b"\n\n")
            fields = dict(line.split(": ", 1) for line in frame.decode().split("\n") if not line.startswith(":"))
            self.pings += frame.startswith(b": ping")
            if "event" in fields:
                return fields.get("id"), fields["event"], json.loads(fields["data"])

    def until(self, event, limit_s=LIMIT_S):
        """All up to that one."""
        seen = []
        deadline = time.monotonic() + limit_s
        while not seen or seen[-1][1] != event:
            got = self.next(deadline - time.monotonic())
            assert got, "no %s among %r" % (event, [s[:2] for s in seen])
            seen.append(got)
        return seen


class Page:
    """What the page does: loads data, goes on with news, begins anew when it is told to."""

    def __init__(self, server):
        self.server = server
        self.restarts = 0
        self.load()

    def load(self):
        self.data = self.server.data()
        self.news = []
        self.events = self.server.news(self.data["sequence"])

    def until(self, event, limit_s=LIMIT_S):
        deadline = time.monotonic() + limit_s
        while event != "end" or self.data["live"]:
            got = self.events.next(deadline - time.monotonic())
            assert got, "no %s" % event
            if got[1] in ("restart", "gap"):
                self.events.close()
                self.restarts += 1
                self.load()
            else:
                same_number = int(self.data["sequence"]) + len(self.news) + 1
                assert int(got[0]) == same_number, (got[0], same_number)
                self.news.append(got)
            if got[1] == event:
                return

    def rest(self):
        """All that comes until nothing comes."""
        while True:
            got = self.events.next(0.5)
            if not got:
                return
            assert got[1] == "news", got
            self.news.append(got)

    def points(self):
        found = points(self.data)
        for _, event, document in self.news:
            if event == "news":
                for key, more in points(document).items():
                    found.setdefault(key, []).extend(more)
        return found

    def counts(self):
        return {key: len(p) for key, p in self.points().items()}


# ---- documents -------------------------------------------------------------------------------------

def points(document):
    """{key: [(from, end, value)]} of all that is there point by point."""
    found = {}
    for run in document["runs"]:
        bases = {b["id"]: b for b in run["bases"]}
        for series in (s for p in run["panels"] for s in p["series"]):
            for piece, block in zip(bases[series["base"]]["pieces"], series["pieces"]):
                if block is None:
                    continue
                assert piece["per"] == 1, piece
                starts, ends = page.instants(page.inflate(document["blocks"][piece["block"]]), piece["n"])
                [values] = page.floats(page.inflate(document["blocks"][block]), piece["n"], document["bytes"])
                found.setdefault(series["key"], []).extend(zip(starts, ends, values))
    return found
