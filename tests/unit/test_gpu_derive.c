/* What runs say of GPUs, as numbers: telemetry, energy, users, instances; hostile rows too. */
#include "gpu_run.h"

#define POWER "gpu__power_watts"
#define ENERGY "gpu__energy_joules"
#define BUSY "gpu__utilization.pct"

/* ---- telemetry ------------------------------------------------------------------------------ */

static void no_gpus(void)
{
	struct fake_run *f = alloc_array(1, sizeof(*f));
	struct galvo_summary *s;

	fake_init(f);
	s = summary_of(f);
	EQ(s->gpus_len, 0);
	OK(isnan(s->gpu_totals.energy_joules) && isnan(s->gpu_totals.memory_peak_bytes));
	galvo_summary_destroy(s);
	free(f);
}

static void shares_of_time(void)
{
	static const char *const columns[] = {
		BUSY, "gpu__throttle_sw_power_cap.ratio", "gpu__throttle_hw_thermal.ratio",
		"gpu__throttle_idle.ratio", "gpu__memory_used_bytes", "gpu__memory_total_bytes",
	};
	struct fake_run *f = one_gpu();
	const struct summary_gpu *g;
	struct galvo_summary *s;
	size_t t = gpu_table(f, STREAM_TELEMETRY, SCOPE_GPU, columns, ARRAY_LEN(columns));

	ROW(f, t, 101 * S, 0, 4.9, 0, 0, 1, 1000, 4000);
	ROW(f, t, 102 * S, 0, 5, 1, 1, 0, 3000, 4000);
	ROW(f, t, 103 * S, 0, 60, 1, 0, 0, 2000, 4000);
	ROW(f, t, 104 * S, 0, NAN, NAN, NAN, NAN, NAN, NAN); /* covers nothing */
	ROW(f, t, 105 * S, 0, 100, NAN, 1, 0, 2000, NAN);
	s = summary_of(f);
	g = &s->gpus[0];
	/* The row at 105 s stands for the two seconds since the last one that said something. */
	OK(is(g->utilization_pct.avg, (4.9 + 5 + 60 + 2 * 100) / 5));
	OK(is(g->utilization_pct.total, (4.9 + 5 + 60 + 2 * 100) / 100));
	OK(is(g->utilization_pct.peak, 100) && is(g->idle.total, 1) && is(g->busy.total, 3));
	OK(is(g->throttled.total, 4) && is(g->throttled.avg, 4 / 5.0));
	OK(is(g->throttle[THROTTLE_SW_POWER_CAP].total, 2));
	OK(is(g->throttle[THROTTLE_HW_THERMAL].total, 3));
	OK(is(g->throttle[THROTTLE_IDLE].total, 1));
	OK(isnan(g->throttle[THROTTLE_SYNC_BOOST].total));
	OK(is(g->memory_used_bytes.peak, 3000) && is(g->memory_bytes, 4000));
	OK(is(g->covered_s, 5) && is(g->covered_pct, 50));
	OK(g->state == GPU_ACTIVE && g->used && !g->is_allocation_known);
	OK(isnan(g->power_watts.avg) && isnan(g->energy.counter.amount));
	OK(!g->counters.asked && isnan(g->counters.sm_busy_pct.avg));
	galvo_summary_destroy(s);
	free(f);
}

/* A GPU that hung, beside one that did not: what it says afterwards is not of the time before. */
static void a_hole_is_not_covered(void)
{
	static const char *const columns[] = {BUSY};
	struct fake_run *f = one_gpu();
	struct galvo_summary *s;
	size_t t = gpu_table(f, STREAM_TELEMETRY, SCOPE_GPU, columns, 1);
	uint64_t i;

	fake_gpu(f, "NVIDIA H200");
	for (i = 1; i <= 10; i++) {
		if (i < 3 || i > 7)
			ROW(f, t, (100 + i) * S, 0, i > 7 ? 100 : 0);
		ROW(f, t, (100 + i) * S, 1, 50);
	}
	s = summary_of(f);
	OK(is(s->gpus[0].covered_s, 5) && is(s->gpus[0].utilization_pct.avg, 60));
	OK(is(s->gpus[1].covered_s, 10));
	EQ(s->streams[2].gaps, 0);
	galvo_summary_destroy(s);
	free(f);
}

