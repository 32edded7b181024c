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

/* Upon what is drawn, on a rim of the card's colour. */
export function haloed(context: CanvasRenderingContext2D, text: string, x: number, y: number, card: string): void {
	const { strokeStyle, lineWidth, lineJoin } = context;
	context.strokeStyle = card;
	context.lineWidth = 4;
	context.lineJoin = "round";
	context.globalAlpha = 0.9;
	context.strokeText(text, x, y);
	context.globalAlpha = 1;
	context.fillText(text, x, y);
	Object.assign(context, { strokeStyle, lineWidth, lineJoin });
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
