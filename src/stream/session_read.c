/* Reads session_metadata.pb back, total on every input. */
#include <math.h>

#include "galvo/doctor.h"
#include "reader.h"
#include "session_metadata.pb-c.h"

/* What unpacking may take: hostile bytes can ask for structs that are far larger than they are. */
enum { UNPACK_FACTOR = 64, UNPACK_LEAST_BYTES = 64 << 10 };

struct unpacker {
	struct arena *arena;
	size_t left_bytes;
	bool is_out_of_memory;
};

static void *unpack_alloc(void *data, size_t n)
{
	struct unpacker *u = data;
	void *p;

	if (n > u->left_bytes)
		return NULL;
	u->left_bytes -= n;
	p = arena_alloc(u->arena, n, 1);
	u->is_out_of_memory = u->is_out_of_memory || !p;
	return p;
}

/* All of it goes with the arena. */
static void unpack_free(void *data, void *p)
{
	(void)data;
	(void)p;
}

static bool take_lists(struct arena *a, const Galvo__SessionMetadata *meta, struct session *to)
{
	struct session_probe *probes = arena_alloc(a, meta->n_probes, sizeof(*probes));
	struct session_note *notes = arena_alloc(a, meta->n_notes, sizeof(*notes));
	size_t i;

	if (!probes || !notes)
		return false;
	for (i = 0; i < meta->n_probes; i++)
		probes[i] = (struct session_probe){
			.kind = (enum stream_kind)meta->probes[i]->kind,
			.file_name = meta->probes[i]->output_file,
			.frequency_hz = meta->probes[i]->sampling_frequency_hz,
		};
	for (i = 0; i < meta->n_notes; i++)
		notes[i] = (struct session_note){meta->notes[i]->subject, meta->notes[i]->text};
	to->probes = probes;
	to->probes_len = meta->n_probes;
	to->notes = notes;
	to->notes_len = meta->n_notes;
	return true;
}

/* Numbers that this galvo does not know say nothing. */
static bool take_findings(struct arena *a, const Galvo__SessionMetadata *meta, struct session *to)
{
	struct session_finding *all = arena_alloc(a, meta->n_findings, sizeof(*all));
	size_t i;

	for (i = 0; all && i < meta->n_findings; i++) {
		const Galvo__Finding *f = meta->findings[i];
		const int32_t verdict = (int32_t)f->verdict, need = (int32_t)f->need;

		all[i] = (struct session_finding){
			.id = f->id, .found = f->found, .meaning = f->meaning, .remedy = f->remedy,
			.verdict = verdict >= 0 && verdict <= GALVO_VERDICT_NOT_APPLICABLE
			               ? verdict : GALVO_VERDICT_UNKNOWN,
			.need = need >= 0 && need <= GALVO_NEED_ALL ? need : GALVO_NEED_NONE,
		};
	}
	to->findings = all;
	to->findings_len = meta->n_findings;
	return all != NULL;
}

static bool take_metrics(struct arena *a, const Galvo__MetricCatalog *catalog, struct session *to)
{
	struct session_metric *metrics = arena_alloc(a, catalog->n_descriptors, sizeof(*metrics));
	size_t i;

	for (i = 0; metrics && i < catalog->n_descriptors; i++) {
		const Galvo__MetricDescriptor *d = catalog->descriptors[i];

		metrics[i] = (struct session_metric){
			.name = d->fqn,
			.unit = unit_name((enum metric_unit)d->unit),
			.type = metric_type_name((enum metric_type)d->type),
			.source = d->source,
			.help = d->description,
			.peak = d->peak_case == GALVO__METRIC_DESCRIPTOR__PEAK_PEAK_CONSTANT
			        ? d->peak_constant : NAN,
			.peak_ref = d->peak_case == GALVO__METRIC_DESCRIPTOR__PEAK_PEAK_REF
			            ? d->peak_ref : NULL,
		};
	}
	to->metrics = metrics;
	to->metrics_len = catalog->n_descriptors;
	return metrics != NULL;
}