static void states(void)
{
	static const char *const columns[] = {BUSY, POWER};
	static const struct {
		double busy, power;
		enum gpu_state want;
	} rows[] = {
		{0, 10, GPU_IDLE}, {4.99, 10, GPU_IDLE}, {5, 10, GPU_ACTIVE}, {59.99, 10, GPU_ACTIVE},
		{60, 10, GPU_BUSY}, {NAN, 10, GPU_UNKNOWN}, {NAN, NAN, GPU_UNAVAILABLE},
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++) {
		struct fake_run *f = one_gpu();
		struct galvo_summary *s;
		size_t t = gpu_table(f, STREAM_TELEMETRY, SCOPE_GPU, columns, 2);

		ROW(f, t, 101 * S, 0, rows[i].busy, rows[i].power);
		ROW(f, t, 102 * S, 0, rows[i].busy, rows[i].power);
		s = summary_of(f);
		EQ(s->gpus[0].state, rows[i].want);
		galvo_summary_destroy(s);
		free(f);
	}
}

/* Rows of no GPU, times that go back and stand still, values that are no numbers. */
static void hostile_telemetry(void)
{
	static const char *const columns[] = {BUSY, POWER, ENERGY};
	struct fake_run *f = one_gpu();
	const struct summary_gpu *g;
	struct galvo_summary *s;
	size_t t = gpu_table(f, STREAM_TELEMETRY, SCOPE_GPU, columns, 3);

	ROW(f, t, 101 * S, UINT32_MAX, 100, 1e6, 0);
	ROW(f, t, 101 * S, 7, 100, 1e6, 0);
	ROW(f, t, 101 * S, 0, 50, 100, 1000);
	ROW(f, t, 103 * S, 0, 50, 100, 1200);
	ROW(f, t, 102 * S, 0, 50, 100, 1100); /* late */
	ROW(f, t, 103 * S, 0, 50, 100, 1200); /* twice */
	ROW(f, t, 104 * S, 0, INFINITY, -INFINITY, NAN);
	ROW(f, t, 105 * S, 0, 50, 100, -5);
	ROW(f, t, 105 * S, 0, 50, 100, 1400);
	s = summary_of(f);
	g = &s->gpus[0];
	OK(is(g->utilization_pct.avg, 50) && g->covered_s <= 5);
	OK(is(g->energy.integral_joules, 400) && is(g->energy.counter.amount, 400));
	EQ(g->energy.counter.resets, 0);
	OK(is(g->energy.difference_pct, 0) && is(g->energy.gaps_s, 0));
	galvo_summary_destroy(s);
	free(f);
}

/* ---- energy --------------------------------------------------------------------------------- */

struct reading {
	double at_s, watts, joules;
};

static const struct {
	const char *what;
	struct reading readings[8];
	double counter, integral, gaps_s, compared_s, difference_pct;
	uint64_t resets;
} energies[] = {
	{"both agree", {{1, 100, 50}, {2, 100, 150}, {3, 200, 300}}, 250, 250, 0, 2, 0, 0},
	{"the integral has more", {{1, 100, 50}, {2, 100, 150}, {3, 200, 250}}, 200, 250, 0, 2, 25, 0},
	{"the counter falls", {{1, 100, 900}, {2, 100, 1000}, {3, 100, 20}, {4, 100, 120}},
	 200, 300, 0, 2, 0, 1},
	{"no bridge over 7 s", {{1, 100, 100}, {2, 100, 200}, {9, 100, 900}, {10, 100, 1000}},
	 900, 200, 7, 2, 0, 0},
	{"a bridge over 5 s", {{1, 100, 100}, {6, 200, 850}}, 750, 750, 0, 5, 0, 0},
	{"a counter that is read more rarely", {{1, 100, 0}, {2, 200, NAN}, {3, 100, 300}},
	 300, 300, 0, 2, 0, 0},
	{"no counter", {{1, 100, NAN}, {2, 300, NAN}}, NAN, 200, 0, 0, NAN, 0},
	{"no power", {{1, NAN, 5}, {2, NAN, 9}}, 4, NAN, NAN, 0, NAN, 0},
	{"one reading", {{1, 100, 5}}, NAN, NAN, NAN, 0, NAN, 0},
	{"a counter that stands still", {{1, 100, 5}, {2, 100, 5}}, 0, 100, 0, 1, NAN, 0},
};

