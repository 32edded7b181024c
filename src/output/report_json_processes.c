/* The report as JSON, its processes and threads: one by one, by name, and how they add up. */
#include "json.h"

/* pid and start_ticks together are the identity. */
static const struct json_row identity_rows[] = {
	AS(COUNT, start_ticks, struct process_info, start_ticks),
	AS(FLAG, root, struct process_info, root),
	AS(FLAG, removed, struct process_info, removed),
};

#define PROCESS struct summary_process
static const struct json_row process_rows[] = {
	AS(FLAG, adopted, PROCESS, adopted),
	ONE(seen_s, PROCESS, seen_s),
	ONE(lifetime_s, PROCESS, lifetime_s),
	ONE(cpu_s, PROCESS, use[USAGE_CPU_NS].own),
	ONE(user_s, PROCESS, user_pct_of_core.total),
	ONE(kernel_s, PROCESS, kernel_pct_of_core.total),
	MEAN(cpu, pct_of_core, PROCESS, cpu_pct_of_core),
	LEVEL(rss, PROCESS, rss_bytes),
	LEVEL(vms, PROCESS, vms_bytes),
	LEVEL(shared, PROCESS, shared_bytes),
	LEVEL(pss, PROCESS, pss_bytes),
	LEVEL(swap, PROCESS, swap_bytes),
	ONE(threads_peak, PROCESS, threads.peak),
	AS(ROUNDED, minor_faults, PROCESS, minor_faults_per_s.total),
	AS(ROUNDED, major_faults, PROCESS, major_faults_per_s.total),
	AS(ROUNDED, read_bytes, PROCESS, use[USAGE_READ].own),
	MEAN(read, bytes_per_s, PROCESS, read_bytes_per_s),
	AS(ROUNDED, write_bytes, PROCESS, use[USAGE_WRITE].own),
	MEAN(write, bytes_per_s, PROCESS, write_bytes_per_s),
	AS(ROUNDED, cancelled_write_bytes, PROCESS, use[USAGE_CANCELLED].own),
	AS(ROUNDED, rchar_bytes, PROCESS, use[USAGE_RCHAR].own),
	AS(ROUNDED, wchar_bytes, PROCESS, use[USAGE_WCHAR].own),
	ONE(other_threads_s, PROCESS, other_threads_s),
};

#define THREAD struct summary_thread
static const struct json_row thread_rows[] = {
	ONE(seen_s, THREAD, seen_s),
	ONE(lifetime_s, THREAD, lifetime_s),
	ONE(cpu_s, THREAD, cpu_pct_of_core.total),
	MEAN(cpu, pct_of_core, THREAD, cpu_pct_of_core),
	ONE(run_delay_s, THREAD, run_delay_pct.total),
	MEAN(run_delay, pct, THREAD, run_delay_pct),
	AS(ROUNDED, timeslices, THREAD, timeslices_per_s.total),
};

#define RUSAGE struct summary_rusage
static const struct json_row rusage_rows[] = {
	ONE(user_s, RUSAGE, user_s),
	ONE(system_s, RUSAGE, system_s),
	AS(ROUNDED, max_rss_bytes, RUSAGE, max_rss_bytes),
	AS(ROUNDED, minor_faults, RUSAGE, minor_faults),
	AS(ROUNDED, major_faults, RUSAGE, major_faults),
	AS(ROUNDED, read_bytes, RUSAGE, read_bytes),
	AS(ROUNDED, write_bytes, RUSAGE, write_bytes),
	AS(ROUNDED, voluntary_switches, RUSAGE, voluntary_switches),
	AS(ROUNDED, involuntary_switches, RUSAGE, involuntary_switches),
};

