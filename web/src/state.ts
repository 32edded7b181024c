/* What is looked at: everything on the page draws this, and changes it here alone. */

export interface Range {
	from: number; /* seconds on the shared axis */
	end: number;
}

export type Theme = "auto" | "light" | "dark";
export type Change =
	| "data"
	| "range"
	| "selection"
	| "cursor"
	| "hidden"
	| "theme"
	| "follow"
	| "panels"
	| "process"
	| "print";

export class View {
	full: Range = { from: 0, end: 1 };
	range: Range = { from: 0, end: 1 };
	selection: Range | null = null;
	cursor: number | null = null;
	readonly hidden = new Set<string>(); /* of series: seriesId(run, key) */
	theme: Theme = "auto";
	follow = false; /* of a live page: the range moves on with the recording */
	readonly hiddenPanels = new Set<string>(); /* by the panel's id */
	process: string | null = null; /* processId(run, id): its curves are lit, the others dim */
	printing = false; /* all panels are to be drawn, for paper: light */

	private readonly listeners = new Map<Change, (() => void)[]>();
	private readonly told = new Set<Change>();

	on(change: Change, listener: () => void): void {
		const all = this.listeners.get(change) ?? [];
		all.push(listener);
		this.listeners.set(change, all);
	}

	/* Listeners are called once a frame at most, whatever happened in it. */
	tell(change: Change): void {
		if (this.told.size === 0)
			requestAnimationFrame(() => {
				const told = [...this.told];
				this.told.clear();
				for (const change of told) for (const listener of this.listeners.get(change) ?? []) listener();
			});
		this.told.add(change);
	}

	setRange(range: Range): void {
		const shortest = Math.max((this.full.end - this.full.from) * 1e-9, 1e-6);
		const length = Math.min(Math.max(range.end - range.from, shortest), this.full.end - this.full.from);
		const from = Math.min(Math.max(range.from, this.full.from), this.full.end - length);
		if (from === this.range.from && from + length === this.range.end) return;
		this.range = { from, end: from + length };
		this.tell("range");
	}

	setSelection(selection: Range | null): void {
		this.selection = selection && selection.end > selection.from ? selection : null;
		this.tell("selection");
	}

	setCursor(at: number | null): void {
		if (at === this.cursor) return;
		this.cursor = at;
		this.tell("cursor");
	}

	toggle(id: string): void {
		if (!this.hidden.delete(id)) this.hidden.add(id);
		this.tell("hidden");
	}

	togglePanel(id: string): void {
		if (!this.hiddenPanels.delete(id)) this.hiddenPanels.add(id);
		this.tell("panels");
	}

	setProcess(id: string | null): void {
		if (id === this.process) return;
		this.process = id;
		this.tell("process");
	}

	/* At once, and not with the next frame: the browser waits for it with its paper. */
	setPrinting(printing: boolean): void {
		if (printing === this.printing) return;
		this.printing = printing;
		for (const listener of this.listeners.get("print") ?? []) listener();
	}

	setTheme(theme: Theme): void {
		this.theme = theme;
		this.tell("theme");
	}

	setFollow(follow: boolean): void {
		if (follow === this.follow) return;
		this.follow = follow;
		this.tell("follow");
	}
}

export function seriesId(run: number, key: string): string {
	return `${run}/${key}`;
}

export function processId(run: number, id: string): string {
	return `${run}/${id}`;
}