static void energy_in_two_ways(void)
{
	static const char *const columns[] = {POWER, ENERGY};
	size_t i, k;

	for (i = 0; i < ARRAY_LEN(energies); i++) {
		struct fake_run *f = one_gpu();
		const struct summary_energy *e;
		struct galvo_summary *s;
		size_t t = gpu_table(f, STREAM_TELEMETRY, SCOPE_GPU, columns, 2);

		for (k = 0; k < 8 && energies[i].readings[k].at_s > 0; k++)
			ROW(f, t, 100 * S + (uint64_t)(energies[i].readings[k].at_s * 1e9), 0,
			    energies[i].readings[k].watts, energies[i].readings[k].joules);
		s = summary_of(f);
		e = &s->gpus[0].energy;
		if (!OK(is(e->counter.amount, energies[i].counter) &&
		        is(e->integral_joules, energies[i].integral) && is(e->gaps_s, energies[i].gaps_s) &&
		        is(e->compared_s, energies[i].compared_s) &&
		        is(e->difference_pct, energies[i].difference_pct) &&
		        e->counter.resets == energies[i].resets))
			printf("# %s\n", energies[i].what);
		OK(is(s->gpu_totals.energy_joules, energies[i].counter));
		galvo_summary_destroy(s);
		free(f);
	}
}

/* A mean over a second stands in for what is not told at an instant, and the other way round. */
static void power_is_told_in_two_ways(void)
{
	static const char *const columns[] = {POWER, "gpu__power_instant_watts"};
	struct fake_run *f = one_gpu();
	struct galvo_summary *s;
	size_t t = gpu_table(f, STREAM_TELEMETRY, SCOPE_GPU, columns, 2);
	uint64_t i;

	fake_gpu(f, "NVIDIA H200");
	for (i = 1; i <= 3; i++) {
		ROW(f, t, (100 + i) * S, 0, 100, i == 2 ? 700 : 50);
		ROW(f, t, (100 + i) * S, 1, NAN, 300);
	}
	s = summary_of(f);
	OK(is(s->gpus[0].energy.integral_joules, 200) && is(s->gpus[1].energy.integral_joules, 600));
	OK(is(s->gpus[0].power_instant_watts.peak, 700) && is(s->gpus[0].power_watts.peak, 100));
	OK(is(s->gpu_totals.power_watts, 400) && is(s->gpu_totals.integral_joules, 800));
	galvo_summary_destroy(s);
	free(f);
}

static void counters_that_only_grow(void)
{
	struct fake_run *f = one_gpu();
	const struct summary_gpu *g;
	struct galvo_summary *s;
	size_t t = gpu_table(f, STREAM_TELEMETRY, SCOPE_GPU_DETAIL, detail_columns,
	                     ARRAY_LEN(detail_columns));

	ROW(f, t, 101 * S, 0, 7, 0, NAN, 1e9, 0);
	ROW(f, t, 104 * S, 0, 9, 0, NAN, 2.5e9, 0);
	ROW(f, t, 107 * S, 0, 1, 0, 5, 2.5e9, 0); /* somebody reset the first one */
	ROW(f, t, 110 * S, 0, 2, 1, NAN, 4e9, 0);
	s = summary_of(f);
	g = &s->gpus[0];
	OK(is(g->ecc_corrected.amount, 3) && g->ecc_corrected.resets == 1);
	OK(is(g->ecc_uncorrected.amount, 1) && isnan(g->pcie_replays.amount));
	OK(is(g->power_throttle.amount, 3) && is(g->power_throttle.over_s, 9));
	OK(isnan(g->thermal_throttle.amount));
	OK(g->is_allocation_known && !g->allocated);
	galvo_summary_destroy(s);
	free(f);
}

/* ---- users ---------------------------------------------------------------------------------- */

