/* What of the view stands in the link, behind its #. */
import type { Range, Theme } from "../state.js";

export interface Link {
	range: Range | null;
	selection: Range | null;
	hidden: string[];
	hiddenPanels: string[];
	process: string | null;
	theme: Theme | null;
}

export const EMPTY: Link = {
	range: null,
	selection: null,
	hidden: [],
	hiddenPanels: [],
	process: null,
	theme: null,
};

const NUMBER = "-?\\d{1,15}(?:\\.\\d{1,12})?";
const RANGE = new RegExp(`^(${NUMBER})-(${NUMBER})$`);
const MANY = 10000;

export function parseRange(text: string): Range | null {
	const match = RANGE.exec(text);
	if (!match) return null;
	const from = Number(match[1]);
	const end = Number(match[2]);
	return end > from ? { from, end } : null;
}

function decoded(text: string): string | null {
	try {
		return decodeURIComponent(text);
	} catch {
		return null;
	}
}

function parseList(text: string): string[] | null {
	if (text === "") return [];
	const items = text.split(",").slice(0, MANY).map(decoded);
	return items.every((item): item is string => item !== null && item !== "") ? items : null;
}

/* Takes one part into the link; false: it cannot be read. */
function take(link: Link, name: string, text: string): boolean {
	switch (name) {
		case "t":
			return (link.range = parseRange(text)) !== null;
		case "s":
			return (link.selection = parseRange(text)) !== null;
		case "off":
		case "hide": {
			const list = parseList(text);
			if (!list) return false;
			if (name === "off") link.hidden = list;
			else link.hiddenPanels = list;
			return true;
		}
		case "p":
			link.process = decoded(text);
			return link.process !== null && link.process !== "";
		case "theme":
			if (text !== "light" && text !== "dark") return false;
			link.theme = text;
			return true;
		default:
			return false;
	}
}

/* Parts that cannot be read are left out, and named among the problems. */
export function parseHash(hash: string): { link: Link; problems: string[] } {
	const link: Link = { ...EMPTY };
	const problems: string[] = [];
	for (const part of hash.replace(/^#/, "").split("&")) {
		if (part === "") continue;
		const at = part.indexOf("=");
		const name = at < 0 ? part : part.slice(0, at);
		if (at < 0 || !take(link, name, part.slice(at + 1))) problems.push(part.slice(0, 60));
	}
	if (link.process === "") link.process = null;
	return { link, problems };
}

/* As few digits as tell the ends of the range apart a thousand times. */
export function printRange(range: Range): string {
	const decimals = Math.min(Math.max(Math.ceil(3 - Math.log10(range.end - range.from)), 0), 9);
	const print = (x: number): string =>
		decimals ? x.toFixed(decimals).replace(/\.?0+$/, "") : x.toFixed(0);
	return `${print(range.from).replace(/^-0$/, "0")}-${print(range.end)}`;
}

function encoded(text: string): string {
	return encodeURIComponent(text).replace(/%2F/g, "/").replace(/%3A/g, ":");
}

export function printHash(link: Link): string {
	const parts: string[] = [];
	if (link.range) parts.push(`t=${printRange(link.range)}`);
	if (link.selection) parts.push(`s=${printRange(link.selection)}`);
	if (link.hiddenPanels.length) parts.push(`hide=${link.hiddenPanels.map(encoded).join(",")}`);
	if (link.hidden.length) parts.push(`off=${link.hidden.map(encoded).join(",")}`);
	if (link.process) parts.push(`p=${encoded(link.process)}`);
	if (link.theme) parts.push(`theme=${link.theme}`);
	return parts.length ? `#${parts.join("&")}` : "";
}
