/* Pieces of curves: which of them show a time best, and their values, decoded when they are needed. */
import { Chunk } from "./chunk.js";
import { bytesOf, inflate, timesOf, valuesOf, type Times } from "./codec.js";

/* Where the blocks of one document are. */
export interface Source {
	width: 4 | 8;
	block(id: string): Promise<string>;
}

/* The instants of one piece of a base, for all series that have them. */
export class Instants {
	private times: Promise<Times> | null = null;

	constructor(
		readonly source: Source,
		readonly block: string,
		readonly n: number,
		readonly from: number,
		readonly end: number,
		readonly per: number,
	) {}

	load(): Promise<Times> {
		this.times ??= this.source
			.block(this.block)
			.then((text) => inflate(bytesOf(text)))
			.then((bytes) => timesOf(bytes, this.n));
		return this.times;
	}

	forget(): void {
		this.times = null;
	}
}

export class Piece {
	chunk: Chunk | null = null;
	used = 0; /* when it was needed last, ms */
	broken = false;
	private loading: Promise<void> | null = null;

	constructor(
		readonly instants: Instants | null, /* null: it lives in memory alone */
		readonly block: string,
		readonly from: number,
		readonly end: number,
		readonly per: number,
		readonly spacing: number, /* seconds a bucket */
	) {}

	load(): Promise<void> {
		const { instants } = this;
		if (this.chunk || this.broken || !instants) return Promise.resolve();
		this.loading ??= this.decode(instants).finally(() => (this.loading = null));
		return this.loading;
	}

	get idle(): boolean {
		return this.loading === null;
	}

	private async decode(instants: Instants): Promise<void> {
		try {
			const [times, text] = await Promise.all([instants.load(), instants.source.block(this.block)]);
			const bytes = await inflate(bytesOf(text));
			const { n, per, source } = instants;
			const part = (at: number) => valuesOf(bytes, at * n * source.width, n, source.width);
			const lo = part(0);
			this.chunk = per === 1 ? new Chunk(times, lo, lo, lo, 1) : new Chunk(times, lo, part(1), part(2), per);
		} catch (error) {
			this.broken = true;
			console.error(`block ${this.block} cannot be read`, error);
		}
	}
}

export interface Segment {
	piece: Piece;
	from: number;
	end: number;
}

/* Where the next piece of the same fineness goes on so soon, nothing coarser knows of that time. */
function reach(pieces: readonly Piece[], i: number): number {
	const next = pieces[i + 1];
	const { end, per, spacing } = pieces[i];
	if (!next || next.per !== per || next.from <= end) return end;
	let coarsest = spacing;
	for (const piece of pieces) if (piece.from <= end && piece.end >= next.from) coarsest = Math.max(coarsest, piece.spacing);
	return next.from - end <= 1.5 * coarsest ? next.from : end;
}

/* Takes out of `open` what the piece covers, and puts that into `ret`. */
function take(piece: Piece, end: number, open: Range[], ret: Segment[]): Range[] {
	const left: Range[] = [];
	for (const hole of open) {
		const from = Math.max(hole.from, piece.from);
		const to = Math.min(hole.end, end);
		if (to <= from) {
			left.push(hole);
			continue;
		}
		ret.push({ piece, from, end: to });
		if (hole.from < from) left.push({ from: hole.from, end: from });
		if (to < hole.end) left.push({ from: to, end: hole.end });
	}
	return left;
}

interface Range {
	from: number;
	end: number;
}

/*
 * What shows [from, end) best, in order of time: the coarsest that still has a bucket for each enough_s
 * seconds, else the finest. Pieces are in the order finest first, then by time.
 */
export function choose(pieces: readonly Piece[], from: number, end: number, enough_s: number,
	may: (piece: Piece) => boolean): Segment[] {
	const ret: Segment[] = [];
	let open: Range[] = [{ from, end }];
	const visit = (i: number): void => {
		const piece = pieces[i];
		if (piece.end <= from || piece.from >= end || !may(piece)) return;
		open = take(piece, reach(pieces, i), open, ret);
	};
	for (let i = pieces.length - 1; i >= 0 && open.length > 0; i--) if (pieces[i].spacing <= enough_s) visit(i);
	for (let i = 0; i < pieces.length && open.length > 0; i++) if (pieces[i].spacing > enough_s) visit(i);
	return ret.sort((a, b) => a.from - b.from);
}

export function inOrder(a: Piece, b: Piece): number {
	return a.per - b.per || a.from - b.from;
}
