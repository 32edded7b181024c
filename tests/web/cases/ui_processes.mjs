/* The table of processes: tree, folding, sorting, filter, lighting one, its life; ten thousand scroll. */
import { assert, format, scenes } from "../harness.mjs";

const MANY = 10000;

function crowd() {
	const run = format.emptyRun("vm", 100);
	const blocks = new format.Blocks();
	for (let i = 0; i < MANY; i++) {
		const parent = i === 0 ? null : (i - 1) >> 2;
		run.processes.push({
			id: `${100 + i}:${i}`,
			pid: 100 + i,
			parent,
			depth: 0,
			name: `job${i}`,
			command: `job${i} --number ${i}`,
			start_s: i / 200,
			end_s: i / 200 + 1,
			status: i % 97 ? "exit 0" : "exit 1",
			failed: i % 97 === 0,
			cpu_s: (i * 7919) % 1000,
			rss_peak_bytes: i * 4096,
			read_bytes: null,
			written_bytes: i,
		});
	}
	const panel = format.panel("cpu", "CPU", "Machine", "pct");
	const entry = format.series("cpu/user", "user");
	panel.series.push(entry);
	run.panels.push(panel);
	const points = format.instants(100, 1, () => 0.5);
	format.addBase(run, blocks, points, [{ entry, values: points.ends.map((_, i) => i) }]);
	return { document: format.documentOf([run]), blocks };
}

async function tree(t) {
	const scene = scenes.small();
	scene.document.runs[0].processes[7].sampled = false;
	const page = await t.open(scene, { height: 1000 });
	assert.deepEqual(await page.locator(".no-samples").count(), 1);
	assert.match(await page.locator('[data-pid="4718"] .cell-name').getAttribute("title"), /too short-lived/);
	const names = () =>
		page.$$eval(".process-row[data-row] .process-name", (all) =>
			all.map((one) => one.textContent.slice(0, 4)),
		);
	assert.deepEqual(await names(), ["make", "cc1", "<img", "as", "pyth", "sh", "cc1", "ld"]);
	assert.match(await page.locator('[data-pid="4714"] .cell-status').textContent(), /✕ SIGKILL/);
	assert.equal(await page.locator('[data-pid="4713"] .cell-read').textContent(), "–");

	await page.locator('[data-pid="4712"] .fold').click();
	assert.deepEqual(await names(), ["make", "cc1", "cc1", "ld"]);
	assert.equal(await page.locator('[data-pid="4712"]').getAttribute("aria-expanded"), "false");
	await page.locator('[data-pid="4712"] .fold').click();

	await page.locator('[data-sort="rss"]').click();
	assert.deepEqual(await names(), ["sh", "pyth", "as", "<img", "ld", "cc1", "cc1", "make"]);
	await page.locator('[data-sort="read"]').click();
	await page.locator('[data-sort="read"]').click();
	assert.equal((await names()).at(-1), "cc1", "what is not known comes last");
	await page.getByRole("button", { name: "show the tree again" }).click();
	await page.getByLabel("filter the processes").fill("python");
	assert.deepEqual(await names(), ["make", "cc1", "pyth"], "with those above it");
	assert.equal(await page.locator("#tab-of-processes").textContent(), "Processes 1 of 8");
	assert.equal(await page.locator(".process-name mark").textContent(), "python");
	await page.getByLabel("filter the processes").fill("");

	/* Lit: others dim, its life is selected; twice: zoomed to. */
	await page.locator('[data-pid="4716"] .process-name').click();
	await t.until("lit", () => page.locator(".lit-chip", { hasText: "as 4716" }).isVisible());
	await t.until("its life is selected", async () =>
		/s=5-15/.test(await page.evaluate(() => location.hash)),
	);
	await t.until("its CPU in that time", async () =>
		/5\.\d+ s/.test(await page.locator('[data-pid="4716"] .cell-range').textContent()),
	);
	await t.shot(page, "process");
	await page.locator('[data-pid="4714"] .process-name').dblclick();
	await t.until("zoomed", async () => /t=3-13/.test(await page.evaluate(() => location.hash)));
	await page.close();
}

async function many(t) {
	const page = await t.open(crowd(), { height: 1000 });
	const rows = page.locator(".process-rows");
	assert.match(await page.locator("#tab-of-processes").textContent(), /10,000/);
	assert.equal(await rows.getAttribute("aria-rowcount"), String(MANY + 1));
	assert.ok((await page.locator(".process-row[data-row]").count()) < 100, "rows out of sight are not made");

	await rows.focus();
	await page.keyboard.press("End");
	await t.until("the last row", () => page.locator(`[data-row="${MANY - 1}"]`).isVisible());
	assert.equal(await rows.getAttribute("aria-activedescendant"), `process-row-${MANY - 1}`);
	await page.keyboard.press("Home");
	await page.keyboard.press("ArrowLeft");
	await t.until("folded", async () => (await page.locator(".process-row[data-row]").count()) === 1);
	await page.keyboard.press("ArrowRight");
	await page.keyboard.press("ArrowDown");
	await page.keyboard.press("Enter");
	await t.until("chosen by keyboard", () => page.locator(".lit-chip", { hasText: "job1 101" }).isVisible());

	/* A frame of scrolling stays short: half of them under 1/30 s even on a busy machine. */
	const frames = await page.evaluate(async () => {
		const box = document.querySelector(".process-rows");
		const times = [];
		for (let i = 0; i < 40; i++) {
			box.scrollTop = i * 5000;
			const start = performance.now();
			box.dispatchEvent(new Event("scroll"));
			times.push(performance.now() - start);
			await new Promise(requestAnimationFrame);
		}
		return times.sort((a, b) => a - b);
	});
	assert.ok(frames[20] < 33, `${frames[20]} ms a frame`);

	await page.getByLabel("filter the processes").fill("job9999");
	await t.until("found", () => page.locator('[data-pid="10099"]').isVisible());
	await page.getByLabel("filter the processes").fill("");
	await page.locator('[data-sort="cpu"]').click();
	const first = await page.locator('[data-row="0"] .cell-cpu').textContent();
	assert.match(first, /16\smin 39\ss/);
}

export default async function (t) {
	await tree(t);
	await many(t);
}
