"""What docs/page.md says, read by other means than galvo's: pages and documents back into curves."""
import base64
import html.parser
import json
import struct
import zlib

TAGS = {"html", "head", "meta", "title", "style", "body", "noscript", "pre", "script"}


class Page(html.parser.HTMLParser):
    """The elements of a page, and the texts of its scripts by their ids."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.tags, self.texts, self.order, self.inside = [], {}, [], None
        self.policy = None
        self.pre = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        assert tag in TAGS, tag
        self.tags.append(tag)
        assert set(attrs) <= {"id", "type", "charset", "lang", "name", "content", "http-equiv"}, attrs
        if attrs.get("http-equiv") == "Content-Security-Policy":
            self.policy = attrs["content"]
        if tag in ("script", "style", "title"):
            self.inside = attrs.get("id", attrs.get("type", tag))
            assert self.inside not in self.texts, self.inside
            self.order.append(self.inside)
            self.texts[self.inside] = ""
        elif tag == "pre":
            self.pre.append("")

    def handle_endtag(self, tag):
        if tag in ("script", "style", "title"):
            self.inside = None

    def handle_data(self, data):
        if self.inside:
            self.texts[self.inside] += data
        elif data.strip():
            self.pre[-1] += data

    def handle_comment(self, data):
        raise AssertionError("a comment: %r" % data[:50])


def varints(data):
    value = shift = 0
    for byte in data:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            yield (value >> 1) ^ -(value & 1)
            value = shift = 0
    assert shift == 0


def inflate(text):
    out = zlib.decompressobj(-15)
    data = out.decompress(base64.b64decode(text, validate=True))
    assert out.eof and not out.unused_data
    return data


def instants(data, n):
    numbers = list(varints(data))
    assert len(numbers) == 2 * n, (len(numbers), n)
    ends, at, difference = [], 0, 0
    for number in numbers[:n]:
        difference += number
        at += difference
        ends.append(at)
    starts = [s + (ends[i - 1] if i else 0) for i, s in enumerate(numbers[n:])]
    return starts, ends


def floats(data, n, width):
    """As many arrays of n values as there are."""
    parts = []
    assert len(data) % (n * width) == 0
    for at in range(0, len(data), n * width):
        part = data[at:at + n * width]
        plain = bytearray(n * width)
        for k in range(width):
            plain[k::width] = part[k * n:(k + 1) * n]
        parts.append(struct.unpack("<%d%s" % (n, "f" if width == 4 else "d"), bytes(plain)))
    return parts


class Document:
    """One document, blocks inside or in a page."""

    def __init__(self, text, blocks=None):
        self.json = json.loads(text, parse_constant=lambda c: 1 / 0)
        assert self.json["format"] == 1
        self.blocks = self.json.get("blocks", blocks)
        self.used = set()

    def block(self, name):
        self.used.add(name)
        return inflate(self.blocks[name])

    def pieces(self, run, series):
        """[(piece, starts, ends, lowest, highest, mean)] of a series; of points all three are alike."""
        bases = {b["id"]: b for b in run["bases"]}
        base = bases[series["base"]]
        assert len(base["pieces"]) == len(series["pieces"])
        found = []
        for piece, name in zip(base["pieces"], series["pieces"]):
            starts, ends = instants(self.block(piece["block"]), piece["n"])
            assert abs(piece["from"] - starts[0] / 1e9) < 1e-6
            assert abs(piece["end"] - ends[-1] / 1e9) < 1e-6
            parts = floats(self.block(name), piece["n"], self.json["bytes"])
            assert len(parts) == (1 if piece["per"] == 1 else 3)
            found.append((piece, starts, ends, parts[0], parts[len(parts) // 2], parts[-1]))
        return found

    def series(self):
        """(key, run, panel, series) of all."""
        for run in self.json["runs"]:
            keys = set()
            for panel in run["panels"]:
                assert ("total" in panel) == (panel["shape"] == "stack"), panel["id"]
                for series in panel["series"] + ([panel["total"]] if "total" in panel else []):
                    assert series["key"] not in keys, series["key"]
                    keys.add(series["key"])
                    yield series["key"], run, panel, series


def of_page(path):
    page = Page(open(path, encoding="utf-8").read())
    document = Document(page.texts["galvo-data"], page.texts)
    document.page = page
    return document


def of_data(path):
    return Document(open(path, encoding="utf-8").read())
