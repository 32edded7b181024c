/* What all strips of the page share: what is looked at, colours, what is drawn when, what lies across all of them. */
import type { Range, View } from "../state.js";
import type { Recordings } from "../store/recordings.js";
import { Colours } from "./colours.js";

export const GUTTER = 66; /* left of each plot, for its axis: pixels */

export interface Inks {
	card: string;
	ink: string;
	dim: string;
	faint: string;
	line: string;
	grid: string;
	accent: string;
	font: string;
	bold: string;
}

/* A canvas on the shared time axis. */
export interface Strip {
	readonly element: HTMLElement;
	visible: boolean;
	stale: boolean;
	draw(): void; /* all of it */
	over(): void; /* what lies over it: crosshair, selection, shade */
	pass?(): void; /* the crosshair moved: values beside it */
	want?(): void; /* loads what it lacks */
	renew?(): boolean; /* there are new data: is it to be drawn anew? */
}

export function part<K extends keyof HTMLElementTagNameMap>(tag: K, className: string, text?: string): HTMLElementTagNameMap[K] {
	const element = document.createElement(tag);
	if (className) element.className = className;
	if (text !== undefined) element.textContent = text;
	return element;
}

export class Stage {
	readonly colours: Colours;
	inks: Inks;
	shade: Range | null = null; /* the time of what the pointer is on */
	lit: string | null = null; /* seriesId of the curve whose row the pointer is on */
	private readonly strips: Strip[] = [];
	private readonly byElement = new Map<Element, Strip>();
	private readonly watch: IntersectionObserver;
	private readonly sizes: ResizeObserver;
	private pictured = false;
	private wanting = 0;
	private wanted = 0;

	constructor(
		readonly view: View,
		readonly store: Recordings,
	) {
		this.colours = new Colours(store);
		this.inks = readInks();
		this.watch = new IntersectionObserver((entries) => this.seen(entries), { rootMargin: "120px 0px" });
		this.sizes = new ResizeObserver((entries) => {
			for (const { target } of entries) this.refresh(this.byElement.get(target));
		});
		view.on("range", () => this.redraw());
		view.on("hidden", () => this.redraw());
		view.on("process", () => this.redraw());
		view.on("data", () => this.renewed());
		view.on("selection", () => this.each((strip) => strip.over()));
		view.on("cursor", () => this.each((strip) => (strip.over(), strip.pass?.())));
		const theme = (): void => {
			this.inks = readInks();
			this.redraw();
		};
		view.on("theme", theme);
		matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => setTimeout(theme));
		view.on("print", () => {
			/* As wide as a sheet, whatever the window is: then drawn as it will be printed. */
			document.documentElement.classList.toggle("paper", view.printing);
			this.inks = readInks();
			if (view.printing) for (const strip of this.strips) strip.draw();
			else this.redraw();
		});
	}

	add(strip: Strip): void {
		this.strips.push(strip);
		this.byElement.set(strip.element, strip);
		this.watch.observe(strip.element);
		this.sizes.observe(strip.element);
	}

	remove(strip: Strip): void {
		const place = this.strips.indexOf(strip);
		if (place >= 0) this.strips.splice(place, 1);
		this.byElement.delete(strip.element);
		this.watch.unobserve(strip.element);
		this.sizes.unobserve(strip.element);
	}

	/* Draws those in sight at once, the others when they come into sight. */
	redraw(): void {
		for (const strip of this.strips) this.refresh(strip);
		this.wantSoon();
	}

	refresh(strip: Strip | undefined): void {
		if (!strip) return;
		strip.stale = true;
		if (strip.visible) this.drawOne(strip);
	}

	setShade(shade: Range | null): void {
		if (this.shade === shade) return;
		this.shade = shade;
		this.each((strip) => strip.over());
	}

	/* For whoever measures how long one waits for it. */
	firstPicture(): void {
		if (this.pictured) return;
		this.pictured = true;
		performance.mark("galvo-first-picture");
	}

	setLit(id: string | null): void {
		if (this.lit === id) return;
		this.lit = id;
		this.redraw();
	}

	private each(what: (strip: Strip) => void): void {
		for (const strip of this.strips) if (strip.visible) what(strip);
	}

	private drawOne(strip: Strip): void {
		strip.stale = false;
		strip.draw();
		strip.over();
	}

	private seen(entries: IntersectionObserverEntry[]): void {
		for (const entry of entries) {
			const strip = this.byElement.get(entry.target);
			if (!strip) continue;
			strip.visible = entry.isIntersecting;
			if (!strip.visible) continue;
			if (strip.stale) this.drawOne(strip);
			else strip.over();
			strip.pass?.();
			strip.want?.();
		}
	}

	private renewed(): void {
		for (const strip of this.strips) {
			if (!(strip.renew?.() ?? true)) continue;
			this.refresh(strip);
			if (this.view.printing) strip.draw();
		}
		this.wantSoon();
	}

	/* While the range moves on and on, what is decoded would be of no use when it comes. */
	private wantSoon(): void {
		const now = performance.now();
		if (this.wanting === 0) this.wanted = now;
		else if (now - this.wanted < 250) clearTimeout(this.wanting);
		else return;
		this.wanting = window.setTimeout(() => {
			this.wanting = 0;
			this.each((strip) => strip.want?.());
		}, 60);
	}
}

