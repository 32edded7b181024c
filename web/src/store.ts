/* The recorded values: documents put together, blocks decoded when they are needed. */
import type { Document, Panel, Run, Series } from "./data.js";
import type { Range } from "./state.js";
import { Recordings, type Detail } from "./store/recordings.js";

/* What a selection is asked for, of one series. Null: nothing is known of that time. */
export interface Figures {
	mean: number;
	min: number;
	max: number;
	integral: number | null; /* null: of a level it means nothing */
	covered_s: number;
	exact: boolean; /* false: of buckets that reach over the edges of the range */
}

export interface StoredRun extends Run {
	index: number;
	processIndex: Map<string, number>; /* by id */
}

export interface StoredPanel {
	id: string;
	panel: Panel; /* of the first run that has it */
	series: { run: number; series: Series }[]; /* of all runs */
	totals: { run: number; series: Series }[]; /* of a stack: the sum of each run's */
}

export interface Store {
	readonly document: Document;
	readonly runs: StoredRun[];
	readonly panels: StoredPanel[];
	/* Takes a document in: the first one, detail, news. Says what of the page it changes. */
	merge(document: Document): void;
	/* Is that of the one recording that is shown? */
	isSame(news: Document): boolean;
	/* Loads what there is of the finest pieces in that range; resolves when they are there. */
	load(run: number, series: Series, range: Range): Promise<void>;
	/* As load(), but buckets of enough_s seconds will do. */
	want(run: number, series: Series, range: Range, enough_s: number): Promise<void>;
	/* Of what is loaded; load first. */
	figures(run: number, series: Series, range: Range): Figures | null;
	/* The value at that instant, of what is loaded. */
	at(run: number, series: Series, t: number): number | null;
}

/* `changed` is called when there is something new to be drawn. A served page gives `detail`. */
export function createStore(first: Document, changed: () => void, detail: Detail | null = null): Recordings {
	return new Recordings(first, changed, detail);
}
