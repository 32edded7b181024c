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

export function timeTicks(from: number, end: number, step: number): Tick[] {
	const ret: Tick[] = [];
	for (let i = Math.ceil(from / step - 1e-9); i * step <= end; i++) ret.push({ at: i * step, text: formatInstant(i * step, step) });
	return ret;
}
