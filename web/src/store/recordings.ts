/* The Store: documents put together, by run, panel and key of a series. */
import type { Document, Panel, Process, Run, Series } from "../data.js";
import type { Range } from "../state.js";
import type { Figures, Store, StoredPanel, StoredRun } from "../store.js";
import { mergeById, mergeMarks, mergeRegions } from "./merge.js";
import { choose, inOrder, Instants, Piece, type Segment, type Source } from "./pieces.js";
import { Tail } from "./tail.js";

const DECODED_BYTES = 768 * 1024 * 1024; /* then what was not drawn for long is forgotten */
const DETAILS = 16; /* documents of detail that are kept */

export type Detail = (run: number, range: Range) => Promise<Document>;

interface Curve {
	pieces: Piece[]; /* finest first, then by time */
	tail: Tail | null;
	all: Piece[] | null; /* both; null: to be made */
	version: number; /* of what is loaded */
	sequence: number; /* of the last news that had it */
}

interface Fetched {
	run: number;
	asked: Range;
	pieces: { curve: Curve; piece: Piece }[];
}

/* Blocks of a file are elements of it, and the parser may not have come to them, or behind them. */
const inPage = (width: 4 | 8): Source => ({
	width,
	async block(id) {
		let element = document.getElementById(id);
		if (!element?.nextSibling && document.readyState === "loading") {
			await new Promise((resolve) => document.addEventListener("DOMContentLoaded", resolve, { once: true }));
			element = document.getElementById(id);
		}
		if (!element) throw new Error("it is not in the page");
		return element.textContent ?? "";
	},
});

const inDocument = (blocks: Record<string, string>, width: 4 | 8): Source => ({
	width,
	block(id) {
		const text = blocks[id];
		return text === undefined ? Promise.reject(new Error("it is not in the document")) : Promise.resolve(text);
	},
});

export class Recordings implements Store {
	document: Document;
	readonly runs: StoredRun[] = [];
	readonly panels: StoredPanel[] = [];
	private readonly curves = new Map<string, Curve>();
	private readonly details = new Set<Piece>();
	private newest: number | null = null; /* the sequence of the last news */
	private going = 0;
	private versions = 0;
	private fetched: Fetched[] = [];
	private asking: Range = { from: 0, end: 0 };
	private fetching: { run: number; range: Range; done: Promise<void> }[] = [];
	private news: Promise<void> = Promise.resolve();

	constructor(
		first: Document,
		private readonly changed: () => void,
		private readonly detail: Detail | null,
	) {
		this.document = first;
		this.merge(first);
	}

	merge(news: Document): void {
		const width = news.bytes ?? 4;
		const source = news.blocks ? inDocument(news.blocks, width) : inPage(width);
		if (news.kind === "page" || news.kind === "overview") {
			this.takeAll(news, source);
		} else if (!this.isSame(news)) {
			return;
		} else if (news.kind === "detail") {
			this.mergeDetail(news, this.runs[0].index, source);
		} else {
			this.document.live = news.live;
			if (news.sequence !== undefined) this.document.sequence = news.sequence;
			for (const run of news.runs) this.mergeNews(run, source, Number(news.sequence ?? NaN));
		}
		this.changed();
	}

	/* Of the one recording that is shown: answers may come when another one is. */
	isSame(news: Document): boolean {
		if (this.runs.length !== 1 || news.runs.length !== 1) return false;
		return this.runs[0].zero_mono_ns === news.runs[0].zero_mono_ns;
	}

	/* The overview anew: of the same recording, what is known finer is kept. */
	private takeAll(news: Document, source: Source): void {
		const known = this.isSame(news);
		this.document = news;
		this.runs.length = 0;
		if (!known) {
			this.curves.clear();
			this.details.clear();
			this.fetched = [];
			this.newest = null;
		}
		for (const curve of this.curves.values()) {
			curve.pieces = curve.pieces.filter((piece) => this.details.has(piece));
			curve.all = null;
			curve.version = ++this.versions;
		}
		/* Who holds a panel holds it still: the same one comes again. */
		for (const stored of this.panels) {
			stored.series = [];
			stored.totals = [];
			stored.panel = { ...stored.panel, series: [] };
		}
		news.runs.forEach((run, index) => this.addRun(run, index, source));
		for (let i = this.panels.length - 1; i >= 0; i--) if (this.panels[i].series.length === 0) this.panels.splice(i, 1);
		this.forgetCurves(Number(news.sequence ?? Infinity));
	}

