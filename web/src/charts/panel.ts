/* A panel: its card, its canvas, its axis, its legend. */
import { formatValue, unitOf } from "../format.js";
import { processId, seriesId } from "../state.js";
import type { StoredPanel } from "../store.js";
import { heatCss } from "./colours.js";
import { Legend } from "./legend.js";
import { clipped, commonStart, grounded, humane, referenceOf } from "./labels.js";
import { clustersOf, inTime, lonely } from "./marks.js";
import { EDGES, extent, paintEdges, paintHeat, paintLines, paintPile, pixelSeconds, toY, type Drawn, type Plot, type Scale } from "./paint.js";
import { pile, type Pile } from "./pile.js";
import { attach } from "./pointer.js";
import { Cells, sample } from "./sample.js";
import { GUTTER, part, Surface, type Stage, type Strip } from "./stage.js";
import { timeStep, timeTicks, valueStep, valueTicks } from "./ticks.js";
import { visible } from "../ui/dom.js";

const DUST = 1e-9; /* of sums of floats */
const REACH = 1.7; /* a peak that is at most that many times what is seen belongs to it */

export class PanelCard implements Strip {
	readonly element: HTMLElement;
	readonly card = part("section", "panel");
	visible = false;
	stale = true;
	private readonly plot = part("div", "plot");
	private readonly surface = new Surface(this.plot);
	private readonly legend: Legend;
	private readonly remark = part("span", "remark");
	private readonly pool = new Map<string, Cells>();
	private readonly sum = new Cells();
	private readonly zeros = part("button", "zeros");
	private opened = false; /* though it is all zeros */
	private peaks: "auto" | "all" | "none" = "auto";
	private version = -1;

	constructor(
		private readonly stage: Stage,
		readonly stored: StoredPanel,
	) {
		const { panel } = stored;
		this.card.dataset.panel = panel.id;
		this.card.classList.add(panel.shape);
		const head = part("header", "");
		head.append(part("h3", "", visible(panel.title)));
		const unit = unitOf(panel.unit).title;
		if (unit) head.append(part("span", "unit", visible(unit)));
		if (panel.clock === "gpu") {
			const tag = part("span", "tag", "GPU clock");
			tag.title = "Counted by the GPU: its instants are converted from its own clock";
			head.append(tag);
		}
		head.append(this.remark);
		if (panel.peaks.length > 0) head.append(this.peaksButton());
		this.legend = new Legend(stage, stored);
		const body = part("div", "body");
		body.append(this.plot, this.legend.element);
		this.card.append(head, body);
		this.element = this.plot;
		head.append(this.zeros);
		this.zeros.type = "button";
		this.zeros.title = "Every value is 0: show the panel all the same, or hide it again";
		this.zeros.addEventListener("click", () => {
			this.opened = !this.opened;
			this.fit();
		});
		this.fit();
		attach(stage, this.surface.area);
	}

	draw(): void {
		const context = this.surface.begin();
		if (!context) return;
		const { width, height, ratio } = this.surface;
		const { inks } = this.stage;
		const { panel } = this.stored;
		const plot: Plot = { context, width: width * ratio, height: height * ratio, ratio, card: inks.card, ink: inks.ink };
		const even = panel.shape !== "lines";
		const drawn = this.sampled(plot.width, even);
		const piles = panel.shape === "stack" ? this.piles(drawn, plot.width) : [];
		const seen = piles.length > 0 ? { low: 0, high: Math.max(...piles.map((one) => one.high)) } : extent(drawn);
		const scale = this.scaleOf(seen);
		if (panel.shape !== "heat") this.axis(context, scale);
		this.timeGrid(context);
		if (panel.shape !== "heat") this.marks(context);
		const empty = drawn.every(({ cells }) => cells.n === 0);
		const pale = piles.some(({ high, top }) => high > top * 1.02);
		const late = this.stage.view.printing && this.loading();
		this.remark.textContent = late ? "not all of it was loaded when this was printed: print again" : empty && drawn.length > 0 && !this.loading() ? "nothing is known of this time"
			: pale ? "pale: the highest within a pixel" : "";

		context.save();
		context.beginPath();
		context.rect(GUTTER, 0, width, height);
		context.clip();
		context.setTransform(1, 0, 0, 1, GUTTER * ratio, 0);
		if (panel.shape === "heat") this.heat(plot, drawn, scale);
		else if (piles.length > 0) piles.forEach((one, i) => (i === 0 ? paintPile : paintEdges)(plot, one, scale));
		else paintLines(plot, drawn, scale);
		context.restore();
		if (panel.shape === "heat") this.heatLabels(context, drawn);
		else this.drawPeaks(context, scale, seen);
		this.legend.totals(new Set(piles.slice(1).filter(({ layers }) => layers.length > EDGES).map(({ layers }) => layers[0].drawn.run)));
		this.legend.marks();
		this.legend.sums(this.stage.view.printing);
		if (!empty) this.stage.firstPicture();
	}

