/* What the pointer does on a plot: crosshair, selecting, zooming, moving, pinching. */
import type { Range } from "../state.js";
import type { Stage } from "./stage.js";

const CLICK = 4; /* pixels: who moves less has not dragged */

let space = false;
let inside = 0;

/* Held down, it makes dragging move the range; it must not scroll the page then. */
export function watchSpace(): void {
	addEventListener("keydown", (event) => {
		if (event.code !== "Space" || inside === 0 || event.target !== document.body) return;
		space = true;
		event.preventDefault();
	});
	addEventListener("keyup", (event) => {
		if (event.code === "Space") space = false;
	});
	addEventListener("blur", () => (space = false));
}

export function zoomAt(stage: Stage, t: number, factor: number): void {
	const { range } = stage.view;
	stage.view.setRange({ from: t - (t - range.from) * factor, end: t + (range.end - t) * factor });
}

export function panBy(stage: Stage, seconds: number): void {
	const { range, full } = stage.view;
	const by = Math.min(Math.max(seconds, full.from - range.from), full.end - range.end);
	if (by !== 0) stage.view.setRange({ from: range.from + by, end: range.end + by });
}

export interface Pointer {
	click?(t: number, y: number): boolean; /* true: it meant something */
	hover?(t: number | null, y: number, event: PointerEvent | null): void;
	wheelZooms?: boolean; /* also without a key: what is not scrolled over on the way down */
}

export function attach(stage: Stage, area: HTMLElement, more: Pointer = {}): void {
	const { view } = stage;
	const touches = new Map<number, number>();
	let cleared: { at: number; selection: Range | null } | null = null; /* the first click of two has taken it away */
	let drag: { kind: "select" | "move"; x: number; t: number; range: Range; moved: boolean } | null = null;

	const timeAt = (x: number): number => {
		const box = area.getBoundingClientRect();
		return view.range.from + ((x - box.left) / box.width) * (view.range.end - view.range.from);
	};
	const inFull = (t: number): number => Math.min(Math.max(t, view.full.from), view.full.end);
	const perPixel = (): number => (view.range.end - view.range.from) / area.getBoundingClientRect().width;

	const pinch = (event: PointerEvent): void => {
		const before = [...touches.values()];
		const x = touches.get(event.pointerId)!;
		const other = [...touches].find(([id]) => id !== event.pointerId)?.[1];
		touches.set(event.pointerId, event.clientX);
		if (other === undefined || before.length !== 2) return;
		const was = Math.max(10, Math.abs(x - other));
		const is = Math.max(10, Math.abs(event.clientX - other));
		zoomAt(stage, timeAt(other), was / is);
	};

	area.addEventListener("pointerenter", () => inside++);
	area.addEventListener("pointerleave", () => {
		inside = Math.max(0, inside - 1);
		if (!drag) view.setCursor(null);
		more.hover?.(null, 0, null);
	});
	area.addEventListener("pointerdown", (event) => {
		if (event.pointerType === "touch") {
			touches.set(event.pointerId, event.clientX);
			if (touches.size > 1) drag = null;
		}
		if (event.button > 1 || touches.size > 1) return;
		if (event.button === 1) event.preventDefault();
		area.setPointerCapture(event.pointerId);
		const moves = event.button === 1 || space || event.pointerType === "touch";
		drag = { kind: moves ? "move" : "select", x: event.clientX, t: timeAt(event.clientX), range: view.range, moved: false };
	});
	area.addEventListener("pointermove", (event) => {
		if (touches.size > 1) return pinch(event);
		const t = timeAt(event.clientX);
		view.setCursor(inFull(t));
		if (!drag) return more.hover?.(t, event.clientY - area.getBoundingClientRect().top, event);
		if (!drag.moved && Math.abs(event.clientX - drag.x) < CLICK) return;
		drag.moved = true;
		if (drag.kind === "select") {
			const [a, b] = [inFull(drag.t), inFull(t)];
			view.setSelection({ from: Math.min(a, b), end: Math.max(a, b) });
		} else {
			view.setFollow(false);
			panBy(stage, drag.range.from - (event.clientX - drag.x) * perPixel() - view.range.from);
		}
	});
	const up = (event: PointerEvent): void => {
		touches.delete(event.pointerId);
		const was = drag;
		drag = null;
		if (!was || was.moved || event.type === "pointercancel" || event.button !== 0) return;
		const y = event.clientY - area.getBoundingClientRect().top;
		if (!more.click?.(timeAt(event.clientX), y) && event.pointerType !== "touch") {
			if (!cleared || event.timeStamp - cleared.at > 500) cleared = { at: event.timeStamp, selection: view.selection };
			view.setSelection(null);
		}
	};
	area.addEventListener("pointerup", up);
	area.addEventListener("pointercancel", up);
	area.addEventListener("auxclick", (event) => event.preventDefault());
	area.addEventListener("dblclick", (event) => {
		const t = timeAt(event.clientX);
		const selection = view.selection ?? cleared?.selection;
		cleared = null;
		view.setRange(selection && t >= selection.from && t <= selection.end ? selection : view.full);
	});
	area.addEventListener("wheel", (event) => {
		const lines = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 400 : 1;
		const across = event.shiftKey && event.deltaX === 0 ? event.deltaY : event.deltaX;
		if (event.ctrlKey || event.metaKey || event.altKey || (more.wheelZooms && !event.shiftKey && Math.abs(event.deltaY) > Math.abs(event.deltaX))) {
			event.preventDefault();
			zoomAt(stage, timeAt(event.clientX), Math.exp(Math.min(Math.max(event.deltaY * lines, -240), 240) * 0.0022));
		} else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
			event.preventDefault();
			view.setFollow(false);
			panBy(stage, across * lines * perPixel());
		}
	}, { passive: false });
}
