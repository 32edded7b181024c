/* The report on one screen: what ran, what is wrong with the recording, what it leaves out. */
#include <math.h>
#include <signal.h>

#include "output.h"

#define NOTES_MAX 8 /* JSON has all */
#define NOTE_INDENT 4
#define COST_INDENT 14

static void label(struct sheet *s, const char *text)
{
	buf_put_str(&s->buf, text);
	sheet_column(s, LABEL_COLUMNS);
}

/* ", 3 messages": words around a count. */
static void count(struct sheet *s, const char *before, uint64_t n, const char *what)
{
	buf_printf(&s->buf, "%s%llu %s", before, (unsigned long long)n, what);
}

/* ---- what ran ------------------------------------------------------------------------------- */

const char *signal_name(int32_t number)
{
	static const struct { int number; const char *name; } names[] = {
		{SIGHUP, "SIGHUP"}, {SIGINT, "SIGINT"}, {SIGQUIT, "SIGQUIT"}, {SIGILL, "SIGILL"},
		{SIGTRAP, "SIGTRAP"}, {SIGABRT, "SIGABRT"}, {SIGBUS, "SIGBUS"}, {SIGFPE, "SIGFPE"},
		{SIGKILL, "SIGKILL"}, {SIGUSR1, "SIGUSR1"}, {SIGSEGV, "SIGSEGV"},
		{SIGUSR2, "SIGUSR2"}, {SIGPIPE, "SIGPIPE"}, {SIGALRM, "SIGALRM"},
		{SIGTERM, "SIGTERM"}, {SIGXCPU, "SIGXCPU"}, {SIGXFSZ, "SIGXFSZ"},
		{SIGSYS, "SIGSYS"},
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(names); i++)
		if (names[i].number == number)
			return names[i].name;
	return NULL;
}

void put_command(struct buf *b, const struct summary_workload *w, size_t most)
{
	size_t from = b->len, i, k;

	for (i = 0; i < w->argv_len && b->len < from + most; i++) {
		struct span arg = span_str(w->argv[i]);
		bool quoted = arg.n == 0;

		for (k = 0; k < arg.n && !quoted; k++)
			quoted = arg.p[k] == ' ' || arg.p[k] == '"';
		buf_put_str(b, i ? " " : "");
		buf_put_str(b, quoted ? "'" : "");
		buf_put_escaped(b, arg);
		buf_put_str(b, quoted ? "'" : "");
	}
}

void put_outcome(struct buf *b, const struct summary_workload *w)
{
	const char *name = signal_name(w->term_signal);

	if (w->state == WORKLOAD_UNKNOWN) {
		buf_put_str(b, "not known: the recording has no end");
		return;
	}
	if (w->state == WORKLOAD_EXITED)
		buf_printf(b, "exit status %d", (int)w->exit_code);
	else if (w->state == WORKLOAD_KILLED)
		buf_printf(b, "killed by signal %d%s%s%s", (int)w->term_signal,
		           name ? " (" : "", name ? name : "", name ? ")" : "");
	else
		buf_put_str(b, "still running when the recording ended,");
	buf_put_str(b, " after ");
	put_duration(b, w->wall_s);
}

/* How it ended and what it used, as the kernel accounted it: one line or two. */
static void put_result(struct sheet *s, const struct summary_workload *w)
{
	put_outcome(&s->buf, w);
	sheet_line_end(s);
	if (w->state == WORKLOAD_UNKNOWN || isnan(w->user_s))
		return;
	label(s, "time");
	put_duration(&s->buf, w->wall_s);
	buf_put_str(&s->buf, " wall, ");
	put_duration(&s->buf, w->user_s);
	buf_put_str(&s->buf, " user, ");
	put_duration(&s->buf, w->system_s);
	buf_put_str(&s->buf, " system: ");
	put_pct(&s->buf, w->pct_of_core);
	sheet_text(s, " of one CPU");
}

static const char *process_name(const struct process_info *p)
{
	return p->alias[0] ? p->alias : p->comm;
}

