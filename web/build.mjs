/* Makes dist/page.js and dist/page.css of src: "node build.mjs [OUTDIR]". */
import { build } from "esbuild";

const outdir = process.argv[2] ?? "dist";
const common = { bundle: true, minify: !process.env.GALVO_PAGE_PLAIN, charset: "utf8", legalComments: "none", logLevel: "warning" };

await build({ ...common, entryPoints: ["src/main.ts"], outfile: `${outdir}/page.js`, format: "iife", target: "es2022" });
await build({ ...common, entryPoints: ["src/page.css"], outfile: `${outdir}/page.css` });
