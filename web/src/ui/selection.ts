/* The selected time: a bar that says which, and a table of what every curve comes to in it. */
import type { Range } from "../state.js";
import { seriesId } from "../state.js";
import { type Ui, copyText, lengthOf, zoomTo } from "./context.js";
import type { Dock } from "./dock.js";
import { button, el, marked, settled, visible } from "./dom.js";
import { type Column, type FigureRow, cellsOf, coverage, figuresText, rowsOf, sortRows } from "./figures.js";
import { duration, instant } from "./format.js";
import { contains } from "./match.js";
import { Order } from "./order.js";

const COLUMNS: readonly [Column, string, string][] = [
	["title", "panel", "what is drawn together"],
	["label", "curve", "the curve's name"],
	["mean", "mean", "weighted with time, over the selected time that has values"],
	["min", "lowest", "lowest single reading"],
	["max", "highest", "highest single reading; a peak of the report is the highest mean over 0.1 s"],
	["integral", "sum", "over the selected time that has values: bytes, CPU seconds, joules"],
	["share", "share", "of the sum of its panel"],
	["known", "has values", "how much of the selected time has values, where that is not all of it"],
];

export function rangeText(range: Range, around: number): string {
	return `${instant(range.from, around)} – ${instant(range.end, around)}`;
}

export class Selection {
	readonly bar = el("div", { class: "selection-bar", role: "status" });
	readonly body = el("div", { class: "figures" });
	readonly tools: HTMLElement;
	private readonly rowsBody = el("tbody");
	private readonly note = el("p", { class: "figures-note", role: "status" });
	private readonly filter = el("input", {
		type: "search",
		class: "filter",
		placeholder: "filter",
		"aria-label": "filter the figures",
		spellcheck: "false",
		autocomplete: "off",
	});
	private readonly heads = new Map<Column, HTMLElement>();
	private rows: FigureRow[] = [];
	private readonly order = new Order<Column>();
	private turn = 0;
	private before: string | null = null;

	constructor(
		private readonly ui: Ui,
		private readonly dock: Dock,
	) {
		this.tools = el(
			"div",
			{ class: "tab-tools" },
			this.bar,
			button("Zoom to it", "zoom to the selected time (Enter)", () => this.zoom(), { class: "button" }),
			button("Copy", "copy the figures as text (c)", () => this.copy(), { class: "button" }),
			button("Clear", "select nothing (Esc)", () => ui.view.setSelection(null), { class: "button" }),
			this.filter,
		);
		this.body.append(this.note, this.table());
		this.filter.addEventListener("input", () => this.draw());
		dock.add({
			id: "selection",
			title: "Selection",
			body: this.body,
			tools: this.tools,
			shown: () => undefined,
		});
		dock.setVisible("selection", false);
		const later = settled(80, () => void this.renew());
		ui.view.on("selection", () => this.changed(later));
		ui.view.on("data", later);
		ui.view.on("hidden", later);
		ui.view.on("panels", later);
		this.changed(later);
	}

	copy(): void {
		const { selection } = this.ui.view;
		if (!selection) {
			this.ui.say("select a time first: drag over a chart");
			return;
		}
		/* Of all that is in the table now; one that is being made anew is waited for by nobody. */
		this.rows = this.computed(selection);
		void copyText(this.ui, figuresText(this.shownRows(), selection), "figures");
	}

	zoom(): void {
		if (this.ui.view.selection) zoomTo(this.ui, this.ui.view.selection);
	}

	private changed(later: () => void): void {
		const { selection, range } = this.ui.view;
		const isNew = selection !== null && this.bar.textContent === "";
		if (selection) {
			const around = Math.max(Math.min(lengthOf(selection) * 2, lengthOf(range)), 1e-9);
			this.bar.textContent = `${rangeText(selection, around)} · ${duration(lengthOf(selection))}`;
			this.dock.setVisible("selection", true);
			this.dock.setTitle("selection", `Selection ${duration(lengthOf(selection))}`);
			if (isNew && !document.activeElement?.closest(".dock")) {
				/* What is picked in the tables themselves leaves them open. */
				this.before = this.dock.shownTab;
				this.dock.show("selection");
			}
			later();
			return;
		}
		const wasShown = this.dock.shownTab === "selection";
		this.bar.textContent = "";
		this.turn++;
		this.dock.setVisible("selection", false);
		if (wasShown) this.dock.show(this.before);
	}

	private table(): HTMLElement {
		const head = el("tr");
		for (const [column, name, help] of COLUMNS) {
			const sort = button(name, `${help}: sort`, () => this.sortBy(column), { class: "sort" });
			const cell = el(
				"th",
				{ scope: "col", class: column === "title" || column === "label" ? "" : "number" },
				sort,
			);
			this.heads.set(column, cell);
			head.append(cell);
		}
		return el("table", { class: "figures-table" }, el("thead", {}, head), this.rowsBody);
	}

	private sortBy(column: Column): void {
		this.order.turn(column, column !== "title" && column !== "label");
		this.order.mark(this.heads);
		this.draw();
	}

	private computed(selection: Range): FigureRow[] {
		const { view, store } = this.ui;
		return rowsOf(
			store,
			selection,
			(panel, run, series) =>
				!view.hiddenPanels.has(panel.id) && !view.hidden.has(seriesId(run, series.key)),
		);
	}

	/* First of what is there, then, where that is coarse, once more with what can be loaded. */
	private async renew(): Promise<void> {
		const { selection } = this.ui.view;
		if (!selection) return;
		const turn = ++this.turn;
		this.rows = this.computed(selection);
		const coarse = this.rows.filter((row) => row.figures === null || !row.figures.exact);
		this.note.textContent = coarse.length ? "loading all values of that time …" : "";
		this.body.toggleAttribute("aria-busy", coarse.length > 0);
		this.draw();
		if (coarse.length === 0) return;
		await Promise.allSettled(coarse.map((row) => this.ui.store.load(row.run, row.series, selection)));
		if (turn !== this.turn) return;
		this.rows = this.computed(selection);
		const about = this.rows.filter((row) => row.figures && !row.figures.exact).length;
		this.note.textContent = about
			? `≈ ${about} of ${this.rows.length} curves are known in buckets only that reach over the edges of this time: their mean and sum are about right`
			: "";
		this.body.removeAttribute("aria-busy");
		this.draw();
	}

	private shownRows(): FigureRow[] {
		const query = this.filter.value.trim();
		const rows = query
			? this.rows.filter((row) => contains(query, row.title, row.label, row.series.metric))
			: this.rows;
		return sortRows(rows, this.order.column, this.order.down);
	}

	private draw(): void {
		let last = "";
		const { selection } = this.ui.view;
		const filter = this.filter.value.trim();
		const rows = this.shownRows().map((row) => {
			const isSame = !this.order.column && row.title === last;
			last = row.title;
			const title = el("td", { class: isSame ? "again" : "" }, marked(row.title, filter));
			const help = row.series.help ? visible(row.series.help) : null;
			const label = el("td", { title: help }, marked(row.label, filter));
			const known = selection ? coverage(row, selection) : "";
			const cells = [...cellsOf(row), known].map((text) => el("td", { class: "number" }, text));
			return el(
				"tr",
				{ class: isSame ? "" : "first", "data-key": row.series.key },
				title,
				label,
				...cells,
			);
		});
		if (rows.length === 0)
			rows.push(
				el(
					"tr",
					{},
					el(
						"td",
						{ class: "empty", colspan: COLUMNS.length },
						"no curve is shown, or none fits the filter",
					),
				),
			);
		this.rowsBody.replaceChildren(...rows);
	}
}
