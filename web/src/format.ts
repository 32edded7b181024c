/* Numbers as people read them: values with their units, times. */

const BINARY = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
const DECIMAL = ["", "k", "M", "G", "T", "P", "E"];
const SMALL = ["", "m", "µ", "n", "p"];

export interface Unit {
	suffix: string; /* behind the prefix: "B/s" */
	binary: boolean;
	plain: boolean; /* never with a prefix: "%" */
	title: string; /* behind the title of a panel */
}

const UNITS: Record<string, Unit> = {
	count: { suffix: "", binary: false, plain: false, title: "" },
	bytes: { suffix: "B", binary: true, plain: false, title: "bytes" },
	bytes_per_s: { suffix: "B/s", binary: true, plain: false, title: "bytes per second" },
	pct: { suffix: "%", binary: false, plain: true, title: "%" },
	pct_of_core: { suffix: "%", binary: false, plain: true, title: "% of one CPU" },
	ratio: { suffix: "", binary: false, plain: true, title: "ratio" },
	hz: { suffix: "Hz", binary: false, plain: false, title: "Hz" },
	cycles: { suffix: "", binary: false, plain: false, title: "cycles" },
	requests: { suffix: "", binary: false, plain: false, title: "requests" },
	per_s: { suffix: "/s", binary: false, plain: false, title: "per second" },
	requests_per_s: { suffix: "/s", binary: false, plain: false, title: "requests per second" },
	ns: { suffix: "s", binary: false, plain: false, title: "time" },
	watts: { suffix: "W", binary: false, plain: false, title: "W" },
	joules: { suffix: "J", binary: false, plain: false, title: "J" },
	celsius: { suffix: "°C", binary: false, plain: true, title: "°C" },
	per_cycle: { suffix: "/cycle", binary: false, plain: true, title: "per cycle" },
	bytes_per_cycle: { suffix: "B/cycle", binary: true, plain: true, title: "bytes per cycle" },
	count_cycles: { suffix: "", binary: false, plain: false, title: "count × cycles" },
	other: { suffix: "", binary: false, plain: false, title: "" },
};

export function unitOf(name: string): Unit {
	return UNITS[name] ?? { suffix: "", binary: false, plain: false, title: name };
}

/* What is less is what sums and differences of floats leave: 0. In the unit itself. */
const DUST: Record<string, number> = { bytes: 5e-4, bytes_per_s: 5e-4, pct: 5e-4, pct_of_core: 5e-4, celsius: 5e-4, hz: 1e-6, cycles: 1e-6, ns: 1e-3 };
const FINEST = 1e-9;

/* The number in front of which prefix, and the factor that makes it: never four digits before a unit. */
export function scaleOf(magnitude: number, unit: Unit): { factor: number; prefix: string } {
	if (unit.plain || !(magnitude > 0)) return { factor: 1, prefix: "" };
	const base = unit.binary ? 1024 : 1000;
	const names = unit.binary ? BINARY : DECIMAL;
	let step = 0;
	let factor = 1;
	while (step < names.length - 1 && magnitude >= factor * 999.5) {
		factor *= base;
		step++;
	}
	if (step === 0 && !unit.binary && unit.suffix !== "" && unit.suffix !== "/s" && magnitude < 0.9995) {
		while (step < SMALL.length - 1 && magnitude < factor * 0.9995) {
			factor /= 1000;
			step++;
		}
		return { factor, prefix: SMALL[step] };
	}
	return { factor, prefix: names[step] };
}

/* Three digits that count. */
export function digits(value: number): string {
	const size = Math.abs(value);
	if (size === 0) return "0";
	if (size >= 99.95) return value.toFixed(0);
	if (size >= 9.995) return value.toFixed(1);
	if (size >= 0.01) return value.toFixed(2);
	return size >= 0.0001 ? value.toPrecision(2) : value.toExponential(0);
}

/* "1.21 GiB/s", "37.5 %"; "–" of what is not known; 0 of dust, and of less than a thousandth of `beside`. */
export function formatValue(value: number | null | undefined, unitName: string, beside = 0): string {
	if (value === null || value === undefined || !Number.isFinite(value)) return "–";
	const unit = unitOf(unitName);
	const dust = Math.max(DUST[unitName] ?? FINEST, Math.abs(beside) / 1000);
	const amount = Math.abs(value) < dust ? 0 : unitName === "ns" ? value / 1e9 : value;
	const { factor, prefix } = scaleOf(Math.abs(amount), unit);
	const text = digits(amount / factor);
	const behind = prefix + unit.suffix;
	return behind === "" ? text : `${text} ${behind}`;
}

/* What a sum over time of that unit is: bytes of bytes per second. Null: it has no name. */
export function integralUnit(unitName: string): { unit: string; factor: number } | null {
	switch (unitName) {
		case "bytes_per_s": return { unit: "bytes", factor: 1 };
		case "per_s": return { unit: "count", factor: 1 };
		case "requests_per_s": return { unit: "requests", factor: 1 };
		case "watts": return { unit: "joules", factor: 1 };
		case "hz": return { unit: "cycles", factor: 1 };
		case "pct_of_core": return { unit: "ns", factor: 1e7 }; /* CPU time */
		default: return null;
	}
}

/* A length of time: "1.20 s", "35.0 ms", "1 h 02 min". */
export function formatDuration(seconds: number): string {
	const size = Math.abs(seconds);
	if (size === 0) return "0 s";
	if (size < 0.9995e-6) return `${digits(seconds * 1e9)} ns`;
	if (size < 0.9995e-3) return `${digits(seconds * 1e6)} µs`;
	if (size < 0.9995) return `${digits(seconds * 1e3)} ms`;
	if (size < 60) return `${digits(seconds)} s`;
	const sign = seconds < 0 ? "-" : "";
	const whole = Math.round(size);
	if (whole < 3600) return `${sign}${Math.floor(whole / 60)} min ${String(whole % 60).padStart(2, "0")} s`;
	return `${sign}${Math.floor(whole / 3600)} h ${String(Math.floor(whole / 60) % 60).padStart(2, "0")} min`;
}

/* An instant, as exact as a step of that many seconds needs: "12.35 s", "1:02:03". */
export function formatInstant(t: number, step: number): string {
	const decimals = Math.min(9, Math.max(0, Math.ceil(-Math.log10(step) - 1e-9)));
	if (Math.abs(t) < 120 && step < 60) return `${t.toFixed(decimals)} s`;
	const sign = t < 0 ? "-" : "";
	const rounded = Number(Math.abs(t).toFixed(decimals));
	const hours = Math.floor(rounded / 3600);
	const minutes = Math.floor(rounded / 60) % 60;
	const seconds = (rounded - hours * 3600 - minutes * 60).toFixed(decimals);
	const padded = seconds.padStart(decimals > 0 ? decimals + 3 : 2, "0");
	if (hours > 0) return `${sign}${hours}:${String(minutes).padStart(2, "0")}:${padded}`;
	return `${sign}${minutes}:${padded}`;
}
