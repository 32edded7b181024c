/* Unit tests of what the page computes with, in node: "node test/unit.mjs". The sources are bundled first. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { addBase, Blocks, dice, documentOf, emptyRun, encodeTimes, encodeValues, here, instants, overviewOf, panel, series } from "./format.mjs";

const folder = mkdtempSync(path.join(tmpdir(), "galvo-unit-"));
const entries = ["store/chunk", "store/codec", "store/pieces", "store/tail", "store", "format", "text", "charts/ticks", "charts/sample", "charts/marks", "charts/labels", "charts/colours", "charts/names", "charts/pile"];
await build({
	entryPoints: Object.fromEntries(entries.map((name) => [name.replace("/", "-"), path.join(here, `../src/${name}.ts`)])),
	outdir: folder, bundle: true, splitting: true, format: "esm", outExtension: { ".js": ".mjs" }, logLevel: "warning",
});
const load = (name) => import(pathToFileURL(path.join(folder, `${name}.mjs`)).href);
const { Chunk } = await load("store-chunk");
const codec = await load("store-codec");
const { Piece, choose, inOrder } = await load("store-pieces");
const { Tail } = await load("store-tail");
const { createStore } = await load("store");
const format = await load("format");
const { visible } = await load("text");
const ticks = await load("charts-ticks");
const { Cells, sample } = await load("charts-sample");
const marks = await load("charts-marks");
const labels = await load("charts-labels");
const colours = await load("charts-colours");
const names = await load("charts-names");
const { pile } = await load("charts-pile");
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

function regular(n, step_s, values) {
	const ends = Float64Array.from({ length: n }, (_, i) => (i + 1) * step_s);
	return new Chunk({ n, from: 0, ends, starts: null }, values, values, values, 1);
}

/* A served page of one panel with one series. */
function oneSeries(points, values, options, more) {
	const run = emptyRun("vm", points.ends.at(-1) / 1e9);
	const blocks = new Blocks();
	const entry = series("a", "a", more);
	run.panels.push(panel("p", "P", "G", "count", { series: [entry] }));
	addBase(run, blocks, points, [{ entry, values }], options);
	return { run, blocks, entry, document: overviewOf(documentOf([run]), blocks) };
}

test("instants and values come out as they went in, gaps and late starts too", async () => {
	const starts = [5_000_000_001, 5_010_000_000, 9_000_000_000, 9_007_199_254_740];
	const ends = [5_010_000_000, 5_020_000_003, 9_000_500_000, 9_007_199_254_741];
	const times = codec.timesOf(await codec.inflate(codec.bytesOf(encodeTimes(starts, ends))), 4);
	assert.deepEqual([...times.ends], ends.map((t) => t / 1e9));
	assert.deepEqual([...times.starts], starts.map((t) => t / 1e9));
	const contiguous = codec.timesOf(await codec.inflate(codec.bytesOf(encodeTimes([7, 10], [10, 20]))), 2);
	assert.equal(contiguous.starts, null);
	assert.equal(contiguous.from, 7e-9);
	const bytes = await codec.inflate(codec.bytesOf(encodeValues([1, -2.5, 3e9], [4, 5, 6])));
	assert.deepEqual([...codec.valuesOf(bytes, 0, 3, 4)], [1, -2.5, 3e9]);
	assert.deepEqual([...codec.valuesOf(bytes, 12, 3, 4)], [4, 5, 6]);
	assert.throws(() => codec.valuesOf(bytes, 16, 3, 4), /shorter/);
	assert.throws(() => codec.timesOf(new Uint8Array([200]), 1), /within a number/);
	await assert.rejects(codec.inflate(new Uint8Array([1, 2, 3])));
});

