/* The processes as rows: as a tree, sorted, filtered. Pure. */
import type { Process } from "../data.js";
import type { StoredRun } from "../store.js";
import { compareKeys } from "./figures.js";
import { contains } from "./match.js";

export interface ProcessRow {
	run: StoredRun;
	process: Process;
	index: number;
	depth: number;
	children: number;
	collapsed: boolean;
	fits: boolean; /* itself, and not only one below it, what is filtered for */
}

export type ProcessColumn =
	"pid" | "name" | "command" | "start" | "life" | "cpu" | "range" | "rss" | "read" | "written" | "status";

export interface Listing {
	sort: ProcessColumn | null; /* null: the tree */
	down: boolean;
	filter: string;
	collapsed: ReadonlySet<string>; /* rowId */
	rangeSeconds: ReadonlyMap<string, { cpu_s: number; exact: boolean }>;
}

export function rowId(run: StoredRun, process: Process): string {
	return `${run.index}/${process.id}`;
}

/* Children of each, roots at the end; a parent that is itself or comes later is none: no circles. */
function childrenOf(run: StoredRun): { of: number[][]; roots: number[] } {
	const processes = run.processes ?? [];
	const of: number[][] = processes.map(() => []);
	const roots: number[] = [];
	processes.forEach((process, i) => {
		const parent = process.parent;
		const list = parent !== null && parent >= 0 && parent < i ? of[parent] : undefined;
		(list ?? roots).push(i);
	});
	return { of, roots };
}

function isFit(process: Process, filter: string): boolean {
	const { pid, name, command, status } = process;
	return filter.trim() === "" || contains(filter, String(pid), name, command, status);
}

/* Why there are no curves of it; null: there are, or it is not known. */
export function sampleHint(process: Process): string | null {
	if (process.sampled !== false) return null;
	return "it has no values over time: too short-lived, or nobody asked for them; its sums are from when it ended";
}

/* Which rows the filter leaves: those that fit, and those above them. */
function keptBy(run: StoredRun, filter: string): Set<number> | null {
	if (filter.trim() === "") return null;
	const kept = new Set<number>();
	(run.processes ?? []).forEach((process, i) => {
		if (!isFit(process, filter)) return;
		for (let at: number | null = i; at !== null && !kept.has(at);) {
			kept.add(at);
			const parent: number | null = run.processes?.[at]?.parent ?? null;
			at = parent !== null && parent < at ? parent : null;
		}
	});
	return kept;
}

function treeRows(run: StoredRun, listing: Listing, rows: ProcessRow[]): void {
	const processes = run.processes ?? [];
	const { of, roots } = childrenOf(run);
	const kept = keptBy(run, listing.filter);
	const stack = roots.map((index) => ({ index, depth: 0 })).reverse();
	for (let next = stack.pop(); next; next = stack.pop()) {
		const process = processes[next.index];
		if (!process || (kept && !kept.has(next.index))) continue;
		const children = of[next.index] ?? [];
		const collapsed = !kept && listing.collapsed.has(rowId(run, process));
		const fits = isFit(process, listing.filter);
		rows.push({ run, process, ...next, children: children.length, collapsed, fits });
		if (collapsed) continue;
		for (let i = children.length - 1; i >= 0; i--)
			stack.push({ index: children[i] ?? 0, depth: next.depth + 1 });
	}
}

export function lifeOf(run: StoredRun, process: Process): number {
	return (process.end_s ?? run.length_s) - process.start_s;
}

function keyOf(row: ProcessRow, listing: Listing): string | number | null {
	const { process, run } = row;
	switch (listing.sort) {
		case "pid":
			return process.pid;
		case "name":
			return process.name;
		case "command":
			return process.command;
		case "start":
			return process.start_s - run.shift_s;
		case "life":
			return lifeOf(run, process);
		case "cpu":
			return process.cpu_s;
		case "range":
			return listing.rangeSeconds.get(rowId(run, process))?.cpu_s ?? null;
		case "rss":
			return process.rss_peak_bytes;
		case "read":
			return process.read_bytes;
		case "written":
			return process.written_bytes;
		default:
			return process.failed ? `0 ${process.status}` : `1 ${process.status}`;
	}
}

function flatRows(run: StoredRun, listing: Listing, rows: ProcessRow[]): void {
	const { filter } = listing;
	(run.processes ?? []).forEach((process, index) => {
		if (!isFit(process, filter)) return;
		rows.push({ run, process, index, depth: 0, children: 0, collapsed: false, fits: true });
	});
}

export function processRows(runs: readonly StoredRun[], listing: Listing): ProcessRow[] {
	const rows: ProcessRow[] = [];
	for (const run of runs) (listing.sort ? flatRows : treeRows)(run, listing, rows);
	if (!listing.sort) return rows;
	const keyed = rows.map((row) => ({ row, key: keyOf(row, listing) }));
	keyed.sort((a, b) => compareKeys(a.key, b.key, listing.down));
	return keyed.map(({ row }) => row);
}

/* Those above a process, so that it can be shown. */
export function ancestors(run: StoredRun, index: number): Process[] {
	const found: Process[] = [];
	let at: number | null = index;
	while (at !== null) {
		const parent: number | null = run.processes?.[at]?.parent ?? null;
		at = parent !== null && parent >= 0 && parent < at ? parent : null;
		const process = at === null ? undefined : run.processes?.[at];
		if (process) found.push(process);
	}
	return found;
}
