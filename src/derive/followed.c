/* The followed processes, one by one and together. */
#include <math.h>

#include "figure.h"

#define AT(member) offsetof(struct summary_process, member)
#define SUM_AT(member) offsetof(struct galvo_summary, member)
#define PERCENT 0.01 /* percent of a core, times seconds, to CPU seconds */
#define RATE(name) name ".sum.per_second"

static const struct figure_row fast[] = {
	{RATE("proc__cycles_active"), .total_scale = PERCENT, .offset = AT(cpu_pct_of_core)},
	{"proc__rss_bytes", .is_level = true, .offset = AT(rss_bytes)},
	{"proc__vms_bytes", .is_level = true, .offset = AT(vms_bytes)},
	{"proc__shared_bytes", .is_level = true, .offset = AT(shared_bytes)},
};

static const struct figure_row slow[] = {
	{RATE("proc__cycles_user"), .total_scale = PERCENT, .offset = AT(user_pct_of_core)},
	{RATE("proc__cycles_kernel"), .total_scale = PERCENT, .offset = AT(kernel_pct_of_core)},
	{RATE("proc__faults_minor"), .offset = AT(minor_faults_per_s)},
	{RATE("proc__faults_major"), .offset = AT(major_faults_per_s)},
	{"proc__threads", .is_level = true, .offset = AT(threads)},
	{"proc__swap_bytes", .is_level = true, .offset = AT(swap_bytes)},
	{"proc__pss_bytes", .is_level = true, .offset = AT(pss_bytes)},
};

static const struct figure_row io[] = {
	{RATE("proc__io_rchar"), .offset = AT(rchar_bytes_per_s)},
	{RATE("proc__io_wchar"), .offset = AT(wchar_bytes_per_s)},
	{RATE("proc__io_read_bytes"), .offset = AT(read_bytes_per_s)},
	{RATE("proc__io_write_bytes"), .offset = AT(write_bytes_per_s)},
	{RATE("proc__io_cancelled_write_bytes"), .offset = AT(cancelled_write_bytes_per_s)},
};

/* The sums over all processes that a summary tells. */
static const struct {
	enum scope scope;
	struct figure_row row;
} sums[] = {
	{SCOPE_PROCESS, {RATE("proc__cycles_active"), .total_scale = PERCENT,
	                 .offset = SUM_AT(cpu.followed_pct_of_core)}},
	{SCOPE_PROCESS, {"proc__rss_bytes", .is_level = true,
	                 .offset = SUM_AT(memory.followed_rss_bytes)}},
	{SCOPE_PROCESS_DETAIL, {"proc__pss_bytes", .is_level = true,
	                        .offset = SUM_AT(memory.followed_pss_bytes)}},
	{SCOPE_PROCESS_DETAIL, {"proc__swap_bytes", .is_level = true,
	                        .offset = SUM_AT(memory.followed_swap_bytes)}},
};

static galvo_status table_derive(struct galvo_summary *sum, const struct galvo_run *run,
                                 enum stream_kind stream, enum scope scope,
                                 const struct figure_row *rows, size_t rows_len,
                                 galvo_error *reterr)
{
	struct ledger s;
	galvo_status status = ledger_init(&s, run, stream, scope, reterr);
	size_t i;

	if (status == GALVO_OK)
		status = ledger_figures(&s, rows, rows_len, sum->processes,
		                        sizeof(*sum->processes), reterr);
	for (i = 0; i < ARRAY_LEN(sums) && status == GALVO_OK; i++)
		if (stream == STREAM_SYSTEM && sums[i].scope == scope)
			status = ledger_sum(&s, &sums[i].row,
			                    (void *)((char *)sum + sums[i].row.offset), reterr);
	ledger_finish(&s);
	return status;
}

static double seconds_between(uint64_t from_ns, uint64_t to_ns)
{
	if (from_ns == 0 || to_ns == 0)
		return NAN;
	return to_ns > from_ns ? (double)(to_ns - from_ns) / (double)NS_PER_S : 0;
}

galvo_status derive_processes(struct galvo_summary *sum, const struct galvo_run *run,
                              galvo_error *reterr)
{
	static const struct {
		enum stream_kind stream;
		enum scope scope;
		const struct figure_row *rows;
		size_t len;
	} parts[] = {
		{STREAM_SYSTEM, SCOPE_PROCESS, fast, ARRAY_LEN(fast)},
		{STREAM_SYSTEM, SCOPE_PROCESS_DETAIL, slow, ARRAY_LEN(slow)},
		{STREAM_DISK, SCOPE_PROCESS, io, ARRAY_LEN(io)},
	};
	galvo_status status = GALVO_OK;
	struct process_index x;
	size_t i;

	sum->processes = alloc_array(run->processes_len, sizeof(*sum->processes));
	if (!sum->processes)
		return err_set(reterr, GALVO_ERR_NOMEM, "no memory for %zu processes",
		               run->processes_len);
	sum->processes_len = run->processes_len;
	for (i = 0; i < run->processes_len; i++) {
		const struct process_info *info = &run->processes[i];
		uint64_t end_ns = info->end_mono_ns ? info->end_mono_ns : sum->end_mono_ns;

		sum->processes[i].info = info;
		sum->processes[i].seen_s = seconds_between(sum->start_mono_ns, info->first_mono_ns);
		sum->processes[i].lifetime_s = seconds_between(info->first_mono_ns, end_ns);
	}
	for (i = 0; i < ARRAY_LEN(parts) && status == GALVO_OK; i++)
		status = table_derive(sum, run, parts[i].stream, parts[i].scope, parts[i].rows,
		                      parts[i].len, reterr);
	derive_usage(sum, run);
	if (status != GALVO_OK || (status = process_index_init(&x, run, reterr)) != GALVO_OK)
		return status;
	status = tree_arrange(sum, &x, reterr);
	process_index_finish(&x);
	return status == GALVO_OK ? derive_groups(sum, run, reterr) : status;
}
