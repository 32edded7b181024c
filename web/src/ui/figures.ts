/* What the curves come to in a range: the rows of the selection's table, and as text. Pure. */
import type { Series } from "../data.js";
import type { Range } from "../state.js";
import type { Figures, Store, StoredPanel } from "../store.js";
import { field, runLabel } from "./context.js";
import { visible } from "./dom.js";
import { NOTHING, duration, integral, integralOf, share, value } from "./format.js";

export interface FigureRow {
	run: number;
	panel: StoredPanel;
	series: Series;
	title: string; /* the panel's */
	label: string; /* the curve's, of which run */
	unit: string;
	figures: Figures | null;
	integral: number | null; /* in the unit's own figures: format.integral has its meaning */
	share: number | null; /* 0 to 1, of its panel's sum */
}

export type Column = "title" | "label" | "mean" | "min" | "max" | "integral" | "share" | "known";

function amount(series: Series, figures: Figures | null): number | null {
	if (!figures) return null;
	return figures.integral ?? (series.level ? figures.mean * figures.covered_s : null);
}

function shareRows(rows: FigureRow[]): void {
	const sums = new Map<number, number>();
	for (const row of rows)
		sums.set(row.run, (sums.get(row.run) ?? 0) + (amount(row.series, row.figures) ?? 0));
	for (const row of rows) {
		const own = amount(row.series, row.figures);
		const sum = sums.get(row.run) ?? 0;
		row.share = own !== null && sum > 0 ? own / sum : null;
	}
}

function rowsOfPanel(store: Store, panel: StoredPanel, range: Range): FigureRow[] {
	const rows = panel.series.map(({ run, series }): FigureRow => {
		const figures = store.figures(run, series, range);
		const label = runLabel(store, run);
		return {
			run,
			panel,
			series,
			title: visible(panel.panel.title),
			label: visible(series.label) + (label ? ` · ${visible(label)}` : ""),
			unit: panel.panel.unit,
			figures,
			integral: figures && !series.level ? figures.integral : null,
			share: null,
		};
	});
	if (panel.panel.shape === "stack") shareRows(rows);
	return rows;
}

/* Of those curves that `shown` lets through; shares are of all of a panel's. */
export function rowsOf(
	store: Store,
	range: Range,
	shown: (panel: StoredPanel, run: number, series: Series) => boolean,
): FigureRow[] {
	return store.panels
		.filter((panel) => panel.series.some(({ run, series }) => shown(panel, run, series)))
		.flatMap((panel) =>
			rowsOfPanel(store, panel, range).filter((row) => shown(panel, row.run, row.series)),
		);
}

function keyOf(row: FigureRow, column: Column): string | number | null {
	switch (column) {
		case "title":
			return row.title;
		case "label":
			return row.label;
		case "integral":
			return row.integral;
		case "share":
			return row.share;
		case "known":
			return row.figures?.covered_s ?? null;
		default:
			return row.figures ? row.figures[column] : null;
	}
}

/* What is not known comes last, whichever way. */
export function compareKeys(a: string | number | null, b: string | number | null, down: boolean): number {
	if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
	const order =
		typeof a === "string" && typeof b === "string"
			? a.localeCompare(b, "en", { numeric: true })
			: Number(a) - Number(b);
	return down ? -order : order;
}

export function sortRows(rows: readonly FigureRow[], column: Column | null, down: boolean): FigureRow[] {
	if (!column) return [...rows];
	return [...rows].sort((a, b) => compareKeys(keyOf(a, column), keyOf(b, column), down));
}

export function cellsOf(row: FigureRow): string[] {
	const { figures } = row;
	const about = figures && !figures.exact ? "≈ " : "";
	const print = (text: string): string => (text === NOTHING ? text : about + text);
	const most = figures ? Math.max(Math.abs(figures.min), Math.abs(figures.max)) : 0;
	return [
		print(value(row.unit, figures?.mean, most)),
		value(row.unit, figures?.min, most),
		value(row.unit, figures?.max),
		print(integral(row.unit, row.integral)),
		row.share === null ? NOTHING : share(row.share, 1),
	];
}

/* "0.31 s of 2.4 s": how much of the time has values, where that is not all of it. */
export function coverage(row: FigureRow, range: Range): string {
	const whole = range.end - range.from;
	if (!row.figures || row.figures.covered_s > whole * 0.995) return "";
	return `${duration(row.figures.covered_s)} of ${duration(whole)}`;
}

/* For sheets: as many digits as a float has, and what floats leave of nothing is nothing. */
export function bare(x: number | null | undefined): string {
	return x === null || x === undefined ? "" : Math.abs(x) < 1e-12 ? "0" : String(Number(x.toPrecision(9)));
}

/* A line a row, fields parted by tabs, numbers in base units: for sheets. */
export function figuresText(rows: readonly FigureRow[], range: Range): string {
	const lines = [`# ${bare(range.from)} s to ${bare(range.end)} s, ${bare(range.end - range.from)} s`];
	if (rows.some((row) => row.figures && !row.figures.exact)) lines.push("# figures are of buckets: about");
	lines.push("panel\tcurve\tunit\tmean\tmin\tmax\tsum\tsum of\tshare\tknown_s");
	for (const row of rows) {
		const { figures } = row;
		const sum = row.integral === null ? null : integralOf(row.unit, row.integral);
		lines.push(
			[
				field(row.title),
				field(row.label),
				row.unit,
				bare(figures?.mean),
				bare(figures?.min),
				bare(figures?.max),
				bare(sum?.value),
				sum?.unit ?? "",
				bare(row.share),
				bare(figures?.covered_s),
			].join("\t"),
		);
	}
	return `${lines.join("\n")}\n`;
}

/* CPU seconds of processes in the range, by processId; those without a curve of their own are not in it. */
export function processSeconds(store: Store, range: Range): Map<string, { cpu_s: number; exact: boolean }> {
	const all = new Map<string, { cpu_s: number; exact: boolean }>();
	for (const { panel, series } of store.panels) {
		if (panel.unit !== "pct_of_core") continue;
		for (const one of series) {
			const id = one.series.process;
			if (id === null || all.has(`${one.run}/${id}`)) continue;
			const figures = store.figures(one.run, one.series, range);
			if (figures?.integral !== null && figures?.integral !== undefined)
				all.set(`${one.run}/${id}`, { cpu_s: figures.integral / 100, exact: figures.exact });
		}
	}
	return all;
}
