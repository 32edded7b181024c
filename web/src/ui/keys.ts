/* What keys do. The help shows this same list. */
import { type Ui, panBy, zoomAll, zoomBy } from "./context.js";
import { button, el, isTyping } from "./dom.js";

export interface Actions {
	ui: Ui;
	undo(): void;
	search(): void;
	help(): void;
	panels(): void;
	theme(): void;
	copy(): void;
	escape(): void;
	follow(): void;
	zoomToSelection(): void;
	stepName(by: 1 | -1): void;
	neighbour(by: 1 | -1): void;
	tab(id: string): void;
}

interface Key {
	keys: readonly string[]; /* as KeyboardEvent.key */
	shown: string;
	does: string;
	run(actions: Actions): void;
	part: "Move" | "Find" | "Tables" | "Page";
}

export const KEYS: readonly Key[] = [
	{ keys: ["ArrowLeft"], shown: "←", does: "earlier", part: "Move", run: ({ ui }) => panBy(ui, -0.2) },
	{ keys: ["ArrowRight"], shown: "→", does: "later", part: "Move", run: ({ ui }) => panBy(ui, 0.2) },
	{
		keys: ["+", "="],
		shown: "+",
		does: "closer, about the cursor",
		part: "Move",
		run: ({ ui }) => zoomBy(ui, 0.5),
	},
	{ keys: ["-", "−", "_"], shown: "−", does: "further away", part: "Move", run: ({ ui }) => zoomBy(ui, 2) },
	{
		keys: ["0", "a"],
		shown: "0  a",
		does: "all of the recording",
		part: "Move",
		run: ({ ui }) => zoomAll(ui),
	},
	{
		keys: ["Enter"],
		shown: "Enter",
		does: "zoom to the selection",
		part: "Move",
		run: (to) => to.zoomToSelection(),
	},
	{
		keys: ["Backspace", "u"],
		shown: "Backspace  u",
		does: "back to the range before",
		part: "Move",
		run: (to) => to.undo(),
	},
	{ keys: ["f"], shown: "f", does: "follow a live recording", part: "Move", run: (to) => to.follow() },
	{ keys: ["/"], shown: "/", does: "search", part: "Find", run: (to) => to.search() },
	{
		keys: ["n"],
		shown: "n",
		does: "next region of the same name",
		part: "Find",
		run: (to) => to.stepName(1),
	},
	{ keys: ["N"], shown: "N", does: "the one before", part: "Find", run: (to) => to.stepName(-1) },
	{ keys: ["]"], shown: "]", does: "next region of any name", part: "Find", run: (to) => to.neighbour(1) },
	{ keys: ["["], shown: "[", does: "the one before", part: "Find", run: (to) => to.neighbour(-1) },
	{ keys: ["o"], shown: "o", does: "processes", part: "Tables", run: (to) => to.tab("processes") },
	{ keys: ["r"], shown: "r", does: "regions and marks", part: "Tables", run: (to) => to.tab("regions") },
	{
		keys: ["s"],
		shown: "s",
		does: "figures of the selection",
		part: "Tables",
		run: (to) => to.tab("selection"),
	},
	{
		keys: ["c"],
		shown: "c",
		does: "copy the figures of the selection",
		part: "Tables",
		run: (to) => to.copy(),
	},
	{ keys: ["p"], shown: "p", does: "choose the panels", part: "Page", run: (to) => to.panels() },
	{ keys: ["t"], shown: "t", does: "theme: auto, light, dark", part: "Page", run: (to) => to.theme() },
	{ keys: ["?"], shown: "?", does: "this help", part: "Page", run: (to) => to.help() },
	{ keys: ["Escape"], shown: "Esc", does: "close, select nothing", part: "Page", run: (to) => to.escape() },
];

const MOUSE: readonly [string, string][] = [
	["drag on a chart", "select a time: every figure of it"],
	["wheel with Ctrl", "closer, further away"],
	["wheel sideways, or Shift and drag", "earlier, later"],
	["double click on a chart", "all of the recording"],
	["drag the strip on top", "move or stretch the window"],
	["click on a process", "light its curves, select its life"],
	["double click on a process", "zoom to its life"],
];

/* Enter and the arrows belong to the control that has the focus. */
function belongsTo(target: EventTarget | null, key: string): boolean {
	if (!(target instanceof HTMLElement)) return false;
	if (["Enter", " "].includes(key))
		return target.closest("button, a, summary, input, [role=treegrid]") !== null;
	return false;
}

export function startKeys(actions: Actions): void {
	document.addEventListener("keydown", (event) => {
		if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
		if (event.key === "Escape" && document.querySelector("dialog[open]")) return;
		if (event.key !== "Escape" && (isTyping(event.target) || belongsTo(event.target, event.key))) return;
		const key = KEYS.find(({ keys }) => keys.includes(event.key));
		if (!key) return;
		event.preventDefault();
		key.run(actions);
	});
}

function listOf(rows: readonly [string, string][]): HTMLElement {
	const list = el("dl", { class: "keys" });
	for (const [shown, does] of rows) {
		const term = el("dt");
		for (const key of shown.length < 14 ? shown.split("  ") : []) term.append(el("kbd", {}, key), " ");
		if (shown.length >= 14) term.append(shown);
		list.append(el("div", {}, term, el("dd", {}, does)));
	}
	return list;
}

export function openHelp(): void {
	if (document.querySelector("dialog[open]")) return;
	const dialog = el("dialog", { class: "sheet help", "aria-label": "keys and what they do" });
	const parts = (["Move", "Find", "Tables", "Page"] as const).map((part) =>
		el(
			"section",
			{},
			el("h3", {}, part),
			listOf(KEYS.filter((key) => key.part === part).map(({ shown, does }) => [shown, does])),
		),
	);
	parts.push(el("section", { class: "help-mouse" }, el("h3", {}, "Mouse"), listOf(MOUSE)));
	const close = button("Close", "close the help", () => dialog.close(), { class: "button" });
	dialog.append(
		el("div", { class: "sheet-head" }, el("h2", {}, "Keys"), close),
		el("div", { class: "help-parts" }, ...parts),
	);
	dialog.addEventListener("keydown", (event) => {
		if (event.key === "?") dialog.close();
	});
	dialog.addEventListener("close", () => dialog.remove());
	document.body.append(dialog);
	dialog.showModal();
}
