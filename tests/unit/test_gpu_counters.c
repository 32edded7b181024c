/* What hardware counters say, as numbers: whatever was chosen, whatever rows look like; and in regions. */
#include "gpu_run.h"

#define SHARE(name) name ".pct_of_peak_sustained_elapsed"
#define POWER "gpu__power_watts"
#define BUSY "gpu__utilization.pct"

static void shares_are_ratios_of_sums(void)
{
	static const char *const columns[] = {
		"sm__cycles_active.avg", "sm__cycles_active.max", "sm__cycles_elapsed.avg",
		"TPC.TriageCompute.sm__pipe_tensor_cycles_active_realtime.avg", "sm__warps_active.avg",
		SHARE("dram__read_throughput.avg"), SHARE("dram__write_throughput.avg"),
		"pcie__read_bytes.sum", "gpc__cycles_elapsed.avg.per_second",
	};
	struct fake_run *f = one_gpu();
	const struct summary_counters *c;
	struct galvo_summary *s;
	size_t t = gpu_table(f, STREAM_GPU, SCOPE_GPU, columns, ARRAY_LEN(columns));

	f->gpus[0].info.warps_per_sm = 64;
	f->gpus[0].info.peak_dram_bytes_per_s = 1000;
	ROW(f, t, 101 * S, 0, 100, 150, 1000, 50, 16000, 80, 20, 300, 2e9);
	fake_row_covers(f, t, 1 * S);
	ROW(f, t, 104 * S, 0, 300, 450, 3000, 0, 0, 20, 0, 0, 1e9);
	fake_row_covers(f, t, 3 * S);
	ROW(f, t, 105 * S, 0, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN);
	fake_row_covers(f, t, 1 * S);
	s = summary_of(f);
	c = &s->gpus[0].counters;
	OK(c->asked && c->samples == 3 && is(c->covered_s, 5) && is(c->covered_pct, 50));
	OK(is(c->sm_busy_pct.avg, 10) && is(c->sm_busy_pct.peak, 10) && isnan(c->sm_busy_pct.total));
	OK(is(c->sm_imbalance_ratio, 0.5));
	OK(is(c->tensor_pct.avg, 1.25) && is(c->tensor_pct.peak, 5));
	OK(is(c->warps_per_sm.avg, 4) && is(c->occupancy_pct.avg, 6.25));
	OK(is(c->dram_read_pct.avg, 35) && is(c->dram_write_pct.avg, 5) && is(c->dram_pct.avg, 40));
	OK(is(c->dram_pct.peak, 100) && is(c->dram_read_bytes_per_s.avg, 350));
	OK(is(c->dram_read_bytes_per_s.total, 1400));
	OK(is(c->pcie_rx_bytes_per_s.total, 300) && is(c->pcie_rx_bytes_per_s.avg, 75));
	OK(is(c->sm_clock_hz.avg, 1.25e9) && isnan(c->gr_busy_pct.avg));
	OK(isnan(c->nvlink_rx_bytes_per_s.total) && isnan(c->missing_s) && !c->decode);
	galvo_summary_destroy(s);
	free(f);
}

