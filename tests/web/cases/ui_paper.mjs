/* On paper: light, whole panels, the report's head, the processes; no tools. */
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { assert } from "../harness.mjs";

export default async function (t) {
	const page = await t.open("small", { theme: "dark" });
	await t.drawn(page, "cpu");
	await page.keyboard.press("o");
	/* What was not in sight yet is read when there is nothing else to do; paper does not wait. */
	await t.until("the last panel can be drawn", async () => {
		await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
		const count = await t.inked(page, "gpu0-heat");
		await page.evaluate(() => dispatchEvent(new Event("afterprint")));
		return count;
	});
	const sizes = [];
	for (const landscape of [false, true]) {
		const sheet = await page.pdf({ format: "A4", landscape, preferCSSPageSize: true, printBackground: true });
		const [, width, height] = /\/MediaBox\s*\[0 0 ([\d.]+) ([\d.]+)\]/.exec(sheet.toString("latin1"));
		sizes.push(Number(width) > Number(height) ? "wide" : "high");
	}
	assert.deepEqual(sizes, ["high", "wide"], "the sheet is as who prints wants it");
	const pdf = await page.pdf({ preferCSSPageSize: true, printBackground: true });
	assert.equal(pdf.subarray(0, 5).toString(), "%PDF-");
	const pages = pdf.toString("latin1").match(/\/Type\s*\/Page\b/g).length;
	assert.ok(pages >= 2 && pages <= 6, `${pages} pages`);
	if (process.env.GALVO_SHOTS) {
		mkdirSync(process.env.GALVO_SHOTS, { recursive: true });
		writeFileSync(path.join(process.env.GALVO_SHOTS, "paper.pdf"), pdf);
	}

	/* The same by hand: what is printed, and that it is as before afterwards. */
	await page.emulateMedia({ media: "print" });
	await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
	assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "light");
	for (const panel of ["cpu", "gpu0-heat"])
		assert.ok((await t.inked(page, panel)) > 0, `${panel} is drawn at once`);
	assert.ok(await page.locator("#tools").isHidden());
	assert.ok(await page.locator(".dock").isHidden());
	assert.equal(await page.locator(".print-processes tbody tr").count(), 8);
	assert.match(await page.locator(".print-processes tbody tr").first().textContent(), /sh/);
	assert.equal(await page.locator(".print-warns").count(), 0, "all has been read");
	/* Upright and on its side: no legend lies on a plot, nothing reaches beyond the paper. */
	for (const [width, height] of [[711, 1000], [1040, 700], [733, 960], [973, 730]]) {
		await page.setViewportSize({ width, height });
		const found = await page.evaluate(() => [...document.querySelectorAll("#panels .panel, #panels .said")].flatMap((panel) => {
			const canvas = panel.querySelector("canvas")?.getBoundingClientRect();
			const legend = panel.querySelector(".legend")?.getBoundingClientRect();
			if (!canvas?.width || !legend?.width) return [];
			const lies = legend.left < canvas.right - 1 && legend.top < canvas.bottom - 1;
			return lies || legend.right > innerWidth || canvas.right > innerWidth ? [panel.dataset.panel] : [];
		}));
		assert.deepEqual(found, [], `${width} x ${height}`);
	}
	await page.evaluate(() => dispatchEvent(new Event("afterprint")));
	await page.emulateMedia({ media: "screen" });
	assert.equal(await page.locator(".print-only").count(), 0);
	assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
	t.complaints = t.complaints.filter(
		(text) => !text.includes("willReadFrequently"),
	); /* of this test's own looking */
}
