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
	{STREAM_DISK, SCOPE_DEVICE, "disk"}, {STREAM_DISK, SCOPE_PROCESS, "process_io"},
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

/* Processes go by identity, the rest by their key. */
static galvo_status slots_fill(struct ledger *s, const struct galvo_run *run, galvo_error *reterr)
{
	const struct table *t = s->table;
	bool by_process = t->scope == SCOPE_PROCESS || t->scope == SCOPE_PROCESS_DETAIL;
	struct process_index x = {0};
	galvo_status status;
	size_t i;

	s->slots = alloc_array(t->rows_len, sizeof(*s->slots));
	if (!s->slots)
		return err_set(reterr, GALVO_ERR_NOMEM, "no memory for %zu rows", t->rows_len);
	if (by_process && (status = process_index_init(&x, run, reterr)) != GALVO_OK)
		return status;
	s->slots_len = by_process ? run->processes_len : t->names_len;
	for (i = 0; i < t->rows_len; i++) {
		if (by_process)
			s->slots[i] = process_index_at(&x, t->key[i], t->mono_ns[i]);
		else if (t->scope == SCOPE_CORE)
			s->slots[i] = t->key[i] < CPU_NUMBERS_MAX ? t->key[i] : SLOT_NONE;
		else
			s->slots[i] = t->key[i] < t->names_len ? t->key[i] : SLOT_NONE;
		if (t->scope == SCOPE_CORE && s->slots[i] != SLOT_NONE &&
		    s->slots[i] >= s->slots_len)
			s->slots_len = s->slots[i] + 1;
	}
	process_index_finish(&x);
	return GALVO_OK;
}

galvo_status ledger_init(struct ledger *s, const struct galvo_run *run, enum stream_kind stream,
                         enum scope scope, galvo_error *reterr)
{
	const struct run_source *source = source_of(run, stream, scope);
	galvo_status status = GALVO_OK;

	*s = (struct ledger){
		.table = run_table(run, stream, scope),
		.slots_len = 1,
		.period_ns = stated_period_ns(run, stream, source),
		.longest_ns = source ? source->longest_period_ns : 0,
		.start_mono_ns = run->session ? run->session->start_mono_ns : 0,
		.is_lossy = is_lossy(run, stream),
	};
	if (scope == SCOPE_PROCESS || scope == SCOPE_PROCESS_DETAIL) {
		s->slots_len = run->processes_len;
		s->processes = run->processes;
	} else if (scope != SCOPE_SYSTEM && scope != SCOPE_SYSTEM_DETAIL) {
		s->slots_len = 0;
	}
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