/* What else a user may have chosen gives the same figures. */
static void other_names(void)
{
	static const struct {
		const char *column, *other;
		size_t offset;
		double value, more, want;
	} rows[] = {
#define AT(member) offsetof(struct summary_counters, member)
		{SHARE("sm__cycles_active.avg"), NULL, AT(sm_busy_pct), 40, 0, 40},
		{SHARE("gr__cycles_active.avg"), NULL, AT(gr_busy_pct), 40, 0, 40},
		{SHARE("sm__pipe_tensor_cycles_active.avg"), NULL, AT(tensor_pct), 40, 0, 40},
		{SHARE("sm__warps_active.avg"), NULL, AT(occupancy_pct), 40, 0, 40},
		{"sm__warps_active.avg.per_cycle_elapsed", NULL, AT(warps_per_sm), 12, 0, 12},
		{SHARE("dram__throughput.avg"), NULL, AT(dram_pct), 40, 0, 40},
		{"dram__bytes_read.sum", "dram__bytes_write.sum", AT(dram_pct), 1000, 1000, 40},
		{"dram__bytes_read.sum", "dram__bytes_write.sum", AT(dram_read_pct), 1000, 500, 20},
		{"dram__bytes_read.sum.per_second", NULL, AT(dram_read_pct), 1000, 0, 40},
		{"dram__bytes_write.sum", NULL, AT(dram_write_bytes_per_s), 1000, 0, 500},
		{SHARE("pcie__throughput.avg"), NULL, AT(pcie_pct), 3, 0, 3},
		{"pcie__write_bytes.sum.per_second", NULL, AT(pcie_tx_bytes_per_s), 3, 0, 3},
		{"nvltx__bytes.sum", NULL, AT(nvlink_tx_bytes_per_s), 30, 0, 15},
		{"sm__cycles_elapsed.avg", NULL, AT(sm_clock_hz), 3e9, 0, 1.5e9},
#undef AT
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++) {
		const char *const columns[] = {rows[i].column, rows[i].other};
		struct fake_run *f = one_gpu();
		struct galvo_summary *s;
		struct figure got;
		size_t t = gpu_table(f, STREAM_GPU, SCOPE_GPU, columns, rows[i].other ? 2 : 1);

		f->gpus[0].info.peak_dram_bytes_per_s = 2500;
		ROW(f, t, 102 * S, 0, rows[i].value, rows[i].more);
		fake_row_covers(f, t, 2 * S);
		s = summary_of(f);
		memcpy(&got, (char *)&s->gpus[0].counters + rows[i].offset, sizeof(got));
		if (!OK(is(got.avg, rows[i].want)))
			printf("# %s\n", rows[i].column);
		galvo_summary_destroy(s);
		free(f);
	}
}

/* Rows that overlap, come twice, in disorder, or reach over the start count once, and no more. */
static void hostile_samples(void)
{
	static const char *const columns[] = {"sm__cycles_active.avg", "sm__cycles_elapsed.avg",
	                                      "pcie__read_bytes.sum"};
	struct fake_run *f = one_gpu();
	const struct summary_counters *c;
	struct galvo_summary *s;
	size_t t = gpu_table(f, STREAM_GPU, SCOPE_GPU, columns, 3);

	ROW(f, t, 103 * S, 0, 100, 100, 100);
	fake_row_covers(f, t, 2 * S); /* half of it is covered by the next one */
	ROW(f, t, 102 * S, 0, 0, 100, 500);
	fake_row_covers(f, t, 50 * S); /* of which 2 s are in the recording */
	ROW(f, t, 103 * S, 0, 100, 100, 100);
	fake_row_covers(f, t, 2 * S);
	ROW(f, t, 104 * S, 0, -1, 100, -1);
	fake_row_covers(f, t, 1 * S);
	ROW(f, t, 105 * S, 0, 1, 0, INFINITY);
	fake_row_covers(f, t, 1 * S);
	ROW(f, t, 99 * S, 0, 100, 100, 1e9); /* before the start */
	fake_row_covers(f, t, 1 * S);
	ROW(f, t, 106 * S, 0, 100, 100, 1e9);
	fake_row_covers(f, t, 0); /* nobody knows what it covers: the time since the one before */
	ROW(f, t, 103 * S, 9, 100, 100, 1e9);
	fake_row_covers(f, t, UINT64_MAX);
	s = summary_of(f);
	c = &s->gpus[0].counters;
	OK(is(c->covered_s, 6));
	/* 2 s of 50 of the one at 102 s, half of the one at 103 s, all of the one at 106 s. */
	OK(is(c->sm_busy_pct.avg, 100 * (50 + 100) / (4 + 50.0 + 100)));
	OK(is(c->pcie_rx_bytes_per_s.total, 20 + 50 + 1e9));
	galvo_summary_destroy(s);
	free(f);
}

static void samples_without_lengths(void)
{
	static const char *const columns[] = {"pcie__read_bytes.sum"};
	struct fake_run *f = one_gpu();
	struct galvo_summary *s;
	size_t t = gpu_table(f, STREAM_GPU, SCOPE_GPU, columns, 1);

	ROW(f, t, 101 * S, 0, 10); /* the first one may cover anything */
	ROW(f, t, 102 * S, 0, 10);
	ROW(f, t, 103 * S, 0, 10);
	ROW(f, t, 108 * S, 0, 10); /* a gap is before it */
	s = summary_of(f);
	OK(is(s->gpus[0].counters.covered_s, 3));
	OK(is(s->gpus[0].counters.pcie_rx_bytes_per_s.total, 30));
	galvo_summary_destroy(s);
	f->gpus[0].has_decode = true;
	f->gpus[0].decode.interval_ns = 500 * MS;
	f->gpus[0].decode.missing_ns = 250 * MS;
	s = summary_of(f);
	OK(is(s->gpus[0].counters.covered_s, 2) && is(s->gpus[0].counters.missing_pct, 2.5));
	OK(is(s->gpus[0].counters.pcie_rx_bytes_per_s.avg, 20));
	galvo_summary_destroy(s);
	free(f);
}

