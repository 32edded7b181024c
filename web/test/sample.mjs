/*
 * Makes pages of made-up data: "node test/sample.mjs KIND OUT.html".
 * KIND: small, hour (1 h x 100 Hz x 30), ten (ten million points in one panel), compare.
 */
import { writeFileSync } from "node:fs";
import { htmlOf } from "./format.mjs";
import { scenes } from "./scenes.mjs";

const [kind, out] = process.argv.slice(2);
if (!scenes[kind] || !out) {
	console.error(`usage: node sample.mjs ${Object.keys(scenes).join("|")} OUT.html`);
	process.exit(2);
}
const { document, blocks } = scenes[kind]();
writeFileSync(out, htmlOf(document, blocks));
