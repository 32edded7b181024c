/* Says what is wrong with a run, and what its recorder was too late for. */
#include "reader.h"

#define EARLY_NS NS_PER_S
enum { LINE_MAX_BYTES = 1024 };

struct lines {
	galvo_write_fn write_fn; /* NULL: nobody listens */
	void *ctx;
	bool failed;
};

/* One line: "FILE: TEXT"; file names are foreign bytes. */
static void put_line(struct lines *out, const char *file, const char *text)
{
	char line[LINE_MAX_BYTES];
	struct buf b = {.p = line, .cap = sizeof(line), .max = sizeof(line)};

	buf_put_escaped(&b, span_str(file));
	buf_put_str(&b, ": ");
	buf_put_escaped(&b, span_str(text));
	buf_put(&b, "\n", 1);
	if (out->write_fn && !out->failed)
		out->failed = out->write_fn(out->ctx, b.p, b.len) != 0;
}

static void put_stream(struct lines *out, const struct run_stream *s)
{
	char text[LINE_MAX_BYTES / 2];
	struct buf b = {.p = text, .cap = sizeof(text), .max = sizeof(text)};

	if (!s->present)
		return;
	buf_printf(&b, "%llu message%s, %llu row%s, ", (unsigned long long)s->messages,
	           s->messages == 1 ? "" : "s", (unsigned long long)s->rows,
	           s->rows == 1 ? "" : "s");
	buf_put_bytes(&b, (double)s->bytes);
	buf_put(&b, "", 1);
	put_line(out, s->file_name, text);
	if (s->dropped_rows) {
		snprintf(text, sizeof(text), "%llu row%s dropped while recording",
		         (unsigned long long)s->dropped_rows, s->dropped_rows == 1 ? "" : "s");
		put_line(out, s->file_name, text);
	}
}

/* ---- ticks that were missed: nothing is lost, nobody looked --------------------------------- */

struct hole {
	uint64_t times;           /* how many different ones the rows have */
	uint64_t from_ns, to_ns;  /* the longest without a row */
};

static struct hole longest_hole(const struct table *t)
{
	struct hole h = {0};
	uint64_t last_ns = 0;
	size_t i;

	for (i = 0; i < t->rows_len; i++) {
		uint64_t at_ns = t->mono_ns[i];

		if (h.times && at_ns <= last_ns)
			continue;
		if (h.times && at_ns - last_ns > h.to_ns - h.from_ns) {
			h.from_ns = last_ns;
			h.to_ns = at_ns;
		}
		last_ns = at_ns;
		h.times++;
	}
	return h;
}

static void put_seconds(struct buf *b, uint64_t ns)
{
	buf_put_fixed(b, (double)ns / (double)NS_PER_S, ns < NS_PER_S / 10 ? 4 : 2);
	buf_put_str(b, " s");
}

/* The hole is that of the table which has a row at the most times: it shows when nobody looked. */
static void put_missed(struct lines *out, const struct galvo_run *run, const struct run_stream *s)
{
	uint64_t start_ns = run->session ? run->session->start_mono_ns : 0;
	uint64_t missed = s->stats.missed_ticks, all = missed + s->stats.ticks;
	char text[LINE_MAX_BYTES / 2];
	struct buf b = {.p = text, .cap = sizeof(text), .max = sizeof(text)};
	struct hole best = {0};
	size_t i;

	if (missed == 0)
		return;
	for (i = 0; i < run->tables_len; i++) {
		struct hole h = run->tables[i].stream == s->kind ? longest_hole(&run->tables[i])
		                                                 : (struct hole){0};

		if (h.times > best.times)
			best = h;
	}
	buf_printf(&b, "%llu of %llu ticks missed", (unsigned long long)missed, (unsigned long long)all);
	if (best.times > 1) {
		buf_put_str(&b, "; longest hole ");
		put_seconds(&b, best.to_ns - best.from_ns);
	}
	if (best.times > 1 && start_ns && start_ns <= best.from_ns) {
		buf_put_str(&b, " after ");
		put_seconds(&b, best.from_ns - start_ns);
	}
	buf_put(&b, "", 1);
	put_line(out, s->file_name, text);
}

