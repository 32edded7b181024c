/*
 * Ten million points: a spike of one of them is seen, whatever range shows it, and moving the range is smooth.
 * Prints what a frame takes.
 */
import { assert } from "../harness.mjs";

const FRAMES = 120;
const SPIKE = 1234567 / 2500; /* its second; of four series at 2500 a second */

/* Rows from the top, of the column where the spike is, to the first pixel of the first curve's colour. */
function spikeRow(page, t) {
	return page.evaluate((at) => {
		const canvas = document.querySelector('[data-panel="big"] canvas');
		const { from, end } = window.galvo.view.range;
		const gutter = 66 * devicePixelRatio;
		const x = Math.floor(gutter + ((at - from) / (end - from)) * (canvas.width - gutter));
		const { data } = canvas.getContext("2d").getImageData(x - 2, 0, 5, canvas.height);
		for (let y = 0; y < canvas.height; y++)
			for (let k = 0; k < 5; k++) {
				const i = (y * 5 + k) * 4;
				if (data[i + 3] > 40 && data[i + 2] - data[i] > 40) return y / canvas.height;
			}
		return 1;
	}, t);
}

export default async function (t) {
	const page = await t.open("ten", { width: 1366, height: 768 });
	await t.drawn(page, "big");
	await t.until("the spike is seen in all of it", async () => (await spikeRow(page, SPIKE)) < 0.2);
	await t.shot(page, "ten-all");

	/* Ever closer: also where the points themselves are drawn. */
	for (const half of [200, 20, 2, 0.1, 0.005]) {
		await page.evaluate(async ([from, end]) => {
			window.galvo.view.setRange({ from, end });
			for (let i = 0; i < 3; i++) await new Promise(requestAnimationFrame);
		}, [SPIKE - half * 0.7, SPIKE + half]);
		await t.until(`the spike is seen in ${2 * half} s`, async () => (await spikeRow(page, SPIKE + 0.0002)) < 0.2);
	}
	await t.shot(page, "ten-close");

	/* Panning and zooming over decoded points: the CPU time of the main thread, as others use this machine, too. */
	await page.evaluate(() => window.galvo.view.setRange({ from: 100, end: 800 }));
	await t.until("decoded", () => page.evaluate(() => window.galvo.idle()));
	const session = await page.context().newCDPSession(page);
	await session.send("Performance.enable", { timeDomain: "threadTicks" });
	const used = async () => (await session.send("Performance.getMetrics")).metrics.find(({ name }) => name === "TaskDuration").value * 1e3;
	const before = await used();
	const gaps = await page.evaluate(async (count) => {
		const { view } = window.galvo;
		const ret = [];
		let last = await new Promise(requestAnimationFrame);
		for (let i = 0; i < count; i++) {
			const width = 300 + 100 * Math.sin(i / 17);
			view.setRange({ from: 300 + 2 * i - width / 2, end: 300 + 2 * i + width / 2 });
			const now = await new Promise(requestAnimationFrame);
			ret.push(now - last);
			last = now;
		}
		return ret.sort((a, b) => a - b);
	}, FRAMES);
	const cpu_ms = ((await used()) - before) / FRAMES;
	console.log(`10 M points, moved: ${gaps[FRAMES >> 1].toFixed(1)} ms from frame to frame, ${cpu_ms.toFixed(1)} ms CPU each (16.7 are 60 a second)`);
	assert.ok(cpu_ms < 33, "moving ten million points takes too long");
}
