/* The charts: the time axis, lanes of regions, and one card a panel, in groups. */
import { plainText } from "../format.js";
import type { View } from "../state.js";
import type { Recordings } from "../store/recordings.js";
import { TimeAxis } from "./axis.js";
import { Lanes } from "./lanes.js";
import { PanelCard } from "./panel.js";
import { watchSpace } from "./pointer.js";
import { part, Stage } from "./stage.js";

class Groups {
	private readonly cards = new Map<string, PanelCard>();
	private readonly sections = new Map<string, HTMLElement>();

	constructor(
		private readonly stage: Stage,
		private readonly main: HTMLElement,
	) {}

	/* Cards of panels that are new, where they belong; which are hidden. */
	fill(): void {
		const { store, view } = this.stage;
		const last = new Map<string, HTMLElement>();
		for (const [id, card] of this.cards) {
			if (store.panels.includes(card.stored)) continue;
			this.stage.remove(card);
			card.card.remove();
			this.cards.delete(id);
		}
		for (const stored of store.panels) {
			const { group } = stored.panel;
			const section = this.section(group);
			let card = this.cards.get(stored.id);
			if (!card) {
				card = new PanelCard(this.stage, stored);
				this.cards.set(stored.id, card);
				const before = last.get(group);
				if (before) before.after(card.card);
				else section.querySelector("h2")!.after(card.card);
				this.stage.add(card);
			}
			last.set(group, card.card);
			card.card.hidden = view.hiddenPanels.has(stored.id);
		}
		for (const section of this.sections.values()) {
			const seen = [...section.querySelectorAll<HTMLElement>(".panel")].some((card) => !card.hidden);
			section.hidden = !seen;
		}
	}

	private section(group: string): HTMLElement {
		let section = this.sections.get(group);
		if (section) return section;
		section = part("section", "group");
		section.dataset.group = group;
		const title = part("h2", "");
		const fold = part("button", "group-fold", plainText(group));
		fold.type = "button";
		fold.setAttribute("aria-expanded", "true");
		const folded = section;
		fold.addEventListener("click", () => {
			const closed = folded.classList.toggle("folded");
			fold.setAttribute("aria-expanded", String(!closed));
		});
		title.append(fold);
		section.append(title);
		this.sections.set(group, section);
		this.main.append(section);
		return section;
	}
}

export function startCharts(view: View, store: Recordings): void {
	const main = document.getElementById("panels")!;
	const stage = new Stage(view, store);
	watchSpace();

	const axis = new TimeAxis(stage);
	main.append(axis.bar);
	stage.add(axis);
	const lanes = new Lanes(stage);
	const said = part("section", "said");
	said.dataset.panel = "regions";
	said.setAttribute("aria-label", "Regions and marks");
	said.append(lanes.element, lanes.names.element);
	main.append(said);
	stage.add(lanes);
	const groups = new Groups(stage, main);
	const fill = (): void => {
		said.hidden = lanes.empty || view.hiddenPanels.has("regions");
		groups.fill();
	};
	view.on("data", fill);
	view.on("panels", fill);
	fill();
}
