/* The report as JSON: GPUs, who used them, what their hardware counters say. */
#include "json.h"

#define GPU struct summary_gpu
static const struct json_row gpu_rows[] = {
	AS(FLAG, used, GPU, used),
	ONE(lost_s, GPU, lost_s),
	ONE(covered_s, GPU, covered_s),
	ONE(covered_pct, GPU, covered_pct),
	ONE(utilization_s, GPU, utilization_pct.total),
	MEAN(utilization, pct, GPU, utilization_pct),
	ONE(idle_s, GPU, idle.total),
	ONE(busy_s, GPU, busy.total),
	MEAN(memory_utilization, pct, GPU, memory_utilization_pct),
	MEAN(encoder, pct, GPU, encoder_pct),
	MEAN(decoder, pct, GPU, decoder_pct),
	AS(ROUNDED, memory_bytes, GPU, memory_bytes),
	LEVEL(memory_used, GPU, memory_used_bytes),
	LEVEL(memory_reserved, GPU, memory_reserved_bytes),
	MEAN(power, watts, GPU, power_watts),
	MEAN(power_instant, watts, GPU, power_instant_watts),
	ONE(power_limit_watts, GPU, power_limit_watts.avg),
	MEAN(temperature, celsius, GPU, temperature_celsius),
	MEAN(memory_temperature, celsius, GPU, memory_temperature_celsius),
	MEAN(clock_sm, hz, GPU, clock_sm_hz),
	ONE(clock_sm_highest_hz, GPU, clock_sm_max_hz.peak),
	MEAN(clock_memory, hz, GPU, clock_memory_hz),
	ONE(clock_memory_highest_hz, GPU, clock_memory_max_hz.peak),
	MEAN(clock_graphics, hz, GPU, clock_graphics_hz),
	MEAN(clock_video, hz, GPU, clock_video_hz),
	SUMMED(pcie_rx_bytes, pcie_rx, bytes_per_s, GPU, pcie_rx_bytes_per_s),
	SUMMED(pcie_tx_bytes, pcie_tx, bytes_per_s, GPU, pcie_tx_bytes_per_s),
	SUMMED(nvlink_rx_bytes, nvlink_rx, bytes_per_s, GPU, nvlink_rx_bytes_per_s),
	SUMMED(nvlink_tx_bytes, nvlink_tx, bytes_per_s, GPU, nvlink_tx_bytes_per_s),
	AS(ROUNDED, pcie_link_generation, GPU, pcie_link_generation.peak),
	AS(ROUNDED, pcie_link_width, GPU, pcie_link_width.peak),
	AS(ROUNDED, pcie_replays, GPU, pcie_replays.amount),
	AS(ROUNDED, ecc_corrected_errors, GPU, ecc_corrected.amount),
	AS(ROUNDED, ecc_uncorrected_errors, GPU, ecc_uncorrected.amount),
	AS(ROUNDED, xid_errors, GPU, xid_errors),
	AS(ROUNDED, xid_last, GPU, xid_last),
};

static const struct json_row energy_rows[] = {
	ONE(counter_joules, struct summary_energy, counter.amount),
	ONE(counter_s, struct summary_energy, counter.over_s),
	AS(COUNT, counter_resets, struct summary_energy, counter.resets),
	ONE(integral_joules, struct summary_energy, integral_joules),
	ONE(integral_s, struct summary_energy, integral_s),
	ONE(gaps_s, struct summary_energy, gaps_s),
	ONE(compared_s, struct summary_energy, compared_s),
	ONE(difference_pct, struct summary_energy, difference_pct),
};

/* Shares of time in which clocks were lower, in seconds; what the GPU counted itself behind them. */
static const struct json_row throttled_rows[] = {
	ONE(any_s, GPU, throttled.total),
	ONE(any_ratio, GPU, throttled.avg),
	ONE(sw_power_cap_s, GPU, throttle[THROTTLE_SW_POWER_CAP].total),
	ONE(hw_slowdown_s, GPU, throttle[THROTTLE_HW_SLOWDOWN].total),
	ONE(sync_boost_s, GPU, throttle[THROTTLE_SYNC_BOOST].total),
	ONE(sw_thermal_s, GPU, throttle[THROTTLE_SW_THERMAL].total),
	ONE(hw_thermal_s, GPU, throttle[THROTTLE_HW_THERMAL].total),
	ONE(hw_power_brake_s, GPU, throttle[THROTTLE_HW_POWER_BRAKE].total),
	ONE(app_clocks_s, GPU, throttle[THROTTLE_APP_CLOCKS].total),
	ONE(gpu_idle_s, GPU, throttle[THROTTLE_IDLE].total),
	ONE(counted_power_s, GPU, power_throttle.amount),
	ONE(counted_thermal_s, GPU, thermal_throttle.amount),
	ONE(counted_power_brake_s, GPU, power_brake_throttle.amount),
	ONE(counted_sync_boost_s, GPU, sync_boost_throttle.amount),
};

