/* A page that is served: news, gaps, a server that goes and comes, the end, a new recording; following and not. */
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import path from "node:path";
import { assert, dist, format } from "../harness.mjs";

const HTML =
	'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><link rel="stylesheet" href="page.css"></head><body><script src="page.js"></script></body></html>';

/* One curve from 0 s to `to` s, or what came since `from`. */
function growing(kind, from, to, more = {}) {
	const run = format.emptyRun("vm", to);
	const blocks = new format.Blocks();
	const panel = format.panel("cpu", "CPU", "Machine", "pct", { ceiling: 100 });
	const entry = format.series("cpu/user", "user");
	panel.series.push(entry);
	run.panels.push(panel);
	const starts = Array.from({ length: (to - from) * 10 }, (_, i) => from * 1e9 + i * 1e8);
	format.addBase(run, blocks, { starts, ends: starts.map((t) => t + 1e8) }, [
		{ entry, values: starts.map((t) => 20 + ((t / 1e9) % 60)) },
	]);
	return format.overviewOf(format.documentOf([run], { live: true, ...more }), blocks, kind);
}

class Server {
	viewers = new Set();
	asked = [];
	to = 100;
	sequence = 1;

	async start(port = 0) {
		this.server = createServer((request, answer) => this.answer(request, answer));
		await new Promise((resolve) => this.server.listen(port, "127.0.0.1", resolve));
		this.port = this.server.address().port;
	}

	answer(request, answer) {
		const url = new URL(request.url, "http://x");
		const files = { "/page.js": "text/javascript", "/page.css": "text/css" };
		this.asked.push(request.url);
		if (url.pathname === "/") return answer.setHeader("content-type", "text/html").end(HTML);
		if (files[url.pathname])
			return answer
				.setHeader("content-type", files[url.pathname])
				.end(readFileSync(path.join(dist, url.pathname)));
		if (url.pathname === "/data")
			return answer.end(
				JSON.stringify({
					...growing("overview", 0, this.to),
					...this.data,
					sequence: String(this.sequence),
				}),
			);
		if (url.pathname !== "/news") return answer.writeHead(404).end();
		answer.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
		answer.write(": hello\n\n");
		this.viewers.add(answer);
		return answer.on("close", () => this.viewers.delete(answer));
	}

	send(event, data = {}) {
		for (const viewer of this.viewers)
			viewer.write(`id: ${this.sequence}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
	}

	news(to) {
		const document = { ...growing("news", this.to, to), kind: "news", sequence: String(++this.sequence) };
		this.to = to;
		this.send("news", document);
	}

	stop() {
		for (const viewer of this.viewers) viewer.destroy();
		this.server.closeAllConnections();
		return new Promise((resolve) => this.server.close(resolve));
	}
}

export default async function (t) {
	const server = new Server();
	await server.start();
	const url = `http://127.0.0.1:${server.port}/`;
	const page = await t.openUrl(url);
	const seconds = (text) =>
		text
			.replace(/\s?s$/, "")
			.split(":")
			.reduce((sum, part) => sum * 60 + Number(part), 0);
	const becomes = (from, end) =>
		t.until(`${from} to ${end} s`, async () => {
			const text = (await page.locator(".range-text").textContent()).replace(/\u00a0/g, " ");
			const [, a, b] = / · ([\d:. s]+) – ([\d:. s]+)$/.exec(text) ?? [];
			if (a) return Math.abs(seconds(a) - from) < 0.2 && Math.abs(seconds(b) - end) < 0.2;
			return (
				from === 0 &&
				text ===
					`${end < 60 ? `${end.toFixed(1)} s` : `${Math.floor(end / 60)} min ${end % 60} s`} · all of it`
			);
		});
	const state = (wanted) =>
		t.until(wanted, async () => (await page.locator(".live").getAttribute("data-state")) === wanted);

	await state("live");
	await becomes(40, 100);
	server.news(130);
	await becomes(70, 130);
	await t.shot(page, "live");

	/* Who pans looks at what is there; a button goes on. */
	await page.locator(".range-text").click();
	await page.keyboard.press("ArrowLeft");
	await becomes(58, 118);
	assert.equal(await page.locator(".live-state").textContent(), "paused");
	server.news(140);
	await becomes(58, 118);
	await page.getByRole("button", { name: /follow the recording again/ }).click();
	await becomes(80, 140);
	await page.getByRole("button", { name: /follow all of it/ }).click();
	await becomes(0, 140);

	/* What was missed is asked for. */
	server.to = 160;
	const before = server.asked.filter((one) => one === "/data").length;
	server.send("gap");
	await t.until("asked again", () => server.asked.filter((one) => one === "/data").length > before);
	await becomes(0, 160);

	/* The server goes, and comes back with more. */
	const { port } = server;
	await server.stop();
	await state("reconnecting");
	await server.start(port);
	await t.until("it is back", () => server.viewers.size === 1, 12000);
	await state("live");
	server.news(170);
	await becomes(0, 170);

	/* Another recording. */
	server.to = 30;
	server.send("restart");
	await becomes(0, 30);
	await state("live");
	server.send("end");
	await state("ended");
	assert.ok(await page.getByRole("button", { name: /follow the recording again/ }).isHidden());
	t.complaints = t.complaints.filter((text) => !/Failed to load resource|ERR_/.test(text));
	await server.stop();
}
