/* The report's lines on GPUs that have something to say beside figures: throttling, losses, doubts. */
#include <math.h>

#include "output.h"

#define REMARKS_MAX 20 /* JSON has all that is behind them */
#define INDENT 5
#define LINE_BYTES_MAX 1024
#define WORTH_PCT 0.1        /* of the recording: shorter times are not worth a line */
#define DIFFERENCE_PCT 10    /* energy by counter and by power: further apart is worth one */
#define DIFFERENCE_FROM_S 5  /* when they could be compared for so long */
#define COVERED_PCT 95       /* of the recording, by telemetry: less is worth one */
#define IMBALANCE_RATIO 0.5 /* the busiest SM above their mean */
#define BUSY_PCT 5           /* of SMs that have something to do at all */

/* Says its line on that GPU, or nothing. */
typedef void (*remark_fn)(struct buf *b, const struct summary_gpu *g);

static double first_known(double a, double b)
{
	return isnan(a) ? b : a;
}

static void put_times(struct buf *b, uint64_t n)
{
	buf_printf(b, " %llu time%s", (unsigned long long)n, n == 1 ? "" : "s");
}

static void counters_missing(struct buf *b, const struct summary_gpu *g)
{
	const struct summary_counters *c = &g->counters;

	if (!c->asked || !c->decode || !c->decode->reason[0])
		return;
	buf_put_str(b, c->samples ? "hardware counters ended: " : "no hardware counters: ");
	buf_put_escaped(b, span_str(c->decode->reason));
}

/* "1.2 % of the time no samples: the hardware buffer overflowed 3 times" */
static void samples_lost(struct buf *b, const struct summary_gpu *g)
{
	const struct decode_stats none = {0}, *d = g->counters.decode ? g->counters.decode : &none;
	const bool found_nothing = d->decodes > d->failures && !d->samples && !d->overflows &&
	                           !d->full_images && !d->timeless && !d->unwritten;
	const struct {
		uint64_t n;
		const char *what;
	} causes[] = {
		{d->overflows, "the hardware buffer overflowed"},
		{d->full_images, "there was more in it than room"},
		{d->failures, "reading it failed"},
		{d->timeless, "there was no sound time"},
		{found_nothing ? d->decodes : 0, "there was nothing in it"},
	};
	const char *between = ": ";
	size_t i;

	if (!(g->counters.missing_pct >= WORTH_PCT) && !d->unwritten && !d->overflows && !found_nothing)
		return;
	buf_put_str(b, "hardware counters: ");
	put_small_pct(b, isnan(g->counters.missing_pct) ? 0 : g->counters.missing_pct);
	buf_put_str(b, " of the time no samples");
	for (i = 0; i < ARRAY_LEN(causes); i++) {
		if (!causes[i].n)
			continue;
		buf_put_str(b, between);
		buf_put_str(b, causes[i].what);
		put_times(b, causes[i].n);
		between = ", ";
	}
	if (d->unwritten)
		buf_printf(b, "%s%llu samples could not be written", between,
		           (unsigned long long)d->unwritten);
}

/* Values that CUPTI gave and that are no numbers. */
static void values_lost(struct buf *b, const struct summary_gpu *g)
{
	const struct decode_stats *d = g->counters.decode;

	if (d && d->not_finite)
		buf_printf(b, "hardware counters: %llu value%s left out: not a number",
		           (unsigned long long)d->not_finite, d->not_finite == 1 ? "" : "s");
}

static void throttled(struct buf *b, const struct summary_gpu *g)
{
	const struct {
		double s;
		const char *reason;
	} reasons[] = {
		{first_known(g->throttle[THROTTLE_SW_POWER_CAP].total, g->power_throttle.amount),
		 "power cap"},
		{first_known(fmax(g->throttle[THROTTLE_SW_THERMAL].total,
		                  g->throttle[THROTTLE_HW_THERMAL].total),
		             g->thermal_throttle.amount), "heat"},
		{first_known(g->throttle[THROTTLE_HW_POWER_BRAKE].total,
		             g->power_brake_throttle.amount), "power brake"},
		{first_known(g->throttle[THROTTLE_SYNC_BOOST].total,
		             g->sync_boost_throttle.amount), "sync boost"},
		{g->throttle[THROTTLE_HW_SLOWDOWN].total, "hardware slowdown"},
	};
	const char *between = "slowed";
	size_t i;

	for (i = 0; i < ARRAY_LEN(reasons); i++) {
		if (!(reasons[i].s * 100 >= WORTH_PCT * g->covered_s) || !(reasons[i].s > 0))
			continue;
		buf_printf(b, "%s by %s for ", between, reasons[i].reason);
		put_duration(b, reasons[i].s);
		between = ",";
	}
}

