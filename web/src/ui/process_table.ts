/* The table of processes: a tree or a sorted list of up to tens of thousands, of which only the seen rows exist. */
import { processId } from "../state.js";
import { type Ui, copyText, field, processRange, runLabel, watcher, zoomTo } from "./context.js";
import type { Dock } from "./dock.js";
import { button, el, marked, outside, settled, visible } from "./dom.js";
import { bare, processSeconds } from "./figures.js";
import { NOTHING, bytes, counted, duration, instant } from "./format.js";
import { type ProcessColumn, type ProcessRow, ancestors, lifeOf, processRows, rowId, sampleHint } from "./processes.js";
import { Order } from "./order.js";

const ROW = 24;
const BEYOND = 12;
const FOOT = 20; /* for a bar to scroll with, and some air */
const INDENT = 14;
const DEEPEST = 24;

const COLUMNS: readonly { id: ProcessColumn; name: string; help: string; text?: boolean }[] = [
	{ id: "name", name: "process", help: "name", text: true },
	{ id: "pid", name: "pid", help: "number of the process" },
	{ id: "command", name: "command", help: "command line", text: true },
	{ id: "start", name: "start", help: "when it started" },
	{ id: "life", name: "life", help: "how long it lived; the bar is where, in the range that is shown" },
	{ id: "cpu", name: "CPU", help: "CPU time, all of its life" },
	{ id: "range", name: "in range", help: "CPU time in the selected time, of what was read while it lived: not what it used after the last reading" },
	{ id: "rss", name: "peak RSS", help: "most memory that was resident" },
	{ id: "read", name: "read", help: "bytes read from devices" },
	{ id: "written", name: "written", help: "bytes written to devices" },
	{ id: "status", name: "status", help: "how it ended", text: true },
];

export class ProcessTable {
	readonly body = el("div", { class: "processes" });
	private readonly viewport = el("div", {
		class: "process-rows",
		role: "treegrid",
		tabindex: 0,
		"aria-label": "processes",
		"aria-readonly": "true",
	});
	private readonly space = el("div", { class: "process-space", role: "rowgroup" });
	private readonly headRow = el("div", { class: "process-row process-head", role: "row" });
	private readonly empty = el("p", { class: "empty" });
	private readonly filterBox = el("input", {
		type: "search",
		class: "filter",
		placeholder: "filter",
		"aria-label": "filter the processes",
		spellcheck: "false",
		autocomplete: "off",
	});
	private readonly collapsed = new Set<string>();
	private readonly treeButton: HTMLButtonElement;
	private rows: ProcessRow[] = [];
	private readonly order = new Order<ProcessColumn>();
	private rangeSeconds: ReturnType<typeof processSeconds> = new Map();
	private focus = 0;

	constructor(
		private readonly ui: Ui,
		private readonly dock: Dock,
	) {
		this.treeButton = button("Tree", "show the tree again", () => this.sortBy(null), { class: "button" });
		const copy = button("Copy", "copy the rows as text", () => this.copy(), { class: "button" });
		const tools = el("div", { class: "tab-tools" }, this.treeButton, copy, this.filterBox);
		this.viewport.append(this.headRow, this.space);
		this.body.append(this.viewport, this.empty);
		this.listen();
		dock.add({
			id: "processes",
			title: "Processes",
			body: this.body,
			tools,
			shown: () => this.draw(),
			natural: () => (this.total() + 1) * ROW + FOOT,
		});
		this.renew();
	}

	private listen(): void {
		const { view } = this.ui;
		const renew = settled(60, () => this.renew());
		const draw = (): void => this.draw();
		this.filterBox.addEventListener("input", () => this.renew());
		this.viewport.addEventListener("scroll", draw, { passive: true });
		this.viewport.addEventListener("keydown", (event) => this.key(event));
		this.viewport.addEventListener("click", (event) => this.click(event));
		this.viewport.addEventListener("dblclick", (event) => this.doubleClick(event));
		const isNew = watcher(() => this.ui.store.runs.map((run) => run.processes));
		view.on("data", () => {
			if (isNew() || view.selection) renew();
		});
		view.on("selection", renew);
		view.on("process", draw);
		view.on("range", () => this.placeLives());
	}

