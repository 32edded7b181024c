"""Pages of made-up runs, read back: every value, every budget, whatever names there are."""
import collections
import glob
import os
import struct
import subprocess
import sys
import tempfile

import page

WRITER = sys.argv[1]
EVIL = "</script><script>alert(1)</script><!--\u2028\u2029\ufffd&amp;\"'\\"


def points(path):
    curves = collections.OrderedDict()
    for line in open(path):
        key, start, end, value = line.rstrip("\n").split("\t")
        curves.setdefault(key, []).append((int(start), int(end), float.fromhex(value)))
    return curves


def narrow(value):
    return struct.unpack("<f", struct.pack("<f", value))[0]


def check_finest(document, expected, run=0, convert=float):
    """All points of all curves, in the pieces that have them."""
    seen = set()
    for key, of, _, series in document.series():
        if of is not document.json["runs"][run]:
            continue
        seen.add(key)
        found = []
        for piece, starts, ends, lowest, _, _ in document.pieces(of, series):
            if piece["per"] == 1:
                assert piece["n"] <= 262144
                found += zip(starts, ends, lowest)
        assert found == [(s, e, convert(v)) for s, e, v in expected[key]], key
    assert seen == set(expected), seen ^ set(expected)


def check_coarse(document, expected):
    """Buckets cover what the points cover, and their figures are those of the points."""
    for key, run, _, series in document.series():
        for piece, starts, ends, lowest, highest, mean in document.pieces(run, series):
            all_points = iter(expected[key])
            covered = 0
            point = next(all_points)
            while point[1] <= starts[0]:
                point = next(all_points)
            for i in range(piece["n"]):
                inside = []
                while point and point[1] <= ends[i]:
                    inside.append(point)
                    point = next(all_points, None)
                assert inside and len(inside) <= piece["per"], (key, i, len(inside))
                assert inside[0][0] == starts[i] and inside[-1][1] == ends[i]
                assert lowest[i] == min(v for _, _, v in inside), (key, i)
                assert highest[i] == max(v for _, _, v in inside), (key, i)
                time = sum(e - s for s, e, _ in inside)
                wanted = sum(v * (e - s) for s, e, v in inside) / time
                assert abs(mean[i] - wanted) <= 1e-9 * abs(wanted) + 1e-12, (key, i)
                covered += len(inside)
            yield key, piece, covered


def check_figures(document, expected):
    for key, _, _, series in document.series():
        p = expected[key]
        time = sum(e - s for s, e, _ in p) / 1e9
        integral = sum(v * (e - s) for s, e, v in p) / 1e9
        assert series["n"] == len(p)
        assert series["min"] == min(v for _, _, v in p) and series["max"] == max(v for _, _, v in p)
        assert abs(series["mean"] - integral / time) <= 1e-9 * abs(integral / time)
        if series["level"]:
            assert series["integral"] is None
        else:
            assert abs(series["integral"] - integral) <= 1e-9 * abs(integral)


def check_whole(big, everything):
    for name, convert in (("big.html", narrow), ("big64.html", float)):
        document = page.of_page(name)
        check_finest(document, big, convert=convert)
        check_figures(document, big)
        assert document.json["resolution"] == "all values are here", document.json["resolution"]
        # Overviews before the script, all else behind it; each block is somebody's.
        script = document.page.order.index("script")
        overviews = document.page.order[document.page.order.index("galvo-data") + 1:script]
        assert overviews and len(document.page.order) > script + 1
        assert all(o.startswith("k") for o in overviews)
        assert not any(o.startswith("k") for o in document.page.order[script:])
        assert document.used == set(document.page.texts) - {"galvo-data", "script", "style", "title"}
        # Curves of the same instants share them: three of four do.
        assert len(document.json["runs"][0]["bases"]) == 2
    check_finest(page.of_page("all.html"), everything)
    check_figures(page.of_page("all.html"), everything)


