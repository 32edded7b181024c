/* Texts on plots: names that people can read, clipped to their room, and readable upon curves. */
import { visible } from "../ui/dom.js";

const ROLLUPS = new Set(["sum", "avg", "min", "max"]);

/* A raw name of a metric in words: "sm__cycles_active.max" is "sm cycles active, max"; other labels stay. */
export function humane(label: string): string {
	const found = /^([a-z0-9]+)__([a-z0-9_]+)((?:\.[a-z0-9_…]*)*)$/.exec(label);
	if (!found) return label;
	const [, unit, what, more] = found;
	const rollup = more.split(".").find((one) => ROLLUPS.has(one));
	return `${unit} ${what.replace(/_/g, " ")}${rollup ? `, ${rollup}` : ""}`;
}

/* Of a reference: the panel says already of what it is. */
export function referenceOf(label: string): string {
	return visible(/^[a-z0-9]+__\S* at most$/.test(label) ? "at most" : label);
}

/* Upon what is drawn, on a ground of the card's colour: curves do not strike it through. Aligned right, by its top. */
export function grounded(context: CanvasRenderingContext2D, text: string, right: number, top: number, card: string): void {
	const { fillStyle } = context;
	const wide = context.measureText(text).width;
	context.globalAlpha = 0.86;
	context.fillStyle = card;
	context.fillRect(right - wide - 3, top - 1, wide + 6, 13);
	context.globalAlpha = 1;
	context.fillStyle = fillStyle;
	context.fillText(text, right, top);
}

/* As much of it as there is room for. */
export function clipped(context: CanvasRenderingContext2D, text: string, room: number): string {
	if (text.length * 4 < room && context.measureText(text).width <= room) return text;
	let low = 0;
	let high = Math.min(text.length, Math.ceil(room / 3));
	if (context.measureText(text.slice(0, high)).width <= room && high === text.length) return text;
	while (low < high) {
		const middle = (low + high + 1) >> 1;
		if (context.measureText(`${text.slice(0, middle)}…`).width <= room) low = middle;
		else high = middle - 1;
	}
	return low === 0 ? "" : `${text.slice(0, low)}…`;
}

/* What all of them begin with, in whole words: beside each row it only takes room. */
export function commonStart(labels: readonly string[]): number {
	if (labels.length < 2) return 0;
	const [first] = labels;
	let same = 0;
	while (same < first.length && labels.every((label) => label[same] === first[same])) same++;
	return first.lastIndexOf(" ", Math.max(0, same - 1)) + 1;
}
