/* Names from outside are text wherever they stand: no element is made of them, no script runs, no direction turns. */
import { assert, format } from "../harness.mjs";

const NASTY = `<img src=x onerror="window.hurt=1"><script>window.hurt=2</script>\u202Egnp.exe\u0007\n"'&`;

function hostile() {
	const run = format.emptyRun(NASTY, 10);
	const blocks = new format.Blocks();
	run.head = [
		["command", NASTY],
		["result", NASTY],
		[NASTY, NASTY],
	];
	run.report = NASTY;
	run.notes = [
		[NASTY, NASTY],
		["second", NASTY],
	];
	run.processes.push({
		id: `1:${NASTY}`,
		pid: 1,
		parent: null,
		depth: 0,
		name: NASTY,
		command: NASTY,
		start_s: 0,
		end_s: 9,
		status: NASTY,
		failed: true,
		cpu_s: 1,
		rss_peak_bytes: 1,
		read_bytes: null,
		written_bytes: null,
	});
	format.addRegion(run, NASTY, 1, 2);
	format.addMark(run, NASTY, 3);
	const panel = format.panel(`cpu${NASTY}`, NASTY, NASTY, NASTY, { peaks: [[NASTY, 5]] });
	const entry = format.series(NASTY, NASTY, { help: NASTY, metric: NASTY, process: `1:${NASTY}` });
	panel.series.push(entry);
	run.panels.push(panel);
	const points = { starts: [0, 1e9, 2e9], ends: [1e9, 2e9, 9e9] };
	format.addBase(run, blocks, points, [{ entry, values: [1, 2, 3] }]);
	const more = { title: NASTY, generator: NASTY, resolution: NASTY };
	return { document: format.documentOf([run], more), blocks };
}

async function sound(t, page, where) {
	assert.equal(await page.evaluate(() => window.hurt), undefined, `a script ran: ${where}`);
	const found = await page.evaluate(() => ({
		images: document.querySelectorAll("img, iframe, object, body script:not([type]) ~ script:not([type])")
			.length,
		raw: [...document.body.querySelectorAll(":scope > :not(script), :scope > :not(script) *")]
			.filter((element) =>
				[...element.childNodes].some(
					(node) => node.nodeType === 3 && /[\u202e\u0007]/.test(node.data),
				),
			)
			.map((element) => element.className || element.tagName),
	}));
	assert.deepEqual(found, { images: 0, raw: [] }, where);
}

export default async function (t) {
	const page = await t.open(hostile(), { height: 1000, hash: "#s=0.5-5&p=<script>window.hurt=3</script>" });
	const title = await page.locator("h1").textContent();
	assert.match(
		title,
		/<img src=x onerror="window\.hurt=1"><script>window\.hurt=2<\/script>⟨U\+202E⟩gnp\.exe␇␊"'&/,
	);
	await sound(t, page, "at first");
	await page.waitForSelector(".figures-table tr[data-key]");
	await sound(t, page, "figures");
	await page.keyboard.press("o");
	assert.match(await page.locator(".process-name").first().textContent(), /^<img src=x/);
	await page.locator(".process-row[data-row]").first().click();
	await t.until("the chip names it", async () =>
		/<img/.test(await page.locator(".lit-chip").textContent()),
	);
	await sound(t, page, "processes");
	await page.keyboard.press("r");
	assert.match(await page.locator(".name-button").first().textContent(), /^<img src=x/);
	await page.locator(".name-button").first().click();
	await sound(t, page, "regions");
	await page.keyboard.press("/");
	await page.keyboard.type("img");
	await page.waitForSelector(".search-item");
	assert.ok((await page.locator(".search-item").count()) >= 4);
	await sound(t, page, "search");
	await page.keyboard.press("Escape");
	await page.keyboard.press("Escape");
	await page.keyboard.press("p");
	await page.waitForSelector(".picker-row");
	await sound(t, page, "picker");
	await page.keyboard.press("Escape");
	await page.locator("text=Whole report").click();
	assert.match(await page.locator(".report-text").textContent(), /<script>window\.hurt=2/);
	await sound(t, page, "report");
}