	/* Shows that process, its parents unfolded. */
	reveal(run: number, index: number): void {
		const stored = this.ui.store.runs[run];
		if (!stored) return;
		this.filterBox.value = "";
		for (const process of ancestors(stored, index)) this.collapsed.delete(rowId(stored, process));
		this.renew();
		this.dock.show("processes");
		this.focusOn(this.rows.findIndex((row) => row.run.index === run && row.index === index));
	}

	pick(row: ProcessRow): void {
		const { view } = this.ui;
		const id = processId(row.run.index, row.process.id);
		if (view.process === id) {
			view.setProcess(null);
			view.setSelection(null);
			return;
		}
		view.setProcess(id);
		view.setSelection(processRange(row.run, row.process));
	}

	private renew(): void {
		const { store, view } = this.ui;
		this.rangeSeconds = view.selection ? processSeconds(store, view.selection) : new Map();
		this.rows = processRows(store.runs, {
			sort: this.order.column,
			down: this.order.down,
			filter: this.filterBox.value,
			collapsed: this.collapsed,
			rangeSeconds: this.rangeSeconds,
		});
		const all = this.total();
		const fitting = this.rows.reduce((sum, row) => sum + (row.fits ? 1 : 0), 0);
		const isFiltered = this.filterBox.value.trim() !== "";
		this.dock.setTitle("processes", counted("Processes", isFiltered ? fitting : all, all));
		this.empty.textContent =
			all === 0 ? "No process was followed in this recording." : "No process fits the filter.";
		this.empty.hidden = this.rows.length > 0;
		this.viewport.hidden = all === 0;
		this.treeButton.hidden = this.order.column === null;
		this.body.classList.toggle("with-range", this.rangeSeconds.size > 0);
		this.body.classList.toggle("with-runs", store.runs.length > 1);
		this.space.style.height = `${this.rows.length * ROW}px`;
		this.viewport.setAttribute("aria-rowcount", String(this.rows.length + 1));
		this.focus = Math.min(this.focus, Math.max(this.rows.length - 1, 0));
		this.drawHead();
		this.draw();
	}

	private total(): number {
		return this.ui.store.runs.reduce((sum, run) => sum + (run.processes?.length ?? 0), 0);
	}

	private drawHead(): void {
		const heads = COLUMNS.map(({ id, name, help, text }) => {
			const cell = el(
				"div",
				{ class: `cell cell-${id} ${text ? "" : "number"}`, role: "columnheader" },
				button(name, `${help}: sort`, () => this.sortBy(id), { class: "sort", "data-sort": id }),
			);
			return [id, cell] as [ProcessColumn, HTMLElement];
		});
		const focused = (document.activeElement as HTMLElement | null)?.dataset["sort"];
		this.order.mark(heads);
		this.headRow.replaceChildren(...heads.map(([, cell]) => cell));
		if (focused) this.headRow.querySelector<HTMLElement>(`[data-sort="${focused}"]`)?.focus();
	}

	private sortBy(column: ProcessColumn | null): void {
		const isText = COLUMNS.find(({ id }) => id === column)?.text ?? column === "start";
		this.order.turn(column, column !== "pid" && !isText);
		this.viewport.scrollTop = 0;
		this.renew();
	}

	private draw(): void {
		if (this.body.hidden) return;
		const first = Math.max(Math.floor(this.viewport.scrollTop / ROW) - BEYOND, 0);
		const end = Math.min(
			first + Math.ceil(this.viewport.clientHeight / ROW) + 2 * BEYOND,
			this.rows.length,
		);
		const rows: HTMLElement[] = [];
		for (let i = first; i < end; i++) {
			const row = this.rows[i];
			if (row) rows.push(this.rowElement(row, i));
		}
		this.space.replaceChildren(...rows);
		const active = this.rows[this.focus];
		if (active) this.viewport.setAttribute("aria-activedescendant", `process-row-${this.focus}`);
		else this.viewport.removeAttribute("aria-activedescendant");
	}

