/*
 * The sets of counters that have a name, by how much they matter.
 *
 * They are wishes: what a chip lacks, or what does not go into one pass with those before it, is left
 * out. A row with `instead_of` is wished for where that one is not counted.
 */
#include "host.h"

#define ELAPSED ".pct_of_peak_sustained_elapsed"
#define GROUP "TPC.TriageCompute."

/*
 * How busy the GPU, its multiprocessors and their tensor pipes are, how many warps they have, memory,
 * PCIe, NVLink, the clock. On a multiprocessor there is room for one counter beside those of warps.
 */
#define DEFAULT_ROWS                                                                               \
	{"gr__cycles_active.avg", NULL},                                                           \
	{"gr__cycles_elapsed.avg", NULL},                                                          \
	{"sm__cycles_active.avg", NULL},                                                           \
	{"sm__cycles_active.max", NULL},                                                           \
	{"sm__cycles_elapsed.avg", NULL},                                                          \
	{"sm__warps_active.avg", NULL},                                                            \
	{"sm__warps_active.max", NULL},                                                            \
	{"sm__pipe_tensor_cycles_active.avg", NULL},                                               \
	{"sm__inst_executed.sum", "sm__pipe_tensor_cycles_active.avg"},                            \
	{"dram__read_throughput.avg" ELAPSED, NULL},                                               \
	{"dram__read_throughput.max" ELAPSED, NULL},                                               \
	{"dram__write_throughput.avg" ELAPSED, NULL},                                              \
	{"dram__write_throughput.max" ELAPSED, NULL},                                              \
	{"dram__bytes_read.sum", "dram__read_throughput.avg" ELAPSED},                             \
	{"dram__bytes_write.sum", "dram__write_throughput.avg" ELAPSED},                           \
	{"mcc__dram_throughput_srcnode_gpu_op_read.avg" ELAPSED,                                   \
	 "dram__read_throughput.avg" ELAPSED},                                                     \
	{"mcc__dram_throughput_srcnode_gpu_op_write.avg" ELAPSED,                                  \
	 "dram__write_throughput.avg" ELAPSED},                                                    \
	{"pcie__read_bytes.sum", NULL},                                                            \
	{"pcie__write_bytes.sum", NULL},                                                           \
	{"pcie__throughput.avg" ELAPSED, "pcie__read_bytes.sum"},                                  \
	{"nvlrx__bytes.sum", NULL},                                                                \
	{"nvltx__bytes.sum", NULL},                                                                \
	{"gpc__cycles_elapsed.avg.per_second", NULL}

static const struct set_row default_rows[] = {DEFAULT_ROWS};

/* What newer chips can count besides. Hopper has its realtime counters in groups. */
static const struct set_row rich_rows[] = {
	DEFAULT_ROWS,
	{"dram__bytes_read.sum", NULL},
	{"dram__bytes_write.sum", NULL},
	{"dram__throughput.avg" ELAPSED, NULL},
	{"nvlrx__bytes_data_user.sum", NULL},
	{"nvltx__bytes_data_user.sum", NULL},
	{"sys__cycles_elapsed.avg.per_second", NULL},
	{"dram__cycles_elapsed.avg.per_second", NULL},
	{GROUP "sm__pipe_tensor_cycles_active_realtime.avg", NULL},
	{"sm__pipe_tensor_cycles_active_realtime.avg",
	 GROUP "sm__pipe_tensor_cycles_active_realtime.avg"},
	{GROUP "sm__pipe_tensor_op_hmma_cycles_active_realtime.avg", NULL},
	{GROUP "sm__pipe_tensor_op_imma_cycles_active_realtime.avg", NULL},
	{GROUP "sm__pipe_fp64_cycles_active_realtime.avg", NULL},
	{"sm__pipe_shared_cycles_active_realtime.avg",
	 GROUP "sm__pipe_fp64_cycles_active_realtime.avg"},
	{GROUP "sm__inst_executed_realtime.sum", NULL},
	{GROUP "sm__inst_executed_pipe_fma_realtime.sum", NULL},
	{GROUP "sm__inst_executed_pipe_alu_realtime.sum", NULL},
	{GROUP "tpc__warps_active_realtime.avg", NULL},
	{GROUP "tpc__warps_inactive_sm_active_realtime.avg", NULL},
	{GROUP "tpc__warps_inactive_sm_idle_realtime.avg", NULL},
	{"sm__pipe_tensor_cycles_active.avg" ELAPSED, NULL},
	{"gr__compute_cycles_active.avg", NULL},
	{"gr__compute_cycles_active_queue_async.avg", NULL},
	{"gr__compute_cycles_active_queue_sync.avg", NULL},
	{"gr__dispatch_count.sum", NULL},
	{"gr__ctas_launched_realtime.sum", NULL},
	{"gpu__gr_cycles_active_cmd_ctxsw.avg", NULL},
	{"gpu__engine_cycles_active_any_syncce.avg", NULL},
	{"gpu__engine_cycles_active_any_asyncce.avg",
	 "gpu__scheduler_engine_asyncce0_cycles_active.avg"},
	{"gpu__scheduler_engine_asyncce0_cycles_active.avg", NULL},
	{"lts__t_sectors.sum", NULL},
	{"lts__t_bytes.sum", NULL},
	{"LTS.TriageCompute.lts__average_t_sector_hit_rate_realtime.pct", NULL},
	{"lts__average_t_sector_hit_rate_realtime.pct",
	 "LTS.TriageCompute.lts__average_t_sector_hit_rate_realtime.pct"},
	{"LTS.TriageCompute.lts__throughput.avg" ELAPSED, NULL},
	{"pcie__throughput.avg" ELAPSED, NULL},
	{"PCI.TriageCompute.pcie__read_bytes.sum", "pcie__read_bytes.sum"},
	{"PCI.TriageCompute.pcie__write_bytes.sum", "pcie__write_bytes.sum"},
	{"CTC.TriageCompute.ctc__rx_bytes.sum", NULL},
	{"CTC.TriageCompute.ctc__tx_bytes.sum", NULL},
	{"GPC_B.TriageCompute.gpc__cgas_active_realtime.avg", NULL},
	{"sm__warps_active.avg.pct_of_peak_sustained_active", NULL},
	{"sm__threads_launched.sum", NULL},
	{"gpu__time_duration.sum", NULL},
};

const struct set_row *set_rows(const char *name, size_t *ret_len)
{
	static const struct {
		const char *name;
		const struct set_row *rows;
		size_t len;
	} sets[] = {
		{"default", default_rows, ARRAY_LEN(default_rows)},
		{"rich", rich_rows, ARRAY_LEN(rich_rows)},
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(sets); i++) {
		if (strcmp(sets[i].name, name) != 0)
			continue;
		*ret_len = sets[i].len;
		return sets[i].rows;
	}
	return NULL;
}