/* All streams end together, but where one could be written no more. */
static void put_early_ends(struct lines *out, const struct galvo_run *run)
{
	uint64_t patience_ns = EARLY_NS + (run->session ? 2 * run->session->flush_interval_ns : 0);
	char text[LINE_MAX_BYTES / 2];
	uint64_t last_ns = 0;
	size_t i;

	for (i = 0; i < run->streams_len; i++)
		if (run->streams[i].last_mono_ns > last_ns)
			last_ns = run->streams[i].last_mono_ns;
	for (i = 0; i < run->streams_len; i++) {
		const struct run_stream *s = &run->streams[i];
		struct buf b = {.p = text, .cap = sizeof(text), .max = sizeof(text)};

		if (!s->messages || last_ns - s->last_mono_ns <= patience_ns)
			continue;
		buf_put_str(&b, "ends ");
		put_seconds(&b, last_ns - s->last_mono_ns);
		buf_put_str(&b, " before the others");
		buf_put(&b, "", 1);
		put_line(out, s->file_name, text);
	}
}

/* ---- the run ------------------------------------------------------------------------------- */

/* What a copy by galvo check --repair says of itself, for as long as it exists. */
static void put_notes(struct lines *out, const struct session *s)
{
	size_t i;

	for (i = 0; s && i < s->notes_len; i++)
		if (strcmp(s->notes[i].subject, REPAIR_SUBJECT) == 0)
			put_line(out, SESSION_FILE, s->notes[i].text);
}

static void put_session(struct lines *out, const struct session *s)
{
	put_notes(out, s);
	if (s && !s->stop_mono_ns)
		put_line(out, SESSION_FILE, s->galvo_version[0]
		         ? "the recorder did not end the recording (killed, or no room)"
		         : "says nothing of how the recording ended");
}

/* Batches that were dropped after the last message of every stream leave no gap to see. */
static uint64_t lost_at_end(const struct galvo_run *run)
{
	uint64_t seen = 0, all = 0;
	size_t i;

	for (i = 0; i < run->streams_len; i++)
		seen += run->streams[i].dropped_batches;
	if (run->session && run->session->cost.present)
		all = run->session->cost.dropped_batches;
	return all > seen ? all - seen : 0;
}

static void put_lost_end(struct lines *out, const struct galvo_run *run)
{
	char text[LINE_MAX_BYTES / 2];
	uint64_t lost = lost_at_end(run);

	if (lost == 0)
		return;
	snprintf(text, sizeof(text), "%llu messages were dropped at the end of the recording",
	         (unsigned long long)lost);
	put_line(out, SESSION_FILE, text);
}

/* Damages name files by the pointer that the stream has. */
void run_sum_up(const struct galvo_run *run, galvo_check_result *ret)
{
	size_t i, k;

	*ret = (galvo_check_result){
		.is_complete = run->session && run->session->stop_mono_ns,
	};
	for (i = 0; i < run->streams_len; i++) {
		const struct run_stream *s = &run->streams[i];

		ret->messages += s->messages;
		ret->rows += s->rows;
		ret->damaged_messages += s->bad_messages;
		ret->missing_messages += s->missing_messages;
		for (k = 0; k < run->damages_len; k++)
			if (run->damages[k].torn_tail && run->damages[k].file == s->file_name)
				ret->torn_bytes += s->bytes - run->damages[k].offset;
	}
	ret->is_sound = ret->is_complete && run->damages_len == 0 && lost_at_end(run) == 0;
}

galvo_status galvo_run_check(const char *dir, galvo_write_fn write_fn, void *ctx,
                             galvo_check_result *ret_result, galvo_error *reterr)
{
	struct lines out = {write_fn, ctx, false};
	struct galvo_run *run;
	galvo_status status = galvo_run_open(dir, &run, reterr);
	galvo_check_result result;
	size_t i, k;

	if (status != GALVO_OK)
		return status;
	run_sum_up(run, &result);
	for (i = 0; i < run->streams_len; i++) {
		put_stream(&out, &run->streams[i]);
		put_missed(&out, run, &run->streams[i]);
		for (k = 0; k < run->damages_len; k++)
			if (run->damages[k].file == run->streams[i].file_name)
				put_line(&out, run->damages[k].file, run->damages[k].text);
	}
	for (k = 0; k < run->damages_len; k++)
		if (strcmp(run->damages[k].file, SESSION_FILE) == 0)
			put_line(&out, run->damages[k].file, run->damages[k].text);
	put_session(&out, run->session);
	put_lost_end(&out, run);
	put_early_ends(&out, run);
	galvo_run_close(run);
	if (out.failed)
		return err_set(reterr, GALVO_ERR_CALLBACK, "the caller stopped the check");
	if (ret_result)
		*ret_result = result;
	return GALVO_OK;
}
