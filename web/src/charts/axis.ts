/* The time axis, which stays in sight: ticks, the crosshair's instant, how long the selection is. */
import { formatDuration } from "../format.js";
import { attach } from "./pointer.js";
import { GUTTER, part, Surface, type Stage, type Strip } from "./stage.js";
import { instantText, labelPlace, timeStep, timeTicks } from "./ticks.js";

export class TimeAxis implements Strip {
	readonly element = part("div", "axis");
	readonly bar = part("div", "timebar");
	visible = true;
	stale = true;
	private readonly surface = new Surface(this.element);
	private readonly label = part("div", "instant");
	private readonly chip = part("div", "chip");
	private readonly length = part("span", "");

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
		this.element.append(this.label, this.chip);
		this.bar.append(this.element);
		attach(stage, this.surface.area, { wheelZooms: true });
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
		let taken = GUTTER;
		for (const { at, text } of timeTicks(from, end, timeStep(end - from, width / 76))) {
			const line = Math.round(x(at)) + 0.5;
			context.moveTo(line, height - 6);
			context.lineTo(line, height);
			const wide = context.measureText(text).width;
			const left = labelPlace(line, wide, taken, GUTTER + width);
			if (left === null) continue;
			context.fillText(text, left, height / 2 + 1);
			taken = left + wide + 6;
		}
		context.stroke();
		context.textAlign = "right";
		context.fillStyle = inks.faint;
		context.fillText(formatDuration(end - from), GUTTER - 6, height / 2 + 1, GUTTER - 10);
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
			const step = Math.max(1e-9, 10 ** Math.floor(Math.log10(1 / scale)));
			this.label.textContent = instantText(cursor!, step, Math.max(Math.abs(range.from), Math.abs(range.end)));
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
	}
}