def check_sizes(big):
    """Never larger than asked for, finer with more room, and said."""
    before, numbers = 0, set()
    for size in sorted(int(f[5:-5]) for f in glob.glob("size-*.html")):
        name = "size-%d.html" % size
        assert os.path.getsize(name) <= size, (name, os.path.getsize(name))
        document = page.of_page(name)
        said = document.json["resolution"]
        assert said.startswith("1 bucket = ") and said.endswith(": lowest, highest and mean"), said
        n = max(p["n"] for b in document.json["runs"][0]["bases"] for p in b["pieces"])
        assert n >= before, (name, n, before)
        before = n
        numbers.add(n)
        for key, piece, covered in check_coarse(document, big):
            assert covered == len(big[key]), (name, key, covered)
        assert size < 400000 or os.path.getsize(name) > size * 0.6, "room is left"
        # The spike of one sample is in the coarsest one, too.
        assert any(max(p[4]) == 1e9 for k, r, _, s in document.series() if k in big
                   for p in document.pieces(r, s))
    assert len(numbers) >= 4, numbers


def check_windows(big):
    document = page.of_page("windows.html")
    assert os.path.getsize("windows.html") <= 300000
    assert document.json["resolution"].endswith("; all values of 3\u20133.5, 20\u201321 s")
    for key, run, _, series in document.series():
        found = [tuple(zip(*p[1:4])) for p in document.pieces(run, series) if p[0]["per"] == 1]
        wanted = [tuple(p for p in big[key] if p[1] > a * 10**9 and p[0] < b * 10**9)
                  for a, b in ((3, 3.5), (20, 21))]
        assert found == wanted, key
    for key, piece, covered in check_coarse(document, big):
        assert covered == len(big[key]) or piece["per"] == 1


def check_served(big):
    document = page.of_data("overview.json")
    assert document.json["kind"] == "overview"
    for key, piece, covered in check_coarse(document, big):
        assert covered == len(big[key]) and 400 <= piece["n"] <= 520, piece
    check_figures(document, big)
    document = page.of_data("detail.json")
    assert "report" not in document.json["runs"][0]
    for key, piece, covered in check_coarse(document, big):
        wanted = [p for p in big[key] if p[1] > 5e9 and p[0] < 7e9]
        assert covered == len(wanted) and 200 <= piece["n"] <= 320, (covered, piece["n"])
    check_finest(page.of_data("points.json"),
                 {k: [p for p in v if p[1] > 5e9 and p[0] < 5.2e9] for k, v in big.items()})


def check_news(big):
    """What there was, and what came since, is the run; a first point may not know where it begins."""
    begun, news = page.of_data("begun.json"), page.of_data("news.json")
    assert begun.json["live"] and news.json["sequence"] == str(2**64 - 1)
    later = {key: (run, series) for key, run, _, series in news.series()}
    for key, run, _, series in begun.series():
        together = [t for document, r, s in ((begun, run, series), (news, *later[key]))
                    for p in document.pieces(r, s) for t in zip(*p[1:4])]
        wanted = big[key]
        assert [t[1:] for t in together] == [t[1:] for t in wanted], key
        differ = [i for i, t in enumerate(together) if t[0] != wanted[i][0]]
        assert len(differ) <= 1, differ
        assert all(abs(together[i][0] - wanted[i][0]) <= 2_000_000 for i in differ), \
            [(together[i], wanted[i]) for i in differ]


def check_evil():
    document = page.of_page("evil.html")
    assert document.page.texts["script"] == "document.title = 'script';"
    run = document.json["runs"][0]
    assert document.json["title"] == run["label"] == run["host"] == EVIL
    assert any(p["name"] == "0" + EVIL for p in run["processes"])
    assert any(n.startswith(EVIL) and len(n) > 1_000_000 for n in run["regions"]["names"])
    text = open("evil.html", encoding="utf-8").read()
    data = text[text.index('id="galvo-data">') + 16:]
    data = data[:data.index("</script>")]
    assert not set("<\u2028\u2029") & set(data)
    assert EVIL[:9] not in document.page.pre[0] or "<" in document.page.pre[0]
    assert document.page.tags.count("script") == 2 + len(document.used_by_pieces())


