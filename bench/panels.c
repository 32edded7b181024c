/* What it takes to get a long run ready for drawing: panels, all points, overviews, beside opening it. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "derive/derive.h"
#include "galvo/run.h"
#include "measure.h"
#include "scratch.h"
#include "source/source.h"
#include "stream/stream.h"

enum { ROUNDS = 5, HZ = 100, FLUSH_TICKS = 500, OVERVIEW = 2048, PROCESSES_MOST = 1000 };

/* Values are different from each other, as those of a machine are. */
static void put_row(struct stream *s, enum scope scope, uint64_t tick, uint32_t number)
{
	struct catalog_row row;
	double values[ROW_MAX];
	size_t i, n = 0;

	for (i = 0; catalog_at(i, &row); i++)
		if (row.stream == STREAM_SYSTEM && row.scope == scope) {
			values[n] = (double)((tick * 7919 + number * 104729 + n * 1299709) % 1000003) / 3;
			n++;
		}
	stream_row(s, scope, (tick + 1) * NS_PER_S / HZ, (struct row_key){.number = number}, values, n);
}

static void flush(struct stream *s, uint64_t tick, uint32_t processes)
{
	static struct process_info infos[PROCESSES_MOST];
	static const struct process_info *all[PROCESSES_MOST];
	const uint64_t mono_ns = (tick + 1) * NS_PER_S / HZ;
	const struct flush_info info = {.mono_ns = mono_ns, .wall_ns = mono_ns, .processes = all,
	                                .processes_len = processes};
	uint32_t i;

	for (i = 0; i < processes; i++) {
		infos[i] = (struct process_info){.pid = 4000 + i, .ppid = 1, .start_ticks = 5,
		                                 .first_mono_ns = 1, .comm = "worker"};
		all[i] = &infos[i];
	}
	stream_flush(s, &info);
}

static galvo_status generate(int dir_fd, uint64_t ticks, uint32_t processes, galvo_error *reterr)
{
	struct stream_config config = {
		.kind = STREAM_SYSTEM, .file_name = stream_file_name(STREAM_SYSTEM), .hostname = "bench",
		.frequency_hz = HZ, .cpu_count = 8, .catalog_at = catalog_at,
	};
	struct writer *w = NULL;
	struct stream *s;
	uint64_t tick;
	uint32_t i;
	galvo_status status = writer_create(dir_fd, &w, reterr);

	if (status == GALVO_OK)
		status = writer_add(w, &config, &s, reterr);
	if (status == GALVO_OK)
		status = writer_start(w, reterr);
	for (tick = 0; status == GALVO_OK && tick < ticks; tick++) {
		while (!stream_is_ready(s))
			usleep(100);
		put_row(s, SCOPE_SYSTEM, tick, 0);
		for (i = 0; i < processes; i++)
			put_row(s, SCOPE_PROCESS, tick, 4000 + i);
		if (tick % FLUSH_TICKS == FLUSH_TICKS - 1 || tick + 1 == ticks || stream_is_full(s))
			flush(s, tick, processes);
	}
	if (status == GALVO_OK)
		status = writer_stop(w, 60 * NS_PER_S, reterr);
	writer_destroy(w);
	return status;
}

struct times {
	struct figures open, summary, make, points, overviews;
	size_t curves, points_len;
};

static galvo_status draw(const struct panels *p, struct times *t, galvo_error *reterr)
{
	uint64_t points_ns = 0, overviews_ns = 0;
	galvo_status status = GALVO_OK;
	size_t i, k, len;

	t->curves = t->points_len = 0;
	for (i = 0; i < p->panels_len; i++)
		for (k = 0; k < p->panels[i].curves_len && status == GALVO_OK; k++) {
			struct bucket *buckets = NULL;
			uint64_t from_ns = cpu_now_ns();
			struct points points;

			status = curve_points(p, &p->panels[i].curves[k], &points, reterr);
			points_ns += cpu_now_ns() - from_ns;
			from_ns = cpu_now_ns();
			if (status == GALVO_OK)
				status = points_buckets(&points, p->zero_mono_ns, p->end_mono_ns,
				                        OVERVIEW, &buckets, &len, reterr);
			overviews_ns += cpu_now_ns() - from_ns;
			free(buckets);
			t->points_len += points.len;
			t->curves++;
			points_finish(&points);
		}
	figures_put(&t->points, (double)points_ns / 1e6);
	figures_put(&t->overviews, (double)overviews_ns / 1e6);
	return status;
}

static galvo_status measure(const char *dir, struct times *t, galvo_error *reterr)
{
	uint64_t from_ns = cpu_now_ns();
	struct galvo_run *run = NULL;
	struct panels p = {0};
	galvo_summary *s = NULL;
	galvo_status status = galvo_run_open(dir, &run, reterr);

	figures_put(&t->open, (double)(cpu_now_ns() - from_ns) / 1e6);
	from_ns = cpu_now_ns();
	if (status == GALVO_OK)
		status = galvo_summary_create(run, &s, reterr);
	figures_put(&t->summary, (double)(cpu_now_ns() - from_ns) / 1e6);
	from_ns = cpu_now_ns();
	if (status == GALVO_OK)
		status = panels_make(&p, run, s, NULL, reterr);
	figures_put(&t->make, (double)(cpu_now_ns() - from_ns) / 1e6);
	if (status == GALVO_OK)
		status = draw(&p, t, reterr);
	panels_finish(&p);
	galvo_summary_destroy(s);
	galvo_run_close(run);
	return status;
}

int main(int argc, char **argv)
{
	static struct times t;
	char dir[SCRATCH_BYTES];
	galvo_error error;
	uint64_t seconds = 3600, processes = 5;
	galvo_status status = scratch_make(dir, &error);
	int dir_fd = -1, round;

	if (argc > 1)
		span_to_u64(span_str(argv[1]), &seconds);
	if (argc > 2)
		span_to_u64(span_str(argv[2]), &processes);
	if (processes > PROCESSES_MOST)
		processes = PROCESSES_MOST;
	if (status == GALVO_OK && (dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
		status = err_set(&error, GALVO_ERR_IO, "%s: cannot be opened", dir);
	if (status == GALVO_OK)
		status = generate(dir_fd, seconds * HZ, (uint32_t)processes, &error);
	for (round = 0; round < ROUNDS && status == GALVO_OK; round++)
		status = measure(dir, &t, &error);
	if (dir_fd >= 0)
		close(dir_fd);
	scratch_remove(dir);
	if (status != GALVO_OK) {
		fprintf(stderr, "panels: %s\n", error.text);
		return 1;
	}
	printf("%llu s at %d Hz, %llu processes: %zu curves, %zu points; CPU ms, medians of %d\n",
	       (unsigned long long)seconds, HZ, (unsigned long long)processes, t.curves, t.points_len,
	       ROUNDS);
	printf("galvo_run_open %8.1f\nsummary        %8.1f\npanels_make    %8.1f\nall points     %8.1f\n"
	       "overviews      %8.1f\n",
	       figures_median(&t.open), figures_median(&t.summary), figures_median(&t.make),
	       figures_median(&t.points), figures_median(&t.overviews));
	return 0;
}
