/* Dark and light: as the system is, or as the reader chose. */
import type { Theme, View } from "../state.js";
import { remember, remembered } from "./memory.js";

const ORDER: readonly Theme[] = ["auto", "light", "dark"];

export function isTheme(text: string | null): text is Theme {
	return text === "auto" || text === "light" || text === "dark";
}

function resolved(view: View, system: MediaQueryList): "light" | "dark" {
	if (view.printing) return "light";
	if (view.theme !== "auto") return view.theme;
	return system.matches ? "dark" : "light";
}

export function nextTheme(view: View): void {
	const next = ORDER[(ORDER.indexOf(view.theme) + 1) % ORDER.length] ?? "auto";
	remember("theme", next);
	view.setTheme(next);
}

/* Call it before the charts begin to listen: they read their colours from what it sets. */
export function startTheme(view: View): void {
	const system = matchMedia("(prefers-color-scheme: dark)");
	const apply = (): void => {
		document.documentElement.dataset["theme"] = resolved(view, system);
	};
	const kept = remembered("theme");
	if (isTheme(kept)) view.theme = kept;
	apply();
	view.on("theme", apply);
	view.on("print", apply);
	system.addEventListener("change", () => {
		apply();
		view.tell("theme");
	});
}