test("the pyramid finds the extremes and sums of any part", () => {
	const random = dice(1);
	const values = Float32Array.from({ length: 5000 }, () => random());
	const chunk = regular(5000, 0.01, values);
	const ret = { lo: 0, hi: 0 };
	const sums = { integral: 0, covered_s: 0 };
	for (let k = 0; k < 400; k++) {
		const a = Math.floor(random() * 5000);
		const b = Math.min(5000, a + Math.floor(random() ** 3 * 5000));
		chunk.extremes(a, b, ret);
		const part = values.slice(a, b);
		assert.equal(ret.lo, part.length ? Math.min(...part) : Infinity);
		assert.equal(ret.hi, part.length ? Math.max(...part) : -Infinity);
		chunk.sums(a, b, sums);
		assert.ok(Math.abs(sums.integral - part.reduce((sum, v) => sum + v * 0.01, 0)) < 1e-9);
		assert.ok(Math.abs(sums.covered_s - part.length * 0.01) < 1e-9);
	}
});

test("a spike of one point in ten million is in the cell of its pixel, at every zoom", () => {
	const n = 10_000_000;
	const at = 7_654_321;
	const values = new Float32Array(n).fill(1);
	values[at] = 100;
	const ends = new Float64Array(n);
	for (let i = 0; i < n; i++) ends[i] = (i + 1) / 1e4;
	const piece = new Piece(null, "", 0, 1000, 1, 1e-4);
	piece.chunk = new Chunk({ n, from: 0, ends, starts: null }, values, values, values, 1);
	const store = { runs: [{ shift_s: 0 }], segments: (_r, _s, from, end, enough) => choose([piece], from, end, enough, () => true) };
	const cells = new Cells();
	for (const even of [true, false])
		for (let half = 1000; half > 1e-4; half /= 1.7)
			for (const width of [733, 1201]) {
				const centre = at / 1e4 + half * 0.13;
				const range = { from: Math.max(0, centre - half), end: Math.min(1000, centre + half) };
				sample(store, 0, {}, range, width, even, cells);
				const wanted = ((at / 1e4 - range.from) / (range.end - range.from)) * width;
				let found = -1;
				for (let i = 0; i < cells.n; i++) if (cells.hi[i] === 100) found = i;
				assert.ok(found >= 0, `not there: ${half} s, ${width} pixels`);
				const wide = Math.max(1, (1e-4 / (range.end - range.from)) * width);
				assert.ok(Math.abs(cells.x0[found] - wanted) <= wide + 1, `elsewhere: ${cells.x0[found]}, not ${wanted}`);
			}
});

test("figures are exact where points are loaded, and cut at the edges", async () => {
	const points = { starts: [0, 1e9, 3e9], ends: [1e9, 2e9, 4e9] }; /* nothing is known of 2 … 3 */
	const { document, entry } = oneSeries(points, [10, 20, 60]);
	const store = createStore(document, () => {});
	assert.equal(store.figures(0, entry, { from: 0, end: 4 }), null, "nothing is loaded yet");
	await store.load(0, entry, { from: 0, end: 4 });
	assert.deepEqual(store.figures(0, entry, { from: 0.5, end: 3.25 }), { mean: (5 + 20 + 15) / 1.75, min: 10, max: 60, integral: 40, covered_s: 1.75, exact: true });
	assert.equal(store.figures(0, entry, { from: 2.1, end: 2.9 }), null);
	assert.equal(store.at(0, entry, 0.999), 10);
	assert.equal(store.at(0, entry, 1), 20, "a point holds from its start on");
	assert.equal(store.at(0, entry, 2.5), null);
	assert.equal(store.at(0, entry, 99), null);
	const level = oneSeries(points, [1, 2, 3], {}, { level: true });
	const other = createStore(level.document, () => {});
	await other.load(0, level.entry, { from: 0, end: 4 });
	assert.equal(other.figures(0, level.entry, { from: 0, end: 4 }).integral, null);
});

