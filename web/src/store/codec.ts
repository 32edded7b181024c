/* Blocks of a document, as docs/page.md has them, made numbers again. */

/* The instants of a piece, seconds since zero. */
export interface Times {
	n: number;
	from: number;
	ends: Float64Array;
	starts: Float64Array | null; /* null: each starts where the one before it ends */
}

type FromBase64 = { fromBase64?: (text: string) => Uint8Array };

export function bytesOf(base64: string): Uint8Array {
	const native = (Uint8Array as unknown as FromBase64).fromBase64;
	if (native) return native.call(Uint8Array, base64);
	const text = atob(base64);
	const bytes = new Uint8Array(text.length);
	for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
	return bytes;
}

/* Reads by hand: Response.arrayBuffer() of a stream takes several times as long. */
export async function inflate(bytes: Uint8Array): Promise<Uint8Array> {
	const stream = new DecompressionStream("deflate-raw");
	const writer = stream.writable.getWriter();
	const written = Promise.all([writer.write(bytes as Uint8Array<ArrayBuffer>), writer.close()]);
	/* Of broken bytes the reader tells, too; nobody waits for this one then. */
	written.catch(() => {});
	const reader = stream.readable.getReader();
	const chunks: Uint8Array[] = [];
	let length = 0;
	for (;;) {
		const { done, value } = await reader.read();
		if (done) break;
		chunks.push(value);
		length += value.length;
	}
	await written;
	if (chunks.length === 1) return chunks[0];
	const whole = new Uint8Array(length);
	let at = 0;
	for (const chunk of chunks) {
		whole.set(chunk, at);
		at += chunk.length;
	}
	return whole;
}

class Varints {
	private at = 0;
	constructor(private readonly bytes: Uint8Array) {}

	/* Zigzag. Exact up to 2^53: ns of a hundred days. */
	next(): number {
		const { bytes } = this;
		let byte = bytes[this.at++];
		let value = byte & 0x7f;
		if (byte > 0x7f) {
			let factor = 128;
			do {
				if (this.at >= bytes.length) throw new Error("a block ends within a number");
				byte = bytes[this.at++];
				value += (byte & 0x7f) * factor;
				factor *= 128;
			} while (byte > 0x7f);
		}
		return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
	}
}

export function timesOf(bytes: Uint8Array, n: number): Times {
	const varints = new Varints(bytes);
	const ends = new Float64Array(n);
	let end_ns = 0;
	let step_ns = 0;
	for (let i = 0; i < n; i++) {
		step_ns += varints.next();
		end_ns += step_ns;
		ends[i] = end_ns;
	}
	let starts: Float64Array | null = null;
	let from_ns = 0;
	for (let i = 0; i < n; i++) {
		const before_ns = i === 0 ? 0 : ends[i - 1];
		const gap_ns = varints.next();
		if (i === 0) from_ns = gap_ns;
		else if (gap_ns !== 0 && !starts) {
			starts = new Float64Array(n);
			starts[0] = from_ns;
			for (let j = 1; j < i; j++) starts[j] = ends[j - 1];
		}
		if (starts) starts[i] = before_ns + gap_ns;
	}
	for (let i = 0; i < n; i++) ends[i] /= 1e9;
	if (starts) for (let i = 0; i < n; i++) starts[i] /= 1e9;
	return { n, from: from_ns / 1e9, ends, starts };
}

export type Values = Float32Array | Float64Array;

/* From n bytes of each place, the number's own order. */
export function valuesOf(bytes: Uint8Array, first: number, n: number, width: 4 | 8): Values {
	const plain = new Uint8Array(n * width);
	if (first + n * width > bytes.length) throw new Error("a block is shorter than its values");
	for (let place = 0; place < width; place++) {
		let from = first + place * n;
		for (let to = place; to < plain.length; to += width) plain[to] = bytes[from++];
	}
	return width === 4 ? new Float32Array(plain.buffer) : new Float64Array(plain.buffer);
}
