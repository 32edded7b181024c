/* The rows of a table: which of the machine's things each one is about, and how often they come. */
#include "figure.h"

#define CPU_NUMBERS_MAX 65536 /* a larger CPU number is damage */

/* The source that sets the pace of a scope. */
static const struct {
	enum stream_kind stream;
	enum scope scope;
	const char *source;
} sources[] = {
	{STREAM_SYSTEM, SCOPE_SYSTEM, "cpu"}, {STREAM_SYSTEM, SCOPE_PROCESS, "process"},
	{STREAM_SYSTEM, SCOPE_CORE, "core"}, {STREAM_SYSTEM, SCOPE_INTERFACE, "net"},
	{STREAM_SYSTEM, SCOPE_SYSTEM_DETAIL, "kernel"},
	{STREAM_SYSTEM, SCOPE_PROCESS_DETAIL, "process_detail"},
	{STREAM_SYSTEM, SCOPE_THREAD, "thread"},
	{STREAM_DISK, SCOPE_DEVICE, "disk"}, {STREAM_DISK, SCOPE_PROCESS, "process_io"},
	{STREAM_TELEMETRY, SCOPE_GPU, "gpu"}, {STREAM_TELEMETRY, SCOPE_GPU_DETAIL, "gpu_detail"},
	{STREAM_TELEMETRY, SCOPE_GPU_PROCESS, "gpu_process"},
};

/* NULL: it says nothing. */
static const struct run_source *source_of(const struct galvo_run *run, enum stream_kind stream,
                                          enum scope scope)
{
	const char *source = "";
	size_t i;

	for (i = 0; i < ARRAY_LEN(sources); i++)
		if (sources[i].stream == stream && sources[i].scope == scope)
			source = sources[i].source;
	for (i = 0; i < run->sources_len; i++)
		if (run->sources[i].stream == stream && run->sources[i].period_ns &&
		    span_eq_str(span_str(run->sources[i].name), source))
			return &run->sources[i];
	return NULL;
}

/* What its source says of the time between two rows; else the tick of its probe; 0: not known. */
static uint64_t stated_period_ns(const struct galvo_run *run, enum stream_kind stream,
                                 const struct run_source *source)
{
	size_t i;

	if (source)
		return source->period_ns;
	for (i = 0; i < run->streams_len; i++)
		if (run->streams[i].kind == stream && run->streams[i].frequency_hz)
			return NS_PER_S / run->streams[i].frequency_hz;
	return 0;
}

static bool is_lossy(const struct galvo_run *run, enum stream_kind stream)
{
	size_t i;

	for (i = 0; i < run->streams_len; i++) {
		const struct run_stream *r = &run->streams[i];

		if (r->kind == stream && (r->bad_messages || r->missing_messages ||
		                          r->dropped_batches || r->dropped_rows))
			return true;
	}
	return false;
}

/* The thing of a row; processes and threads go by identity, the rest by their key. */
struct lookup {
	struct process_index processes;
	struct thread_index threads;
	size_t gpus_len;
};

static bool is_of_gpus(enum scope scope)
{
	return scope == SCOPE_GPU || scope == SCOPE_GPU_DETAIL || scope == SCOPE_GPU_PROCESS;
}


static uint32_t slot_of(const struct table *t, const struct lookup *x, size_t row)
{
	switch (t->scope) {
	case SCOPE_PROCESS:
	case SCOPE_PROCESS_DETAIL:
		return process_index_at(&x->processes, t->key[row], t->mono_ns[row]);
	case SCOPE_THREAD:
		return thread_index_at(&x->threads, t->key[row], t->mono_ns[row]);
	case SCOPE_CORE:
		return t->key[row] < CPU_NUMBERS_MAX ? t->key[row] : SLOT_NONE;
	case SCOPE_GPU:
	case SCOPE_GPU_DETAIL:
	case SCOPE_GPU_PROCESS:
		return t->key[row] < x->gpus_len ? t->key[row] : SLOT_NONE;
	default:
		return t->key[row] < t->names_len ? t->key[row] : SLOT_NONE;
	}
}

static galvo_status slots_fill(struct ledger *s, const struct galvo_run *run, galvo_error *reterr)
{
	const struct table *t = s->table;
	struct lookup x = {.gpus_len = run->gpus_len};
	galvo_status status;
	size_t i;

	s->slots = alloc_array(t->rows_len, sizeof(*s->slots));
	if (!s->slots)
		return err_set(reterr, GALVO_ERR_NOMEM, "no memory for %zu rows", t->rows_len);
	status = process_index_init(&x.processes, run, reterr);
	if (status == GALVO_OK)
		status = thread_index_init(&x.threads, run, reterr);
	for (i = 0; status == GALVO_OK && i < t->rows_len; i++) {
		s->slots[i] = slot_of(t, &x, i);
		if (t->scope == SCOPE_CORE && s->slots[i] != SLOT_NONE &&
		    s->slots[i] >= s->slots_len)
			s->slots_len = s->slots[i] + 1;
	}
	thread_index_finish(&x.threads);
	process_index_finish(&x.processes);
	return status;
}

/* How many things there are before a row tells. */
static size_t slots_known(const struct table *t, const struct galvo_run *run, enum scope scope)
{
	switch (scope) {
	case SCOPE_SYSTEM:
	case SCOPE_SYSTEM_DETAIL: return 1;
	case SCOPE_PROCESS:
	case SCOPE_PROCESS_DETAIL: return run->processes_len;
	case SCOPE_THREAD: return run->threads_len;
	case SCOPE_CORE: return 0;
	case SCOPE_GPU:
	case SCOPE_GPU_DETAIL:
	case SCOPE_GPU_PROCESS: return run->gpus_len;
	default: return t ? t->names_len : 0;
	}
}

galvo_status ledger_init(struct ledger *s, const struct galvo_run *run, enum stream_kind stream,
                         enum scope scope, galvo_error *reterr)
{
	const struct run_source *source = source_of(run, stream, scope);
	galvo_status status = GALVO_OK;

	*s = (struct ledger){
		.table = run_table(run, stream, scope),
		.period_ns = stated_period_ns(run, stream, source),
		.longest_ns = source ? source->longest_period_ns : 0,
		.start_mono_ns = run->session ? run->session->start_mono_ns : 0,
		.is_lossy = is_lossy(run, stream),
		.is_of_instants = is_of_gpus(scope),
	};
	s->slots_len = slots_known(s->table, run, scope);
	if (scope == SCOPE_PROCESS || scope == SCOPE_PROCESS_DETAIL)
		s->processes = run->processes;
	if (s->table && scope != SCOPE_SYSTEM && scope != SCOPE_SYSTEM_DETAIL)
		status = slots_fill(s, run, reterr);
	if (status != GALVO_OK)
		ledger_finish(s);
	return status;
}

void ledger_finish(struct ledger *s)
{
	free(s->slots);
	*s = (struct ledger){0};
}
