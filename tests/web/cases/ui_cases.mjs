/* Nothing to show, broken data, several runs: the page says so in a line and stays usable. */
import { pathToFileURL } from "node:url";
import path from "node:path";
import { writeFileSync } from "node:fs";
import { assert, dist, format, scenes } from "../harness.mjs";

async function openRaw(t, name, document, blocks = { first: {}, later: {} }) {
	const file = path.join(t.folder, `${name}.html`);
	writeFileSync(file, format.htmlOf(document, blocks, dist));
	const context = await t.browser.newContext({ viewport: { width: 1280, height: 900 } });
	const page = await context.newPage();
	page.on("pageerror", (error) => t.complaints.push(String(error)));
	await page.goto(pathToFileURL(file).href);
	return page;
}

/* Events alone: the page says that they are all there is. */
async function events(t) {
	const run = format.emptyRun("vm", 3);
	format.addRegion(run, "load", 0.5, 1, { thread: 0 });
	format.addMark(run, "half", 2);
	const page = await openRaw(t, "events", format.documentOf([run], { title: "rtl \u202egnp" }));
	assert.match(await page.locator("#top").textContent(), /Nothing else was recorded/);
	assert.equal(await page.locator("#tab-of-processes").textContent(), "Processes");
	assert.equal(await page.locator("#tab-of-regions").textContent(), "Regions 1 · marks 1");
	assert.equal(await page.title(), "rtl ⟨U+202E⟩gnp – galvo");
	const lanes = await page.locator(".lanes .area").boundingBox();
	await t.until("the region is told", async () => {
		await page.mouse.move(lanes.x + lanes.width * (0.2 + Math.random() * 0.1), lanes.y + 27);
		return /load/.test(await page.locator(".tip").textContent());
	});
	assert.doesNotMatch(await page.locator(".tip").textContent(), /thread/, "which one is not known");
	await page.keyboard.press("r");
	await page.getByLabel("filter the regions").fill("ha");
	assert.equal(await page.locator("#tab-of-regions").textContent(), "Regions 0 of 1 · marks 1");
	assert.equal(await page.locator(".region-table mark").textContent(), "ha");
	await page.close();
}

/* The cells behind the one that says whose row it is. */
async function rowOf(page, name) {
	for (const row of await page.locator(".compare").first().locator("tr").all()) {
		const [first, ...cells] = await row.locator("td, th").allTextContents();
		if (first.startsWith(name)) return cells;
	}
	return null;
}

async function compared(t) {
	const two = await t.open("compare");
	assert.deepEqual((await rowOf(two, "of the whole runs")).slice(1, 3), ["length", "processes"]);
	assert.deepEqual((await rowOf(two, "before")).slice(1, 3), ["20.0 s", "8"]);
	assert.equal((await rowOf(two, "difference"))[1], "−4.00 s (−20.0 %)");
	const chart = await two.locator('[data-panel="cpu"]').boundingBox();
	assert.ok(chart.y < 660, `a chart begins on the first screen: at ${chart.y}`);
	const top = await two.locator("#top").boundingBox();
	assert.ok(top.height < 280, `the header leaves room: ${top.height}`);
	assert.ok(await two.locator("[data-mean]").first().isHidden());
	await two.locator(".compare-rest summary").click();
	assert.match(await two.locator("[data-mean]").first().textContent(), /^CPU: user, mean.* pp \(/);
	await two.locator(".compare-rest summary").click();
	await two.keyboard.press("o");
	assert.equal(await two.locator(".process-row[data-row] .run-tag", { hasText: "after" }).count(), 8);
	for (const name of await two.locator(".process-row[data-row] .process-name").all())
		if ((await name.textContent()).length < 10)
			assert.ok(await name.evaluate((element) => element.scrollWidth <= element.clientWidth), "names are whole");
	await two.keyboard.press("r");
	assert.ok((await two.locator(".region-table td", { hasText: "after" }).count()) > 3);
	await t.shot(two, "compare");

	/* What a run has not recorded is not nothing. */
	const { document } = scenes.compare();
	document.runs[1].processes = [];
	const part = await openRaw(t, "part", { ...document, runs: document.runs.map((run) => ({ ...run, panels: [], bases: [] })) });
	assert.deepEqual((await rowOf(part, "after")).slice(1, 3), ["16.0 s", "–"]);
	assert.deepEqual((await rowOf(part, "difference"))[2], "–");
	await part.close();
}

export default async function (t) {
	const empty = format.emptyRun("vm", 3);
	empty.head = [
		["command", "true"],
		["result", "killed by SIGSEGV after 3 s"],
	];
	const bare = await openRaw(t, "empty", format.documentOf([empty], { title: "true" }));
	await bare.waitForSelector(".title-line");
	assert.match(await bare.locator(".result").textContent(), /^✕failed: killed by SIGSEGV/);
	assert.match(await bare.locator(".processes .empty").textContent(), /No process was followed/);
	await bare.keyboard.press("r");
	assert.match(await bare.locator(".regions .empty").textContent(), /named no regions/);
	await bare.keyboard.press("Escape");
	await bare.keyboard.press("+");
	await t.until("it zooms all the same", async () =>
		/1\.50/.test(await bare.locator(".range-text").textContent()),
	);
	await t.shot(bare, "empty");
	await bare.close();

	for (const [name, document] of [
		["other", { format: 7 }],
		["none", { format: 1, kind: "page" }],
	]) {
		const broken = await openRaw(t, name, { title: "x", ...document });
		const text = await broken.locator("#failed").textContent();
		assert.match(text, /^This page cannot be shown: [^\n]+$/, name);
		assert.equal(await broken.locator("#tools").count(), 0);
		await broken.close();
	}

	await events(t);
	await compared(t);
}
