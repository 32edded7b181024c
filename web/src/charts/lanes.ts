/* Lanes of regions, host and GPU apart, with the marks above them. */
import { formatDuration, formatInstant } from "../format.js";
import type { StoredRun } from "../store.js";
import { mix } from "./colours.js";
import { clipped } from "./labels.js";
import { clustersOf, inTime, type Cluster } from "./marks.js";
import { Names } from "./names.js";
import { attach } from "./pointer.js";
import { GUTTER, part, Surface, type Stage, type Strip } from "./stage.js";
import { Tip } from "./tip.js";
import { visible } from "../ui/dom.js";

const LANE = 17;
const MARKS = 16;
const CAPTION = 14; /* the name of a run, above its lanes: only where there are several */
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
	private captions: { label: string; top: number }[] = [];
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
		this.captions = [];
		let top = 2;
		for (const run of runs) {
			const said = (run.marks?.at.length ?? 0) + (run.regions?.id.length ?? 0) > 0;
			if (runs.length > 1 && said) {
				this.captions.push({ label: visible(run.label), top });
				top += CAPTION;
			}
			if (run.marks && run.marks.at.length > 0) {
				this.marks.push({ run, top, bottom: top + MARKS });
				top += MARKS;
			}
			for (const gpu of [false, true]) top = this.addBlock(run, gpu, gpu ? "GPU" : "host", top);
			const row = this.marks[this.marks.length - 1];
			if (row?.run === run) row.bottom = Math.max(row.bottom, top - BETWEEN);
		}
		const high = Math.max(0, top - BETWEEN + 3);
		this.element.style.height = `${high}px`;
		this.names.fit(runs, high);
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
			context.fillText(clipped(context, label, GUTTER - 8), GUTTER - 6, top + LANE / 2);
			context.fillStyle = inks.grid;
			context.fillRect(GUTTER, top, this.surface.width, lanes * LANE - 1);
		}
		context.save();
		context.beginPath();
		context.rect(GUTTER, 0, this.surface.width, this.surface.height);
		context.clip();
		context.textAlign = "left";
		context.fillStyle = inks.dim;
		for (const { label, top } of this.captions)
			context.fillText(clipped(context, label, this.surface.width - 8), GUTTER + 2, top + CAPTION / 2);
		const clusters = this.marks.map((row) => this.clusters(row));
		this.marks.forEach((row, i) => this.drawMarkLines(context, row, clusters[i]));
		for (const lane of this.lanes) this.drawLane(context, lane);
		this.marks.forEach((row, i) => this.drawMarks(context, row, clusters[i]));
		context.restore();
		this.names.show(this.stage);
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
		const label = clipped(context, visible(name), room);
		context.fillStyle = ink;
		context.fillText(label, left + 6, lane.top + high / 2 + 0.5);
	}

	private clusters({ run }: MarkRow): { marks: number[]; clusters: Cluster[] } {
		const { from, end } = this.stage.view.range;
		const scale = this.surface.width / (end - from);
		const { at } = run.marks!;
		const x = (i: number): number => (at[i] - run.shift_s - from) * scale;
		const marks = inTime(run).filter((i) => x(i) > -8 && x(i) <= this.surface.width);
		return { marks, clusters: clustersOf(marks.map(x)) };
	}

	/* Behind the regions, and none where they are too dense: these have a bar above. */
	private drawMarkLines(context: CanvasRenderingContext2D, { top, bottom }: MarkRow, { clusters }: { clusters: Cluster[] }): void {
		context.fillStyle = this.stage.inks.faint;
		for (const { x } of clusters.filter(({ count }) => count === 1)) context.fillRect(Math.round(GUTTER + x), top + 9, 1, bottom - top - 9);
	}

	private drawMarks(context: CanvasRenderingContext2D, { run, top }: MarkRow, { marks, clusters }: { marks: number[]; clusters: Cluster[] }): void {
		const { inks } = this.stage;
		const all = run.marks!;
		let taken = -Infinity;
		clusters.forEach(({ x, end, first, count }, k) => {
			const left = Math.round(GUTTER + x);
			const right = Math.round(GUTTER + end);
			const gpu = all.gpu[marks[first]];
			context.fillStyle = count > 1 ? inks.dim : gpu ? inks.accent : inks.ink;
			if (count > 1) context.fillRect(left, top + 10, right - left + 2, 2);
			for (const at of count > 1 && right - left > 6 ? [left, right + 1] : [left]) {
				const turn = at === left ? 6 : -6;
				context.beginPath();
				context.moveTo(at, top + 2);
				context.lineTo(at + turn, top + 5.5);
				context.lineTo(at, top + 9);
				context.fill();
				context.fillRect(at, top + 2, 1, 9);
			}
			const next = k + 1 < clusters.length ? GUTTER + clusters[k + 1].x : Infinity;
			const room = Math.min(next, GUTTER + this.surface.width) - left - 12;
			if (left < taken || room < 20) return;
			const text = count > 1 ? `${count} marks` : visible(all.names[all.name[marks[first]]] ?? "");
			const label = clipped(context, text, Math.min(room, 220));
			context.fillStyle = inks.dim;
			context.fillText(label, left + 9, top + 5);
			taken = left + 9 + context.measureText(label).width;
		});
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
		const rows: [string, string][] = [["", visible(regions.names[regions.name[at]] ?? "")]];
		const running = regions.end[at] === null;
		rows.push(["takes", running ? `${formatDuration(end - from)}, not ended` : formatDuration(end - from)]);
		rows.push(["from", formatInstant(from, Math.max(1e-6, (end - from) / 1000))]);
		/* Of regions that the command line said, no thread is known. */
		if (lane.gpu) rows.push(["on", `GPU, stream ${regions.stream[at]}`]);
		else if (regions.thread[at]) rows.push(["on", `thread ${regions.thread[at]}`]);
		rows.push(["process", String(regions.pid[at])]);
		if (regions.error[at] > 0) rows.push(["exact to", `± ${formatDuration(regions.error[at])}`]);
		if (this.stage.store.runs.length > 1) rows.push(["run", visible(lane.run.label)]);
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
		const { marks: seen, clusters } = this.clusters(row);
		const cluster = clusters.find(({ first, count }) => count > 1 && seen.indexOf(best) >= first && seen.indexOf(best) < first + count);
		return [
			...(cluster ? [["", `${cluster.count} marks: zoom in to tell them apart`] as [string, string]] : []),
			[cluster ? "nearest" : "", visible(marks.names[marks.name[best]] ?? "")],
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
