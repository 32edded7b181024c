/* Texts from outside as they are shown everywhere: in tables, in legends, on canvases, as the title of the window. */

const INVISIBLE =
	/[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

function symbolOf(character: string): string {
	const code = character.charCodeAt(0);
	if (code < 0x20) return String.fromCharCode(0x2400 + code);
	if (code === 0x7f) return "\u2421";
	if (code >= 0xd800 && code <= 0xdfff) return "\ufffd";
	return `\u27e8U+${code.toString(16).toUpperCase().padStart(4, "0")}\u27e9`;
}

/* Control characters, those that turn the direction and those without width, made visible. */
export function visible(text: string): string {
	return text.replace(INVISIBLE, symbolOf);
}
