/* What news tell of things that are known already: processes, regions, marks. */
import type { Marks, Regions } from "../data.js";

/* News know a moment of a thing: what they do not know stays as it was. */
function keptWhereUnknown<T extends object>(old: T, one: T): T {
	const known = Object.entries(one).filter(([, value]) => value !== null);
	return { ...old, ...Object.fromEntries(known) };
}

/* Adds what is new; what has the same id is replaced. */
export function mergeById<T extends { id: string }>(old: T[], news: T[]): T[] {
	const places = new Map(old.map((one, i) => [one.id, i]));
	const ret = [...old];
	for (const one of news) {
		const place = places.get(one.id);
		if (place === undefined) {
			places.set(one.id, ret.length);
			ret.push(one);
		} else ret[place] = keptWhereUnknown(ret[place], one);
	}
	return ret;
}

export function mergeRegions(old: Regions | undefined, news: Regions): Regions {
	if (!old) return news;
	const places = new Map(old.id.map((id, i) => [id, i]));
	const name = (text: string): number => {
		const at = old.names.indexOf(text);
		return at >= 0 ? at : old.names.push(text) - 1;
	};
	news.id.forEach((id, from) => {
		const to = places.get(id) ?? old.id.length;
		places.set(id, to);
		old.id[to] = id;
		old.name[to] = name(news.names[news.name[from]]);
		old.start[to] = news.start[from];
		old.end[to] = news.end[from];
		old.lane[to] = news.lane[from];
		old.gpu[to] = news.gpu[from];
		old.pid[to] = news.pid[from];
		old.thread[to] = news.thread[from];
		old.stream[to] = news.stream[from];
		old.error[to] = news.error[from];
		old.unfinished[to] = news.unfinished[from];
	});
	old.host_lanes = Math.max(old.host_lanes, news.host_lanes);
	old.gpu_lanes = Math.max(old.gpu_lanes, news.gpu_lanes);
	return { ...old };
}

/* Marks have no ids: the same instant and name is the same mark. */
export function mergeMarks(old: Marks | undefined, news: Marks): Marks {
	if (!old) return news;
	const known = new Set(old.at.map((at, i) => `${at} ${old.pid[i]} ${old.names[old.name[i]]}`));
	news.at.forEach((at, i) => {
		const text = news.names[news.name[i]];
		if (known.has(`${at} ${news.pid[i]} ${text}`)) return;
		const place = old.names.indexOf(text);
		old.name.push(place >= 0 ? place : old.names.push(text) - 1);
		old.at.push(at);
		old.gpu.push(news.gpu[i]);
		old.pid.push(news.pid[i]);
	});
	return { ...old };
}
