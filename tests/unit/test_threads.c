/* Threads: recorded from real processes, and what becomes of their rows. */
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "derive/derive.h"
#include "fake_run.h"
#include "galvo/reader.h"
#include "host.h"
#include "output/output.h"
#include "probe/internal.h"
#include "tap.h"

static struct world world;
static size_t strangers; /* threads that a sanitizer has for itself */

/* ---- from a process into columns ------------------------------------------------------------------ */

struct rig {
	char dir[64];
	int dir_fd;
	struct track *track;
	struct writer *writer;
	struct probe *probe;
};

static void open_rig(struct rig *r, size_t max_fds)
{
	const struct track_config track = {.world = &world, .max_fds = max_fds};
	const struct stream_config file = {
		.kind = STREAM_SYSTEM, .file_name = stream_file_name(STREAM_SYSTEM), .hostname = "test",
		.frequency_hz = 100, .cpu_count = 1, .catalog_at = catalog_at,
	};
	struct probe_config config = {
		.kind = STREAM_SYSTEM, .world = &world, .leads = true, .period_ns = 10 * NS_PER_MS,
		.flush_interval_ns = 100 * NS_PER_S, .scan_period_ns = NS_PER_S, .threads = true,
	};

	snprintf(r->dir, sizeof(r->dir), "/tmp/galvo-threads-XXXXXX");
	OK(mkdtemp(r->dir) && (r->dir_fd = open(r->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) >= 0);
	OK(track_create(&track, &r->track, NULL) == GALVO_OK);
	OK(track_add(r->track, 0, NULL, STREAM_ALL, FOLLOW_NONE, NULL) == GALVO_OK);
	config.track = r->track;
	OK(writer_create(r->dir_fd, &r->writer, NULL) == GALVO_OK);
	OK(writer_add(r->writer, &file, &config.stream, NULL) == GALVO_OK);
	OK(writer_start(r->writer, NULL) == GALVO_OK);
	OK(probe_create(&config, &r->probe, NULL) == GALVO_OK);
	probe_prime(r->probe);
}

static void tick(struct rig *r, size_t n)
{
	while (n--)
		probe_tick(r->probe);
}

static struct galvo_run *close_rig(struct rig *r)
{
	struct galvo_run *run = NULL;

	probe_flush(r->probe);
	writer_stop(r->writer, 10 * NS_PER_S, NULL);
	probe_destroy(r->probe);
	EQ(track_fds(r->track)->used, 2); /* what says who the process is */
	track_destroy(r->track);
	writer_destroy(r->writer);
	OK(galvo_run_open(r->dir, &run, NULL) == GALVO_OK);
	close(r->dir_fd);
	host_remove(r->dir);
	return run;
}

struct helper {
	pthread_t thread;
	_Atomic uint32_t tid;
	_Atomic bool go, done;
	double cpu_s;
};

static void *help(void *ctx)
{
	struct helper *h = ctx;
	struct timespec t = {0};

	prctl(PR_SET_NAME, "helper");
	h->tid = (uint32_t)syscall(SYS_gettid);
	while (!h->go)
		sched_yield();
	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	while ((double)t.tv_sec + (double)t.tv_nsec / 1e9 < h->cpu_s);
	h->done = true;
	while (h->go)
		sched_yield();
	return NULL;
}

static void start_helper(struct helper *h, double cpu_s)
{
	*h = (struct helper){.cpu_s = cpu_s};
	OK(pthread_create(&h->thread, NULL, help, h) == 0);
	while (!h->tid)
		sched_yield();
}

static void end_helper(struct helper *h)
{
	h->go = true;
	while (!h->done)
		sched_yield();
	h->go = false;
	pthread_join(h->thread, NULL);
}

static const struct thread_info *info_of(const struct galvo_run *run, uint32_t tid)
{
	size_t i;

	for (i = 0; i < run->threads_len; i++)
		if (run->threads[i].tid == tid)
			return &run->threads[i];
	return NULL;
}

static size_t rows_of(const struct galvo_run *run, uint32_t tid)
{
	const struct table *t = run_table(run, STREAM_SYSTEM, SCOPE_THREAD);
	size_t i, n = 0;

	for (i = 0; t && i < t->rows_len; i++)
		n += t->key[i] == tid && t->pid[i] == (uint32_t)getpid();
	return n;
}

/* Of this process, those that are its own. */
static size_t living(const struct rig *r)
{
	size_t i, n = 0;

	for (i = 0; i < r->probe->threads_len; i++)
		n += !r->probe->threads[i]->info.end_mono_ns;
	return n - strangers;
}

/* This process: its main thread, the writer's and helpers that come and go. */
static void come_and_go(void)
{
	const struct thread_info *info;
	struct galvo_run *run;
	struct helper first, second;
	uint32_t me = (uint32_t)getpid();
	struct rig r;
	size_t i;

	open_rig(&r, 0);
	EQ(living(&r), 2);
	start_helper(&first, 0.005);
	tick(&r, 30);
	EQ(living(&r), 3);
	start_helper(&second, 0.005);
	end_helper(&first); /* as many as before: it is known by its file */
	tick(&r, 40);
	EQ(living(&r), 3);
	EQ(r.probe->threads_len, 4 + strangers);
	probe_flush(r.probe);
	/* It is kept until the message that tells of its end is written. */
	for (i = 0; i < 100000 && r.probe->threads_len > 3 + strangers; i++)
		tick(&r, 1);
	EQ(r.probe->threads_len, 3 + strangers);
	end_helper(&second);
	tick(&r, 30);
	EQ(living(&r), 2);
	run = close_rig(&r);
	info = info_of(run, first.tid);
	OK(info && info->pid == me && info->end_mono_ns > info->first_mono_ns && info->start_ticks);
	OK(info && !strcmp(info->name, "helper"));
	info = info_of(run, second.tid);
	OK(info && info->end_mono_ns);
	info = info_of(run, me);
	OK(info && !info->end_mono_ns);
	OK(rows_of(run, me) >= 10 && rows_of(run, first.tid) >= 2 && rows_of(run, second.tid) >= 2);
	galvo_run_close(run);
}

static void their_cpu_time(void)
{
	struct galvo_summary *sum = NULL;
	struct galvo_run *run;
	struct helper helper;
	struct rig r;
	double found_s = NAN, others_s = NAN;
	size_t i;

	open_rig(&r, 0);
	start_helper(&helper, 0.08);
	tick(&r, 20);
	helper.go = true;
	while (!helper.done)
		tick(&r, 1);
	tick(&r, 20);
	helper.go = false;
	pthread_join(helper.thread, NULL);
	tick(&r, 20);
	run = close_rig(&r);
	OK(galvo_summary_create(run, &sum, NULL) == GALVO_OK);
	for (i = 0; sum && i < sum->threads_len; i++)
		if (sum->threads[i].info->tid == helper.tid)
			found_s = sum->threads[i].cpu_pct_of_core.total;
	others_s = sum ? sum->processes[0].other_threads_s : NAN;
	/* It yielded before the first reading, and after the last. */
	if (!OK(found_s > 0.04 && others_s >= 0 && others_s < sum->processes[0].cpu_pct_of_core.total))
		printf("# %.4f s, others %.4f s\n", found_s, others_s);
	galvo_summary_destroy(sum);
	galvo_run_close(run);
}

/* Without a file that is open, another thread of that number would look the same but for its start. */
static void a_number_that_is_used_again(void)
{
	struct galvo_run *run;
	struct thread *t = NULL;
	uint32_t me = (uint32_t)getpid();
	struct rig r;
	size_t i, n = 0;

	open_rig(&r, 2);
	tick(&r, 20);
	for (i = 0; i < r.probe->threads_len; i++)
		if (r.probe->threads[i]->info.tid == me)
			t = r.probe->threads[i];
	OK(t && t->keep.file.fd < 0 && t->series.reads > 1);
	if (t)
		t->info.start_ticks--;
	tick(&r, 40);
	OK(t && t->info.end_mono_ns);
	EQ(living(&r), 2);
	run = close_rig(&r);
	for (i = 0; i < run->threads_len; i++)
		n += run->threads[i].tid == me;
	EQ(n, 2);
	galvo_run_close(run);
}

static void instances_of_a_reader(void)
{
	galvo_instance instance = {.struct_size = sizeof(instance)};
	galvo_run_thread thread = {.struct_size = sizeof(thread)};
	galvo_run_table table = {.struct_size = sizeof(table)};
	galvo_reader *reader = NULL;
	struct galvo_run *run;
	struct rig r;
	size_t t, c, i;

	open_rig(&r, 0);
	tick(&r, 30);
	run = close_rig(&r);
	OK(galvo_run_column_find(run, "thread__cycles_active.sum.per_second", &t, &c, NULL) ==
	   GALVO_OK);
	OK(galvo_run_table_at(run, t, &table, NULL) == GALVO_OK);
	OK(table.key_kind == GALVO_KEY_THREAD && table.pid && !strcmp(table.scope, "thread"));
	OK(galvo_reader_create(run, t, &reader, NULL) == GALVO_OK);
	for (i = 0; galvo_reader_instance_at(reader, i, &instance, NULL) == GALVO_OK; i++) {
		OK(galvo_run_thread_at(run, instance.thread, &thread, NULL) == GALVO_OK);
		OK(thread.tid == instance.key && thread.pid == (uint32_t)getpid());
		OK(instance.process == 0 && !strcmp(instance.name, thread.name) && instance.rows_len);
	}
	EQ(i, 2 + strangers);
	EQ(galvo_run_thread_at(run, i, &thread, NULL), GALVO_DONE);
	galvo_reader_destroy(reader);
	galvo_run_close(run);
}

/* ---- from columns to a page ------------------------------------------------------------------------ */

static int write_to(void *ctx, const void *bytes, size_t n)
{
	buf_put(ctx, bytes, n);
	return 0;
}

static void a_page(void)
{
	static const char *const columns[] = {"thread__cycles_active.sum.per_second",
	                                      "thread__run_delay.avg.pct_of_peak_sustained_elapsed"};
	static const char *const active[] = {"proc__cycles_active.sum.per_second"};
	struct fake_run *f = alloc_array(1, sizeof(*f));
	struct thread_info threads[9] = {0};
	struct galvo_summary *sum = NULL;
	struct buf page;
	size_t t, p;
	uint32_t k;
	uint64_t i;

	fake_init(f);
	fake_process(f, 10, 1, 50, "many")->root = true;
	fake_process(f, 20, 10, 60, "lone");
	for (k = 0; k < 9; k++) {
		threads[k] = (struct thread_info){.pid = k == 8 ? 20 : 10, .tid = k == 8 ? 20 : 10 + k,
		                                  .first_mono_ns = 100 * S, .start_ticks = 50};
		snprintf(threads[k].name, sizeof(threads[k].name), "t%u", k);
	}
	f->run.threads = threads;
	f->run.threads_len = 9;
	p = fake_table(f, STREAM_SYSTEM, SCOPE_PROCESS, active, 1, NULL, 0);
	t = fake_table(f, STREAM_SYSTEM, SCOPE_THREAD, columns, 2, NULL, 0);
	f->tables[t].pid = f->columns[t].key;
	for (i = 1; i <= 10; i++) {
		ROW(f, p, (100 + i) * S, 10, 100);
		ROW(f, p, (100 + i) * S, 20, 5);
		for (k = 0; k < 9; k++)
			ROW(f, t, (100 + i) * S, threads[k].tid, k, 10 * k);
	}
	OK(galvo_summary_create(&f->run, &sum, NULL) == GALVO_OK);
	EQ(sum->threads_len, 9);
	OK(!strcmp(sum->threads[0].info->name, "t7") && sum->threads[0].process == 0);
	OK(fabs(sum->threads[0].cpu_pct_of_core.total - 0.7) < 1e-9);
	OK(fabs(sum->threads[0].run_delay_pct.total - 7) < 1e-9);
	OK(sum->threads[8].process == 1 && isnan(sum->threads[8].timeslices_per_s.avg));
	OK(fabs(sum->processes[0].other_threads_s - (10 - 2.8)) < 1e-9);
	OK(sum->processes[1].other_threads_s < 1e-9); /* more than the process itself: rounding */
	buf_init(&page, 1 << 20);
	OK(galvo_summary_write(sum, GALVO_REPORT_TEXT, write_to, &page, NULL) == GALVO_OK);
	buf_put(&page, "", 1);
	OK(strstr(page.p, "\n  many (10), 8 threads\n    t7  "));
	OK(strstr(page.p, "\n    t2  ") && !strstr(page.p, "    t1  ") && !strstr(page.p, "lone (20)"));
	OK(strstr(page.p, "and 2 more, and threads that ended: 7.30 s CPU\n"));
	buf_finish(&page);
	galvo_summary_destroy(sum);
	free(f);
}

static const struct tap_test tests[] = {
	{"come and go", come_and_go},
	{"their CPU time", their_cpu_time},
	{"a number that is used again", a_number_that_is_used_again},
	{"instances of a reader", instances_of_a_reader},
	{"a page", a_page},
};

static void *nothing(void *arg)
{
	return arg;
}

int main(void)
{
	struct stat tasks;
	pthread_t first;
	int failed;

	/* Two links of the directory itself, one of the main thread. Sanitizers begin with our first one. */
	if (pthread_create(&first, NULL, nothing, NULL) == 0)
		pthread_join(first, NULL);
	strangers = stat("/proc/self/task", &tasks) == 0 && tasks.st_nlink > 3 ? tasks.st_nlink - 3 : 0;
	failed = world_open(&world, NULL, NULL) != GALVO_OK || tap_run(tests, ARRAY_LEN(tests));

	world_close(&world);
	return failed;
}
