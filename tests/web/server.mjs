/* A server as galvo serve is one, of one curve: what it tells, and whether it answers, is the test's. */
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import path from "node:path";
import { dist, format } from "./harness.mjs";

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
	return { ...format.overviewOf(format.documentOf([run], { live: true, ...more }), blocks), kind };
}

export class Server {
	viewers = new Set();
	asked = [];
	to = 100;
	sequence = 1;
	zero = "812300000000";
	live = true;
	refusal = 0; /* the status of all answers */
	full = false;

	async start(port = 0) {
		this.server = createServer((request, answer) => this.answer(request, answer));
		await new Promise((resolve) => this.server.listen(port, "127.0.0.1", resolve));
		this.port = this.server.address().port;
	}

	answer(request, answer) {
		const url = new URL(request.url, "http://x");
		const files = { "/page.js": "text/javascript", "/page.css": "text/css" };
		this.asked.push(request.url);
		if (this.refusal) return answer.writeHead(this.refusal).end();
		if (url.pathname === "/") return answer.setHeader("content-type", "text/html").end(HTML);
		if (files[url.pathname])
			return answer
				.setHeader("content-type", files[url.pathname])
				.end(readFileSync(path.join(dist, url.pathname)));
		if (url.pathname === "/data")
			return answer.end(
				JSON.stringify({
					...this.document("overview", 0, this.to),
					sequence: String(this.sequence),
				}),
			);
		if (url.pathname !== "/news") return answer.writeHead(404).end();
		if (this.full) return answer.writeHead(503).end();
		answer.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
		answer.write(": hello\n\n");
		this.viewers.add(answer);
		return answer.on("close", () => this.viewers.delete(answer));
	}

	document(kind, from, to) {
		const document = growing(kind, from, to, { live: this.live });
		document.runs[0].zero_mono_ns = this.zero;
		return document;
	}

	count(path) {
		return this.asked.filter((one) => one.startsWith(path)).length;
	}

	send(event, data = {}) {
		for (const viewer of this.viewers)
			viewer.write(`id: ${this.sequence}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
	}

	news(to) {
		const document = { ...this.document("news", this.to, to), sequence: String(++this.sequence) };
		this.to = to;
		this.send("news", document);
	}

	stop() {
		for (const viewer of this.viewers) viewer.destroy();
		this.server.closeAllConnections();
		return new Promise((resolve) => this.server.close(resolve));
	}
}