static void who_used_it(void)
{
	static const char *const columns[] = {BUSY, "gpu__memory_used_bytes"};
	struct fake_run *f = one_gpu();
	const struct summary_gpu_process *p;
	const struct summary_gpu *g;
	struct galvo_summary *s;
	size_t t = gpu_table(f, STREAM_TELEMETRY, SCOPE_GPU, columns, 2);
	size_t u = gpu_table(f, STREAM_TELEMETRY, SCOPE_GPU_PROCESS, process_columns, 2);
	uint64_t i;

	fake_process(f, 20, 1, 1, "old")->end_mono_ns = 101 * S; /* had the number before */
	fake_process(f, 10, 1, 1, "train");
	for (i = 1; i <= 10; i++) {
		ROW(f, t, (100 + i) * S, 0, 80, 1000);
		ROW(f, u, (100 + i) * S, 0, 500, 50);
		fake_row_pid(f, u, 10);
		if (i > 5) {
			ROW(f, u, (100 + i) * S, 0, 200, 20);
			fake_row_pid(f, u, 20);
		}
	}
	ROW(f, u, 110 * S, 0, NAN, NAN);
	fake_row_pid(f, u, 30);
	s = summary_of(f);
	g = &s->gpus[0];
	EQ(g->processes_len, 3);
	p = &g->processes[0];
	OK(p->pid == 10 && p->info && s->processes[p->process].info == p->info);
	OK(is(p->memory_bytes.peak, 500) && is(p->memory_mean_bytes, 500));
	OK(is(p->utilization_pct.total, 5) && is(p->share_pct, 62.5));
	p = &g->processes[1];
	OK(p->pid == 20 && !p->info && p->process == SIZE_MAX);
	OK(is(p->memory_bytes.avg, 200) && is(p->memory_mean_bytes, 100) && is(p->utilization_pct.total, 1));
	p = &g->processes[2];
	OK(p->pid == 30 && isnan(p->memory_bytes.peak) && isnan(p->share_pct));
	OK(is(g->rest_memory_bytes, 400) && is(g->rest_utilization_s, 2) && is(g->rest_share_pct, 25));
	OK(!g->is_suspect && g->used && g->allocated);
	galvo_summary_destroy(s);
	/* From inside of another PID namespace the numbers are not those of our processes. */
	f->gpus[0].info.foreign_pids = true;
	s = summary_of(f);
	OK(s->gpus[0].processes_len == 3 && !s->gpus[0].processes[0].info && s->gpus[0].used);
	galvo_summary_destroy(s);
	free(f);
}

/* Lists that reach over what the GPU was watched for give nobody more than there was. */
static void lists_are_read_more_rarely(void)
{
	static const char *const columns[] = {BUSY, "gpu__memory_used_bytes"};
	struct fake_run *f = one_gpu();
	const struct summary_gpu *g;
	struct galvo_summary *s;
	size_t t = gpu_table(f, STREAM_TELEMETRY, SCOPE_GPU, columns, 2);
	size_t u = gpu_table(f, STREAM_TELEMETRY, SCOPE_GPU_PROCESS, process_columns, 2);
	uint64_t i;

	for (i = 1; i <= 8; i++)
		ROW(f, t, (100 + i) * S, 0, 80, 1000);
	for (i = 1; i <= 2; i++) { /* 10 s, of which the last ones nobody watched the GPU */
		ROW(f, u, (100 + 5 * i) * S, 0, 1000, 80);
		fake_row_pid(f, u, 10);
	}
	s = summary_of(f);
	g = &s->gpus[0];
	OK(is(g->processes[0].memory_mean_bytes, 1000) && is(g->processes[0].utilization_pct.total, 6.4));
	OK(is(g->processes[0].share_pct, 100) && is(g->rest_memory_bytes, 0));
	OK(is(g->rest_utilization_s, 0));
	galvo_summary_destroy(s);
	free(f);
}

/* A driver that tells of a busy GPU, and of one process that does nothing: nobody gets its share. */
static void a_suspect(void)
{
	static const char *const columns[] = {BUSY, "gpu__memory_used_bytes"};
	struct fake_run *f = one_gpu();
	const struct summary_gpu *g;
	struct galvo_summary *s;
	size_t t = gpu_table(f, STREAM_TELEMETRY, SCOPE_GPU, columns, 2);
	size_t u = gpu_table(f, STREAM_TELEMETRY, SCOPE_GPU_PROCESS, process_columns, 2);
	uint64_t i;

	for (i = 1; i <= 10; i++) {
		ROW(f, t, (100 + i) * S, 0, 97, 58 * GIB);
		ROW(f, u, (100 + i) * S, 0, 5 * GIB, 0);
		fake_row_pid(f, u, 4242);
		s = summary_of(f);
		OK(s->gpus[0].is_suspect == (i == 10));
		galvo_summary_destroy(s);
	}
	s = summary_of(f);
	g = &s->gpus[0];
	OK(is(g->rest_memory_bytes, 53 * GIB) && is(g->rest_utilization_s, 9.7));
	OK(is(g->processes[0].utilization_pct.avg, 0) && is(g->processes[0].memory_bytes.peak, 5 * GIB));
	galvo_summary_destroy(s);
	/* Where use is not told at all, it is nobody's fault, and not known whose it was. */
	for (i = 0; i < 10; i++)
		f->columns[u].value[1][i] = NAN;
	s = summary_of(f);
	OK(!s->gpus[0].is_suspect && isnan(s->gpus[0].rest_utilization_s));
	OK(is(s->gpus[0].rest_memory_bytes, 53 * GIB));
	galvo_summary_destroy(s);
	free(f);
}

