/* The pure pieces around the charts: links, finding, figures printed, rows of processes, names of regions. */
import path from "node:path";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { assert, web } from "../harness.mjs";

async function bundled(t) {
	const { build } = createRequire(path.join(web, "package.json"))("esbuild");
	const outfile = path.join(t.folder, "pieces.mjs");
	const pieces = [
		"hash",
		"match",
		"format",
		"dom",
		"processes",
		"walk",
		"figures",
		"head",
		"compare",
		"search",
		"live",
		"links",
	];
	const contents = pieces.map((name) => `export * as ${name} from "./${name}.js";`).join("\n");
	await build({
		stdin: { contents, resolveDir: path.join(web, "src/ui"), loader: "ts" },
		bundle: true,
		format: "esm",
		outfile,
		logLevel: "error",
	});
	return import(pathToFileURL(outfile).href);
}

function links({ parseHash, parseRange, printHash, printRange, EMPTY }) {
	assert.deepEqual(parseRange("12.3-18.0"), { from: 12.3, end: 18 });
	assert.deepEqual(parseRange("-1.5-18"), { from: -1.5, end: 18 });
	assert.deepEqual(parseRange("-3--1"), { from: -3, end: -1 });
	for (const bad of [
		"",
		"-",
		"1",
		"1-",
		"-1",
		"2-1",
		"1-1",
		"a-b",
		"1e3-2e3",
		"1-2-3",
		" 1-2",
		"NaN-1",
		"1-Infinity",
		"1".repeat(99) + "-2",
	])
		assert.equal(parseRange(bad), null, bad);

	const whole = {
		...EMPTY,
		range: { from: 1.25, end: 9 },
		selection: { from: 2, end: 3 },
		hidden: ["0/a,b&c=d#e", "0/\u202e"],
		hiddenPanels: ["cpu", "disk-vda"],
		process: "0/4711:81233",
		theme: "dark",
	};
	assert.deepEqual(parseHash(printHash(whole)), { link: whole, problems: [] });
	assert.equal(printHash(EMPTY), "");
	assert.deepEqual(parseHash("#"), { link: EMPTY, problems: [] });
	const { link, problems } = parseHash("#t=5-7&s=x&off=%ZZ&&p=&theme=pink&__proto__=1&hide=");
	assert.deepEqual(link, { ...EMPTY, range: { from: 5, end: 7 } });
	assert.deepEqual(problems, ["s=x", "off=%ZZ", "p=", "theme=pink", "__proto__=1"]);

	assert.equal(printRange({ from: 0, end: 3600 }), "0-3600");
	assert.equal(printRange({ from: 1.00000012, end: 1.00000034 }), "1.00000012-1.00000034");
	assert.equal(printRange({ from: -0.0001, end: 1000 }), "0-1000");
	for (const range of [
		{ from: 0.1, end: 0.3 },
		{ from: 1234.5678, end: 1234.5679 },
		{ from: 7, end: 7e6 },
	]) {
		const again = parseRange(printRange(range));
		assert.ok(Math.abs(again.from - range.from) < (range.end - range.from) / 500, printRange(range));
	}
}

function finding({ score, contains }) {
	const best = (query, ...texts) =>
		texts.map((text) => [score(query, text), text]).sort((a, b) => b[0] - a[0])[0][1];
	assert.equal(best("step", "misstep", "step 1", "step"), "step");
	assert.equal(best("step", "misstep", "a step", "step forward"), "step forward");
	assert.equal(best("pass", "compass", "backward pass"), "backward pass");
	assert.ok(score("GNP", "gnp") === 100 && score("gnp", "GNP.exe") > 0);
	assert.ok(score("bpass", "backward pass") > 0, "the letters of a name will do");
	assert.equal(score("bwp", "a big and very wide heap"), 0, "strewn letters will not");
	assert.equal(score("load gpu", "load"), 0, "every word has to fit");
	assert.equal(score("  ", "anything"), 0);
	assert.equal(score("(.*", "x"), 0);
	assert.ok(score("(.*", "a(.*)b") > 0);
	assert.ok(contains("o2 CC1", "4711", "cc1", "cc1 -O2") && !contains("cc1 ld", "cc1"));
}

