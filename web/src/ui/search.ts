/* What can be searched for, and the best of it in groups. Pure. */
import type { Store } from "../store.js";
import { runLabel } from "./context.js";
import { visible } from "./dom.js";
import { score } from "./match.js";
import type { NameStats } from "./walk.js";

export type Target =
	| { kind: "process"; run: number; index: number }
	| { kind: "region"; stats: NameStats }
	| { kind: "panel"; panel: string }
	| { kind: "curve"; panel: string; run: number; key: string };

export interface Item {
	group: Group;
	title: string;
	detail: string;
	texts: string[]; /* that the query is compared with, the most telling first */
	target: Target;
}

export type Group = "Regions" | "Marks" | "Processes" | "Panels" | "Curves";
export interface Found {
	group: Group;
	items: Item[];
	more: number;
}

const SHOWN = 7;
/* A find by a text that tells less counts less. */
const WEIGHTS = [1, 0.9, 0.75];
/* Of what fits alike, what people look for most comes first. */
const ORDER: readonly Group[] = ["Regions", "Processes", "Marks", "Panels", "Curves"];

function regionItems(names: readonly NameStats[], store: Store): Item[] {
	return names.map((stats): Item => {
		const many = stats.at.length === 1 ? "once" : `${stats.at.length} times`;
		const label = runLabel(store, stats.run);
		return {
			group: stats.mark ? "Marks" : "Regions",
			title: visible(stats.name || "(no name)"),
			detail: [stats.gpu ? "GPU" : "", many, visible(label)].filter((text) => text !== "").join(" · "),
			texts: [stats.name],
			target: { kind: "region", stats },
		};
	});
}

function processItems(store: Store): Item[] {
	return store.runs.flatMap((run) =>
		(run.processes ?? []).map((process, index): Item => ({
			group: "Processes",
			title: `${visible(process.name)} ${process.pid}`,
			detail: visible(
				[runLabel(store, run.index), process.command].filter((text) => text !== "").join(" · "),
			),
			texts: [String(process.pid), process.name, process.command],
			target: { kind: "process", run: run.index, index },
		})),
	);
}

function panelItems(store: Store): Item[] {
	return store.panels.flatMap(({ id, panel, series }) => [
		{
			group: "Panels" as const,
			title: visible(panel.title),
			detail: visible(panel.group),
			texts: [panel.title, `${panel.group} ${panel.title}`, id],
			target: { kind: "panel" as const, panel: id },
		},
		...series.map(({ run, series: one }): Item => ({
			group: "Curves",
			title: visible(one.label),
			detail: visible(
				[panel.title, runLabel(store, run), one.metric].filter((text) => text !== "").join(" · "),
			),
			texts: [one.label, one.metric, `${panel.title} ${one.label}`],
			target: { kind: "curve", panel: id, run, key: one.key },
		})),
	]);
}

export function itemsOf(store: Store, names: readonly NameStats[]): Item[] {
	return [...regionItems(names, store), ...processItems(store), ...panelItems(store)];
}

function scoreOf(query: string, item: Item): number {
	let best = 0;
	item.texts.forEach((text, i) => {
		if (text !== "") best = Math.max(best, score(query, text) * (WEIGHTS[i] ?? 0.5));
	});
	return best;
}

/* Groups in the order of their best find. */
export function search(query: string, items: readonly Item[]): Found[] {
	const groups = new Map<Group, { item: Item; score: number }[]>();
	for (const item of items) {
		const points = scoreOf(query, item);
		if (points === 0) continue;
		const group = groups.get(item.group) ?? [];
		group.push({ item, score: points });
		groups.set(item.group, group);
	}
	const found = [...groups].map(([group, all]) => {
		all.sort((a, b) => b.score - a.score || a.item.title.length - b.item.title.length);
		return {
			group,
			best: all[0]?.score ?? 0,
			items: all.slice(0, SHOWN).map(({ item }) => item),
			more: Math.max(all.length - SHOWN, 0),
		};
	});
	const rank = (one: Found & { best: number }): number => one.best - 4 * ORDER.indexOf(one.group);
	return found.sort((a, b) => rank(b) - rank(a));
}
