/* What tables and bars print besides plain values: sums over time, instants, time of day, shares. */
import { formatDuration, formatInstant, formatValue, integralUnit } from "../format.js";

export const NOTHING = "–";

/* Less than a thousandth of what stands beside it is 0. */
export function value(unit: string, x: number | null | undefined, beside = 0): string {
	return formatValue(x, unit, beside);
}

/* "Processes 101", "Processes 3 of 101" where a filter leaves fewer. */
export function counted(name: string, shown: number, all: number): string {
	if (all === 0) return name;
	const total = all.toLocaleString("en");
	return shown < all ? `${name} ${shown.toLocaleString("en")} of ${total}` : `${name} ${total}`;
}

export function bytes(x: number | null | undefined): string {
	return formatValue(x, "bytes");
}

export function duration(s: number | null | undefined): string {
	return s === null || s === undefined || !Number.isFinite(s) ? NOTHING : formatDuration(s);
}

/* A sum over seconds, in the unit that it then has: { bytes_per_s, 1e6 } is "977 KiB". */
export function integral(unit: string, x: number | null | undefined): string {
	const sum = integralUnit(unit);
	if (!sum || x === null || x === undefined || !Number.isFinite(x)) return NOTHING;
	return formatValue(x * sum.factor, sum.unit);
}

const SUMS: Record<string, string> = { ns: "s" };

/* The same as a bare number, and its unit; times are seconds. */
export function integralOf(unit: string, x: number): { value: number; unit: string } | null {
	const sum = integralUnit(unit);
	if (!sum) return null;
	const factor = sum.unit === "ns" ? sum.factor / 1e9 : sum.factor;
	return { value: x * factor, unit: SUMS[sum.unit] ?? sum.unit };
}

/* An instant of the axis, as fine as a picture of that span needs: "4.77 s", "12:03.5", "1:02:03". */
export function instant(t: number, span_s: number): string {
	return formatInstant(t, Math.max(span_s / 500, 1e-9));
}

/* The time of day at that instant, UTC; null where the recording does not say when it began. */
export function wallClock(
	start_wall_ns: string,
	t: number,
	span_s: number,
): { time: string; date: string } | null {
	if (!/^\d{1,19}$/.test(start_wall_ns) || !Number.isFinite(t)) return null;
	const ns = BigInt(start_wall_ns) + BigInt(Math.round(t * 1e9));
	const ms = Number(ns / 1000000n);
	if (start_wall_ns === "0" || ns <= 0n || ms > 8.64e15) return null;
	const iso = new Date(ms).toISOString();
	const decimals = Math.min(Math.max(Math.ceil(-Math.log10(Math.max(span_s / 500, 1e-9))), 0), 9);
	const part = String(ns % 1000000000n)
		.padStart(9, "0")
		.slice(0, decimals);
	return { time: iso.slice(11, 19) + (decimals ? `.${part}` : ""), date: iso.slice(0, 10) };
}

export function share(part: number | null, whole: number): string {
	if (part === null || !(whole > 0)) return NOTHING;
	return formatValue((100 * part) / whole, "pct");
}