static void instances(void)
{
	static const char *const columns[] = {BUSY, "gpu__memory_used_bytes", POWER};
	struct fake_run *f = one_gpu();
	struct galvo_summary *s;
	size_t t = gpu_table(f, STREAM_TELEMETRY, SCOPE_GPU, columns, 3);
	size_t u = gpu_table(f, STREAM_TELEMETRY, SCOPE_GPU_PROCESS, process_columns, 2);
	uint32_t i;

	fake_gpu(f, "NVIDIA H200");
	for (i = 2; i < 5; i++) {
		struct gpu_info *info = &fake_gpu(f, "NVIDIA H200 MIG 1g.18gb")->info;

		info->is_instance = true;
		info->parent = i == 4 ? 77 : 0; /* of none that is there */
		info->gpu_instance = 2 + i;
	}
	for (i = 0; i < 5; i++) {
		ROW(f, t, 101 * S, i, i ? NAN : 10, 100, 50);
		ROW(f, t, 102 * S, i, i ? NAN : 10, 100, 50);
	}
	ROW(f, u, 102 * S, 3, 70, NAN);
	fake_row_pid(f, u, 4242);
	s = summary_of(f);
	EQ(s->gpus_len, 5);
	EQ(s->gpus[1].number, 2);
	OK(s->gpus[1].parent == 0 && s->gpus[2].parent == 0 && s->gpus[2].processes_len == 1);
	OK(s->gpus[3].number == 1 && s->gpus[3].parent == SIZE_MAX);
	OK(s->gpus[4].number == 4 && s->gpus[4].parent == SIZE_MAX);
	OK(s->gpu_totals.gpus == 3 && is(s->gpu_totals.power_watts, 150));
	OK(s->gpus[1].state == GPU_UNKNOWN);
	galvo_summary_destroy(s);
	free(f);
}

/* CUDA is shown one that telemetry does not know, and telemetry has them in another order. */
static void numbers(void)
{
	static const char *const columns[] = {BUSY};
	struct fake_run *f = one_gpu();
	struct galvo_summary *s;
	size_t t = gpu_table(f, STREAM_TELEMETRY, SCOPE_GPU, columns, 1);
	uint32_t i;

	fake_gpu(f, "NVIDIA H200");
	fake_gpu(f, "NVIDIA H200")->in_telemetry = false;
	f->gpus[0].info.index = 1;
	f->gpus[1].info.index = 0;
	f->gpus[2].info.index = 0;
	for (i = 0; i < 10; i++)
		ROW(f, t, (101 + i) * S, 0, 0.1);
	s = summary_of(f);
	EQ(s->gpus_len, 3);
	OK(s->gpus[0].number == 1 && s->gpus[1].number == 0 && s->gpus[2].number == 2);
	OK(!s->gpus[0].has_cuda_index && !s->gpus[1].has_cuda_index && s->gpus[2].has_cuda_index);
	OK(s->gpus[1].utilization_pct.peak <= 0.1 && s->gpus[1].utilization_pct.avg <= 0.1);
	galvo_summary_destroy(s);
	free(f);
}

static const struct tap_test tests[] = {
	{"no GPUs", no_gpus},
	{"shares of time", shares_of_time},
	{"a hole is not covered", a_hole_is_not_covered},
	{"states", states},
	{"hostile telemetry", hostile_telemetry},
	{"energy in two ways", energy_in_two_ways},
	{"power is told in two ways", power_is_told_in_two_ways},
	{"counters that only grow", counters_that_only_grow},
	{"who used it", who_used_it},
	{"lists are read more rarely", lists_are_read_more_rarely},
	{"a suspect", a_suspect},
	{"instances", instances},
	{"numbers", numbers},
};
TAP_MAIN(tests)
