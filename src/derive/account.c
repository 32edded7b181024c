/* What is missing from a run and why, how whole its files are, what recording it cost. */
#include <math.h>

#include "figure.h"
#include "galvo/doctor.h"

static double seconds(uint64_t ns)
{
	return (double)ns / (double)NS_PER_S;
}

/* Since the start of recording; NAN where that, or the instant, is not known. */
static double failed_after_s(const struct galvo_run *run, uint64_t mono_ns)
{
	uint64_t start_mono_ns = run->session ? run->session->start_mono_ns : 0;

	return start_mono_ns && mono_ns >= start_mono_ns ? seconds(mono_ns - start_mono_ns) : NAN;
}

/* ---- notes ---------------------------------------------------------------------------------- */

static size_t notes_max(const struct galvo_run *run)
{
	return (run->session ? run->session->notes_len : 0) + run->sources_len + run->damages_len +
	       3 * run->streams_len;
}

static void stream_notes(struct galvo_summary *s, const struct run_stream *stream)
{
	const struct {
		enum note_kind kind;
		uint64_t count;
		const char *text;
	} counts[] = {
		{NOTE_REJECTED, stream->stats.rejected_values,
		 "values beyond belief, recorded as absent"},
		{NOTE_VANISHED, stream->stats.vanished, "processes gone while they were read"},
	};
	size_t i;

	/* Where galvo was killed; else events alone may be none. */
	if (s->has_session && !s->finished && stream->present && !stream->messages &&
	    stream->kind != STREAM_EVENTS)
		s->notes[s->notes_len++] = (struct summary_note){
			.kind = NOTE_SESSION, .subject = stream->file_name,
			.text = "no samples were written"};
	for (i = 0; i < ARRAY_LEN(counts); i++)
		if (counts[i].count)
			s->notes[s->notes_len++] = (struct summary_note){
				.kind = counts[i].kind, .subject = stream->file_name,
				.text = counts[i].text, .count = counts[i].count};
}

/* Whether a note of the session says it, or the beginning that a reason has room for. */
static bool is_noted(const struct galvo_run *run, const char *reason)
{
	size_t i, n;

	for (i = 0; run->session && i < run->session->notes_len; i++) {
		const struct session_note *note = &run->session->notes[i];

		n = strlen(note->subject);
		if (n && span_starts(span_str(reason), note->subject) && reason[n] == ':' &&
		    reason[n + 1] == ' ' && reason[n + 2] &&
		    span_starts(span_str(note->text), reason + n + 2))
			return true;
	}
	return false;
}

static galvo_status derive_notes(struct galvo_summary *s, const struct galvo_run *run,
                                 galvo_error *reterr)
{
	size_t i;

	s->notes = alloc_array(notes_max(run), sizeof(*s->notes));
	if (!s->notes)
		return err_set(reterr, GALVO_ERR_NOMEM, "no memory for notes");
	for (i = 0; run->session && i < run->session->notes_len; i++)
		s->notes[s->notes_len++] = (struct summary_note){
			.kind = NOTE_SESSION, .subject = run->session->notes[i].subject,
			.text = run->session->notes[i].text};
	for (i = 0; i < run->sources_len; i++)
		if (run->sources[i].failures && !is_noted(run, run->sources[i].reason))
			s->notes[s->notes_len++] = (struct summary_note){
				.kind = NOTE_SOURCE, .subject = run->sources[i].name,
				.text = run->sources[i].reason, .count = run->sources[i].failures,
				.of = run->sources[i].reads,
				.first_failure_s = failed_after_s(run, run->sources[i].first_failure_mono_ns)};
	for (i = 0; i < run->damages_len; i++)
		s->notes[s->notes_len++] = (struct summary_note){
			.kind = NOTE_DAMAGE, .subject = run->damages[i].file,
			.text = run->damages[i].text, .offset = run->damages[i].offset,
			.torn_tail = run->damages[i].torn_tail};
	for (i = 0; i < run->streams_len; i++)
		stream_notes(s, &run->streams[i]);
	return GALVO_OK;
}