	private rowElement(row: ProcessRow, i: number): HTMLElement {
		const { run, process } = row;
		const id = processId(run.index, process.id);
		const element = el("div", {
			class: `process-row${process.failed ? " process-failed" : ""}${i === this.focus ? " process-focus" : ""}`,
			role: "row",
			id: `process-row-${i}`,
			"data-row": i,
			"data-pid": process.pid,
			"aria-rowindex": i + 2,
			"aria-level": row.depth + 1,
			"aria-selected": String(this.ui.view.process === id),
		});
		if (row.children) element.setAttribute("aria-expanded", String(!row.collapsed));
		element.style.transform = `translateY(${i * ROW}px)`;
		for (const { id: column, text } of COLUMNS) {
			const cell = el("div", {
				class: `cell cell-${column} ${text ? "" : "number"}`,
				role: "gridcell",
			});
			this.fill(cell, column, row);
			element.append(cell);
		}
		return element;
	}

	private fill(cell: HTMLElement, column: ProcessColumn, row: ProcessRow): void {
		const { process, run } = row;
		switch (column) {
			case "name":
				this.fillName(cell, row);
				return;
			case "command":
				cell.append(marked(process.command, this.filterBox.value));
				cell.title = visible(process.command);
				return;
			case "life":
				cell.append(
					this.lifeBar(row),
					el("span", {}, duration(lifeOf(run, process)) + (process.end_s === null ? " +" : "")),
				);
				return;
			case "status":
				if (process.failed)
					cell.append(el("span", { class: "bad-sign", "aria-hidden": "true" }, "✕ "));
				cell.append(outside(process.status));
				return;
			default:
				cell.append(this.textOf(column, row));
		}
	}

	private textOf(column: ProcessColumn, { process, run }: ProcessRow): string {
		switch (column) {
			case "pid":
				return String(process.pid);
			case "start":
				return instant(process.start_s - run.shift_s, this.ui.view.full.end - this.ui.view.full.from);
			case "cpu":
				return duration(process.cpu_s);
			case "range": {
				const known = this.rangeSeconds.get(rowId(run, process));
				return known ? (known.exact ? "" : "≈ ") + duration(known.cpu_s) : NOTHING;
			}
			case "rss":
				return bytes(process.rss_peak_bytes);
			case "read":
				return bytes(process.read_bytes);
			default:
				return bytes(process.written_bytes);
		}
	}

	private fillName(cell: HTMLElement, row: ProcessRow): void {
		cell.style.paddingInlineStart = `${8 + Math.min(row.depth, DEEPEST) * INDENT}px`;
		const fold = el(
			"span",
			{ class: "fold", "aria-hidden": "true" },
			row.children ? (row.collapsed ? "▸" : "▾") : "",
		);
		if (this.order.column === null) cell.append(fold);
		cell.append(marked(row.process.name, this.filterBox.value, { class: "process-name" }));
		const hint = sampleHint(row.process);
		if (hint) cell.append(el("span", { class: "no-samples" }, "no samples"));
		/* Behind the name, which it must not displace: of the tag its line is enough. */
		const label = runLabel(this.ui.store, row.run.index);
		if (label) cell.append(outside(label, { class: `run-tag run-${row.run.index % 4}` }));
		cell.title = [row.process.name, label].filter((text) => text !== "").map(visible).join(" · ");
		if (hint) cell.title += `\n${hint}`;
	}

	private lifeBar(row: ProcessRow): HTMLElement {
		const part = el("span", { class: "life-part" });
		this.placeLife(part, row);
		return el("span", { class: "life-bar" }, part);
	}

	private placeLife(part: HTMLElement, { run, process }: ProcessRow): void {
		const { range } = this.ui.view;
		const length = range.end - range.from;
		const life = processRange(run, process);
		const from = Math.min(Math.max((life.from - range.from) / length, 0), 1);
		const end = Math.min(Math.max((life.end - range.from) / length, 0), 1);
		part.style.left = `${(100 * from).toFixed(2)}%`;
		part.style.width = `max(1px, ${(100 * (end - from)).toFixed(2)}%)`;
		part.hidden = life.end < range.from || life.from > range.end;
	}