	over(): void {
		this.surface.over(this.stage);
	}

	pass(): void {
		this.legend.pass();
	}

	labelWidth(measure: (text: string) => number): number {
		return this.legend.labelWidth(measure);
	}

	/* The whole time, as coarse as there is, also of what was not in sight. */
	async wantAll(): Promise<void> {
		const { store, view } = this.stage;
		await Promise.all([...this.stored.series, ...this.stored.totals].map(({ run, series }) => store.want(run, series, view.full, Infinity)));
	}

	/* Nothing but zeros is low, and one line; who wants to see them opens it. */
	get zero(): boolean {
		const known = this.stored.series.filter(({ series }) => series.n !== 0);
		const dust = (value: number | null | undefined): boolean => typeof value === "number" && Math.abs(value) < DUST;
		return !this.stage.store.document.live && known.length > 0 && known.every(({ series }) => dust(series.min) && dust(series.max));
	}

	want(): void {
		const { store, view } = this.stage;
		const enough_s = pixelSeconds(view.range, this.surface.width * this.surface.ratio);
		for (const { run, series } of this.stored.series)
			if (!view.hidden.has(seriesId(run, series.key))) void store.want(run, series, view.range, enough_s);
		for (const { run, series } of this.stored.totals) void store.want(run, series, view.range, enough_s);
	}

	renew(): boolean {
		let version = this.stored.series.length;
		for (const { run, series } of [...this.stored.series, ...this.stored.totals]) version += this.stage.store.version(run, series);
		if (version === this.version) return false;
		this.version = version;
		this.legend.fill();
		this.fit();
		return true;
	}

	private loading(): boolean {
		return this.stored.series.some(({ run, series }) => this.stage.store.lacks(run, series, this.stage.view.range));
	}

	/* As high as what is in it needs. */
	private fit(): void {
		const n = this.stored.series.length;
		const { shape } = this.stored.panel;
		const rows = Math.min(n, 40);
		const { zero } = this;
		this.zeros.hidden = !zero;
		this.zeros.textContent = this.opened ? "0 throughout ▾" : "0 throughout ▸";
		this.zeros.setAttribute("aria-expanded", String(this.opened));
		this.card.classList.toggle("low", zero && !this.opened);
		const high = shape === "heat" ? Math.min(320, Math.max(56, n * (n > 24 ? 8 : n > 10 ? 11 : 14) + 6))
			: shape === "stack" && n > 6 ? 176 : rows > 4 ? 132 : 112;
		this.plot.style.height = `${high}px`;
		this.legend.element.style.setProperty("--high", `${high}px`);
	}

