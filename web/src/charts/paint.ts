/* Painting of curves: bands and lines, areas on top of each other, rows of heat. */
import type { Range } from "../state.js";
import { dashOf, HEAT, inDash, mix } from "./colours.js";
import { Raster, rgbOf } from "./raster.js";
import type { Pile } from "./pile.js";
import type { Cells } from "./sample.js";

export interface Drawn {
	id: string;
	colour: string;
	dim: boolean; /* another one is lit */
	run: number;
	cells: Cells;
}

/* The plot in pixels of the screen. */
export interface Plot {
	context: CanvasRenderingContext2D;
	width: number;
	height: number;
	ratio: number;
	card: string;
	ink: string;
}

/* From values to pixels. */
export interface Scale {
	low: number;
	high: number;
}

function toY(scale: Scale, height: number, ratio: number): (value: number) => number {
	const top = 4 * ratio;
	const room = height - top - ratio;
	const factor = room / (scale.high - scale.low);
	return (value) => top + room - (value - scale.low) * factor;
}

export { toY };

export function extent(drawn: readonly Drawn[]): Scale | null {
	let low = Infinity;
	let high = -Infinity;
	for (const { cells } of drawn)
		for (let i = 0; i < cells.n; i++) {
			if (cells.lo[i] < low) low = cells.lo[i];
			if (cells.hi[i] > high) high = cells.hi[i];
		}
	return low <= high ? { low, high } : null;
}

const raster = new Raster();

/* Nearly each column has a cell of its own. */
function isDense({ cells }: Drawn, width: number): boolean {
	return cells.n > 0 && cells.x1[cells.n - 1] - cells.x0[0] <= cells.n * 1.3 && width > 0;
}

export function paintLines(plot: Plot, drawn: readonly Drawn[], scale: Scale): void {
	const { context, width, height, ratio } = plot;
	const y = toY(scale, height, ratio);
	const order = [...drawn].sort((a, b) => Number(b.dim) - Number(a.dim));
	raster.begin(width, height);
	for (const one of order) band(plot, one, y);
	for (const one of order) if (isDense(one, width)) line(plot, one, y);
	raster.end(context);
	context.lineWidth = 1.3 * ratio;
	context.lineJoin = "bevel";
	for (const one of order) {
		if (isDense(one, width)) continue;
		context.globalAlpha = one.dim ? 0.18 : 1;
		context.strokeStyle = one.colour;
		context.setLineDash(dashOf(one.run).map((long) => long * ratio));
		context.beginPath();
		stroke(context, one.cells, y);
		context.stroke();
	}
	context.setLineDash([]);
	context.globalAlpha = 1;
}

/* From lowest to highest, never less than a pixel of it: a spike of one point is seen. */
function band({ ratio }: Plot, { cells, colour, dim }: Drawn, y: (value: number) => number): void {
	const { x0, x1, lo, hi, n } = cells;
	const rgb = rgbOf(colour);
	const alpha = dim ? 0.06 : 0.34;
	for (let i = 0; i < n; i++) {
		if (!(hi[i] > lo[i])) continue;
		const top = Math.floor(y(hi[i]));
		const bottom = Math.ceil(y(lo[i]));
		if (bottom - top < 2 * ratio) continue;
		const left = Math.floor(x0[i]);
		const right = Math.max(left + 1, Math.floor(x1[i]));
		for (let column = left; column < right; column++) raster.span(column, top, bottom, rgb, alpha);
	}
}

/* The means of a curve that has a cell in each column. */
function line({ ratio }: Plot, { cells, colour, dim, run }: Drawn, y: (value: number) => number): void {
	const { x0, x1, mean, n } = cells;
	const rgb = rgbOf(colour);
	const alpha = dim ? 0.18 : 1;
	const dash = dashOf(run);
	let end = -Infinity;
	let before = 0;
	for (let i = 0; i < n; i++) {
		const at = y(mean[i]);
		const column = Math.floor(x0[i] + 1e-6);
		if (dash.length === 0 || inDash(dash, column / ratio)) raster.line(column, x0[i] - end < 0.5 ? before : at, at, rgb, alpha, ratio);
		before = at;
		end = x1[i];
	}
}

/* Steps where a cell is wider than a pixel, for there the value was the same all the time; else a line. */
function stroke(context: CanvasRenderingContext2D, cells: Cells, y: (value: number) => number): void {
	const { x0, x1, mean, n } = cells;
	let before = -Infinity;
	for (let i = 0; i < n; i++) {
		const at = y(mean[i]);
		const joined = x0[i] - before < 0.5;
		const narrow = x1[i] - x0[i] <= 1.01;
		if (narrow && joined) context.lineTo((x0[i] + x1[i]) / 2, at);
		else if (joined) context.lineTo(x0[i], at);
		else context.moveTo(x0[i], at);
		if (!narrow || !joined) context.lineTo(Math.max(x1[i], x0[i] + 1), at);
		before = x1[i];
	}
}

