/* The legend of a panel: colours, values at the crosshair, mean and highest of what is seen; toggles, sorts. */
import { formatValue } from "../format.js";
import { seriesId } from "../state.js";
import type { StoredPanel } from "../store.js";
import { dashCss } from "./colours.js";
import { humane } from "./labels.js";
import { part, type Stage } from "./stage.js";
import { visible } from "../ui/dom.js";

type Order = "none" | "label" | "value" | "mean" | "max";

interface Row {
	id: string;
	run: number;
	place: number;
	element: HTMLElement;
	label: string;
	value: HTMLElement;
	mean: HTMLElement;
	max: HTMLElement;
	numbers: { value: number | null; mean: number | null; max: number | null };
}

export class Legend {
	readonly element = part("div", "legend");
	private readonly rows = new Map<string, Row>();
	private readonly sumRows = new Map<number, HTMLElement>();
	private readonly list = part("div", "rows");
	private readonly heads = new Map<Order, HTMLElement>();
	private measured = { rows: 0, wide: 0 };
	private order: Order = "none";
	private timer = 0;

	constructor(
		private readonly stage: Stage,
		private readonly panel: StoredPanel,
	) {
		const head = part("div", "row head");
		head.append(part("span", "swatch"));
		const titles: [Order, string, string][] = [
			["label", "", "Sort by name"], ["value", "last", "At the crosshair, else the last value; sort by it"],
			["mean", "mean", "Weighted with time, over the time seen that has values; sort by it"],
			["max", "max", "Highest single reading of the time seen; a peak of the report is the highest mean over 0.1 s. Sort by it"],
		];
		for (const [order, text, title] of titles) {
			const button = part("button", order === "label" ? "label" : "number", text || "name");
			button.type = "button";
			button.title = title;
			button.addEventListener("click", () => this.sortBy(this.order === order ? "none" : order));
			this.heads.set(order, button);
			head.append(button);
		}
		this.element.append(head, this.list);
		this.fill();
	}

	/* Rows of curves that are new. */
	fill(): void {
		const { view } = this.stage;
		for (const { run, series } of this.panel.series) {
			const id = seriesId(run, series.key);
			const known = this.rows.get(id);
			if (known) continue;
			const element = part("button", "row");
			element.type = "button";
			const swatch = part("span", "swatch");
			const colour = this.stage.colours.of(this.panel.id, run, series);
			swatch.classList.toggle("dashed", run > 0);
			swatch.style.background = dashCss(colour, run);
			const text = this.labelOf(series.label, run);
			const row: Row = {
				id, run, place: this.rows.size, element, label: text.textContent ?? "",
				value: part("span", "number"), mean: part("span", "number"), max: part("span", "number"),
				numbers: { value: null, mean: null, max: null },
			};
			element.title = [visible(humane(series.label)), series.metric, series.help, "Click: hide or show. Shift-click: this one alone."]
				.filter(Boolean).join("\n");
			element.append(swatch, text, row.value, row.mean, row.max);
			element.addEventListener("click", (event) => {
				/* What is hidden lights nothing. */
				if (!view.hidden.has(id)) this.stage.setLit(null);
				if (event.shiftKey || event.altKey) this.solo(id);
				else view.toggle(id);
			});
			element.addEventListener("pointerenter", () => this.stage.setLit(view.hidden.has(id) ? null : id));
			element.addEventListener("pointerleave", () => this.stage.setLit(null));
			this.rows.set(id, row);
			this.list.append(element);
		}
		this.marks();
	}

	/* Pixels that the longest of its labels takes, as far as these are as many as they were. */
	labelWidth(measure: (text: string) => number): number {
		if (this.measured.rows !== this.rows.size) {
			const wide = [...this.rows.values()].reduce((most, { label }) => Math.max(most, measure(label)), 0);
			this.measured = { rows: this.rows.size, wide };
		}
		return this.measured.wide;
	}

	/* Which are hidden. */
	marks(): void {
		for (const { id, element } of this.rows.values()) {
			const hidden = this.stage.view.hidden.has(id);
			element.classList.toggle("off", hidden);
			element.setAttribute("aria-pressed", String(!hidden));
		}
	}

