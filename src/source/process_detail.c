/* One process more closely, once a second: modes of its CPU time, faults, threads, swap, PSS. */
#include "parser.h"

enum field {
	USER_NS, KERNEL_NS, MINOR_FAULTS, MAJOR_FAULTS, THREADS, SWAP, VOLUNTARY, INVOLUNTARY, PSS,
	REAPED_NS,
};

static const struct raw_field fields[] = {
	[USER_NS] = {"user_ns", RAW_COUNTER},
	[KERNEL_NS] = {"kernel_ns", RAW_COUNTER},
	[MINOR_FAULTS] = {"minor_faults_count", RAW_COUNTER},
	[MAJOR_FAULTS] = {"major_faults_count", RAW_COUNTER},
	[THREADS] = {"threads_count", RAW_GAUGE},
	[SWAP] = {"swap_bytes", RAW_GAUGE},
	[VOLUNTARY] = {"voluntary_count", RAW_COUNTER},
	[INVOLUNTARY] = {"involuntary_count", RAW_COUNTER},
	[PSS] = {"pss_bytes", RAW_GAUGE},
	[REAPED_NS] = {"reaped_ns", RAW_COUNTER}, /* CPU time of children it waited for, and theirs */
};

static const struct metric metrics[] = {
	{RATE("proc__cycles_user", UNIT_PCT_OF_CORE, FIELD(USER_NS),
	      "CPU time of the process in user mode, split by the kernel's samples, in percent of "
	      "one CPU."),
	 .scale = 100 / 1e9},
	{RATE("proc__cycles_kernel", UNIT_PCT_OF_CORE, FIELD(KERNEL_NS),
	      "CPU time of the process in the kernel, split by the kernel's samples, in percent of "
	      "one CPU."),
	 .scale = 100 / 1e9},
	{RATE("proc__faults_minor", UNIT_PER_SEC, FIELD(MINOR_FAULTS),
	      "Page faults of the process a second that needed no I/O.")},
	{RATE("proc__faults_major", UNIT_PER_SEC, FIELD(MAJOR_FAULTS),
	      "Page faults of the process a second that waited for I/O.")},
	{LEVEL("proc__threads", UNIT_COUNT, FIELD(THREADS), "Threads of the process.")},
	{LEVEL("proc__swap_bytes", UNIT_BYTES, FIELD(SWAP),
	       "Private memory of the process that is swapped out.")},
	{RATE("proc__context_switches_voluntary", UNIT_PER_SEC, FIELD(VOLUNTARY),
	      "Times a second that the main thread gave up its CPU to wait.")},
	{RATE("proc__context_switches_involuntary", UNIT_PER_SEC, FIELD(INVOLUNTARY),
	      "Times a second that the main thread had its CPU taken away.")},
	{LEVEL("proc__pss_bytes", UNIT_BYTES, FIELD(PSS),
	       "Memory of the process that is in RAM, each shared page divided among its sharers; "
	       "read on request only.")},
};

static const struct column map[] = {
	{STAT_MINFLT, MINOR_FAULTS},
	{STAT_MAJFLT, MAJOR_FAULTS},
	{STAT_THREADS, THREADS},
};

/* 1 (svc) S 0 1 1 0 -1 1077944576 4345 0 1 0 13 17 0 0 20 0 5 0 346180303 732237824 2193 … */
static galvo_status parse_stat(struct span text, const struct world *w, struct raw_sink *sink,
                               galvo_error *reterr)
{
	const uint64_t tick_ns = NS_PER_S / w->clk_tck;
	struct raw *r = row_only(sink);
	struct columns c;
	struct span comm;
	galvo_status status;
	char state;

	status = process_stat_split(text, &comm, &state, &c, reterr);
	if (status != GALVO_OK || !r)
		return status;
	/* A dying process of Linux 3.10 has 2^64-1 threads. */
	if (c.value[STAT_THREADS] > INT32_MAX)
		c.good &= ~FIELD(STAT_THREADS);
	columns_put(&c, map, ARRAY_LEN(map), r);
	if (c.good & FIELD(STAT_UTIME))
		raw_put_scaled(r, USER_NS, c.value[STAT_UTIME], tick_ns);
	if (c.good & FIELD(STAT_STIME))
		raw_put_scaled(r, KERNEL_NS, c.value[STAT_STIME], tick_ns);
	if ((c.good & FIELD(STAT_CUTIME)) && (c.good & FIELD(STAT_CSTIME)))
		raw_put_scaled(r, REAPED_NS, c.value[STAT_CUTIME] + c.value[STAT_CSTIME], tick_ns);
	return GALVO_OK;
}

static const struct key status_key[] = {
	KEY("VmSwap:", SWAP, KEY_KIB),
	KEY("voluntary_ctxt_switches:", VOLUNTARY, KEY_PLAIN),
	KEY("nonvoluntary_ctxt_switches:", INVOLUNTARY, KEY_PLAIN),
};
static const struct keys status_keys = {"status", status_key, ARRAY_LEN(status_key), false};

/* VmSwap:	       0 kB */
static galvo_status parse_status(struct span text, const struct world *w, struct raw_sink *sink,
                                 galvo_error *reterr)
{
	struct raw *r = row_only(sink);

	(void)w;
	return r ? keys_parse(text, &status_keys, r, reterr) : GALVO_OK;
}

static const struct key rollup_key[] = {KEY("Pss:", PSS, KEY_KIB)};
static const struct keys rollup_keys = {"smaps_rollup", rollup_key, ARRAY_LEN(rollup_key), false};

/* Pss:                 336 kB */
static galvo_status parse_rollup(struct span text, const struct world *w, struct raw_sink *sink,
                                 galvo_error *reterr)
{
	struct raw *r = row_only(sink);

	(void)w;
	return r ? keys_parse(text, &rollup_keys, r, reterr) : GALVO_OK;
}

static const struct source_text texts[] = {
	{.path = "stat", .kind = FILE_RECORD, .accounts = true, .parse = parse_stat},
	{.path = "status", .kind = FILE_RECORD, .optional = true, .parse = parse_status},
	{.path = "smaps_rollup", .kind = FILE_RECORD, .optional = true, .on_request = true,
	 .parse = parse_rollup},
};

static const struct source_account accounts[] = {{USAGE_CPU_NS, PART_REAPED, REAPED_NS}};

const struct source source_process_detail = {
	.name = "process_detail",
	.summary = "user and kernel time, faults, threads, swap, switches, PSS of each process",
	.shape = SHAPE_PROCESS,
	.stream = STREAM_SYSTEM,
	.scope = SCOPE_PROCESS_DETAIL,
	.period_ns = NS_PER_S,
	TABLE(fields),
	TABLE(metrics),
	TABLE(texts),
	TABLE(accounts),
	.cpu_clock_field = -1,
	.waits_for_exec = true,
	.rests_with_cpu = true,
};
