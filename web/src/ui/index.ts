/* What is around the charts: header, tools, tables, keys, links, live news. */
import type { View } from "../state.js";
import type { Store } from "../store.js";
import { type Ui, watcher } from "./context.js";
import { Dock } from "./dock.js";
import { el, settled } from "./dom.js";
import { fillHead } from "./head.js";
import { openHelp, startKeys } from "./keys.js";
import { startLinks } from "./links.js";
import { Live } from "./live.js";
import { Picker } from "./picker.js";
import { startPrint } from "./print.js";
import { ProcessTable } from "./process_table.js";
import { RegionTable } from "./region_table.js";
import { SearchBox } from "./search_box.js";
import { Selection } from "./selection.js";
import { nextTheme, startTheme } from "./theme.js";
import { fillTools } from "./tools.js";
import { Walk } from "./walk.js";

const SAY_MS = 4000;
const TALL = 1000;

/* The parts of the page that main lays out; what is missing is made. */
function part(tag: "header" | "nav" | "main" | "section", id: string): HTMLElement {
	const known = document.getElementById(id);
	if (known) return known;
	const made = el(tag, { id });
	document.body.append(made);
	return made;
}

function sayer(): (text: string) => void {
	const box = el("div", { class: "say", role: "status", "aria-live": "polite" });
	document.body.append(box);
	const fade = settled(SAY_MS, () => box.classList.remove("say-shown"));
	return (text) => {
		box.textContent = text;
		box.classList.add("say-shown");
		fade();
	};
}

function escape(ui: Ui, picker: Picker, dock: Dock): void {
	const { view } = ui;
	if (!picker.element.hidden) picker.toggle();
	else if (view.selection) {
		view.setSelection(null);
		view.setProcess(null);
	} else if (view.process) view.setProcess(null);
	else dock.show(null);
	if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
}

function watchHead(ui: Ui): void {
	const header = part("header", "top");
	const fill = (): void => fillHead(ui, header);
	fill();
	const isNew = watcher(() => [
		ui.store.document.resolution,
		...ui.store.runs.flatMap((run) => [run.head, run.notes, run.report]),
	]);
	isNew();
	ui.view.on(
		"data",
		settled(500, () => {
			if (isNew()) fill();
		}),
	);
}

/* Ready: all values that a first look needs are read and drawn. */
export function startUi(view: View, store: Store, ready: Promise<void>): void {
	startTheme(view);
	const ui: Ui = { view, store, followAll: null, say: sayer() };
	watchHead(ui);
	const nav = part("nav", "tools");
	part("main", "panels");
	const dock = new Dock();
	part("section", "below").append(dock.element);
	const walk = new Walk(ui);
	const processes = new ProcessTable(ui, dock);
	new RegionTable(ui, dock, walk);
	if (innerHeight >= TALL && store.runs.length === 1)
		dock.show(
			walk.names().length && !store.runs.some((run) => run.processes?.length) ? "regions" : "processes",
		);
	const selection = new Selection(ui, dock);
	const picker = new Picker(ui);
	const links = startLinks(ui);
	const live = store.document.kind === "page" ? null : new Live(ui);
	const search = new SearchBox(ui, walk, processes);
	const { panelsButton } = fillTools(ui, nav, {
		links,
		search,
		picker,
		help: openHelp,
		live: live?.element ?? null,
	});
	new ResizeObserver(() => {
		document.documentElement.style.setProperty("--tools-height", `${nav.offsetHeight}px`);
	}).observe(nav);
	startPrint(ui, ready);
	startKeys({
		ui,
		undo: () => links.undo(),
		search: () => search.focus(),
		help: openHelp,
		panels: () => picker.toggle(panelsButton),
		theme: () => nextTheme(view),
		copy: () => selection.copy(),
		escape: () => escape(ui, picker, dock),
		follow: () =>
			live ? live.toggleFollow() : ui.say("this recording is over: there is nothing to follow"),
		zoomToSelection: () => selection.zoom(),
		stepName: (by) => walk.step(by),
		neighbour: (by) => walk.neighbour(by),
		tab: (id) =>
			id === "selection" && !view.selection
				? ui.say("select a time first: drag over a chart")
				: dock.toggle(id),
	});
}