	/* Those that are in no panel, nor in news behind that sequence. */
	private forgetCurves(sequence: number): void {
		const shown = new Set(this.panels.flatMap((panel) => [...panel.series, ...panel.totals].map(({ run, series }) => `${run}/${series.key}`)));
		for (const [id, curve] of this.curves) if (!shown.has(id) && !(curve.sequence > sequence)) this.curves.delete(id);
	}

	async load(run: number, series: Series, range: Range): Promise<void> {
		await this.want(run, series, range, 0);
	}

	/* As load(), but buckets of enough_s seconds will do. */
	async want(run: number, series: Series, range: Range, enough_s: number): Promise<void> {
		this.going++;
		try {
			await this.fetchAndDecode(run, series, range, enough_s);
		} finally {
			this.going--;
		}
	}

	private async fetchAndDecode(run: number, series: Series, range: Range, enough_s: number): Promise<void> {
		const shift = this.runs[run].shift_s;
		const from = range.from + shift;
		const end = range.end + shift;
		await this.news;
		let segments = this.segments(run, series, from, end, enough_s, false);
		if (this.detail && segments.some(({ piece }) => piece.per > 1 && piece.spacing > enough_s)) {
			await this.fetchDetail(run, { from, end }, enough_s);
			segments = this.segments(run, series, from, end, enough_s, false);
		}
		const missing = segments.filter(({ piece }) => !piece.chunk);
		if (missing.length === 0) return;
		await Promise.all(missing.map(({ piece }) => piece.load()));
		const curve = this.curves.get(`${run}/${series.key}`);
		if (curve) curve.version = ++this.versions;
		this.trim();
		this.changed();
	}

	/* Nothing is being loaded. */
	get idle(): boolean {
		return this.going === 0;
	}

	/* Another number whenever there is more of that curve to be drawn. */
	version(run: number, series: Series): number {
		return this.curves.get(`${run}/${series.key}`)?.version ?? 0;
	}

	/* Is there something of that time that is not loaded at all? */
	lacks(run: number, series: Series, range: Range): boolean {
		const { shift_s } = this.runs[run];
		const [from, end] = [range.from + shift_s, range.end + shift_s];
		return this.segments(run, series, from, end, Infinity, false).length > 0
			&& this.segments(run, series, from, end, Infinity, true).length === 0;
	}

	/* What there is to show [from, end) of the run's own time with; of what is loaded, or of all. */
	segments(run: number, series: Series, from: number, end: number, enough_s: number, loaded: boolean): Segment[] {
		const curve = this.curves.get(`${run}/${series.key}`);
		if (!curve) return [];
		curve.all ??= curve.tail ? [...curve.tail.pieces(), ...curve.pieces].sort(inOrder) : curve.pieces;
		const now = performance.now();
		return choose(curve.all, from, end, enough_s, (piece) => {
			piece.used = now;
			return !piece.broken && (!loaded || piece.chunk !== null);
		});
	}

