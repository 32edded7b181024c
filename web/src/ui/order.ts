/* By which column a table is in order, and which way. */

export class Order<Column> {
	column: Column | null = null;
	down = false;

	/* A click on a head: that column, the other way, and no order again. Null: no order. */
	turn(column: Column | null, downFirst: boolean): void {
		if (column === null || this.column !== column) {
			this.column = column;
			this.down = downFirst;
		} else if (this.down === downFirst) this.down = !downFirst;
		else this.column = null;
	}

	/* Whoever does not see the table is told by its heads. */
	mark(heads: Iterable<[Column, HTMLElement]>): void {
		for (const [column, head] of heads) {
			if (column === this.column) head.setAttribute("aria-sort", this.down ? "descending" : "ascending");
			else head.removeAttribute("aria-sort");
		}
	}
}
