/* An hour at 100 Hz of 30 curves, from a file: when there is a first picture. Prints it. */
import { assert } from "../harness.mjs";

export default async function (t) {
	const page = await t.open("hour");
	const told = await page.evaluate(async () => {
		while (performance.getEntriesByName("galvo-first-picture").length === 0) await new Promise(requestAnimationFrame);
		return performance.getEntriesByName("galvo-first-picture")[0].startTime;
	});
	await t.drawn(page, "p0");
	console.log(`1 h x 100 Hz x 30, 43 MB: first picture after ${(told / 1000).toFixed(2)} s`);
	await t.shot(page, "hour");
	assert.ok(told < 8000, "the first picture waits for more than the overview");
	await page.evaluate(() => window.galvo.view.setRange({ from: 1800, end: 1805 }));
	await t.until("points are loaded on demand", () => page.evaluate(() => {
		const { store } = window.galvo;
		const { series, run } = store.panels[0].series[0];
		return store.figures(run, series, { from: 1801, end: 1804 })?.exact;
	}));
}