	figures(run: number, series: Series, range: Range): Figures | null {
		const stored = this.runs[run];
		const from = range.from + stored.shift_s;
		const end = range.end + stored.shift_s;
		let exact = true;
		let integral = 0;
		let covered_s = 0;
		const found = { lo: Infinity, hi: -Infinity };
		const sums = { integral: 0, covered_s: 0 };
		const all = { lo: Infinity, hi: -Infinity };
		for (const segment of this.segments(run, series, from, end, 0, true)) {
			const chunk = segment.piece.chunk!;
			let first = chunk.firstAfter(segment.from);
			let stop = chunk.firstAfter(segment.end);
			const cut = (i: number): void => {
				const length = Math.min(chunk.end(i), segment.end) - Math.max(chunk.start(i), segment.from);
				if (!(length > 0) || chunk.mean[i] !== chunk.mean[i]) return;
				integral += chunk.mean[i] * length;
				covered_s += length;
				all.lo = Math.min(all.lo, chunk.lo[i]);
				all.hi = Math.max(all.hi, chunk.hi[i]);
				const whole = chunk.end(i) <= segment.end && chunk.start(i) >= segment.from;
				if (chunk.per > 1 && !whole) exact = false;
			};
			if (stop < chunk.n) cut(stop);
			if (first < stop) cut(first++);
			if (first < stop) {
				chunk.sums(first, stop, sums);
				integral += sums.integral;
				covered_s += sums.covered_s;
				chunk.extremes(first, stop, found);
				all.lo = Math.min(all.lo, found.lo);
				all.hi = Math.max(all.hi, found.hi);
			}
		}
		if (!(covered_s > 0)) return null;
		return { mean: integral / covered_s, min: all.lo, max: all.hi, integral: series.level ? null : integral, covered_s, exact };
	}

	at(run: number, series: Series, t: number): number | null {
		const instant = t + this.runs[run].shift_s;
		const [segment] = this.segments(run, series, instant, instant + 1e-9, 0, true);
		const chunk = segment?.piece.chunk;
		if (!chunk) return null;
		const i = chunk.firstAfter(instant);
		if (i >= chunk.n || chunk.start(i) > instant) return null;
		const value = chunk.mean[i];
		return value === value ? value : null;
	}

	/* The last value that is known before t, if it is no older than older_s or than it is long. */
	last(run: number, series: Series, t: number, older_s: number): number | null {
		const { shift_s } = this.runs[run];
		const until = t + shift_s;
		const segments = this.segments(run, series, -Infinity, until, 0, true);
		const chunk = segments[segments.length - 1]?.piece.chunk;
		if (!chunk) return null;
		const i = Math.min(chunk.firstAfter(until), chunk.n - 1);
		const k = chunk.start(i) < until ? i : i - 1;
		if (k < 0) return null;
		const age_s = until - chunk.end(k);
		const value = chunk.mean[k];
		return value === value && age_s <= Math.max(older_s, 1.5 * (chunk.end(k) - chunk.start(k))) ? value : null;
	}

	private addRun(run: Run, index: number, source: Source): void {
		const stored: StoredRun = { ...run, index, processIndex: new Map() };
		this.runs.push(stored);
		this.indexProcesses(stored, run.processes ?? []);
		this.addPanels(run, index);
		this.addPieces(run, index, source);
	}

	private indexProcesses(run: StoredRun, processes: Process[]): void {
		run.processes = processes;
		processes.forEach((process, i) => run.processIndex.set(process.id, i));
	}

	/* A panel that is new comes behind the one that it stands behind in its document. */
	private addPanels(run: Run, index: number): void {
		let place = -1;
		for (const panel of run.panels) {
			const at = this.panels.findIndex(({ id }) => id === panel.id);
			if (at >= 0) place = at;
			else this.panels.splice(++place, 0, { id: panel.id, panel: { ...panel, series: [] }, series: [], totals: [] });
			this.addSeries(this.panels[place], panel, index);
		}
	}

	private addSeries(stored: StoredPanel, panel: Panel, run: number): void {
		for (const series of panel.series) {
			const known = stored.series.find((one) => one.run === run && one.series.key === series.key);
			if (known) {
				known.series.label = series.label;
				known.series.process = series.process;
			} else {
				stored.series.push({ run, series });
				stored.panel.series.push(series);
			}
		}
		const { total } = panel;
		if (total && !stored.totals.some((one) => one.run === run)) stored.totals.push({ run, series: total });
	}

	private curve(run: number, key: string): Curve {
		const id = `${run}/${key}`;
		let curve = this.curves.get(id);
		if (!curve) this.curves.set(id, (curve = { pieces: [], tail: null, all: null, version: ++this.versions, sequence: 0 }));
		return curve;
	}