test("of buckets alone figures say that they are not exact", async () => {
	const points = instants(100, 100, dice(2));
	const values = points.ends.map((_, i) => i % 7);
	const { document, entry } = oneSeries(points, values, { overview: 200, fine: false });
	const store = createStore(document, () => {});
	await store.load(0, entry, { from: 0, end: 100 });
	const part = store.figures(0, entry, { from: 10.1234, end: 20.2345 });
	assert.equal(part.exact, false);
	assert.ok(part.min === 0 && part.max === 6 && Math.abs(part.mean - 3) < 0.05);
});

test("pieces: what is enough is taken coarse, else the finest; gaps of the finest stay", () => {
	const make = (from, end, per, n) => Object.assign(new Piece(null, "", from, end, per, (end - from) / n), { chunk: {} });
	const pieces = [make(0, 100, 50, 200), make(0, 40, 1, 4000), make(40.2, 60, 1, 2000)].sort(inOrder);
	const told = (from, end, enough) => choose(pieces, from, end, enough, () => true).map(({ piece, from: a, end: b }) => [piece.per, a, b]);
	assert.deepEqual(told(0, 100, 1), [[50, 0, 100]]);
	assert.deepEqual(told(0, 100, 0), [[1, 0, 40.2], [1, 40.2, 60], [50, 60, 100]]);
	assert.deepEqual(told(70, 80, 0), [[50, 70, 80]]);
	assert.deepEqual(choose(pieces, 0, 100, 0, (piece) => piece.per > 1).length, 1);
});

test("what comes in live stays bounded, and keeps its extremes, sums and gaps", () => {
	const tail = new Tail({ end: -Infinity, length: 0 });
	let t = 0;
	for (let batch = 0; batch < 3000; batch++) {
		const ends = Float64Array.from({ length: 100 }, (_, i) => t + (i + 1) * 0.01);
		const values = new Float32Array(100).fill(1);
		if (batch === 700) values[50] = 1000;
		const chunk = new Chunk({ n: 100, from: t, ends, starts: null }, values, values, values, 1);
		tail.append(chunk);
		t = ends[99] + (batch === 1500 ? 500 : 0);
		if (batch === 10) tail.append(chunk); /* once more */
	}
	const pieces = tail.pieces();
	assert.ok(pieces.reduce((sum, { chunk }) => sum + chunk.n, 0) < 20000);
	const all = { lo: 0, hi: 0 };
	const sums = { integral: 0, covered_s: 0 };
	let hi = -Infinity, covered = 0, integral = 0;
	for (const { chunk } of pieces) {
		chunk.extremes(0, chunk.n, all);
		chunk.sums(0, chunk.n, sums);
		hi = Math.max(hi, all.hi);
		covered += sums.covered_s;
		integral += sums.integral;
	}
	assert.equal(hi, 1000);
	assert.ok(Math.abs(covered - 3000) < 0.01, String(covered));
	assert.ok(Math.abs(integral - (3000 + 9.99)) < 0.01, String(integral));
});

test("of buckets that come in live the highest stays, and a part that begins late leaves no gap", () => {
	const tail = new Tail({ end: 1, length: 0.1 });
	const times = { n: 2, from: 1.05, ends: Float64Array.of(1.1, 1.2), starts: null };
	const of = (...all) => Float32Array.from(all);
	tail.append(new Chunk(times, of(0, 1), of(50, 3), of(2, 2), 8));
	const [piece] = tail.pieces();
	const all = { lo: 0, hi: 0 };
	piece.chunk.extremes(0, 2, all);
	assert.deepEqual(all, { lo: 0, hi: 50 });
	assert.equal(piece.per, 8);
	assert.equal(piece.chunk.start(0), 1);
});

test("an overview that comes again is all there is, and panels stay what they are", async () => {
	const first = oneSeries({ starts: [0], ends: [1e9] }, [1]);
	const store = createStore({ ...first.document, live: true }, () => {});
	const held = store.panels[0];
	await store.load(0, first.entry, { from: 0, end: 1 });
	const before = store.version(0, first.entry);
	store.merge(oneSeries({ starts: [0, 1e9], ends: [1e9, 2e9] }, [3, 4]).document);
	assert.equal(store.panels[0], held);
	assert.equal(held.series.length, 1);
	assert.notEqual(store.version(0, first.entry), before);
	await store.load(0, held.series[0].series, { from: 0, end: 2 });
	assert.equal(store.at(0, held.series[0].series, 0.5), 3);
});

