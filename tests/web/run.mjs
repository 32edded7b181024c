/* Runs one browser test: "node run.mjs NAME"; skips say why and exit with 77. */
import { run } from "./harness.mjs";

const name = process.argv[2];
try {
	await run(name);
	console.log(`ok ${name}`);
} catch (error) {
	console.error(error);
	process.exit(1);
}
