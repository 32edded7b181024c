/* Any bytes are a stream to the reader: the first picks the kind, the rest are the file. */
#include "stream/stream.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* Everything the run shows is looked at, so that a bad pointer or index is found out. */
static uint64_t walk(const struct galvo_run *run)
{
	uint64_t sum = run->streams_len ? run->streams[0].messages : 0;
	size_t i, c, row;

	for (i = 0; i < run->tables_len; i++) {
		const struct table *t = &run->tables[i];

		for (c = 0; c < t->columns_len; c++)
			sum += table_column(t, t->columns[c]) + strlen(t->columns[c]);
		for (row = 0; row < t->rows_len; row++) {
			sum += t->mono_ns[row];
			sum += t->names_len ? strlen(t->names[t->key[row]]) : t->key[row];
			for (c = 0; c < t->columns_len; c++)
				sum += t->values[c][row] > 0;
		}
	}
	for (i = 0; i < run->processes_len; i++)
		sum += strlen(run->processes[i].alias) + strlen(run->processes[i].comm) +
		       strlen(run->processes[i].command);
	for (i = 0; i < run->devices_len; i++)
		sum += strlen(run->devices[i].name);
	for (i = 0; i < run->sources_len; i++)
		sum += strlen(run->sources[i].name) + strlen(run->sources[i].reason);
	for (i = 0; i < run->regions_len; i++)
		sum += run->regions[i].end_mono_ns +
		       (uint64_t)span_cmp(run->regions[i].name, run->regions[0].name);
	for (i = 0; i < run->marks_len; i++)
		sum += (uint64_t)span_cmp(run->marks[i].name, run->marks[0].name);
	for (i = 0; i < run->damages_len; i++)
		sum += strlen(run->damages[i].file) + strlen(run->damages[i].text);
	return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static const enum stream_kind kinds[] = {STREAM_SYSTEM, STREAM_DISK, STREAM_SYSTEM,
	                                         STREAM_EVENTS};
	struct galvo_run *run;
	volatile uint64_t sum;
	size_t skip = n ? 1 : 0;

	if (run_read_bytes(kinds[n ? data[0] % 4 : 0],
	                   span_of((const char *)data + skip, n - skip), &run, NULL) != GALVO_OK)
		return 0;
	sum = walk(run);
	(void)sum;
	galvo_run_close(run);
	return 0;
}
