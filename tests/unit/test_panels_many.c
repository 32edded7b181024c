/* A thousand processes: the busiest have curves, the others a sum, and points cost no more than their rows. */
#include <time.h>

#include "panels_rig.h"

#define PROCESSES 1000
#define TICKS 200
#define ROWS (PROCESSES * TICKS)

/* Its arrays are its own. */
struct crowd {
	struct galvo_run run;
	struct session session;
	struct run_stream stream;
	struct table table;
	struct process_info processes[PROCESSES];
	uint64_t mono_ns[ROWS];
	uint32_t key[ROWS];
	double cpu[ROWS], rss[ROWS];
	const double *values[2];
};

static struct crowd *crowd(void)
{
	static const char *const columns[] = {"proc__cycles_active.sum.per_second", "proc__rss_bytes"};
	struct crowd *c = alloc_array(1, sizeof(*c));
	size_t t, k, n = 0;

	for (k = 0; k < PROCESSES; k++) {
		c->processes[k] = (struct process_info){.pid = (uint32_t)(1000 + k), .ppid = 1,
			.start_ticks = 7 * k, .first_mono_ns = 100 * S};
		snprintf(c->processes[k].comm, sizeof(c->processes[k].comm), "p%zu", k);
	}
	for (t = 0; t < TICKS; t++)
		for (k = 0; k < PROCESSES; k++, n++) {
			c->mono_ns[n] = 100 * S + (t + 1) * 100 * MS + k * 1000;
			c->key[n] = (uint32_t)(1000 + k);
			c->cpu[n] = (double)((k * 7919 + t) % 100);
			c->rss[n] = k == 500 && t == 77 ? 1e12 : 4096 * (double)(k + 1);
		}
	c->values[0] = c->cpu;
	c->values[1] = c->rss;
	c->table = (struct table){.stream = STREAM_SYSTEM, .scope = SCOPE_PROCESS, .columns_len = 2,
		.columns = columns, .rows_len = ROWS, .mono_ns = c->mono_ns, .key = c->key,
		.values = c->values};
	c->session = (struct session){.cpu_count = 4, .start_mono_ns = 100 * S};
	c->stream = (struct run_stream){.kind = STREAM_SYSTEM, .present = true, .frequency_hz = 10};
	c->run = (struct galvo_run){.session = &c->session, .streams = &c->stream, .streams_len = 1,
		.tables = &c->table, .tables_len = 1, .processes = c->processes,
		.processes_len = PROCESSES};
	return c;
}

static void the_books(void)
{
	struct crowd *c = crowd();
	struct drawn d = draw(&c->run, NULL);
	const struct panel *p = panel_named(&d, "process-cpu");
	double all = 0, drawn = 0;
	size_t i;

	EQ(p->curves_len, 25);
	OK(!strcmp(p->curves[24].label, "976 others"));
	for (i = 0; i < PROCESSES; i++)
		all += d.summary->processes[i].cpu_pct_of_core.total;
	for (i = 0; i < p->curves_len; i++)
		drawn += curve_sum(&d, &p->curves[i]).integral / 100;
	OK(fabs(all - drawn) < 1e-9 * all);
	/* The one with a peak is first, for what a moment shows is not in any mean. */
	p = panel_named(&d, "process-memory");
	OK(!strcmp(p->curves[0].key, "process-memory/1500:3500"));
	undraw(&d);
	free(c);
}

/* All of them, one by one: by the square it would be 200 million rows. */
static void each(void)
{
	struct crowd *c = crowd();
	struct drawn d = draw(&c->run, &(struct panels_options){.processes_max = PROCESSES});
	const struct panel *p = panel_named(&d, "process-cpu");
	struct timespec from, to;
	size_t i, n = 0;

	EQ(p->curves_len, PROCESSES);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
	for (i = 0; i < p->curves_len; i++) {
		struct points points = points_of(&d, &p->curves[i]);

		n += points.len;
		points_finish(&points);
	}
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
	EQ(n, ROWS);
	printf("# %zu points of %zu curves in %.1f ms\n", n, i,
	       ((double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) / 1e9) * 1e3);
	undraw(&d);
	free(c);
}

static const struct tap_test tests[] = {
	{"the books", the_books},
	{"each of them", each},
};
TAP_MAIN(tests)
