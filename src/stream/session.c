/* Writes session_metadata.pb: what was recorded, on which machine, what it cost, every column. */
#include "catalog.h"
#include "session_metadata.pb-c.h"

/* Strings of proto3 are UTF-8; paths, kernel texts and reasons need not be. */
static char *text(struct arena *a, const char *from, bool *ok)
{
	size_t n = from ? strlen(from) : 0, cap = n * 3 + 1; /* a bad byte becomes three */
	char *to = arena_alloc(a, cap, 1);

	if (to)
		utf8_copy(to, cap, span_of(from, n));
	*ok = *ok && to;
	return to;
}

static bool put_workload(struct arena *a, const struct session_workload *w, Galvo__Workload *to)
{
	size_t i;

	galvo__workload__init(to);
	to->n_argv = w->argv_len;
	to->argv = arena_alloc(a, w->argv_len, sizeof(*to->argv));
	if (!to->argv)
		return false;
	for (i = 0; i < w->argv_len; i++) {
		to->argv[i].len = strlen(w->argv[i]);
		to->argv[i].data = arena_copy(a, w->argv[i], to->argv[i].len, 1);
		if (!to->argv[i].data)
			return false;
	}
	to->pid = w->pid;
	to->start_timestamp_ns = w->start_mono_ns;
	to->end_timestamp_ns = w->end_mono_ns;
	to->exited = w->exited;
	to->exit_code = w->exit_code;
	to->term_signal = w->term_signal;
	to->user_ns = w->user_ns;
	to->system_ns = w->system_ns;
	to->max_rss_bytes = w->max_rss_bytes;
	to->minor_faults = w->minor_faults;
	to->major_faults = w->major_faults;
	to->read_blocks = w->read_blocks;
	to->write_blocks = w->write_blocks;
	to->voluntary_switches = w->voluntary_switches;
	to->involuntary_switches = w->involuntary_switches;
	return true;
}

static void put_cost(const struct session_cost *c, Galvo__RecorderCost *to)
{
	galvo__recorder_cost__init(to);
	to->user_ns = c->user_ns;
	to->system_ns = c->system_ns;
	to->max_rss_bytes = c->max_rss_bytes;
	to->bytes_written = c->bytes_written;
	to->messages = c->messages;
	to->dropped_batches = c->dropped_batches;
	to->dropped_rows = c->dropped_rows;
	to->kind = (Galvo__CostKind)c->kind;
	to->threads_ns = c->threads_ns;
}

static void put_following(struct arena *a, const struct session_following *f,
                          Galvo__Following *to, bool *ok)
{
	galvo__following__init(to);
	to->way = (Galvo__FollowWay)f->way;
	to->why_no_events = text(a, f->why_no_events, ok);
	to->forks = f->forks;
	to->short_children = f->short_children;
	to->late_children = f->late_children;
	to->short_without_totals = f->short_without_totals;
	to->short_cpu_ns = f->short_cpu_ns;
	to->lost_events = f->lost_events;
	to->put_off = f->put_off;
	to->scan_interval_ns = f->scan_interval_ns;
	to->longest_interval_ns = f->longest_interval_ns;
}

static void put_machine(struct arena *a, const struct session *s, Galvo__Machine *to, bool *ok)
{
	galvo__machine__init(to);
	to->kernel = text(a, s->kernel, ok);
	to->boot_id = text(a, s->boot_id, ok);
	to->cpu_count = s->cpu_count;
	to->clk_tck = s->clk_tck;
	to->page_bytes = s->page_bytes;
	to->tick_resolution_ns = s->tick_resolution_ns;
	to->root = text(a, s->root, ok);
}

static bool put_findings(struct arena *a, const struct session *s, Galvo__SessionMetadata *to)
{
	bool ok = true;
	size_t i;

	to->n_findings = s->findings_len;
	if (!arena_messages(a, to->n_findings, sizeof(**to->findings), &to->findings))
		return false;
	for (i = 0; i < s->findings_len; i++) {
		const struct session_finding *f = &s->findings[i];

		galvo__finding__init(to->findings[i]);
		to->findings[i]->id = text(a, f->id, &ok);
		to->findings[i]->verdict = (Galvo__Verdict)f->verdict;
		to->findings[i]->need = (Galvo__Need)f->need;
		to->findings[i]->found = text(a, f->found, &ok);
		to->findings[i]->meaning = text(a, f->meaning, &ok);
		to->findings[i]->remedy = text(a, f->remedy, &ok);
	}
	return ok;
}

