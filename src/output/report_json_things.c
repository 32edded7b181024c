/* The report as JSON, its arrays: devices, what is missing, streams and sources. */
#include "json.h"

/* "in_totals" tells which rows may be added up without counting anything twice. */
#define DISK struct summary_disk
static const struct json_row disk_rows[] = {
	AS(STRING, name, DISK, name),
	AS(FLAG, whole, DISK, whole),
	AS(FLAG, stacked, DISK, stacked),
	AS(FLAG, in_totals, DISK, counted),
	SUMMED(read_bytes, read, bytes_per_s, DISK, read_bytes_per_s),
	SUMMED(write_bytes, write, bytes_per_s, DISK, write_bytes_per_s),
	MEAN(moved, bytes_per_s, DISK, moved_bytes_per_s),
	SUMMED(read_requests, read_requests, per_s, DISK, read_requests_per_s),
	SUMMED(write_requests, write_requests, per_s, DISK, write_requests_per_s),
	MEAN(busy, pct, DISK, busy_pct),
	MEAN(queue, requests, DISK, queue_count),
	MEAN(read_inflight, requests, DISK, read_inflight),
	MEAN(write_inflight, requests, DISK, write_inflight),
};

#define NET struct summary_interface
static const struct json_row interface_rows[] = {
	AS(STRING, name, NET, name),
	AS(FLAG, in_totals, NET, counted),
	SUMMED(rx_bytes, rx, bytes_per_s, NET, rx_bytes_per_s),
	SUMMED(tx_bytes, tx, bytes_per_s, NET, tx_bytes_per_s),
	MEAN(moved, bytes_per_s, NET, moved_bytes_per_s),
	SUMMED(rx_packets, rx_packets, per_s, NET, rx_packets_per_s),
	SUMMED(tx_packets, tx_packets, per_s, NET, tx_packets_per_s),
	AS(ROUNDED, rx_drops, NET, rx_drops_per_s.total),
	AS(ROUNDED, tx_drops, NET, tx_drops_per_s.total),
	AS(ROUNDED, rx_errors, NET, rx_errors_per_s.total),
	AS(ROUNDED, tx_errors, NET, tx_errors_per_s.total),
};

static const struct json_row total_rows[] = {
	AS(ROUNDED, disk_read_bytes, struct galvo_summary, disk_read_bytes_per_s.total),
	AS(ROUNDED, disk_write_bytes, struct galvo_summary, disk_write_bytes_per_s.total),
	AS(ROUNDED, net_rx_bytes, struct galvo_summary, net_rx_bytes_per_s.total),
	AS(ROUNDED, net_tx_bytes, struct galvo_summary, net_tx_bytes_per_s.total),
	ONE(gpu_energy_joules, struct galvo_summary, gpu_totals.energy_joules),
	ONE(gpu_energy_integral_joules, struct galvo_summary, gpu_totals.integral_joules),
};

/* The books of the recording itself, a row a file. */
#define STREAM struct summary_stream
static const struct json_row stream_rows[] = {
	AS(TEXT, file, STREAM, file_name),
	AS(FLAG, present, STREAM, present),
	ONE(frequency_hz, STREAM, frequency_hz),
	AS(COUNT, bytes, STREAM, bytes),
	AS(COUNT, messages, STREAM, messages),
	AS(COUNT, rows, STREAM, rows),
	AS(COUNT, damaged_messages, STREAM, bad_messages),
	AS(COUNT, missing_messages, STREAM, missing_messages),
	AS(COUNT, dropped_batches, STREAM, dropped_batches),
	AS(COUNT, dropped_rows, STREAM, dropped_rows),
	AS(COUNT, gaps, STREAM, gaps),
	AS(COUNT, ticks, STREAM, ticks),
	AS(COUNT, missed_ticks, STREAM, missed_ticks),
};

#define SOURCE struct summary_source
static const struct json_row source_rows[] = {
	AS(TEXT, name, SOURCE, name),
	AS(COUNT, divisor, SOURCE, divisor),
	ONE(period_s, SOURCE, period_s),
	AS(COUNT, reads, SOURCE, reads),
	AS(COUNT, failures, SOURCE, failures),
	ONE(first_failure_s, SOURCE, first_failure_s),
	AS(TEXT, reason, SOURCE, reason),
	ONE(mean_read_s, SOURCE, mean_read_s),
};

#define COST struct summary_cost
static const struct json_row cost_rows[] = {
	AS(FLAG, sampling_threads_only, COST, sampling_only),
	ONE(cpu_s, COST, cpu_s),
	ONE(cpu_pct_of_core, COST, pct_of_core),
	ONE(max_rss_bytes, COST, max_rss_bytes),
	ONE(bytes_written, COST, bytes_written),
	AS(COUNT, ticks, COST, ticks),
	AS(COUNT, missed_ticks, COST, missed_ticks),
	AS(COUNT, dropped_rows, COST, dropped_rows),
	AS(COUNT, dropped_batches, COST, dropped_batches),
};