static galvo_status derive_findings(struct galvo_summary *s, const struct galvo_run *run,
                                    galvo_error *reterr)
{
	static const char *const verdicts[] = {
		[GALVO_VERDICT_UNKNOWN] = "unknown", [GALVO_VERDICT_YES] = "yes",
		[GALVO_VERDICT_PARTLY] = "partly", [GALVO_VERDICT_NO] = "no",
		[GALVO_VERDICT_NOT_APPLICABLE] = "not applicable",
	};
	static const char *const needs[] = {
		[GALVO_NEED_NONE] = "none", [GALVO_NEED_SOME] = "some", [GALVO_NEED_ALL] = "all",
	};
	size_t i, n = run->session ? run->session->findings_len : 0;

	s->findings = alloc_array(n, sizeof(*s->findings));
	if (!s->findings)
		return err_set(reterr, GALVO_ERR_NOMEM, "no memory for findings");
	for (i = 0; i < n; i++) {
		const struct session_finding *f = &run->session->findings[i];

		s->findings[s->findings_len++] = (struct summary_finding){
			.id = f->id, .verdict = verdicts[f->verdict], .need = needs[f->need],
			.found = f->found, .meaning = f->meaning, .remedy = f->remedy,
			.has_effect = f->need != GALVO_NEED_NONE &&
			              (f->verdict == GALVO_VERDICT_NO || f->verdict == GALVO_VERDICT_PARTLY)};
	}
	return GALVO_OK;
}

/* ---- streams and sources -------------------------------------------------------------------- */

/* Of the table that has a row at every tick of the stream. */
static galvo_status gaps_count(const struct galvo_run *run, enum stream_kind kind, uint64_t *ret,
                               galvo_error *reterr)
{
	bool is_of_gpus = kind == STREAM_GPU || kind == STREAM_TELEMETRY;
	enum scope scope = is_of_gpus ? SCOPE_GPU : kind == STREAM_DISK ? SCOPE_DEVICE : SCOPE_SYSTEM;
	struct ledger s;
	size_t gaps = 0;
	galvo_status status = ledger_init(&s, run, kind, scope, reterr);

	if (status == GALVO_OK)
		status = ledger_gaps(&s, &gaps, reterr);
	*ret = gaps;
	ledger_finish(&s);
	return status;
}

static galvo_status derive_streams(struct galvo_summary *s, const struct galvo_run *run,
                                   galvo_error *reterr)
{
	galvo_status status = GALVO_OK;
	size_t i;

	s->streams = alloc_array(run->streams_len, sizeof(*s->streams));
	s->sources = alloc_array(run->sources_len, sizeof(*s->sources));
	if (!s->streams || !s->sources)
		return err_set(reterr, GALVO_ERR_NOMEM, "no memory for streams");
	for (i = 0; i < run->streams_len && status == GALVO_OK; i++) {
		const struct run_stream *r = &run->streams[i];
		struct summary_stream *to = &s->streams[s->streams_len++];

		*to = (struct summary_stream){
			.file_name = r->file_name, .present = r->present, .bytes = r->bytes,
			.messages = r->messages, .rows = r->rows, .bad_messages = r->bad_messages,
			.missing_messages = r->missing_messages,
			.dropped_batches = r->dropped_batches, .dropped_rows = r->dropped_rows,
			.ticks = r->stats.ticks, .missed_ticks = r->stats.missed_ticks,
			.frequency_hz = r->frequency_hz ? (double)r->frequency_hz : NAN};
		status = gaps_count(run, r->kind, &to->gaps, reterr);
	}
	for (i = 0; i < run->sources_len; i++) {
		const struct run_source *r = &run->sources[i];

		s->sources[s->sources_len++] = (struct summary_source){
			.name = r->name, .reason = r->reason, .divisor = r->divisor,
			.reads = r->reads, .failures = r->failures,
			.period_s = r->period_ns ? seconds(r->period_ns) : NAN,
			.mean_read_s = r->reads ? seconds(r->mean_read_ns) : NAN,
			.first_failure_s = failed_after_s(run, r->first_failure_mono_ns)};
	}
	return status;
}

