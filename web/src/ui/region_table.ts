/* The table of regions and marks: each name once, how many, how long; a click goes from one to the next. */
import { type Ui, copyText, field, runLabel } from "./context.js";
import type { Dock } from "./dock.js";
import { button, el, marked, settled, visible } from "./dom.js";
import { bare, compareKeys } from "./figures.js";
import { NOTHING, counted, duration } from "./format.js";
import { contains } from "./match.js";
import type { NameStats, Walk } from "./walk.js";
import { Order } from "./order.js";

type Column = "name" | "where" | "count" | "total" | "mean" | "max";

const MANY = 1000;
const ROW = 24;
const FOOT = 20;
const COLUMNS: readonly [Column, string, string][] = [
	["name", "name", "name of the regions or marks"],
	["where", "of", "who said it: the host's threads, or a GPU"],
	["count", "count", "how many there are"],
	["total", "total", "their lengths together"],
	["mean", "mean", "their mean length"],
	["max", "longest", "the longest one"],
];

function whereOf(stats: NameStats): string {
	return (stats.gpu ? "GPU" : "host") + (stats.mark ? ", mark" : "");
}

function keyOf(stats: NameStats, column: Column): string | number | null {
	switch (column) {
		case "name":
			return stats.name;
		case "where":
			return whereOf(stats);
		case "count":
			return stats.at.length;
		case "total":
			return stats.mark ? null : stats.total_s;
		case "mean":
			return stats.mark ? null : stats.total_s / stats.at.length;
		default:
			return stats.mark ? null : stats.max_s;
	}
}

function cellsOf(stats: NameStats): string[] {
	const open = stats.open ? ` (${stats.open} open)` : "";
	const times = [stats.total_s, stats.total_s / stats.at.length, stats.max_s];
	return [
		stats.at.length.toLocaleString("en") + open,
		...times.map((s) => (stats.mark ? NOTHING : duration(s))),
	];
}

/* "Regions 4 · marks 2": of how many names, and how many of them the filter leaves. */
function titleOf(shown: readonly NameStats[], all: readonly NameStats[]): string {
	const count = (of: readonly NameStats[], mark: boolean): number =>
		of.filter((stats) => stats.mark === mark).length;
	const parts = [
		counted("Regions", count(shown, false), count(all, false)),
		count(all, true) ? counted("marks", count(shown, true), count(all, true)) : "",
	];
	if (count(all, false) === 0 && count(all, true) > 0) return counted("Marks", count(shown, true), count(all, true));
	return parts.filter((text) => text !== "").join(" · ");
}

export class RegionTable {
	readonly body = el("div", { class: "regions" });
	private readonly rowsBody = el("tbody");
	private readonly empty = el("p", { class: "empty" });
	private readonly table: HTMLElement;
	private readonly heads = new Map<Column, HTMLElement>();
	private readonly filterBox = el("input", {
		type: "search",
		class: "filter",
		placeholder: "filter",
		"aria-label": "filter the regions",
		spellcheck: "false",
		autocomplete: "off",
	});
	private readonly order = new Order<Column>();

	constructor(
		private readonly ui: Ui,
		private readonly dock: Dock,
		private readonly walk: Walk,
	) {
		const head = el("tr");
		for (const [column, name, help] of COLUMNS) {
			const isText = column === "name" || column === "where";
			const sort = button(name, `${help}: sort`, () => this.sortBy(column, isText), { class: "sort" });
			const cell = el("th", { scope: "col", class: isText ? "" : "number" }, sort);
			this.heads.set(column, cell);
			head.append(cell);
		}
		head.append(el("th", {}, el("span", { class: "unseen" }, "go to")));
		this.table = el("table", { class: "region-table" }, el("thead", {}, head), this.rowsBody);
		this.body.append(this.table, this.empty);
		const copy = button("Copy", "copy the rows as text", () => this.copy(), { class: "button" });
		const tools = el("div", { class: "tab-tools" }, copy, this.filterBox);
		this.filterBox.addEventListener("input", () => this.draw());
		dock.add({
			id: "regions",
			title: "Regions",
			body: this.body,
			tools,
			shown: () => undefined,
			natural: () => (walk.names().length + 1) * ROW + FOOT,
		});
		let drawn = walk.names();
		ui.view.on(
			"data",
			settled(60, () => {
				if (walk.names() === drawn) return;
				drawn = walk.names();
				this.draw();
			}),
		);
		walk.onGone(() => this.draw());
		this.draw();
	}