/* The command that was started, or the processes that were attached to, or neither. */
static void report_subject(struct sheet *s, const struct galvo_summary *sum)
{
	const char *between = "";
	size_t i;

	if (sum->workload.state != WORKLOAD_NONE) {
		label(s, "command");
		put_command(&s->buf, &sum->workload, 4 * LINE_COLUMNS);
		sheet_line_end(s);
		label(s, "result");
		put_result(s, &sum->workload);
		return;
	}
	label(s, "attached");
	for (i = 0; i < sum->processes_len; i++) {
		const struct process_info *p = sum->processes[i].info;

		if (!p->root || s->buf.len > s->line + 4 * LINE_COLUMNS)
			continue;
		buf_printf(&s->buf, "%s%u ", between[0] ? between : "to ", (unsigned)p->pid);
		sheet_escaped(s, process_name(p));
		between = ", ";
	}
	if (!sum->has_session)
		buf_put_str(&s->buf, between[0] ? "" : "not known to what");
	else if (!between[0])
		buf_put_str(&s->buf, "to no process: the machine alone");
	sheet_line_end(s);
}

/* How far the list of processes may be trusted to be all there were. */
static void report_following(struct sheet *s, const struct summary_following *f)
{
	bool has_events = f->way == WAY_EVENTS;

	if (!f->is_known)
		return;
	label(s, "followed");
	if (f->is_complete)
		buf_put_str(&s->buf, "every fork and exit was seen (kernel events)");
	else if (has_events)
		count(s, "forks and exits were seen but for ", f->lost_events, "lost kernel events");
	else
		buf_put_str(&s->buf, "descendants were looked for every ");
	if (!has_events) {
		put_duration(&s->buf, f->scan_interval_s);
		if (f->longest_interval_s > 2 * f->scan_interval_s) {
			buf_put_str(&s->buf, ", at worst after ");
			put_duration(&s->buf, f->longest_interval_s);
		}
		buf_put_str(&s->buf, ": one that lived shorter may be missing");
	} else if (f->short_children) {
		count(s, ": ", f->forks, "forked, ");
		count(s, "", f->short_children, "ended within ");
		put_duration(&s->buf, f->longest_interval_s > 2 * f->scan_interval_s
		                      ? f->longest_interval_s : f->scan_interval_s);
		buf_put_str(&s->buf, " and are not listed");
		if (!isnan(f->short_cpu_s)) {
			buf_put_str(&s->buf, f->short_without_totals ? " (at least " : " (");
			put_duration(&s->buf, f->short_cpu_s);
			buf_put_str(&s->buf, " CPU)");
		}
		if (f->late_children)
			count(s, ", ", f->late_children, "of them later, for want of time to look");
	}
	if (f->put_off)
		count(s, "; ", f->put_off, "times a new one had to wait for a later scan");
	sheet_line_wrap(s, LABEL_COLUMNS);
}

static void report_header(struct sheet *s, const struct galvo_summary *sum)
{
	/* What uname calls the release lacks the name of the system. */
	bool is_release = sum->kernel && !span_starts(span_str(sum->kernel), "Linux");

	report_subject(s, sum);
	if (sum->has_session) {
		label(s, "machine");
		sheet_escaped(s, sum->hostname && sum->hostname[0] ? sum->hostname : "-");
		buf_put_str(&s->buf, is_release ? ", Linux " : ", ");
		sheet_escaped(s, sum->kernel && sum->kernel[0] ? sum->kernel : "-");
		count(s, ", ", sum->cpu_count, sum->cpu_count == 1 ? "CPU" : "CPUs");
		sheet_line_end(s);
	}
	label(s, "recorded");
	put_time(&s->buf, sum->start_wall_ns);
	buf_put_str(&s->buf, isnan(sum->recorded_s) ? ", not known for how long" : ", for ");
	if (!isnan(sum->recorded_s))
		put_duration(&s->buf, sum->recorded_s);
	sheet_line_end(s);
	report_following(s, &sum->following);
}

/* ---- what is wrong with the recording ------------------------------------------------------- */

