/* Beside the lanes: the names of regions and marks, how often there was one in what is seen, how long together. */
import { formatDuration } from "../format.js";
import type { StoredRun } from "../store.js";
import { visible } from "../ui/dom.js";
import { part, type Stage } from "./stage.js";

const MOST = 50; /* rows of a run */
const ON_PAPER = 20;
const ROW = 17;
const SOON_MS = 120;

interface Sum {
	name: string;
	count: number;
	length_s: number;
}

/* Of regions that reach into [from, end), as much of them as does. */
export function sumsOf(run: StoredRun, from: number, end: number): Sum[] {
	const { regions, length_s, shift_s } = run;
	const sums = new Map<number, Sum>();
	regions?.name.forEach((place, i) => {
		const a = regions.start[i] - shift_s;
		const b = (regions.end[i] ?? length_s) - shift_s;
		if (a > end || b < from || (a === end && b > a)) return;
		const sum = sums.get(place) ?? { name: regions.names[place] ?? "", count: 0, length_s: 0 };
		sum.count++;
		sum.length_s += Math.min(b, end) - Math.max(a, from);
		sums.set(place, sum);
	});
	return [...sums.values()].sort((a, b) => b.length_s - a.length_s);
}

export function countsOf(run: StoredRun, from: number, end: number): Sum[] {
	const { marks, shift_s } = run;
	const sums = new Map<number, Sum>();
	marks?.at.forEach((at, i) => {
		if (at - shift_s < from || at - shift_s > end) return;
		const sum = sums.get(marks.name[i]) ?? { name: marks.names[marks.name[i]] ?? "", count: 0, length_s: 0 };
		sum.count++;
		sums.set(marks.name[i], sum);
	});
	return [...sums.values()].sort((a, b) => b.count - a.count);
}

function rowOf(swatch: HTMLElement, { name, count, length_s }: Sum, long: boolean): HTMLElement {
	const row = part("div", "row");
	row.append(swatch, part("span", "label", visible(name)), part("span", "number", String(count)),
		part("span", "number", long ? formatDuration(length_s) : ""));
	row.title = visible(name);
	return row;
}

function headOf(name: string, more: string): HTMLElement {
	const head = part("div", "row head");
	head.append(part("span", "swatch"), part("span", "label", name), part("span", "number", "count"), part("span", "number", more));
	return head;
}

export class Names {
	readonly element = part("div", "legend");
	private timer = 0;
	private shown = "";

	/* As high as the lanes, or as a few rows: what is behind these is scrolled to. */
	fit(runs: readonly StoredRun[], high: number): void {
		let rows = 0;
		for (const { regions, marks } of runs) {
			const names = (regions?.names.length ? 1 + regions.names.length : 0) + (marks?.names.length ? 1 + marks.names.length : 0);
			rows += names + (names > 0 && runs.length > 1 ? 1 : 0);
		}
		this.element.style.setProperty("--high", `${Math.max(high, Math.min(rows, 6) * ROW + 4)}px`);
		this.shown = "";
	}

	/* Of what is seen: soon, as it may go on moving. */
	show(stage: Stage): void {
		clearTimeout(this.timer);
		if (stage.view.printing || this.shown === "") this.fill(stage);
		else this.timer = window.setTimeout(() => this.fill(stage), SOON_MS);
	}

	private fill({ store, view, colours }: Stage): void {
		const { from, end } = view.range;
		const theme = document.documentElement.dataset.theme ?? "";
		const most = view.printing ? ON_PAPER : MOST;
		const now = `${from} ${end} ${theme} ${most}`;
		if (now === this.shown) return;
		this.shown = now;
		const rows: HTMLElement[] = [];
		for (const run of store.runs) {
			const regions = sumsOf(run, from, end);
			const marks = countsOf(run, from, end);
			if (store.runs.length > 1 && (run.regions?.id.length || run.marks?.at.length)) rows.push(part("div", "caption", visible(run.label)));
			if (regions.length > 0) rows.push(headOf("region", "together"));
			for (const sum of regions.slice(0, most)) {
				const swatch = part("span", "swatch");
				swatch.style.background = colours.region(sum.name);
				rows.push(rowOf(swatch, sum, true));
			}
			if (marks.length > 0) rows.push(headOf("mark", ""));
			for (const sum of marks.slice(0, most)) rows.push(rowOf(part("span", "flag", "▸"), sum, false));
			for (const [what, all] of [["regions", regions], ["marks", marks]] as const)
				if (all.length > most) rows.push(part("div", "row more", `${all.length - most} more names of ${what}`));
		}
		this.element.replaceChildren(...rows);
	}
}
