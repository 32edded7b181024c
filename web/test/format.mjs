/* Writes documents and pages in the format of docs/page.md, of made-up data: what the tests look at. */
import { deflateRawSync } from "node:zlib";
import { readFileSync } from "node:fs";
import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import path from "node:path";

/* The same numbers every time. */
export function dice(seed) {
	let state = seed >>> 0 || 1;
	return () => {
		state ^= state << 13;
		state ^= state >>> 17;
		state ^= state << 5;
		state >>>= 0;
		return state / 4294967296;
	};
}

function varints(numbers, count) {
	const out = Buffer.allocUnsafe(count * 9);
	let at = 0;
	for (let i = 0; i < count; i++) {
		const n = numbers[i];
		let v = n >= 0 ? n * 2 : -n * 2 - 1;
		while (v > 127) {
			out[at++] = (v % 128) | 128;
			v = Math.floor(v / 128);
		}
		out[at++] = v;
	}
	return out.subarray(0, at);
}

export function encodeTimes(starts, ends) {
	const n = ends.length;
	const numbers = new Float64Array(2 * n);
	let step = 0;
	let before = 0;
	for (let i = 0; i < n; i++) {
		numbers[i] = ends[i] - before - step;
		step = ends[i] - before;
		numbers[n + i] = starts[i] - before;
		before = ends[i];
	}
	return deflateRawSync(varints(numbers, 2 * n)).toString("base64");
}

export function encodeValues(...parts) {
	const all = parts.map((values) => {
		const plain = Buffer.from(Float32Array.from(values).buffer);
		const n = values.length;
		const out = Buffer.allocUnsafe(plain.length);
		for (let place = 0; place < 4; place++) for (let i = 0; i < n; i++) out[place * n + i] = plain[i * 4 + place];
		return out;
	});
	return deflateRawSync(Buffer.concat(all)).toString("base64");
}

/* Points of ns made at most some more than `wish` buckets, as src/derive does it. */
export function bucketsOf(points, wish) {
	const { starts, ends, values } = points;
	const n = ends.length;
	const per = Math.max(1, Math.ceil(n / wish));
	const wide = n ? (ends[n - 1] - starts[0]) / 4096 : 0;
	const ret = { starts: [], ends: [], lo: [], hi: [], mean: [], per };
	for (let first = 0; first < n; ) {
		let lo = Infinity;
		let hi = -Infinity;
		let sum = 0;
		let time = 0;
		let i = first;
		for (; i < n && i - first < per; i++) {
			if (i > first && starts[i] - ends[i - 1] > wide) break;
			const length = ends[i] - starts[i];
			lo = Math.min(lo, values[i]);
			hi = Math.max(hi, values[i]);
			sum += values[i] * length;
			time += length;
		}
		ret.starts.push(starts[first]);
		ret.ends.push(ends[i - 1]);
		ret.lo.push(lo);
		ret.hi.push(hi);
		ret.mean.push(sum / time);
		first = i;
	}
	return ret;
}

/* Blocks of one document: an overview first, then what is finer. */
export class Blocks {
	first = {};
	later = {};
	count = 0;

	add(text, later) {
		const id = `k${++this.count}`;
		(later ? this.later : this.first)[id] = text;
		return id;
	}
}

const PIECE = 262144;

/* A base and its series of the same instants; a series' values may be null where it is not there. */
export function addBase(run, blocks, points, series, { overview = 2048, fine = true } = {}) {
	const base = { id: `b${run.bases.length}`, pieces: [] };
	const s = 1e-9;
	run.bases.push(base);
	for (const one of series) one.entry.base = base.id;
	const n = points.ends.length;
	const cut = (from, end) => ({ starts: points.starts.slice(from, end), ends: points.ends.slice(from, end) });
	if (n > overview * 2) {
		let times = null;
		for (const { entry, values } of series) {
			const b = bucketsOf({ ...points, values }, overview);
			times ??= b;
			entry.pieces.push(blocks.add(encodeValues(b.lo, b.hi, b.mean), false));
		}
		base.pieces.push({
			block: blocks.add(encodeTimes(times.starts, times.ends), false), n: times.ends.length,
			from: times.starts[0] * s, end: times.ends.at(-1) * s, per: times.per,
		});
	}
	const later = n > overview * 2;
	for (let at = 0; at < n && (fine || !later); at += PIECE) {
		const { starts, ends } = cut(at, at + PIECE);
		base.pieces.push({
			block: blocks.add(encodeTimes(starts, ends), later), n: ends.length,
			from: starts[0] * s, end: ends.at(-1) * s, per: 1,
		});
		for (const { entry, values } of series)
			entry.pieces.push(blocks.add(encodeValues(values.slice(at, at + PIECE)), later));
	}
	for (const { entry, values } of series) {
		let sum = 0, time = 0, min = Infinity, max = -Infinity;
		for (let i = 0; i < n; i++) {
			const length = (points.ends[i] - points.starts[i]) * s;
			sum += values[i] * length;
			time += length;
			if (values[i] < min) min = values[i];
			if (values[i] > max) max = values[i];
		}
		Object.assign(entry, { n, mean: n ? sum / time : null, min: n ? min : null, max: n ? max : null, integral: entry.level || !n ? null : sum });
	}
}

