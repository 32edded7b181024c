/* Recordings side by side: a line each with its main figures, and by how much they differ; the rest on request. */
import type { Store, StoredRun } from "../store.js";
import { el, outside, visible } from "./dom.js";
import { NOTHING, bytes, duration, value } from "./format.js";

interface Figure {
	name: string;
	values: (number | null)[];
	print: (x: number) => string;
	printDifference: (x: number) => string;
}

type Sum = "cpu_s" | "read_bytes" | "written_bytes";
type Known = "cpu_s" | "rss_peak_bytes" | "read_bytes" | "written_bytes";

function known(run: StoredRun, of: Known): number[] {
	return (run.processes ?? []).map((process) => process[of]).filter((x) => x !== null);
}

function sumOf(run: StoredRun, of: Sum): number | null {
	const all = known(run, of);
	return all.length ? all.reduce((sum, x) => sum + x, 0) : null;
}

function peakOf(run: StoredRun): number | null {
	return known(run, "rss_peak_bytes").reduce<number | null>((most, x) => Math.max(most ?? x, x), null);
}

function seriesMean(run: StoredRun, panel: string, key: string): number | null {
	const found = run.panels.find((one) => one.id === panel)?.series.find((one) => one.key === key);
	return found?.mean ?? null;
}

function figure(
	runs: readonly StoredRun[],
	name: string,
	print: (x: number) => string,
	from: (run: StoredRun) => number | null,
	printDifference = print,
): Figure {
	return { name, print, printDifference, values: runs.map(from) };
}

/* Of which one run at least knows something. */
function comparable(figures: readonly Figure[]): Figure[] {
	return figures.filter(({ values }) => values.some((x) => x !== null));
}

function mainFigures(runs: readonly StoredRun[]): Figure[] {
	return [
		figure(runs, "length", duration, (run) => run.length_s),
		...comparable([
			/* None at all is none recorded: whoever records processes has the first one. */
			figure(runs, "processes", String, (run) => run.processes?.length || null),
			figure(runs, "CPU of processes", duration, (run) => sumOf(run, "cpu_s")),
			figure(runs, "largest process", bytes, peakOf),
			figure(runs, "read", bytes, (run) => sumOf(run, "read_bytes")),
			figure(runs, "written", bytes, (run) => sumOf(run, "written_bytes")),
		]),
	];
}

/* Of percents "+2.25 pp": percentage points, which are no percents of anything. */
export function points(unit: string, x: number): string {
	return value(unit, x).replace(/%$/, "pp");
}

function meanFigures(runs: readonly StoredRun[]): Figure[] {
	const figures: Figure[] = [];
	for (const panel of runs[0]?.panels.filter((one) => one.group === "Machine").slice(0, 6) ?? [])
		for (const series of panel.series.slice(0, panel.shape === "heat" ? 0 : 2))
			figures.push(
				figure(
					runs,
					`${visible(panel.title)}: ${visible(series.label)}, mean`,
					(x) => value(panel.unit, x),
					(run) => seriesMean(run, panel.id, series.key),
					(x) => points(panel.unit, x),
				),
			);
	return comparable(figures);
}

/* "+12.3 s (+4.5 %)", and by how much: what of two figures tells them apart. */
export function difference(a: number | null, b: number | null, print: (x: number) => string): string {
	if (a === null || b === null) return NOTHING;
	if (a === b) return "=";
	const sign = b > a ? "+" : "−";
	const amount = print(Math.abs(b - a));
	if (/^0(\s|$)/.test(amount)) return "=";
	const percent = (100 * Math.abs(b - a)) / Math.abs(a);
	return a !== 0 && percent >= 0.05 ? `${sign}${amount} (${sign}${percent.toFixed(1)} %)` : sign + amount;
}

function differenceOf({ values, printDifference }: Figure): string {
	return difference(values[0] ?? null, values[1] ?? null, printDifference);
}

function cellOf({ values, print }: Figure, i: number): HTMLElement {
	const x = values[i] ?? null;
	return el("td", { class: "number" }, x === null ? NOTHING : print(x));
}

