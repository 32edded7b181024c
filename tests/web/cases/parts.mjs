/* A file of which a part has come: a block that is cut in two is read when the rest of it is there. */
import { createServer } from "node:http";
import { assert, dist, format, scenes } from "../harness.mjs";

export default async function (t) {
	const made = scenes.hour(60);
	const html = format.htmlOf(made.document, made.blocks, dist);
	const [{ pieces, base }] = made.document.runs[0].panels[0].series;
	const id = pieces.at(-1);
	assert.ok(id in made.blocks.later, "it comes behind the script");
	const cut = html.indexOf(`id="${id}">`) + made.blocks.later[id].length / 2;
	let goOn;
	const server = createServer((_, answer) => {
		answer.writeHead(200, { "content-type": "text/html" }).write(html.slice(0, cut));
		goOn = () => answer.end(html.slice(cut));
	});
	await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
	try {
		const page = await t.openUrl(`http://127.0.0.1:${server.address().port}/`);
		await page.waitForFunction((id) => (document.getElementById(id)?.textContent.length ?? 0) > 100, id);
		await page.evaluate(() => {
			const { store, view } = window.galvo;
			window.loading = store.load(0, store.panels[0].series[0].series, view.full);
		});
		/* What was asked for has its turn, while the block is still cut. */
		await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 100)));
		goOn();
		const [figures, n] = await page.evaluate(async () => {
			await window.loading;
			const { store, view } = window.galvo;
			const { series } = store.panels[0].series[0];
			return [store.figures(0, series, view.full), series.n];
		});
		assert.equal(n, made.document.runs[0].bases.find((one) => one.id === base).pieces.at(-1).n);
		assert.ok(figures.exact, "all of its points are there");
		await page.context().close();
	} finally {
		server.closeAllConnections();
		server.close();
	}
}
