/* The charts: the time axis, lanes of regions, and one card a panel, in groups. */
import type { View } from "../state.js";
import type { Recordings } from "../store/recordings.js";
import { TimeAxis } from "./axis.js";
import { Lanes } from "./lanes.js";
import { PanelCard } from "./panel.js";
import { watchSpace } from "./pointer.js";
import { part, Stage } from "./stage.js";
import { timeStep, timeTicks } from "./ticks.js";
import { visible } from "../ui/dom.js";

const MOST_LABEL = 260; /* pixels */

function idle(): Promise<void> {
	return new Promise((resolve) => {
		if ("requestIdleCallback" in window) requestIdleCallback(() => resolve(), { timeout: 200 });
		else setTimeout(resolve);
	});
}

class Groups {
	private readonly cards = new Map<string, PanelCard>();
	private readonly sections = new Map<string, HTMLElement>();
	private ruler: CanvasRenderingContext2D | null = null;

	constructor(
		private readonly stage: Stage,
		private readonly main: HTMLElement,
	) {}

	/* Legends are as wide as what is in them, within bounds: all the same, for one time axis. */
	widen(): void {
		const context = (this.ruler ??= document.createElement("canvas").getContext("2d"));
		if (!context) return;
		context.font = this.stage.inks.font;
		let most = 0;
		for (const card of this.cards.values()) most = Math.max(most, card.labelWidth((text) => context.measureText(text).width));
		this.main.style.setProperty("--labels", `${Math.round(Math.min(Math.max(most + 8, 90), MOST_LABEL))}px`);
	}

	/* What the whole time needs, a panel at a time, when there is nothing else to do. */
	async loadAll(): Promise<void> {
		for (const card of [...this.cards.values()]) {
			await idle();
			await card.wantAll();
		}
	}

	/* On paper the last panel of a group says when; the bar is on the first sheet alone. */
	paper(printing: boolean): void {
		for (const axis of this.main.querySelectorAll(".paper-axis")) axis.remove();
		if (!printing) return;
		const { from, end } = this.stage.view.range;
		for (const section of this.sections.values()) {
			const cards = [...section.querySelectorAll<HTMLElement>(".panel:not(.low)")].filter((card) => !card.hidden);
			const axis = part("div", "paper-axis");
			for (const { at, text } of timeTicks(from, end, timeStep(end - from, 8))) {
				const share = (at - from) / (end - from);
				if (share > 0.95) continue;
				const label = part("span", "", text);
				label.style.left = `${share * 100}%`;
				axis.append(label);
			}
			cards[cards.length - 1]?.querySelector(".plot")!.after(axis);
		}
	}

	/* Cards of panels that are new, where they belong; which are hidden. */
	fill(): void {
		const { store, view } = this.stage;
		this.main.classList.toggle("several", store.runs.length > 1);
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
		this.widen();
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
		const fold = part("button", "group-fold", visible(group));
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

/* Ready: loaded, and drawn twice: with the frame that is told of it, and what that one asked for. */
async function settle(load: () => Promise<void>, store: Recordings): Promise<void> {
	const frame = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 40));
	if (document.readyState === "loading") await new Promise((resolve) => addEventListener("DOMContentLoaded", resolve, { once: true }));
	await load();
	for (let calm = 0; calm < 3; calm = store.idle ? calm + 1 : 0) await frame();
}

/* Resolves when all is loaded, and what is in sight is drawn. */
export async function startCharts(view: View, store: Recordings): Promise<void> {
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
	view.on("print", () => groups.paper(view.printing));
	fill();
	await settle(() => groups.loadAll(), store);
}