/* ---- cost ----------------------------------------------------------------------------------- */

/* The CPU time of a closing account, whose kind says what of it holds. */
static void take_paid(struct summary_cost *c, const struct session_cost *paid)
{
	uint64_t process_ns = paid->user_ns + paid->system_ns;

	if (paid->kind == COST_THREADS) {
		c->of = COST_OF_THREADS;
		c->cpu_s = seconds(paid->threads_ns);
	} else if (paid->kind == COST_PROCESS || (paid->kind == COST_UNSPECIFIED && process_ns)) {
		c->of = COST_OF_PROCESS;
		c->cpu_s = seconds(process_ns);
	}
	c->bytes_written = (double)paid->bytes_written;
	if (paid->max_rss_bytes)
		c->max_rss_bytes = (double)paid->max_rss_bytes;
	if (paid->dropped_rows > c->dropped_rows)
		c->dropped_rows = paid->dropped_rows;
	if (paid->dropped_batches > c->dropped_batches)
		c->dropped_batches = paid->dropped_batches;
}

/* A recorder that was killed left no closing account: what its sampling threads said stands in. */
static void derive_cost(struct galvo_summary *s, const struct galvo_run *run)
{
	const struct session_cost *paid =
		run->session && run->session->cost.present ? &run->session->cost : NULL;
	struct summary_cost *c = &s->cost;
	uint64_t cpu_ns = 0, bytes = 0, messages = 0;
	size_t i;

	*c = (struct summary_cost){.sampling_only = !paid};
	for (i = 0; i < run->streams_len; i++) {
		const struct run_stream *r = &run->streams[i];

		messages += r->messages;
		cpu_ns += r->stats.thread_cpu_ns;
		bytes += r->bytes;
		c->ticks += r->stats.ticks;
		c->missed_ticks += r->stats.missed_ticks;
		c->dropped_rows += r->dropped_rows;
		c->dropped_batches += r->dropped_batches;
	}
	c->cpu_s = c->bytes_written = c->max_rss_bytes = NAN;
	if (paid)
		take_paid(c, paid);
	else if (messages)
		c->bytes_written = (double)bytes;
	if (c->of == COST_OF_NOTHING && messages && cpu_ns && !(paid && paid->kind == COST_NONE)) {
		c->of = COST_OF_SAMPLING;
		c->cpu_s = seconds(cpu_ns);
	}
	c->sampling_only = c->of == COST_OF_SAMPLING;
	c->pct_of_core = s->recorded_s > 0 ? 100 * c->cpu_s / s->recorded_s : NAN;
}

static void derive_following(struct galvo_summary *s, const struct galvo_run *run)
{
	const struct session_following none = {0};
	const struct session_following *f = run->session ? &run->session->following : &none;
	bool has_events = f->way == WAY_EVENTS;

	s->following = (struct summary_following){
		.is_known = f->present && f->way != WAY_NONE,
		.is_complete = has_events && !f->lost_events,
		.way = f->way,
		.why_no_events = has_events || !f->why_no_events || !f->why_no_events[0]
		                 ? NULL : f->why_no_events,
		.forks = f->forks,
		.short_children = f->short_children,
		.late_children = f->late_children,
		.short_without_totals = f->short_without_totals,
		.lost_events = f->lost_events,
		.put_off = f->put_off,
		.short_cpu_s = f->short_children > f->short_without_totals ? seconds(f->short_cpu_ns) : NAN,
		.scan_interval_s = seconds(f->scan_interval_ns),
		.longest_interval_s = f->longest_interval_ns ? seconds(f->longest_interval_ns) : NAN,
	};
}

galvo_status derive_account(struct galvo_summary *s, const struct galvo_run *run,
                            galvo_error *reterr)
{
	galvo_status status = derive_notes(s, run, reterr);

	if (status == GALVO_OK)
		status = derive_findings(s, run, reterr);
	derive_cost(s, run);
	derive_following(s, run);
	return status == GALVO_OK ? derive_streams(s, run, reterr) : status;
}