static void energy(struct buf *b, const struct summary_gpu *g)
{
	const struct summary_energy *e = &g->energy;

	if (e->counter.resets) {
		buf_put_str(b, "the energy counter fell");
		put_times(b, e->counter.resets);
		buf_put_str(b, ": what it counted in the meantime is not in the energy");
	}
	if (e->gaps_s > 0) {
		buf_put_str(b, b->len ? "; " : "");
		buf_put_str(b, "power was not read for ");
		put_duration(b, e->gaps_s);
		buf_put_str(b, ", which energy by power leaves out");
	}
	if (fabs(e->difference_pct) < DIFFERENCE_PCT || !(e->compared_s >= DIFFERENCE_FROM_S))
		return;
	buf_put_str(b, b->len ? "; " : "");
	buf_put_str(b, "energy by power is ");
	put_pct(b, fabs(e->difference_pct));
	buf_put_str(b, e->difference_pct > 0 ? " above" : " below");
	buf_put_str(b, " what the counter says");
}

static void errors(struct buf *b, const struct summary_gpu *g)
{
	const struct {
		double n;
		const char *what;
	} counts[] = {
		{g->ecc_uncorrected.amount, "uncorrected memory errors"},
		{g->ecc_corrected.amount, "corrected memory errors"},
		{g->pcie_replays.amount, "PCIe replays"},
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(counts); i++) {
		if (!(counts[i].n > 0))
			continue;
		buf_put_str(b, b->len ? ", " : "");
		put_count(b, counts[i].n);
		buf_printf(b, " %s", counts[i].what);
	}
}

/* Those that NVIDIA's list puts down to the program first; they may have other causes, too. */
static bool is_xid_of_workload(double code)
{
	static const unsigned codes[] = {13, 31, 43, 45, 68, 109};
	size_t i;

	for (i = 0; i < ARRAY_LEN(codes) && codes[i] != code; i++)
		;
	return i < ARRAY_LEN(codes);
}

/* "2 Xid errors, the last one 45 (of the workload: see NVIDIA's list of Xid codes)" */
static void xids(struct buf *b, const struct summary_gpu *g)
{
	if (!(g->xid_errors > 0) || isnan(g->xid_last))
		return;
	put_count(b, g->xid_errors);
	buf_put_str(b, g->xid_errors > 1 ? " Xid errors, the last one " : " Xid error: ");
	buf_printf(b, "%.0f", g->xid_last);
	buf_put_str(b, is_xid_of_workload(g->xid_last) ? " (of the workload: see" : " (see");
	buf_put_str(b, " NVIDIA's list of Xid codes)");
}

/* Without the list of what it does not tell, which JSON has. */
static void put_note(struct buf *b, const char *before, const struct summary_gpu *g)
{
	static const char list[] = "not told: ";
	struct span note = span_str(g->info->note);
	const char *end = strstr(g->info->note, list);

	if (end)
		note.n = (size_t)(end - g->info->note);
	while (note.n && (note.p[note.n - 1] == ' ' || note.p[note.n - 1] == ';'))
		note.n--;
	if (!note.n)
		return;
	buf_put_str(b, before);
	buf_put_escaped(b, note);
}

/* What is not as usual with it. */
static void noted(struct buf *b, const struct summary_gpu *g)
{
	if (isnan(g->lost_s) && g->state != GPU_UNAVAILABLE)
		put_note(b, "", g);
	if (g->info->foreign_pids && g->processes_len)
		buf_printf(b, "%spids are those of another PID namespace", b->len ? "; " : "");
}

static void unwatched(struct buf *b, const struct summary_gpu *g)
{
	if (!isnan(g->lost_s)) {
		buf_put_str(b, "lost at ");
		put_duration(b, g->lost_s);
		put_note(b, ": ", g);
		return;
	}
	if (g->state == GPU_UNAVAILABLE) {
		buf_put_str(b, "nothing of it could be read");
		put_note(b, ": ", g);
		return;
	}
	if (!(g->covered_pct < COVERED_PCT))
		return;
	buf_put_str(b, "telemetry of ");
	put_pct(b, g->covered_pct);
	buf_put_str(b, " of the time only");
}

