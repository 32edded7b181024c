/* A page of a recording that goes on: news of it, how the server is, following. */
import type { Document } from "../data.js";
import type { Range } from "../state.js";
import type { Ui } from "./context.js";
import { button, el, visible } from "./dom.js";
import { duration } from "./format.js";

export type LiveState =
	| "live"
	| "waiting"
	| "reconnecting"
	| "ended"
	| "restarted"
	| "lost"
	| "refused"
	| "full";

const WORDS: Record<LiveState, [string, string]> = {
	live: ["live", "the recording goes on, and this page with it"],
	waiting: ["waiting for the recording", "the server is there, the recording has not begun"],
	reconnecting: ["reconnecting", "the server does not answer; this page tries on"],
	ended: ["ended", "the recording is over; this is all of it"],
	restarted: ["restarted", "a new recording began; it is being loaded"],
	lost: ["server gone", "the server does not answer any more; what is shown stays"],
	refused: [
		"not let in",
		"the server wants its token: open the address that galvo serve has printed; what is shown stays",
	],
	full: ["too many viewers", "the server has no place for one more now; this page tries on"],
};
const FOLLOW_S = 60;
const RENEW_MS = 30_000; /* what news do not tell: the report, and what processes used in all */
const RETRY_MS = 1000;
const RETRY_MOST_MS = 10000;
const RETRY_FULL_MS = 5000;
const TRIES = 4; /* then the server is as good as gone: it is asked now and then */

/* Retries wait longer and longer. Pure. */
export function retryDelay(tries: number): number {
	return Math.min(RETRY_MS * 2 ** Math.min(tries, 10), RETRY_MOST_MS);
}

/* The range of a page that follows: its last seconds, all of it while it is shorter. Pure. */
export function followRange(full: Range, window_s: number): Range {
	return { from: Math.max(full.from, full.end - window_s), end: full.end };
}

/* What an answer that is no stream means. Pure. */
export function stateOfStatus(status: number): LiveState {
	if (status === 401 || status === 403) return "refused";
	return status === 503 ? "full" : "reconnecting";
}

class Refusal extends Error {
	constructor(readonly status: number) {
		super(`the server says ${status}`);
	}
}

function stateOf(error: unknown, tries: number): LiveState {
	const state = error instanceof Refusal ? stateOfStatus(error.status) : "reconnecting";
	return state === "reconnecting" && tries >= TRIES ? "lost" : state;
}

