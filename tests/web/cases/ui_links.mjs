/* Links: what is looked at stands behind the #, and what stands there is looked at; nonsense is told and left out. */
import { assert } from "../harness.mjs";

const hash = (page) => page.evaluate(() => location.hash);
const shown = (page) => page.locator(".range-text").textContent();

export default async function (t) {
	const page = await t.open("small", { hash: "#t=2-12&s=3-9&hide=memory&off=0/cpu/user&p=0/4712:81234" });
	await t.until("the range of the link", async () =>
		/^10\.0 s · 2\.00 s – 12\.00 s/.test((await shown(page)).replace(/\u00a0/g, " ")),
	);
	assert.match(await page.locator('[role="tab"][aria-selected="true"]').textContent(), /Selection 6/);
	assert.ok(await page.locator('[data-panel="memory"]').isHidden());
	assert.match(await page.locator(".lit-chip").textContent(), /cc1 4712/);
	await page.waitForSelector(".figures-table tr[data-key]");
	assert.equal(await page.locator('.figures-table tr[data-key="cpu/user"]').count(), 0);
	assert.equal(await hash(page), "#t=2-12&s=3-9&hide=memory&off=0/cpu/user&p=0/4712:81234");

	/* What changes is written. */
	await page.keyboard.press("Escape");
	await t.until(
		"the selection has left the link",
		async () => (await hash(page)) === "#t=2-12&hide=memory&off=0/cpu/user",
	);
	await page.locator(".range-box").click();
	await page.keyboard.press("+");
	await t.until("the zoom is in the link", async () => /^#t=4\.5-9\.5&/.test(await hash(page)));

	/* Back undoes the zoom, by the browser's button and by ours. */
	await page.goBack();
	await t.until("back", async () => /2\.00 s – 12\.00 s/.test((await shown(page)).replace(/\u00a0/g, " ")));
	await page.keyboard.press("-");
	await t.until("further away", async () => !(await hash(page)).includes("t="));
	await page.keyboard.press("Backspace");
	await t.until("undone", async () => /^#t=2-12/.test(await hash(page)));

	/* Edited by hand. */
	await page.evaluate(() => (location.hash = "#t=1-3.5"));
	await t.until("the edit is followed", async () =>
		/1\.000 s – 3\.500 s/.test((await shown(page)).replace(/\u00a0/g, " ")),
	);
	await t.until("what it left out is shown again", () => page.locator('[data-panel="memory"]').isVisible());

	/* Nonsense. */
	await page.evaluate(() => (location.hash = "#t=9-1&s=a-b&what=1&p=%E0%A4%A&t=5-7"));
	await t.until("the part that can be read", async () =>
		/5\.000 s – 7\.000 s/.test((await shown(page)).replace(/\u00a0/g, " ")),
	);
	const said = await page.locator(".say").textContent();
	assert.match(said, /not understood in the link.*t=9-1, s=a-b, what=1/);

	/* Times that the recording has not, or not all of: clipped, never moved, and it says so. */
	const said2 = (text) => t.until(text, () => page.locator(".say", { hasText: text }).count());
	await page.evaluate(() => (location.hash = "#t=18-25&s=-1-2"));
	await t.until("what there is of it", async () =>
		/^2\.00 s · 18\.00+ s – 20\.00+ s/.test((await shown(page)).replace(/\u00a0/g, " ")),
	);
	assert.deepEqual(await page.evaluate(() => Object.values(window.galvo.view.selection).map(Math.abs)), [0, 2]);
	await said2("range and selection of the link: cut at the ends of the recording, which is 20.0 s long");
	await page.evaluate(() => (location.hash = "#t=30-40"));
	await said2("range of the link: outside of the recording");
	await t.until("all of it", async () => /all of it/.test(await shown(page)));
	const edge = await t.open("small", { hash: "#t=15-99" });
	await t.until("clipped from the first", async () =>
		/^5\.00 s · 15\.00+ s – 20\.00+ s/.test((await shown(edge)).replace(/\u00a0/g, " ")),
	);
}
