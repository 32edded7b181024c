/* The machine as a whole: CPU and its cores, memory, pressure. */
#include <math.h>

#include "figure.h"

#define SHARE(name) name ".avg.pct_of_peak_sustained_elapsed"
#define AT(member) offsetof(struct galvo_summary, member)
#define CORE_AT(member) offsetof(struct summary_core, member)

static const struct figure_row fast[] = {
	{SHARE("cpu__cycles_busy"), .offset = AT(cpu.time.busy_pct)},
	{SHARE("cpu__cycles_user"), .offset = AT(cpu.time.user_pct)},
	{SHARE("cpu__cycles_kernel"), .offset = AT(cpu.time.kernel_pct)},
	{SHARE("cpu__cycles_iowait"), .offset = AT(cpu.time.iowait_pct)},
	{SHARE("cpu__cycles_steal"), .offset = AT(cpu.time.steal_pct)},
	{"mem__capacity_bytes", .is_level = true, .offset = AT(memory.capacity_bytes)},
	{"mem__used_bytes", .is_level = true, .offset = AT(memory.used_bytes)},
	{"mem__available_bytes", .is_level = true, .offset = AT(memory.available_bytes)},
	{"mem__buffers_bytes", .is_level = true, .offset = AT(memory.buffers_bytes)},
	{"mem__cached_bytes", .is_level = true, .offset = AT(memory.cached_bytes)},
};

static const struct figure_row slow[] = {
	{"kernel__context_switches.sum.per_second", .offset = AT(cpu.switches_per_s)},
	{"kernel__forks.sum.per_second", .offset = AT(cpu.forks_per_s)},
	{"kernel__procs_running", .is_level = true, .offset = AT(cpu.running)},
	{"kernel__procs_blocked", .is_level = true, .offset = AT(cpu.blocked)},
	{"mem__dirty_bytes", .is_level = true, .offset = AT(memory.dirty_bytes)},
	{"mem__swap_capacity_bytes", .is_level = true, .offset = AT(memory.swap_capacity_bytes)},
	{"mem__swap_used_bytes", .is_level = true, .offset = AT(memory.swap_used_bytes)},
	{SHARE("pressure__cpu_some"), .offset = AT(pressure.cpu_some_pct)},
	{SHARE("pressure__cpu_full"), .offset = AT(pressure.cpu_full_pct)},
	{SHARE("pressure__memory_some"), .offset = AT(pressure.memory_some_pct)},
	{SHARE("pressure__memory_full"), .offset = AT(pressure.memory_full_pct)},
	{SHARE("pressure__io_some"), .offset = AT(pressure.io_some_pct)},
	{SHARE("pressure__io_full"), .offset = AT(pressure.io_full_pct)},
};

static const struct figure_row of_a_core[] = {
	{SHARE("core__cycles_busy"), .offset = CORE_AT(time.busy_pct)},
	{SHARE("core__cycles_user"), .offset = CORE_AT(time.user_pct)},
	{SHARE("core__cycles_kernel"), .offset = CORE_AT(time.kernel_pct)},
	{SHARE("core__cycles_iowait"), .offset = CORE_AT(time.iowait_pct)},
	{SHARE("core__cycles_steal"), .offset = CORE_AT(time.steal_pct)},
};

/* How unevenly the work lies on the cores. */
static void imbalance(struct summary_cpu *cpu)
{
	double sum = 0;
	size_t n = 0, i;

	cpu->imbalance_ratio = NAN;
	for (i = 0; i < cpu->cores_len; i++) {
		const struct summary_core *c = &cpu->cores[i];

		if (isnan(c->time.busy_pct.avg))
			continue;
		sum += c->time.busy_pct.avg;
		n++;
		if (!cpu->busiest || c->time.busy_pct.avg > cpu->busiest->time.busy_pct.avg)
			cpu->busiest = c;
		if (!cpu->idlest || c->time.busy_pct.avg < cpu->idlest->time.busy_pct.avg)
			cpu->idlest = c;
	}
	if (n && sum > 0)
		cpu->imbalance_ratio = cpu->busiest->time.busy_pct.avg / (sum / (double)n) - 1;
}

static galvo_status derive_cores(struct summary_cpu *cpu, const struct galvo_run *run,
                                 galvo_error *reterr)
{
	struct ledger s;
	galvo_status status = ledger_init(&s, run, STREAM_SYSTEM, SCOPE_CORE, reterr);
	size_t i;

	if (status != GALVO_OK)
		return status;
	cpu->cores_len = s.slots_len;
	cpu->cores = alloc_array(s.slots_len, sizeof(*cpu->cores));
	if (!cpu->cores)
		status = err_set(reterr, GALVO_ERR_NOMEM, "no memory for %zu cores", s.slots_len);
	else
		status = ledger_figures(&s, of_a_core, ARRAY_LEN(of_a_core), cpu->cores,
		                        sizeof(*cpu->cores), reterr);
	if (status == GALVO_OK) {
		for (i = 0; i < cpu->cores_len; i++)
			cpu->cores[i].cpu = (uint32_t)i;
		for (i = 0; s.table && i < s.table->rows_len; i++)
			if (s.slots[i] != SLOT_NONE)
				cpu->cores[s.slots[i]].present = true;
		imbalance(cpu);
	}
	ledger_finish(&s);
	return status;
}

galvo_status derive_system(struct galvo_summary *sum, const struct galvo_run *run,
                           galvo_error *reterr)
{
	static const struct {
		enum scope scope;
		const struct figure_row *rows;
		size_t len;
	} parts[] = {
		{SCOPE_SYSTEM, fast, ARRAY_LEN(fast)},
		{SCOPE_SYSTEM_DETAIL, slow, ARRAY_LEN(slow)},
	};
	galvo_status status = GALVO_OK;
	size_t i;

	for (i = 0; i < ARRAY_LEN(parts) && status == GALVO_OK; i++) {
		struct ledger s;

		status = ledger_init(&s, run, STREAM_SYSTEM, parts[i].scope, reterr);
		if (status == GALVO_OK)
			status = ledger_figures(&s, parts[i].rows, parts[i].len, sum, 0, reterr);
		ledger_finish(&s);
	}
	return status == GALVO_OK ? derive_cores(&sum->cpu, run, reterr) : status;
}
