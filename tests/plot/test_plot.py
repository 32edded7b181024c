#!/usr/bin/env python3
# Looks at pictures of runs as nobody has them: SVG as XML with places and words, PNG pixel by pixel.
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as xml
import zlib

TREE, STRANGE = os.environ["GALVO_TREE"], os.environ["STRANGE"]
SVG = "{http://www.w3.org/2000/svg}"
NAMES = "one short long spike huge absent cores processes hostile regions full".split()


def widths():
    """Of characters in thousandths of the size, as the library has them: plain and bold."""
    with open(os.path.join(TREE, "src/output/plot_text.c")) as file:
        table = re.search(r"widths\[2\]\[95\] = \{(.*?)\};", file.read(), re.S).group(1)
    numbers = [int(n) for n in re.findall(r"\d+", table)]
    return numbers[:95], numbers[95:]


WIDTHS = widths()


def draw(name, kind, *more, fails=False):
    run = subprocess.run([STRANGE, name, kind, *more], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
    if fails:
        assert run.returncode == 1, run
        return run.stderr.decode()
    if b"cairo" in run.stderr:
        raise unittest.SkipTest(run.stderr.decode().strip())
    assert run.returncode == 0 and not run.stderr, run.stderr
    return run.stdout


class Text:
    def __init__(self, e):
        size = float(e.get("font-size"))
        bold = e.get("font-weight") == "bold"
        self.text = e.text or ""
        self.width = sum(WIDTHS[bold][ord(c) - 32] if " " <= c <= "~" else 700 for c in self.text) * size / 1000
        x = float(e.get("x"))
        anchor = e.get("text-anchor", "start")
        self.x0 = x - {"start": 0, "middle": self.width / 2, "end": self.width}[anchor]
        self.x1 = self.x0 + self.width
        self.y1 = float(e.get("y"))
        self.y0 = self.y1 - size * 0.7
        self.size = size

    def overlaps(self, other):
        return (self.x0 + 0.5 < other.x1 and other.x0 + 0.5 < self.x1 and
                self.y0 + 0.5 < other.y1 and other.y0 + 0.5 < self.y1)


class Picture:
    def __init__(self, data):
        self.root = xml.fromstring(data)
        _, _, self.width, self.height = (float(v) for v in self.root.get("viewBox").split())
        self.texts = [Text(e) for e in self.root.iter(SVG + "text")]
        self.words = " | ".join(t.text for t in self.texts)
        self.panels = [g.get("data-id") for g in self.root.iter(SVG + "g") if g.get("class") == "panel"]

    def group(self, kind, name):
        return next(g for g in self.root.iter(SVG + "g") if g.get("class") == kind and g.get("data-id") == name)

    def places(self):
        for e in self.root.iter(SVG + "path"):
            yield from points(e.get("d"))


def points(d):
    """Of a path of M, L, H and V."""
    x = y = 0.0
    for kind, numbers in re.findall(r"([MLHV])([-0-9. ]+)", d):
        values = [float(v) for v in numbers.split()]
        if kind == "H":
            x = values[0]
        elif kind == "V":
            y = values[0]
        else:
            x, y = values
        yield x, y


def pixels(data):
    """Rows of a PNG, a tuple of red, green and blue for each pixel."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, packed = 8, b""
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + length]
        if kind == b"IHDR":
            width, height, depth, colour = struct.unpack(">IIBB", body[:10])
            assert (depth, colour) == (8, 2)
        elif kind == b"IDAT":
            packed += body
        at += length + 12
    raw, stride, rows = zlib.decompress(packed), width * 3, []
    before = bytearray(stride)
    for y in range(height):
        way = raw[y * (stride + 1)]
        row = bytearray(raw[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
        for i in range(stride if way else 0):
            a = row[i - 3] if i >= 3 else 0
            b, c = before[i], before[i - 3] if i >= 3 else 0
            if way == 4:
                p = a + b - c
                pa, pb, pc = abs(p - a), abs(p - b), abs(p - c)
                guess = a if pa <= pb and pa <= pc else b if pb <= pc else c
            else:
                guess = (0, a, b, (a + b) // 2)[way]
            row[i] = (row[i] + guess) & 255
        rows.append(row)
        before = row
    return width, height, rows


class Pictures(unittest.TestCase):
    def test_all_is_on_the_page_and_nothing_overlaps(self):
        for name in NAMES:
            for width in ("", "400") if name != "hostile" else ("", "400", "3000"):
                picture = Picture(draw(name, "svg", "", width))
                self.assertGreater(len(picture.texts), 5, name)
                for t in picture.texts:
                    self.assertTrue(t.x0 >= 0 and t.x1 <= picture.width and t.y0 >= 0 and t.y1 <= picture.height,
                                    (name, width, t.text, t.x0, t.x1, picture.width))
                for x, y in picture.places():
                    self.assertTrue(-1 <= x <= picture.width + 1 and -1e3 <= y <= picture.height + 1e3, (name, x, y))
                for i, t in enumerate(picture.texts):
                    for other in picture.texts[:i]:
                        self.assertFalse(t.overlaps(other), (name, width, t.text, other.text))

    def test_panels(self):
        self.assertEqual(Picture(draw("one", "svg")).panels, ["cpu", "memory"])
        self.assertEqual(Picture(draw("spike", "svg", "mem*")).panels, ["memory"])
        self.assertEqual(Picture(draw("regions", "svg", "gpu-regions,cpu")).panels, ["gpu-regions", "cpu"])
        told = draw("one", "svg", "nosuch", fails=True)
        self.assertRegex(told, r"^no panel 'nosuch'; there are cpu, memory\b")
        self.assertRegex(draw("none", "svg", fails=True), "^nothing to draw")

    def test_words(self):
        words = Picture(draw("regions", "svg")).words
        for word in ("node1", "2026-07-01T12:00:00Z", "CPU", "Memory", "Regions", "GPU", "train", "mean", "10 s"):
            self.assertIn(word, words)
        self.assertRegex(Picture(draw("processes", "svg")).words, r"and \d+ more")
        self.assertIn("10 h", Picture(draw("long", "svg")).words)
        self.assertRegex(Picture(draw("short", "svg")).words, r"\b5 ms")
        self.assertIn("means", Picture(draw("long", "svg")).words)

    def test_hostile_names_are_text(self):
        data = draw("hostile", "svg")
        picture = Picture(data)
        self.assertIn("<b>&\"make\"</b>", picture.words)
        self.assertNotIn(b"<script", data)
        for c in data.decode():
            self.assertTrue(c == "\n" or c >= " " and c not in "\x7f\u202e\ufffe\uffff", repr(c))
        kinds = {e.tag.replace(SVG, "") for e in picture.root.iter()}
        self.assertEqual(kinds - {"svg", "title", "g", "path", "text", "clipPath", "rect"}, set())
        self.assertFalse(any("\u0301" * 3 in t.text for t in picture.texts))

    def test_gap(self):
        """Ten rows without values: nothing is drawn of the memory there."""
        curve = Picture(draw("absent", "svg", "memory")).group("curve", "memory/used")
        xs = [[x for x, _ in points(part)] for part in re.split("(?=M)", next(curve.iter(SVG + "path")).get("d"))[1:]]
        self.assertEqual(len(xs), 2)
        whole = max(xs[1]) - min(xs[0])
        self.assertAlmostEqual((min(xs[1]) - max(xs[0])) / whole, 0.25, places=2)

    def test_spike_is_seen(self):
        """One second of ten hours: in the middle, as high as it was, in lines and in stacks."""
        for panel, key in (("memory", "memory/used"), ("cpu", None)):
            picture = Picture(draw("spike", "svg", panel))
            group = picture.group("curve", key) if key else picture.group("panel", panel)
            places = [p for e in group.iter(SVG + "path") if e.get("fill") != "none" for p in points(e.get("d"))]
            usual = Picture(draw("long", "svg", panel))
            same = usual.group("curve", key) if key else usual.group("panel", panel)
            before = [p for e in same.iter(SVG + "path") if e.get("fill") != "none" for p in points(e.get("d"))]
            self.assertTrue(places and before)
            if panel == "memory":
                top = min(y for _, y in places)
                x = [x for x, y in places if y == top]
                span = max(x for x, _ in places) - min(x for x, _ in places)
                self.assertAlmostEqual((x[0] - min(x for x, _ in places)) / span, 0.5, places=2)
                self.assertLess(top, sorted(y for _, y in places)[len(places) // 2] - 20)
        for panel in ("memory", "cpu"):
            width, height, rows = pixels(draw("spike", "png", panel, "400"))
            _, _, usual = pixels(draw("long", "png", panel, "400"))
            middle = [y for y in range(height) if any(
                rows[y][3 * x:3 * x + 3] != usual[y][3 * x:3 * x + 3] for x in range(width // 3, width // 2))]
            self.assertGreater(len(middle), 15, panel)

    def test_themes(self):
        for kind in ("", "dark"):
            width, height, rows = pixels(draw("one", "png", "cpu", "400", *([kind] if kind else [])))
            paper = bytes(rows[0][:3])
            self.assertEqual(paper, b"\x15\x18\x1c" if kind else b"\xff\xff\xff")
            self.assertEqual((width, bytes(rows[height - 1][-3:])), (400, paper))

    def test_sizes(self):
        for width in ("400", "1600", "3000"):
            data = draw("one", "png", "", width)
            self.assertEqual(struct.unpack(">I", data[16:20])[0], int(width))
        self.assertEqual(Picture(draw("one", "svg")).root.get("width"), "1600")

    def test_the_same_twice(self):
        for kind in ("png", "svg", "pdf"):
            self.assertEqual(draw("hostile", kind), draw("hostile", kind))

    def test_pages(self):
        """Paper: several pages with their numbers, words large enough to be read, dated as the run is."""
        data = draw("processes", "pdf")
        self.assertTrue(data.startswith(b"%PDF-"))
        if not shutil.which("pdftotext"):
            self.skipTest("pdftotext is not installed")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.pdf")
            for name, width, size, pages in (("full", "", "595 x 842", 3), ("full", "400", "400 x 566", 4),
                                             ("regions", "", "595 x [1-6]..", 1)):
                with open(path, "wb") as file:
                    file.write(draw(name, "pdf", "", width))
                text = subprocess.run(["pdftotext", "-layout", path, "-"], stdout=subprocess.PIPE, check=True).stdout
                self.assertIn("node1", text.decode())
                facts = subprocess.run(["pdfinfo", "-isodates", path], stdout=subprocess.PIPE, check=True).stdout.decode()
                self.assertRegex(facts, r"CreationDate: *2026-07-01T12:00:00")
                self.assertRegex(facts, r"Page size: *%s\b" % size)
                self.assertRegex(facts, r"Pages: *%d\b" % pages)
                self.assertEqual(("page 1 of %d" % pages) in text.decode(), pages > 1)
        sizes = {t.size for t in Picture(draw("processes", "svg")).texts}
        self.assertGreaterEqual(min(sizes), 6)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
