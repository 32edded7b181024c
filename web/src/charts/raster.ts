/*
 * Pixels of dense curves, set one by one: a canvas takes several times as long for as many rectangles, and for
 * lines that have a corner in each column. Edges are smooth upwards and downwards.
 */

const REACH = 0.65; /* half of a line's width, pixels of a plain screen */

export class Raster {
	private readonly canvas = document.createElement("canvas");
	private image = new ImageData(1, 1);
	private pixels = new Uint32Array(this.image.data.buffer);
	private touched = false;
	width = 0;
	height = 0;

	/* All clear. */
	begin(width: number, height: number): void {
		const wide = Math.max(1, Math.ceil(width));
		const high = Math.max(1, Math.ceil(height));
		if (wide === this.width && high === this.height) {
			if (this.touched) this.pixels.fill(0);
		} else {
			this.width = this.canvas.width = wide;
			this.height = this.canvas.height = high;
			this.image = new ImageData(wide, high);
			this.pixels = new Uint32Array(this.image.data.buffer);
		}
		this.touched = false;
	}

	/* Onto the canvas of the plot. */
	end(context: CanvasRenderingContext2D): void {
		if (!this.touched) return;
		this.canvas.getContext("2d")!.putImageData(this.image, 0, 0);
		context.drawImage(this.canvas, 0, 0);
	}

	/* In one column; top and bottom may be within a pixel, and then it is as much of it. */
	span(column: number, top: number, bottom: number, rgb: number, alpha: number): void {
		if (column < 0 || column >= this.width) return;
		const from = Math.max(0, top);
		const to = Math.min(this.height, bottom);
		if (!(to > from)) return;
		this.touched = true;
		const first = Math.floor(from);
		const last = Math.min(this.height - 1, Math.floor(to));
		if (first === last) return this.blend(column, first, rgb, alpha * (to - from));
		this.blend(column, first, rgb, alpha * (first + 1 - from));
		const { pixels, width } = this;
		const stop = last * width + column;
		if (alpha >= 1) {
			const solid = (0xff000000 | swapped(rgb)) >>> 0;
			for (let at = (first + 1) * width + column; at < stop; at += width) pixels[at] = solid;
		} else {
			const fresh = ((Math.round(alpha * 255) << 24) | swapped(rgb)) >>> 0;
			for (let at = (first + 1) * width + column; at < stop; at += width) pixels[at] = pixels[at] === 0 ? fresh : over(pixels[at], rgb, alpha);
		}
		this.blend(column, last, rgb, alpha * (to - last));
	}

	/* A line through the middles of neighbouring columns, from the height before to this one. */
	line(column: number, before: number, y: number, rgb: number, alpha: number, ratio: number): void {
		const half = REACH * ratio;
		const middle = (before + y) / 2;
		this.span(column, Math.min(middle, y) - half, Math.max(middle, y) + half, rgb, alpha);
		if (Math.abs(before - y) > 2 * half) this.span(column - 1, Math.min(middle, before) - half, Math.max(middle, before) + half, rgb, alpha);
	}

	private blend(column: number, row: number, rgb: number, alpha: number): void {
		if (alpha < 0.004) return;
		const at = row * this.width + column;
		this.pixels[at] = over(this.pixels[at], rgb, Math.min(1, alpha));
	}
}

export function rgbOf(colour: string): number {
	return parseInt(colour.slice(1), 16);
}

/* As pixels have it: red in the lowest byte. */
function swapped(rgb: number): number {
	return ((rgb & 255) << 16) | (rgb & 0xff00) | (rgb >> 16);
}

/* That colour on what is there. */
function over(pixel: number, rgb: number, alpha: number): number {
	const before = (pixel >>> 24) / 255;
	if (before === 0) return ((Math.round(alpha * 255) << 24) | swapped(rgb)) >>> 0;
	const after = alpha + before * (1 - alpha);
	const share = alpha / after;
	const red = pixel & 255;
	const green = (pixel >> 8) & 255;
	const blue = (pixel >> 16) & 255;
	return ((Math.round(after * 255) << 24)
		| (((blue + ((rgb & 255) - blue) * share + 0.5) | 0) << 16)
		| (((green + (((rgb >> 8) & 255) - green) * share + 0.5) | 0) << 8)
		| ((red + ((rgb >> 16) - red) * share + 0.5) | 0)) >>> 0;
}
