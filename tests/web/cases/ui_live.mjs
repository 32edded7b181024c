/* A page that is served: news, gaps, a server that goes and comes, the end, a new recording; following and not. */
import { assert } from "../harness.mjs";
import { Server } from "../server.mjs";

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
