/*
 * Shared by the browser tests: Chromium without a screen, pages of made-up or of real runs, what it complains of.
 *
 * A case is cases/NAME.mjs with `export default async (t) => { … }`; `t` is a Session.
 */
import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const here = path.dirname(fileURLToPath(import.meta.url));
export const web = path.join(here, "../../web");
export const dist = process.env.GALVO_PAGE_DIR ?? path.join(web, "dist");
export const format = await import(pathToFileURL(path.join(web, "test/format.mjs")).href);
export const { scenes } = await import(pathToFileURL(path.join(web, "test/scenes.mjs")).href);
const { chromium } = createRequire(path.join(web, "package.json"))("playwright-core");
export { assert };

const CHROMIUM = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

export class Session {
	complaints = [];
	folder = mkdtempSync(path.join(tmpdir(), "galvo-web-"));

	async start() {
		this.browser = await chromium.launch({
			executablePath: process.env.CHROMIUM ?? CHROMIUM.find((one) => existsSync(one)),
			args: ["--no-sandbox", "--hide-scrollbars"],
		});
	}

	/* A made-up scene, or {document, blocks}, as one file in a window; complaints of the page fail the case. */
	async open(scene, { width = 1280, height = 800, theme = "light", hash = "", touch = false } = {}) {
		const file = path.join(this.folder, `page${++this.files}.html`);
		const made = typeof scene === "string" ? scenes[scene]() : scene;
		writeFileSync(file, format.htmlOf(made.document, made.blocks, dist));
		return this.openUrl(`${pathToFileURL(file).href}${hash}`, { width, height, theme, touch });
	}
	files = 0;

	/* A page that is a file, or is served. */
	async openUrl(url, { width = 1280, height = 800, theme = "light", touch = false } = {}) {
		const context = await this.browser.newContext({ viewport: { width, height }, colorScheme: theme, hasTouch: touch });
		await context.grantPermissions(["clipboard-read", "clipboard-write"]).catch(() => {});
		const page = await context.newPage();
		page.on("pageerror", (error) => this.complaints.push(String(error)));
		page.on("console", (message) => {
			/* That tests read pixels is no fault of the page. */
			if (/willReadFrequently/.test(message.text())) return;
			if (message.type() === "error" || message.type() === "warning") this.complaints.push(message.text());
		});
		page.on("dialog", (dialog) => {
			this.complaints.push(`a dialog: ${dialog.message()}`);
			void dialog.dismiss();
		});
		await page.goto(url, { waitUntil: "commit" });
		await page.waitForSelector("#panels .panel canvas", { state: "attached" });
		return page;
	}

	/* Asks until it is so: pages draw when they come to it. */
	async until(what, check, patience_ms = 20000) {
		const deadline = Date.now() + patience_ms;
		for (;;) {
			const answer = await check();
			if (answer) return answer;
			if (Date.now() > deadline) assert.fail(`not within ${patience_ms} ms: ${what}`);
			await new Promise((resolve) => setTimeout(resolve, 20));
		}
	}

	/* The curve's pixels of a panel's plot: how many are of other colours than grey. */
	inked(page, panel) {
		return page.evaluate((id) => {
			const canvas = document.querySelector(`[data-panel="${id}"] canvas`);
			const { width, height } = canvas;
			if (!width || !height) return 0;
			const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
			let count = 0;
			for (let i = 0; i < data.length; i += 4) {
				const spread = Math.max(data[i], data[i + 1], data[i + 2]) - Math.min(data[i], data[i + 1], data[i + 2]);
				if (data[i + 3] > 40 && spread > 40) count++;
			}
			return count;
		}, panel);
	}

	drawn(page, panel) {
		return this.until(`panel ${panel} is drawn`, () => this.inked(page, panel));
	}

	/* To look at: kept where GALVO_SHOTS says. */
	async shot(page, name, options = {}) {
		const folder = process.env.GALVO_SHOTS;
		if (!folder) return;
		mkdirSync(folder, { recursive: true });
		const part = path.join(folder, `.${name}.png`);
		await page.screenshot({ path: part, ...options });
		renameSync(part, path.join(folder, `${name}.png`));
	}

	async stop() {
		await this.browser?.close();
		rmSync(this.folder, { recursive: true, force: true });
	}
}

export async function run(name) {
	const { default: test } = await import(pathToFileURL(path.join(here, "cases", `${name}.mjs`)).href);
	const session = new Session();
	try {
		await session.start();
		await test(session);
		assert.deepEqual(session.complaints, []);
	} finally {
		await session.stop();
	}
}