def check_things():
    run = page.of_page("all.html").json["runs"][0]
    assert ["command", "make -j2 'CFLAGS=-O2 -g' all"] in run["head"], run["head"]
    assert run["report"].startswith("command    make")
    assert run["report"] == page.of_page("all.html").page.pre[0].removeprefix("\n")
    assert any(s == "source process_io" and "Permission denied" in t for s, t in run["notes"]), run["notes"]
    processes = {p["id"]: p for p in run["processes"]}
    assert len(processes) == 22
    assert all(p["sampled"] for p in run["processes"])
    assert any(p["sampled"] and not p["io_sampled"] for p in run["processes"])
    make = run["processes"][0]
    assert (make["pid"], make["parent"], make["depth"], make["name"]) == (4711, None, 0, "make")
    for p in run["processes"]:
        if p["parent"] is not None:
            assert run["processes"][p["parent"]]["depth"] == p["depth"] - 1
    assert {p["status"] for p in run["processes"]} >= {"exit 0", "exit 1", "SIGTERM"}
    regions = run["regions"]
    n = len(regions["name"])
    assert n == 19 and all(len(regions[k]) == n for k in regions if k not in ("names", "host_lanes", "gpu_lanes"))
    assert sorted(regions["names"]) == regions["names"] and "compile a file" in regions["names"]
    i = regions["names"].index("kernel")
    k = regions["name"].index(i)
    assert (regions["start"][k], regions["end"][k], regions["gpu"][k], regions["id"][k]) == (3, 4, 1, "99")
    assert regions["error"][k] == 12345e-9 and regions["gpu_lanes"] == 1
    assert regions["end"][regions["name"].index(regions["names"].index("install"))] is None
    marks = run["marks"]
    assert sorted((marks["names"][m], t) for m, t in zip(marks["name"], marks["at"])) == [
        ("checkpoint", 4), ("checkpoint", 8), ("start", 0.005)]
    two = page.of_page("two.html").json
    assert [r["label"] for r in two["runs"]] == ["before", "after"] and two["title"] == "before, after"


def check_capped():
    """Where there is no room for all, the longest, the busiest and the first are there, and that is said."""
    whole = page.of_page("all.html").json["runs"][0]
    few, fewer, fewest = [page.Document(line).json for line in open("capped.json")]
    assert "; the busiest 30 of 62 processes" in few["resolution"], few["resolution"]
    shown = few["runs"][0]["processes"]
    assert len(shown) == 30 and shown[0]["parent"] is None
    for p in shown[1:]:
        assert shown[p["parent"]]["depth"] == p["depth"] - 1
    assert {p["pid"] for p in whole["processes"]} <= {p["pid"] for p in shown}, "they have curves"
    assert {p["pid"] for p in shown if p["name"] == "quick"} == set(range(6032, 6040))
    assert all(p["sampled"] != (p["name"] == "quick") for p in shown)
    assert "; the longest 10 of 19 regions" in fewer["resolution"], fewer["resolution"]

    assert "; the first 2 of 3 marks" in fewest["resolution"], fewest["resolution"]
    assert fewest["runs"][0]["marks"]["at"] == whole["marks"]["at"][:2]
    assert " marks" not in few["resolution"] + fewer["resolution"]

    def ids(regions):
        ends = [11 if e is None else e for e in regions["end"]]
        order = sorted(range(len(ends)), key=lambda i: regions["start"][i] - ends[i])
        return [regions["id"][i] for i in order]

    regions = fewer["runs"][0]["regions"]
    assert len(regions["id"]) == 10 and set(ids(regions)) == set(ids(whole["regions"])[:10])
    assert regions["start"] == sorted(regions["start"])


def used_by_pieces(self):
    for _, run, _, series in self.series():
        self.pieces(run, series)
    return self.used


page.Document.used_by_pieces = used_by_pieces


def main():
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        subprocess.run([WRITER], check=True)
        big, everything = points("big.points"), points("all.points")
        check_whole(big, everything)
        check_sizes(big)
        check_windows(big)
        check_served(big)
        check_news(big)
        check_evil()
        check_things()
        check_capped()
        two = page.of_page("two.html")
        check_finest(two, big, 0)
        check_finest(two, everything, 1)
    print("%d curves of %d points, and %d of %d" % (
        len(big), sum(map(len, big.values())), len(everything), sum(map(len, everything.values()))))


main()
