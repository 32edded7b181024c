/* The whole run in a strip: CPU and regions, and the window on it that can be moved and stretched. */
import type { Range } from "../state.js";
import type { Series } from "../data.js";
import { type Ui, lengthOf, zoomTo } from "./context.js";
import { el, settled } from "./dom.js";
import { regionRange } from "./walk.js";

const HEIGHT = 36;
const LANE = 7;
const GRIP = 7;
const COLUMN = 2;

interface Drag {
	part: "from" | "end" | "all" | "new";
	grabbed: number; /* where in the run it was taken hold of */
	range: Range;
}

interface Curves {
	series: { run: number; series: Series }[]; /* that make the whole together */
	top: number | null;
}

/* What says most of the whole: the machine's CPU, else the first panel there is. */
function curvesOf(ui: Ui): Curves | null {
	const { panels } = ui.store;
	const found =
		panels.find(({ id }) => id === "cpu") ??
		panels.find(({ panel }) => panel.unit === "pct") ??
		panels[0];
	const series = found?.series.filter(({ run }) => run === 0) ?? [];
	if (!found || series.length === 0) return null;
	return { series: found.panel.shape === "stack" ? series : series.slice(0, 1), top: found.panel.ceiling };
}

export class Minimap {
	readonly element = el("div", {
		class: "minimap",
		role: "slider",
		tabindex: 0,
		"aria-label": "the range that is shown, of the whole recording",
		"aria-valuemin": 0,
		"aria-valuemax": 100,
	});
	private readonly canvas = el("canvas", { class: "minimap-canvas", "aria-hidden": "true" });
	private readonly brush = el("div", { class: "brush" });
	private readonly selected = el("div", { class: "brush-selection" });
	private readonly cursor = el("div", { class: "brush-cursor" });
	private drag: Drag | null = null;
	private wanted: Series | null = null;
	private wantedEnd = 0;

	constructor(private readonly ui: Ui) {
		this.brush.append(
			el("div", { class: "brush-grip brush-from" }),
			el("div", { class: "brush-grip brush-end" }),
		);
		this.element.append(this.canvas, this.selected, this.brush, this.cursor);
		const { view } = ui;
		const place = (): void => this.place();
		const draw = (): void => this.draw();
		for (const change of ["range", "selection", "cursor"] as const) view.on(change, place);
		view.on("data", settled(60, draw));
		view.on("theme", draw);
		new ResizeObserver(draw).observe(this.element);
		this.element.addEventListener("pointerdown", (event) => this.press(event));
		this.element.addEventListener("pointermove", (event) => this.move(event));
		this.element.addEventListener("lostpointercapture", () => (this.drag = null));
		this.element.addEventListener("dblclick", () => zoomTo(ui, view.full));
		this.element.addEventListener("pointerleave", () => this.drag ?? view.setCursor(null));
	}

	private timeAt(event: PointerEvent): number {
		const box = this.element.getBoundingClientRect();
		const part = Math.min(Math.max((event.clientX - box.left) / Math.max(box.width, 1), 0), 1);
		return this.ui.view.full.from + part * lengthOf(this.ui.view.full);
	}

	private partAt(event: PointerEvent, t: number): Drag["part"] {
		const { range, full } = this.ui.view;
		const near = (GRIP * lengthOf(full)) / Math.max(this.element.clientWidth, 1);
		if (event.shiftKey) return "new";
		if (lengthOf(range) >= lengthOf(full) * 0.999) {
			const isGrip = (event.target as Element).classList.contains("brush-grip");
			return !isGrip ? "new" : t < (full.from + full.end) / 2 ? "from" : "end";
		}
		if (Math.abs(t - range.from) < near) return "from";
		if (Math.abs(t - range.end) < near) return "end";
		return "all";
	}

	private press(event: PointerEvent): void {
		if (event.button !== 0) return;
		const { view } = this.ui;
		const t = this.timeAt(event);
		const part = this.partAt(event, t);
		this.element.setPointerCapture(event.pointerId);
		this.drag = { part, grabbed: t, range: { ...view.range } };
		view.setFollow(false);
		/* Beside the window: it comes there with its middle. */
		if (part === "all" && (t < view.range.from || t > view.range.end)) {
			const half = lengthOf(view.range) / 2;
			view.setRange({ from: t - half, end: t + half });
			this.drag.range = { ...view.range };
		}
	}

	private move(event: PointerEvent): void {
		const t = this.timeAt(event);
		const { view } = this.ui;
		view.setCursor(t);
		if (!this.drag) return;
		const { part, grabbed, range } = this.drag;
		if (part === "all") view.setRange({ from: range.from + t - grabbed, end: range.end + t - grabbed });
		else if (part === "from") view.setRange({ from: Math.min(t, range.end - 1e-6), end: range.end });
		else if (part === "end") view.setRange({ from: range.from, end: Math.max(t, range.from + 1e-6) });
		else if (Math.abs(t - grabbed) > lengthOf(view.full) / 500)
			view.setRange({ from: Math.min(t, grabbed), end: Math.max(t, grabbed) });
	}