	private sampled(width: number, even: boolean): Drawn[] {
		const { store, view, lit, colours } = this.stage;
		const ret: Drawn[] = [];
		const mine = lit !== null && !view.hidden.has(lit) && this.stored.series.some(({ run, series }) => seriesId(run, series.key) === lit);
		const ofProcess = (run: number, process: string | null): boolean => process !== null && processId(run, process) === view.process;
		const some = view.process !== null && this.stored.series.some(({ run, series }) => ofProcess(run, series.process));
		for (const { run, series } of this.stored.series) {
			const id = seriesId(run, series.key);
			if (view.hidden.has(id)) continue;
			let cells = this.pool.get(id);
			if (!cells) this.pool.set(id, (cells = new Cells()));
			sample(store, run, series, view.range, width, even, cells);
			const dim = (mine && id !== lit) || (!mine && some && !ofProcess(run, series.process));
			ret.push({ id, run, colour: colours.of(this.stored.id, run, series), dim, cells });
		}
		return ret;
	}

	private piles(drawn: Drawn[], width: number): Pile[] {
		const runs = [...new Set(drawn.map(({ run }) => run))];
		return runs.map((run) => pile(drawn.filter((one) => one.run === run), width, this.total(run, width)));
	}

	/* Null where it is not that of what is drawn. */
	private total(run: number, width: number): Cells | null {
		const { store, view } = this.stage;
		const found = this.stored.totals.find((one) => one.run === run);
		const whole = this.stored.series.every((one) => one.run !== run || !view.hidden.has(seriesId(run, one.series.key)));
		if (!found || !whole) return null;
		sample(store, run, found.series, view.range, width, true, this.sum);
		return this.sum;
	}

	private scaleOf(seen: Scale | null): Scale {
		const { floor, ceiling, peaks, unit } = this.stored.panel;
		let low = Math.min(seen?.low ?? 0, floor ?? Infinity);
		let high = Math.max(seen?.high ?? 0, ceiling ?? -Infinity);
		if (ceiling === null && seen && this.peaks !== "none")
			for (const [, value] of peaks)
				if (this.peaks === "all" || (value > 0 && value <= seen.high * REACH)) high = Math.max(high, value);
		if (!(high > low)) {
			const pad = Math.abs(high) * 0.1 || 1;
			if (floor === null) low -= pad;
			high += pad;
		}
		if (ceiling !== null && high <= ceiling * 1.02) high = ceiling; /* shares that are rounded */
		else {
			const step = valueStep(high - low, 4, unit) / 2;
			high = Math.ceil((high * 1.02) / step - 1e-9) * step;
			if (floor === null || low < floor) low = Math.floor(low / step) * step;
		}
		return { low, high };
	}

	private axis(context: CanvasRenderingContext2D, scale: Scale): void {
		const { width, height } = this.surface;
		const { inks } = this.stage;
		const { unit } = this.stored.panel;
		const y = toY(scale, height, 1);
		context.font = inks.font;
		context.textAlign = "right";
		context.textBaseline = "middle";
		context.strokeStyle = inks.grid;
		context.lineWidth = 1;
		context.beginPath();
		for (const { at, text } of valueTicks(scale.low, scale.high, valueStep(scale.high - scale.low, height / 30, unit), unit)) {
			const line = Math.round(y(at)) - 0.5;
			context.moveTo(GUTTER, line);
			context.lineTo(GUTTER + width, line);
			context.fillStyle = inks.dim;
			context.fillText(text, GUTTER - 6, Math.min(Math.max(line, 6), height - 6), GUTTER - 8);
		}
		context.stroke();
	}

	private timeGrid(context: CanvasRenderingContext2D): void {
		const { width, height } = this.surface;
		const { view, inks } = this.stage;
		const { from, end } = view.range;
		const step = timeStep(end - from, width / 76);
		context.strokeStyle = inks.grid;
		context.beginPath();
		for (const { at } of timeTicks(from, end, step)) {
			const x = Math.round(GUTTER + ((at - from) / (end - from)) * width) + 0.5;
			context.moveTo(x, 0);
			context.lineTo(x, height);
		}
		context.stroke();
	}

