/* What the parts of the page around the charts share: the view, the store, and ways to get somewhere. */
import type { Process } from "../data.js";
import type { Range, View } from "../state.js";
import type { Store, StoredRun } from "../store.js";

export interface Ui {
	readonly view: View;
	readonly store: Store;
	/* Of a live page: shows all of it, and all that comes. */
	followAll: (() => void) | null;
	/* A short remark that goes by itself; read out, too. */
	say(text: string): void;
}

export function lengthOf(range: Range): number {
	return range.end - range.from;
}

/* On the shared axis: an instant of a run is drawn at t - shift_s. */
export function processRange(run: StoredRun, process: Process): Range {
	const end = process.end_s ?? run.length_s;
	return { from: process.start_s - run.shift_s, end: end - run.shift_s };
}

export function runLabel(store: Store, run: number): string {
	return store.runs.length > 1 ? (store.runs[run]?.label ?? "") : "";
}

/* The range with some air around it; an instant gets a thousandth of the whole. */
export function padded(ui: Ui, range: Range): Range {
	const whole = lengthOf(ui.view.full);
	const air = lengthOf(range) > 0 ? lengthOf(range) * 0.06 : whole / 1000;
	return { from: range.from - air, end: range.end + air };
}

/* Who moves away from what comes does not follow it any longer. */
export function zoomTo(ui: Ui, range: Range): void {
	const before = ui.view.range;
	ui.view.setRange(range);
	if (ui.view.range !== before) ui.view.setFollow(false);
}

/* Zooms by a factor about the cursor where it is in sight, else about the middle. */
export function zoomBy(ui: Ui, factor: number): void {
	const { range, cursor } = ui.view;
	const inSight = cursor !== null && cursor >= range.from && cursor <= range.end;
	const at = inSight ? cursor : (range.from + range.end) / 2;
	zoomTo(ui, { from: at - (at - range.from) * factor, end: at + (range.end - at) * factor });
}

export function panBy(ui: Ui, part: number): void {
	const { range } = ui.view;
	const by = lengthOf(range) * part;
	zoomTo(ui, { from: range.from + by, end: range.end + by });
}

export function zoomAll(ui: Ui): void {
	if (ui.followAll) ui.followAll();
	else zoomTo(ui, ui.view.full);
}

export function panelElement(id: string): HTMLElement | null {
	return document.querySelector<HTMLElement>(`[data-panel="${CSS.escape(id)}"]`);
}

export function isCalm(): boolean {
	return matchMedia("(prefers-reduced-motion: reduce)").matches;
}

/* Brings a panel into sight, shown if it was hidden, and lights it for a moment. */
export function goToPanel(ui: Ui, id: string): void {
	if (ui.view.hiddenPanels.has(id)) ui.view.togglePanel(id);
	/* Charts take it in with this frame. */
	setTimeout(() => {
		const panel = panelElement(id);
		if (!panel) return;
		panel.closest(".folded")?.querySelector<HTMLElement>(".fold")?.click();
		panel.scrollIntoView({ block: "center", behavior: isCalm() ? "auto" : "smooth" });
		panel.classList.remove("found");
		requestAnimationFrame(() => panel.classList.add("found"));
	}, 50);
}

/* Clipboards are closed to pages from files and to plain http: a selected text serves there. */
export async function copyText(ui: Ui, text: string, what: string): Promise<void> {
	try {
		await navigator.clipboard.writeText(text);
		ui.say(`${what} copied`);
		return;
	} catch {
		/* The old way follows. */
	}
	const area = document.createElement("textarea");
	area.className = "copy-area";
	area.value = text;
	const active = document.activeElement;
	(document.querySelector("dialog[open]") ?? document.body).append(area);
	area.select();
	const done = document.execCommand("copy");
	area.remove();
	if (active instanceof HTMLElement) active.focus({ preventScroll: true });
	ui.say(done ? `${what} copied` : `${what} could not be copied: this browser does not let pages do it`);
}

/* One field of a line of tab separated ones. */
export function field(text: string): string {
	return text.replace(/[\t\r\n\u0085\u2028\u2029]+/g, " ");
}

/*
 * "data" is told for values that were decoded, too: who makes much of what the documents say asks here
 * whether that is what changed. The first answer is yes.
 */
export function watcher(parts: () => readonly unknown[]): () => boolean {
	let last: readonly unknown[] | null = null;
	return () => {
		const now = parts();
		const isSame =
			last !== null && last.length === now.length && now.every((one, i) => one === last?.[i]);
		last = now;
		return !isSame;
	};
}
