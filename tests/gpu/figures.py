"""Makes findings of what tests/gpu/run has collected: checks, figures, FINDINGS.md.

usage: figures.py [--doubles] WORK OUT
       figures.py --self-test

Prints a line PASS, FAIL or INFO for each check and question, the last line counts them; the status
is 1 if one failed.
"""
import bisect
import glob
import json
import os
import sys

BUSY, ELAPSED = "sm__cycles_active.avg", "sm__cycles_elapsed.avg"
TENSOR = "sm__pipe_tensor_cycles_active.avg"
READ = "dram__read_throughput.avg.pct_of_peak_sustained_elapsed"
WRITE = "dram__write_throughput.avg.pct_of_peak_sustained_elapsed"
LOADS = ("idle", "gemm", "copy", "train")
# The largest share of its speed that a load may lose, by what is recorded of it.
MAY_COST_PCT = {"host": 1.0, "telemetry": 1.0, "100": 2.0, "1000": 2.0, "10000": 3.0}


class Findings:
    """Lines for people, and lines of JSON for programs."""

    def __init__(self, out):
        self.lines, self.records, self.out = [], [], out

    def tell(self, result, name, text, **figures):
        text = " ".join(text.split())
        self.lines.append((result, name, text, figures))
        self.records.append({"check": name, "result": result, "text": text, "figures": figures})
        print("%s %s: %s" % (result, name, text))

    def check(self, holds, name, text, **figures):
        self.tell("PASS" if holds else "FAIL", name, text, **figures)

    def count(self, result):
        return sum(line[0] == result for line in self.lines)


# ---- reading --------------------------------------------------------------------------------------------


