/* The decoded values of one piece, with a pyramid: any part of it has its extremes and sums at once. */
import type { Times, Values } from "./codec.js";

export const BLOCK = 16; /* points below one cell of the lowest level */
const FAN = 16; /* cells below one cell of the next level */

interface Level {
	lo: Values;
	hi: Values;
}

/* What extremes() and sums() found: of the caller, so that a frame makes no garbage. */
export interface Extremes {
	lo: number;
	hi: number;
}

export interface Sums {
	integral: number;
	covered_s: number;
}

function scan(low: Values, high: Values, from: number, to: number, ret: Extremes): void {
	let { lo, hi } = ret;
	for (let i = from; i < to; i++) {
		if (low[i] < lo) lo = low[i];
		if (high[i] > hi) hi = high[i];
	}
	ret.lo = lo;
	ret.hi = hi;
}

export class Chunk {
	readonly n: number;
	private readonly levels: Level[] = [];
	private readonly integral: Float64Array; /* of all points before block b */
	private readonly covered: Float64Array;

	/* Values that are NaN are not there. Of points lo, hi and mean are the same array. */
	constructor(
		readonly times: Times,
		readonly lo: Values,
		readonly hi: Values,
		readonly mean: Values,
		readonly per: number,
	) {
		this.n = times.n;
		const blocks = Math.ceil(this.n / BLOCK);
		this.integral = new Float64Array(blocks + 1);
		this.covered = new Float64Array(blocks + 1);
		this.sumUp(blocks);
		this.raise(blocks);
	}

	get bytes(): number {
		const values = this.lo === this.mean ? 1 : 3;
		return this.n * values * this.mean.BYTES_PER_ELEMENT + (this.n / BLOCK) * 24;
	}

	start(i: number): number {
		const { starts, ends, from } = this.times;
		return starts ? starts[i] : i === 0 ? from : ends[i - 1];
	}

	end(i: number): number {
		return this.times.ends[i];
	}

	/* The first point that ends behind t: n if there is none. */
	firstAfter(t: number): number {
		const { ends } = this.times;
		let low = 0;
		let high = this.n;
		while (low < high) {
			const middle = (low + high) >>> 1;
			if (ends[middle] > t) high = middle;
			else low = middle + 1;
		}
		return low;
	}

	/* Of points first … end - 1; lo > hi: there are none. */
	extremes(first: number, end: number, ret: Extremes): void {
		ret.lo = Infinity;
		ret.hi = -Infinity;
		let left = first;
		let right = end;
		let low = this.lo;
		let high = this.hi;
		let fan = BLOCK;
		for (const level of this.levels) {
			const from = Math.ceil(left / fan);
			const to = Math.floor(right / fan);
			if (to <= from) break;
			if (left < from * fan) scan(low, high, left, from * fan, ret);
			if (to * fan < right) scan(low, high, to * fan, right, ret);
			left = from;
			right = to;
			low = level.lo;
			high = level.hi;
			fan = FAN;
		}
		scan(low, high, left, right, ret);
	}

	/* Integral and covered time of whole points first … end - 1. */
	sums(first: number, end: number, ret: Sums): void {
		ret.integral = 0;
		ret.covered_s = 0;
		const from = Math.ceil(first / BLOCK);
		const to = Math.floor(end / BLOCK);
		if (to <= from) return this.add(first, end, ret);
		if (first < from * BLOCK) this.add(first, from * BLOCK, ret);
		ret.integral += this.integral[to] - this.integral[from];
		ret.covered_s += this.covered[to] - this.covered[from];
		if (to * BLOCK < end) this.add(to * BLOCK, end, ret);
	}

	private add(from: number, to: number, ret: Sums): void {
		const { mean } = this;
		const { ends } = this.times;
		for (let i = from; i < to; i++) {
			const value = mean[i];
			if (value !== value) continue;
			const length = ends[i] - this.start(i);
			ret.integral += value * length;
			ret.covered_s += length;
		}
	}

	private sumUp(blocks: number): void {
		const { mean, n } = this;
		const { ends, starts, from } = this.times;
		let before = from;
		let integral = 0;
		let covered = 0;
		for (let b = 0; b < blocks; b++) {
			this.integral[b] = integral;
			this.covered[b] = covered;
			const stop = Math.min(n, (b + 1) * BLOCK);
			for (let i = b * BLOCK; i < stop; i++) {
				const length = ends[i] - (starts ? starts[i] : before);
				before = ends[i];
				const value = mean[i];
				if (value !== value) continue;
				integral += value * length;
				covered += length;
			}
		}
		this.integral[blocks] = integral;
		this.covered[blocks] = covered;
	}

	private raise(blocks: number): void {
		let below: Level = { lo: this.lo, hi: this.hi };
		let length = this.n;
		let fan = BLOCK;
		for (let cells = blocks; length > fan; cells = Math.ceil(cells / FAN)) {
			const level: Level = { lo: this.lo.slice(0, cells), hi: this.hi.slice(0, cells) };
			for (let cell = 0; cell < cells; cell++) {
				const stop = Math.min(length, (cell + 1) * fan);
				let lo = Infinity;
				let hi = -Infinity;
				for (let i = cell * fan; i < stop; i++) {
					if (below.lo[i] < lo) lo = below.lo[i];
					if (below.hi[i] > hi) hi = below.hi[i];
				}
				level.lo[cell] = lo;
				level.hi[cell] = hi;
			}
			this.levels.push(level);
			below = level;
			length = cells;
			fan = FAN;
		}
	}
}
