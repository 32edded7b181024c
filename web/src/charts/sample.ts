/* Curves as cells of the width of a pixel, or of a point where there are few: what drawing takes pixels to do. */
import type { Series } from "../data.js";
import type { Range } from "../state.js";
import { BLOCK, type Chunk, type Extremes, type Sums } from "../store/chunk.js";
import type { Recordings } from "../store/recordings.js";

/*
 * From x0 to x1 the curve is between lo and hi, and `mean` on average. A cell that begins behind the one before:
 * a gap. `own` is the highest without the point that only reaches into the cell: that one is the next one's.
 */
export class Cells {
	n = 0;
	x0 = new Float64Array(64);
	x1 = new Float64Array(64);
	lo = new Float64Array(64);
	hi = new Float64Array(64);
	mean = new Float64Array(64);
	own = new Float64Array(64);

	put(x0: number, x1: number, lo: number, hi: number, mean: number, own: number): void {
		if (this.n === this.x0.length) this.grow();
		const i = this.n++;
		this.x0[i] = x0;
		this.x1[i] = x1;
		this.lo[i] = lo;
		this.hi[i] = hi;
		this.mean[i] = mean;
		this.own[i] = own;
	}

	private grow(): void {
		const wide = (old: Float64Array<ArrayBuffer>): Float64Array<ArrayBuffer> => {
			const ret = new Float64Array(old.length * 2);
			ret.set(old);
			return ret;
		};
		this.x0 = wide(this.x0);
		this.x1 = wide(this.x1);
		this.lo = wide(this.lo);
		this.hi = wide(this.hi);
		this.mean = wide(this.mean);
		this.own = wide(this.own);
	}
}

const found: Extremes = { lo: 0, hi: 0 };
const sums: Sums = { integral: 0, covered_s: 0 };

/* One cell a point. */
function points(chunk: Chunk, first: number, from: number, end: number, x: (t: number) => number, ret: Cells): void {
	for (let i = first; i < chunk.n; i++) {
		const start = chunk.start(i);
		if (start >= end) break;
		const mean = chunk.mean[i];
		if (mean !== mean) continue;
		ret.put(x(Math.max(start, from)), x(Math.min(chunk.end(i), end)), chunk.lo[i], chunk.hi[i], mean, chunk.hi[i]);
	}
}

/*
 * One cell a column of pixels, aligned to these. A point that reaches into a column counts in it. Where a
 * column has very many points, those that are one in the pyramid stay together: a fourth of a pixel at most.
 */
function columns(chunk: Chunk, first: number, from: number, end: number, x: (t: number) => number, t: (x: number) => number,
	ret: Cells): void {
	const { ends } = chunk.times;
	const { mean, n } = chunk;
	const stop = x(end);
	let column = Math.floor(x(from));
	let i = first;
	let step = 0;
	for (; column < stop && i < n; column++) {
		const until = Math.min(t(column + 1), end);
		let j = after(ends, until, i, n, step);
		if (j - i > 4 * BLOCK && j < n) j -= j % BLOCK;
		step = j - i;
		const reaches = j < n && chunk.start(j) < until;
		if (step === 0) {
			if (reaches && mean[j] === mean[j]) ret.put(column, column + 1, chunk.lo[j], chunk.hi[j], mean[j], chunk.hi[j]);
			continue;
		}
		chunk.extremes(i, j, found);
		const own = found.hi;
		if (reaches && step <= 4 * BLOCK) chunk.extremes(i, j + 1, found);
		chunk.sums(i, j, sums);
		if (found.lo <= found.hi)
			ret.put(column, column + 1, found.lo, found.hi, sums.covered_s > 0 ? sums.integral / sums.covered_s : mean[i], own);
		i = j;
	}
}

/* The first in from … n - 1 that ends behind t, likely `step` further on. */
function after(ends: Float64Array, t: number, from: number, n: number, step: number): number {
	let low = from;
	let high = n;
	let reach = step + 2;
	for (let guess = from + reach; guess < high; guess += reach) {
		if (ends[guess] > t) high = guess;
		else {
			low = guess + 1;
			reach *= 2;
		}
	}
	const floor = low + ((step / 2) | 0);
	if (low === from && floor < high) {
		if (ends[floor] <= t) low = floor + 1;
		else high = floor;
	}
	while (low < high) {
		const middle = (low + high) >>> 1;
		if (ends[middle] > t) high = middle;
		else low = middle + 1;
	}
	return low;
}

/*
 * What is loaded of a curve, over a range of the shared axis that is `width` pixels wide. even: a column of
 * pixels has a cell of its own also where there are few points.
 */
export function sample(store: Recordings, run: number, series: Series, range: Range, width: number, even: boolean, ret: Cells): void {
	ret.n = 0;
	const { shift_s } = store.runs[run];
	const from = range.from + shift_s;
	const scale = width / (range.end - range.from);
	const x = (t: number): number => (t - from) * scale;
	const t = (px: number): number => from + px / scale;
	for (const { piece, from: start, end } of store.segments(run, series, from, range.end + shift_s, 1 / scale, true)) {
		const chunk = piece.chunk!;
		const first = chunk.firstAfter(start);
		const count = chunk.firstAfter(end) - first;
		const room = (end - start) * scale;
		if (!even && count < room * 0.5) points(chunk, first, start, end, x, ret);
		else columns(chunk, first, start, end, x, t, ret);
	}
}
