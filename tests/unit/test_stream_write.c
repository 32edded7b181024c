/* Writing: what goes in comes out, the owner never waits, a full disk leaves a whole file. */
#include <signal.h>
#include <sys/resource.h>

#include "stream_sample.h"
#include "tap.h"

static void round_trip(void)
{
	struct buf b;
	struct span bytes = sample_bytes(3, &b);
	struct galvo_run *run = NULL;
	const struct table *t;
	size_t c;

	if (!OK(run_read_bytes(STREAM_SYSTEM, bytes, &run, NULL) == GALVO_OK))
		return;
	EQ(run->damages_len, 0);
	EQ(run->streams_len, 1);
	EQ(run->streams[0].messages, 3);
	EQ(run->streams[0].rows, 12);
	EQ(run->streams[0].bytes, bytes.n);
	EQ(run->streams[0].frequency_hz, 100);
	EQ(run->streams[0].last_mono_ns, 3000);
	EQ(run->streams[0].stats.ticks, 6);
	EQ(run->streams[0].stats.missed_ticks, 2);
	EQ(run->tables_len, 3);
	t = run_table(run, STREAM_SYSTEM, SCOPE_SYSTEM);
	EQ(t->columns_len, 2);
	EQ(t->rows_len, 6);
	c = table_column(t, "mem__used_bytes");
	EQ(c, 1);
	OK(isnan(t->values[c][0]) && t->values[c][5] == 0.1);
	OK(t->values[0][0] == 0 && t->values[0][5] == 2);
	EQ(t->mono_ns[5], 2002);
	OK(table_column(t, "nothing") == SIZE_MAX);
	t = run_table(run, STREAM_SYSTEM, SCOPE_PROCESS);
	OK(t->rows_len == 3 && t->key[2] == 7 && t->values[0][2] == 8192);
	t = run_table(run, STREAM_SYSTEM, SCOPE_INTERFACE);
	OK(t->rows_len == 3 && t->names_len == 1 && strcmp(t->names[t->key[2]], "eth0") == 0);
	OK(!run_table(run, STREAM_SYSTEM, SCOPE_CORE) && !run_table(run, STREAM_DISK, SCOPE_PROCESS));
	EQ(run->processes_len, 1);
	EQ(run->processes[0].pid, 7);
	EQ(run->processes[0].start_ticks, 99);
	OK(run->processes[0].removed && run->processes[0].root);
	EQ(run->processes[0].end_mono_ns, 2500);
	OK(strcmp(run->processes[0].comm, "s\xffh") == 0);
	OK(strcmp(run->processes[0].alias, "job") == 0);
	EQ(run->sources_len, 1);
	OK(strcmp(run->sources[0].name, "cpu") == 0 && run->sources[0].reads == 3);
	OK(strcmp(run->sources[0].reason, "") == 0);
	galvo_run_close(run);
	buf_finish(&b);
}

static const struct tap_test tests[] = {
	{"round trip", round_trip},
};
TAP_MAIN(tests)
