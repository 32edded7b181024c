/* A page of a recording that goes on: news of it, how the server is, following. */
import type { Document } from "../data.js";
import type { Range } from "../state.js";
import type { Ui } from "./context.js";
import { button, el, visible } from "./dom.js";
import { duration } from "./format.js";

export type LiveState = "live" | "waiting" | "reconnecting" | "ended" | "restarted" | "lost";

const WORDS: Record<LiveState, [string, string]> = {
	live: ["live", "the recording goes on, and this page with it"],
	waiting: ["waiting for the recording", "the server is there, the recording has not begun"],
	reconnecting: ["reconnecting", "the server does not answer; this page tries on"],
	ended: ["ended", "the recording is over; this is all of it"],
	restarted: ["restarted", "a new recording began; it is being loaded"],
	lost: ["server gone", "the server is not there any more; what is shown stays"],
};
const FOLLOW_S = 60;
const RENEW_MS = 30_000; /* what news do not tell: the report, and what processes used in all */
const RETRY_MS = 1000;
const RETRY_MOST_MS = 10000;

/* Retries wait longer and longer. Pure. */
export function retryDelay(tries: number): number {
	return Math.min(RETRY_MS * 2 ** Math.min(tries, 10), RETRY_MOST_MS);
}

/* The range of a page that follows: its last seconds, all of it while it is shorter. Pure. */
export function followRange(full: Range, window_s: number): Range {
	return { from: Math.max(full.from, full.end - window_s), end: full.end };
}

export class Live {
	readonly element = el("div", { class: "live", role: "status" });
	private readonly sign = el("span", { class: "live-state" });
	private readonly followButton: HTMLButtonElement;
	private readonly allButton: HTMLButtonElement;
	private source: EventSource | null = null;
	private state: LiveState = "waiting";
	private sequence: string;
	private tries = 0;
	private window_s = FOLLOW_S;
	private loading = false;

