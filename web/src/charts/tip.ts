/* A small box beside the pointer: rows of what and how much. */
import { part } from "./stage.js";

export class Tip {
	private readonly element = part("div", "tip");
	private shown = "";

	constructor() {
		this.element.hidden = true;
		document.body.append(this.element);
	}

	/* A row without a name is a title. */
	show(rows: [string, string][], x: number, y: number): void {
		const key = rows.join("\n");
		if (key !== this.shown) {
			this.shown = key;
			this.element.replaceChildren(...rows.map(([name, text]) => {
				const row = part("div", name === "" ? "title" : "");
				if (name !== "") row.append(part("span", "name", name));
				row.append(part("span", "", text));
				return row;
			}));
		}
		this.element.hidden = false;
		const { offsetWidth, offsetHeight } = this.element;
		const left = x + 14 + offsetWidth > innerWidth ? x - 14 - offsetWidth : x + 14;
		const top = y + 16 + offsetHeight > innerHeight ? y - 12 - offsetHeight : y + 16;
		this.element.style.transform = `translate(${Math.max(4, left)}px, ${Math.max(4, top)}px)`;
	}

	hide(): void {
		this.element.hidden = true;
	}
}