function printing({ integral, integralOf, instant, wallClock, share, duration }) {
	assert.equal(integral("pct_of_core", 250), "2.50\u00a0s".replace("\u00a0", " "));
	assert.equal(integral("bytes_per_s", 1048576), "1.00 MiB");
	assert.equal(integral("watts", 7464), "7.46 kJ");
	assert.equal(integral("celsius", 5), "–");
	assert.equal(integral("__proto__", 5), "–");
	assert.deepEqual(integralOf("pct_of_core", 250), { value: 2.5, unit: "s" });
	assert.equal(duration(null), "–");
	assert.equal(share(1, 4), "25.0 %");
	assert.equal(share(1, 0), "–");
	assert.match(instant(3723.5, 50), /^1:02:03\.5/);
	assert.deepEqual(wallClock("1764500000000000000", 0.25, 50), { time: "10:53:20.2", date: "2025-11-30" });
	assert.deepEqual(wallClock("1764500000000000000", -0.000001, 0.0001), {
		time: "10:53:19.9999990",
		date: "2025-11-30",
	});
	for (const bad of ["0", "", "-5", "x", "99999999999999999999"])
		assert.equal(wallClock(bad, 0, 1), null, bad);
}

/* What a filter leaves is counted and marked; what is copied has as many digits as floats have. */
function filtered({ hits }, { counted }, { bare, coverage }, { sampleHint }) {
	const found = (text, filter) => hits(text, filter).map(({ from, end }) => text.slice(from, end));
	assert.deepEqual(found("cc1 -O2 cc1.c", "CC1"), ["cc1", "cc1"]);
	assert.deepEqual(found("make all", "all ak lm"), ["ak", "all"]);
	assert.deepEqual(found("make", "  "), []);
	assert.equal(counted("Processes", 101, 101), "Processes 101");
	assert.equal(counted("Processes", 3, 10100), "Processes 3 of 10,100");
	assert.equal(counted("Processes", 0, 0), "Processes");
	assert.equal(bare(2.3232868499999997), "2.32328685");
	assert.equal(bare(3e-22), "0");
	assert.equal(bare(null), "");
	const row = (covered_s) => ({ figures: { covered_s } });
	assert.equal(coverage(row(0.31), { from: 0, end: 2.4 }), "310 ms of 2.40 s");
	assert.equal(coverage(row(2.4), { from: 0, end: 2.4 }), "");
	assert.match(sampleHint({ sampled: false }), /too short-lived/);
	assert.equal(sampleHint({}), null, "nothing is said of what is not known");
}

function cut({ clipped }) {
	const full = { from: 0, end: 2.34 };
	assert.deepEqual(clipped({ from: 2, end: 2.5 }, full), { from: 2, end: 2.34 });
	assert.deepEqual(clipped({ from: -1, end: 1 }, full), { from: 0, end: 1 });
	assert.equal(clipped({ from: 3, end: 4 }, full), null);
}

function texts({ visible }, { outcome }, { difference, points }) {
	assert.equal(visible("a\u202eb\u0000c\u200bd\ud800e\u{1f600}"), "a⟨U+202E⟩b␀c⟨U+200B⟩d\ufffde\u{1f600}");
	assert.equal(outcome("exit status 0 after 5 s"), "good");
	assert.equal(outcome("exit status 10 after 5 s"), "bad");
	assert.equal(outcome("killed by SIGKILL after 5 s"), "bad");
	assert.equal(outcome("not known"), "unknown");
	const print = (x) => `${x} s`;
	assert.equal(difference(10, 15, print), "+5 s (+50.0 %)");
	assert.equal(difference(0, 5, print), "+5 s");
	assert.equal(difference(5, 5, print), "=");
	assert.equal(difference(null, 5, print), "–");
	const inPoints = (x) => points("pct", x);
	assert.equal(difference(86.55, 88.8, inPoints), "+2.25 pp (+2.6 %)", "points are no percents");
	assert.equal(difference(50, 50 + 1e-12, inPoints), "=");
}

