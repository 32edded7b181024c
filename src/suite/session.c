/* The session metadata as the suite knows it: facts of the machine, notes, workload, cost. */
#include <stdarg.h>
#include <sys/resource.h>
#include <unistd.h>

#include "internal.h"

enum { STATUS_TEXT_MAX = 64 << 10 };

/* The same, or the same and more. */
static bool is_said(const char *before, const char *now)
{
	size_t n = strlen(now);

	return !strncmp(before, now, n) && (!before[n] || before[n] == ';');
}

void suite_note(struct galvo_suite *s, const char *subject, const char *fmt, ...)
{
	struct note *n = &s->notes[s->notes_len];
	va_list args;
	size_t i;

	if (s->notes_len == NOTES_MAX)
		return;
	utf8_copy(n->subject, sizeof(n->subject), span_str(subject));
	va_start(args, fmt);
	vsnprintf(n->text, sizeof(n->text), fmt, args);
	va_end(args);
	for (i = 0; i < s->notes_len; i++)
		if (!strcmp(s->notes[i].subject, n->subject) && is_said(s->notes[i].text, n->text))
			return;
	s->notes_len++;
}

static void fact(struct galvo_suite *s, const char *path, char to[FACT_BYTES])
{
	struct span text;
	struct buf buf;

	buf_init(&buf, 4096);
	if (file_read(s->world.root_fd, path, &buf, &text, NULL) == GALVO_OK)
		utf8_copy(to, FACT_BYTES, span_trim(text));
	buf_finish(&buf);
}

void suite_look_up_facts(struct galvo_suite *s)
{
	fact(s, "proc/sys/kernel/hostname", s->hostname);
	fact(s, "proc/sys/kernel/osrelease", s->kernel);
	fact(s, "proc/sys/kernel/random/boot_id", s->boot_id);
}

void suite_look_around(struct galvo_suite *s)
{
	if (s->replay || s->is_alone || s->findings)
		return;
	s->findings = alloc_array(FINDINGS_MAX, sizeof(*s->findings));
	if (s->findings) /* without memory, a recording without it */
		s->findings_len = situation_look(&s->world, s->dir_fd, true, s->findings);
}

static uint64_t ns_of(struct timeval t)
{
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_usec * 1000;
}

/*
 * The most memory this program had. getrusage cannot tell: its peak is also that of the program
 * which forked us, until we called exec.
 */
static uint64_t peak_rss_bytes(const struct world *w)
{
	struct span text, line;
	uint64_t kib = 0;
	struct buf buf;

	buf_init(&buf, STATUS_TEXT_MAX);
	if (file_read(w->root_fd, "proc/self/status", &buf, &text, NULL) == GALVO_OK)
		while (span_take_line(&text, &line))
			if (span_starts(line, "VmHWM:")) {
				line = span_of(line.p + 6, line.n - 6);
				span_take_u64(&line, &kib);
				break;
			}
	buf_finish(&buf);
	return kib * 1024;
}

/*
 * What recording cost: all of this process if it does nothing else, or what our threads used. They do
 * not measure themselves where the machine that is recorded is not this one.
 */
static void fill_cost(const struct galvo_suite *s, struct session_cost *cost)
{
	struct writer_totals totals;
	struct rusage use;

	writer_get_totals(s->writer, &totals);
	cost->present = true;
	cost->bytes_written = totals.bytes_written;
	cost->messages = totals.messages;
	cost->dropped_batches = totals.dropped_batches;
	cost->dropped_rows = totals.dropped_rows;
	cost->kind = COST_NONE;
	if (!s->replay && s->config.is_recorder && getrusage(RUSAGE_SELF, &use) == 0) {
		cost->kind = COST_PROCESS;
		cost->user_ns = ns_of(use.ru_utime);
		cost->system_ns = ns_of(use.ru_stime);
		cost->max_rss_bytes = s->world.live ? peak_rss_bytes(&s->world) : 0;
	} else if (s->world.live && !s->config.is_recorder) {
		cost->kind = COST_THREADS;
		cost->threads_ns = totals.thread_cpu_ns;
	}
}