def text_of(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def json_lines(path):
    found = []
    for line in text_of(path).splitlines():
        try:
            found.append(json.loads(line))
        except ValueError:
            pass
    return found


class Recording:
    """What the reader and the report say of one run."""

    def __init__(self, work, name):
        base = os.path.join(work, "rec", name)
        self.name = name
        self.status = text_of(base + ".status").strip()
        self.check_status = text_of(base + ".check.status").strip()
        self.lines = json_lines(base + ".series.jsonl")
        try:
            self.report = json.loads(text_of(base + ".report.json"))
        except ValueError:
            self.report = {}
        self.run = next((x for x in self.lines if "run" in x), {})
        self.gpus = [x for x in self.lines if "gpu" in x]
        self.columns = {x["column"]: x for x in self.lines if "column" in x}

    def mean(self, column):
        value = self.columns.get(column, {}).get("mean")
        return float("nan") if value is None else value

    def seconds(self):
        return (self.run.get("stop_ns", 0) - self.run.get("start_ns", 0)) / 1e9

    def share(self, column, of=ELAPSED):
        whole = self.mean(of)
        return self.mean(column) / whole if whole else float("nan")

    def notes(self):
        return "; ".join("%s: %s" % (x["subject"], x["note"]) for x in self.lines if "note" in x)


def median(values):
    ordered = sorted(values)
    if not ordered:
        return float("nan")
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def quantile(values, share):
    ordered = sorted(values)
    return ordered[int(share * (len(ordered) - 1) + 0.5)] if ordered else float("nan")


# ---- questions ------------------------------------------------------------------------------------------

# What galvo takes for granted, by question: a figure, and what it has to be.
GRANTED = {
    "passes": [("passes_without", lambda v: v == 1, "the default set is one pass")],
    "timestamp": [("inside", lambda v: v > 99000, "CUPTI's clock is CLOCK_REALTIME")],
    "spacing": [("sample_us", lambda v: 990 < v < 1010, "samples at 1 kHz are 1 ms long"),
                ("samples", lambda v: v > 1900, "2 s at 1 kHz are 2000 samples"),
                ("failed", lambda v: v == 0, "decoding does not fail")],
    "fast": [("share_at_10kHz", lambda v: v > 0.97, "nothing is lost at 10 kHz"),
             ("overflows_at_10kHz", lambda v: v == 0, "nothing overflows at 10 kHz")],
    "oldest": [("recovered_samples", lambda v: v > 0, "Disable and Enable cure an overflow")],
    "latest": [("later_samples", lambda v: v > 0, "KEEP_LATEST goes on after an overflow")],
    "again": [("third", lambda v: v > 0, "sessions follow each other in a process")],
    "busy": [("after_kill_rc", lambda v: v == 0, "what a killed process held is free again")],
    "context": [("samples", lambda v: v > 0, "sampling needs no context")],
    "struct_size": [("rc_45", lambda v: v == 0, "DecodeData takes a struct of 45 bytes")],
    "copy": [("samples", lambda v: v > 0, "a copied image does as well")],
    "events": [("at_1kHz_failed", lambda v: v == 0, "events work while sampling")],
}


def tell_questions(work, findings):
    answers = json_lines(os.path.join(work, "answers.jsonl"))
    for a in answers:
        findings.records.append(a)
        if a.get("failed"):
            findings.tell("FAIL", a["question"], a["failed"])
            continue
        findings.tell("INFO", a["question"], a["answer"])
        for figure, holds, claim in GRANTED.get(a["question"], []):
            value = a["figures"].get(figure)
            if value is None:
                findings.tell("INFO", a["question"], claim + ": not known")
            else:
                findings.check(holds(value), a["question"], "%s (%s %.6g)" % (claim, figure, value))
    if not answers:
        findings.tell("FAIL", "questions", "none was answered")
    return answers


def tell_matrix(work, findings, _doubles):
    text = text_of(os.path.join(work, "matrix.txt"))
    differences = [line[2:] for line in text.splitlines() if line.startswith("# ")]
    for line in differences:
        findings.tell("INFO", "double", line)
    findings.check(text_of(os.path.join(work, "matrix.status")).strip() == "0", "matrix",
                   "the doubles answer as the real libraries: %d differences" % len(differences))


# ---- recordings -----------------------------------------------------------------------------------------

LOSSES = ("decode_failures", "full_images", "overflows", "timeless", "unwritten", "clock_steps")


def tell_losses(findings, r, hz, doubles):
    losses = ["%s %d" % (key, gpu[key]) for gpu in r.gpus for key in LOSSES if gpu.get(key)]
    for stream in (x for x in r.lines if "stream" in x and "column" not in x):
        losses += ["%s: %s %d" % (stream["stream"], key, stream[key])
                   for key in ("dropped_rows", "missing_messages", "damaged_messages") if stream[key]]
    samples = sum(gpu["samples"] for gpu in r.gpus)
    wanted = hz * r.seconds() * max(1, sum(bool(gpu["has_counters"]) for gpu in r.gpus))
    share = samples / wanted if wanted else 0
    findings.check(not losses and (0.5 if doubles else 0.9) < share < 1.05, r.name,
                   "%d samples, %.1f %% of %d Hz for %.2f s; lost: %s"
                   % (samples, 100 * share, hz, r.seconds(), ", ".join(losses) or "nothing"), share=share)


def tell_recording(findings, r, hz, doubles):
    reasons = "; ".join(gpu["reason"] for gpu in r.gpus if gpu["reason"])
    whole = r.status == "0" and r.check_status == "0"
    findings.check(whole, r.name, "recorded with status %s, checked with %s %s %s"
                   % (r.status or "none", r.check_status or "none", reasons, r.notes()))
    if whole:
        tell_losses(findings, r, hz or 1e9 / max([gpu["interval_ns"] for gpu in r.gpus] + [1]), doubles)
        for gpu in r.gpus:
            if gpu["samples"]:
                findings.tell("INFO", r.name, "%.1f us a sample to decode, %.1f us to evaluate"
                              % (gpu["decode_ns"] / gpu["samples"] / 1e3, gpu["evaluate_ns"] / gpu["samples"] / 1e3))
    cost = r.report.get("cost") or {}
    if cost.get("cpu_s") is not None and r.seconds():
        findings.tell("INFO", r.name, "galvo itself took %.2f %% of one CPU, %.0f MiB"
                      % (100 * cost["cpu_s"] / r.seconds(), (cost.get("max_rss_bytes") or 0) / 2**20),
                      cpu_pct=100 * cost["cpu_s"] / r.seconds(), rss_bytes=cost.get("max_rss_bytes"))
    for column in r.columns.values():
        if column["scope"].startswith("gpu") or column["stream"] in (1, 100):
            findings.records.append({"recording": r.name, **column})


def tell_known(findings, r, load):
    """Figures that are known beforehand."""
    active, tensor = 100 * r.share(BUSY), 100 * r.share(TENSOR)
    dram = r.mean(READ) + r.mean(WRITE)
    text = "SM %.1f %% active, tensor %.1f %%, DRAM %.1f %%" % (active, tensor, dram)
    claims = {"idle": ("almost nothing", active < 2 and dram < 5),
              "gemm": ("tensor above 60 %", tensor > 60),
              "copy": ("DRAM above 60 %", dram > 60),
              "train": ("some of all", active > 10 and tensor > 1)}
    claim, holds = claims[load]
    findings.check(holds, r.name, "%s: %s" % (claim, text), active_pct=active, tensor_pct=tensor, dram_pct=dram)


def tell_report(findings, r, doubles):
    """The report against what the reader gives."""
    gpu = next((g for g in r.report.get("gpus") or [] if g.get("counters")), None)
    if not gpu:
        findings.tell("FAIL", r.name, "the report tells of no counters of a GPU")
        return
    pairs = (("sm_busy_avg_pct", 100 * r.share(BUSY)), ("tensor_avg_pct", 100 * r.share(TENSOR)),
             ("dram_read_avg_pct", r.mean(READ)), ("dram_write_avg_pct", r.mean(WRITE)))
    wrong = ["%s %s, not %.3f" % (key, gpu["counters"].get(key), value) for key, value in pairs
             if gpu["counters"].get(key) is None or abs(gpu["counters"][key] - value) > 0.1 + 0.01 * value]
    findings.check(not wrong, r.name, "the report and the reader agree: " + ("; ".join(wrong) or "SM, tensor, DRAM"))
    names = ["%s" % (r.report["processes"][p["process"]].get("alias") or r.report["processes"][p["process"]]["pid"]
                     if p.get("process") is not None else "not followed") for p in gpu.get("processes") or []]
    findings.tell("INFO", r.name, "used by: %s; it is %s" % (", ".join(names) or "nobody that is named", gpu.get("state")))
    if doubles:
        findings.check(names and "not followed" not in names, r.name, "who uses the GPU is a process of the recording")


def tell_recordings(work, findings, doubles):
    for load in LOADS:
        for hz in (1000,) if load == "idle" else (100, 1000, 10000):
            r = Recording(work, "%s-%d" % (load, hz))
            tell_recording(findings, r, hz, doubles)
            tell_report(findings, r, doubles)
            if not doubles and r.columns:
                tell_known(findings, r, load)
    tell_recording(findings, Recording(work, "command"), None, doubles)


def integral(rows, begin, end):
    """Of values over the time between, in their unit times seconds; and the time that they cover."""
    points = [(t, v) for t, v in zip(rows["end_ns"], rows["values"]) if v is not None and begin <= t <= end]
    joules = sum((b[0] - a[0]) / 1e9 * (a[1] + b[1]) / 2 for a, b in zip(points, points[1:]))
    return joules, (points[-1][0] - points[0][0]) / 1e9 if points else 0.0


def steps_in(rows):
    """The first and the last time that a counter moved: (ns, value) of each."""
    points = [(t, v) for t, v in zip(rows["end_ns"], rows["values"]) if v is not None]
    moved = [b for a, b in zip(points, points[1:]) if b[1] != a[1]]
    return (moved[0], moved[-1]) if len(moved) > 1 else None


def tell_energy(work, findings, _doubles):
    r = Recording(work, "energy")
    for gpu in r.report.get("gpus") or []:
        energy = gpu.get("energy") or {}
        if energy.get("counter_joules") and energy.get("integral_joules"):
            off = 100 * (energy["integral_joules"] / energy["integral_s"] * energy["counter_s"] /
                         energy["counter_joules"] - 1)
            findings.check(abs(off) < 5, "energy", "the report has %.1f J by the counter, by power %+.2f %%"
                           % (energy["counter_joules"], off))
    rows = {x["rows_of"]: x for x in r.lines if "rows_of" in x}
    ends = steps_in(rows["gpu__energy_joules"]) if "gpu__energy_joules" in rows else None
    if not ends:
        findings.tell("FAIL", "energy", "the counter of energy did not move, or is not recorded %s" % r.notes())
        return
    (begin, first), (end, last) = ends
    for column in ("gpu__power_instant_watts", "gpu__power_watts"):
        joules, seconds = integral(rows.get(column, {"end_ns": [], "values": []}), begin, end)
        if not seconds:
            findings.tell("INFO", "energy", column + " is not there")
            continue
        counted = (last - first) * seconds / ((end - begin) / 1e9)
        off = 100 * (joules / counted - 1)
        findings.check(abs(off) < 5, "energy", "%.1f J by the counter in %.2f s, by %s %+.2f %%"
                       % (counted, seconds, column, off), counter_j=counted, integral_j=joules)


# ---- regions --------------------------------------------------------------------------------------------


def edges(rows_busy, rows_elapsed):
    """When the SMs begin and end to be busy: (begin, end) in ns, each from a sample that is partly busy."""
    found, begin, before = [], None, 0.0
    busy = [b / e if e else 0.0 for b, e in zip(rows_busy["values"], rows_elapsed["values"])]
    plateau = quantile(busy, 0.9) or 1.0
    for i, share in enumerate(busy):
        share = min(share / plateau, 1.0)
        end, length = rows_busy["end_ns"][i], rows_busy["duration_ns"][i]
        if begin is None and share > 0.02:
            begin = end - share * length
        elif begin is not None and share <= 0.02:
            found.append((begin, rows_busy["end_ns"][i - 1] - (1 - before) * rows_busy["duration_ns"][i - 1]))
            begin = None
        before = share
    return found


def nearest(starts, at):
    i = bisect.bisect(starts, at)
    return min((j for j in (i - 1, i) if 0 <= j < len(starts)), key=lambda j: abs(starts[j] - at))


def judge_regions(kernels, regions, busy):
    """Microseconds: how far regions are outside of the host's bounds, longer than the events say, and
    how far the counters' edges are from theirs."""
    outside, length, rise, fall = [], [], [], []
    starts = [b for b, _ in busy]
    for k, r in zip(kernels, regions):
        outside.append(max(k["before_ns"] - r["start_ns"], r["end_ns"] - k["after_ns"], 0) / 1e3)
        length.append((r["end_ns"] - r["start_ns"]) / 1e3 - k["event_ms"] * 1e3)
        if starts:
            b, e = busy[nearest(starts, r["start_ns"])]
            rise.append((b - r["start_ns"]) / 1e3)
            fall.append((e - r["end_ns"]) / 1e3)
    return outside, length, rise, fall


def tell_regions(work, findings, doubles):
    r = Recording(work, "regions")
    kernels = json_lines(os.path.join(work, "kernels.jsonl"))
    if doubles or not kernels:
        if not doubles:
            findings.tell("FAIL", "regions", "gpu_regions ended with %s" % (r.status or "no build of it"))
        return
    regions = sorted((x for x in r.lines if x.get("region") == "kernel" and x["is_gpu"]), key=lambda x: x["start_ns"])
    rows = {x["rows_of"]: x for x in r.lines if "rows_of" in x}
    findings.check(len(regions) == len(kernels), "regions", "%d regions of %d kernels" % (len(regions), len(kernels)))
    busy = edges(rows[BUSY], rows[ELAPSED]) if BUSY in rows and ELAPSED in rows else []
    outside, length, rise, fall = judge_regions(kernels, regions, busy)
    if not regions:
        return
    findings.check(max(outside) < 50, "regions", "inside the host's bounds but for %.1f us" % max(outside))
    findings.check(abs(median(length)) < 20, "regions", "longer than CUDA's events by %.1f us (%.1f to %.1f)"
                   % (median(length), min(length), max(length)))
    findings.tell("INFO", "regions", "begin takes the program %.2f us, end %.2f us"
                  % (median([k["begin_call_ns"] for k in kernels]) / 1e3, median([k["end_call_ns"] for k in kernels]) / 1e3))
    if not rise:
        findings.tell("FAIL", "regions", "the counters show no edges")
        return
    findings.check(abs(median(rise)) < 100 and abs(median(fall)) < 100, "regions",
                   "the counters' edges are %.1f us (%.1f to %.1f) from where regions begin, %.1f us (%.1f to %.1f) from "
                   "where they end" % (median(rise), min(rise), max(rise), median(fall), min(fall), max(fall)),
                   rise_us=median(rise), fall_us=median(fall))


# ---- cost -----------------------------------------------------------------------------------------------


def steps_of(text):
    """By load: ends in ns, and how long each step took in us."""
    steps = {}
    for line in text.splitlines():
        words = line.split()
        if len(words) == 4 and words[0] == "step":
            ends, lengths = steps.setdefault(words[1], ([], []))
            ends.append(int(words[2]))
            lengths.append(float(words[3]))
    return steps


def middle(steps, load, begin_ns, end_ns):
    """The median step between two times; NaN if there are less than five."""
    ends, lengths = steps.get(load, ([], []))
    inside = lengths[bisect.bisect(ends, begin_ns):bisect.bisect(ends, end_ns)]
    return median(inside) if len(inside) >= 5 else float("nan")


def ratios_of(steps, phases, run_of):
    """By load and variant: each phase with galvo over the two without that stand beside it."""
    ratios = {}
    for this, following in zip(phases, phases[1:]):
        if this["variant"] == "end" or following["load"] != this["load"]:
            continue
        start, stop = run_of("cost-%s-%d-%s" % (this["load"], this["round"], this["variant"]))
        quiet = [middle(steps, p["load"], p["quiet_from"] * 1e9 + 2e8, p["quiet_to"] * 1e9) for p in (this, following)]
        ratio = 2 * middle(steps, this["load"], start + 1e8, stop) / sum(quiet) if stop > start else float("nan")
        if ratio == ratio:
            ratios.setdefault((this["load"], this["variant"]), []).append(ratio)
    return ratios


def tell_cost(work, findings, doubles):
    steps = steps_of(text_of(os.path.join(work, "load.log")))
    phases = json_lines(os.path.join(work, "phases.jsonl"))
    runs = {}

    def run_of(name):
        runs[name] = Recording(work, name)
        return runs[name].run.get("start_ns", 0), runs[name].run.get("stop_ns", 0)

    ratios = ratios_of(steps, phases, run_of)
    for load in ("gemm", "train"):
        for variant, may in MAY_COST_PCT.items():
            found = ratios.get((load, variant))
            if not found:
                findings.tell("INFO" if doubles else "FAIL", "cost", "%s with %s was not measured" % (load, variant))
                continue
            cost = 100 * (median(found) - 1)
            cpu = [100 * r.report["cost"]["cpu_s"] / r.seconds() for name, r in runs.items()
                   if name.startswith("cost-" + load) and name.endswith("-" + variant)
                   and (r.report.get("cost") or {}).get("cpu_s") is not None and r.seconds()]
            text = "%s with %s takes %+.2f %% longer (%d rounds, %+.2f to %+.2f), galvo %.2f %% of a CPU" % (
                load, variant, cost, len(found), 100 * (min(found) - 1), 100 * (max(found) - 1), median(cpu))
            result = "INFO" if doubles else "PASS" if cost <= may else "FAIL"
            findings.tell(result, "cost", text, load=load, variant=variant, cost_pct=cost, cpu_pct=median(cpu))


def tell_load(work, findings, _doubles):
    log = text_of(os.path.join(work, "load.log"))
    faults = [line for line in log.splitlines() if line.startswith("error")]
    findings.check("ready" in log and not faults, "load", "; ".join(faults) or "the loads ran")


def tell_scene(work, findings, doubles):
    """What was done wrong in the eyes of the doubles, which some questions do on purpose."""
    if doubles:
        violations = [x for x in text_of(os.path.join(work, "scene.txt")).splitlines() if x.startswith("violation")]
        findings.tell("INFO", "doubles", "; ".join(violations) or "nothing was done wrong")


# ---- the page -------------------------------------------------------------------------------------------


def cell(text):
    return str(text).replace("|", "\\|").replace("\n", " ")


def short(value):
    return "%.6g" % value if isinstance(value, float) else str(value)


def write_page(work, findings, answers, doubles):
    versions = next((a for a in answers if a["question"] == "versions"), {"answer": ""})
    page = ["# Findings" + (" (of the test doubles: they say nothing of a GPU)" if doubles else ""), "",
            versions["answer"], "", text_of(os.path.join(work, "kernel.txt")).strip(), "",
            "| question | answer | figures |", "| --- | --- | --- |"]
    for a in answers:
        figures = ", ".join("%s %s" % (k, short(v)) for k, v in list(a["figures"].items())[:40])
        page.append("| %s: %s | %s | %s |" % (a["question"], cell(a["asks"]), cell(a["answer"]), cell(figures)))
    page += ["", "| result | check | |", "| --- | --- | --- |"]
    asked = {a["question"] for a in answers}
    page += ["| %s | %s | %s |" % (result, name, cell(text)) for result, name, text, _ in findings.lines
             if result != "INFO" or name not in asked]
    smi = text_of(os.path.join(work, "nvidia-smi.txt")).strip()
    if smi:
        page += ["", "```", smi, "```"]
    with open(os.path.join(findings.out, "FINDINGS.md"), "w", encoding="utf-8") as file:
        file.write("\n".join(page) + "\n")
    with open(os.path.join(findings.out, "findings.jsonl"), "w", encoding="utf-8") as file:
        for record in findings.records:
            file.write(json.dumps(record) + "\n")


def self_test():
    """Edges, regions and costs of made-up series, whose answers are known."""
    length, rows = 100000, {"end_ns": [], "duration_ns": [], "values": []}
    kernels, regions = [], []
    spans = [(10**9 + i * 40_000_000 + 37_000, 10**9 + i * 40_000_000 + 20_037_000) for i in range(5)]
    for end in range(10**9 - 10**7 + length, 10**9 + 250_000_000, length):
        covered = sum(max(0, min(end, e) - max(end - length, b)) for b, e in spans)
        rows["end_ns"].append(end)
        rows["duration_ns"].append(length)
        rows["values"].append(0.95 * covered)
    whole = {**rows, "values": [length] * len(rows["end_ns"])}
    for b, e in spans:
        kernels.append({"before_ns": b - 5000, "after_ns": e + 9000, "event_ms": (e - b) / 1e6})
        regions.append({"start_ns": b - 2000, "end_ns": e + 3000})
    outside, longer, rise, fall = judge_regions(kernels, regions, edges(rows, whole))
    assert max(outside) == 0 and all(abs(v - 5) < 0.01 for v in longer), (outside, longer)
    assert all(abs(v - 2) < 0.01 for v in rise) and all(abs(v + 3) < 0.01 for v in fall), (rise, fall)

    log = "".join("step gemm %d %.1f\n" % (t * 10**7, 110.0 if 200 <= t < 300 else 100.0) for t in range(500))
    phases = [{"load": "gemm", "round": 1, "variant": "1000", "quiet_from": 0.0, "quiet_to": 1.9},
              {"load": "gemm", "round": 1, "variant": "end", "quiet_from": 3.1, "quiet_to": 4.9}]
    ratios = ratios_of(steps_of(log), phases, lambda name: (2 * 10**9, 3 * 10**9 - 1))
    assert abs(ratios["gemm", "1000"][0] - 1.1) < 1e-9, ratios

    watts = {"end_ns": [i * 10**8 for i in range(21)], "values": [100.0 + 10 * i for i in range(21)]}
    assert integral(watts, 5 * 10**8, 15 * 10**8) == (200.0, 1.0), integral(watts, 5 * 10**8, 15 * 10**8)
    counter = {"end_ns": [1, 2, 3, 4, 5], "values": [7.0, 7.0, 8.0, 8.0, 9.5]}
    assert steps_in(counter) == ((3, 8.0), (5, 9.5)), steps_in(counter)
    return 0


def main(words):
    if words == ["--self-test"]:
        return self_test()
    doubles = "--doubles" in words
    work, out = [w for w in words if w != "--doubles"]
    findings = Findings(out)
    answers = tell_questions(work, findings)
    for tell in (tell_matrix, tell_load, tell_recordings, tell_energy, tell_regions, tell_cost, tell_scene):
        try:
            tell(work, findings, doubles)
        except Exception as fault:  # what is missing must not take the rest with it
            findings.tell("FAIL", tell.__name__, "%s: %s" % (type(fault).__name__, fault))
    write_page(work, findings, answers, doubles)
    print("%d passed, %d failed, %d told; see %s" % (findings.count("PASS"), findings.count("FAIL"),
                                                    findings.count("INFO"), os.path.join(out, "FINDINGS.md")))
    return 1 if findings.count("FAIL") else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