export class Live {
	readonly element = el("div", { class: "live", role: "status" });
	private readonly sign = el("span", { class: "live-state" });
	private readonly followButton: HTMLButtonElement;
	private readonly allButton: HTMLButtonElement;
	private readonly tryButton: HTMLButtonElement;
	private source: EventSource | null = null;
	private state: LiveState = "waiting";
	private sequence: string;
	private tries = 0;
	private retry = 0;
	private wake: (() => void) | null = null; /* whoever waits to ask again */
	private window_s = FOLLOW_S;
	private loading = false;
	private restarting = false;

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
		this.tryButton = button("Try again", "ask the server once more", () => this.tryAgain(), {
			class: "button try-button",
		});
		this.element.append(this.sign, this.tryButton, this.followButton, this.allButton);
		ui.view.on("follow", () => {
			this.follow();
			this.draw();
		});
		/* Behind the listeners that were there before: they have set how long it is by now. */
		ui.view.on("data", () => this.follow());
		addEventListener("pagehide", () => this.pause());
		/* A browser has six connections for all its tabs: one that nobody sees needs none. */
		window.document.addEventListener("visibilitychange", () => this.seen());
		addEventListener("pageshow", () => this.seen());
		ui.followAll = () => this.followAll();
		if (document.live || ui.store.runs.length === 0) ui.view.setFollow(!/[#&][ts]=/.test(location.hash));
		else this.state = "ended";
		this.draw();
		this.seen();
		this.follow();
		setInterval(() => {
			if (this.state === "live" && !window.document.hidden) this.renew();
		}, RENEW_MS);
	}

	toggleFollow(): void {
		const { view } = this.ui;
		if (this.isOver()) this.ui.say(this.state === "ended" ? "the recording is over" : WORDS[this.state][1]);
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
		if (this.isOver()) view.setRange(view.full);
		else view.setFollow(true);
		this.follow();
		this.draw();
	}

	private follow(): void {
		const { view } = this.ui;
		if (view.follow) view.setRange(followRange(view.full, this.window_s));
	}

	private isOver(): boolean {
		return this.state === "ended" || this.state === "lost" || this.state === "refused";
	}

	private setState(state: LiveState): void {
		this.state = state;
		if (state === "ended") this.ui.view.setFollow(false);
		this.draw();
	}

	private draw(): void {
		const [word, help] = WORDS[this.state];
		const { follow } = this.ui.view;
		const isOver = this.isOver();
		this.element.dataset["state"] = this.state;
		this.sign.textContent = this.state === "live" && !follow ? "paused" : word;
		this.sign.title =
			this.state === "live" && !follow ? "the recording goes on; the range stays where it is" : help;
		this.element.classList.toggle("live-paused", this.state === "live" && !follow);
		this.tryButton.hidden = this.state !== "lost" && this.state !== "refused";
		this.followButton.hidden = follow || isOver;
		this.allButton.hidden = !follow || isOver;
		this.allButton.textContent = this.window_s === FOLLOW_S ? `last ${duration(FOLLOW_S)}` : "all of it";
	}

	private pause(): void {
		clearTimeout(this.retry);
		this.source?.close();
		this.source = null;
	}

	/* Back in sight it asks for what it has missed: the server sends that, or says that there is a gap. */
	private seen(): void {
		if (window.document.hidden) this.pause();
		else if (!this.source && !this.restarting) this.connect();
	}

	private tryAgain(): void {
		this.tries = 0;
		this.setState("reconnecting");
		if (this.wake) this.wake();
		else this.connect();
	}

	/* That long, or until somebody wants it at once. */
	private async rest(tries: number): Promise<void> {
		await new Promise<void>((resolve) => {
			this.wake = resolve;
			setTimeout(resolve, retryDelay(tries));
		});
		this.wake = null;
	}

	private connect(): void {
		this.pause();
		if (window.document.hidden) return;
		const source = new EventSource(`news?after=${encodeURIComponent(this.sequence)}`);
		this.source = source;
		source.addEventListener("open", () => {
			this.tries = 0;
			if (this.state !== "ended") this.setState(this.ui.store.runs.length ? "live" : "waiting");
		});
		source.addEventListener("news", (event) => this.news(event));
		source.addEventListener("end", (event) => this.end(event));
		source.addEventListener("restart", () => void this.restart());
		source.addEventListener("gap", () => void this.anew());
		source.addEventListener("error", () => void this.failed(source));
	}

	private news(event: MessageEvent<string>): void {
		if (this.ui.store.runs.length === 0) {
			void this.restart();
			return;
		}
		try {
			const document = JSON.parse(event.data) as Document;
			if (!this.ui.store.isSame(document)) {
				void this.restart();
				return;
			}
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
	private end(event: MessageEvent<string>): void {
		this.sequence = event.lastEventId || this.sequence;
		this.setState("ended");
		this.renew();
	}

	/* A stream that breaks is begun anew; why none begins, only an answer that is none of these tells. */
	private async failed(source: EventSource): Promise<void> {
		if (source !== this.source) return;
		const isAnswer = source.readyState === EventSource.CLOSED;
		source.close();
		const state = isAnswer ? await this.whyNot() : "reconnecting";
		if (source !== this.source || this.restarting) return;
		this.later(state);
	}

	private async whyNot(): Promise<LiveState> {
		const stop = new AbortController();
		try {
			const address = `news?after=${encodeURIComponent(this.sequence)}`;
			const { status } = await fetch(address, { cache: "no-store", signal: stop.signal });
			return stateOfStatus(status);
		} catch {
			return "reconnecting";
		} finally {
			stop.abort();
		}
	}

	/* What is over stays over, whether the server is there or not. */
	private later(state: LiveState): void {
		const delay = state === "full" ? RETRY_FULL_MS : retryDelay(this.tries++);
		const isLost = state === "reconnecting" && this.tries >= TRIES;
		if (this.state !== "ended" || state === "refused") this.setState(isLost ? "lost" : state);
		clearTimeout(this.retry);
		/* Who is not let in is not let in later: only another cookie changes that. */
		if (state !== "refused") this.retry = window.setTimeout(() => this.connect(), delay);
	}

	private async fetched(): Promise<Document | null> {
		const answer = await fetch("data", { cache: "no-store" });
		if (answer.status === 503 || answer.status === 404) return null;
		if (!answer.ok) throw new Refusal(answer.status);
		const document = (await answer.json()) as Document;
		return document.runs.length ? document : null;
	}

	/* All of it once more; what is looked at stays. False: there is nothing now. */
	private async again(): Promise<boolean> {
		if (this.loading) return false;
		this.loading = true;
		try {
			const document = await this.fetched();
			if (!document) return false;
			if (!this.ui.store.isSame(document)) {
				void this.restart();
				return true;
			}
			/* With a stream that goes on, what comes next is what it sends next. */
			if (!this.source) this.sequence = document.sequence ?? this.sequence;
			this.ui.store.merge(document);
			if (!document.live) this.setState("ended");
			this.ui.view.tell("data");
			return true;
		} finally {
			this.loading = false;
		}
	}

	/* News tell of it, too: if it fails, the stream does, or the next time is better. */
	private renew(): void {
		this.again().catch(() => {});
	}

	/* News are missing: data anew, and the news behind them. */
	private async anew(): Promise<void> {
		this.pause();
		await this.persist(() => this.again());
		if (!this.source && !this.restarting) this.connect();
	}

	private async persist(ask: () => Promise<boolean>): Promise<void> {
		for (let tries = 0; ; tries++) {
			try {
				if (await ask()) return;
			} catch (error) {
				this.setState(stateOf(error, tries));
			}
			await this.rest(tries);
		}
	}

	/* Another recording has other processes and another start: the page begins anew, as soon as there is one. */
	private async restart(): Promise<void> {
		if (this.restarting) return;
		this.restarting = true;
		this.pause();
		if (this.state !== "waiting") this.setState("restarted");
		await this.persist(async () => {
			const document = await this.fetched();
			if (!document) this.setState("waiting");
			return document !== null;
		});
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
