/* What came in live of one curve: the newest points as they are, older ones in buckets, in bounded memory. */
import { Chunk } from "./chunk.js";
import { Piece } from "./pieces.js";

const POINTS = 8192; /* then the older half goes into buckets */
const BUCKETS = 8192; /* then neighbours are made one */

class Columns {
	n = 0;
	start: Float64Array;
	end: Float64Array;
	lo: Float32Array;
	hi: Float32Array;
	mean: Float32Array;

	constructor(room: number) {
		this.start = new Float64Array(room);
		this.end = new Float64Array(room);
		this.lo = new Float32Array(room);
		this.hi = new Float32Array(room);
		this.mean = new Float32Array(room);
	}

	put(start: number, end: number, lo: number, hi: number, mean: number): void {
		if (this.n === this.start.length) this.grow();
		const i = this.n++;
		this.start[i] = start;
		this.end[i] = end;
		this.lo[i] = lo;
		this.hi[i] = hi;
		this.mean[i] = mean;
	}

	/* Of rows first … end - 1 one, at the end of `to`. */
	mergeInto(first: number, end: number, to: Columns): void {
		let lo = Infinity;
		let hi = -Infinity;
		let sum = 0;
		let length = 0;
		for (let i = first; i < end; i++) {
			if (this.lo[i] < lo) lo = this.lo[i];
			if (this.hi[i] > hi) hi = this.hi[i];
			sum += this.mean[i] * (this.end[i] - this.start[i]);
			length += this.end[i] - this.start[i];
		}
		to.put(this.start[first], this.end[end - 1], lo, hi, length > 0 ? sum / length : this.mean[first]);
	}

	drop(count: number): void {
		for (const column of [this.start, this.end, this.lo, this.hi, this.mean]) column.copyWithin(0, count, this.n);
		this.n -= count;
	}

	chunk(per: number): Chunk {
		const { n } = this;
		const times = { n, from: this.start[0], ends: this.end.slice(0, n), starts: this.start.slice(0, n) };
		const mean = this.mean.slice(0, n);
		return per === 1 ? new Chunk(times, mean, mean, mean, 1)
			: new Chunk(times, this.lo.slice(0, n), this.hi.slice(0, n), mean, per);
	}

	private grow(): void {
		const wide = new Columns(this.start.length * 2);
		wide.start.set(this.start);
		wide.end.set(this.end);
		wide.lo.set(this.lo);
		wide.hi.set(this.hi);
		wide.mean.set(this.mean);
		this.start = wide.start;
		this.end = wide.end;
		this.lo = wide.lo;
		this.hi = wide.hi;
		this.mean = wide.mean;
	}
}

export class Tail {
	private readonly points = new Columns(256);
	private old = new Columns(16);
	private per = 16;
	private fine = 1; /* points in a row of `points`, at most: a server may send buckets, too */
	private made: Piece[] | null = null;

	/* before: where what is known from elsewhere ends, and how long the last of it is. */
	constructor(private before: { end: number; length: number }) {}

	/*
	 * Rows that are known already, of a server that repeats itself, are left out. Who sends parts does not know
	 * where the part before ended: gaps that are shorter than the row before are none.
	 */
	append(chunk: Chunk): void {
		this.fine = Math.max(this.fine, chunk.per);
		for (let i = 0; i < chunk.n; i++) {
			const end = chunk.end(i);
			if (end <= this.before.end) continue;
			let start = Math.max(chunk.start(i), this.before.end);
			if (i === 0 && start - this.before.end < this.before.length) start = this.before.end;
			this.points.put(start, end, chunk.lo[i], chunk.hi[i], chunk.mean[i]);
			this.before = { end, length: end - start };
			if (this.points.n >= POINTS) this.age();
		}
		this.made = null;
	}

	/* Made when they are asked for: most curves are out of sight. */
	pieces(): Piece[] {
		if (this.made) return this.made;
		this.made = [];
		for (const [columns, per] of [[this.points, this.fine], [this.old, this.per * this.fine]] as [Columns, number][]) {
			if (columns.n === 0) continue;
			const from = columns.start[0];
			const end = columns.end[columns.n - 1];
			const piece = new Piece(null, "", from, end, per, (end - from) / columns.n);
			piece.chunk = columns.chunk(per);
			this.made.push(piece);
		}
		return this.made;
	}

	private age(): void {
		const count = POINTS / 2;
		this.fold(this.points, count, this.per, this.old);
		this.points.drop(count);
		if (this.old.n < BUCKETS) return;
		const half = new Columns(BUCKETS);
		this.fold(this.old, this.old.n, 2, half);
		this.old = half;
		this.per *= 2;
	}

	/* Gaps that are wide part buckets. */
	private fold(from: Columns, count: number, per: number, to: Columns): void {
		let first = 0;
		for (let i = 1; i <= count; i++) {
			const wide = i < count && from.start[i] - from.end[i - 1] > from.end[i - 1] - from.start[first];
			if (i === count || wide || i - first === per) {
				from.mergeInto(first, i, to);
				first = i;
			}
		}
	}
}
