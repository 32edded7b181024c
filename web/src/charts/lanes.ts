/* Lanes of regions, host and GPU apart, with the marks above them. */
import { formatDuration, formatInstant, plainText } from "../format.js";
import type { StoredRun } from "../store.js";
import { mix } from "./colours.js";
import { Names } from "./names.js";
import { attach } from "./pointer.js";
import { GUTTER, part, Surface, type Stage, type Strip } from "./stage.js";
import { Tip } from "./tip.js";

const LANE = 17;
const MARKS = 16;
const BETWEEN = 5;
const MOST_LANES = 200; /* of a domain: a canvas has its limits */

/* The regions of one lane, in order of time. */
interface Lane {
	run: StoredRun;
	gpu: boolean;
	top: number;
	regions: number[]; /* places in the run's regions */
	starts: Float64Array; /* on the shared axis */
	ends: Float64Array; /* those of all up to here, at most: lanes whose regions overlap are searched, too */
}

interface Block {
	label: string;
	top: number;
	lanes: number;
}

interface MarkRow {
	run: StoredRun;
	top: number;
	bottom: number; /* of the lanes of its run */
	order: number[];
}

export class Lanes implements Strip {
	readonly element = part("div", "lanes");
	visible = false;
	stale = true;
	private readonly surface = new Surface(this.element);
	private readonly tip = new Tip();
	readonly names = new Names();
	private lanes: Lane[] = [];
	private blocks: Block[] = [];
	private marks: MarkRow[] = [];
	private version = "";
	private hovered: { lane: Lane; i: number } | null = null;

	constructor(private readonly stage: Stage) {
		this.renew();
		attach(stage, this.surface.area, {
			wheelZooms: true,
			click: (t, y) => {
				const hit = this.hit(t, y);
				if (hit) stage.view.setSelection(this.timeOf(hit.lane, hit.i));
				return hit !== null;
			},
			hover: (t, y, event) => this.hover(t, y, event),
		});
	}

	get empty(): boolean {
		return this.lanes.length === 0 && this.marks.length === 0;
	}

	/* Sorts regions into lanes when there are others than before. */
	renew(): boolean {
		const { runs } = this.stage.store;
		const version = runs.map((run) => {
			const { regions, marks, length_s } = run;
			const open = regions ? regions.end.reduce<number>((sum, end) => sum + (end === null ? 1 : 0), 0) : 0;
			return `${regions?.id.length} ${open} ${marks?.at.length} ${open > 0 ? length_s : 0}`;
		}).join();
		if (version === this.version) return false;
		this.version = version;
		this.lanes = [];
		this.blocks = [];
		this.marks = [];
		let top = 2;
		for (const run of runs) {
			const prefix = runs.length > 1 ? `${plainText(run.label)} ` : "";
			if (run.marks && run.marks.at.length > 0) {
				const { at } = run.marks;
				this.marks.push({ run, top, bottom: top + MARKS, order: at.map((_, i) => i).sort((a, b) => at[a] - at[b]) });
				top += MARKS;
			}
			for (const gpu of [false, true]) top = this.addBlock(run, gpu, prefix + (gpu ? "GPU" : "host"), top);
			const row = this.marks[this.marks.length - 1];
			if (row?.run === run) row.bottom = Math.max(row.bottom, top - BETWEEN);
		}
		this.element.style.height = `${Math.max(0, top - BETWEEN + 3)}px`;
		this.names.fill(runs, this.stage.colours, Math.max(54, top - BETWEEN + 3));
		return true;
	}

	draw(): void {
		const context = this.surface.begin();
		if (!context) return;
		const { inks } = this.stage;
		context.font = inks.font;
		context.textBaseline = "middle";
		for (const { label, top, lanes } of this.blocks) {
			context.fillStyle = inks.dim;
			context.textAlign = "right";
			context.fillText(label, GUTTER - 6, top + LANE / 2, GUTTER - 8);
			context.fillStyle = inks.grid;
			context.fillRect(GUTTER, top, this.surface.width, lanes * LANE - 1);
		}
		context.save();
		context.beginPath();
		context.rect(GUTTER, 0, this.surface.width, this.surface.height);
		context.clip();
		context.textAlign = "left";
		for (const lane of this.lanes) this.drawLane(context, lane);
		for (const row of this.marks) this.drawMarks(context, row);
		context.restore();
	}

	over(): void {
		this.surface.over(this.stage);
	}

