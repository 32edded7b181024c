/* What the made-up pages show. */
import { addBase, addMark, addRegion, Blocks, dice, documentOf, emptyRun, instants, panel, series } from "./format.mjs";

const hostile = '<img src=x onerror=alert(1)>"\'&\u202egnp';

function wave(points, low, high, period_s, random, noise = 0.1) {
	return points.ends.map((end) => {
		const t = end / 1e9;
		const x = 0.5 + 0.5 * Math.sin((2 * Math.PI * t) / period_s) + (random() - 0.5) * noise * 2;
		return low + (high - low) * Math.min(1, Math.max(0, x));
	});
}

/* Adds a panel whose series have the same instants; each of rows is [key, label, values, more]. */
function add(run, blocks, where, points, rows, options) {
	const all = rows.map(([key, label, values, more]) => ({ entry: series(key, label, more), values }));
	where.series.push(...all.map(({ entry }) => entry));
	if (!run.panels.includes(where)) run.panels.push(where);
	addBase(run, blocks, points, all, options);
}

function processes(run, length_s) {
	const names = ["make", "cc1", "cc1", "ld", hostile, "as", "python3", "sh"];
	names.forEach((name, i) => {
		run.processes.push({
			id: `${4711 + i}:${81233 + i}`, pid: 4711 + i, parent: i === 0 ? null : i < 4 ? 0 : 1, depth: i === 0 ? 0 : i < 4 ? 1 : 2, name,
			command: `${name} -O2 file${i}.c`, start_s: (length_s * i) / 20, end_s: i === 0 ? null : length_s * (0.5 + i / 20),
			status: i === 3 ? "SIGKILL" : i === 0 ? "running" : "exit 0", failed: i === 3, cpu_s: 1.2 * i, rss_peak_bytes: 1e8 * (i + 1),
			read_bytes: i === 2 ? null : 4e6 * i, written_bytes: 1e6 * i,
		});
	});
}

function machine(run, blocks, length_s, random) {
	const fast = instants(length_s, 100, random, [[length_s * 0.55, length_s * 0.6]]);
	const slow = instants(length_s, 10, random, [[length_s * 0.55, length_s * 0.6]]);
	const user = wave(fast, 5, 75, length_s / 3, random, 0.2);
	user[Math.floor(user.length * 0.3)] = 99;
	add(run, blocks, panel("cpu", "CPU", "Machine", "pct", { shape: "stack", ceiling: 100 }), fast, [
		["cpu/user", "user", user],
		["cpu/kernel", "kernel", user.map((u) => u * 0.1 + random() * 3)],
		["cpu/iowait", "iowait", fast.ends.map((t) => (Math.sin(t / 8e8) > 0.8 ? 8 : 0))],
		["cpu/steal", "steal", fast.ends.map(() => 0)],
	]);
	const cores = panel("cores", "Cores", "Machine", "pct", { shape: "heat", ceiling: 100 });
	add(run, blocks, cores, slow, Array.from({ length: 16 }, (_, i) => [`core/${i}`, `CPU ${i}`, wave(slow, 0, 100, length_s / (2 + (i % 5)), random)]));
	add(run, blocks, panel("memory", "Memory", "Machine", "bytes", { peaks: [["capacity", 34359738368]] }), fast, [
		["mem/used", "used", wave(fast, 2e9, 9e9, length_s, random, 0.01), { level: true }],
		["mem/cached", "cached", fast.ends.map((t) => 3e9 + (t / 1e9 / length_s) * 1e9), { level: true }],
	]);
	add(run, blocks, panel("pressure", "Tasks that waited", "Machine", "pct", { ceiling: null }), slow, [
		["psi/cpu", "some, for cpu", wave(slow, 0, 14, length_s / 7, random, 0.5)],
		["psi/io", "some, for io", slow.ends.map(() => Math.max(0, random() - 0.9) * 300)],
	]);
	return { fast, slow };
}

function jobs(run, blocks, length_s, random) {
	const cpu = panel("process-cpu", "CPU of processes", "Processes", "pct_of_core", { shape: "stack" });
	const memory = panel("process-memory", "Memory of processes", "Processes", "bytes", { shape: "stack" });
	const slow = { level: true };
	for (const one of run.processes) {
		const points = instants(one.end_s ?? length_s, 100, random, [], one.start_s);
		const more = { process: one.id };
		add(run, blocks, cpu, points, [[`process-cpu/${one.id}`, one.name, wave(points, 10, 95, length_s / 4, random, 0.3), more]]);
		add(run, blocks, memory, points, [[`process-memory/${one.id}`, one.name, points.ends.map((t) => 1e8 + (t % 3e9) / 30), { ...more, ...slow }]]);
	}
	const points = instants(length_s, 100, random);
	add(run, blocks, cpu, points, [["process-cpu/rest", "12 others", wave(points, 1, 9, 3, random), { rest: true }]]);
}

