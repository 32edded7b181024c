/* The top of the page: what was run, how it went, what is not recorded, how fine the picture is. */
import { button, el, outside, visible } from "./dom.js";
import { comparison } from "./compare.js";
import type { Ui } from "./context.js";
import { copyText } from "./context.js";
import type { StoredRun } from "../store.js";

export type Outcome = "good" | "bad" | "unknown";

/* The report's row "result" begins with "exit status N", "killed by …" or says that it is not known. */
export function outcome(result: string): Outcome {
	const exit = /^exit status (\d+)/.exec(result);
	if (exit) return exit[1] === "0" ? "good" : "bad";
	return /killed|signal|crash|could not|failed/i.test(result) ? "bad" : "unknown";
}

const SIGNS: Record<Outcome, string> = { good: "✓", bad: "✕", unknown: "·" };

function result(text: string): HTMLElement {
	const how = outcome(text);
	return el(
		"span",
		{ class: `result result-${how}` },
		el("span", { class: "result-sign", "aria-hidden": "true" }, SIGNS[how]),
		how === "bad" && el("span", { class: "unseen" }, "failed: "),
		outside(text),
	);
}

function fact(name: string, text: string): HTMLElement {
	const warns = name === "WARNING";
	return el(
		"div",
		{ class: warns ? "fact fact-warns" : "fact" },
		el("dt", {}, warns ? "▲ Warning" : visible(name)),
		el("dd", {}, outside(text)),
	);
}

export function row(run: StoredRun, name: string): string | null {
	return run.head?.find(([head]) => head === name)?.[1] ?? null;
}

/* One line, whatever their number: their names; all of them on request. */
function notesOf(run: StoredRun, many: boolean): HTMLDetailsElement | null {
	const notes = run.notes ?? [];
	const [first] = notes;
	if (!first) return null;
	const list = el("dl", { class: "notes-list" });
	for (const [name, text] of notes)
		list.append(el("div", {}, el("dt", {}, outside(name)), el("dd", {}, outside(text))));
	const summary = el(
		"summary",
		{},
		el("span", { class: "notes-title" }, many ? `${visible(run.label)}: not recorded` : "Not recorded"),
	);
	if (notes.length === 1) summary.append(outside(first[0]), " – ", outside(first[1]));
	else
		summary.append(
			outside([...new Set(notes.map(([name]) => name))].join(", "), { class: "notes-names" }),
		);
	return el("details", { class: "notes" }, summary, list);
}

function openReport(ui: Ui, run: StoredRun): void {
	const text = run.report ?? "";
	const dialog = el("dialog", { class: "sheet report", "aria-label": "the whole report" });
	dialog.append(
		el(
			"div",
			{ class: "sheet-head" },
			el("h2", {}, "Report"),
			button("Copy", "copy the report", () => void copyText(ui, text, "report"), { class: "button" }),
			button("Close", "close the report", () => dialog.close(), { class: "button" }),
		),
		el(
			"pre",
			{ class: "report-text", tabindex: 0 },
			visible(text.replace(/\r\n/g, "\n")).replace(/␊/g, "\n").replace(/␉/g, "\t"),
		),
	);
	dialog.addEventListener("close", () => dialog.remove());
	document.body.append(dialog);
	dialog.showModal();
}

function reportButtons(ui: Ui): HTMLElement[] {
	const runs = ui.store.runs.filter((run) => run.report);
	return runs.map((run) =>
		button(
			runs.length > 1 ? `Report ${visible(run.label)}` : "Whole report",
			"show the whole report as text",
			() => openReport(ui, run),
			{ class: "link-button" },
		),
	);
}

function factsOf(ui: Ui, run: StoredRun): HTMLElement {
	const facts = el("dl", { class: "facts" });
	for (const [name, text] of run.head ?? []) {
		if (name === "command" || name === "result") continue;
		/* Of course it is: the page is live. */
		if (name === "WARNING" && ui.store.document.live && text.startsWith("unfinished")) continue;
		facts.append(fact(name, text));
	}
	return facts;
}

function single(ui: Ui, run: StoredRun | undefined): HTMLElement[] {
	const title = ui.store.document.title || (run && row(run, "command")) || "a recording";
	const how = run && row(run, "result");
	const line = el("div", { class: "title-line" }, el("h1", {}, outside(title)));
	if (how) line.append(result(how));
	return run ? [line, factsOf(ui, run)] : [line];
}

function several(ui: Ui): HTMLElement[] {
	const title = el("h1", {}, outside(ui.store.document.title || "recordings compared"));
	return [el("div", { class: "title-line" }, title), comparison(ui.store, result)];
}

/* A recording of events alone: that there are no charts is no fault of the page. */
function nothingElse(ui: Ui): HTMLElement | null {
	const { runs, panels } = ui.store;
	const some = runs.find((run) => run.regions?.name.length || run.marks?.name.length);
	if (!some || panels.length > 0 || runs.some((run) => run.processes?.length)) return null;
	return el("p", { class: "nothing-else" }, "Nothing else was recorded: regions and marks are all there is.");
}

/* Fills the header anew: a live page does that whenever the recording says more. */
export function fillHead(ui: Ui, header: HTMLElement): void {
	const { runs, document: page } = ui.store;
	const many = runs.length > 1;
	const open = [...header.querySelectorAll<HTMLDetailsElement>("details.notes")].map((details) => details.open);
	const notes = runs.map((run) => notesOf(run, many)).filter((note) => note !== null);
	notes.forEach((note, i) => (note.open = open[i] ?? false));
	const foot = el(
		"div",
		{ class: "head-foot" },
		el(
			"span",
			{ class: "resolution", title: "how fine the values on this page are" },
			visible(page.resolution),
		),
		...reportButtons(ui),
		el("span", { class: "generator" }, visible(page.generator)),
	);
	const head = many ? several(ui) : single(ui, runs[0]);
	const nothing = nothingElse(ui);
	header.replaceChildren(...head, ...(nothing ? [nothing] : []), ...notes, foot);
}
