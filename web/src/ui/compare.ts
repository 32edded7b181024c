/* Recordings side by side: the first lines of their reports, and how their main figures differ. */
import type { Store, StoredRun } from "../store.js";
import { el, outside, visible } from "./dom.js";
import { NOTHING, bytes, duration, value } from "./format.js";

interface Figure {
	name: string;
	values: (number | null)[];
	print: (x: number) => string;
}

function sumOf(run: StoredRun, of: "cpu_s" | "read_bytes" | "written_bytes"): number | null {
	const known = (run.processes ?? []).map((process) => process[of]).filter((x) => x !== null);
	return known.length ? known.reduce((sum, x) => sum + x, 0) : null;
}

function peakOf(run: StoredRun): number | null {
	const known = (run.processes ?? []).map((process) => process.rss_peak_bytes).filter((x) => x !== null);
	return known.length ? Math.max(...known) : null;
}

function seriesMean(run: StoredRun, panel: string, key: string): number | null {
	const found = run.panels.find((one) => one.id === panel)?.series.find((one) => one.key === key);
	return found?.mean ?? null;
}

function figuresOf(runs: readonly StoredRun[]): Figure[] {
	const of = (
		name: string,
		print: (x: number) => string,
		from: (run: StoredRun) => number | null,
	): Figure => ({
		name,
		print,
		values: runs.map(from),
	});
	const figures = [
		of("length", duration, (run) => run.length_s),
		of("processes", String, (run) => run.processes?.length ?? null),
		of("CPU of processes", duration, (run) => sumOf(run, "cpu_s")),
		of("largest process", bytes, peakOf),
		of("read by processes", bytes, (run) => sumOf(run, "read_bytes")),
		of("written by processes", bytes, (run) => sumOf(run, "written_bytes")),
	];
	for (const panel of runs[0]?.panels.filter((one) => one.group === "Machine").slice(0, 6) ?? [])
		for (const series of panel.series.slice(0, panel.shape === "heat" ? 0 : 2))
			figures.push(
				of(
					`${visible(panel.title)}: ${visible(series.label)}, mean`,
					(x) => value(panel.unit, x),
					(run) => seriesMean(run, panel.id, series.key),
				),
			);
	return figures.filter((figure) => figure.values.filter((x) => x !== null).length > 1);
}

/* "+12.3 %", and by how much: what of two figures tells them apart. */
export function difference(a: number | null, b: number | null, print: (x: number) => string): string {
	if (a === null || b === null) return NOTHING;
	if (a === b) return "=";
	const sign = b > a ? "+" : "−";
	const by = `${sign}${print(Math.abs(b - a))}`;
	const percent = (100 * Math.abs(b - a)) / Math.abs(a);
	return a !== 0 && percent >= 0.05 ? `${by} (${sign}${percent.toFixed(1)} %)` : by;
}

function headRows(runs: readonly StoredRun[], result: (text: string) => HTMLElement): HTMLElement[] {
	const names = new Set<string>();
	for (const run of runs) for (const [name] of run.head ?? []) names.add(name);
	return [...names].map((name) => {
		const cells = runs.map((run) => {
			const text = run.head?.find(([head]) => head === name)?.[1];
			return el(
				"td",
				{},
				text === undefined ? NOTHING : name === "result" ? result(text) : outside(text),
			);
		});
		return el("tr", {}, el("th", { scope: "row" }, visible(name)), ...cells);
	});
}

function figureRow(figure: Figure, two: boolean): HTMLElement {
	const cells = figure.values.map((x) =>
		el("td", { class: "number" }, x === null ? NOTHING : figure.print(x)),
	);
	const row = el("tr", {}, el("th", { scope: "row" }, figure.name), ...cells);
	if (two)
		row.append(
			el(
				"td",
				{ class: "number difference" },
				difference(figure.values[0] ?? null, figure.values[1] ?? null, figure.print),
			),
		);
	return row;
}

function headRow(runs: readonly StoredRun[]): HTMLElement {
	const heads = runs.map((run, i) => {
		const host = run.host && run.host !== run.label ? outside(run.host, { class: "dim" }) : null;
		return el("th", { scope: "col", class: `run run-${i % 4}` }, outside(run.label), host && " ", host);
	});
	return el("tr", {}, el("td", {}), ...heads);
}

function boxed(label: string, head: HTMLElement, rows: readonly HTMLElement[]): HTMLElement {
	const table = el("table", { class: "compare" }, el("thead", {}, head), el("tbody", {}, ...rows));
	return el("div", { class: "compare-box", role: "region", "aria-label": label, tabindex: 0 }, table);
}

export function comparison(store: Store, result: (text: string) => HTMLElement): HTMLElement {
	const { runs } = store;
	const two = runs.length === 2;
	const head = headRow(runs);
	const boxes = [boxed("recordings side by side", head, headRows(runs, result))];
	const figures = figuresOf(runs).map((figure) => figureRow(figure, two));
	const figuresHead = headRow(runs);
	if (two) figuresHead.append(el("th", { scope: "col" }, "difference"));
	if (figures.length) boxes.push(boxed("figures side by side", figuresHead, figures));
	return el("div", { class: "compare-boxes" }, ...boxes);
}