function devices(run, blocks, length_s, random) {
	const slow = instants(length_s, 10, random);
	add(run, blocks, panel("disk-vda", "vda", "Disks", "bytes_per_s"), slow, [
		["disk/read", "read", slow.ends.map(() => (random() > 0.7 ? random() * 2e9 : 0))],
		["disk/written", "written", wave(slow, 0, 4e8, 2, random)],
	]);
	add(run, blocks, panel("disk-empty", "a disk that says nothing", "Disks", "requests_per_s"), { starts: [], ends: [] }, [["disk/none", "requests", []]]);
	const gpu = instants(length_s, 1000, random);
	add(run, blocks, panel("gpu0-counters-pct", "Counters", "GPU 0", "pct", { clock: "gpu", ceiling: 100 }), gpu, [
		["gpu0/sm", "SM active", wave(gpu, 0, 100, 1.3, random, 0.4)],
		["gpu0/tensor", "tensor active", wave(gpu, 0, 60, 1.3, random, 0.6)],
		["gpu0/dram", "DRAM", wave(gpu, 20, 80, 0.7, random, 0.2)],
	]);
	add(run, blocks, panel("gpu0-power", "Power", "GPU 0", "watts", { peaks: [["power limit of GPU 0", 700]] }), slow, [["gpu0/power", "power", wave(slow, 90, 640, 1.3, random)]]);
	add(run, blocks, panel("gpu0-clock", "Clocks", "GPU 0", "hz"), slow, [["gpu0/clock", "SM clock", wave(slow, 1.2e9, 1.98e9, 3, random)]]);
	add(run, blocks, panel("gpu0-heat", "Temperature", "GPU 0", "celsius", { floor: null }), slow, [["gpu0/temp", "GPU", wave(slow, 41, 66, 9, random, 0.02)]]);
}

function said(run, length_s) {
	addRegion(run, "load", 0.2, length_s * 0.2, { error: 1e-6 });
	addRegion(run, "train", length_s * 0.22, length_s * 0.9);
	for (let i = 0; i < 40; i++) {
		const from = length_s * (0.22 + i * 0.017);
		addRegion(run, `step ${i % 4}`, from, from + length_s * 0.015, { lane: 1 });
		addRegion(run, i % 2 ? "backward pass of all layers" : hostile, from, from + length_s * 0.006, { lane: 2, thread: 4712 });
		addRegion(run, "kernel", from + 0.001, from + length_s * 0.01, { gpu: 1, stream: 7, error: 2e-5 });
	}
	addRegion(run, "checkpoint", length_s * 0.91, null);
	addMark(run, "checkpoint written", length_s * 0.5);
	addMark(run, hostile, length_s * 0.7, 1);
}

function small(label = "vm", length_s = 20, seed = 7) {
	const random = dice(seed);
	const run = emptyRun(label, length_s);
	const blocks = new Blocks();
	processes(run, length_s);
	machine(run, blocks, length_s, random);
	jobs(run, blocks, length_s, random);
	devices(run, blocks, length_s, random);
	said(run, length_s);
	return { document: documentOf([run]), blocks, run };
}

/* Two runs in one document, of different lengths. */
function compare() {
	const a = small("before");
	const b = small("after", 16, 99);
	const blocks = new Blocks();
	for (const one of [a, b]) {
		const prefix = one === a ? "a" : "b";
		const rename = (all, into) => Object.entries(all).forEach(([id, text]) => (into[prefix + id] = text));
		rename(one.blocks.first, blocks.first);
		rename(one.blocks.later, blocks.later);
		for (const base of one.run.bases) for (const piece of base.pieces) piece.block = prefix + piece.block;
		for (const { series: all } of one.run.panels) for (const s of all) s.pieces = s.pieces.map((id) => id && prefix + id);
	}
	b.run.shift_s = -0.5;
	return { document: documentOf([a.run, b.run]), blocks };
}

/* 1 h x 100 Hz x 30. */
function hour(length_s = 3600) {
	const random = dice(3);
	const run = emptyRun("vm", length_s);
	const blocks = new Blocks();
	for (let p = 0; p < 10; p++) {
		const points = instants(length_s, 100, random);
		const where = panel(`p${p}`, `Panel ${p}`, `Group ${p >> 2}`, p % 2 ? "bytes_per_s" : "pct", { shape: p % 3 === 1 ? "stack" : "lines" });
		add(run, blocks, where, points, [0, 1, 2].map((i) => [`s${p}/${i}`, `series ${i}`, wave(points, 0, p % 2 ? 2e9 : 60, 200 * (i + 1), random, 0.2).map((v) => Math.round(v * 16) / 16)]));
	}
	return { document: documentOf([run], { resolution: "all values are here" }), blocks };
}

/* Ten million points in one panel, one of them a spike. */
function ten() {
	const random = dice(5);
	const run = emptyRun("vm", 1000);
	const blocks = new Blocks();
	const where = panel("big", "Ten million points", "GPU 0", "pct", { ceiling: null, clock: "gpu" });
	const points = instants(1000, 2500, random);
	const rows = [0, 1, 2, 3].map((i) => [`big/${i}`, `metric ${i}`, wave(points, 10 + 10 * i, 20 + 10 * i, 100 + 30 * i, random, 0.3)]);
	rows[0][2][1234567] = 400;
	add(run, blocks, where, points, rows);
	return { document: documentOf([run]), blocks };
}

export const scenes = { small, compare, hour, ten };