	private place(): void {
		const { full, range, selection, cursor } = this.ui.view;
		const percent = (t: number): number => (100 * (t - full.from)) / lengthOf(full);
		const put = (element: HTMLElement, part: Range | null): void => {
			element.hidden = part === null;
			if (!part) return;
			const from = Math.min(Math.max(percent(part.from), 0), 100);
			element.style.left = `${from}%`;
			element.style.width = `${Math.min(Math.max(percent(part.end), 0), 100) - from}%`;
		};
		put(this.brush, range);
		put(this.selected, selection);
		put(this.cursor, cursor === null ? null : { from: cursor, end: cursor });
		this.brush.classList.toggle("brush-all", lengthOf(range) >= lengthOf(full) * 0.999);
		const middle = percent((range.from + range.end) / 2);
		this.element.setAttribute("aria-valuenow", middle.toFixed(0));
		this.element.setAttribute(
			"aria-valuetext",
			`${percent(range.from).toFixed(1)} % to ${percent(range.end).toFixed(1)} %`,
		);
	}

	private draw(): void {
		const ratio = devicePixelRatio || 1;
		const width = this.element.clientWidth;
		if (width === 0) return;
		this.canvas.width = Math.round(width * ratio);
		this.canvas.height = Math.round(HEIGHT * ratio);
		const context = this.canvas.getContext("2d");
		if (!context) return;
		context.scale(ratio, ratio);
		const style = getComputedStyle(document.documentElement);
		const hasRegions = this.ui.store.runs.some((run) => (run.regions?.name.length ?? 0) > 0);
		this.drawRegions(context, width, style);
		this.drawCurve(context, width, HEIGHT - (hasRegions ? LANE : 0), style);
		this.place();
	}

	private drawRegions(context: CanvasRenderingContext2D, width: number, style: CSSStyleDeclaration): void {
		const { full } = this.ui.view;
		context.fillStyle = style.getPropertyValue("--minimap-region");
		for (const run of this.ui.store.runs) {
			/* Each pixel once: there may be millions of regions. */
			let last = -1;
			for (let i = 0; i < (run.regions?.name.length ?? 0); i++) {
				const range = regionRange(run, i);
				const from = ((range.from - full.from) / lengthOf(full)) * width;
				const end = Math.max(((range.end - full.from) / lengthOf(full)) * width, from + 1);
				if (end <= last) continue;
				context.fillRect(
					Math.max(from, last),
					HEIGHT - LANE + 2,
					Math.max(end - Math.max(from, last) - 0.5, 0.5),
					LANE - 4,
				);
				last = end;
			}
		}
	}

	/* Of each column the mean of the whole, and behind it the highest of its parts: what is short shows. */
	private columns(curves: Curves, columns: number): ({ mean: number; max: number } | null)[] {
		const { full } = this.ui.view;
		const step = lengthOf(full) / columns;
		return Array.from({ length: columns }, (_, i) => {
			const range = { from: full.from + i * step, end: full.from + (i + 1) * step };
			let all: { mean: number; max: number } | null = null;
			for (const { run, series } of curves.series) {
				const figures = this.ui.store.figures(run, series, range);
				if (!figures) continue;
				all ??= { mean: 0, max: 0 };
				all.mean += figures.mean;
				all.max = Math.max(all.max, figures.max);
			}
			return all && { mean: all.mean, max: Math.max(all.max, all.mean) };
		});
	}

	private drawCurve(
		context: CanvasRenderingContext2D,
		width: number,
		height: number,
		style: CSSStyleDeclaration,
	): void {
		const curves = curvesOf(this.ui);
		if (!curves) return;
		const count = Math.max(Math.floor(width / COLUMN), 1);
		this.want(curves, lengthOf(this.ui.view.full) / count);
		const values = this.columns(curves, count);
		const top = curves.top ?? values.reduce((most, one) => Math.max(most, one?.max ?? 0), 0);
		const y = (value: number): number =>
			2 + (height - 2) * (1 - Math.min(Math.max(value / (top || 1), 0), 1));
		const bars = (of: "mean" | "max", variable: string): void => {
			context.fillStyle = style.getPropertyValue(variable);
			values.forEach((one, i) => {
				if (one) context.fillRect(i * COLUMN, y(one[of]), COLUMN, height - y(one[of]));
			});
		};
		bars("max", "--minimap-peak");
		bars("mean", "--minimap-mean");
	}

	/* Once for what there is: "data" tells when it has come. */
	private want(curves: Curves, enough_s: number): void {
		const { view, store } = this.ui;
		if (this.wanted === curves.series[0]?.series && this.wantedEnd === view.full.end) return;
		this.wanted = curves.series[0]?.series ?? null;
		this.wantedEnd = view.full.end;
		for (const { run, series } of curves.series)
			store.want(run, series, view.full, enough_s).catch(() => undefined);
	}
}
