/* The report's tables with a row a device: disks, network interfaces. */
#include "output.h"

#define DEVICES_MAX 8 /* JSON has all */

static const struct text_column disk_columns[] = {
	COLUMN("read", 10, put_bytes, read_bytes_per_s.total, struct summary_disk),
	COLUMN("written", 10, put_bytes, write_bytes_per_s.total, struct summary_disk),
	COLUMN("average", 12, put_bytes_per_s, moved_bytes_per_s.avg, struct summary_disk),
	COLUMN("peak", 12, put_bytes_per_s, moved_bytes_per_s.peak, struct summary_disk),
	COLUMN("busy", 8, put_pct, busy_pct.avg, struct summary_disk),
	COLUMN("queue", 7, put_decimal, queue_count.peak, struct summary_disk),
};

static const struct text_column net_columns[] = {
	COLUMN("received", 10, put_bytes, rx_bytes_per_s.total, struct summary_interface),
	COLUMN("sent", 10, put_bytes, tx_bytes_per_s.total, struct summary_interface),
	COLUMN("average", 12, put_bytes_per_s, moved_bytes_per_s.avg, struct summary_interface),
	COLUMN("peak", 12, put_bytes_per_s, moved_bytes_per_s.peak, struct summary_interface),
	COLUMN("drops", 8, put_whole, drops_count, struct summary_interface),
	COLUMN("errors", 7, put_whole, errors_count, struct summary_interface),
};

/* A row of devices; `remark` says why it is not in the total, or is empty. */
struct device_row {
	const char *name, *remark;
	bool has_traffic, counted;
	const void *thing;
};

/* Devices without traffic are left out; a total is worth a line only if it sums something. */
static void device_table(struct sheet *s, const char *title, const struct text_column *columns,
                         const struct device_row *rows, size_t rows_len, const void *total)
{
	size_t shown = 0, counted = 0, left = 0, i;

	for (i = 0; i < rows_len; i++) {
		if (!rows[i].has_traffic)
			continue;
		counted += rows[i].counted;
		if (shown == DEVICES_MAX) {
			left++;
			continue;
		}
		if (shown++ == 0) {
			sheet_text(s, "");
			table_head(s, title, columns, ARRAY_LEN(disk_columns));
		}
		buf_put_str(&s->buf, "  ");
		sheet_escaped(s, rows[i].name);
		buf_put_str(&s->buf, rows[i].remark);
		table_cells(s, columns, ARRAY_LEN(disk_columns), rows[i].thing);
		sheet_line_end(s);
	}
	if (left) {
		buf_printf(&s->buf, "  \xe2\x80\xa6 and %zu more", left);
		sheet_line_end(s);
	}
	if (counted > 1) {
		buf_put_str(&s->buf, "  total");
		table_cells(s, columns, 2, total);
		sheet_line_end(s);
	}
}

_Static_assert(ARRAY_LEN(disk_columns) == ARRAY_LEN(net_columns), "device_table has one width");

void report_devices(struct sheet *s, const struct galvo_summary *sum)
{
	const struct summary_disk disks = {.read_bytes_per_s = sum->disk_read_bytes_per_s,
	                                   .write_bytes_per_s = sum->disk_write_bytes_per_s};
	const struct summary_interface net = {.rx_bytes_per_s = sum->net_rx_bytes_per_s,
	                                      .tx_bytes_per_s = sum->net_tx_bytes_per_s};
	struct device_row *rows = alloc_array(sum->disks_len + sum->interfaces_len, sizeof(*rows));
	size_t i;

	if (!rows) {
		s->status = GALVO_ERR_NOMEM;
		return;
	}
	/* Totals are rows like any other: only what may be summed is filled in. */
	for (i = 0; i < sum->disks_len; i++) {
		const struct summary_disk *d = &sum->disks[i];

		rows[i] = (struct device_row){d->name,
			d->stacked ? " (stacked)" : d->counted ? "" : " (part)",
			d->moved_bytes_per_s.total >= 0.5, d->counted, d};
	}
	device_table(s, "disks", disk_columns, rows, sum->disks_len, &disks);
	for (i = 0; i < sum->interfaces_len; i++) {
		const struct summary_interface *n = &sum->interfaces[i];

		rows[i] = (struct device_row){n->name, n->counted ? "" : " (loopback)",
			n->moved_bytes_per_s.total >= 0.5, n->counted, n};
	}
	device_table(s, "network", net_columns, rows, sum->interfaces_len, &net);
	free(rows);
}