	private addPieces(run: Run, index: number, source: Source): { curve: Curve; piece: Piece }[] {
		const added: { curve: Curve; piece: Piece }[] = [];
		const touched = new Set<Curve>();
		for (const [series, bases] of this.basesOf(run, source)) {
			const curve = this.curve(index, series.key);
			series.pieces.forEach((block, i) => {
				const instants = bases[i];
				if (block === null || !instants || instants.n === 0) return;
				const { from, end, per, n } = instants;
				const piece = new Piece(instants, block, from, end, per, (end - from) / n);
				curve.pieces.push(piece);
				added.push({ curve, piece });
			});
			touched.add(curve);
		}
		for (const curve of touched) {
			curve.pieces.sort(inOrder);
			curve.all = null;
		}
		return added;
	}

	private *basesOf(run: Run, source: Source): Generator<[Series, Instants[]]> {
		const bases = new Map<string, Instants[]>();
		for (const base of run.bases)
			bases.set(base.id, base.pieces.map((p) => new Instants(source, p.block, p.n, p.from, p.end, p.per)));
		for (const panel of run.panels)
			for (const series of panel.total ? [...panel.series, panel.total] : panel.series) {
				const pieces = bases.get(series.base);
				if (pieces) yield [series, pieces];
			}
	}

	private mergeDetail(news: Document, index: number, source: Source): void {
		const [run] = news.runs;
		const pieces = this.addPieces(run, index, source);
		for (const { piece } of pieces) this.details.add(piece);
		this.fetched.push({ run: index, asked: this.asking, pieces });
		while (this.fetched.length > DETAILS) {
			for (const { curve, piece } of this.fetched.shift()!.pieces) {
				curve.pieces = curve.pieces.filter((one) => one !== piece);
				curve.all = null;
				this.details.delete(piece);
			}
		}
	}

	private mergeNews(run: Run, source: Source, sequence: number): void {
		const stored = this.runs[0];
		stored.length_s = Math.max(stored.length_s, run.length_s);
		if (run.head) stored.head = run.head;
		if (run.report !== undefined) stored.report = run.report;
		if (run.notes) stored.notes = run.notes;
		if (run.processes) this.indexProcesses(stored, this.mergeProcesses(stored.processes ?? [], run.processes));
		if (run.regions) stored.regions = mergeRegions(stored.regions, run.regions);
		if (run.marks) stored.marks = mergeMarks(stored.marks, run.marks);
		this.addPanels(run, stored.index);
		this.news = this.news.then(() => this.appendNews(run, stored, source, sequence)).catch((error) => {
			console.error("news cannot be read", error);
		});
	}

	/* Parents are indices into the list that they came with. */
	private mergeProcesses(old: Process[], news: Process[]): Process[] {
		const parents = new Map<string, string | null>();
		for (const list of [old, news])
			for (const one of list) parents.set(one.id, one.parent === null ? null : (list[one.parent]?.id ?? null));
		/* News do not know what a process used. */
		const known = new Map(old.map((one) => [one.id, one]));
		for (const one of news) {
			const before = known.get(one.id);
			if (!before) continue;
			for (const key of ["cpu_s", "rss_peak_bytes", "read_bytes", "written_bytes"] as const) one[key] ??= before[key];
		}
		const ret = mergeById(old, news);
		const places = new Map(ret.map((one, i) => [one.id, i]));
		for (const one of ret) {
			const parent = parents.get(one.id);
			one.parent = parent === null || parent === undefined ? null : (places.get(parent) ?? null);
		}
		return ret;
	}