#define COUNTERS struct summary_counters
static const struct json_row counter_rows[] = {
	AS(COUNT, samples, COUNTERS, samples),
	ONE(covered_s, COUNTERS, covered_s),
	ONE(covered_pct, COUNTERS, covered_pct),
	ONE(missing_s, COUNTERS, missing_s),
	ONE(missing_pct, COUNTERS, missing_pct),
	MEAN(gr_busy, pct, COUNTERS, gr_busy_pct),
	MEAN(sm_busy, pct, COUNTERS, sm_busy_pct),
	ONE(sm_imbalance_ratio, COUNTERS, sm_imbalance_ratio),
	MEAN(tensor, pct, COUNTERS, tensor_pct),
	MEAN(warps, per_sm, COUNTERS, warps_per_sm),
	MEAN(occupancy, pct, COUNTERS, occupancy_pct),
	MEAN(dram, pct, COUNTERS, dram_pct),
	MEAN(dram_read, pct, COUNTERS, dram_read_pct),
	MEAN(dram_write, pct, COUNTERS, dram_write_pct),
	SUMMED(dram_read_bytes, dram_read, bytes_per_s, COUNTERS, dram_read_bytes_per_s),
	SUMMED(dram_write_bytes, dram_write, bytes_per_s, COUNTERS, dram_write_bytes_per_s),
	SUMMED(pcie_rx_bytes, pcie_rx, bytes_per_s, COUNTERS, pcie_rx_bytes_per_s),
	SUMMED(pcie_tx_bytes, pcie_tx, bytes_per_s, COUNTERS, pcie_tx_bytes_per_s),
	MEAN(pcie, pct, COUNTERS, pcie_pct),
	SUMMED(nvlink_rx_bytes, nvlink_rx, bytes_per_s, COUNTERS, nvlink_rx_bytes_per_s),
	SUMMED(nvlink_tx_bytes, nvlink_tx, bytes_per_s, COUNTERS, nvlink_tx_bytes_per_s),
	MEAN(clock_sm, hz, COUNTERS, sm_clock_hz),
};

#define DECODE(member, number, meaning) AS(COUNT, member, struct decode_stats, member),
static const struct json_row decode_rows[] = {DECODE_COUNTS(DECODE)};

#define PROCESS struct summary_gpu_process
static const struct json_row process_rows[] = {
	AS(ROUNDED, memory_mean_bytes, PROCESS, memory_mean_bytes),
	LEVEL(memory, PROCESS, memory_bytes),
	ONE(utilization_s, PROCESS, utilization_pct.total),
	MEAN(utilization, pct, PROCESS, utilization_pct),
	ONE(share_pct, PROCESS, share_pct),
	MEAN(memory_utilization, pct, PROCESS, memory_utilization_pct),
	MEAN(encoder, pct, PROCESS, encoder_pct),
	MEAN(decoder, pct, PROCESS, decoder_pct),
};

static const struct json_row rest_rows[] = {
	AS(ROUNDED, memory_mean_bytes, GPU, rest_memory_bytes),
	ONE(utilization_s, GPU, rest_utilization_s),
	ONE(share_pct, GPU, rest_share_pct),
};

static void put_identity(struct json *j, const struct summary_gpu *g)
{
	static const char *const states[] = {
		[GPU_UNKNOWN] = "unknown", [GPU_UNAVAILABLE] = "unavailable", [GPU_IDLE] = "idle",
		[GPU_ACTIVE] = "active", [GPU_BUSY] = "busy",
	};
	const struct gpu_info *info = g->info;

	json_known(j, "index", !g->has_cuda_index, info->index);
	json_text(j, "name", info->name);
	json_text(j, "vendor", info->vendor);
	json_text(j, "chip", info->chip);
	json_text(j, "uuid", info->uuid);
	json_text(j, "pci", info->pci);
	json_text(j, "driver", info->driver);
	json_known(j, "instance_of", g->parent != SIZE_MAX, g->parent);
	json_known(j, "gpu_instance", info->is_instance, info->gpu_instance);
	json_known(j, "compute_instance", info->is_instance, info->compute_instance);
	json_text(j, "state", states[g->state]);
	json_text(j, "note", info->note);
	json_flag(j, "foreign_pids", info->foreign_pids);
	if (g->is_allocation_known)
		json_flag(j, "allocated", g->allocated);
	else
		json_null(j, "allocated");
}

/* null where nobody asked for them. */
static void put_counters(struct json *j, const struct summary_counters *c)
{
	if (!c->asked) {
		json_null(j, "counters");
		return;
	}
	json_open(j, "counters", "{");
	json_text(j, "reason", c->decode ? c->decode->reason : NULL);
	json_rows(j, counter_rows, ARRAY_LEN(counter_rows), c);
	if (c->decode)
		json_object(j, "decoding", decode_rows, ARRAY_LEN(decode_rows), c->decode);
	else
		json_null(j, "decoding");
	json_close(j, "}");
}

static void put_processes(struct json *j, const struct summary_gpu *g)
{
	size_t i;

	json_open(j, "processes", "[");
	for (i = 0; i < g->processes_len; i++) {
		const struct summary_gpu_process *p = &g->processes[i];

		json_open(j, NULL, "{");
		json_u64(j, "pid", p->pid);
		json_known(j, "process", p->process != SIZE_MAX, p->process);
		json_rows(j, process_rows, ARRAY_LEN(process_rows), p);
		json_close(j, "}");
	}
	json_close(j, "]");
	json_object(j, "unattributed", rest_rows, ARRAY_LEN(rest_rows), g);
	json_flag(j, "is_attribution_suspect", g->is_suspect);
}

void report_json_gpus(struct json *j, const struct galvo_summary *sum)
{
	size_t i;

	json_open(j, "gpus", "[");
	for (i = 0; i < sum->gpus_len; i++) {
		const struct summary_gpu *g = &sum->gpus[i];

		json_open(j, NULL, "{");
		put_identity(j, g);
		json_rows(j, gpu_rows, ARRAY_LEN(gpu_rows), g);
		json_object(j, "energy", energy_rows, ARRAY_LEN(energy_rows), &g->energy);
		json_object(j, "throttled", throttled_rows, ARRAY_LEN(throttled_rows), g);
		put_counters(j, &g->counters);
		put_processes(j, g);
		json_close(j, "}");
	}
	json_close(j, "]");
}
