/* Nothing to show, broken data, several runs: the page says so in a line and stays usable. */
import { pathToFileURL } from "node:url";
import path from "node:path";
import { writeFileSync } from "node:fs";
import { assert, dist, format } from "../harness.mjs";

async function openRaw(t, name, document, blocks = { first: {}, later: {} }) {
	const file = path.join(t.folder, `${name}.html`);
	writeFileSync(file, format.htmlOf(document, blocks, dist));
	const context = await t.browser.newContext({ viewport: { width: 1280, height: 900 } });
	const page = await context.newPage();
	page.on("pageerror", (error) => t.complaints.push(String(error)));
	await page.goto(pathToFileURL(file).href);
	return page;
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

	const two = await t.open("compare", { width: 1440, height: 900 });
	assert.deepEqual(await two.$$eval(".compare", (all) => all.length), 2);
	assert.match(
		await two.locator(".compare tr", { hasText: "length" }).first().textContent(),
		/length20\.0 s16\.0 s−4\.00 s \(−20\.0 %\)/,
	);
	await two.keyboard.press("o");
	assert.equal(await two.locator(".process-row[data-row] .run-tag", { hasText: "after" }).count(), 8);
	await two.keyboard.press("r");
	assert.ok((await two.locator(".region-table td", { hasText: "after" }).count()) > 3);
	await t.shot(two, "compare");
}
