/* Search: finds in groups, chosen by keyboard, and there is where it jumps; n and N go on. */
import { assert } from "../harness.mjs";

const range = async (page) => (await page.locator(".range-text").textContent()).replace(/\u00a0/g, " ");
const options = (page) => page.$$eval(".search-item", (all) => all.map((one) => one.textContent));

export default async function (t) {
	const page = await t.open("small");
	const search = async (text) => {
		await page.keyboard.press("/");
		await page.keyboard.type(text);
		await page.waitForSelector(".search-item");
	};

	/* A region: zoomed to, selected, with its next ones. */
	await search("step 2");
	await t.shot(page, "search");
	assert.equal(await page.locator(".search-group").first().textContent(), "Regions");
	await page.keyboard.press("Enter");
	await t.until("the first step 2", () => page.locator(".say", { hasText: "step 2: 1 of 10" }).count());
	await t.until("zoomed to it", async () => /5\.06\d* s – 5\.39\d* s/.test(await range(page)));
	assert.match(await page.locator('[role="tab"][aria-selected="true"]').textContent(), /Selection 300/);
	await page.keyboard.press("n");
	await t.until("the second", () => page.locator(".say", { hasText: "step 2: 2 of 10" }).count());
	await page.keyboard.press("N");
	await page.keyboard.press("N");
	await t.until("round to the last", () => page.locator(".say", { hasText: "step 2: 10 of 10" }).count());
	await page.keyboard.press("0");

	/* A process, by its number. */
	await search("4716");
	await t.until("the process", async () => /^as 4716/.test((await options(page))[0]));
	await page.keyboard.press("Enter");
	await t.until("its row", () =>
		page.locator('.process-row[data-pid="4716"][aria-selected="true"]').count(),
	);
	await t.until("its life", async () => /4\.\d+ s – 15\.\d+ s/.test(await range(page)));

	/* A panel that is hidden is shown, and in sight. */
	await page.keyboard.press("Escape");
	await page.keyboard.press("Escape");
	await page.keyboard.press("p");
	await page.locator(".picker-row", { hasText: "Power" }).locator("input").click();
	await page.keyboard.press("Escape");
	await t.until("hidden", () => page.locator('[data-panel="gpu0-power"]').isHidden());
	await search("power");
	await t.until("the panel", async () => (await options(page)).includes("PowerGPU 0"));
	const place = (await options(page)).findIndex((text) => text === "PowerGPU 0");
	for (let i = 0; i < place; i++) await page.keyboard.press("ArrowDown");
	assert.equal(await page.locator('.search-item[aria-selected="true"]').textContent(), "PowerGPU 0");
	await page.keyboard.press("Enter");
	await t.until("in sight", () =>
		page.evaluate(() => {
			const box = document.querySelector('[data-panel="gpu0-power"]').getBoundingClientRect();
			return box.height > 0 && box.top > 0 && box.bottom < innerHeight;
		}),
	);

	/* By mouse; and nothing. */
	await search("checkpoint written");
	await t.until("the mark is found", async () => /^checkpoint writtenonce/.test((await options(page))[0]));
	await page.locator(".search-item").first().click();
	await t.until("the mark", () => page.locator(".say", { hasText: "checkpoint written: 1 of 1" }).count());
	await page.keyboard.press("/");
	await page.keyboard.type("qqqq");
	await page.waitForSelector(".search-list .empty");
	await page.keyboard.press("Escape");
	assert.ok(await page.locator(".search-list").isHidden());

	/* Finds and the list of panels lie over the tables. */
	const tall = await t.open("small", { height: 1000 });
	assert.ok(await tall.locator(".dock-open").count());
	const isOnTop = (selector) => tall.evaluate((one) => {
		const all = document.querySelectorAll(one);
		const last = all[all.length - 1];
		last.scrollIntoView({ block: "nearest" });
		const box = last.getBoundingClientRect();
		const found = document.elementFromPoint(box.left + 20, box.top + box.height / 2);
		return last === found || last.contains(found);
	}, selector);
	await tall.keyboard.press("/");
	await tall.keyboard.type("c");
	await tall.waitForSelector(".search-item");
	assert.ok(await isOnTop(".search-item"), "the last find");
	await tall.keyboard.press("Escape");
	await tall.keyboard.press("Escape");
	await tall.keyboard.press("p");
	await tall.waitForSelector(".picker-row");
	assert.ok(await isOnTop(".picker-row"), "the last panel");
}
