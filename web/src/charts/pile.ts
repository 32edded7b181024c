/* Curves on top of each other, column by column, and how high their sum was. */
import type { Drawn } from "./paint.js";
import type { Cells } from "./sample.js";

/* Means of one curve, on top of what is below it, for each column. */
export interface Layer {
	drawn: Drawn;
	top: Float64Array;
	bottom: Float64Array;
}

export interface Pile {
	layers: Layer[];
	peak: Float64Array; /* the highest that the sum was within the column */
	known: Uint8Array; /* is there anything in that column */
	top: number; /* the highest of the means' sums */
	high: number; /* and of the highest sums */
}

/*
 * Of one run: sums of two runs would be of nothing. The highest of each curve were not at once: `total` is the
 * curve of the sum; without it none is known.
 */
export function pile(drawn: readonly Drawn[], width: number, total: Cells | null): Pile {
	const columns = Math.ceil(width);
	const peak = new Float64Array(columns);
	const known = new Uint8Array(columns);
	const layers: Layer[] = [];
	let sum = new Float64Array(columns);
	for (const one of drawn) {
		const { cells } = one;
		const top = sum.slice();
		const done = new Uint8Array(columns);
		for (let i = 0; i < cells.n; i++) {
			const column = Math.floor(cells.x0[i] + 1e-6);
			if (column < 0 || column >= columns || done[column]) continue;
			done[column] = 1;
			known[column] = 1;
			top[column] += cells.mean[i];
		}
		layers.push({ drawn: one, top, bottom: sum });
		sum = top;
	}
	for (let i = 0; total && i < total.n; i++) {
		const column = Math.floor(total.x0[i] + 1e-6);
		if (column >= 0 && column < columns) peak[column] = Math.max(peak[column], total.own[i]);
	}
	let top = 0;
	let high = 0;
	for (let i = 0; i < columns; i++) {
		top = Math.max(top, sum[i]);
		high = Math.max(high, sum[i], peak[i]);
	}
	return { layers, peak, known, top, high };
}