static void fill_following(const struct galvo_suite *s, struct session_following *to)
{
	struct track_counts counts;

	track_count(s->track, &counts);
	*to = (struct session_following){
		.present = true,
		.way = counts.way,
		.why_no_events = counts.why_no_events,
		.forks = counts.forks,
		.short_children = counts.short_children,
		.late_children = counts.late_children,
		.short_without_totals = counts.short_without_totals,
		.short_cpu_ns = counts.short_cpu_ns,
		.lost_events = counts.lost_events,
		.put_off = counts.put_off,
		.scan_interval_ns = s->config.scan_interval_ms * NS_PER_MS,
		.longest_interval_ns = counts.longest_scan_ns,
	};
}

static void fill_workload(const struct galvo_suite *s, struct session_workload *to)
{
	const galvo_workload *w = &s->workload;

	if (!s->has_workload)
		return;
	*to = (struct session_workload){
		.present = true,
		.argv = (const char *const *)s->argv,
		.argv_len = s->argv_len,
		.pid = w->pid,
		.start_mono_ns = w->start_mono_ns ? w->start_mono_ns : s->start_mono_ns,
		.end_mono_ns = w->end_mono_ns,
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
}

static uint64_t tick_resolution_ns(const struct world *w)
{
	struct timespec t;

	if (!w->live || clock_getres(CLOCK_MONOTONIC_COARSE, &t) != 0)
		return NS_PER_S / w->clk_tck;
	return (uint64_t)t.tv_nsec;
}

static size_t list_probes(const struct galvo_suite *s, struct session_probe to[PARTS])
{
	const struct {
		bool is_there;
		uint64_t hz;
	} all[PARTS] = {
		[PROBE_SYSTEM] = {s->probes[PROBE_SYSTEM], suite_whole_hz(s->config.system_hz)},
		[PROBE_DISK] = {s->probes[PROBE_DISK], suite_whole_hz(s->config.disk_hz)},
		[PART_EVENTS] = {suite_has_events(s), 0},
		[PART_GPU] = {s->counters, suite_whole_hz(s->config.gpu_hz)},
		[PART_TELEMETRY] = {s->telemetry, suite_whole_hz(s->config.telemetry_hz)},
	};
	size_t i, n = 0;

	for (i = 0; i < PARTS; i++)
		if (all[i].is_there)
			to[n++] = (struct session_probe){s->parts[i].kind, s->files[i], all[i].hz};
	return n;
}

galvo_status suite_pack_session(const struct galvo_suite *s, struct buf *into, galvo_error *reterr)
{
	struct session_note notes[NOTES_MAX];
	struct session_finding findings[FINDINGS_MAX];
	struct session_probe probes[PARTS];
	struct session session = {
		.hostname = s->hostname,
		.start_wall_ns = s->start_wall_ns,
		.start_mono_ns = s->start_mono_ns,
		.start_boot_ns = s->start_boot_ns,
		.stop_mono_ns = s->stop_mono_ns,
		.probes = probes,
		.probes_len = list_probes(s, probes),
		.notes = notes,
		.notes_len = s->notes_len,
		.findings = findings,
		.findings_len = s->findings_len,
		.kernel = s->kernel,
		.boot_id = s->boot_id,
		.galvo_version = galvo_version(),
		.root = s->root ? s->root : "/",
		.cpu_count = s->world.cpu_count,
		.clk_tck = s->world.clk_tck,
		.page_bytes = s->world.page_bytes,
		.tick_resolution_ns = tick_resolution_ns(&s->world),
		.recorder_pid = s->world.live ? (uint32_t)getpid() : 0,
		.flush_interval_ns = s->config.flush_interval_ms * NS_PER_MS,
		.budget_pct = s->config.budget_pct,
		.catalog_overlay = span_of(s->catalog.p, s->catalog.len),
	};
	size_t i;

	for (i = 0; i < s->notes_len; i++)
		notes[i] = (struct session_note){s->notes[i].subject, s->notes[i].text};
	for (i = 0; i < s->findings_len; i++) {
		const struct finding *f = &s->findings[i];

		findings[i] = (struct session_finding){f->id, (int32_t)f->verdict, (int32_t)f->need,
		                                       f->found, f->meaning, f->remedy};
	}
	fill_workload(s, &session.workload);
	if (s->stop_mono_ns) {
		fill_cost(s, &session.cost);
		fill_following(s, &session.following);
	}
	return session_pack(&session, catalog_at, into, reterr);
}