function named(run: StoredRun): HTMLElement {
	const host = run.host && run.host !== run.label ? outside(run.host, { class: "dim" }) : null;
	return el("th", { scope: "row", class: `run run-${run.index % 4}` }, outside(run.label), host && " ", host);
}

function resultOf(run: StoredRun): string | undefined {
	return run.head?.find(([name]) => name === "result")?.[1];
}

function boxed(label: string, head: HTMLElement, rows: readonly HTMLElement[]): HTMLElement {
	const table = el("table", { class: "compare" }, el("thead", {}, head), el("tbody", {}, ...rows));
	return el("div", { class: "compare-box", role: "region", "aria-label": label, tabindex: 0 }, table);
}

/* A line a run: what is seen at once of three runs is four lines. */
function lines(runs: readonly StoredRun[], result: (text: string) => HTMLElement): HTMLElement {
	const figures = mainFigures(runs);
	const head = el("tr", {}, el("td", { class: "dim" }, "of the whole runs"), el("th", { scope: "col" }, "result"));
	head.append(...figures.map(({ name }) => el("th", { scope: "col", class: "number" }, name)));
	const rows = runs.map((run, i) => {
		const how = resultOf(run);
		const cells = figures.map((one) => cellOf(one, i));
		return el("tr", {}, named(run), el("td", {}, how === undefined ? NOTHING : result(how)), ...cells);
	});
	if (runs.length === 2) {
		const cells = figures.map((one) => el("td", { class: "number" }, differenceOf(one)));
		rows.push(el("tr", { class: "difference" }, el("th", { scope: "row" }, "difference"), el("td", {}), ...cells));
	}
	return boxed("recordings side by side", head, rows);
}

function headRows(runs: readonly StoredRun[]): HTMLElement[] {
	const names = new Set<string>();
	for (const run of runs) for (const [name] of run.head ?? []) names.add(name);
	names.delete("result");
	return [...names].map((name) => {
		const cells = runs.map((run) => {
			const text = run.head?.find(([head]) => head === name)?.[1];
			return el("td", {}, text === undefined ? NOTHING : outside(text));
		});
		return el("tr", {}, el("th", { scope: "row" }, visible(name)), ...cells);
	});
}

function meanRow(one: Figure, i: number, two: boolean): HTMLElement {
	const row = el("tr", { "data-mean": i }, el("th", { scope: "row" }, one.name));
	row.append(...one.values.map((_, k) => cellOf(one, k)));
	if (two) row.append(el("td", { class: "number difference" }, differenceOf(one)));
	return row;
}

function columns(runs: readonly StoredRun[], corner: string): HTMLElement {
	const heads = runs.map((run) => {
		const head = named(run);
		head.setAttribute("scope", "col");
		return head;
	});
	return el("tr", {}, el("td", { class: "dim" }, corner), ...heads);
}

/* All that their reports begin with, and what their curves come to. */
function rest(runs: readonly StoredRun[]): HTMLElement {
	const boxes = [boxed("heads side by side", columns(runs, ""), headRows(runs))];
	const means = meanFigures(runs).map((one, i) => meanRow(one, i, runs.length === 2));
	if (means.length) {
		const head = columns(runs, "of the whole runs");
		if (runs.length === 2) head.append(el("th", { scope: "col", class: "number" }, "difference"));
		boxes.push(boxed("means side by side", head, means));
	}
	return el(
		"details",
		{ class: "compare-rest" },
		el("summary", {}, "More of them: machines, means"),
		el("div", { class: "compare-boxes" }, ...boxes),
	);
}

function warnings(runs: readonly StoredRun[]): HTMLElement[] {
	return runs.flatMap((run) =>
		(run.head ?? [])
			.filter(([name]) => name === "WARNING")
			.map(([, text]) =>
				el("p", { class: "fact-warns compare-warns" }, "▲ ", outside(run.label), ": ", outside(text)),
			),
	);
}

export function comparison({ runs }: Store, result: (text: string) => HTMLElement): HTMLElement {
	return el("div", {}, lines(runs, result), ...warnings(runs), rest(runs));
}
