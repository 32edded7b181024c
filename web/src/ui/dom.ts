/* Elements made of texts, never of markup: whatever a recording says stays text. */
import { visible } from "../text.js";
import { hits } from "./match.js";

export { visible };

export type Child = Node | string | null | undefined | false;
type Handler = (event: never) => void;
export type Attributes = Record<string, string | number | boolean | Handler | null | undefined>;

function setAttribute(element: Element, name: string, value: Attributes[string]): void {
	if (value === null || value === undefined || value === false) return;
	if (typeof value === "function") element.addEventListener(name, value as EventListener);
	else element.setAttribute(name, value === true ? "" : String(value));
}

/* A function among the attributes is a listener: { click: … }. */
export function el<K extends keyof HTMLElementTagNameMap>(
	tag: K,
	attributes: Attributes = {},
	...children: Child[]
): HTMLElementTagNameMap[K] {
	const element = document.createElement(tag);
	for (const [name, value] of Object.entries(attributes)) setAttribute(element, name, value);
	for (const child of children) if (child) element.append(child);
	return element;
}

export function button(
	text: string,
	label: string,
	click: () => void,
	attributes: Attributes = {},
): HTMLButtonElement {
	return el("button", { type: "button", title: label, "aria-label": label, click, ...attributes }, text);
}

/* A text of the recording; its direction stays within it. */
export function outside(text: string, attributes: Attributes = {}): HTMLElement {
	return el("bdi", attributes, visible(text));
}

/* An <svg> of one path on 16 x 16. */
export function icon(path: string): SVGSVGElement {
	const space = "http://www.w3.org/2000/svg";
	const svg = document.createElementNS(space, "svg");
	for (const [name, value] of [
		["viewBox", "0 0 16 16"],
		["class", "icon"],
		["aria-hidden", "true"],
	] as const)
		svg.setAttribute(name, value);
	const shape = document.createElementNS(space, "path");
	shape.setAttribute("d", path);
	svg.append(shape);
	return svg;
}

export function iconButton(
	path: string,
	label: string,
	click: () => void,
	attributes: Attributes = {},
): HTMLButtonElement {
	const result = button("", label, click, attributes);
	result.append(icon(path));
	return result;
}

/* Is the keyboard writing into something? */
export function isTyping(target: EventTarget | null): boolean {
	if (!(target instanceof HTMLElement)) return false;
	if (
		target.isContentEditable ||
		target instanceof HTMLTextAreaElement ||
		target instanceof HTMLSelectElement
	)
		return true;
	return target instanceof HTMLInputElement && !["checkbox", "radio", "button"].includes(target.type);
}

/* Calls it once, a while after the last of many calls. */
export function settled(wait_ms: number, call: () => void): { (): void; now(): void } {
	let timer: ReturnType<typeof setTimeout> | undefined;
	const later = (): void => {
		clearTimeout(timer);
		timer = setTimeout(() => {
			timer = undefined;
			call();
		}, wait_ms);
	};
	later.now = (): void => {
		if (timer === undefined) return;
		clearTimeout(timer);
		timer = undefined;
		call();
	};
	return later;
}

/* As high as the window leaves it: what drops down is not cut at the bottom. */
export function fitBelow(element: HTMLElement, most: number): void {
	const room = innerHeight - element.getBoundingClientRect().top - 12;
	element.style.maxHeight = `${Math.max(Math.min(most, room), 120)}px`;
}

/* The text with those parts marked that a filter looks for; its direction stays within it. */
export function marked(text: string, filter: string, attributes: Attributes = {}): HTMLElement {
	const shown = visible(text);
	const element = el("bdi", attributes);
	let at = 0;
	for (const { from, end } of hits(shown, filter)) {
		element.append(shown.slice(at, from), el("mark", {}, shown.slice(from, end)));
		at = end;
	}
	element.append(shown.slice(at));
	return element;
}
