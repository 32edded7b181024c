/* The time axis, which stays in sight: ticks, the crosshair's instant, where in the whole run the range is. */
import { formatDuration, formatInstant } from "../format.js";
import { attach, panBy } from "./pointer.js";
import { GUTTER, part, Surface, type Stage, type Strip } from "./stage.js";
import { timeStep, timeTicks } from "./ticks.js";

export class TimeAxis implements Strip {
	readonly element = part("div", "axis");
	readonly bar = part("div", "timebar");
	visible = true;
	stale = true;
	private readonly surface = new Surface(this.element);
	private readonly label = part("div", "instant");
	private readonly chip = part("div", "chip");
	private readonly length = part("span", "");
	private readonly track = part("div", "track");
	private readonly thumb = part("div", "thumb");
	private readonly picked = part("div", "picked");

	constructor(private readonly stage: Stage) {
		const { view } = stage;
		const button = (text: string, title: string, action: () => void): HTMLElement => {
			const ret = part("button", "", text);
			ret.type = "button";
			ret.title = title;
			ret.addEventListener("click", action);
			return ret;
		};
		this.chip.append(
			this.length,
			button("zoom", "Show this time alone", () => view.selection && view.setRange(view.selection)),
			button("×", "Select nothing", () => view.setSelection(null)),
		);
		this.track.append(this.picked, this.thumb);
		this.element.append(this.label, this.chip);
		this.bar.append(this.track, this.element);
		attach(stage, this.surface.area, { wheelZooms: true });
		this.slide();
	}

	draw(): void {
		const context = this.surface.begin();
		if (!context) return;
		const { width, height } = this.surface;
		const { inks, view } = this.stage;
		const { from, end } = view.range;
		const x = (t: number): number => GUTTER + ((t - from) / (end - from)) * width;
		context.font = inks.font;
		context.fillStyle = inks.dim;
		context.strokeStyle = inks.line;
		context.textBaseline = "middle";
		context.textAlign = "left";
		context.beginPath();
		for (const { at, text } of timeTicks(from, end, timeStep(end - from, width / 90))) {
			const line = Math.round(x(at)) + 0.5;
			context.moveTo(line, height - 6);
			context.lineTo(line, height);
			if (line + 3 + context.measureText(text).width < GUTTER + width) context.fillText(text, line + 3, height / 2 + 1);
		}
		context.stroke();
		context.textAlign = "right";
		context.fillStyle = inks.faint;
		context.fillText(formatDuration(end - from), GUTTER - 6, height / 2 + 1);
		this.place(this.thumb, from, end);
	}

	over(): void {
		this.surface.over(this.stage);
		const { view } = this.stage;
		const { range, cursor, selection } = view;
		const { width } = this.surface;
		const scale = width / (range.end - range.from);
		const at = cursor === null ? -1 : (cursor - range.from) * scale;
		const seen = at >= 0 && at <= width;
		this.label.style.display = seen ? "block" : "none";
		if (seen) {
			this.label.textContent = formatInstant(cursor!, Math.max(1e-9, 10 ** Math.floor(Math.log10(1 / scale))));
			const half = this.label.offsetWidth / 2;
			this.label.style.transform = `translateX(${GUTTER + Math.min(Math.max(at - half, -half), width - 2 * half)}px)`;
		}
		const middle = selection ? ((selection.from + selection.end) / 2 - range.from) * scale : -1;
		const shown = selection !== null && selection.end > range.from && selection.from < range.end;
		this.chip.style.display = shown ? "flex" : "none";
		if (shown) {
			this.length.textContent = formatDuration(selection.end - selection.from);
			const half = this.chip.offsetWidth / 2;
			this.chip.style.transform = `translateX(${GUTTER + Math.min(Math.max(middle - half, 0), width - 2 * half)}px)`;
		}
		this.picked.style.display = selection ? "block" : "none";
		if (selection) this.place(this.picked, selection.from, selection.end);
	}

	private place(element: HTMLElement, from: number, end: number): void {
		const { full } = this.stage.view;
		const length = full.end - full.from;
		element.style.left = `${((from - full.from) / length) * 100}%`;
		element.style.width = `${((end - from) / length) * 100}%`;
	}

	/* The thumb moves the range; the track beside it moves it there. */
	private slide(): void {
		let grip: number | null = null;
		const { view } = this.stage;
		const timeAt = (x: number): number => {
			const box = this.track.getBoundingClientRect();
			return view.full.from + ((x - box.left) / box.width) * (view.full.end - view.full.from);
		};
		this.track.addEventListener("pointerdown", (event) => {
			if (event.button !== 0) return;
			this.track.setPointerCapture(event.pointerId);
			const t = timeAt(event.clientX);
			const { from, end } = view.range;
			grip = t >= from && t <= end ? t - from : (end - from) / 2;
			view.setFollow(false);
			panBy(this.stage, t - grip - from);
		});
		this.track.addEventListener("pointermove", (event) => {
			if (grip !== null) panBy(this.stage, timeAt(event.clientX) - grip - view.range.from);
		});
		const stop = (): void => {
			grip = null;
		};
		this.track.addEventListener("pointerup", stop);
		this.track.addEventListener("pointercancel", stop);
	}
}
