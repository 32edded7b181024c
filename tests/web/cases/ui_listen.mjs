/* Served pages listen: after the end, in sight alone, and what is looked at outlives data that come anew. */
import { assert } from "../harness.mjs";
import { Server } from "../server.mjs";

async function hide(page, hidden) {
	await page.evaluate((is) => {
		Object.defineProperty(document, "hidden", { configurable: true, get: () => is });
		Object.defineProperty(document, "visibilityState", { configurable: true, get: () => (is ? "hidden" : "visible") });
		document.dispatchEvent(new Event("visibilitychange"));
	}, hidden);
}

/* What is alive of the page, also what it does not show any more. */
async function alive(page) {
	const client = await page.context().newCDPSession(page);
	await client.send("Performance.enable");
	await client.send("HeapProfiler.collectGarbage");
	const { metrics } = await client.send("Performance.getMetrics");
	await client.detach();
	const of = (name) => metrics.find((one) => one.name === name).value;
	return { nodes: of("Nodes"), listeners: of("JSEventListeners") };
}

const length = (page) => page.evaluate(() => window.galvo.store.runs[0]?.length_s);
const point = (page, t) =>
	page.evaluate((at) => {
		const [{ series }] = window.galvo.store.panels;
		return window.galvo.store.at(0, series[0].series, at);
	}, t);

async function anew(t, server, page) {
	const before = server.count("/news");
	server.send("gap");
	await t.until("it listens again", () => server.count("/news") > before && server.viewers.size === 1);
	await t.until("all is there", async () => (await length(page)) === server.to);
}

async function keeps(t, server, page) {
	await t.drawn(page, "cpu");
	await page.locator('[data-panel="cpu"] .legend .head .number').last().click();
	await page.locator('[data-panel="cpu"] .legend .rows .row').first().focus();
	await page.evaluate(() => (document.querySelector('[data-panel="cpu"]').isTheSame = true));
	await anew(t, server, page);
	const before = await alive(page);
	for (let i = 0; i < 10; i++) {
		server.to++;
		await anew(t, server, page);
	}
	/* Heads that were filled anew are forgotten a little later. */
	await t.until("what was there before is all there is", async () => {
		const { nodes, listeners } = await alive(page);
		return nodes <= before.nodes + 5 && listeners <= before.listeners;
	});
	const kept = await page.evaluate(() => ({
		card: document.querySelector('[data-panel="cpu"]').isTheSame,
		focus: document.activeElement.className,
		sorted: document.querySelector('[data-panel="cpu"] .legend .sorted')?.textContent,
	}));
	assert.deepEqual(kept, { card: true, focus: "row", sorted: "max" });
}

export default async function (t) {
	const server = new Server();
	await server.start();
	const page = await t.openUrl(`http://127.0.0.1:${server.port}/`);
	const state = (wanted) =>
		t.until(wanted, async () => (await page.locator(".live").getAttribute("data-state")) === wanted);
	await state("live");
	await keeps(t, server, page);

	/* Out of sight it holds no connection; back in sight it asks for what comes behind what it has. */
	server.news(120);
	await t.until("news", async () => (await length(page)) === 120);
	await hide(page, true);
	await t.until("it hangs up", () => server.viewers.size === 0);
	const { sequence } = server;
	server.news(125);
	server.asked = [];
	await hide(page, false);
	await t.until("it calls again", () => server.viewers.size === 1);
	assert.deepEqual(server.asked, [`/news?after=${sequence}`]);
	await anew(t, server, page);

	/* Points that came live are finer than the overview at the end, and stay. */
	server.news(130);
	await t.until("a point", async () => (await point(page, 129.95)) !== null);
	server.live = false;
	server.send("end");
	await state("ended");
	assert.notEqual(await point(page, 129.95), null);

	/* Loaded when the recording is over, it waits for the next one all the same. */
	await page.reload();
	await state("ended");
	await t.until("it listens", () => server.viewers.size === 1);
	assert.equal(await page.locator(".range-text").textContent().then((text) => /all of it/.test(text)), true);
	Object.assign(server, { to: 30, live: true, zero: "9" });
	server.send("restart");
	await state("live");
	await t.until("the other one is shown", async () => (await length(page).catch(() => 0)) === 30);

	/* Nobody has said so, but it is another one. */
	Object.assign(server, { to: 40, zero: "10" });
	server.news(45);
	await t.until("the third one is shown", async () => (await length(page).catch(() => 0)) === 45);
	await state("live");
	await server.stop();
	t.complaints = t.complaints.filter((text) => !/Failed to load resource|ERR_/.test(text));
}
