/* The report as one JSON object; galvo-report(1) has every key. Absent is null. */
#include "json.h"

/* ---- the tables ----------------------------------------------------------------------------- */

#define SUMMARY struct galvo_summary
static const struct json_row summary_rows[] = {
	AS(TEXT, galvo_version, SUMMARY, galvo_version),
	AS(FLAG, has_session, SUMMARY, has_session),
	AS(FLAG, finished, SUMMARY, finished),
	AS(TEXT, hostname, SUMMARY, hostname),
	AS(TEXT, kernel, SUMMARY, kernel),
	AS(TEXT, root, SUMMARY, root),
	ONE(recorded_s, SUMMARY, recorded_s),
};

/* What the kernel accounted for the command at its end; null before. */
static const struct json_row workload_rows[] = {
	ONE(wall_s, struct summary_workload, wall_s),
	ONE(user_s, struct summary_workload, user_s),
	ONE(system_s, struct summary_workload, system_s),
	ONE(cpu_pct_of_core, struct summary_workload, pct_of_core),
	ONE(max_rss_bytes, struct summary_workload, max_rss_bytes),
	ONE(minor_faults, struct summary_workload, minor_faults),
	ONE(major_faults, struct summary_workload, major_faults),
	ONE(voluntary_switches, struct summary_workload, voluntary_switches),
	ONE(involuntary_switches, struct summary_workload, involuntary_switches),
};

/* The machine and each core have these. */
#define TIME struct summary_shares
static const struct json_row share_rows[] = {
	MEAN(busy, pct, TIME, busy_pct),
	MEAN(user, pct, TIME, user_pct),
	MEAN(kernel, pct, TIME, kernel_pct),
	MEAN(iowait, pct, TIME, iowait_pct),
	MEAN(steal, pct, TIME, steal_pct),
};

#define CPU struct summary_cpu
static const struct json_row cpu_rows[] = {
	ONE(processes_s, CPU, followed_pct_of_core.total),
	ONE(processes_unseen_s, CPU, unseen_s),
	MEAN(processes, pct_of_core, CPU, followed_pct_of_core),
	ONE(imbalance_ratio, CPU, imbalance_ratio),
	SUMMED(context_switches, context_switches, per_s, CPU, switches_per_s),
	SUMMED(forks, forks, per_s, CPU, forks_per_s),
	MEAN(running, tasks, CPU, running),
	MEAN(blocked, tasks, CPU, blocked),
};

/* Capacities hardly change: their highest value stands for them. */
#define MEMORY struct summary_memory
static const struct json_row memory_rows[] = {
	LEVEL(processes_rss, MEMORY, followed_rss_bytes),
	LEVEL(processes_pss, MEMORY, followed_pss_bytes),
	LEVEL(processes_swap, MEMORY, followed_swap_bytes),
	ONE(capacity_bytes, MEMORY, capacity_bytes.peak),
	LEVEL(used, MEMORY, used_bytes),
	LEVEL(available, MEMORY, available_bytes),
	LEVEL(buffers, MEMORY, buffers_bytes),
	LEVEL(cached, MEMORY, cached_bytes),
	LEVEL(dirty, MEMORY, dirty_bytes),
	ONE(swap_capacity_bytes, MEMORY, swap_capacity_bytes.peak),
	LEVEL(swap_used, MEMORY, swap_used_bytes),
};

#define PRESSURE struct summary_pressure
static const struct json_row pressure_rows[] = {
	MEAN(cpu_some, pct, PRESSURE, cpu_some_pct),
	MEAN(cpu_full, pct, PRESSURE, cpu_full_pct),
	MEAN(memory_some, pct, PRESSURE, memory_some_pct),
	MEAN(memory_full, pct, PRESSURE, memory_full_pct),
	MEAN(io_some, pct, PRESSURE, io_some_pct),
	MEAN(io_full, pct, PRESSURE, io_full_pct),
};

/* ---- the report ----------------------------------------------------------------------------- */

/* null if no command was started. */
static void put_workload(struct json *j, const struct summary_workload *w)
{
	static const char *const states[] = {
		[WORKLOAD_UNKNOWN] = "unknown", [WORKLOAD_RUNNING] = "running",
		[WORKLOAD_EXITED] = "exited", [WORKLOAD_KILLED] = "killed",
	};
	bool killed = w->state == WORKLOAD_KILLED;
	size_t i;

	if (w->state == WORKLOAD_NONE) {
		json_null(j, "workload");
		return;
	}
	json_open(j, "workload", "{");
	json_open(j, "argv", "[");
	for (i = 0; i < w->argv_len; i++)
		json_string(j, NULL, w->argv[i]);
	json_close(j, "]");
	json_u64(j, "pid", w->pid);
	json_text(j, "state", states[w->state]);
	json_known(j, "exit_code", killed || w->state == WORKLOAD_EXITED, (uint32_t)w->exit_code);
	json_known(j, "term_signal", killed, (uint32_t)w->term_signal);
	json_rows(j, workload_rows, ARRAY_LEN(workload_rows), w);
	json_close(j, "}");
}

/* CPUs without rows were offline: they have no element. */
static void put_cpu(struct json *j, const struct summary_cpu *cpu)
{
	size_t i;

	json_open(j, "cpu", "{");
	json_rows(j, share_rows, ARRAY_LEN(share_rows), &cpu->time);
	json_rows(j, cpu_rows, ARRAY_LEN(cpu_rows), cpu);
	json_open(j, "cores", "[");
	for (i = 0; i < cpu->cores_len; i++) {
		if (!cpu->cores[i].present)
			continue;
		json_open(j, NULL, "{");
		json_u64(j, "cpu", cpu->cores[i].cpu);
		json_rows(j, share_rows, ARRAY_LEN(share_rows), &cpu->cores[i].time);
		json_close(j, "}");
	}
	json_close(j, "]");
	json_close(j, "}");
}

/* Keys are added, never taken away; a change of meaning would be galvo_report 2. */
void report_json(struct sheet *s, const struct galvo_summary *sum)
{
	struct json j = {.sheet = s};

	json_open(&j, NULL, "{");
	json_u64(&j, "galvo_report", 1);
	json_rows(&j, summary_rows, ARRAY_LEN(summary_rows), sum);
	json_known(&j, "cpu_count", sum->cpu_count, sum->cpu_count);
	json_known(&j, "start_wall_ns", sum->start_wall_ns, sum->start_wall_ns);
	put_workload(&j, &sum->workload);
	put_cpu(&j, &sum->cpu);
	json_object(&j, "memory", memory_rows, ARRAY_LEN(memory_rows), &sum->memory);
	json_object(&j, "pressure", pressure_rows, ARRAY_LEN(pressure_rows), &sum->pressure);
	report_json_things(&j, sum);
	json_close(&j, "}");
	buf_put_str(&s->buf, "\n");
}