static void idle_but_held(struct buf *b, const struct summary_gpu *g)
{
	if (g->state != GPU_IDLE || !g->is_allocation_known || !g->allocated)
		return;
	buf_put_str(b, "held by processes, and idle");
}

static void doubts(struct buf *b, const struct summary_gpu *g)
{
	if (g->is_suspect)
		buf_put_str(b, "it was busy, and its driver says that no process did anything: the "
		               "shares of processes cannot be believed");
}

static void imbalance(struct buf *b, const struct summary_gpu *g)
{
	const struct summary_counters *c = &g->counters;

	if (!(c->sm_imbalance_ratio >= IMBALANCE_RATIO) || !(c->sm_busy_pct.avg >= BUSY_PCT))
		return;
	buf_put_str(b, "the busiest SM was ");
	put_pct(b, 100 * c->sm_imbalance_ratio);
	buf_put_str(b, " above their mean");
}

/* ---- lines that are the same ------------------------------------------------------------------ */

static bool is_same(const struct buf *a, const struct buf *b)
{
	return span_eq(span_of(a->p, a->len), span_of(b->p, b->len));
}

/* "  0-3, 5: ": all that have the same line as number i, which is the first of them. */
static void put_numbers(struct sheet *s, const struct galvo_summary *sum, const struct buf *lines,
                        size_t i)
{
	const char *between = "  ";
	size_t last, k;

	for (k = i; k < sum->gpus_len; k = last + 1) {
		const struct summary_gpu *g = &sum->gpus[k];

		last = k;
		if (!is_same(&lines[k], &lines[i]))
			continue;
		if (g->parent != SIZE_MAX)
			buf_printf(&s->buf, "%sMIG %u/%u", between, (unsigned)g->info->gpu_instance,
			           (unsigned)g->info->compute_instance);
		else
			put_gpu_index(&s->buf, between, g);
		between = ", ";
		while (g->parent == SIZE_MAX && last + 1 < sum->gpus_len &&
		       sum->gpus[last + 1].has_cuda_index == g->has_cuda_index &&
		       is_same(&lines[last + 1], &lines[i]) &&
		       sum->gpus[last + 1].info->index == sum->gpus[last].info->index + 1)
			last++;
		if (last > k)
			buf_printf(&s->buf, "-%u", (unsigned)sum->gpus[last].info->index);
	}
	buf_put_str(&s->buf, ": ");
}

static const remark_fn remarks[] = {
	unwatched, noted, counters_missing, samples_lost, values_lost, idle_but_held, throttled, energy,
	errors, xids, imbalance, doubts,
};

/* What stands behind the numbers of all GPUs that say the same. */
static void report_line(struct sheet *s, const struct galvo_summary *sum, const struct buf *lines,
                        size_t i)
{
	put_numbers(s, sum, lines, i);
	buf_put(&s->buf, lines[i].p, lines[i].len);
	s->buf.failed |= lines[i].failed;
	sheet_line_wrap(s, INDENT);
}

/* An earlier GPU has said it for this one, too; or there is nothing to say. */
static bool is_said(const struct buf *lines, size_t i)
{
	size_t k;

	for (k = 0; k < i && !is_same(&lines[k], &lines[i]); k++)
		;
	return k < i || !lines[i].len;
}

void report_gpu_remarks(struct sheet *s, const struct galvo_summary *sum)
{
	size_t n = sum->gpus_len, count = 0, i, k;
	struct buf *lines = alloc_array(n * ARRAY_LEN(remarks), sizeof(*lines));

	if (!lines) {
		s->status = GALVO_ERR_NOMEM;
		return;
	}
	for (k = 0; k < ARRAY_LEN(remarks); k++)
		for (i = 0; i < n; i++) {
			buf_init(&lines[k * n + i], LINE_BYTES_MAX);
			remarks[k](&lines[k * n + i], &sum->gpus[i]);
		}
	for (i = 0; i < n; i++)
		for (k = 0; k < ARRAY_LEN(remarks); k++) {
			if (is_said(&lines[k * n], i) || count++ >= REMARKS_MAX)
				continue;
			if (count == 1) {
				sheet_text(s, "");
				sheet_text(s, "gpu remarks");
			}
			report_line(s, sum, &lines[k * n], i);
		}
	if (count > REMARKS_MAX) {
		buf_printf(&s->buf, "  \xe2\x80\xa6 and %zu more", count - REMARKS_MAX);
		sheet_line_end(s);
	}
	for (i = 0; i < n * ARRAY_LEN(remarks); i++)
		buf_finish(&lines[i]);
	free(lines);
}
