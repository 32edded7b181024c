/* Regions and marks by their names, and going from one to the next. */
import type { Range } from "../state.js";
import type { StoredRun } from "../store.js";
import { type Ui, padded, watcher, zoomTo } from "./context.js";
import { visible } from "./dom.js";

export interface NameStats {
	key: string;
	run: number;
	gpu: boolean;
	mark: boolean;
	name: string;
	at: number[]; /* indices of its regions or marks, in order of time */
	total_s: number;
	max_s: number;
	open: number;
}

function newStats(run: StoredRun, key: string, name: string, gpu: boolean, mark: boolean): NameStats {
	return { key, run: run.index, gpu, mark, name, at: [], total_s: 0, max_s: 0, open: 0 };
}

export function regionRange(run: StoredRun, i: number): Range {
	const from = run.regions?.start[i] ?? 0;
	const end = run.regions?.end[i] ?? run.length_s;
	return { from: from - run.shift_s, end: Math.max(end, from) - run.shift_s };
}

function addRegions(run: StoredRun, all: Map<string, NameStats>): void {
	const { regions } = run;
	if (!regions) return;
	for (let i = 0; i < regions.name.length; i++) {
		const name = regions.name[i] ?? -1;
		const gpu = regions.gpu[i] === 1;
		const key = `${run.index}/${gpu ? "gpu" : "host"}/${name}`;
		let stats = all.get(key);
		if (!stats) all.set(key, (stats = newStats(run, key, regions.names[name] ?? "", gpu, false)));
		const range = regionRange(run, i);
		stats.at.push(i);
		stats.total_s += range.end - range.from;
		stats.max_s = Math.max(stats.max_s, range.end - range.from);
		if (regions.end[i] === null) stats.open++;
	}
}

function addMarks(run: StoredRun, all: Map<string, NameStats>): void {
	const { marks } = run;
	if (!marks) return;
	for (let i = 0; i < marks.name.length; i++) {
		const name = marks.name[i] ?? -1;
		const key = `${run.index}/mark/${name}`;
		let stats = all.get(key);
		if (!stats)
			all.set(key, (stats = newStats(run, key, marks.names[name] ?? "", marks.gpu[i] === 1, true)));
		stats.at.push(i);
	}
}

/* Of all runs; of each name in the order of its first. Pure. */
export function namesOf(runs: readonly StoredRun[]): NameStats[] {
	const all = new Map<string, NameStats>();
	for (const run of runs) {
		addRegions(run, all);
		addMarks(run, all);
	}
	const start = (stats: NameStats, i: number): number => {
		const run = runs[stats.run];
		return (stats.mark ? run?.marks?.at[i] : run?.regions?.start[i]) ?? 0;
	};
	for (const stats of all.values()) stats.at.sort((a, b) => start(stats, a) - start(stats, b));
	return [...all.values()];
}

/* The names of the runs, and the region or mark that was gone to last. */
export class Walk {
	private known: NameStats[] | null = null;
	private current: { stats: NameStats; place: number } | null = null;
	private readonly listeners: (() => void)[] = [];

	constructor(private readonly ui: Ui) {
		const isNew = watcher(() => ui.store.runs.flatMap((run) => [run.regions, run.marks]));
		ui.view.on("data", () => {
			if (!isNew()) return;
			this.known = null;
			if (this.current) this.current.stats = this.named(this.current.stats.key) ?? this.current.stats;
		});
	}

	names(): NameStats[] {
		return (this.known ??= namesOf(this.ui.store.runs));
	}

	onGone(listener: () => void): void {
		this.listeners.push(listener);
	}

	place(stats: NameStats): number | null {
		return this.current?.stats.key === stats.key ? this.current.place : null;
	}

	rangeAt(stats: NameStats, place: number): Range {
		const run = this.ui.store.runs[stats.run];
		const i = stats.at[place] ?? 0;
		if (!run) return { from: 0, end: 0 };
		if (!stats.mark) return regionRange(run, i);
		const at = (run.marks?.at[i] ?? 0) - run.shift_s;
		return { from: at, end: at };
	}

	/* Zooms to it; its time becomes the selection. Round at the ends. */
	go(stats: NameStats, wish: number): void {
		const { length } = stats.at;
		if (length === 0) return;
		const place = ((wish % length) + length) % length;
		this.current = { stats, place };
		const range = this.rangeAt(stats, place);
		zoomTo(this.ui, padded(this.ui, range));
		this.ui.view.setSelection(stats.mark ? null : range);
		this.ui.say(`${visible(stats.name)}: ${place + 1} of ${length}`);
		for (const listener of this.listeners) listener();
	}

	/* The next one of the same name, or the one before. */
	step(by: 1 | -1): void {
		if (this.current) this.go(this.current.stats, this.current.place + by);
		else this.ui.say("no region was gone to yet: search one with /");
	}

	/* The region of any name that begins next behind the selection (or before it). */
	neighbour(by: 1 | -1): void {
		const { selection, range } = this.ui.view;
		const from = selection ? selection.from : by > 0 ? range.from : range.end;
		let best: { stats: NameStats; place: number; at: number } | null = null;
		for (const stats of this.names()) {
			if (stats.mark) continue;
			const place = this.nearest(stats, from, by);
			if (place === null) continue;
			const at = this.rangeAt(stats, place).from;
			if (!best || (at - best.at) * by < 0) best = { stats, place, at };
		}
		if (best) this.go(best.stats, best.place);
		else this.ui.say(by > 0 ? "no region begins later" : "no region begins before");
	}

	private nearest(stats: NameStats, from: number, by: 1 | -1): number | null {
		const near = (this.ui.view.full.end - this.ui.view.full.from) * 1e-9;
		let low = 0;
		let high = stats.at.length;
		while (low < high) {
			const middle = (low + high) >> 1;
			const start = this.rangeAt(stats, middle).from;
			if (by > 0 ? start > from + near : start >= from - near) high = middle;
			else low = middle + 1;
		}
		const place = by > 0 ? low : low - 1;
		return place >= 0 && place < stats.at.length ? place : null;
	}

	private named(key: string): NameStats | undefined {
		return this.names().find((stats) => stats.key === key);
	}
}
