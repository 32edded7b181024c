/* Beside the lanes: the names of regions, how often there was one and how long together. */
import { formatDuration, plainText } from "../format.js";
import type { StoredRun } from "../store.js";
import type { Colours } from "./colours.js";
import { part } from "./stage.js";

const MOST = 200;

export class Names {
	readonly element = part("div", "legend");

	fill(runs: readonly StoredRun[], colours: Colours, high: number): void {
		const sums = new Map<string, { count: number; length_s: number }>();
		for (const { regions, length_s } of runs)
			regions?.name.forEach((place, i) => {
				const name = regions.names[place] ?? "";
				const sum = sums.get(name) ?? { count: 0, length_s: 0 };
				sum.count++;
				sum.length_s += (regions.end[i] ?? length_s) - regions.start[i];
				sums.set(name, sum);
			});
		const head = part("div", "row head");
		head.append(part("span", "swatch"), part("span", "label", "region"), part("span", "number", "count"), part("span", "number", "together"));
		const rows = [...sums].sort(([, a], [, b]) => b.length_s - a.length_s).slice(0, MOST).map(([name, { count, length_s }]) => {
			const row = part("div", "row");
			const swatch = part("span", "swatch");
			swatch.style.background = colours.region(name);
			row.append(swatch, part("span", "label", plainText(name)), part("span", "number", String(count)), part("span", "number", formatDuration(length_s)));
			row.title = plainText(name);
			return row;
		});
		this.element.replaceChildren(...(rows.length > 0 ? [head, ...rows] : []));
		this.element.style.setProperty("--high", `${high}px`);
	}
}
