/* Crosshair, selecting, zooming, moving, legends and lanes, as a hand does it; gaps stay gaps; names stay text. */
import { assert } from "../harness.mjs";

const range = (page) => page.evaluate(() => ({ ...window.galvo.view.range }));
const selection = (page) => page.evaluate(() => window.galvo.view.selection && { ...window.galvo.view.selection });
const near = (a, b, by) => Math.abs(a - b) <= by;

async function boxOf(page, selector) {
	const box = await page.locator(selector).boundingBox();
	assert.ok(box, selector);
	return box;
}

/* Is the column of that second as empty as the card? Grid lines and marks are grey. */
function inkAt(page, panel, t) {
	return page.evaluate(([id, at]) => {
		const canvas = document.querySelector(`[data-panel="${id}"] canvas`);
		const { from, end } = window.galvo.view.range;
		const gutter = 66 * devicePixelRatio;
		const x = Math.floor(gutter + ((at - from) / (end - from)) * (canvas.width - gutter));
		const { data } = canvas.getContext("2d").getImageData(x, 0, 1, canvas.height);
		let count = 0;
		for (let i = 0; i < data.length; i += 4) {
			const spread = Math.max(data[i], data[i + 1], data[i + 2]) - Math.min(data[i], data[i + 1], data[i + 2]);
			if (data[i + 3] > 40 && spread > 40) count++;
		}
		return count;
	}, [panel, t]);
}

async function crosshair(t, page) {
	const area = await boxOf(page, '[data-panel="memory"] .area');
	await page.mouse.move(area.x + area.width / 2, area.y + 30);
	await t.until("all legends have the value there", async () =>
		/GiB/.test(await page.locator('[data-panel="memory"] .rows .number').first().textContent())
		&& (await page.locator('[data-panel="cpu"] .head .number').first().textContent()) === "value");
	const at = await page.evaluate(() => window.galvo.view.cursor);
	assert.ok(near(at, 10, 0.05), `the crosshair is at ${at}`);
	const crosses = await page.$$eval(".cross", (all) => all.filter((one) => one.style.display === "block").length);
	assert.ok(crosses >= 4, `${crosses} crosshairs`);
	await t.shot(page, "crosshair");
}

async function selecting(t, page) {
	const area = await boxOf(page, '[data-panel="memory"] .area');
	const x = (at) => area.x + (at / 20) * area.width;
	await page.mouse.move(x(4), area.y + 40);
	await page.mouse.down();
	await page.mouse.move(x(6), area.y + 40, { steps: 4 });
	await page.mouse.move(x(8), area.y + 40, { steps: 4 });
	await page.mouse.up();
	const chosen = await selection(page);
	assert.ok(near(chosen.from, 4, 0.05) && near(chosen.end, 8, 0.05), JSON.stringify(chosen));
	await t.shot(page, "selection");
	await page.mouse.dblclick(x(6), area.y + 40);
	await t.until("a double click shows the selection alone", async () => near((await range(page)).from, 4, 0.05));
	await page.mouse.dblclick(x(10), area.y + 40);
	await page.evaluate(() => window.galvo.view.setSelection(null));
	await page.mouse.dblclick(x(10), area.y + 40);
	await t.until("another one shows all", async () => (await range(page)).end - (await range(page)).from === 20);
}

async function wheels(t, page) {
	const area = await boxOf(page, '[data-panel="memory"] .area');
	await page.mouse.move(area.x + area.width / 4, area.y + 40);
	await page.keyboard.down("Control");
	await page.mouse.wheel(0, -400);
	await page.keyboard.up("Control");
	await t.until("it zooms at the pointer", async () => {
		const { from, end } = await range(page);
		return end - from < 15 && near(from + (end - from) / 4, 5, 0.2);
	});
	const before = await range(page);
	await page.keyboard.down("Shift");
	await page.mouse.wheel(0, 100);
	await page.keyboard.up("Shift");
	await t.until("it moves", async () => (await range(page)).from > before.from + 0.2);
	const moved = await range(page);
	await page.mouse.down({ button: "middle" });
	await page.mouse.move(area.x + area.width / 4 + 120, area.y + 40, { steps: 5 });
	await page.mouse.up({ button: "middle" });
	await t.until("it is dragged", async () => (await range(page)).from < moved.from);
	await page.evaluate(() => window.galvo.view.setRange(window.galvo.view.full));
}

async function legends(t, page) {
	const rows = page.locator('[data-panel="cpu"] .rows .row');
	const before = await t.drawn(page, "cpu");
	await rows.nth(0).click();
	await page.mouse.move(5, 5);
	await t.until("a click hides it and the others are stacked anew", async () => (await t.inked(page, "cpu")) < before * 0.8);
	await rows.nth(0).click();
	await rows.nth(1).click({ modifiers: ["Shift"] });
	const hidden = await page.evaluate(() => [...window.galvo.view.hidden].sort());
	assert.deepEqual(hidden, ["0/cpu/iowait", "0/cpu/steal", "0/cpu/user"]);
	await rows.nth(1).click({ modifiers: ["Shift"] });
	assert.equal(await page.evaluate(() => window.galvo.view.hidden.size), 0);
	await page.locator('[data-panel="cpu"] .head button', { hasText: "max" }).click();
	await t.until("sorted by the highest", async () =>
		(await rows.first().locator(".label").textContent()) === "user" && (await rows.nth(1).locator(".label").textContent()) === "kernel");
	await page.locator('[data-panel="cpu"] .head button', { hasText: "name" }).click();
	await t.until("sorted by name", async () => (await rows.first().locator(".label").textContent()) === "iowait");
}

async function lanes(t, page) {
	const area = await boxOf(page, ".lanes .area");
	await page.mouse.move(area.x + area.width * 0.5, area.y + 27);
	await t.until("its name is told", async () => /train/.test(await page.locator(".tip").textContent()));
	const shades = await page.$$eval(".shaded", (all) => all.filter((one) => one.style.display === "block").length);
	assert.ok(shades >= 3, `${shades} shades`);
	await t.shot(page, "region");
	await page.mouse.click(area.x + area.width * 0.5, area.y + 27);
	const chosen = await selection(page);
	assert.ok(near(chosen.from, 4.4, 1e-6) && near(chosen.end, 18, 1e-6), JSON.stringify(chosen));
	await page.evaluate(() => window.galvo.view.setSelection(null));
}

export default async function (t) {
	const page = await t.open("small", { height: 1500 });
	await t.drawn(page, "memory");
	await t.until("loaded", () => page.evaluate(() => window.galvo.idle()));
	await crosshair(t, page);
	await selecting(t, page);
	await wheels(t, page);
	await legends(t, page);
	await lanes(t, page);
	await page.locator('[data-panel="memory"]').scrollIntoViewIfNeeded();
	await t.until("values beside the gap", async () => (await inkAt(page, "memory", 9)) > 0);
	assert.equal(await inkAt(page, "memory", 11.5), 0, "there is something in the gap");
	assert.equal(await page.locator("img").count(), 0, "a name has become an element");
}
