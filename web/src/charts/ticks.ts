/* Where an axis has its lines, and what stands beside them. */
import { formatInstant, scaleOf, unitOf } from "../format.js";

export interface Tick {
	at: number;
	text: string;
}

function nice(rough: number): number {
	const power = 10 ** Math.floor(Math.log10(rough));
	const lead = rough / power;
	return (lead <= 1 ? 1 : lead <= 2 ? 2 : lead <= 5 ? 5 : 10) * power;
}

/* In powers of two below a prefix, so that 512 MiB is a line and 500 is none. */
function niceBinary(rough: number): number {
	return rough < 1 ? nice(rough) : 2 ** Math.ceil(Math.log2(rough));
}

/* A step between the lines of an axis of values of that unit, for about `count` lines. */
export function valueStep(span: number, count: number, unitName: string): number {
	const unit = unitOf(unitName);
	const rough = span / Math.max(1, count);
	return unit.binary && rough >= 1 ? niceBinary(rough) : nice(rough);
}

export function valueTicks(low: number, high: number, step: number, unitName: string): Tick[] {
	const unit = unitOf(unitName);
	const seconds = unitName === "ns" ? 1e-9 : 1;
	const magnitude = Math.max(Math.abs(low), Math.abs(high)) * seconds;
	const { factor, prefix } = scaleOf(magnitude, unit);
	const suffix = unit.suffix.replace(/\/s$/, unitName === "bytes_per_s" ? "/s" : "");
	const behind = prefix + suffix;
	const decimals = Math.min(6, Math.max(0, -Math.floor(Math.log10((step * seconds) / factor) + 1e-9)));
	const ret: Tick[] = [];
	for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++) {
		const number = ((i * step * seconds) / factor).toFixed(unit.binary ? Math.min(decimals, 2) : decimals);
		const text = i === 0 ? "0" : unit.binary ? String(Number(number)) : number;
		ret.push({ at: i * step, text: i === 0 || behind === "" ? text : `${text} ${behind}` });
	}
	return ret;
}

const STEPS_S = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400];

export function timeStep(span: number, count: number): number {
	const rough = span / Math.max(1, count);
	if (rough <= 0.5) return nice(rough);
	return STEPS_S.find((step) => step >= rough) ?? Math.ceil(rough / 86400) * 86400;
}

/* Of an axis whose instants are all below a second: ms, below a millisecond µs. */
export function instantText(t: number, step: number, most: number): string {
	const small = most < 1e-3 ? 1e6 : most < 1 ? 1e3 : 1;
	if (small === 1) return formatInstant(t, step);
	if (t === 0) return "0";
	const decimals = Math.min(6, Math.max(0, Math.ceil(-Math.log10(step * small) - 1e-9)));
	return `${(t * small).toFixed(decimals)} ${small === 1e3 ? "ms" : "µs"}`;
}

export function timeTicks(from: number, end: number, step: number): Tick[] {
	const ret: Tick[] = [];
	const most = Math.max(Math.abs(from), Math.abs(end));
	for (let i = Math.ceil(from / step - 1e-9); i * step <= end + step * 1e-9; i++)
		ret.push({ at: i * step, text: instantText(i * step, step, most) });
	return ret;
}

/* Where the text of a tick begins, right of its line or else as far right as there is room; null: there is none. */
export function labelPlace(line: number, wide: number, taken: number, right: number): number | null {
	const left = Math.min(line + 3, right - wide);
	return left < taken ? null : left;
}
