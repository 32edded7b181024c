/* Curves as cells of the width of a pixel, or of a point where there are few: what drawing takes pixels to do. */
import type { Series } from "../data.js";
import type { Range } from "../state.js";
import type { Chunk, Extremes } from "../store/chunk.js";
import type { Recordings } from "../store/recordings.js";

/* From x0 to x1 the curve is between lo and hi, and `mean` on average. A cell that begins behind the one before: a gap. */
export class Cells {
	n = 0;
	x0 = new Float64Array(64);
	x1 = new Float64Array(64);
	lo = new Float64Array(64);
	hi = new Float64Array(64);
	mean = new Float64Array(64);

	put(x0: number, x1: number, lo: number, hi: number, mean: number): void {
		if (this.n === this.x0.length) this.grow();
		const i = this.n++;
		this.x0[i] = x0;
		this.x1[i] = x1;
		this.lo[i] = lo;
		this.hi[i] = hi;
		this.mean[i] = mean;
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
	}
}

const found: Extremes = { lo: 0, hi: 0 };

/* One cell a point. */
function points(chunk: Chunk, first: number, from: number, end: number, x: (t: number) => number, ret: Cells): void {
	for (let i = first; i < chunk.n; i++) {
		const start = chunk.start(i);
		if (start >= end) break;
		const mean = chunk.mean[i];
		if (mean !== mean) continue;
		ret.put(x(Math.max(start, from)), x(Math.min(chunk.end(i), end)), chunk.lo[i], chunk.hi[i], mean);
	}
}

/* One cell a column of pixels, aligned to these. A point that reaches into a column counts in it. */
function columns(chunk: Chunk, first: number, from: number, end: number, x: (t: number) => number, t: (x: number) => number,
	ret: Cells): void {
	const stop = x(end);
	let column = Math.floor(x(from));
	let i = first;
	for (; column < stop && i < chunk.n; column++) {
		const until = Math.min(t(column + 1), end);
		let j = i;
		/* A few steps, then halving: columns are alike, and rarely far. */
		const guess = i + 16;
		if (guess < chunk.n && chunk.end(guess) <= until) j = after(chunk, until, guess);
		else while (j < chunk.n && chunk.end(j) <= until) j++;
		const reaches = j < chunk.n && chunk.start(j) < until;
		const count = j - i;
		if (count === 0) {
			if (reaches && chunk.mean[j] === chunk.mean[j]) ret.put(column, column + 1, chunk.lo[j], chunk.hi[j], chunk.mean[j]);
			continue;
		}
		chunk.extremes(i, reaches ? j + 1 : j, found);
		const { integral, covered_s } = chunk.sums(i, j);
		if (found.lo <= found.hi) ret.put(column, column + 1, found.lo, found.hi, covered_s > 0 ? integral / covered_s : chunk.mean[i]);
		i = j;
	}
}

function after(chunk: Chunk, t: number, from: number): number {
	const { ends } = chunk.times;
	let low = from;
	let high = chunk.n;
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
