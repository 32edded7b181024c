/* A time selected with the mouse: its figures are those that its values give, copied as they are shown. */
import { assert, format } from "../harness.mjs";

const LENGTH_S = 10;

/* A staircase: value i holds from i/10 to (i+1)/10 s. */
function staircase(mean = (i) => i) {
	const run = format.emptyRun("vm", LENGTH_S);
	const blocks = new format.Blocks();
	const starts = Array.from({ length: 100 }, (_, i) => i * 1e8);
	const ends = starts.map((t) => t + 1e8);
	const add = (panel, rows) => {
		run.panels.push(panel);
		const series = rows.map(([key, label, values, more]) => ({
			entry: format.series(key, label, more),
			values,
		}));
		panel.series.push(...series.map(({ entry }) => entry));
		format.addBase(run, blocks, { starts, ends }, series);
	};
	add(format.panel("cpu", "CPU", "Machine", "pct", { shape: "stack", ceiling: 100 }), [
		["cpu/user", "user", starts.map((_, i) => mean(i))],
		["cpu/kernel", "kernel", starts.map((_, i) => mean(i) / 3)],
	]);
	add(format.panel("net", "Network", "Network", "bytes_per_s"), [
		["net/in", "received", starts.map((_, i) => i * 1048576)],
	]);
	add(format.panel("power", "Power", "GPU 0", "watts"), [["power", "power", starts.map(() => 250)]]);
	add(format.panel("mem", "Memory", "Machine", "bytes"), [
		["mem/used", "used", starts.map((_, i) => i * 1048576), { level: true }],
	]);
	return { document: format.documentOf([run]), blocks };
}

/* What the staircase comes to between two instants. */
function expected(from, end) {
	let sum = 0;
	let min = Infinity;
	let max = -Infinity;
	for (let i = 0; i < 100; i++) {
		const length = Math.min((i + 1) / 10, end) - Math.max(i / 10, from);
		if (length <= 1e-9) continue;
		sum += i * length;
		min = Math.min(min, i);
		max = Math.max(max, i);
	}
	return { sum, mean: sum / (end - from), min, max };
}

async function drag(page, from, to) {
	const box = await page.locator('[data-panel="cpu"] .area').boundingBox();
	const y = box.y + box.height / 2;
	await page.mouse.move(box.x + box.width * from, y);
	await page.mouse.down();
	await page.mouse.move(box.x + box.width * to, y, { steps: 6 });
	await page.mouse.up();
}

function parse(text) {
	const lines = text.replace(/\n$/, "").split("\n");
	const [, from, end] = /^# ([\d.]+) s to ([\d.]+) s/.exec(lines[0]);
	const rows = lines.filter((line) => !line.startsWith("#")).map((line) => line.split("\t"));
	return {
		from: Number(from),
		end: Number(end),
		head: rows[0],
		rows: new Map(rows.slice(1).map((row) => [row[1], row])),
	};
}

function near(actual, wanted, what) {
	assert.ok(
		Math.abs(Number(actual) - wanted) <= 1e-5 * Math.max(Math.abs(wanted), 1e-3),
		`${what}: ${actual}, not ${wanted}`,
	);
}

export default async function (t) {
	const page = await t.open(staircase());
	await t.drawn(page, "cpu");
	await drag(page, 0.234, 0.811);
	await page.waitForSelector('.figures-table tr[data-key="net/in"]');
	await t.shot(page, "selection");

	await page.getByRole("button", { name: /copy the figures/ }).click();
	await t.until("it says that it copied", () =>
		page.locator(".say", { hasText: "figures copied" }).count(),
	);
	const copied = parse(await page.evaluate(() => navigator.clipboard.readText()));
	const wanted = expected(copied.from, copied.end);
	assert.ok(
		copied.from > 2 && copied.from < 2.6 && copied.end > 7.8 && copied.end < 8.4,
		`${copied.from} ${copied.end}`,
	);

	const user = copied.rows.get("user");
	near(user[3], wanted.mean, "mean");
	near(user[4], wanted.min, "lowest");
	near(user[5], wanted.max, "highest");
	near(user[8], 0.75, "share");
	const received = copied.rows.get("received");
	near(received[6], wanted.sum * 1048576, "sum");
	assert.equal(received[7], "bytes");
	near(copied.rows.get("power")[6], 250 * (copied.end - copied.from), "energy");
	assert.equal(copied.rows.get("power")[7], "joules");
	assert.equal(copied.rows.get("used")[6], "", "a level has no sum");

	/* Sorted by clicking, filtered by typing. */
	const keys = () =>
		page.$$eval(".figures-table tr[data-key]", (rows) => rows.map((row) => row.dataset.key));
	await page
		.locator(".figures-table")
		.getByRole("button", { name: /^lowest|^highest|average/ })
		.first()
		.click();
	assert.equal(await page.locator('.figures-table th[aria-sort="descending"]').count(), 1);
	await page.locator(".figures-table .sort", { hasText: "curve" }).click();
	assert.deepEqual(await keys(), ["cpu/kernel", "power", "net/in", "mem/used", "cpu/user"]);
	await page.getByLabel("filter the figures").fill("network");
	assert.deepEqual(await keys(), ["net/in"]);

	/* A hidden curve is not in the table; Enter zooms there, Escape ends it. */
	await page.getByLabel("filter the figures").fill("");
	await page.locator('[data-panel="cpu"] .legend button', { hasText: "kernel" }).click();
	await t.until("the hidden curve has gone", async () => !(await keys()).includes("cpu/kernel"));
	await page.locator(".range-box").click();
	await page.keyboard.press("Enter");
	await t.until("zoomed", async () =>
		/5\.\d+ s/.test(await page.locator(".range-text strong").textContent()),
	);
	await page.keyboard.press("Escape");
	await t.until(
		"nothing is selected",
		async () => await page.locator('[role="tab"]', { hasText: "Selection" }).isHidden(),
	);
}