	private addBlock(run: StoredRun, gpu: boolean, label: string, top: number): number {
		const { regions } = run;
		const all_lanes = regions ? (gpu ? regions.gpu_lanes : regions.host_lanes) : 0;
		const lanes = Math.min(all_lanes, MOST_LANES);
		if (!regions || lanes === 0) return top;
		const places: number[][] = Array.from({ length: lanes }, () => []);
		regions.lane.forEach((lane, i) => {
			if ((regions.gpu[i] === 1) === gpu) places[lane]?.push(i);
		});
		places.forEach((all, k) => {
			all.sort((a, b) => regions.start[a] - regions.start[b]);
			const ends = new Float64Array(all.length);
			let latest = -Infinity;
			all.forEach((i, j) => (ends[j] = latest = Math.max(latest, (regions.end[i] ?? run.length_s) - run.shift_s)));
			const starts = Float64Array.from(all, (i) => regions.start[i] - run.shift_s);
			this.lanes.push({ run, gpu, top: top + k * LANE, regions: all, starts, ends });
		});
		this.blocks.push({ label: all_lanes > lanes ? `${label}, ${all_lanes - lanes} more` : label, top, lanes });
		return top + lanes * LANE + BETWEEN;
	}

	private timeOf(lane: Lane, i: number): { from: number; end: number } {
		const { regions, length_s, shift_s } = lane.run;
		const at = lane.regions[i];
		return { from: regions!.start[at] - shift_s, end: (regions!.end[at] ?? length_s) - shift_s };
	}

	/* What is narrower than a pixel is one with what follows within it: as many steps as there are pixels. */
	private drawLane(context: CanvasRenderingContext2D, lane: Lane): void {
		const { view, inks } = this.stage;
		const { from, end } = view.range;
		const scale = this.surface.width / (end - from);
		const regions = lane.run.regions!;
		const high = LANE - 2;
		let i = search(lane.ends, from);
		while (i < lane.starts.length && lane.starts[i] < end) {
			const time = this.timeOf(lane, i);
			const x = GUTTER + (time.from - from) * scale;
			const wide = (time.end - time.from) * scale;
			const name = regions.names[regions.name[lane.regions[i]]] ?? "";
			const colour = this.stage.colours.region(name);
			if (wide < 1.5) {
				context.fillStyle = colour;
				context.fillRect(Math.floor(x), lane.top, 1, high);
				i = Math.max(i + 1, search(lane.starts, from + (Math.floor(x) + 1 - GUTTER) / scale));
				continue;
			}
			this.drawRegion(context, lane, { x, wide, name, colour, open: regions.end[lane.regions[i]] === null, ink: inks.ink });
			i++;
		}
	}

	private drawRegion(context: CanvasRenderingContext2D, lane: Lane,
		{ x, wide, name, colour, open, ink }: { x: number; wide: number; name: string; colour: string; open: boolean; ink: string }): void {
		const { card } = this.stage.inks;
		const left = Math.max(x, GUTTER - 2);
		const right = Math.min(x + wide, GUTTER + this.surface.width + 2);
		const high = LANE - 2;
		context.fillStyle = mix(colour, card, lane.gpu ? 0.72 : 0.55);
		context.fillRect(left, lane.top, Math.max(1, right - left - (wide > 3 ? 1 : 0)), high);
		context.fillStyle = colour;
		if (lane.gpu) context.fillRect(left, lane.top + high - 3, Math.max(1, right - left - 1), 3);
		else context.fillRect(left, lane.top, Math.min(3, right - left), high);
		if (open) for (let k = 0; k < 3; k++) context.fillRect(right - 3 - 4 * k, lane.top, 2, high);
		const room = right - left - 10;
		if (room < 14) return;
		const label = clipped(context, plainText(name), room);
		context.fillStyle = ink;
		context.fillText(label, left + 6, lane.top + high / 2 + 0.5);
	}