/* The CPU time of galvo is null where it is not known, and then nobody's. */
static void put_cost(struct json *j, const struct summary_cost *c)
{
	static const char *const whose[] = {
		[COST_OF_PROCESS] = "process", [COST_OF_THREADS] = "threads",
		[COST_OF_SAMPLING] = "sampling_threads",
	};

	json_open(j, "cost", "{");
	json_text(j, "cpu_of", c->of < ARRAY_LEN(whose) ? whose[c->of] : NULL);
	json_rows(j, cost_rows, ARRAY_LEN(cost_rows), c);
	json_close(j, "}");
}

#define FOLLOWING struct summary_following
static const struct json_row following_rows[] = {
	AS(FLAG, every_fork_seen, FOLLOWING, is_complete),
	AS(TEXT, why_no_kernel_events, FOLLOWING, why_no_events),
	AS(COUNT, forks, FOLLOWING, forks),
	AS(COUNT, short_children, FOLLOWING, short_children),
	AS(COUNT, late_children, FOLLOWING, late_children),
	AS(COUNT, short_children_without_cpu, FOLLOWING, short_without_totals),
	ONE(short_children_cpu_s, FOLLOWING, short_cpu_s),
	AS(COUNT, lost_events, FOLLOWING, lost_events),
	AS(COUNT, put_off, FOLLOWING, put_off),
	ONE(scan_interval_s, FOLLOWING, scan_interval_s),
	ONE(longest_interval_s, FOLLOWING, longest_interval_s),
};

static void put_following(struct json *j, const struct summary_following *f)
{
	static const char *const ways[] = {
		[WAY_FILES] = "children_files", [WAY_NUMBERS] = "new_numbers",
		[WAY_EVENTS] = "kernel_events",
	};

	if (!f->is_known) {
		json_text(j, "following", NULL);
		return;
	}
	json_open(j, "following", "{");
	json_text(j, "by", f->way < ARRAY_LEN(ways) ? ways[f->way] : NULL);
	json_rows(j, following_rows, ARRAY_LEN(following_rows), f);
	json_close(j, "}");
}

#define FINDING struct summary_finding
static const struct json_row finding_rows[] = {
	AS(TEXT, id, FINDING, id),
	AS(TEXT, verdict, FINDING, verdict),
	AS(TEXT, need, FINDING, need),
	AS(TEXT, found, FINDING, found),
	AS(TEXT, meaning, FINDING, meaning),
	AS(TEXT, remedy, FINDING, remedy),
};

static const struct json_row first_failure[] = {
	ONE(first_failure_s, struct summary_note, first_failure_s),
};

/* Every note has all keys; those that do not apply to its kind are null. */
static void put_notes(struct json *j, const struct galvo_summary *sum)
{
	static const char *const kinds[] = {
		[NOTE_SESSION] = "session", [NOTE_SOURCE] = "source", [NOTE_DAMAGE] = "damage",
		[NOTE_REJECTED] = "rejected", [NOTE_VANISHED] = "vanished",
	};
	size_t i;

	json_open(j, "not_recorded", "[");
	for (i = 0; i < sum->notes_len; i++) {
		const struct summary_note *n = &sum->notes[i];

		json_open(j, NULL, "{");
		json_text(j, "kind", kinds[n->kind]);
		json_text(j, "subject", n->subject);
		json_text(j, "reason", n->text);
		json_known(j, "count", n->kind != NOTE_SESSION && n->kind != NOTE_DAMAGE, n->count);
		json_known(j, "reads", n->kind == NOTE_SOURCE, n->of);
		if (n->kind == NOTE_SOURCE)
			json_rows(j, first_failure, ARRAY_LEN(first_failure), n);
		else
			json_null(j, "first_failure_s");
		json_known(j, "offset_bytes", n->kind == NOTE_DAMAGE, n->offset);
		json_close(j, "}");
	}
	json_close(j, "]");
}

void report_json_things(struct json *j, const struct galvo_summary *sum)
{
	json_things(j, "disks", disk_rows, ARRAY_LEN(disk_rows), sum->disks, sum->disks_len,
	            sizeof(*sum->disks));
	json_things(j, "interfaces", interface_rows, ARRAY_LEN(interface_rows), sum->interfaces,
	            sum->interfaces_len, sizeof(*sum->interfaces));
	report_json_gpus(j, sum);
	json_object(j, "totals", total_rows, ARRAY_LEN(total_rows), sum);
	report_json_processes(j, sum);
	report_json_regions(j, sum);
	put_notes(j, sum);
	json_things(j, "situation", finding_rows, ARRAY_LEN(finding_rows), sum->findings,
	            sum->findings_len, sizeof(*sum->findings));
	json_things(j, "streams", stream_rows, ARRAY_LEN(stream_rows), sum->streams,
	            sum->streams_len, sizeof(*sum->streams));
	json_things(j, "sources", source_rows, ARRAY_LEN(source_rows), sum->sources,
	            sum->sources_len, sizeof(*sum->sources));
	put_cost(j, &sum->cost);
	put_following(j, &sum->following);
}
