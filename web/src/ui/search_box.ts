/* The search box: finds in groups below it, chosen by keyboard or mouse. */
import { processId, seriesId } from "../state.js";
import { type Ui, goToPanel, padded, processRange, watcher, zoomTo } from "./context.js";
import { el, fitBelow, settled } from "./dom.js";
import type { ProcessTable } from "./process_table.js";
import { type Item, itemsOf, search } from "./search.js";
import type { Walk } from "./walk.js";

const TALLEST = 560;

export class SearchBox {
	readonly element = el("div", { class: "search", role: "search" });
	private readonly input = el("input", {
		type: "search",
		class: "search-input",
		placeholder: "Search  /",
		role: "combobox",
		"aria-label": "search processes, regions, marks, panels, curves",
		"aria-expanded": "false",
		"aria-controls": "search-list",
		"aria-autocomplete": "list",
		spellcheck: "false",
		autocomplete: "off",
	});
	private readonly list = el("div", {
		class: "search-list",
		id: "search-list",
		role: "listbox",
		"aria-label": "finds",
	});
	private items: Item[] | null = null;
	private found: Item[] = [];
	private chosen = 0;

	constructor(
		private readonly ui: Ui,
		private readonly walk: Walk,
		private readonly processes: ProcessTable,
	) {
		this.list.hidden = true;
		this.element.append(this.input, this.list);
		const find = settled(40, () => this.find());
		this.input.addEventListener("input", find);
		this.input.addEventListener("focus", () => this.find());
		this.input.addEventListener("blur", () => this.close());
		this.input.addEventListener("keydown", (event) => {
			find.now();
			this.key(event);
		});
		/* A press on the list must not take the focus from the box: that would close it. */
		this.list.addEventListener("pointerdown", (event) => event.preventDefault());
		const isNew = watcher(() => [
			walk.names(),
			ui.store.panels.length,
			...ui.store.runs.map((run) => run.processes),
		]);
		ui.view.on("data", () => {
			if (isNew()) this.items = null;
		});
	}

	focus(): void {
		this.input.focus({ preventScroll: true });
		this.input.select();
	}

	private close(): void {
		this.list.hidden = true;
		this.input.setAttribute("aria-expanded", "false");
		this.input.removeAttribute("aria-activedescendant");
	}

	private find(): void {
		const query = this.input.value.trim();
		if (query === "") {
			this.found = [];
			this.close();
			return;
		}
		const groups = search(query, (this.items ??= itemsOf(this.ui.store, this.walk.names())));
		this.found = groups.flatMap(({ items }) => items);
		this.chosen = 0;
		this.list.replaceChildren();
		let place = 0;
		for (const { group, items, more } of groups) {
			const head = el(
				"div",
				{ class: "search-group", role: "presentation" },
				group,
				more ? ` · ${more.toLocaleString("en")} more` : "",
			);
			this.list.append(head, ...items.map((item) => this.option(item, place++)));
		}
		if (groups.length === 0) this.list.append(el("p", { class: "empty" }, "nothing of that name"));
		this.list.hidden = false;
		fitBelow(this.list, TALLEST);
		this.input.setAttribute("aria-expanded", "true");
		this.mark();
	}

	private option(item: Item, place: number): HTMLElement {
		return el(
			"div",
			{ class: "search-item", role: "option", id: `find-${place}`, click: () => this.take(place) },
			el("bdi", { class: "search-title" }, item.title),
			el("bdi", { class: "search-detail" }, item.detail),
		);
	}

	private mark(): void {
		this.list.querySelectorAll(".search-item").forEach((option, i) => {
			option.setAttribute("aria-selected", String(i === this.chosen));
			if (i === this.chosen) option.scrollIntoView({ block: "nearest" });
		});
		if (this.found.length) this.input.setAttribute("aria-activedescendant", `find-${this.chosen}`);
	}

	private key(event: KeyboardEvent): void {
		const { length } = this.found;
		if (event.key === "ArrowDown" || event.key === "ArrowUp") {
			if (length === 0) return;
			this.chosen = (this.chosen + (event.key === "ArrowDown" ? 1 : length - 1)) % length;
			this.mark();
		} else if (event.key === "Enter") this.take(this.chosen);
		else if (event.key === "Escape") this.escape();
		else return;
		event.preventDefault();
		event.stopPropagation();
	}

	private escape(): void {
		if (this.list.hidden) this.input.value = "";
		if (this.input.value === "") this.input.blur();
		this.close();
	}

	private take(place: number): void {
		const item = this.found[place];
		if (!item) return;
		this.close();
		this.input.blur();
		this.jump(item);
	}

	private jump({ target }: Item): void {
		const { ui } = this;
		if (target.kind === "region") {
			this.walk.go(target.stats, 0);
			goToPanel(ui, "regions");
			return;
		}
		if (target.kind === "process") {
			const run = ui.store.runs[target.run];
			const process = run?.processes?.[target.index];
			if (!run || !process) return;
			this.processes.reveal(target.run, target.index);
			ui.view.setProcess(processId(target.run, process.id));
			zoomTo(ui, padded(ui, processRange(run, process)));
			return;
		}
		if (target.kind === "curve" && ui.view.hidden.has(seriesId(target.run, target.key)))
			ui.view.toggle(seriesId(target.run, target.key));
		goToPanel(ui, target.panel);
	}
}