/* One line for each stream that is not whole. */
static void warn_stream(struct sheet *s, const struct summary_stream *stream)
{
	const struct { uint64_t n; const char *one, *many; } wrongs[] = {
		{stream->missing_messages, "message missing", "messages missing"},
		{stream->bad_messages, "damaged", "damaged"},
		{stream->dropped_rows, "row dropped", "rows dropped"},
		{stream->gaps, "gap in time", "gaps in time"},
	};
	const char *between = ": ";
	size_t i;

	for (i = 0; i < ARRAY_LEN(wrongs); i++) {
		if (wrongs[i].n == 0)
			continue;
		if (between[0] == ':') {
			label(s, "WARNING");
			sheet_escaped(s, stream->file_name);
		}
		count(s, between, wrongs[i].n, wrongs[i].n == 1 ? wrongs[i].one : wrongs[i].many);
		between = ", ";
	}
	if (between[0] == ',')
		sheet_line_wrap(s, LABEL_COLUMNS);
}

/* Before any figure: what may make the figures wrong. */
static void report_warnings(struct sheet *s, const struct galvo_summary *sum)
{
	size_t i;

	if (!sum->has_session) {
		label(s, "WARNING");
		sheet_text(s, "no session metadata: what ran, and where, is not known");
	} else if (!sum->finished) {
		label(s, "WARNING");
		sheet_text(s, "unfinished: the recorder was killed, or is still at work");
	}
	for (i = 0; i < sum->streams_len; i++)
		warn_stream(s, &sum->streams[i]);
	for (i = 0; i < sum->notes_len; i++)
		if (sum->notes[i].kind == NOTE_DAMAGE && sum->notes[i].torn_tail) {
			label(s, "WARNING");
			sheet_escaped(s, sum->notes[i].subject);
			buf_put_str(&s->buf, ": the last message is cut short");
			sheet_line_wrap(s, LABEL_COLUMNS);
		}
}

/* ---- what is not in the figures, and what they cost ----------------------------------------- */

static void put_how_often(struct sheet *s, const struct summary_note *note)
{
	buf_printf(&s->buf, " (%llu time%s", (unsigned long long)note->count,
	           note->count == 1 ? "" : "s");
	if (!isnan(note->first_failure_s)) {
		buf_put_str(&s->buf, note->count == 1 ? ", at " : ", from ");
		put_duration(&s->buf, note->first_failure_s);
		buf_put_str(&s->buf, note->count == 1 ? "" : " on");
	}
	buf_put_str(&s->buf, ")");
}

void put_note_subject(struct sheet *s, const struct summary_note *note)
{
	buf_put_str(&s->buf, note->kind == NOTE_SOURCE ? "source " : "");
	sheet_escaped(s, note->subject);
}

/* The count of what went wrong stands before or behind the text, as it reads best. */
void put_note_text(struct sheet *s, const struct summary_note *note)
{
	if (note->kind == NOTE_REJECTED || note->kind == NOTE_VANISHED)
		count(s, "", note->count, "");
	sheet_escaped(s, note->text);
	if (note->kind == NOTE_SOURCE) /* a turn of a source may be a reading a process */
		put_how_often(s, note);
	if (note->kind == NOTE_DAMAGE && note->offset)
		buf_printf(&s->buf, " (at byte %llu)", (unsigned long long)note->offset);
}

static void report_note(struct sheet *s, const struct summary_note *note)
{
	buf_put_str(&s->buf, "  ");
	put_note_subject(s, note);
	buf_put_str(&s->buf, ": ");
	put_note_text(s, note);
	sheet_line_wrap(s, NOTE_INDENT);
}

/* That a process ended while it was looked at is no loss: JSON counts it, the page does not. */
bool note_is_shown(const struct summary_note *note)
{
	return note->kind != NOTE_VANISHED;
}

