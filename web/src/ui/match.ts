/* How well a text fits what is searched for. Pure: the search box and filters ask here. */

function isWordStart(text: string, at: number): boolean {
	if (at === 0) return true;
	const before = text.charAt(at - 1);
	return !/[\p{L}\p{N}]/u.test(before);
}

/* Each letter is behind the one before, or begins a word: "bpass" is "backward pass". */
function scoreOfLetters(needle: string, text: string): number {
	let at = -1;
	let neighbours = 0;
	for (const letter of needle) {
		if (at >= 0 && text.startsWith(letter, at + 1)) {
			at++;
			neighbours++;
			continue;
		}
		do at = text.indexOf(letter, at + 1);
		while (at >= 0 && !isWordStart(text, at));
		if (at < 0) return 0;
	}
	return 20 + (15 * neighbours) / needle.length;
}

function scoreOfWord(needle: string, text: string): number {
	if (text === needle) return 100;
	const at = text.indexOf(needle);
	if (at === 0) return 80 + (10 * needle.length) / text.length;
	if (at > 0) {
		for (let i = at; i >= 0; i = text.indexOf(needle, i + 1)) if (isWordStart(text, i)) return 65;
		return 50;
	}
	return needle.length > 2 ? scoreOfLetters(needle, text.slice(0, 200)) : 0;
}

/* 0: it does not fit. All words of the query have to; letters are compared without their case. */
export function score(query: string, text: string): number {
	const low = text.toLowerCase();
	const words = query
		.toLowerCase()
		.split(/\s+/)
		.filter((word) => word !== "");
	if (words.length === 0) return 0;
	let sum = 0;
	for (const word of words) {
		const one = scoreOfWord(word, low);
		if (one === 0) return 0;
		sum += one;
	}
	return sum / words.length;
}

/* For filters: every word is somewhere in one of the texts, as it is. */
export function contains(query: string, ...texts: string[]): boolean {
	const low = texts.join("\n").toLowerCase();
	return query
		.toLowerCase()
		.split(/\s+/)
		.every((word) => low.includes(word));
}

/* Where the words of a filter are in a text, in order, none over another. */
export function hits(text: string, filter: string): { from: number; end: number }[] {
	const low = text.toLowerCase();
	/* Letters that are longer in lower case would move all behind them. */
	if (low.length !== text.length) return [];
	const found: { from: number; end: number }[] = [];
	for (const word of filter.toLowerCase().split(/\s+/)) {
		if (word === "") continue;
		for (let at = low.indexOf(word); at >= 0; at = low.indexOf(word, at + word.length))
			found.push({ from: at, end: at + word.length });
	}
	found.sort((a, b) => a.from - b.from);
	let end = 0;
	return found.filter((one) => {
		const isFree = one.from >= end;
		if (isFree) ({ end } = one);
		return isFree;
	});
}