	private heat(plot: Plot, drawn: Drawn[], scale: Scale): void {
		const row = (plot.height - 2 * plot.ratio) / Math.max(1, drawn.length);
		paintHeat(plot, drawn, scale, plot.ratio, row);
		this.legend.element.style.setProperty("--heat-low", heatCss(0));
		this.remark.textContent = `${formatValue(scale.low, this.stored.panel.unit)} … ${formatValue(scale.high, this.stored.panel.unit)}`;
	}

	private heatLabels(context: CanvasRenderingContext2D, drawn: Drawn[]): void {
		const { height } = this.surface;
		const { inks, store } = this.stage;
		const row = (height - 2) / Math.max(1, drawn.length);
		const each = Math.ceil(11 / row);
		context.font = inks.font;
		context.fillStyle = inks.dim;
		context.textAlign = "right";
		context.textBaseline = "middle";
		const labels = new Map(this.stored.series.map(({ run, series }) => [
			seriesId(run, series.key), (store.runs.length > 1 ? `${run + 1}: ` : "") + visible(humane(series.label)),
		]));
		const texts = drawn.map(({ id }) => labels.get(id) ?? "");
		const skip = texts.some((text) => context.measureText(text).width > GUTTER - 8) ? commonStart(texts) : 0;
		for (let k = 0; k < drawn.length; k += each)
			context.fillText(clipped(context, texts[k].slice(skip), GUTTER - 8), GUTTER - 6, 1 + (k + 0.5) * row);
	}

	/* What there is at most: a line, or, where that is far away, a word at the upper edge. */
	private drawPeaks(context: CanvasRenderingContext2D, scale: Scale, seen: Scale | null): void {
		if (this.peaks === "none" || !seen) return;
		const { width, height } = this.surface;
		const { inks } = this.stage;
		const { peaks, unit } = this.stored.panel;
		const y = toY(scale, height, 1);
		let right = GUTTER + width - 6;
		context.font = inks.font;
		context.fillStyle = inks.dim;
		context.strokeStyle = inks.dim;
		context.textBaseline = "top";
		context.textAlign = "right";
		for (const [label, value] of peaks) {
			const text = `${referenceOf(label)} ${formatValue(value, unit)}`;
			if (value <= scale.high) {
				const line = Math.round(y(value)) + 0.5;
				context.setLineDash([5, 4]);
				context.beginPath();
				context.moveTo(GUTTER, line);
				context.lineTo(GUTTER + width, line);
				context.stroke();
				context.setLineDash([]);
				grounded(context, text, GUTTER + width - 6, line < 16 ? line + 3 : line - 13, inks.card);
			} else {
				grounded(context, `↑ ${text}`, right, 3, inks.card);
				right -= context.measureText(`↑ ${text}`).width + 14;
			}
		}
	}

	private marks(context: CanvasRenderingContext2D): void {
		const { width, height } = this.surface;
		const { view, store, inks } = this.stage;
		const { from, end } = view.range;
		const scale = width / (end - from);
		context.strokeStyle = inks.faint;
		context.setLineDash([2, 3]);
		context.beginPath();
		for (const run of store.runs) {
			const { at } = run.marks ?? { at: [] };
			const places = inTime(run).map((i) => (at[i] - run.shift_s - from) * scale).filter((x) => x > -12 && x < width + 12);
			for (const x of lonely(clustersOf(places), width)) {
				context.moveTo(GUTTER + x + 0.5, 0);
				context.lineTo(GUTTER + x + 0.5, height);
			}
		}
		context.stroke();
		context.setLineDash([]);
	}

	private peaksButton(): HTMLElement {
		const button = part("button", "peaks", "peaks");
		button.type = "button";
		button.title = "What there is at most: shown where it is near, always, never";
		button.addEventListener("click", () => {
			this.peaks = this.peaks === "auto" ? "all" : this.peaks === "all" ? "none" : "auto";
			button.textContent = this.peaks === "auto" ? "peaks" : this.peaks === "all" ? "all peaks" : "no peaks";
			this.stage.refresh(this);
		});
		return button;
	}
}