/* Probes and notes. */
static bool put_lists(struct arena *a, const struct session *s, Galvo__SessionMetadata *to)
{
	bool ok = true;
	size_t i;

	to->n_probes = s->probes_len;
	to->n_notes = s->notes_len;
	if (!arena_messages(a, to->n_probes, sizeof(**to->probes), &to->probes) ||
	    !arena_messages(a, to->n_notes, sizeof(**to->notes), &to->notes))
		return false;
	for (i = 0; i < s->probes_len; i++) {
		galvo__active_probe__init(to->probes[i]);
		to->probes[i]->kind = (Galvo__ProbeKind)s->probes[i].kind;
		to->probes[i]->output_file = text(a, s->probes[i].file_name, &ok);
		to->probes[i]->sampling_frequency_hz = s->probes[i].frequency_hz;
	}
	for (i = 0; i < s->notes_len; i++) {
		galvo__situation_note__init(to->notes[i]);
		to->notes[i]->subject = text(a, s->notes[i].subject, &ok);
		to->notes[i]->text = text(a, s->notes[i].text, &ok);
	}
	return ok;
}

/* Seconds in UTC; the exact instant is the number beside it. */
static char *iso8601(struct arena *a, uint64_t wall_ns, bool *ok)
{
	time_t seconds = (time_t)(wall_ns / NS_PER_S);
	char at[64] = "";
	struct tm t;

	if (wall_ns && gmtime_r(&seconds, &t))
		snprintf(at, sizeof(at), "%04d-%02d-%02dT%02d:%02d:%02dZ", t.tm_year + 1900,
		         t.tm_mon + 1, t.tm_mday, t.tm_hour, t.tm_min, t.tm_sec);
	return text(a, at, ok);
}

galvo_status session_pack(const struct session *s, bool (*catalog_at)(size_t, struct catalog_row *),
                          struct buf *into, galvo_error *reterr)
{
	Galvo__SessionMetadata meta;
	Galvo__MetricCatalog catalog;
	Galvo__Machine machine;
	Galvo__Workload workload;
	Galvo__RecorderCost cost;
	Galvo__Following following;
	struct arena a = {0};
	size_t bytes;
	bool ok = true;

	galvo__session_metadata__init(&meta);
	meta.hostname = text(&a, s->hostname, &ok);
	meta.wall_clock_epoch_ns = s->start_wall_ns;
	meta.start_iso8601 = iso8601(&a, s->start_wall_ns, &ok);
	meta.start_timestamp_ns = s->start_mono_ns;
	meta.start_boot_timestamp_ns = s->start_boot_ns;
	meta.stop_timestamp_ns = s->stop_mono_ns;
	meta.galvo_version = text(&a, s->galvo_version, &ok);
	meta.recorder_pid = s->recorder_pid;
	meta.flush_interval_ns = s->flush_interval_ns;
	meta.budget_pct = s->budget_pct;
	put_machine(&a, s, &machine, &ok);
	meta.machine = &machine;
	ok = ok && put_lists(&a, s, &meta) && put_findings(&a, s, &meta) &&
	     catalog_put(&a, catalog_at, s->catalog_overlay, &catalog);
	meta.catalog = &catalog;
	if (ok && s->workload.present) {
		ok = put_workload(&a, &s->workload, &workload);
		meta.workload = &workload;
	}
	if (s->cost.present) {
		put_cost(&s->cost, &cost);
		meta.cost = &cost;
	}
	if (s->following.present) {
		put_following(&a, &s->following, &following, &ok);
		meta.following = &following;
	}
	bytes = ok ? galvo__session_metadata__get_packed_size(&meta) : 0;
	ok = ok && buf_reserve(into, bytes);
	if (ok)
		into->len += galvo__session_metadata__pack(&meta, (uint8_t *)into->p + into->len);
	arena_finish(&a);
	return ok ? GALVO_OK : err_set(reterr, GALVO_ERR_NOMEM, "out of memory");
}

galvo_status session_write(int dir_fd, const struct session *s,
                           bool (*catalog_at)(size_t, struct catalog_row *), galvo_error *reterr)
{
	galvo_status status;
	struct buf bytes;

	buf_init(&bytes, SESSION_BYTES_MAX);
	status = session_pack(s, catalog_at, &bytes, reterr);
	if (status == GALVO_OK)
		status = file_replace(dir_fd, SESSION_FILE, bytes.p, bytes.len, reterr);
	buf_finish(&bytes);
	return status;
}