/*
 * From the top one down. Each reaches below the edge that it has in common with the next one, which is smooth:
 * so nothing shines through between them.
 */
export function paintPile(plot: Plot, { layers, peak, known }: Pile, scale: Scale): void {
	const { context, width, height, ratio, card } = plot;
	if (layers.length === 0) return;
	const y = toY(scale, height, ratio);
	const all = layers[layers.length - 1];
	const pale = rgbOf(all.drawn.colour);
	const colours = layers.map(({ drawn }) => rgbOf(mix(drawn.colour, card, drawn.dim ? 0.82 : 0.22)));
	raster.begin(width, height);
	for (let i = 0; i < known.length; i++) {
		if (!known[i]) continue;
		const most = y(all.top[i]);
		const highest = Math.floor(y(peak[i]));
		if (most - highest > ratio) raster.span(i, highest, Math.ceil(most), pale, 0.3);
		for (let k = layers.length - 1; k >= 0; k--) {
			const { top, bottom } = layers[k];
			if (top[i] === bottom[i]) continue;
			raster.span(i, y(top[i]), Math.floor(y(bottom[i])) + 1, colours[k], 1);
		}
	}
	raster.end(context);
}

/* Of another run than the first the upper edges alone; of more than EDGES the uppermost: the sum. */
export const EDGES = 3;

export function paintEdges(plot: Plot, { layers, known }: Pile, scale: Scale): void {
	const { context, height, ratio, ink } = plot;
	const y = toY(scale, height, ratio);
	context.lineWidth = 1.5 * ratio;
	context.setLineDash(dashOf(layers[0]?.drawn.run ?? 0).map((long) => long * ratio));
	for (const { drawn, top } of layers.length > EDGES ? layers.slice(-1) : layers) {
		context.globalAlpha = drawn.dim && layers.length <= EDGES ? 0.18 : 1;
		context.strokeStyle = layers.length > EDGES ? ink : drawn.colour;
		context.beginPath();
		let open = false;
		for (let i = 0; i < known.length; i++) {
			if (!known[i]) open = false;
			else if (open) context.lineTo(i + 0.5, y(top[i]));
			else {
				context.moveTo(i, y(top[i]));
				open = true;
			}
		}
		context.stroke();
	}
	context.setLineDash([]);
	context.globalAlpha = 1;
}

let scratch: HTMLCanvasElement | null = null;

/* A row for each curve: below its mean, and as a stripe above that its highest. */
export function paintHeat(plot: Plot, drawn: readonly Drawn[], scale: Scale, top: number, row: number): void {
	const { context } = plot;
	const width = Math.ceil(plot.width);
	if (drawn.length === 0 || width <= 0) return;
	scratch ??= document.createElement("canvas");
	scratch.width = width;
	scratch.height = drawn.length * 2;
	const small = scratch.getContext("2d")!;
	const image = small.createImageData(width, drawn.length * 2);
	const pixels = new Uint32Array(image.data.buffer);
	const factor = 255 / (scale.high - scale.low);
	const pixel = (value: number): number => HEAT[Math.min(255, Math.max(0, Math.round((value - scale.low) * factor)))];
	drawn.forEach(({ cells }, k) => {
		for (let i = 0; i < cells.n; i++) {
			const column = Math.floor(cells.x0[i] + 1e-6);
			if (column < 0 || column >= width) continue;
			pixels[2 * k * width + column] = pixel(cells.hi[i]);
			pixels[(2 * k + 1) * width + column] = pixel(cells.mean[i]);
		}
	});
	small.putImageData(image, 0, 0);
	context.imageSmoothingEnabled = false;
	const gap = row >= 6 * plot.ratio ? plot.ratio : 0;
	drawn.forEach(({ dim }, k) => {
		const at = Math.round(top + k * row);
		const high = Math.round(top + (k + 1) * row) - at - gap;
		const stripe = high < 3 ? 0 : Math.max(1, Math.round(high * 0.25));
		context.globalAlpha = dim ? 0.25 : 1;
		if (stripe > 0) context.drawImage(small.canvas, 0, 2 * k, width, 1, 0, at, width, stripe);
		context.drawImage(small.canvas, 0, 2 * k + 1, width, 1, 0, at + stripe, width, high - stripe);
	});
	context.globalAlpha = 1;
}

/* Seconds of a pixel. */
export function pixelSeconds(range: Range, width: number): number {
	return (range.end - range.from) / Math.max(1, width);
}
