/* Colours of curves: told apart by colour-blind people, the same on dark and light, stable for each key. */
import type { Series } from "../data.js";
import type { Store } from "../store.js";

const PALETTE = ["#4484d6", "#e08b25", "#22a084", "#d0628f", "#8a78de", "#a99b22", "#38a9cf", "#d65f3c", "#6f9a3c", "#a87455"];
const REST = "#8b929c";

/* Runs behind the first have lines of their own: pixels of ink and of none, in turn. */
const DASHES: readonly (readonly number[])[] = [[], [6, 3], [2, 2], [9, 3, 2, 3], [14, 4]];

export function dashOf(run: number): readonly number[] {
	return run === 0 ? DASHES[0] : DASHES[1 + ((run - 1) % (DASHES.length - 1))];
}

/* Is there ink at that pixel? */
export function inDash(dash: readonly number[], at: number): boolean {
	let rest = at % dash.reduce((sum, one) => sum + one, 0);
	for (let i = 0; i < dash.length; rest -= dash[i++]) if (rest < dash[i]) return i % 2 === 0;
	return true;
}

/* The same for a legend. */
export function dashCss(colour: string, run: number): string {
	const dash = dashOf(run);
	if (dash.length === 0) return colour;
	let at = 0;
	const stops = dash.map((long, i) => `${i % 2 === 0 ? colour : "transparent"} ${at}px ${(at += long)}px`);
	return `repeating-linear-gradient(90deg, ${stops.join(", ")})`;
}

type Rgb = [number, number, number];

function rgbOf(hex: string): Rgb {
	const n = parseInt(hex.slice(1), 16);
	return [n >> 16, (n >> 8) & 255, n & 255];
}

export function mix(a: string, b: string, share: number): string {
	const from = rgbOf(a);
	const to = rgbOf(b);
	const part = (i: number) => Math.round(from[i] + (to[i] - from[i]) * share);
	return "#" + [part(0), part(1), part(2)].map((n) => n.toString(16).padStart(2, "0")).join("");
}

/* Number n of a family: behind the palette it goes on lighter, then darker. */
export function nth(n: number): string {
	const colour = PALETTE[n % PALETTE.length];
	const round = Math.floor(n / PALETTE.length) % 3;
	return round === 0 ? colour : mix(colour, round === 1 ? "#ffffff" : "#000000", 0.35);
}

/* A process has one colour wherever it is; other curves are numbered within their panel. */
export class Colours {
	private readonly processes = new Map<string, number>();
	private readonly regions = new Map<string, number>();
	private readonly panels = new Map<string, Map<string, number>>();

	constructor(private readonly store: Store) {}

	/* Regions of one name have one colour: the first names, which a recording tells in order, are all different. */
	region(name: string): string {
		if (this.regions.size === 0) for (const run of this.store.runs) for (const one of run.regions?.names ?? []) this.number(one);
		return nth(this.number(name));
	}

	private number(name: string): number {
		const place = this.regions.get(name) ?? this.regions.size;
		this.regions.set(name, place);
		return place;
	}

	of(panel: string, run: number, series: Series): string {
		if (series.rest) return REST;
		if (series.process !== null) {
			const id = `${run}/${series.process}`;
			const known = this.processes.get(id) ?? this.store.runs[run].processIndex.get(series.process) ?? this.processes.size;
			this.processes.set(id, known);
			return nth(known);
		}
		let places = this.panels.get(panel);
		if (!places) this.panels.set(panel, (places = new Map()));
		const place = places.get(series.key) ?? places.size;
		places.set(series.key, place);
		return nth(place);
	}
}

const RAMP: Rgb[] = ["#1c2a4d", "#1f5f8f", "#1f9c96", "#86c05c", "#f3e25a"].map(rgbOf);

/* 256 steps for heat, as canvas pixels have them on a machine that begins with the low byte. */
export const HEAT: Uint32Array = Uint32Array.from({ length: 256 }, (_, i) => {
	const at = (i / 255) * (RAMP.length - 1);
	const from = Math.min(RAMP.length - 2, Math.floor(at));
	const part = (k: number) => Math.round(RAMP[from][k] + (RAMP[from + 1][k] - RAMP[from][k]) * (at - from));
	return ((255 << 24) | (part(2) << 16) | (part(1) << 8) | part(0)) >>> 0;
});

export function heatCss(share: number): string {
	const pixel = HEAT[Math.round(Math.min(1, Math.max(0, share)) * 255)];
	return `rgb(${pixel & 255} ${(pixel >> 8) & 255} ${(pixel >> 16) & 255})`;
}
