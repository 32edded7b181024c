/* The panel picker: which panels are shown, by their groups; what was chosen is remembered. */
import { type Ui, goToPanel, panelElement } from "./context.js";
import { button, el, fitBelow, visible } from "./dom.js";
import { remember, remembered } from "./memory.js";

interface Pickable {
	id: string;
	title: string;
	group: string;
}

/* Panels of the data, and those that charts make besides: lanes of regions. */
function pickable(ui: Ui): Pickable[] {
	const known = new Set(ui.store.panels.map(({ id }) => id));
	const extra: Pickable[] = [];
	document.querySelectorAll<HTMLElement>("[data-panel]").forEach((element) => {
		const id = element.dataset["panel"] ?? "";
		if (known.has(id)) return;
		known.add(id);
		extra.push({
			id,
			title: element.getAttribute("aria-label") ?? id,
			group: element.dataset["group"] ?? "Regions",
		});
	});
	return [
		...extra,
		...ui.store.panels.map(({ id, panel }) => ({ id, title: panel.title, group: panel.group })),
	];
}

function byGroup(panels: readonly Pickable[]): Map<string, Pickable[]> {
	const groups = new Map<string, Pickable[]>();
	for (const panel of panels) groups.set(panel.group, [...(groups.get(panel.group) ?? []), panel]);
	return groups;
}

const TALLEST = 640;

export class Picker {
	readonly element = el("div", {
		class: "popover picker",
		role: "dialog",
		"aria-label": "panels that are shown",
	});
	private opener: HTMLElement | null = null;

	constructor(private readonly ui: Ui) {
		this.element.hidden = true;
		const { view } = ui;
		view.on("panels", () => {
			remember("panels", [...view.hiddenPanels].join("\n"));
			this.fill();
		});
		view.on("data", () => this.fill());
		if (view.hiddenPanels.size === 0 && !/[#&]hide=/.test(location.hash))
			for (const id of (remembered("panels") ?? "").split("\n")) if (id) view.hiddenPanels.add(id);
		document.addEventListener("pointerdown", (event) => {
			const target = event.target as Node;
			if (!this.element.hidden && !this.element.contains(target) && !this.opener?.contains(target))
				this.toggle();
		});
	}

	toggle(opener: HTMLElement | null = this.opener): void {
		this.opener = opener;
		this.element.hidden = !this.element.hidden;
		opener?.setAttribute("aria-expanded", String(!this.element.hidden));
		if (this.element.hidden) opener?.focus({ preventScroll: true });
		else {
			this.fill();
			fitBelow(this.element, TALLEST);
			this.element.querySelector<HTMLElement>("input, button")?.focus({ preventScroll: true });
		}
	}

	private set(panels: readonly Pickable[], isShown: boolean): void {
		for (const { id } of panels)
			if (isShown) this.ui.view.hiddenPanels.delete(id);
			else this.ui.view.hiddenPanels.add(id);
		this.ui.view.tell("panels");
	}

	private fill(): void {
		if (this.element.hidden) return;
		const panels = pickable(this.ui);
		const focused = (document.activeElement as HTMLElement | null)?.dataset["pick"];
		const all = el(
			"div",
			{ class: "picker-all" },
			button("Show all", "show all panels", () => this.set(panels, true), {
				class: "button",
				"data-pick": "all",
			}),
			button("Hide all", "hide all panels", () => this.set(panels, false), {
				class: "button",
				"data-pick": "none",
			}),
		);
		this.element.replaceChildren(
			all,
			...[...byGroup(panels)].map(([group, members]) => this.group(group, members)),
		);
		if (focused)
			this.element
				.querySelector<HTMLElement>(`[data-pick="${CSS.escape(focused)}"]`)
				?.focus({ preventScroll: true });
	}

	private box(pick: string, isShown: boolean, change: (isShown: boolean) => void): HTMLInputElement {
		const box = el("input", { type: "checkbox", "data-pick": pick });
		box.checked = isShown;
		box.addEventListener("change", () => change(box.checked));
		return box;
	}

	private group(group: string, members: readonly Pickable[]): HTMLElement {
		const { view } = this.ui;
		const shown = members.filter(({ id }) => !view.hiddenPanels.has(id)).length;
		const whole = this.box(`group ${group}`, shown > 0, (isShown) => this.set(members, isShown));
		whole.indeterminate = shown > 0 && shown < members.length;
		const rows = members.map((panel) => this.row(panel));
		const first = members.find(({ id }) => panelElement(id));
		const head = el(
			"div",
			{ class: "picker-row picker-head" },
			el("label", { class: "picker-group" }, whole, el("bdi", {}, visible(group))),
			first ? this.goButton(first.id, group) : null,
		);
		return el(
			"div",
			{ class: "picker-part", role: "group", "aria-label": visible(group) },
			head,
			...rows,
		);
	}

	private row(panel: Pickable): HTMLElement {
		const isShown = !this.ui.view.hiddenPanels.has(panel.id);
		const box = this.box(panel.id, isShown, (isWished) => this.set([panel], isWished));
		const label = el("label", {}, box, el("bdi", {}, visible(panel.title)));
		return el("div", { class: "picker-row" }, label, this.goButton(panel.id, panel.title));
	}

	private goButton(id: string, title: string): HTMLElement {
		const go = button("↦", `go to ${visible(title)}`, () => goToPanel(this.ui, id), {
			class: "picker-go",
			"data-pick": `go ${title} ${id}`,
		});
		go.disabled = panelElement(id) === null;
		return go;
	}
}