/* Regular instants with a little jitter; gaps: [from, end] in seconds. */
export function instants(length_s, hz, random, gaps = [], from_s = 0) {
	const starts = [];
	const ends = [];
	let before = Math.round(from_s * 1e9);
	for (let i = 1; i <= (length_s - from_s) * hz; i++) {
		const end = Math.round((from_s + i / hz) * 1e9 + (random() - 0.5) * 1e5);
		const t = end / 1e9;
		if (!gaps.some(([a, b]) => t > a && t <= b)) {
			starts.push(before);
			ends.push(end);
		}
		before = end;
	}
	return { starts, ends };
}

export function series(key, label, more = {}) {
	return { key, label, metric: `made_up__${key.replace(/\W/g, "_")}`, help: `Made up: ${label}.`, level: false, rest: false, process: null, base: "", pieces: [], ...more };
}

export function panel(id, title, group, unit, more = {}) {
	return { id, title, group, unit, shape: "lines", clock: "host", floor: 0, ceiling: null, peaks: [], series: [], ...more };
}

export function emptyRun(label, length_s) {
	return {
		label, host: label, start_wall_ns: "1764500000000000000", zero_mono_ns: "812300000000", length_s, shift_s: 0,
		head: [["command", "make -j8"], ["result", `exit status 0 after ${length_s} s`], ["machine", `${label}, Linux 6.18, 8 CPUs`]],
		report: "command    make -j8\nresult     exit status 0\n", notes: [["source disk", "there is no disk here"]],
		processes: [], regions: { names: [], host_lanes: 0, gpu_lanes: 0, name: [], start: [], end: [], lane: [], gpu: [], pid: [], thread: [], stream: [], error: [], unfinished: [], id: [] },
		marks: { names: [], name: [], at: [], gpu: [], pid: [] }, bases: [], panels: [],
	};
}

export function documentOf(runs, more = {}) {
	return { format: 1, kind: "page", generator: "galvo 0.1.0", title: "make -j8", live: false, resolution: "all values are here", bytes: 4, runs, ...more };
}

export function addRegion(run, name, start, end, more = {}) {
	const r = run.regions;
	let at = r.names.indexOf(name);
	if (at < 0) at = r.names.push(name) - 1;
	r.name.push(at);
	r.start.push(start);
	r.end.push(end);
	r.lane.push(more.lane ?? 0);
	r.gpu.push(more.gpu ?? 0);
	r.pid.push(more.pid ?? 4711);
	r.thread.push(more.thread ?? 4711);
	r.stream.push(more.stream ?? 0);
	r.error.push(more.error ?? 0);
	r.unfinished.push(end === null ? 1 : 0);
	r.id.push(String(r.id.length + 1));
	if (more.gpu) r.gpu_lanes = Math.max(r.gpu_lanes, (more.lane ?? 0) + 1);
	else r.host_lanes = Math.max(r.host_lanes, (more.lane ?? 0) + 1);
}

export function addMark(run, name, at, gpu = 0) {
	const m = run.marks;
	let place = m.names.indexOf(name);
	if (place < 0) place = m.names.push(name) - 1;
	m.name.push(place);
	m.at.push(at);
	m.gpu.push(gpu);
	m.pid.push(4711);
}

export const here = path.dirname(fileURLToPath(import.meta.url));
const escapeJson = (text) => text.replace(/</g, "\\u003c").replace(/\u2028/g, "\\u2028").replace(/\u2029/g, "\\u2029");
const escapeHtml = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;");

/* One file, as src/output/page.c writes it. */
export function htmlOf(document, blocks, dist = path.join(here, "../dist")) {
	const script = readFileSync(path.join(dist, "page.js"), "utf8");
	const style = readFileSync(path.join(dist, "page.css"), "utf8");
	const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
	const elements = (all) => Object.entries(all).map(([id, text]) => `<script type="application/octet-stream" id="${id}">${text}</script>\n`).join("");
	return `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src ${hash(script)}; style-src ${hash(style)}; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(document.title)}</title>
<style>${style}</style></head>
<body>
<script type="application/json" id="galvo-data">${escapeJson(JSON.stringify(document))}</script>
${elements(blocks.first)}<script>${script}</script>
${elements(blocks.later)}</body></html>
`;
}

/* An overview, as the server gives it. */
export function overviewOf(document, blocks) {
	return { ...document, kind: "overview", blocks: { ...blocks.first, ...blocks.later } };
}
