/* Starts the page: takes the data in, lays out its parts, hands them to charts and ui. */
import { startCharts } from "./charts/index.js";
import type { Document } from "./data.js";
import { View } from "./state.js";
import { createStore, type Store } from "./store.js";
import { visible } from "./text.js";
import { startUi } from "./ui/index.js";
import { detailOf } from "./ui/live.js";

async function ask(what: string): Promise<Document> {
	const answer = await fetch(what, { cache: "no-store" });
	if (!answer.ok) throw new Error(`the server says ${answer.status} ${answer.statusText}`);
	return (await answer.json()) as Document;
}

function fail(error: unknown): void {
	const text = document.createElement("p");
	text.id = "failed";
	text.textContent = `This page cannot be shown: ${error instanceof Error ? error.message : String(error)}`;
	document.body.append(text);
}

function layOut(): void {
	const parts: [string, string][] = [["header", "top"], ["nav", "tools"], ["main", "panels"], ["section", "below"]];
	for (const [tag, id] of parts) {
		const part = document.createElement(tag);
		part.id = id;
		document.body.append(part);
	}
}

/* All of the time of all runs; whoever saw all of it goes on seeing all of it. */
function refit(view: View, store: Store): void {
	let from = Infinity;
	let end = -Infinity;
	for (const run of store.runs) {
		from = Math.min(from, -run.shift_s);
		end = Math.max(end, run.length_s - run.shift_s);
	}
	if (!(end > from)) end = (from = Number.isFinite(from) ? from : 0) + 1;
	const before = view.full;
	if (before.from === from && before.end === end) return;
	const { range } = view;
	const all = range.from <= before.from && range.end >= before.end;
	view.full = { from, end };
	if (all) view.setRange(view.full);
	else if (view.follow) view.setRange({ from: range.from + end - before.end, end: range.end + end - before.end });
}

async function start(): Promise<void> {
	const view = new View();
	/* The data of a file are in it; a served page asks for them. */
	const inside = document.getElementById("galvo-data");
	const first = inside ? (JSON.parse(inside.textContent ?? "") as Document) : await ask("data");
	if (first.format !== 1 || !Array.isArray(first.runs))
		throw new Error("its data are not of format 1, which is all that this page reads");
	document.title = `${visible(first.title)} – galvo`;
	const store = createStore(first, () => view.tell("data"), detailOf(first));
	refit(view, store);
	view.range = { ...view.full };
	view.on("data", () => refit(view, store));
	layOut();
	const tools = document.getElementById("tools")!;
	new ResizeObserver(() => document.documentElement.style.setProperty("--stick", `${tools.offsetHeight}px`)).observe(tools);
	let drawn = (): void => undefined;
	const ready = new Promise<void>((resolve) => (drawn = resolve));
	/* For the browser's console, for tests, and for whoever takes pictures. */
	Object.assign(window, { galvo: { view, store, idle: () => store.idle, ready } });
	startUi(view, store, ready);
	void startCharts(view, store).then(drawn);
}

start().catch(fail);
