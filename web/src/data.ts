/* Documents as docs/page.md has them. */

export type Unit = string;
export type Shape = "lines" | "stack" | "heat";

export interface Document {
	format: 1;
	kind: "page" | "overview" | "detail" | "news";
	generator: string;
	title: string;
	live: boolean;
	sequence?: string;
	waiting?: string; /* what for, while there is no run yet */
	resolution: string;
	bytes?: 4 | 8;
	runs: Run[];
	blocks?: Record<string, string>;
}

export interface Run {
	label: string;
	host: string;
	start_wall_ns: string;
	zero_mono_ns: string;
	length_s: number;
	shift_s: number;
	head?: [string, string][];
	report?: string;
	notes?: [string, string][];
	processes?: Process[];
	regions?: Regions;
	marks?: Marks;
	bases: Base[];
	panels: Panel[];
}

export interface Process {
	id: string;
	pid: number;
	parent: number | null;
	depth: number;
	name: string;
	command: string;
	start_s: number;
	end_s: number | null;
	status: string;
	failed: boolean;
	cpu_s: number | null;
	rss_peak_bytes: number | null;
	read_bytes: number | null;
	written_bytes: number | null;
	sampled?: boolean; /* false: it has no values over time */
	io_sampled?: boolean; /* the same of what it read and wrote */
}

export interface Regions {
	names: string[];
	host_lanes: number;
	gpu_lanes: number;
	name: number[];
	start: number[];
	end: (number | null)[];
	lane: number[];
	gpu: number[];
	pid: number[];
	thread: number[];
	stream: number[];
	error: number[];
	unfinished: number[];
	id: string[];
}

export interface Marks {
	names: string[];
	name: number[];
	at: number[];
	gpu: number[];
	pid: number[];
}

export interface Piece {
	block: string;
	n: number;
	from: number;
	end: number;
	per: number;
}

export interface Base {
	id: string;
	pieces: Piece[];
}

export interface Series {
	key: string;
	label: string;
	metric: string;
	help: string;
	level: boolean;
	rest: boolean;
	process: string | null;
	base: string;
	pieces: (string | null)[];
	n?: number;
	mean?: number | null;
	min?: number | null;
	max?: number | null;
	integral?: number | null;
}

export interface Panel {
	id: string;
	title: string;
	group: string;
	unit: Unit;
	shape: Shape;
	clock: "host" | "gpu";
	floor: number | null;
	ceiling: number | null;
	peaks: [string, number][];
	series: Series[];
	total?: Series; /* of a stack: their sum */
}
