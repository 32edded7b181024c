/* Paper shortly after opening: all is loaded, summed up and drawn, whatever was on the screen; as wide as a sheet. */
import { assert } from "../harness.mjs";

export default async function (t) {
	const page = await t.open("small", { width: 1600, height: 500 });
	await page.evaluate(() => window.galvo.ready);
	await page.emulateMedia({ media: "print" });
	await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
	const seen = await page.$$eval(".panel:not(.low)", (all) => all.filter((one) => one.dataset.panel !== "disk-empty").map((one) => {
		const apart = (legend, plot) => legend.top >= plot.bottom - 1 || legend.left >= plot.right - 1;
		const canvas = one.querySelector("canvas");
		const numbers = [...one.querySelectorAll(".legend .row:not(.head) .number")].map((cell) => cell.textContent);
		return {
			panel: one.dataset.panel, wide: canvas.getBoundingClientRect().width, remark: one.querySelector(".remark").textContent,
			empty: numbers.filter((text) => text === "").length, count: numbers.length,
			apart: apart(one.querySelector(".legend").getBoundingClientRect(), canvas.getBoundingClientRect()),
		};
	}));
	assert.ok(seen.length > 8);
	for (const { panel, wide, empty, count, apart, remark } of seen) {
		assert.ok(wide > 500 && wide <= 702, `${panel} is ${wide} wide`);
		assert.ok(count > 0 && empty === 0, `${panel}: ${empty} of ${count} numbers are empty`);
		assert.ok(apart, `the legend of ${panel} lies on its plot`);
		assert.ok(!/print again/.test(remark), `${panel}: ${remark}`);
		assert.ok((await t.inked(page, panel)) > 0, `${panel} is drawn`);
	}
	/* Instants: below the last panel of each group, and in no plot. */
	const groups = await page.$$eval(".group", (all) => all.map((one) => {
		const axes = [...one.querySelectorAll(".paper-axis")];
		const cards = [...one.querySelectorAll(".panel:not(.low)")];
		return axes.length === 1 && axes[0].closest(".panel") === cards.at(-1) && axes[0].children.length > 2;
	}));
	assert.ok(groups.length > 2 && groups.every(Boolean), groups.join());
	await page.evaluate(() => dispatchEvent(new Event("afterprint")));
	await page.emulateMedia({ media: "screen" });
	assert.equal(await page.locator(".paper-axis").count(), 0);
	await t.until("it is as wide as the window again", () => page.$eval('[data-panel="cpu"] canvas', (one) => one.getBoundingClientRect().width > 800));
}
