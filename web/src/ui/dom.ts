/* Elements made of texts, never of markup: whatever a recording says stays text. */

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

const INVISIBLE =
	/[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

function symbolOf(character: string): string {
	const code = character.charCodeAt(0);
	if (code < 0x20) return String.fromCharCode(0x2400 + code);
	if (code === 0x7f) return "\u2421";
	if (code >= 0xd800 && code <= 0xdfff) return "\ufffd";
	return `\u27e8U+${code.toString(16).toUpperCase().padStart(4, "0")}\u27e9`;
}

/* Control characters, those that turn the direction and those without width, made visible. */
export function visible(text: string): string {
	return text.replace(INVISIBLE, symbolOf);
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
