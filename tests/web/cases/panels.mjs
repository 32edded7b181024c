/* Each panel is drawn when it is in sight: small page, laptop, both themes, narrow. */
import { assert } from "../harness.mjs";

export default async function (t) {
	const page = await t.open("small");
	await t.drawn(page, "cpu");
	await t.drawn(page, "memory");
	const titles = await page.$$eval(".panel h3", (all) => all.map((one) => one.textContent));
	assert.ok(titles.includes("CPU") && titles.includes("Counters"), titles.join());
	await t.shot(page, "light-laptop");
	await page.close();

	const dark = await t.open("small", { theme: "dark", height: 2400 });
	await t.drawn(dark, "gpu0-power");
	await t.shot(dark, "dark-tall");
	await dark.close();

	const narrow = await t.open("small", { width: 420, height: 900 });
	await t.drawn(narrow, "cpu");
	await t.shot(narrow, "narrow");
}