/* ---- regions -------------------------------------------------------------------------------- */

static const struct summary_region *region_of(const galvo_summary *s, const char *name)
{
	size_t i;

	for (i = 0; i < s->regions_len; i++)
		if (span_eq_str(s->regions[i].name, name))
			return &s->regions[i];
	return NULL;
}

static void gpus_in_regions(void)
{
	static const char *const telemetry[] = {BUSY, POWER};
	static const char *const counters[] = {"sm__cycles_active.avg", "sm__cycles_elapsed.avg",
	                                       SHARE("sm__pipe_tensor_cycles_active.avg")};
	struct fake_run *f = one_gpu();
	const struct summary_region *r;
	struct region *kernel;
	struct galvo_summary *s;
	size_t t = gpu_table(f, STREAM_TELEMETRY, SCOPE_GPU, telemetry, 2);
	size_t c = gpu_table(f, STREAM_GPU, SCOPE_GPU, counters, 3);
	uint64_t i;

	fake_gpu(f, "NVIDIA H200"); /* never used */
	fake_region(f, "first half", 0, 5000);
	fake_region(f, "over the edge", 4500, 5500);
	fake_region(f, "behind all", 9000, 10000);
	fake_region(f, "twice", 1000, 2000);
	fake_region(f, "twice", 6000, 7000);
	kernel = fake_region(f, "kernel", 6000, 6500);
	kernel->domain = DOMAIN_GPU;
	kernel->error_ns = 20000;
	fake_region(f, "asked", 6000, 6500)->domain = DOMAIN_GPU; /* when it was is not known */
	fake_region(f, "moment", 6000, 6000)->end_mono_ns = 106 * S;
	for (i = 0; i <= 8; i++) {
		ROW(f, t, (100 + i) * S, 0, i > 5 ? 100 : 20, 300);
		ROW(f, t, (100 + i) * S, 1, 0, 70);
		if (i == 0)
			continue;
		ROW(f, c, (100 + i) * S, 0, i > 5 ? 900 : 100, 1000, i > 5 ? 60 : 0);
		fake_row_covers(f, c, 1 * S);
		ROW(f, c, (100 + i) * S, 1, 0, 1e9, 0);
		fake_row_covers(f, c, 1 * S);
	}
	s = summary_of(f);
	OK(s->gpus[0].used && !s->gpus[1].used);
	r = region_of(s, "first half");
	OK(is(r->gpu_utilization_pct, 20) && is(r->gpu_sm_busy_pct, 10) && is(r->gpu_tensor_pct, 0));
	OK(is(r->gpu_energy_joules, 1500));
	r = region_of(s, "over the edge");
	OK(is(r->gpu_utilization_pct, 60) && is(r->gpu_sm_busy_pct, 50) && is(r->gpu_tensor_pct, 30));
	OK(is(r->gpu_energy_joules, 300));
	r = region_of(s, "behind all");
	OK(isnan(r->gpu_utilization_pct) && isnan(r->gpu_sm_busy_pct) && isnan(r->gpu_energy_joules));
	r = region_of(s, "twice");
	OK(is(r->gpu_utilization_pct, 60) && is(r->gpu_sm_busy_pct, 50));
	OK(is(r->gpu_energy_joules, 600));
	r = region_of(s, "kernel");
	OK(is(r->gpu_sm_busy_pct, 90) && isnan(r->cpu_s));
	OK(isnan(region_of(s, "asked")->gpu_sm_busy_pct));
	OK(isnan(region_of(s, "moment")->gpu_sm_busy_pct));
	galvo_summary_destroy(s);
	free(f);
}

static const struct tap_test tests[] = {
	{"shares are ratios of sums", shares_are_ratios_of_sums},
	{"other names", other_names},
	{"hostile samples", hostile_samples},
	{"samples without lengths", samples_without_lengths},
	{"GPUs in regions", gpus_in_regions},
};
TAP_MAIN(tests)