	private async appendNews(run: Run, stored: StoredRun, source: Source, sequence: number): Promise<void> {
		const { index } = stored;
		const waiting: Promise<void>[] = [];
		const pieces: { curve: Curve; piece: Piece }[] = [];
		for (const [series, bases] of this.basesOf(run, source)) {
			const curve = this.curve(index, series.key);
			series.pieces.forEach((block, i) => {
				const instants = bases[i];
				if (block === null || !instants || instants.n === 0) return;
				const piece = new Piece(instants, block, instants.from, instants.end, instants.per, 0);
				pieces.push({ curve, piece });
				waiting.push(piece.load());
			});
		}
		await Promise.all(waiting);
		/* Another recording has come meanwhile. */
		if (this.runs[index]?.zero_mono_ns !== stored.zero_mono_ns) return;
		this.cutTails(sequence);
		for (const { curve, piece } of pieces) {
			const { chunk } = piece;
			if (!chunk) continue;
			curve.sequence = sequence;
			curve.tail ??= new Tail(endOf(curve.pieces.filter((one) => !this.details.has(one))));
			curve.tail.append(chunk);
			curve.all = null;
			curve.version = ++this.versions;
		}
		if (pieces.length > 0) this.changed();
	}

	/* Where news were missed, a tail would have a hole that overviews do not have. */
	private cutTails(sequence: number): void {
		if (this.newest !== null && sequence !== this.newest + 1 && !Number.isNaN(sequence)) {
			for (const curve of this.curves.values()) {
				curve.tail = curve.all = null;
				curve.version = ++this.versions;
			}
		}
		if (!Number.isNaN(sequence)) this.newest = sequence;
	}

	private fetchDetail(run: number, range: Range, enough_s: number): Promise<void> {
		const within = (outer: Range): boolean => outer.from <= range.from && outer.end >= range.end;
		const going = this.fetching.find((one) => one.run === run && within(one.range));
		if (going) return going.done;
		/* Some more of both sides, so that a small move needs no question; exactly that for figures. */
		const more = enough_s > 0 ? (range.end - range.from) * 0.25 : 0;
		const wide = {
			from: Math.max(0, range.from - more),
			end: Math.min(this.runs[run].length_s, range.end + more),
		};
		if (!(wide.end > wide.from)) return Promise.resolve();
		/* The server gives as many buckets of any time: asking for the same gives the same. */
		const enough = (outer: Range): boolean =>
			outer.from <= range.from + 1e-9 && outer.end >= range.end - 1e-9 && outer.end - outer.from <= 1.6 * (range.end - range.from);
		if (this.fetched.some((one) => one.run === run && enough(one.asked))) return Promise.resolve();
		const done = this.detail!(run, wide)
			.then((document) => {
				this.asking = wide;
				this.merge(document);
			})
			.catch((error) => console.error("no detail", error))
			.finally(() => (this.fetching = this.fetching.filter((one) => one !== entry)));
		const entry = { run, range: wide, done };
		this.fetching.push(entry);
		return done;
	}

	private trim(): void {
		let bytes = 0;
		const loaded: Piece[] = [];
		const instants = new Set<Instants>();
		for (const { pieces } of this.curves.values())
			for (const piece of pieces) {
				if (!piece.chunk || !piece.instants) continue;
				bytes += piece.chunk.bytes;
				if (!instants.has(piece.instants)) bytes += piece.instants.n * 8;
				instants.add(piece.instants);
				loaded.push(piece);
			}
		if (bytes < DECODED_BYTES) return;
		const now = performance.now();
		loaded.sort((a, b) => a.used - b.used);
		for (const piece of loaded) {
			if (bytes < DECODED_BYTES * 0.75 || now - piece.used < 3000) break;
			bytes -= piece.chunk!.bytes;
			piece.chunk = null;
		}
		const still = new Set(loaded.filter((piece) => piece.chunk).map((piece) => piece.instants));
		for (const one of instants) if (!still.has(one)) one.forget();
	}
}

/* Where pieces end, and how long the last bucket or point of them is. */
function endOf(pieces: readonly Piece[]): { end: number; length: number } {
	const ret = { end: -Infinity, length: 0 };
	for (const { end, spacing } of pieces) if (end > ret.end) Object.assign(ret, { end, length: 2 * spacing }); /* on average: the last may be longer */
	return ret;
}
