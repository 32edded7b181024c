/* The bar that stays in sight: which time is shown, zooming, search, panels, theme, help; the strip below it. */
import { type Ui, lengthOf, panBy, zoomAll, zoomBy } from "./context.js";
import { button, el, icon, iconButton, outside, visible } from "./dom.js";
import { NOTHING, duration, instant, wallClock } from "./format.js";
import type { Links } from "./links.js";
import { Minimap } from "./minimap.js";
import type { Picker } from "./picker.js";
import type { SearchBox } from "./search_box.js";
import { rangeText } from "./selection.js";
import { nextTheme } from "./theme.js";

const PLUS = "M8 3v10M3 8h10";
const MINUS = "M3 8h10";
const ALL = "M2 4v8M14 4v8M4.5 8h7M6.5 6L4.5 8l2 2M9.5 6l2 2-2 2";
const UNDO = "M6 4L3 7l3 3M3.5 7H10a3 3 0 010 6H7";
const PANELS = "M2.5 3h11v4h-11zM2.5 9.5h11v4h-11z";
const THEMES = {
	auto: "M8 2a6 6 0 100 12A6 6 0 008 2zM8 2v12M8 5l4-1.5M8 8h6M8 11l4 1.5",
	light: "M8 5a3 3 0 100 6 3 3 0 000-6zM8 1v1.5M8 13.5V15M1 8h1.500M13.5 8H15M3 3l1 1M12 12l1 1M3 13l1-1M12 4l1-1",
	dark: "M6.5 2.5a5.8 5.8 0 107 7 5 5 0 01-7-7z",
};

export interface Parts {
	links: Links;
	search: SearchBox;
	picker: Picker;
	help(): void;
	live: HTMLElement | null;
}

/* How fine the values are, also where the header that says it has been scrolled away. */
function resolutionText(ui: Ui): HTMLElement {
	const text = el("span", { class: "resolution-text" });
	const draw = (): void => {
		text.textContent = visible(ui.store.document.resolution);
		text.title = text.textContent;
	};
	const header = document.getElementById("top");
	text.hidden = true;
	if (header)
		new IntersectionObserver(([entry]) => {
			text.hidden = entry?.isIntersecting ?? false;
		}).observe(header);
	ui.view.on("data", draw);
	draw();
	return text;
}

function rangeBox(ui: Ui): HTMLElement {
	const range = el("span", { class: "range-text" });
	const cursor = el("span", { class: "cursor-text" });
	const { view } = ui;
	const draw = (): void => {
		const length = lengthOf(view.range);
		const isAll = length >= lengthOf(view.full) * 0.999;
		range.replaceChildren(
			el("strong", {}, duration(length)),
			isAll ? " · all of it" : ` · ${rangeText(view.range, length)}`,
		);
	};
	const drawCursor = (): void => {
		const run = ui.store.runs[0];
		const at = view.cursor;
		const length = lengthOf(view.range);
		const clock = run && at !== null ? wallClock(run.start_wall_ns, at + run.shift_s, length) : null;
		cursor.replaceChildren();
		if (at === null) return;
		cursor.append(el("span", { class: "cursor-sign" }), instant(at, length), " ");
		if (clock)
			cursor.append(el("span", { class: "clock", title: `${clock.date}, UTC` }, `${clock.time} UTC`));
	};
	for (const change of ["range", "data"] as const) view.on(change, draw);
	for (const change of ["range", "cursor"] as const) view.on(change, drawCursor);
	draw();
	return el("div", { class: "range-box", "aria-live": "off" }, range, resolutionText(ui), cursor);
}

function zoomButtons(ui: Ui, links: Links): HTMLElement {
	const undo = iconButton(UNDO, "back to the range before (Backspace)", () => links.undo());
	const drawUndo = (): void => {
		undo.disabled = !links.canUndo();
	};
	links.onDepth(drawUndo);
	drawUndo();
	const all = [
		iconButton(PLUS, "closer (+)", () => zoomBy(ui, 0.5)),
		iconButton(MINUS, "further away (−)", () => zoomBy(ui, 2)),
		iconButton(ALL, "all of the recording (0)", () => zoomAll(ui)),
		undo,
	];
	for (const one of all) one.classList.add("icon-button");
	return el("div", { class: "button-group", role: "group", "aria-label": "zoom" }, ...all);
}

function themeButton(ui: Ui): HTMLElement {
	const result = el("button", { type: "button", class: "icon-button", click: () => nextTheme(ui.view) });
	const draw = (): void => {
		const { theme } = ui.view;
		const name = theme === "auto" ? "as the system is" : theme;
		result.replaceChildren(icon(THEMES[theme]));
		result.title = `theme: ${name} (t)`;
		result.setAttribute("aria-label", `theme: ${name}`);
		result.dataset["themeChoice"] = theme;
	};
	ui.view.on("theme", draw);
	draw();
	return result;
}

/* Which process is lit, and a way out of it. */
function litChip(ui: Ui): HTMLElement {
	const chip = el("div", { class: "lit-chip" });
	const draw = (): void => {
		const id = ui.view.process;
		const at = id?.indexOf("/") ?? -1;
		const run = ui.store.runs[Number(id?.slice(0, at))];
		const place = run?.processIndex.get(id?.slice(at + 1) ?? "");
		const process = place === undefined ? undefined : run?.processes?.[place];
		chip.hidden = id === null;
		if (id === null) return;
		const name = process ? `${visible(process.name)} ${process.pid}` : NOTHING;
		chip.replaceChildren(
			el("span", { class: "lit-sign", "aria-hidden": "true" }),
			outside(name),
			button("×", "light all processes again (Esc)", () => ui.view.setProcess(null), {
				class: "chip-close",
			}),
		);
	};
	ui.view.on("process", draw);
	ui.view.on("data", draw);
	draw();
	return chip;
}

function minimapKeys(ui: Ui, event: KeyboardEvent): void {
	const by = { ArrowLeft: -0.1, ArrowRight: 0.1, PageUp: 1, PageDown: -1 }[event.key];
	if (by === undefined) return;
	panBy(ui, by);
	event.preventDefault();
	event.stopPropagation();
}

export function fillTools(ui: Ui, nav: HTMLElement, parts: Parts): { panelsButton: HTMLElement } {
	const panels = el("button", {
		type: "button",
		class: "button with-icon",
		title: "choose the panels (p)",
		"aria-expanded": "false",
		"aria-haspopup": "dialog",
		click: () => parts.picker.toggle(panels),
	});
	panels.append(icon(PANELS), el("span", { class: "wide" }, "Panels"));
	const help = button("?", "keys and what they do (?)", () => parts.help(), { class: "icon-button" });
	const minimap = new Minimap(ui);
	minimap.element.addEventListener("keydown", (event) => minimapKeys(ui, event));
	nav.setAttribute("aria-label", "tools");
	nav.append(
		el(
			"div",
			{ class: "tools-line" },
			zoomButtons(ui, parts.links),
			rangeBox(ui),
			parts.live,
			litChip(ui),
			el("div", { class: "push" }),
			parts.search.element,
			el("div", { class: "popover-anchor" }, panels, parts.picker.element),
			themeButton(ui),
			help,
		),
		minimap.element,
	);
	return { panelsButton: panels };
}
