/*
 * Reads a run: for each stream its tables, and of each column the mean and the largest value; then what
 * processes used, and how they ended.
 *
 * usage: read_run [DIRECTORY]
 */
#include <galvo/galvo.h>
#include <math.h>
#include <stdio.h>

/* Values that are absent are NaN, and count for nothing. */
static void print_column(const galvo_run_column *column, size_t rows_len)
{
	double sum = 0, max = -INFINITY;
	size_t row, n = 0;

	for (row = 0; row < rows_len; row++) {
		if (isnan(column->values[row]))
			continue;
		sum += column->values[row];
		max = column->values[row] > max ? column->values[row] : max;
		n++;
	}
	if (n)
		printf("    %-60s mean %14.6g  max %14.6g %s\n", column->name, sum / (double)n, max,
		       column->unit);
	else
		printf("    %-60s was never there\n", column->name);
}

static void print_tables(const galvo_run *run, int32_t stream)
{
	galvo_run_table table = {.struct_size = sizeof(table)};
	galvo_run_column column = {.struct_size = sizeof(column)};
	size_t t, c;

	for (t = 0; galvo_run_table_at(run, t, &table, NULL) == GALVO_OK; t++) {
		if (table.stream != stream)
			continue;
		printf("  %s: %zu rows\n", table.scope, table.rows_len);
		for (c = 0; galvo_run_column_at(run, t, c, &column, NULL) == GALVO_OK; c++)
			print_column(&column, table.rows_len);
	}
}

/* CPU time of its own, in samples or not, and of children that ended before they were found. */
static void print_processes(const galvo_run *run)
{
	galvo_run_process process = {.struct_size = sizeof(process)};
	galvo_run_usage cpu = {.struct_size = sizeof(cpu)};
	size_t i;

	for (i = 0; galvo_run_process_at(run, i, &process, NULL) == GALVO_OK; i++) {
		printf("  process %u", (unsigned)process.pid);
		if (process.has_status)
			printf(", exit status %d", (int)process.exit_code);
		if (galvo_run_usage_at(run, i, 0, &cpu, NULL) == GALVO_OK && cpu.is_known)
			printf(", %.3f s CPU, %.3f s by children unseen",
			       (double)(cpu.head + cpu.sampled + cpu.tail) / 1e9,
			       (double)cpu.unseen / 1e9);
		printf("\n");
	}
}

int main(int argc, char **argv)
{
	galvo_run_stream stream = {.struct_size = sizeof(stream)};
	galvo_run_note note = {.struct_size = sizeof(note)};
	galvo_run *run = NULL;
	galvo_error error;
	size_t i;

	if (galvo_run_open(argc > 1 ? argv[1] : "run", &run, &error) != GALVO_OK) {
		fprintf(stderr, "%s\n", error.text);
		return 1;
	}
	for (i = 0; galvo_run_stream_at(run, i, &stream, NULL) == GALVO_OK; i++) {
		printf("%s: %llu messages\n", stream.file, (unsigned long long)stream.messages);
		print_tables(run, stream.kind);
	}
	print_processes(run);
	for (i = 0; galvo_run_note_at(run, i, &note, NULL) == GALVO_OK; i++)
		fprintf(stderr, "%s: %s\n", note.subject, note.text);
	galvo_run_close(run);
	return 0;
}
