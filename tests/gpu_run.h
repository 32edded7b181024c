/* Runs with GPUs, made by hand: telemetry a second, hardware counters ten times a second, processes. */
#ifndef GALVO_GPU_RUN_H
#define GALVO_GPU_RUN_H

#include "derive/derive.h"
#include "fake_run.h"
#include "tap.h"

#define GIB 1073741824.0
#define HZ(mhz) ((mhz)*1e6)

static const char *const telemetry_columns[] = {
	"gpu__utilization.pct", "gpu__memory_used_bytes", "gpu__memory_total_bytes",
	"gpu__power_watts", "gpu__power_limit_watts", "gpu__energy_joules",
	"gpu__temperature_celsius", "gpu__clock_sm_hz", "gpu__throttle_idle.ratio",
	"gpu__throttle_sw_power_cap.ratio", "gpu__throttle_hw_thermal.ratio",
	"gpu__pcie_rx_bytes.sum.per_second", "gpu__pcie_tx_bytes.sum.per_second",
};
static const char *const detail_columns[] = {
	"gpu__ecc_corrected_errors", "gpu__ecc_uncorrected_errors", "gpu__pcie_replays",
	"gpu__throttled_power_ns", "gpu__processes",
};
static const char *const process_columns[] = {"proc__gpu_memory_used_bytes",
                                              "proc__gpu_utilization.pct"};
static const char *const counter_columns[] = {
	"sm__cycles_active.avg", "sm__cycles_active.max", "sm__cycles_elapsed.avg",
	"sm__pipe_tensor_cycles_active.avg", "sm__warps_active.avg",
	"dram__read_throughput.avg.pct_of_peak_sustained_elapsed",
	"dram__write_throughput.avg.pct_of_peak_sustained_elapsed",
	"pcie__read_bytes.sum", "pcie__write_bytes.sum", "nvlrx__bytes.sum", "nvltx__bytes.sum",
	"gpc__cycles_elapsed.avg.per_second",
};

static inline size_t gpu_table(struct fake_run *f, enum stream_kind stream, enum scope scope,
                               const char *const *columns, size_t n)
{
	return fake_table(f, stream, scope, columns, n, NULL, 0);
}

/* Close enough for sums of a few doubles; NaN is like NaN. */
static inline bool is(double got, double want)
{
	if ((isnan(got) && isnan(want)) || fabs(got - want) <= 1e-9 * fmax(1, fabs(want)))
		return true;
	printf("# got %.17g, want %.17g\n", got, want);
	return false;
}

static inline struct galvo_summary *summary_of(const struct fake_run *f)
{
	galvo_summary *s = NULL;
	galvo_error e = {0};

	if (!OK(galvo_summary_create(&f->run, &s, &e) == GALVO_OK))
		printf("# %s\n", e.text);
	return s;
}

/* One GPU; a reading is named in s since the start of recording. */
static inline struct fake_run *one_gpu(void)
{
	struct fake_run *f = alloc_array(1, sizeof(*f));

	fake_init(f);
	fake_gpu_streams(f);
	fake_gpu(f, "NVIDIA H200");
	return f;
}

/* Number 0 works from 2 s on, and hits its power cap; the last ones are held, and idle. */
static inline void full_telemetry(struct fake_run *f, uint32_t gpus)
{
	size_t t = gpu_table(f, STREAM_TELEMETRY, SCOPE_GPU, telemetry_columns,
	                     ARRAY_LEN(telemetry_columns));
	size_t d = gpu_table(f, STREAM_TELEMETRY, SCOPE_GPU_DETAIL, detail_columns,
	                     ARRAY_LEN(detail_columns));
	uint32_t g;
	uint64_t i;

	for (i = 1; i <= 10; i++)
		for (g = 0; g < gpus; g++) {
			bool works = g + 1 < gpus && i > 2;

			ROW(f, t, (100 + i) * S, g, works ? 96 - g : 0, works ? 120 * GIB : 2 * GIB,
			    141 * GIB, works ? 680 : 76, 700, 5000 + (works ? 680 * (double)i - 1208 : 76 * (double)i),
			    works ? 60 + (double)i : 34, HZ(works ? 1755 : 345), !works,
			    works && i > 7, 0, works ? 2e9 : 0, works ? 5e8 : 0);
		}
	for (i = 1; i <= 10; i += 3)
		for (g = 0; g < gpus; g++)
			ROW(f, d, (100 + i) * S, g, g == 0 && i > 4 ? 3 : 0, 0, 0,
			    g + 1 < gpus && i > 7 ? 2.8e9 : 0, 1);
}

static inline void full_users(struct fake_run *f, uint32_t gpus)
{
	size_t p = gpu_table(f, STREAM_TELEMETRY, SCOPE_GPU_PROCESS, process_columns, 2);
	uint32_t g;
	uint64_t i;

	for (i = 1; i <= 10; i++)
		for (g = 0; g < gpus; g++) {
			bool works = g + 1 < gpus && i > 2;

			ROW(f, p, (100 + i) * S, g, works ? 118 * GIB : 1 * GIB, works ? 90 : 0);
			fake_row_pid(f, p, g ? 5000 + g : 4711);
		}
}

static inline void full_counters(struct fake_run *f, uint32_t gpus)
{
	size_t t = gpu_table(f, STREAM_GPU, SCOPE_GPU, counter_columns, ARRAY_LEN(counter_columns));
	uint32_t g;
	uint64_t i;

	for (g = 0; g < gpus; g++) {
		f->gpus[g].has_decode = true;
		f->gpus[g].decode = (struct decode_stats){.gpu = g, .samples = 50, .interval_ns = 200 * MS};
	}
	for (i = 1; i <= 50; i++)
		for (g = 0; g < gpus; g++) {
			const bool is_busy = g + 1 < gpus && i > 10;
			double elapsed = 350e6, busy = is_busy ? elapsed : 0;

			if (g == 0 && i > 47)
				continue; /* lost */
			ROW(f, t, 100 * S + i * 200 * MS, g, busy * 0.9, busy * 0.99, elapsed, busy * 0.6,
			    busy * 20, is_busy ? 45 : 0, is_busy ? 20 : 0, is_busy ? 4e8 : 0,
			    is_busy ? 1e8 : 0, is_busy ? 1e9 : 0, is_busy ? 1e9 : 0, HZ(1750));
			fake_row_covers(f, t, 200 * MS);
		}
	f->gpus[0].decode.missing_ns = 600 * MS;
	f->gpus[0].decode.overflows = 3;
}

/* Behind full or fake_init. */
static inline void full_gpus(struct fake_run *f, uint32_t gpus)
{
	uint32_t g;

	fake_gpu_streams(f);
	for (g = 0; g < gpus; g++) {
		struct gpu_info *info = &fake_gpu(f, "NVIDIA H200")->info;

		snprintf(info->chip, sizeof(info->chip), "GH100");
		snprintf(info->driver, sizeof(info->driver), "580.65.06");
		snprintf(info->pci, sizeof(info->pci), "0000:%02x:00.0", 0x3b + g);
		info->warps_per_sm = 64;
		info->sm_count = 132;
		info->peak_dram_bytes_per_s = 4.8e12;
	}
	full_telemetry(f, gpus);
	full_users(f, gpus);
	full_counters(f, gpus);
}

#endif
