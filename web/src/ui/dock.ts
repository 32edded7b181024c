/* The sheet at the bottom with its tabs: processes, regions, figures of the selection. */
import { el, iconButton } from "./dom.js";
import { remember, remembered } from "./memory.js";

export interface Tab {
	id: string;
	title: string;
	body: HTMLElement;
	/* It can be seen from now on, or its place has another size. */
	shown(): void;
	/* The height that shows all of it, in pixels. */
	natural?(): number;
	/* Buttons beside the tabs while it is open. */
	tools?: HTMLElement;
}

const LEAST = 96;
const DOWN = "M3 6l5 5 5-5";

export class Dock {
	readonly element = el("section", { class: "dock", "aria-label": "processes, regions, selection" });
	private readonly tablist = el("div", { class: "tabs", role: "tablist" });
	private readonly toolbox = el("div", { class: "dock-tools" });
	private readonly body = el("div", { class: "dock-body" });
	private readonly tabs: Tab[] = [];
	private readonly buttons = new Map<string, HTMLButtonElement>();
	private open: string | null = null;
	private height = 0;

	constructor() {
		const grip = el("div", {
			class: "dock-grip",
			role: "separator",
			"aria-orientation": "horizontal",
			"aria-label": "height of the tables",
			tabindex: 0,
		});
		const close = iconButton(DOWN, "close the tables (Esc)", () => this.show(null), {
			class: "icon-button dock-close",
		});
		const head = el("div", { class: "dock-head" }, this.tablist, this.toolbox, close);
		this.element.append(grip, head, this.body);
		this.dragBy(grip);
		this.height = Number(remembered("dock")) || 0;
		this.tablist.addEventListener("keydown", (event) => this.alongTabs(event));
		addEventListener("resize", () => this.layout());
	}

	add(tab: Tab): void {
		this.tabs.push(tab);
		tab.body.id = `tab-${tab.id}`;
		tab.body.setAttribute("role", "tabpanel");
		tab.body.setAttribute("aria-labelledby", `tab-of-${tab.id}`);
		tab.body.hidden = true;
		const button = el("button", {
			type: "button",
			class: "tab",
			role: "tab",
			id: `tab-of-${tab.id}`,
			"aria-controls": tab.body.id,
			"aria-selected": "false",
			click: () => this.toggle(tab.id),
		});
		button.textContent = tab.title;
		this.buttons.set(tab.id, button);
		this.tablist.append(button);
		this.body.append(tab.body);
	}

	setTitle(id: string, title: string): void {
		const button = this.buttons.get(id);
		if (button && button.textContent !== title) button.textContent = title;
	}

	setVisible(id: string, isVisible: boolean): void {
		const button = this.buttons.get(id);
		if (button) button.hidden = !isVisible;
		if (!isVisible && this.open === id) this.show(null);
	}

	get shownTab(): string | null {
		return this.open;
	}

	show(id: string | null): void {
		this.open = id;
		for (const tab of this.tabs) {
			const isOpen = tab.id === id;
			tab.body.hidden = !isOpen;
			const button = this.buttons.get(tab.id);
			button?.setAttribute("aria-selected", String(isOpen));
			if (isOpen) this.toolbox.replaceChildren(...(tab.tools ? [tab.tools] : []));
		}
		if (!id) this.toolbox.replaceChildren();
		this.element.classList.toggle("dock-open", id !== null);
		this.layout();
	}

	toggle(id: string): void {
		this.show(this.open === id ? null : id);
	}

	private most(): number {
		return Math.max(LEAST, Math.round(innerHeight * 0.75));
	}

	private layout(): void {
		const natural = this.tabs.find((tab) => tab.id === this.open)?.natural?.() ?? Infinity;
		const wish = this.height || Math.min(Math.round(innerHeight * 0.36), 340, natural);
		const height = Math.min(Math.max(wish, LEAST), this.most());
		this.body.style.height = this.open ? `${height}px` : "0";
		document.documentElement.style.setProperty("--dock-height", `${this.element.offsetHeight}px`);
		this.tabs.find((tab) => tab.id === this.open)?.shown();
	}

	private resize(height: number): void {
		this.height = Math.min(Math.max(height, LEAST), this.most());
		this.layout();
		remember("dock", String(this.height));
	}

	private dragBy(grip: HTMLElement): void {
		grip.addEventListener("pointerdown", (event) => {
			if (!this.open) return;
			const start = event.clientY;
			const height = this.body.offsetHeight;
			grip.setPointerCapture(event.pointerId);
			const move = (to: PointerEvent): void => this.resize(height + start - to.clientY);
			grip.addEventListener("pointermove", move);
			grip.addEventListener("lostpointercapture", () => grip.removeEventListener("pointermove", move), {
				once: true,
			});
		});
		grip.addEventListener("keydown", (event) => {
			if (event.key !== "ArrowUp" && event.key !== "ArrowDown") return;
			event.preventDefault();
			event.stopPropagation();
			this.resize(this.body.offsetHeight + (event.key === "ArrowUp" ? 32 : -32));
		});
	}

	private alongTabs(event: KeyboardEvent): void {
		const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
		if (by === 0) return;
		const buttons = [...this.buttons.values()].filter((button) => !button.hidden);
		const at = buttons.indexOf(document.activeElement as HTMLButtonElement);
		buttons[(at + by + buttons.length) % buttons.length]?.focus();
		event.preventDefault();
		event.stopPropagation();
	}
}
