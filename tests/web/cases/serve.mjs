/* The page of `galvo serve`, of a recording that goes on, ends, and is followed by another one. */
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { assert, dist } from "../harness.mjs";

const GALVO = path.resolve(process.env.GALVO ?? path.join(dist, "../galvo"));
const children = [];

function galvo(cwd, ...words) {
	const child = spawn(GALVO, words, { cwd, stdio: ["ignore", "pipe", "inherit"] });
	children.push(child);
	return child;
}

const record = (cwd, ...words) => galvo(cwd, "record", "-q", "--flush", "200ms", "-o", "run", ...words);

async function follow(t, cwd) {
	let recorder = record(cwd, "--", "sh", "-c", "while :; do :; done # <img src=x onerror=alert(1)>");
	await t.until("it records", () => existsSync(path.join(cwd, "run/system_metrics.pb")));
	const server = galvo(cwd, "serve", "--no-open", "run");
	const address = await new Promise((resolve) => {
		server.stdout.once("data", (line) => resolve(String(line).trim()));
		server.once("exit", () => resolve(null));
	});
	if (!address) return console.log("galvo was built without its server"); /* and has said so */
	const page = await t.openUrl(address);
	assert.equal(await page.locator('link[rel="icon"]').getAttribute("href"), "data:,", "browsers ask for no other one");
	const state = (wanted) => t.until(wanted, async () => (await page.locator(".live").getAttribute("data-state")) === wanted, 20000);
	const points = () => page.evaluate(() => {
		const { store } = window.galvo;
		const series = store.panels.find(({ id }) => id === "cpu").series[0].series;
		const [run] = store.runs;
		const found = store.figures(0, series, { from: 0, end: run.length_s });
		return found ? found.covered_s : 0;
	});

	assert.ok(!page.url().includes("token"), page.url());
	await state("live");
	const before = await points();
	await t.until("more comes", async () => (await points()) > before + 1);
	/* News join what was there: hardly any of the time is missing. */
	const length = await page.evaluate(() => window.galvo.store.runs[0].length_s);
	assert.ok((await points()) > 0.9 * (length - 0.5), `${await points()} of ${length} s`);
	assert.match(await page.locator("#top").textContent(), /it is at work/);
	await t.shot(page, "serve-live");

	recorder.kill("SIGINT");
	await state("ended");
	await t.until("how it ended is told", async () => /killed by signal 2/.test(await page.locator("#top").textContent()));

	/* Loaded when it is over, the page waits for the next one. */
	await page.reload();
	await state("ended");

	recorder = record(cwd, "-f", "--", "sleep", "1000");
	await t.until("the other one is shown", async () => /sleep 1000/.test(await page.locator("#top").textContent().catch(() => "")), 20000);
	await state("live");
	recorder.kill("SIGINT");
	await state("ended");
}

export default async function (t) {
	const cwd = mkdtempSync(path.join(tmpdir(), "galvo-serve-"));
	try {
		await follow(t, cwd);
	} finally {
		for (const child of children) child.kill();
		rmSync(cwd, { recursive: true, force: true });
	}
}