/* Each is there in seconds and in bytes. */
#define USE struct summary_use
#define USE_ROWS(unit, KIND)                                                                       \
	AS(KIND, head_##unit, USE, head), AS(KIND, sampled_##unit, USE, sampled),                  \
	AS(KIND, tail_##unit, USE, tail), AS(KIND, unseen_##unit, USE, unseen),                    \
	AS(KIND, mixed_##unit, USE, mixed)
static const struct json_row use_s_rows[] = {USE_ROWS(s, NUMBER)};
static const struct json_row use_bytes_rows[] = {USE_ROWS(bytes, ROUNDED)};

#define BALANCE struct summary_balance
#define BALANCE_ROWS(unit, KIND)                                                                   \
	AS(KIND, account_##unit, BALANCE, account_all), AS(KIND, own_##unit, BALANCE, own),        \
	AS(KIND, sampled_##unit, BALANCE, sampled), AS(KIND, between_##unit, BALANCE, between),    \
	AS(KIND, unseen_##unit, BALANCE, unseen), AS(KIND, mixed_##unit, BALANCE, mixed),          \
	AS(KIND, rest_##unit, BALANCE, rest), ONE(rest_pct, BALANCE, rest_pct),                    \
	AS(COUNT, silent_processes, BALANCE, silent)
static const struct json_row balance_s_rows[] = {BALANCE_ROWS(s, NUMBER)};
static const struct json_row balance_bytes_rows[] = {BALANCE_ROWS(bytes, ROUNDED)};

#define GROUP struct summary_group
static const struct json_row group_rows[] = {
	AS(STRING, comm, GROUP, comm),
	AS(COUNT, count, GROUP, count),
	AS(COUNT, failed, GROUP, failed),
	ONE(first_s, GROUP, first_s),
	ONE(cpu_s, GROUP, own[USAGE_CPU_NS]),
	ONE(cpu_pct, GROUP, cpu_pct),
	AS(ROUNDED, rss_peak_bytes, GROUP, rss_peak_bytes),
	AS(ROUNDED, rss_largest_bytes, GROUP, rss_largest_bytes),
	AS(ROUNDED, rchar_bytes, GROUP, own[USAGE_RCHAR]),
	AS(ROUNDED, wchar_bytes, GROUP, own[USAGE_WCHAR]),
	AS(ROUNDED, read_bytes, GROUP, own[USAGE_READ]),
	AS(ROUNDED, write_bytes, GROUP, own[USAGE_WRITE]),
	AS(ROUNDED, cancelled_write_bytes, GROUP, own[USAGE_CANCELLED]),
};

static const char *const kinds[USAGE_END] = {
	[USAGE_CPU_NS] = "cpu", [USAGE_RCHAR] = "rchar", [USAGE_WCHAR] = "wchar",
	[USAGE_READ] = "read", [USAGE_WRITE] = "write", [USAGE_CANCELLED] = "cancelled_write",
};

static void put_end(struct json *j, const struct summary_process *p)
{
	static const char *const lives[] = {
		[LIFE_UNKNOWN] = "unknown", [LIFE_RUNNING] = "running", [LIFE_EXITED] = "exited",
		[LIFE_KILLED] = "killed", [LIFE_GONE] = "gone", [LIFE_LEFT] = "left",
	};

	json_text(j, "state", lives[p->life]);
	if (p->life == LIFE_EXITED || p->life == LIFE_KILLED) {
		json_open(j, "exit", "{");
		json_u64(j, "code", (uint32_t)p->exit_code);
		json_known(j, "signal", p->life == LIFE_KILLED, (uint32_t)p->term_signal);
		json_close(j, "}");
	} else {
		json_null(j, "exit");
	}
	if (p->has_rusage)
		json_object(j, "rusage", rusage_rows, ARRAY_LEN(rusage_rows), &p->rusage);
	else
		json_null(j, "rusage");
}

static void put_usage(struct json *j, const struct summary_process *p)
{
	enum usage_kind kind;

	json_open(j, "usage", "{");
	for (kind = USAGE_CPU_NS; kind < USAGE_END; kind++) {
		if (!p->info->usage[kind].is_known)
			json_null(j, kinds[kind]);
		else if (kind == USAGE_CPU_NS)
			json_object(j, kinds[kind], use_s_rows, ARRAY_LEN(use_s_rows), &p->use[kind]);
		else
			json_object(j, kinds[kind], use_bytes_rows, ARRAY_LEN(use_bytes_rows),
			            &p->use[kind]);
	}
	json_close(j, "}");
}

static void put_earlier(struct json *j, const struct galvo_summary *sum,
                        const struct process_info *p)
{
	uint32_t i;

	json_open(j, "earlier_names", "[");
	for (i = 0; i < p->earlier_len; i++) {
		const struct earlier_name *e = &p->earlier[i];
		const struct json_row until = {"until_s", 0, JSON_NUMBER};
		double until_s = e->until_mono_ns && sum->start_mono_ns
			? ((double)e->until_mono_ns - (double)sum->start_mono_ns) / (double)NS_PER_S
			: NAN;

		json_open(j, NULL, "{");
		json_span(j, "comm", span_of(e->comm, strnlen(e->comm, sizeof(e->comm))));
		json_rows(j, &until, 1, &until_s);
		json_close(j, "}");
	}
	json_close(j, "]");
}

/* "parent" is an index into this same array: pids are used again. */
static void put_processes(struct json *j, const struct galvo_summary *sum)
{
	size_t i;

	json_open(j, "processes", "[");
	for (i = 0; i < sum->processes_len; i++) {
		const struct summary_process *p = &sum->processes[i];

		json_open(j, NULL, "{");
		json_u64(j, "pid", p->info->pid);
		json_u64(j, "ppid", p->info->ppid);
		json_known(j, "parent", p->parent != SIZE_MAX, p->parent);
		json_text(j, "alias", p->info->alias);
		json_text(j, "comm", p->info->comm);
		put_earlier(j, sum, p->info);
		json_text(j, "command", p->info->command);
		json_rows(j, identity_rows, ARRAY_LEN(identity_rows), p->info);
		put_end(j, p);
		json_rows(j, process_rows, ARRAY_LEN(process_rows), p);
		put_usage(j, p);
		json_close(j, "}");
	}
	json_close(j, "]");
}

static void put_threads(struct json *j, const struct galvo_summary *sum)
{
	size_t i;

	json_open(j, "threads", "[");
	for (i = 0; i < sum->threads_len; i++) {
		const struct summary_thread *t = &sum->threads[i];

		json_open(j, NULL, "{");
		json_known(j, "process", t->process != SIZE_MAX, t->process);
		json_u64(j, "pid", t->info->pid);
		json_u64(j, "tid", t->info->tid);
		json_text(j, "name", t->info->name);
		json_u64(j, "start_ticks", t->info->start_ticks);
		json_rows(j, thread_rows, ARRAY_LEN(thread_rows), t);
		json_close(j, "}");
	}
	json_close(j, "]");
}

void report_json_processes(struct json *j, const struct galvo_summary *sum)
{
	enum usage_kind kind;

	put_processes(j, sum);
	put_threads(j, sum);
	json_things(j, "groups", group_rows, ARRAY_LEN(group_rows), sum->groups, sum->groups_len,
	            sizeof(*sum->groups));
	json_open(j, "balance", "{");
	for (kind = USAGE_CPU_NS; kind < USAGE_END; kind++)
		json_object(j, kinds[kind], kind == USAGE_CPU_NS ? balance_s_rows : balance_bytes_rows,
		            ARRAY_LEN(balance_s_rows), &sum->balance[kind]);
	json_close(j, "}");
}
