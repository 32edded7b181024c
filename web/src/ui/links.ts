/* Keeps the link in step with the view, and the view with the link: who has it sees the same. */
import { settled, visible } from "./dom.js";
import { duration } from "./format.js";
import { EMPTY, type Link, parseHash, printHash, printRange } from "./hash.js";
import type { Ui } from "./context.js";
import { lengthOf } from "./context.js";
import type { Range } from "../state.js";

const SETTLE_MS = 350;

export interface Links {
	/* Back to the range before the last zoom. */
	undo(): void;
	canUndo(): boolean;
	onDepth(listener: () => void): void;
}

function isFull(ui: Ui, range: Range): boolean {
	const { full } = ui.view;
	const near = lengthOf(full) * 1e-6;
	return Math.abs(range.from - full.from) <= near && Math.abs(range.end - full.end) <= near;
}

function linkOf(ui: Ui): Link {
	const { view } = ui;
	return {
		...EMPTY,
		range: view.follow || isFull(ui, view.range) ? null : view.range,
		selection: view.selection,
		hidden: [...view.hidden].sort(),
		hiddenPanels: [...view.hiddenPanels].sort(),
		process: view.process,
		theme: view.theme === "auto" ? null : view.theme,
	};
}

function replaceSet(set: Set<string>, items: readonly string[]): boolean {
	if (set.size === items.length && items.every((item) => set.has(item))) return false;
	set.clear();
	for (const item of items) set.add(item);
	return true;
}

/* What of a link's time the recording has; null: nothing. */
export function clipped(range: Range, full: Range): Range | null {
	const from = Math.max(range.from, full.from);
	const end = Math.min(range.end, full.end);
	return end > from ? { from, end } : null;
}

/* Ends are printed with so many digits only that the last one of the whole may be beyond its end. */
function isBeyond(range: Range, full: Range): boolean {
	const near = lengthOf(range) / 500;
	return range.from < full.from - near || range.end > full.end + near;
}

/* A link's times, clipped to the recording, and what is to be said of that. */
function timesOf(ui: Ui, link: Link): { range: Range | null; selection: Range | null; remarks: string[] } {
	const { full } = ui.view;
	const outside: string[] = [];
	const beyond: string[] = [];
	const take = (range: Range | null, what: string): Range | null => {
		if (!range) return null;
		const part = clipped(range, full);
		if (!part) outside.push(what);
		else if (isBeyond(range, full)) beyond.push(what);
		return part;
	};
	const result = { range: take(link.range, "range"), selection: take(link.selection, "selection") };
	const remarks: string[] = [];
	const length = duration(lengthOf(full));
	const add = (whats: readonly string[], how: string): void => {
		if (whats.length) remarks.push(`${whats.join(" and ")} of the link: ${how} the recording, which is ${length} long`);
	};
	add(outside, "outside of");
	add(beyond, "cut at the ends of");
	return { ...result, remarks };
}

function apply(ui: Ui, link: Link, first: boolean): string[] {
	const { view } = ui;
	const { range, selection, remarks } = timesOf(ui, link);
	if (range) {
		view.setFollow(false);
		view.setRange(range);
	} else if (!first && !view.follow) view.setRange(view.full);
	view.setSelection(selection);
	if (replaceSet(view.hidden, link.hidden)) view.tell("hidden");
	if (replaceSet(view.hiddenPanels, link.hiddenPanels)) view.tell("panels");
	view.setProcess(link.process);
	if (link.theme && link.theme !== view.theme) view.setTheme(link.theme);
	return remarks;
}

function depthNow(): number {
	const state = history.state as { galvo?: unknown } | null;
	return typeof state?.galvo === "number" ? state.galvo : 0;
}

class HashLinks implements Links {
	private readonly listeners: (() => void)[] = [];
	private lastRange = "";
	private lastHash = location.hash;

	constructor(private readonly ui: Ui) {
		this.read(true);
		this.lastRange = this.rangeText();
		const { view } = ui;
		const write = settled(SETTLE_MS, () => this.write());
		for (const change of [
			"range",
			"selection",
			"hidden",
			"panels",
			"process",
			"theme",
			"follow",
		] as const)
			view.on(change, write);
		addEventListener("pagehide", () => write.now());
		addEventListener("hashchange", () => this.followEdit());
		addEventListener("popstate", () => this.followEdit());
	}

	canUndo(): boolean {
		return depthNow() > 0;
	}

	undo(): void {
		if (this.canUndo()) history.back();
	}

	onDepth(listener: () => void): void {
		this.listeners.push(listener);
	}

	private rangeText(): string {
		const { range } = linkOf(this.ui);
		return range ? printRange(range) : "";
	}

	/* A new range is a new entry of the history, so that "back" undoes a zoom; the rest changes the entry. */
	private write(): void {
		const { ui } = this;
		const range = this.rangeText();
		const hash = printHash(linkOf(ui));
		if (hash === this.lastHash) return;
		const isStep = range !== this.lastRange && !ui.view.follow;
		const depth = depthNow();
		const url = location.pathname + location.search + hash;
		try {
			if (isStep) history.pushState({ galvo: depth + 1 }, "", url);
			else history.replaceState({ galvo: depth }, "", url);
		} catch {
			/* Too many in a short time, or a page that may not: the link stays as it was. */
			return;
		}
		this.lastRange = range;
		this.lastHash = hash;
		for (const listener of this.listeners) listener();
	}

	private followEdit(): void {
		for (const listener of this.listeners) listener();
		if (location.hash === this.lastHash) return;
		this.read(false);
	}

	private read(first: boolean): void {
		const { link, problems } = parseHash(location.hash);
		this.lastHash = location.hash;
		const remarks = location.hash !== "" || !first ? apply(this.ui, link, first) : [];
		this.lastRange = this.rangeText();
		if (problems.length)
			remarks.unshift(`not understood in the link, and left out: ${problems.slice(0, 3).map(visible).join(", ")}`);
		if (remarks.length) this.ui.say(remarks.join("; "));
	}
}

export function startLinks(ui: Ui): Links {
	return new HashLinks(ui);
}
