#!/usr/bin/env python3
# Looks at pictures of runs as nobody has them: SVG as XML with places and words, PNG pixel by pixel.
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unicodedata
import unittest
import xml.etree.ElementTree as xml
import zlib

TREE, STRANGE = os.environ["GALVO_TREE"], os.environ["STRANGE"]
SVG = "{http://www.w3.org/2000/svg}"
NAMES = "one short long spike huge absent cores processes hostile regions full marks dense turns idle names late".split()


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
        self.width = sum(WIDTHS[bold][ord(c) - 32] if " " <= c <= "~" else 0 if unicodedata.combining(c) else 700
                         for c in self.text) * size / 1000
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

    def test_marks(self):
        """Few are lines with names, many a strip: no fence, and behind what is drawn of the run."""
        for name, lines, words in (("marks", 4, "4 marks"), ("dense", 0, "1500 marks")):
            picture = Picture(draw(name, "svg", "cpu,memory"))
            group = next(g for g in picture.root.iter(SVG + "g") if g.get("class") == "marks")
            drawn = [e for e in group.iter(SVG + "path") if e.get("stroke")]
            self.assertEqual(len(drawn), lines, name)
            self.assertIn(words, picture.words)
            kinds = [g.get("class") for g in picture.root.iter(SVG + "g")]
            self.assertLess(kinds.index("marks"), kinds.index("panel"))
        self.assertEqual(Picture(draw("marks", "svg")).words.count("even"), 2)
        self.assertNotIn("even", Picture(draw("dense", "svg")).words)

    def test_turns_are_no_peaks(self):
        """Two that are never busy at once: where a column has the end of one and the beginning of the other."""
        for width in ("400", "1600"):
            picture = Picture(draw("turns", "svg", "process-cpu", width))
            self.assertNotIn("tips", picture.words)
            areas = [g for g in picture.root.iter(SVG + "g") if g.get("class") == "curve"]
            self.assertEqual(len(areas), 2)
            tops = [min(y for e in g.iter(SVG + "path") for _, y in points(e.get("d"))) for g in areas]
            self.assertAlmostEqual(tops[0], tops[1], delta=0.5)

    def test_late_readings_are_no_peaks(self):
        words = Picture(draw("late", "svg", "cpu")).words
        self.assertIn("100 %", words)
        self.assertNotIn("200 %", words)

    def test_tips_are_told(self):
        self.assertIn("grey tips", Picture(draw("spike", "svg", "cpu")).words)
        self.assertNotIn("tips", Picture(draw("spike", "svg", "memory")).words)
        self.assertNotIn("tips", Picture(draw("one", "svg")).words)

    def test_what_is_wrong_is_told(self):
        words = Picture(draw("idle", "svg")).words
        self.assertRegex(words, r"Warning: unfinished: .*system_metrics.pb: 3 messages missing")
        self.assertNotIn("Warning", Picture(draw("one", "svg")).words)

    def test_nothing_is_one_line(self):
        """Zero throughout: low, unless it is asked for."""
        low, high = Picture(draw("idle", "svg")), Picture(draw("idle", "svg", "cpu,memory"))
        self.assertIn("CPU | 0 throughout", low.words)
        self.assertNotIn("throughout", high.words)
        self.assertGreater(high.height - low.height, 50)

    def test_colours(self):
        """A process has one in all panels; those without a row have one grey, with its own row."""
        picture = Picture(draw("processes", "svg", "process-*"))
        colours = {}
        for panel in ("process-cpu", "process-memory"):
            for g in picture.group("panel", panel).iter(SVG + "g"):
                if g.get("class") == "curve":
                    key = g.get("data-id").split("/")[0].split("@")[0]
                    colours.setdefault(panel, {})[g.get("data-id")] = next(g.iter(SVG + "path")).get("fill")
        for panel, all_of_it in colours.items():
            greys = [c for c in all_of_it.values() if c == "#d3d7db"]
            self.assertEqual(len(set(all_of_it.values())), len(all_of_it) - len(greys) + 1, (panel, all_of_it))
        self.assertEqual(picture.words.count("more"), sum("#d3d7db" in c.values() for c in colours.values()))
        turns = Picture(draw("turns", "svg", "process-*"))
        fills = [[next(g.iter(SVG + "path")).get("fill") for g in turns.group("panel", p).iter(SVG + "g")
                  if g.get("class") == "curve"] for p in ("process-cpu", "process-memory")]
        self.assertEqual(fills[0], fills[1])

    def test_neighbours_differ(self):
        group = Picture(draw("names", "svg")).group("panel", "regions")
        fills = [e.get("fill") for e in group.iter(SVG + "path") if e.get("fill") not in ("none", "#5b6168")]
        self.assertGreaterEqual(len(fills), 24)
        for i in range(0, 22):
            self.assertNotEqual(fills[i], fills[i + 1], i)

    def test_low_and_narrow(self):
        """Titles, facts and the last line wrap; nothing overlaps, however small."""
        for name in ("processes", "full", "spike", "idle"):
            for width, height in (("320", "24"), ("320", "60"), ("1600", "24"), ("500", "")):
                picture = Picture(draw(name, "svg", "", width, "", height))
                for i, t in enumerate(picture.texts):
                    self.assertTrue(t.x0 >= 0 and t.x1 <= picture.width, (name, width, t.text))
                    for other in picture.texts[:i]:
                        self.assertFalse(t.overlaps(other), (name, width, height, t.text, other.text))
                facts = [t.text for t in picture.texts if "\u00b7" in t.text or "closer" in t.text]
                self.assertFalse(any(t.endswith("\u2026") for t in facts), facts)

    def test_pages(self):
        """Paper: several pages with their numbers, words large enough to be read, dated as the run is."""
        data = draw("processes", "pdf")
        self.assertTrue(data.startswith(b"%PDF-"))
        if not shutil.which("pdftotext"):
            self.skipTest("pdftotext is not installed")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.pdf")
            for name, width, size, pages in (("full", "", "595 x 842", 2), ("full", "400", "400 x 566", 4),
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