test("news are appended, new panels and processes too, what is known is replaced", async () => {
	const first = oneSeries({ starts: [0], ends: [1e9] }, [1]);
	const store = createStore({ ...first.document, live: true }, () => {});
	const next = oneSeries({ starts: [1e9], ends: [2e9] }, [5]);
	next.run.panels.push(panel("q", "Q", "G", "count", { series: [] }));
	next.run.processes = [{ id: "9:9", parent: null, name: "a" }, { id: "10:9", parent: 0, name: "b", cpu_s: 7 }];
	store.merge({ ...next.document, kind: "news", sequence: "2", live: true });
	const again = oneSeries({ starts: [2e9], ends: [3e9] }, [7]);
	again.run.processes = [{ id: "10:9", parent: null, name: "b2", cpu_s: null }];
	store.merge({ ...again.document, kind: "news", sequence: "3", live: false });
	await store.load(0, first.entry, { from: 0, end: 3 });
	assert.deepEqual([0.5, 1.5, 2.5].map((t) => store.at(0, first.entry, t)), [1, 5, 7]);
	assert.deepEqual(store.panels.map(({ id }) => id), ["p", "q"]);
	assert.deepEqual(store.runs[0].processes.map(({ name }) => name), ["a", "b2"]);
	assert.equal(store.runs[0].processes[1].cpu_s, 7);
	assert.equal(store.runs[0].length_s, 3);
	assert.equal(store.document.live, false);
	assert.equal(store.document.sequence, "3");
});

test("detail is asked for once for a range, and taken", async () => {
	const points = instants(100, 100, dice(2));
	const values = points.ends.map((_, i) => i);
	const coarse = oneSeries(points, values, { overview: 50, fine: false });
	const asked = [];
	const store = createStore(coarse.document, () => {}, async (_run, range) => {
		asked.push(range);
		const inside = points.ends.map((end, i) => [points.starts[i], end, values[i]]).filter(([, end]) => end / 1e9 > range.from && end / 1e9 <= range.end + 0.01);
		const part = oneSeries({ starts: inside.map((p) => p[0]), ends: inside.map((p) => p[1]) }, inside.map((p) => p[2]), { overview: 1e9 });
		return { ...part.document, kind: "detail" };
	});
	await Promise.all([1, 2, 3].map(() => store.want(0, coarse.entry, { from: 10, end: 12 }, 0.001)));
	await store.want(0, coarse.entry, { from: 10.1, end: 12.1 }, 0.001);
	assert.equal(asked.length, 1, JSON.stringify(asked));
	assert.equal(store.at(0, coarse.entry, 11.0051), 1100);
});

/* Points from `from` to `end`, one a second, of values as high as they are late. */
function seconds(from, end, options) {
	const starts = Array.from({ length: end - from }, (_, i) => (from + i) * 1e9);
	return oneSeries({ starts, ends: starts.map((t) => t + 1e9) }, starts.map((t) => t / 1e9), options);
}

test("an overview of the same recording keeps what is finer: news and detail", async () => {
	const coarse = { overview: 2, fine: false };
	const first = seconds(0, 100, coarse);
	let asked = 0;
	const store = createStore(first.document, () => {}, async (_run, { from, end }) => {
		asked++;
		return { ...seconds(Math.floor(from), Math.ceil(end), { overview: 1e9 }).document, kind: "detail" };
	});
	const of = () => store.panels[0].series[0].series;
	await store.load(0, of(), { from: 10, end: 20 });
	store.merge({ ...seconds(100, 110).document, kind: "news", sequence: "7" });
	await store.load(0, of(), { from: 100, end: 110 });
	store.merge({ ...seconds(0, 110, coarse).document, sequence: "7" });
	assert.equal(store.at(0, of(), 105.5), 105);
	await store.load(0, of(), { from: 10, end: 20 });
	assert.equal(store.at(0, of(), 12.5), 12);
	assert.equal(asked, 1);

	/* Where news are missed, the overview is what is known. */
	store.merge({ ...seconds(0, 200, coarse).document, sequence: "9" });
	store.merge({ ...seconds(200, 210).document, kind: "news", sequence: "10" });
	await store.want(0, of(), { from: 100, end: 210 }, 1000);
	await store.news;
	assert.notEqual(store.at(0, of(), 150.5), null);
	assert.equal(store.at(0, of(), 205.5), 205);
});