function process(pid, parent, more = {}) {
	return {
		id: `${pid}:1`,
		pid,
		parent,
		depth: 0,
		name: `p${pid}`,
		command: "",
		start_s: pid,
		end_s: pid + 1,
		status: "exit 0",
		failed: false,
		cpu_s: null,
		rss_peak_bytes: null,
		read_bytes: null,
		written_bytes: null,
		...more,
	};
}

function rows({ processRows, ancestors }) {
	const run = {
		index: 0,
		shift_s: 0,
		length_s: 10,
		processes: [
			process(1, null),
			process(2, 0, { cpu_s: 5 }),
			process(3, 1),
			process(4, 0, { cpu_s: 9 }),
		],
	};
	const listing = { sort: null, down: false, filter: "", collapsed: new Set(), rangeSeconds: new Map() };
	const pids = (more) => processRows([run], { ...listing, ...more }).map((row) => row.process.pid);
	assert.deepEqual(pids({}), [1, 2, 3, 4]);
	assert.deepEqual(pids({ collapsed: new Set(["0/2:1"]) }), [1, 2, 4]);
	assert.deepEqual(pids({ filter: "p3" }), [1, 2, 3]);
	assert.deepEqual(pids({ sort: "cpu", down: true }), [4, 2, 1, 3]);
	assert.deepEqual(pids({ sort: "cpu" }), [2, 4, 1, 3]);
	assert.deepEqual(
		ancestors(run, 2).map(({ pid }) => pid),
		[2, 1],
	);
	/* Parents that make no sense make roots, and no circle. */
	const odd = {
		...run,
		processes: [process(1, 1), process(2, 0), process(3, 99), process(4, -2), process(5, 4)],
	};
	assert.deepEqual(
		processRows([odd], listing).map((row) => row.process.pid),
		[1, 2, 3, 4, 5],
	);
	assert.deepEqual(ancestors(odd, 4), []);
}

function names({ namesOf }) {
	const regions = {
		names: ["a", "b"],
		name: [0, 1, 0],
		start: [5, 1, 2],
		end: [6, null, 4],
		gpu: [0, 0, 0],
	};
	const run = {
		index: 0,
		shift_s: 0,
		length_s: 10,
		regions,
		marks: { names: ["m"], name: [0, 0], at: [9, 3], gpu: [0, 1] },
	};
	const [a, b, m] = namesOf([run]);
	assert.deepEqual([a.name, a.at, a.total_s, a.max_s, a.open], ["a", [2, 0], 3, 2, 0]);
	assert.deepEqual([b.name, b.total_s, b.open], ["b", 9, 1], "one that is open lasts to the end");
	assert.deepEqual([m.mark, m.at], [true, [1, 0]]);
	assert.deepEqual(namesOf([{ index: 0, shift_s: 0, length_s: 1 }]), []);
}

export default async function (t) {
	const pieces = await bundled(t);
	links(pieces.hash);
	finding(pieces.match);
	printing(pieces.format);
	texts(pieces.dom, pieces.head, pieces.compare);
	filtered(pieces.match, pieces.format, pieces.figures, pieces.processes);
	cut(pieces.links);
	rows(pieces.processes);
	names(pieces.walk);
	assert.deepEqual(pieces.live.followRange({ from: 0, end: 100 }, 60), { from: 40, end: 100 });
	assert.deepEqual(pieces.live.followRange({ from: 0, end: 30 }, 60), { from: 0, end: 30 });
	assert.deepEqual([0, 1, 2, 99].map(pieces.live.retryDelay), [1000, 2000, 4000, 10000]);
}
