/* Disks and network interfaces, and which of them may be added up. */
#include <math.h>

#include "figure.h"

#define DISK_AT(member) offsetof(struct summary_disk, member)
#define NET_AT(member) offsetof(struct summary_interface, member)
#define RATE(name) name ".sum.per_second"

static const struct figure_row of_a_disk[] = {
	{RATE("disk__read_bytes"), .offset = DISK_AT(read_bytes_per_s)},
	{RATE("disk__write_bytes"), .offset = DISK_AT(write_bytes_per_s)},
	{RATE("disk__read_bytes"), RATE("disk__write_bytes"), .offset = DISK_AT(moved_bytes_per_s)},
	{RATE("disk__read_requests"), .offset = DISK_AT(read_requests_per_s)},
	{RATE("disk__write_requests"), .offset = DISK_AT(write_requests_per_s)},
	{"disk__cycles_busy.avg.pct_of_peak_sustained_elapsed", .offset = DISK_AT(busy_pct)},
	{"disk__queue_depth.avg", .offset = DISK_AT(queue_count)},
	{"disk__read_inflight", .is_level = true, .offset = DISK_AT(read_inflight)},
	{"disk__write_inflight", .is_level = true, .offset = DISK_AT(write_inflight)},
};

static const struct figure_row of_an_interface[] = {
	{RATE("net__rx_bytes"), .offset = NET_AT(rx_bytes_per_s)},
	{RATE("net__tx_bytes"), .offset = NET_AT(tx_bytes_per_s)},
	{RATE("net__rx_bytes"), RATE("net__tx_bytes"), .offset = NET_AT(moved_bytes_per_s)},
	{RATE("net__rx_packets"), .offset = NET_AT(rx_packets_per_s)},
	{RATE("net__tx_packets"), .offset = NET_AT(tx_packets_per_s)},
	{RATE("net__rx_drops"), .offset = NET_AT(rx_drops_per_s)},
	{RATE("net__tx_drops"), .offset = NET_AT(tx_drops_per_s)},
	{RATE("net__rx_errors"), .offset = NET_AT(rx_errors_per_s)},
	{RATE("net__tx_errors"), .offset = NET_AT(tx_errors_per_s)},
};

/* Peaks of a sum are not known from the peaks of its parts. */
static void add_total(struct figure *sum, const struct figure *part)
{
	if (isnan(part->total))
		return;
	sum->total = isnan(sum->total) ? part->total : sum->total + part->total;
	sum->avg = isnan(sum->avg) ? part->avg : sum->avg + part->avg;
	sum->peak = NAN;
}

/* "sda1" is a partition of "sda", "nvme0n1p2" of "nvme0n1". */
static bool is_partition_of(const char *name, const char *disk)
{
	struct span rest = span_str(name), d = span_str(disk);
	uint64_t number;

	if (d.n == 0 || rest.n <= d.n || !span_starts(rest, disk))
		return false;
	rest = span_of(rest.p + d.n, rest.n - d.n);
	if (d.p[d.n - 1] >= '0' && d.p[d.n - 1] <= '9') {
		if (!span_starts(rest, "p"))
			return false;
		rest = span_of(rest.p + 1, rest.n - 1);
	}
	return span_to_u64(rest, &number);
}

static bool is_counted(const struct galvo_summary *s, const struct summary_disk *disk)
{
	size_t i;

	if (disk->stacked)
		return false;
	for (i = 0; i < s->disks_len && !disk->whole; i++)
		if (is_partition_of(disk->name, s->disks[i].name))
			return false;
	return true;
}

/* A device that is only in the table is taken for a whole disk. */
static void flags_find(struct summary_disk *disk, const struct galvo_run *run)
{
	size_t i;

	disk->whole = true;
	for (i = 0; i < run->devices_len; i++)
		if (span_eq_str(span_str(run->devices[i].name), disk->name)) {
			disk->whole = run->devices[i].whole;
			disk->stacked = run->devices[i].stacked;
		}
}

static galvo_status derive_disks(struct galvo_summary *sum, const struct galvo_run *run,
                                 galvo_error *reterr)
{
	struct ledger s;
	galvo_status status = ledger_init(&s, run, STREAM_DISK, SCOPE_DEVICE, reterr);
	size_t i;

	sum->disk_read_bytes_per_s = sum->disk_write_bytes_per_s = figure_none;
	if (status != GALVO_OK)
		return status;
	sum->disks_len = s.slots_len;
	sum->disks = alloc_array(s.slots_len, sizeof(*sum->disks));
	if (!sum->disks)
		status = err_set(reterr, GALVO_ERR_NOMEM, "no memory for %zu disks", s.slots_len);
	else
		status = ledger_figures(&s, of_a_disk, ARRAY_LEN(of_a_disk), sum->disks,
		                        sizeof(*sum->disks), reterr);
	for (i = 0; status == GALVO_OK && i < sum->disks_len; i++) {
		sum->disks[i].name = s.table->names[i];
		flags_find(&sum->disks[i], run);
	}
	for (i = 0; status == GALVO_OK && i < sum->disks_len; i++) {
		struct summary_disk *d = &sum->disks[i];

		d->counted = is_counted(sum, d);
		if (d->counted) {
			add_total(&sum->disk_read_bytes_per_s, &d->read_bytes_per_s);
			add_total(&sum->disk_write_bytes_per_s, &d->write_bytes_per_s);
		}
	}
	ledger_finish(&s);
	return status;
}

static double both(const struct figure *a, const struct figure *b)
{
	struct figure sum = figure_none;

	add_total(&sum, a);
	add_total(&sum, b);
	return sum.total;
}

static galvo_status derive_interfaces(struct galvo_summary *sum, const struct galvo_run *run,
                                      galvo_error *reterr)
{
	struct ledger s;
	galvo_status status = ledger_init(&s, run, STREAM_SYSTEM, SCOPE_INTERFACE, reterr);
	size_t i;

	sum->net_rx_bytes_per_s = sum->net_tx_bytes_per_s = figure_none;
	if (status != GALVO_OK)
		return status;
	sum->interfaces_len = s.slots_len;
	sum->interfaces = alloc_array(s.slots_len, sizeof(*sum->interfaces));
	if (!sum->interfaces)
		status = err_set(reterr, GALVO_ERR_NOMEM, "no memory for %zu interfaces",
		                 s.slots_len);
	else
		status = ledger_figures(&s, of_an_interface, ARRAY_LEN(of_an_interface),
		                        sum->interfaces, sizeof(*sum->interfaces), reterr);
	for (i = 0; status == GALVO_OK && i < sum->interfaces_len; i++) {
		struct summary_interface *n = &sum->interfaces[i];

		n->name = s.table->names[i];
		n->counted = !span_eq_str(span_str(n->name), "lo");
		n->drops_count = both(&n->rx_drops_per_s, &n->tx_drops_per_s);
		n->errors_count = both(&n->rx_errors_per_s, &n->tx_errors_per_s);
		if (n->counted) {
			add_total(&sum->net_rx_bytes_per_s, &n->rx_bytes_per_s);
			add_total(&sum->net_tx_bytes_per_s, &n->tx_bytes_per_s);
		}
	}
	ledger_finish(&s);
	return status;
}

galvo_status derive_devices(struct galvo_summary *s, const struct galvo_run *run,
                            galvo_error *reterr)
{
	galvo_status status = derive_disks(s, run, reterr);

	return status == GALVO_OK ? derive_interfaces(s, run, reterr) : status;
}