	private sortBy(column: Column, isText: boolean): void {
		this.order.turn(column, !isText);
		this.order.mark(this.heads);
		this.draw();
	}

	private shown(): NameStats[] {
		const query = this.filterBox.value.trim();
		const names = this.walk.names().filter((stats) => !query || contains(query, stats.name));
		const { column, down } = this.order;
		return column ? names.sort((a, b) => compareKeys(keyOf(a, column), keyOf(b, column), down)) : names;
	}

	private draw(): void {
		const all = this.walk.names();
		const isFocused = this.rowsBody.contains(document.activeElement);
		const key = isFocused ? (document.activeElement as HTMLElement).dataset["go"] : undefined;
		const shown = this.shown();
		this.dock.setTitle("regions", titleOf(shown, all));
		this.empty.hidden = shown.length > 0;
		this.empty.textContent = all.length
			? "No region or mark fits the filter."
			: "The workload named no regions and set no marks.";
		this.table.hidden = all.length === 0;
		this.rowsBody.replaceChildren(...shown.slice(0, MANY).map((stats) => this.row(stats)));
		if (shown.length > MANY)
			this.rowsBody.append(
				el(
					"tr",
					{},
					el(
						"td",
						{ class: "empty", colspan: 7 },
						`and ${shown.length - MANY} more: use the filter`,
					),
				),
			);
		if (key)
			this.rowsBody
				.querySelector<HTMLElement>(`[data-go="${CSS.escape(key)}"]`)
				?.focus({ preventScroll: true });
	}

	private row(stats: NameStats): HTMLElement {
		const place = this.walk.place(stats);
		const go = (to: number): void => this.walk.go(stats, to);
		const name = el(
			"button",
			{
				type: "button",
				class: "name-button",
				title: "go to the next one",
				"data-go": stats.key,
				click: () => go((place ?? -1) + 1),
			},
			marked(stats.name || "(no name)", this.filterBox.value),
		);
		const where = runLabel(this.ui.store, stats.run);
		const steps = el(
			"td",
			{ class: "steps" },
			button("‹", `the one before: ${visible(stats.name)}`, () => go((place ?? 0) - 1), {
				class: "step",
				"data-go": `${stats.key}<`,
			}),
			el("span", { class: "step-place" }, place === null ? "" : `${place + 1} of ${stats.at.length}`),
			button("›", `the next one: ${visible(stats.name)}`, () => go((place ?? -1) + 1), {
				class: "step",
				"data-go": `${stats.key}>`,
			}),
		);
		return el(
			"tr",
			{ "aria-current": place !== null, "data-name": stats.key },
			el("td", {}, name),
			el("td", { class: "dim" }, whereOf(stats), where && ` · ${visible(where)}`),
			...cellsOf(stats).map((text) => el("td", { class: "number" }, text)),
			steps,
		);
	}

	private copy(): void {
		const lines = ["name\tof\tcount\ttotal_s\tmean_s\tmax_s"];
		for (const stats of this.shown()) {
			const times = stats.mark
				? ["", "", ""]
				: [stats.total_s, stats.total_s / stats.at.length, stats.max_s].map(bare);
			lines.push(
				[visible(stats.name), whereOf(stats), stats.at.length, ...times]
					.map((cell) => field(String(cell)))
					.join("\t"),
			);
		}
		void copyText(this.ui, `${lines.join("\n")}\n`, "regions");
	}
}