function readInks(): Inks {
	const style = getComputedStyle(document.documentElement);
	const get = (name: string): string => style.getPropertyValue(name).trim();
	const sans = get("--sans") || "sans-serif";
	return {
		card: get("--card"), ink: get("--ink"), dim: get("--dim"), faint: get("--faint"), line: get("--line"),
		grid: get("--grid"), accent: get("--accent"), font: `11px ${sans}`, bold: `600 11px ${sans}`,
	};
}

/* A canvas as sharp as the screen; its context takes CSS pixels, `ratio` says how many of the screen's these are. */
export class Surface {
	readonly canvas = part("canvas", "");
	readonly area = part("div", "area"); /* the plot of it, right of the gutter */
	width = 0; /* of the plot, CSS pixels */
	height = 0;
	ratio = 1;
	private readonly cross = part("div", "cross");
	private readonly selected = part("div", "selected");
	private readonly shaded = part("div", "shaded");

	constructor(readonly element: HTMLElement) {
		this.area.append(this.shaded, this.selected, this.cross);
		element.append(this.canvas, this.area);
	}

	/* Clean, as large as its element; null: it has no size. */
	begin(): CanvasRenderingContext2D | null {
		const { clientWidth, clientHeight } = this.element;
		if (clientWidth <= GUTTER + 8 || clientHeight <= 0) return null;
		this.ratio = devicePixelRatio || 1;
		this.width = clientWidth - GUTTER;
		this.height = clientHeight;
		const wide = Math.round(clientWidth * this.ratio);
		const high = Math.round(clientHeight * this.ratio);
		const context = this.canvas.getContext("2d");
		if (!context) return null;
		if (this.canvas.width !== wide || this.canvas.height !== high) {
			this.canvas.width = wide;
			this.canvas.height = high;
			this.canvas.style.width = `${clientWidth}px`;
			this.canvas.style.height = `${clientHeight}px`;
		} else {
			context.setTransform(1, 0, 0, 1, 0, 0);
			context.clearRect(0, 0, wide, high);
		}
		context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
		return context;
	}

	over(stage: Stage): void {
		const { range, cursor, selection } = stage.view;
		const scale = this.width / (range.end - range.from);
		const at = cursor === null ? -1 : (cursor - range.from) * scale;
		const seen = at >= 0 && at <= this.width;
		this.cross.style.display = seen ? "block" : "none";
		if (seen) this.cross.style.transform = `translateX(${at}px)`;
		this.span(this.selected, selection, range, scale);
		this.span(this.shaded, stage.shade, range, scale);
	}

	private span(element: HTMLElement, of: Range | null, range: Range, scale: number): void {
		const from = of ? Math.max(-2, (of.from - range.from) * scale) : 0;
		const end = of ? Math.min(this.width + 2, (of.end - range.from) * scale) : 0;
		const seen = of !== null && end > -2 && from < this.width + 2;
		element.style.display = seen ? "block" : "none";
		if (!seen) return;
		element.style.transform = `translateX(${from}px)`;
		element.style.width = `${Math.max(1, end - from)}px`;
	}
}
