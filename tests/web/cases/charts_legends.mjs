/* What legends say is what is drawn: several runs, hidden curves, names of any kind, panels of zeros, marks. */
import { assert, format } from "../harness.mjs";

const HOSTILE = "a\nb\u001bc\u202ed\ufffde";
const READABLE = "a\u240ab\u241bc\u27e8U+202E\u27e9d\ufffde";

function add(run, blocks, where, points, rows) {
	const all = rows.map(([key, label, values]) => ({ entry: format.series(key, label), values }));
	where.series.push(...all.map(({ entry }) => entry));
	run.panels.push(where);
	format.addBase(run, blocks, points, all);
}

function scene(labels) {
	const random = format.dice(11);
	const blocks = new format.Blocks();
	const runs = labels.map((label, k) => {
		const run = format.emptyRun(label, 10);
		const points = format.instants(10, 50, random);
		const flat = (value) => points.ends.map(() => value);
		add(run, blocks, format.panel("cpu", "CPU", "Machine", "pct", { shape: "stack", ceiling: 100 }), points,
			["user", "kernel", "steal", "iowait"].map((name, i) => [`cpu/${name}`, name, flat(10 + i)]));
		add(run, blocks, format.panel("load", "Load", "Machine", "count"), points, [["load/a", "a label that is quite long", flat(2)], ["load/b", HOSTILE, flat(3 + k)]]);
		add(run, blocks, format.panel("idle", "Nothing", "Machine", "bytes_per_s"), points, [["idle/a", "read", flat(0)], ["idle/b", "written", flat(0)]]);
		for (let i = 0; i < 4; i++) format.addRegion(run, i === 3 ? HOSTILE : `part ${i}`, i, i + 0.5 + k);
		for (let i = 0; i < 1500; i++) format.addMark(run, "step", 1 + i * 0.004);
		format.addMark(run, "alone", 9.3);
		return run;
	});
	return { document: format.documentOf(runs), blocks };
}

const texts = (page, selector) => page.$$eval(selector, (all) => all.map((one) => one.textContent));

export default async function (t) {
	const page = await t.open(scene(["vm"]));
	await page.evaluate(() => window.galvo.ready);

	/* The same readable text as in tables. */
	assert.ok((await texts(page, '[data-panel="load"] .legend .what')).includes(READABLE));
	const names = await texts(page, ".said .legend .label");
	assert.ok(names.includes(READABLE) && names.includes("step") && names.includes("alone"), names.join());
	/* Wide enough for what is in it. */
	const cut = await page.$$eval(".panel:not(.low) .legend .what", (all) => all.filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.textContent));
	assert.deepEqual(cut, []);

	/* Dense marks draw no lines across the panels, the one that stands alone does. */
	const lines = await page.evaluate(() => {
		const canvas = document.querySelector('[data-panel="load"] canvas');
		const { data } = canvas.getContext("2d").getImageData(66, 0, canvas.width - 66, 20);
		const wide = canvas.width - 66;
		let count = 0;
		for (let x = 0; x < wide; x++) {
			let dashes = 0;
			for (let y = 0; y < 20; y++) if (data[(y * wide + x) * 4 + 3] > 200) dashes++;
			if (dashes >= 6 && dashes < 16) count++;
		}
		return count;
	});
	assert.ok(lines >= 1 && lines <= 3, `${lines} lines of marks`);

	/* Of the range: one region of the four is in sight. */
	await page.evaluate(() => window.galvo.view.setRange({ from: 2.1, end: 2.4 }));
	await t.until("the regions' legend follows", async () => {
		const rows = await texts(page, ".said .legend .row:not(.head)");
		return rows[0] === "part 21300 ms" && !rows.some((row) => row.startsWith("part 0"));
	});
	await page.evaluate(() => window.galvo.view.setRange({ from: 0, end: 10 }));

	/* Nothing but zeros is low until it is opened. */
	const low = page.locator('[data-panel="idle"]');
	assert.ok((await low.boundingBox()).height < 30);
	await low.locator(".zeros").click();
	assert.ok((await low.boundingBox()).height > 90);
	await low.locator(".zeros").click();
	assert.ok((await low.boundingBox()).height < 30);

	/* A curve that was switched off lights nothing: the others stay as they are. */
	const before = await t.inked(page, "cpu");
	await page.locator('[data-panel="cpu"] .legend .row:not(.head)').nth(3).click();
	await t.until("the others stay bright", async () => (await t.inked(page, "cpu")) > before * 0.5);
	await page.close();

	/* Three runs. */
	const three = await t.open(scene(["one", "two", "three"]), { height: 1200 });
	await three.evaluate(() => window.galvo.ready);
	assert.deepEqual(await texts(three, ".said .legend .caption"), ["one", "two", "three"]);
	const counts = await three.$$eval(".said .legend .row:not(.head)", (all) => all.filter((row) => row.title === "part 0").map((row) => row.textContent));
	assert.deepEqual(counts, ["part 01500 ms", "part 011.50 s", "part 012.50 s"]);
	const swatches = await three.$$eval('[data-panel="load"] .legend .row:not(.head) .swatch', (all) => all.map((one) => one.style.background));
	assert.equal(new Set(swatches.filter((_, i) => i % 2 === 0)).size, 3, swatches.join("\n"));
	/* Of a stack the sum is drawn of those behind the first: the legend says so, and shows no colours for the rest. */
	await t.until("the sums are in the legend", async () => (await texts(three, '[data-panel="cpu"] .legend .sum .label')).join() === "all together two,all together three");
	const shown = await three.$$eval('[data-panel="cpu"] .legend .rows .swatch', (all) => all.filter((one) => getComputedStyle(one).visibility === "visible").length);
	assert.equal(shown, 4);
	await t.shot(three, "legends-three");
}