test("what was asked of another recording is not taken in", async () => {
	let give;
	const first = seconds(0, 100, { overview: 2, fine: false });
	const store = createStore(first.document, () => {}, () => new Promise((resolve) => (give = resolve)));
	const waits = store.load(0, store.panels[0].series[0].series, { from: 10, end: 20 });
	await new Promise((resolve) => setImmediate(resolve));
	const other = seconds(0, 50, { overview: 2, fine: false });
	other.run.zero_mono_ns = "5";
	store.merge(other.document);
	give({ ...seconds(10, 20, { overview: 1e9 }).document, kind: "detail" });
	await waits;
	assert.equal(store.at(0, store.panels[0].series[0].series, 13.5), 12); /* a bucket of 25 s */
	const news = seconds(50, 60).document;
	store.merge({ ...news, kind: "news", sequence: "3" });
	assert.equal(store.runs[0].length_s, 50);
});

test("numbers and times as people read them", () => {
	assert.equal(format.formatValue(1536, "bytes"), "1.50 KiB");
	assert.equal(format.formatValue(1023.9999 * 1024 ** 2, "bytes_per_s"), "1.00 GiB/s");
	assert.equal(format.formatValue(37.456, "pct"), "37.5 %");
	assert.equal(format.formatValue(1.98e9, "hz"), "1.98 GHz");
	assert.equal(format.formatValue(2.5e6, "ns"), "2.50 ms");
	assert.equal(format.formatValue(null, "pct"), "–");
	assert.equal(format.formatValue(NaN, "pct"), "–");
	assert.equal(format.formatValue(0, "watts"), "0 W");
	assert.equal(format.formatDuration(0.0351), "35.1 ms");
	assert.equal(format.formatInstant(3723.5, 0.1), "1:02:03.5");
	assert.equal(format.formatInstant(12.34567, 0.001), "12.346 s");
	const texts = (...all) => ticks.valueTicks(...all).map(({ text }) => text);
	assert.deepEqual(texts(0, 3 * 1024 ** 3, ticks.valueStep(3 * 1024 ** 3, 3, "bytes"), "bytes"), ["0", "1 GiB", "2 GiB", "3 GiB"]);
	assert.deepEqual(texts(0, 100, 50, "pct"), ["0", "50 %", "100 %"]);
});

test("numbers have three digits before their unit, and dust is nothing", () => {
	const print = format.formatValue;
	assert.equal(print(1000 * 2 ** 20, "bytes"), "0.98 GiB", "as the report has it");
	assert.equal(print(999.4 * 2 ** 20, "bytes"), "999 MiB");
	assert.equal(print(1000 * 1024, "bytes_per_s"), "0.98 MiB/s");
	assert.equal(print(999.6e6, "hz"), "1.00 GHz");
	assert.equal(print(3e-12, "pct"), "0 %");
	assert.equal(print(-2e-22, "pct"), "0 %");
	assert.equal(print(0.02, "pct"), "0.02 %");
	assert.equal(print(0.02, "pct", 50), "0 %", "of what it is shown beside it is nothing");
	assert.equal(print(4e-13, "bytes_per_s"), "0 B/s");
	assert.equal(print(0.0003, "per_s"), "0.00030 /s", "once in an hour is something");
	assert.equal(print(35, "ns"), "35.0 ns");
	assert.equal(print(null, "pct"), "–");
});