	/* With each frame of a moving range; the rest of the rows does not depend on it. */
	private placeLives(): void {
		if (this.body.hidden) return;
		this.space.querySelectorAll<HTMLElement>(".process-row").forEach((element) => {
			const row = this.rows[Number(element.dataset["row"])];
			const part = element.querySelector<HTMLElement>(".life-part");
			if (row && part) this.placeLife(part, row);
		});
	}

	private rowAt(event: Event): ProcessRow | undefined {
		const element = (event.target as Element).closest<HTMLElement>("[data-row]");
		if (!element) return undefined;
		this.focus = Number(element.dataset["row"]);
		return this.rows[this.focus];
	}

	private click(event: MouseEvent): void {
		const row = this.rowAt(event);
		if (!row) return;
		if (row.children && (event.target as Element).closest(".fold")) this.fold(row, !row.collapsed);
		else if (event.detail < 2) this.pick(row);
	}

	private doubleClick(event: MouseEvent): void {
		const row = this.rowAt(event);
		if (!row || (event.target as Element).closest(".fold")) return;
		this.ui.view.setProcess(processId(row.run.index, row.process.id));
		zoomTo(this.ui, processRange(row.run, row.process));
	}

	private fold(row: ProcessRow, collapsed: boolean): void {
		if (collapsed) this.collapsed.add(rowId(row.run, row.process));
		else this.collapsed.delete(rowId(row.run, row.process));
		this.renew();
	}

	private focusOn(i: number): void {
		if (i < 0 || i >= this.rows.length) return;
		this.focus = i;
		const top = i * ROW;
		const height = this.viewport.clientHeight - ROW;
		if (top < this.viewport.scrollTop) this.viewport.scrollTop = top;
		else if (top + ROW > this.viewport.scrollTop + height) this.viewport.scrollTop = top + ROW - height;
		this.draw();
	}

	private key(event: KeyboardEvent): void {
		if (event.target !== this.viewport || event.ctrlKey || event.metaKey || event.altKey) return;
		const page = Math.max(Math.floor(this.viewport.clientHeight / ROW) - 2, 1);
		const steps: Record<string, number> = {
			ArrowDown: 1,
			ArrowUp: -1,
			PageDown: page,
			PageUp: -page,
			Home: -1e9,
			End: 1e9,
		};
		const step = steps[event.key];
		const row = this.rows[this.focus];
		if (step !== undefined) this.focusOn(Math.min(Math.max(this.focus + step, 0), this.rows.length - 1));
		else if (!row) return;
		else if (event.key === "Enter" && event.shiftKey) zoomTo(this.ui, processRange(row.run, row.process));
		else if (event.key === "Enter" || event.key === " ") this.pick(row);
		else if (event.key === "ArrowRight" && row.children) this.fold(row, false);
		else if (event.key === "ArrowLeft") this.foldOrParent(row);
		else return;
		event.preventDefault();
		event.stopPropagation();
	}

	private foldOrParent(row: ProcessRow): void {
		if (row.children && !row.collapsed) this.fold(row, true);
		else
			this.focusOn(
				this.rows.findIndex((one) => one.run === row.run && one.index === row.process.parent),
			);
	}

	private copy(): void {
		const range = this.rangeSeconds.size > 0;
		const head = [
			"pid",
			"name",
			"command",
			"start_s",
			"life_s",
			"cpu_s",
			...(range ? ["range_cpu_s"] : []),
		];
		const lines = [[...head, "rss_peak_bytes", "read_bytes", "written_bytes", "status"].join("\t")];
		for (const { process, run } of this.rows) {
			const part = this.rangeSeconds.get(rowId(run, process))?.cpu_s;
			const cells = [
				process.pid,
				visible(process.name),
				visible(process.command),
				bare(process.start_s - run.shift_s),
			];
			cells.push(
				bare(lifeOf(run, process)),
				bare(process.cpu_s),
				...(range ? [bare(part)] : []),
				process.rss_peak_bytes ?? "",
			);
			cells.push(process.read_bytes ?? "", process.written_bytes ?? "", visible(process.status));
			lines.push(cells.map((cell) => field(String(cell))).join("\t"));
		}
		void copyText(this.ui, `${lines.join("\n")}\n`, "processes");
	}
}
