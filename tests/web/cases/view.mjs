/* The file that galvo view writes of a real recording: it shows it, asks for nothing, and its policy holds. */
import { spawnSync } from "node:child_process";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { assert, dist } from "../harness.mjs";

const GALVO = path.resolve(process.env.GALVO ?? path.join(dist, "../galvo"));

function galvo(cwd, ...words) {
	const { status, stderr, error } = spawnSync(GALVO, words, { cwd, encoding: "utf8" });
	assert.equal(error, undefined);
	assert.equal(status, 0, `galvo ${words[0]}: ${stderr}`);
}

export default async function (t) {
	const work = "# <img src=x onerror=alert(1)></script><script>alert(2)</script>";
	galvo(t.folder, "record", "-q", "-o", "run", "--", "sh", "-c", `i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done ${work}`);
	galvo(t.folder, "view", "--no-open", "-o", "run.html", "run");
	const file = pathToFileURL(path.join(t.folder, "run.html")).href;

	const context = await t.browser.newContext({ viewport: { width: 1280, height: 900 }, colorScheme: "light" });
	const asked = [];
	await context.addInitScript(() => {
		window.violations = [];
		document.addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) =>
			window.violations.push(`${violatedDirective} ${blockedURI}`));
	});
	context.on("request", (request) => asked.push(request.url()));
	const page = await context.newPage();
	page.on("pageerror", (error) => t.complaints.push(String(error)));
	page.on("dialog", (dialog) => (t.complaints.push(dialog.message()), void dialog.dismiss()));
	page.on("console", (message) => {
		if (["error", "warning"].includes(message.type()) && !/willReadFrequently/.test(message.text()))
			t.complaints.push(message.text());
	});
	await page.goto(file);

	/* What is shown is what was recorded. */
	await page.waitForSelector("#panels .panel canvas", { state: "attached" });
	await t.drawn(page, "cpu");
	assert.match(await page.locator("#top").textContent(), /exit status 0/);
	assert.ok((await page.locator("#top").textContent()).includes(work));
	const found = await page.evaluate(async () => {
		const { store } = window.galvo;
		const [run] = store.runs;
		const { series } = store.panels.find(({ id }) => id === "cpu").series[0];
		await store.load(0, series, { from: 0, end: run.length_s });
		return { ...store.figures(0, series, { from: 0, end: run.length_s }), length_s: run.length_s };
	});
	assert.ok(found.mean > 0 && found.covered_s > 0.5 * found.length_s, JSON.stringify(found));
	assert.equal(await page.locator(".live").count(), 0);

	/* All that it does with the keys and the pointer is within its policy. */
	for (const key of ["o", "r", "p", "t", "?", "Escape", "+", "/"]) await page.keyboard.press(key);
	await page.keyboard.type("sh");
	await page.keyboard.press("Escape");
	await page.emulateMedia({ media: "print" });
	await t.shot(page, "view");
	assert.deepEqual(await page.evaluate(() => window.violations), []);
	assert.deepEqual(t.complaints, []);
	assert.deepEqual(asked, [file]);

	/* The policy is there: what is not of the page does not run, and leads nowhere. */
	const policy = await page.locator('meta[http-equiv="Content-Security-Policy"]').getAttribute("content");
	assert.match(policy, /^default-src 'none'; script-src 'sha256-[\w+/=]+'; style-src 'sha256-[\w+/=]+'; img-src data:; /);
	const broken = await page.evaluate(async () => {
		const before = window.violations.length;
		const script = document.createElement("script");
		script.textContent = "window.hurt = 1";
		const image = document.createElement("img");
		image.src = "http://127.0.0.1:9/x.png";
		document.body.append(script, image);
		document.body.insertAdjacentHTML("beforeend", `<p style="color: red" onclick="window.hurt = 2"></p>`);
		document.body.lastElementChild.click();
		const answer = await fetch("http://127.0.0.1:9/").catch(() => "blocked");
		for (let i = 0; i < 100 && window.violations.length < before + 5; i++) await new Promise((resolve) => setTimeout(resolve, 20));
		return { hurt: window.hurt, answer, violated: window.violations.slice(before).map((text) => text.split(" ")[0]).sort() };
	});
	assert.equal(broken.hurt, undefined);
	assert.equal(broken.answer, "blocked");
	assert.deepEqual(broken.violated, ["connect-src", "img-src", "script-src-attr", "script-src-elem", "style-src-attr"]);
	t.complaints = t.complaints.filter((text) => !/Content Security Policy/.test(text));
}