test("texts from outside are the same wherever they stand", () => {
	assert.equal(visible("rtl \u202e\n\u001b[31m"), "rtl ⟨U+202E⟩␊␛[31m");
});

/* The colours that a style sheet gives to the themes: :root first, the dark one over it. */
function coloursOf(file) {
	const text = readFileSync(path.join(here, "../src", file), "utf8");
	const read = (block) => Object.fromEntries([...(block ?? "").matchAll(/(--[\w-]+): (#[0-9a-f]{6});/g)].map(([, name, colour]) => [name, colour]));
	const light = read(/:root \{([^}]*)\}/.exec(text)?.[1]);
	return { light, dark: { ...light, ...read(/:root\[data-theme="dark"\] \{([^}]*)\}/.exec(text)?.[1]) } };
}

function luminance(colour) {
	const part = (at) => {
		const x = parseInt(colour.slice(at, at + 2), 16) / 255;
		return x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4;
	};
	return 0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5);
}

test("text stands out from what is behind it, in both themes", () => {
	const [page, ui] = ["theme.css", "ui/base.css"].map(coloursOf);
	for (const theme of ["light", "dark"]) {
		const colours = { ...page[theme], ...ui[theme] };
		const grounds = ["--ground", "--card", "--raised"];
		const pairs = ["--ink", "--dim", "--faint", "--accent", "--bad", "--good"].flatMap((ink) => grounds.map((ground) => [ink, ground]));
		pairs.push(["--good", "--good-ground"], ["--bad", "--bad-ground"], ["--dim", "--note-ground"], ["--ink", "--hit"], ["--card", "--accent"]);
		for (const [ink, ground] of pairs) {
			const [high, low] = [colours[ink], colours[ground]].map(luminance).sort((a, b) => b - a);
			const contrast = (high + 0.05) / (low + 0.05);
			assert.ok(contrast >= 4.5, `${theme}: ${ink} on ${ground} is ${contrast.toFixed(2)}:1`);
		}
	}
});

test("the tip of a stack is the highest of its sum, and none where a pixel lies across two samples", async () => {
	/* Two that hand over to each other each 10 ms: together never more than 100. */
	const ms = 1e6;
	const points = { starts: [], ends: [] };
	for (let i = 0; i < 400; i++) {
		points.starts.push(i * 10 * ms);
		points.ends.push((i + 1) * 10 * ms);
	}
	const values = [points.ends.map((_, i) => (i % 2 ? 100 : 20)), points.ends.map((_, i) => (i % 2 ? 0 : 60))];
	const run = emptyRun("vm", 4);
	const blocks = new Blocks();
	const all = ["a", "b", "total"].map((key) => ({ entry: series(key, key) }));
	run.panels.push(panel("p", "P", "G", "pct", { shape: "stack", series: [all[0].entry, all[1].entry], total: all[2].entry }));
	all.forEach((one, i) => (one.values = values[i] ?? points.ends.map((_, k) => values[0][k] + values[1][k])));
	addBase(run, blocks, points, all);
	const store = createStore(overviewOf(documentOf([run]), blocks), () => {});
	const range = { from: 0, end: 4 };
	for (const { entry } of all) await store.load(0, entry, range);
	const at = (width, time = range) => {
		const cells = all.map(({ entry }) => {
			const ret = new Cells();
			sample(store, 0, entry, time, width, true, ret);
			return ret;
		});
		const drawn = cells.slice(0, 2).map((one, i) => ({ id: String(i), colour: "#000000", dim: false, run: 0, cells: one }));
		return { known: pile(drawn, width, cells[2]), unknown: pile(drawn, width, null) };
	};
	const coarse = at(50);
	assert.ok(coarse.known.peak.every((peak) => peak === 100), "the sum is 100 at most");
	assert.equal(coarse.known.high, 100);
	assert.ok(coarse.unknown.high < 95, "without a total there is none");
	assert.equal(store.panels[0].totals.length, 1);
	/* 0.4 points a pixel: each column has the sum of one instant. */
	const fine = at(100, { from: 0.005, end: 0.405 });
	for (let i = 0; i < 100; i++) {
		const sum = fine.known.layers[1].top[i];
		assert.ok(fine.known.peak[i] <= sum + 1e-3, `column ${i}: ${fine.known.peak[i]} above ${sum}`);
	}
});

test("marks that are dense are one, and only those that stand alone have a line", () => {
	const dense = marks.clustersOf(Array.from({ length: 120 }, (_, i) => i * 9));
	assert.deepEqual(dense.map(({ count }) => count), [120]);
	assert.deepEqual(marks.lonely(dense, 1200), []);
	const some = marks.clustersOf([5, 100, 104, 300]);
	assert.deepEqual(some.map(({ count }) => count), [1, 2, 1]);
	assert.deepEqual(marks.lonely(some, 200), [5, 100]);
});

test("labels that are raw names are put into words, what rows have in common is left out", () => {
	assert.equal(labels.humane("sm__cycles_active.max"), "sm cycles active, max");
	assert.equal(labels.humane("GPU 0 sent"), "GPU 0 sent");
	assert.equal(labels.referenceOf("proc__gpu_utilization.pct at most"), "at most");
	assert.equal(labels.referenceOf("capacity of each GPU"), "capacity of each GPU");
	assert.equal("GPU 0 power limit".slice(labels.commonStart(["GPU 0 power limit", "GPU 0 heat"])), "power limit");
	assert.equal(labels.commonStart(["CPU 1", "CPU 12"]), 4);
	assert.equal(labels.commonStart(["alone"]), 0);
});

test("runs differ by their dashes", () => {
	const patterns = [0, 1, 2, 3, 4].map((run) => Array.from({ length: 40 }, (_, i) => (colours.inDash(colours.dashOf(run), i) ? "#" : ".")).join(""));
	assert.equal(new Set(patterns).size, 5, patterns.join("\n"));
	assert.match(patterns[0], /^#+$/);
	assert.match(colours.dashCss("#123456", 2), /^repeating-linear-gradient/);
});

test("short ranges have ms, and the last line its label", () => {
	assert.deepEqual(ticks.timeTicks(0, 0.004, 0.0005).slice(0, 3).map(({ text }) => text), ["0", "0.5 ms", "1.0 ms"]);
	assert.deepEqual(ticks.timeTicks(0, 0.00004, 0.00001)[1].text, "10 µs");
	assert.equal(ticks.timeTicks(1.2, 1.3, 0.05)[1].text, "1.25 s");
	assert.equal(ticks.timeTicks(0, 0.5, 0.1).length, 6);
	assert.equal(ticks.labelPlace(990, 40, 900, 1000), 960);
	assert.equal(ticks.labelPlace(990, 40, 970, 1000), null);
	assert.equal(ticks.labelPlace(100, 40, 60, 1000), 103);
});

test("the legend of regions counts what is seen, of each run alone", () => {
	const one = emptyRun("a", 10);
	one.regions = { ...one.regions, names: ["compile", "link"], name: [0, 0, 1], start: [0, 4, 8], end: [2, 6, null] };
	one.marks = { ...one.marks, names: ["half"], name: [0, 0], at: [1, 9], gpu: [0, 0], pid: [1, 1] };
	assert.deepEqual(names.sumsOf(one, 0, 10).map(({ name, count, length_s }) => [name, count, length_s]), [["compile", 2, 4], ["link", 1, 2]]);
	assert.deepEqual(names.sumsOf(one, 5, 9).map(({ name, count, length_s }) => [name, count, length_s]), [["compile", 1, 1], ["link", 1, 1]]);
	assert.deepEqual(names.countsOf(one, 5, 10), [{ name: "half", count: 1, length_s: 0 }]);
});