	private drawMarks(context: CanvasRenderingContext2D, { run, top, bottom, order }: MarkRow): void {
		const { inks, view } = this.stage;
		const { from, end } = view.range;
		const marks = run.marks!;
		const scale = this.surface.width / (end - from);
		let labelled = -Infinity;
		let drawn = -Infinity;
		for (let k = 0; k < order.length; k++) {
			const i = order[k];
			const x = Math.round(GUTTER + (marks.at[i] - run.shift_s - from) * scale);
			if (x < GUTTER - 200 || x > GUTTER + this.surface.width || x === drawn) continue;
			drawn = x;
			context.fillStyle = marks.gpu[i] ? inks.accent : inks.ink;
			context.beginPath();
			context.moveTo(x, top + 2);
			context.lineTo(x + 6, top + 5.5);
			context.lineTo(x, top + 9);
			context.fill();
			context.fillRect(x, top + 2, 1, bottom - top - 2);
			const next = k + 1 < order.length ? (marks.at[order[k + 1]] - run.shift_s - from) * scale + GUTTER : Infinity;
			const room = Math.min(next, GUTTER + this.surface.width) - x - 12;
			if (x < labelled || room < 20) continue;
			const label = clipped(context, plainText(marks.names[marks.name[i]] ?? ""), Math.min(room, 220));
			context.fillStyle = inks.dim;
			context.fillText(label, x + 9, top + 6);
			labelled = x + 9 + context.measureText(label).width;
		}
	}

	private hit(t: number, y: number): { lane: Lane; i: number } | null {
		const lane = this.lanes.find(({ top }) => y >= top && y < top + LANE);
		if (!lane) return null;
		const { view } = this.stage;
		const near = ((view.range.end - view.range.from) / Math.max(1, this.surface.width)) * 2;
		let best: number | null = null;
		for (let i = search(lane.ends, t - near); i < lane.starts.length && lane.starts[i] <= t + near; i++) {
			const { from, end } = this.timeOf(lane, i);
			if (end < t - near) continue;
			if (best === null || (t >= from && t < end)) best = i;
		}
		return best === null ? null : { lane, i: best };
	}

	private hover(t: number | null, y: number, event: PointerEvent | null): void {
		const hit = t === null ? null : this.hit(t, y);
		if (hit?.i !== this.hovered?.i || hit?.lane !== this.hovered?.lane) {
			this.hovered = hit;
			this.stage.setShade(hit ? this.timeOf(hit.lane, hit.i) : null);
		}
		const rows = hit ? this.rowsOf(hit.lane, hit.i) : t === null ? null : this.rowsOfMark(t, y);
		if (rows && event) this.tip.show(rows, event.clientX, event.clientY);
		else this.tip.hide();
		this.surface.area.classList.toggle("pointed", hit !== null);
	}

	private rowsOf(lane: Lane, i: number): [string, string][] {
		const regions = lane.run.regions!;
		const at = lane.regions[i];
		const { from, end } = this.timeOf(lane, i);
		const rows: [string, string][] = [["", plainText(regions.names[regions.name[at]] ?? "")]];
		const running = regions.end[at] === null;
		rows.push(["takes", running ? `${formatDuration(end - from)}, not ended` : formatDuration(end - from)]);
		rows.push(["from", formatInstant(from, Math.max(1e-6, (end - from) / 1000))]);
		rows.push(["on", lane.gpu ? `GPU, stream ${regions.stream[at]}` : `thread ${regions.thread[at]}`]);
		rows.push(["process", String(regions.pid[at])]);
		if (regions.error[at] > 0) rows.push(["exact to", `± ${formatDuration(regions.error[at])}`]);
		if (this.stage.store.runs.length > 1) rows.push(["run", plainText(lane.run.label)]);
		return rows;
	}

	private rowsOfMark(t: number, y: number): [string, string][] | null {
		const { view } = this.stage;
		const row = this.marks.find(({ top }) => y >= top && y < top + MARKS);
		if (!row) return null;
		const marks = row.run.marks!;
		const near = ((view.range.end - view.range.from) / Math.max(1, this.surface.width)) * 8;
		let best = -1;
		marks.at.forEach((at, i) => {
			const far = Math.abs(at - row.run.shift_s - t);
			if (far < near && (best < 0 || far < Math.abs(marks.at[best] - row.run.shift_s - t))) best = i;
		});
		if (best < 0) return null;
		return [
			["", plainText(marks.names[marks.name[best]] ?? "")],
			["at", formatInstant(marks.at[best] - row.run.shift_s, near / 80)],
			["by", `${marks.gpu[best] ? "GPU, " : ""}process ${marks.pid[best]}`],
		];
	}
}

/* The first place whose value is above t. */
function search(sorted: Float64Array, t: number): number {
	let low = 0;
	let high = sorted.length;
	while (low < high) {
		const middle = (low + high) >>> 1;
		if (sorted[middle] > t) high = middle;
		else low = middle + 1;
	}
	return low;
}

function clipped(context: CanvasRenderingContext2D, text: string, room: number): string {
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