static bool take_workload(struct arena *a, const Galvo__Workload *w, struct session_workload *to)
{
	const char **argv = arena_alloc(a, w->n_argv, sizeof(*argv));
	size_t i;

	for (i = 0; argv && i < w->n_argv; i++) {
		argv[i] = arena_text(a, span_of((const char *)w->argv[i].data, w->argv[i].len));
		if (!argv[i])
			return false;
	}
	*to = (struct session_workload){
		.present = true,
		.argv = argv,
		.argv_len = w->n_argv,
		.pid = w->pid,
		.start_mono_ns = w->start_timestamp_ns,
		.end_mono_ns = w->end_timestamp_ns,
		.exited = w->exited != 0,
		.exit_code = w->exit_code,
		.term_signal = w->term_signal,
		.user_ns = w->user_ns,
		.system_ns = w->system_ns,
		.max_rss_bytes = w->max_rss_bytes,
		.minor_faults = w->minor_faults,
		.major_faults = w->major_faults,
		.read_blocks = w->read_blocks,
		.write_blocks = w->write_blocks,
		.voluntary_switches = w->voluntary_switches,
		.involuntary_switches = w->involuntary_switches,
	};
	return argv != NULL;
}

static struct session_cost take_cost(const Galvo__RecorderCost *c)
{
	return (struct session_cost){
		.present = true,
		.user_ns = c->user_ns,
		.system_ns = c->system_ns,
		.max_rss_bytes = c->max_rss_bytes,
		.bytes_written = c->bytes_written,
		.messages = c->messages,
		.dropped_batches = c->dropped_batches,
		.dropped_rows = c->dropped_rows,
		.kind = (enum cost_kind)c->kind,
		.threads_ns = c->threads_ns,
	};
}

static struct session_following take_following(const Galvo__Following *f)
{
	return (struct session_following){
		.present = true,
		.way = (enum follow_way)f->way,
		.why_no_events = f->why_no_events,
		.forks = f->forks,
		.short_children = f->short_children,
		.late_children = f->late_children,
		.short_without_totals = f->short_without_totals,
		.short_cpu_ns = f->short_cpu_ns,
		.lost_events = f->lost_events,
		.put_off = f->put_off,
		.scan_interval_ns = f->scan_interval_ns,
		.longest_interval_ns = f->longest_interval_ns,
	};
}

static struct session *take_session(struct arena *a, const Galvo__SessionMetadata *meta)
{
	const Galvo__Machine *machine = meta->machine;
	struct session *s = arena_alloc(a, 1, sizeof(*s));
	Galvo__Machine none;

	if (!s)
		return NULL;
	galvo__machine__init(&none);
	machine = machine ? machine : &none;
	*s = (struct session){
		.hostname = meta->hostname,
		.start_wall_ns = meta->wall_clock_epoch_ns,
		.start_mono_ns = meta->start_timestamp_ns,
		.start_boot_ns = meta->start_boot_timestamp_ns,
		.stop_mono_ns = meta->stop_timestamp_ns,
		.kernel = machine->kernel,
		.boot_id = machine->boot_id,
		.galvo_version = meta->galvo_version,
		.root = machine->root,
		.cpu_count = machine->cpu_count,
		.clk_tck = machine->clk_tck,
		.page_bytes = machine->page_bytes,
		.tick_resolution_ns = machine->tick_resolution_ns,
		.recorder_pid = meta->recorder_pid,
		.flush_interval_ns = meta->flush_interval_ns,
		.budget_pct = meta->budget_pct,
	};
	if (meta->cost)
		s->cost = take_cost(meta->cost);
	if (meta->following)
		s->following = take_following(meta->following);
	if (!take_lists(a, meta, s) || !take_findings(a, meta, s) ||
	    (meta->catalog && !take_metrics(a, meta->catalog, s)) ||
	    (meta->workload && !take_workload(a, meta->workload, &s->workload)))
		return NULL;
	return s;
}

/* The strings of the session are those of the unpacked message, which stays in the arena. */
galvo_status session_read(struct arena *a, struct span bytes, const struct session **ret_session,
                          galvo_error *reterr)
{
	struct unpacker u = {a, bytes.n * UNPACK_FACTOR + UNPACK_LEAST_BYTES, false};
	ProtobufCAllocator allocator = {unpack_alloc, unpack_free, &u};
	Galvo__SessionMetadata *meta;
	struct session *session = NULL;

	meta = galvo__session_metadata__unpack(&allocator, bytes.n,
	                                       (const uint8_t *)(bytes.p ? bytes.p : ""));
	if (!meta && !u.is_out_of_memory)
		return err_set(reterr, GALVO_ERR_MALFORMED, "%s: not session metadata",
		               SESSION_FILE);
	if (meta)
		session = take_session(a, meta);
	if (!session)
		return err_set(reterr, GALVO_ERR_NOMEM, "out of memory");
	*ret_session = session;
	return GALVO_OK;
}
