/* The charts: one card a panel, in groups. */
import type { View } from "../state.js";
import type { Recordings } from "../store/recordings.js";

export function startCharts(view: View, store: Recordings): void {
	void view;
	void store;
}