static void report_notes(struct sheet *s, const struct galvo_summary *sum)
{
	size_t all = 0, shown = 0, i;

	for (i = 0; i < sum->notes_len; i++)
		all += note_is_shown(&sum->notes[i]);
	if (all == 0)
		return;
	sheet_text(s, "");
	sheet_text(s, "not recorded, and why");
	for (i = 0; i < sum->notes_len && shown < (all <= NOTES_MAX ? all : NOTES_MAX - 1); i++)
		if (note_is_shown(&sum->notes[i])) {
			report_note(s, &sum->notes[i]);
			shown++;
		}
	if (shown < all) {
		count(s, "  \xe2\x80\xa6 and ", all - shown, "more");
		sheet_line_end(s);
	}
}

/* What may have kept something from us; whether it did, the notes tell. */
static void report_situation(struct sheet *s, const struct galvo_summary *sum)
{
	const char *title = "seen in part (galvo doctor tells more)";
	size_t i;

	for (i = 0; i < sum->findings_len; i++) {
		const struct summary_finding *f = &sum->findings[i];

		if (!f->has_effect)
			continue;
		if (title) {
			sheet_text(s, "");
			sheet_text(s, title);
		}
		title = NULL;
		buf_put_str(&s->buf, "  ");
		sheet_escaped(s, f->id);
		buf_put_str(&s->buf, ": ");
		sheet_escaped(s, f->found);
		sheet_line_wrap(s, NOTE_INDENT);
	}
}

/* Sources that are read less often than asked for, to stay within the budget. */
static void report_slowed(struct sheet *s, const struct galvo_summary *sum)
{
	const char *between = "              slowed by the budget: ";
	size_t i;

	for (i = 0; i < sum->sources_len; i++) {
		const struct summary_source *source = &sum->sources[i];

		if (source->divisor <= 1)
			continue;
		buf_put_str(&s->buf, between);
		sheet_escaped(s, source->name);
		buf_printf(&s->buf, " 1/%llu", (unsigned long long)source->divisor);
		between = ", ";
	}
	if (between[0] == ',')
		sheet_line_wrap(s, COST_INDENT + 2);
}

/* Only what is known of CPU, memory and bytes. */
static void put_cost(struct sheet *s, const struct summary_cost *c)
{
	if (!isnan(c->cpu_s)) {
		put_duration(&s->buf, c->cpu_s);
		buf_put_str(&s->buf, " CPU (");
		put_small_pct(&s->buf, c->pct_of_core);
		buf_put_str(&s->buf, " of one)");
		buf_put_str(&s->buf, c->of == COST_OF_THREADS ? " of its threads, " : ", ");
	}
	if (!isnan(c->max_rss_bytes)) {
		put_bytes(&s->buf, c->max_rss_bytes);
		buf_put_str(&s->buf, " memory, ");
	}
	put_bytes(&s->buf, c->bytes_written);
	sheet_text(s, " written");
}

static void report_cost(struct sheet *s, const struct galvo_summary *sum)
{
	const struct summary_cost *c = &sum->cost;

	sheet_text(s, "");
	buf_put_str(&s->buf, "galvo itself: ");
	if (isnan(c->bytes_written)) {
		sheet_text(s, "not known: it left no account");
		return;
	}
	put_cost(s, c);
	count(s, "              ", c->ticks, "ticks");
	count(s, ", ", c->missed_ticks, "missed");
	count(s, ", ", c->dropped_rows, "rows dropped");
	sheet_line_end(s);
	report_slowed(s, sum);
	/* Then memory is unknown, and the threads that write and wait are not in the CPU time. */
	if (c->of == COST_OF_SAMPLING)
		sheet_text(s, "              of its sampling threads only: the rest is unknown");
}

void report_head(struct sheet *s, const struct galvo_summary *sum)
{
	report_header(s, sum);
	report_warnings(s, sum);
}

void report_text(struct sheet *s, const struct galvo_summary *sum, galvo_report_by by)
{
	report_head(s, sum);
	report_regions(s, sum);
	report_machine(s, sum);
	report_gpus(s, sum);
	report_devices(s, sum);
	if (by == GALVO_REPORT_BY_COMM)
		report_groups(s, sum);
	else
		report_processes(s, sum);
	report_balance(s, sum);
	report_threads(s, sum);
	report_notes(s, sum);
	report_situation(s, sum);
	report_cost(s, sum);
}
