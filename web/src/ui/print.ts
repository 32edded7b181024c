/* Paper: light, every panel, and the processes that used most as a plain table. */
import { type Ui, runLabel } from "./context.js";
import { el, outside, visible } from "./dom.js";
import { bytes, duration, instant } from "./format.js";
import { rangeText } from "./selection.js";

const TOP = 30;
const EARLY = "▲ Printed before all values were read: curves may be missing. Print it once more.";

function processList(ui: Ui): HTMLElement | null {
	const all = ui.store.runs.flatMap((run) => (run.processes ?? []).map((process) => ({ run, process })));
	if (all.length === 0) return null;
	all.sort((a, b) => (b.process.cpu_s ?? -1) - (a.process.cpu_s ?? -1));
	const span = ui.view.full.end - ui.view.full.from;
	const rows = all.slice(0, TOP).map(({ run, process }) => {
		const label = runLabel(ui.store, run.index);
		return el(
			"tr",
			{},
			el("td", {}, label && `${visible(label)}: `, outside(process.name)),
			el("td", { class: "number" }, String(process.pid)),
			el("td", { class: "print-command" }, outside(process.command.slice(0, 160))),
			...[
				instant(process.start_s - run.shift_s, span),
				duration((process.end_s ?? run.length_s) - process.start_s),
				duration(process.cpu_s),
				bytes(process.rss_peak_bytes),
				bytes(process.read_bytes),
				bytes(process.written_bytes),
			].map((text) => el("td", { class: "number" }, text)),
			el("td", {}, outside(process.status)),
		);
	});
	const heads = [
		"process",
		"pid",
		"command",
		"start",
		"life",
		"CPU",
		"peak RSS",
		"read",
		"written",
		"status",
	];
	const head = el("tr", {}, ...heads.map((name) => el("th", { scope: "col" }, name)));
	const title = all.length > TOP ? `The ${TOP} of ${all.length} processes that used most CPU` : "Processes";
	return el(
		"section",
		{ class: "print-only print-processes" },
		el("h2", {}, title),
		el("table", {}, el("thead", {}, head), el("tbody", {}, ...rows)),
	);
}

/* What the bar says on the screen: which part of the time the paper shows. */
function rangeLine(ui: Ui): HTMLElement {
	const { range, full } = ui.view;
	const length = range.end - range.from;
	const isAll = length >= (full.end - full.from) * 0.999;
	return el(
		"p",
		{ class: "print-only print-range" },
		isAll
			? `All of the recording: ${duration(length)}`
			: `${rangeText(range, length)}, ${duration(length)} of ${duration(full.end - full.from)}`,
	);
}

/* Ready: all that paper shows is read, whether it was in sight or not. */
export function startPrint(ui: Ui, ready: Promise<void>): void {
	let added: HTMLElement[] = [];
	let isReady = false;
	const begin = (): void => {
		if (ui.view.printing) return;
		const list = processList(ui);
		const lines = [rangeLine(ui)];
		if (!isReady) lines.push(el("p", { class: "print-only print-warns" }, EARLY));
		document.getElementById("top")?.append(...lines);
		if (list) document.getElementById("panels")?.after(list);
		added = list ? [...lines, list] : lines;
		/* Plots get the width that they have on paper; then they are drawn. */
		document.documentElement.classList.add("paper");
		ui.view.setPrinting(true);
	};
	const end = (): void => {
		for (const element of added) element.remove();
		added = [];
		document.documentElement.classList.remove("paper");
		ui.view.setPrinting(false);
	};
	void ready.then(() => (isReady = true));
	addEventListener("beforeprint", begin);
	addEventListener("afterprint", end);
}
