/* Marks that stand too close to be told apart, as one: for the lanes and for lines across the panels. */
import type { StoredRun } from "../store.js";

const APART = 10; /* pixels: what is closer is one */

/* Marks first … first + count - 1 in order of time, from x to end. */
export interface Cluster {
	x: number;
	end: number;
	first: number;
	count: number;
}

/* at: sorted pixels. Chains of neighbours that are close: where one ends there is room. */
export function clustersOf(at: ArrayLike<number>): Cluster[] {
	const ret: Cluster[] = [];
	let last: Cluster | null = null;
	for (let i = 0; i < at.length; i++) {
		if (last && at[i] - last.end < APART) {
			last.end = at[i];
			last.count++;
		} else ret.push((last = { x: at[i], end: at[i], first: i, count: 1 }));
	}
	return ret;
}

const orders = new WeakMap<object, number[]>();

/* The marks of a run in order of time. */
export function inTime(run: StoredRun): number[] {
	const { marks } = run;
	if (!marks) return [];
	let order = orders.get(marks);
	if (order?.length !== marks.at.length) {
		order = marks.at.map((_, i) => i).sort((a, b) => marks.at[a] - marks.at[b]);
		orders.set(marks, order);
	}
	return order;
}

/* Pixels where a line stands across the panels: of marks that stand alone, or as good as. */
export function lonely(clusters: readonly Cluster[], width: number): number[] {
	return clusters.filter(({ x, end }) => end - x < APART && x >= 0 && x <= width).map(({ x }) => Math.round(x));
}