	/* At the crosshair. */
	pass(): void {
		const { store, view } = this.stage;
		const { cursor } = view;
		const { unit } = this.panel.panel;
		this.heads.get("value")!.textContent = cursor === null ? "last" : "value";
		const { from, end } = view.range;
		for (const { run, series } of this.panel.series) {
			const row = this.rows.get(seriesId(run, series.key));
			if (!row) continue;
			const value = cursor === null ? store.last(run, series, end, (end - from) * 0.02) : store.at(run, series, cursor);
			if (value === row.numbers.value && row.value.textContent !== "") continue;
			row.numbers.value = value;
			row.value.textContent = formatValue(value, unit);
		}
		for (const [run, element] of this.sumRows) {
			const total = this.panel.totals.find((one) => one.run === run);
			const value = !total ? null : cursor === null ? store.last(run, total.series, end, (end - from) * 0.02) : store.at(run, total.series, cursor);
			element.querySelector(".value")!.textContent = formatValue(value, unit);
		}
		if (this.order === "value") this.arrange();
	}

	/* Of the range that is seen: soon, as it may go on moving; on paper at once. */
	sums(now: boolean): void {
		clearTimeout(this.timer);
		if (now) this.sumUp();
		else this.timer = window.setTimeout(() => this.sumUp(), 120);
	}

	/* Of which runs the sum is drawn, and not each curve. */
	totals(runs: ReadonlySet<number>): void {
		for (const { run, element } of this.rows.values()) element.classList.toggle("summed", runs.has(run));
		const { store, inks } = this.stage;
		for (const [run, element] of this.sumRows) if (!runs.has(run)) {
			element.remove();
			this.sumRows.delete(run);
		}
		for (const run of runs) {
			let element = this.sumRows.get(run);
			if (!element) {
				element = part("div", "row sum");
				const swatch = part("span", "swatch dashed");
				element.append(swatch, this.labelOf("all together", run), ...["value", "mean", "max"].map((name) => part("span", `number ${name}`)));
				element.title = `Of ${visible(store.runs[run].label)} the sum is drawn: its curves would lie on those of the first`;
				this.sumRows.set(run, element);
				this.list.before(element);
			}
			(element.firstElementChild as HTMLElement).style.background = dashCss(inks.ink, run);
		}
	}

	private labelOf(label: string, run: number): HTMLElement {
		const { runs } = this.stage.store;
		const text = part("span", "label");
		text.append(part("span", "what", visible(humane(label))));
		if (runs.length > 1) text.append(" ", part("span", "of-run", visible(runs[run].label)));
		return text;
	}

	private sumUp(): void {
		const { store, view } = this.stage;
		const { unit } = this.panel.panel;
		for (const { run, series } of this.panel.series) {
			const row = this.rows.get(seriesId(run, series.key));
			if (!row) continue;
			const figures = store.figures(run, series, view.range);
			row.numbers.mean = figures?.mean ?? null;
			row.numbers.max = figures?.max ?? null;
			row.mean.textContent = formatValue(row.numbers.mean, unit);
			row.max.textContent = formatValue(row.numbers.max, unit);
		}
		for (const [run, element] of this.sumRows) {
			const total = this.panel.totals.find((one) => one.run === run);
			const figures = total ? store.figures(run, total.series, view.range) : null;
			for (const name of ["mean", "max"] as const) element.querySelector(`.${name}`)!.textContent = formatValue(figures?.[name], unit);
		}
		this.pass();
		if (this.order === "mean" || this.order === "max") this.arrange();
	}

	private solo(id: string): void {
		const { view } = this.stage;
		const others = [...this.rows.keys()].filter((other) => other !== id);
		const alone = !view.hidden.has(id) && others.every((other) => view.hidden.has(other));
		view.hidden.delete(id);
		for (const other of others) {
			if (alone) view.hidden.delete(other);
			else view.hidden.add(other);
		}
		view.tell("hidden");
	}

	private sortBy(order: Order): void {
		this.order = order;
		for (const [name, head] of this.heads) head.classList.toggle("sorted", name === order);
		this.arrange();
	}

	private arrange(): void {
		const { order } = this;
		const rows = [...this.rows.values()].sort((a, b) => {
			if (order === "none") return a.place - b.place;
			if (order === "label") return a.label.localeCompare(b.label, undefined, { numeric: true }) || a.place - b.place;
			return (b.numbers[order] ?? -Infinity) - (a.numbers[order] ?? -Infinity) || a.place - b.place;
		});
		if (rows.some(({ element }, i) => this.list.children[i] !== element)) this.list.append(...rows.map(({ element }) => element));
	}
}