	constructor(private readonly ui: Ui) {
		const { document } = ui.store;
		this.sequence = document.sequence ?? "0";
		if (document.waiting) this.element.append(el("span", { class: "dim" }, visible(document.waiting)));
		this.followButton = button("Go live", "follow the recording again (f)", () => this.toggleFollow(), {
			class: "button follow-button",
		});
		this.allButton = button("", "follow all of it, or its last minute", () => this.toggleWindow(), {
			class: "button window-button",
		});
		this.element.append(this.sign, this.followButton, this.allButton);
		ui.view.on("follow", () => {
			this.follow();
			this.draw();
		});
		/* Behind the listeners that were there before: they have set how long it is by now. */
		ui.view.on("data", () => this.follow());
		addEventListener("pagehide", () => this.source?.close());
		ui.view.setFollow(!/[#&][ts]=/.test(location.hash));
		ui.followAll = () => this.followAll();
		this.connect();
		this.follow();
		setInterval(() => {
			if (this.state === "live" && !window.document.hidden) void this.anew();
		}, RENEW_MS);
	}

	toggleFollow(): void {
		const { view } = this.ui;
		if (this.state === "ended") this.ui.say("the recording is over");
		else view.setFollow(!view.follow);
	}

	private toggleWindow(): void {
		if (this.window_s === FOLLOW_S) {
			this.followAll();
			return;
		}
		this.window_s = FOLLOW_S;
		this.follow();
		this.draw();
	}

	private followAll(): void {
		const { view } = this.ui;
		this.window_s = Infinity;
		if (this.state === "ended" || this.state === "lost") view.setRange(view.full);
		else view.setFollow(true);
		this.follow();
		this.draw();
	}

	private follow(): void {
		const { view } = this.ui;
		if (view.follow) view.setRange(followRange(view.full, this.window_s));
	}

	private setState(state: LiveState): void {
		this.state = state;
		if (state === "ended") this.ui.view.setFollow(false);
		this.draw();
	}

	private draw(): void {
		const [word, help] = WORDS[this.state];
		const { follow } = this.ui.view;
		const isOver = this.state === "ended" || this.state === "lost";
		this.element.dataset["state"] = this.state;
		this.sign.textContent = this.state === "live" && !follow ? "paused" : word;
		this.sign.title =
			this.state === "live" && !follow ? "the recording goes on; the range stays where it is" : help;
		this.element.classList.toggle("live-paused", this.state === "live" && !follow);
		this.followButton.hidden = follow || isOver;
		this.allButton.hidden = !follow || isOver;
		this.allButton.textContent = this.window_s === FOLLOW_S ? `last ${duration(FOLLOW_S)}` : "all of it";
	}

	private connect(): void {
		this.source?.close();
		const source = new EventSource(`news?after=${encodeURIComponent(this.sequence)}`);
		this.source = source;
		source.addEventListener("open", () => {
			this.tries = 0;
			if (this.state !== "ended") this.setState(this.ui.store.runs.length ? "live" : "waiting");
		});
		source.addEventListener("news", (event) => this.news(event));
		source.addEventListener("end", () => this.end());
		source.addEventListener("restart", () => void this.restart());
		source.addEventListener("gap", () => void this.anew());
		source.addEventListener("error", () => this.failed(source));
	}

	private news(event: MessageEvent<string>): void {
		if (this.ui.store.runs.length === 0) {
			void this.restart();
			return;
		}
		try {
			const document = JSON.parse(event.data) as Document;
			this.sequence = document.sequence ?? (event.lastEventId || this.sequence);
			this.ui.store.merge(document);
		} catch {
			/* What cannot be read is as good as missed. */
			void this.anew();
			return;
		}
		this.setState("live");
		this.ui.view.tell("data");
	}

	/* The stream stays: another recording may come in its place. */
	private end(): void {
		this.setState("ended");
		void this.again();
	}

	/* The browser tries on by itself, unless the answer was no stream at all. */
	private failed(source: EventSource): void {
		if (source !== this.source) return;
		if (this.state === "ended") {
			source.close();
			return;
		}
		this.setState("reconnecting");
		if (source.readyState !== EventSource.CLOSED) return;
		source.close();
		setTimeout(() => {
			if (source === this.source) this.connect();
		}, retryDelay(this.tries++));
	}

	private async fetched(): Promise<Document | null> {
		const answer = await fetch("data", { cache: "no-store" });
		if (answer.status === 503 || answer.status === 404) return null;
		if (!answer.ok) throw new Error(String(answer.status));
		const document = (await answer.json()) as Document;
		return document.runs.length ? document : null;
	}

	/* All of it once more; what is looked at stays. */
	private async again(): Promise<boolean> {
		if (this.loading) return false;
		if (this.ui.store.runs.length === 0) {
			void this.restart();
			return true;
		}
		this.loading = true;
		let loaded = false;
		try {
			const document = await this.fetched();
			if (document) {
				this.sequence = document.sequence ?? this.sequence;
				this.ui.store.merge(document);
				this.ui.view.tell("data");
				loaded = true;
			}
			if (this.source && this.source.readyState === EventSource.CLOSED) this.connect();
		} catch {
			if (this.state !== "ended") this.setState("reconnecting");
		} finally {
			this.loading = false;
		}
		return loaded;
	}

	/* News are missing: data anew, and the news behind them. */
	private async anew(): Promise<void> {
		this.source?.close();
		this.source = null;
		for (let tries = 0; !(await this.again()); tries++)
			await new Promise((resolve) => setTimeout(resolve, retryDelay(tries)));
		if (!this.source && this.state !== "restarted") this.connect();
	}

	/* Another recording has other processes and another start: the page begins anew, as soon as there is one. */
	private async restart(): Promise<void> {
		this.source?.close();
		this.source = null;
		if (this.state !== "waiting") this.setState("restarted");
		for (let tries = 0; ; tries++) {
			try {
				if (await this.fetched()) break;
				this.setState("waiting");
			} catch {
				this.setState("reconnecting");
			}
			await new Promise((resolve) => setTimeout(resolve, retryDelay(tries)));
		}
		location.reload();
	}
}

/* What is finer than the overview: asked of the server, of a page that has one. */
export function detailOf(first: Document): ((run: number, range: Range) => Promise<Document>) | null {
	if (first.kind === "page") return null;
	return async (_run, { from, end }) => {
		const answer = await fetch(`detail?from=${from.toFixed(9)}&end=${end.toFixed(9)}`, {
			cache: "no-store",
		});
		if (!answer.ok) throw new Error(`the server says ${answer.status}`);
		return (await answer.json()) as Document;
	};
}
