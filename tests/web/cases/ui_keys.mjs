/* The keyboard does all of it: every key of the help, the focus in sight, themes. */
import { assert } from "../harness.mjs";

const range = async (page) => (await page.locator(".range-text").textContent()).replace(/\u00a0/g, " ");

export default async function (t) {
	const page = await t.open("small");
	const becomes = (pattern) => t.until(String(pattern), async () => pattern.test(await range(page)));
	const press = (key) => page.keyboard.press(key);

	await press("+");
	await becomes(/^10\.0 s · 5\.00 s – 15\.00 s/);
	await press("ArrowRight");
	await becomes(/7\.00 s – 17\.00 s/);
	await press("ArrowLeft");
	await becomes(/5\.00 s – 15\.00 s/);
	await press("-");
	await becomes(/all of it/);
	await press("=");
	await press("a");
	await becomes(/all of it/);

	await press("]");
	await t.until("the first region", () => page.locator(".say", { hasText: "load: 1 of 1" }).count());
	await press("]");
	await t.until("the next region", () =>
		page.locator(".say", { hasText: /train|kernel|step 0|<img/ }).count(),
	);
	await press("[");
	await t.until("and back", () => page.locator(".say", { hasText: "load: 1 of 1" }).count());
	await press("Escape");
	await press("c");
	await t.until("there is nothing to copy", () =>
		page.locator(".say", { hasText: "select a time first" }).count(),
	);
	await press("f");
	await t.until("there is nothing to follow", () =>
		page.locator(".say", { hasText: "nothing to follow" }).count(),
	);

	await press("o");
	assert.ok(await page.locator(".processes").isVisible());
	await press("r");
	assert.ok(await page.locator(".regions").isVisible());
	await press("Escape");
	assert.ok(await page.locator(".regions").isHidden());

	for (const theme of ["light", "dark", "auto"]) {
		await press("t");
		await t.until(theme, () => page.locator(`[data-theme-choice="${theme}"]`).count());
	}
	assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "light");

	await press("p");
	assert.ok(await page.locator(".picker").isVisible());
	await page.locator(".picker-row", { hasText: "Cores" }).locator("input").click();
	await t.until("the panel is hidden", () => page.locator('[data-panel="cores"]').isHidden());
	await t.until("and stands in the link", async () =>
		/hide=cores/.test(await page.evaluate(() => location.hash)),
	);
	await press("Escape");
	assert.ok(await page.locator(".picker").isHidden());

	await press("?");
	const help = page.locator(".help");
	await t.shot(page, "help");
	for (const text of [
		"search",
		"follow a live recording",
		"next region of any name",
		"choose the panels",
		"copy the figures",
	])
		assert.equal(await help.locator("dd", { hasText: text }).count(), 1, text);
	await press("Escape");
	assert.equal(await help.count(), 0);

	/* How fine the values are is said wherever one is on the page. */
	assert.ok(await page.locator(".resolution").isVisible());
	await page.evaluate(() => scrollTo(0, 900));
	await t.until("the bar says it, too", () =>
		page.locator(".resolution-text", { hasText: "all values are here" }).isVisible(),
	);
	await page.evaluate(() => scrollTo(0, 0));

	/* By Tab alone: each stop is seen. */
	await page.locator("h1").click();
	const stops = new Set();
	for (let i = 0; i < 14; i++) {
		await press("Tab");
		const stop = await page.evaluate(() => {
			const element = document.activeElement;
			if (element === document.body) return null; /* that was all of them */
			const { outlineStyle, outlineWidth } = getComputedStyle(element);
			return {
				name: element.getAttribute("aria-label") || element.textContent,
				outline: `${outlineStyle} ${outlineWidth}`,
			};
		});
		if (!stop) break;
		assert.match(stop.outline, /^solid [12]/, stop.name);
		stops.add(stop.name);
	}
	assert.ok(
		[...stops].some((name) => /closer/.test(name)) && [...stops].some((name) => /search/.test(name)),
		[...stops].join(" | "),
	);
}
