/* A server that is gone, that does not let in, that has no place: the page says which, and a button tries again. */
import { assert } from "../harness.mjs";
import { Server } from "../server.mjs";

export default async function (t) {
	const server = new Server();
	await server.start();
	const { port } = server;
	const page = await t.openUrl(`http://127.0.0.1:${port}/`);
	const button = page.getByRole("button", { name: /ask the server once more/ });
	const state = (wanted) =>
		t.until(wanted, async () => (await page.locator(".live").getAttribute("data-state")) === wanted);
	await state("live");
	assert.ok(await button.isHidden());

	/* Gone: after some tries it says so, and comes back when it is asked to. */
	await server.stop();
	await state("reconnecting");
	await state("lost");
	assert.match(await page.locator(".live-state").textContent(), /server gone/);
	await t.drawn(page, "cpu");
	await t.shot(page, "lost");
	await server.start(port);
	await button.click();
	await state("live");
	assert.ok(await button.isHidden());

	/* Not let in: trying on would be of no use. */
	const hangUp = () => server.viewers.forEach((viewer) => viewer.destroy());
	server.refusal = 401;
	hangUp();
	await state("refused");
	assert.match(await page.locator(".live-state").getAttribute("title"), /open the address that galvo serve has printed/);
	await t.shot(page, "refused");
	server.refusal = 0;
	await button.click();
	await state("live");

	/* No place: it tries on, and has one at last. */
	server.full = true;
	hangUp();
	await state("full");
	assert.match(await page.locator(".live-state").textContent(), /too many viewers/);
	server.full = false;
	await state("live");

	/* Also where data are asked for anew. */
	server.refusal = 401;
	server.send("gap");
	await state("refused");
	server.refusal = 0;
	await button.click();
	await state("live");
	await server.stop();
	t.complaints = t.complaints.filter((text) => !/Failed to load resource|ERR_/.test(text));
}
