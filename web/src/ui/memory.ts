/* What the browser keeps of a reader's taste. Pages from files may be refused that: then nothing is kept. */

export function remembered(name: string): string | null {
	try {
		return localStorage.getItem(`galvo.${name}`);
	} catch {
		return null;
	}
}

export function remember(name: string, text: string): void {
	try {
		localStorage.setItem(`galvo.${name}`, text);
	} catch {
		/* It is as it was without it. */
	}
}
