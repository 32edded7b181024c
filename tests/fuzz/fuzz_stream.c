/*
 * Any bytes are a stream to the reader: the first picks the kind, the rest are the file. It is read at
 * once, and as one that grows.
 */
#include "stream/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* Everything the run shows is looked at, so that a bad pointer or index is found out. */
static uint64_t walk(const struct galvo_run *run)
{
	uint64_t sum = run->streams_len ? run->streams[0].messages +
	                                  strlen(run->streams[0].gpu_events.reason) : 0;
	size_t i, c, row;

	for (i = 0; i < run->tables_len; i++) {
		const struct table *t = &run->tables[i];

		for (c = 0; c < t->columns_len; c++)
			sum += table_column(t, t->columns[c]) + strlen(t->columns[c]);
		for (row = 0; row < t->rows_len; row++) {
			sum += t->mono_ns[row] + (t->duration_ns ? t->duration_ns[row] : 0);
			if (run->gpus_len && t->key[row] < run->gpus_len)
				sum += strlen(run->gpus[t->key[row]].info.uuid);
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
	for (i = 0; i < run->gpus_len; i++)
		sum += strlen(run->gpus[i].info.name) + strlen(run->gpus[i].decode.reason) +
		       run->gpus[i].decode.samples;
	for (i = 0; i < run->sources_len; i++)
		sum += strlen(run->sources[i].name) + strlen(run->sources[i].reason);
	for (i = 0; i < run->regions_len; i++)
		sum += run->regions[i].end_mono_ns + run->regions[i].error_ns +
		       (uint64_t)span_cmp(run->regions[i].name, run->regions[0].name);
	for (i = 0; i < run->marks_len; i++)
		sum += (uint64_t)span_cmp(run->marks[i].name, run->marks[0].name);
	for (i = 0; i < run->damages_len; i++)
		sum += strlen(run->damages[i].file) + strlen(run->damages[i].text);
	return sum;
}

/* As a follower does: what is there, a piece more each time, from where the last look ended. */
static void grow(enum stream_kind kind, struct span file, size_t step)
{
	struct stream_progress at = STREAM_START;
	struct reading r;
	size_t there = 0, taken = 0;
	bool ok = true;

	while (ok && there < file.n) {
		struct stream_build *b;
		size_t from = (size_t)at.offset;

		there = file.n - there > step ? there + step : file.n;
		reading_init(&r);
		b = stream_build_create(&r, stream_form_of(kind), "file", &at, there);
		ok = b && stream_build_push(b, span_of(file.p + from, there - from), END_GROWS, &taken,
		                            NULL) == GALVO_OK && stream_build_take(b, &at);
		stream_build_destroy(b);
		reading_finish(&r);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static const enum stream_kind kinds[] = {
		STREAM_SYSTEM, STREAM_DISK, STREAM_SYSTEM, STREAM_EVENTS,
		STREAM_GPU, STREAM_TELEMETRY, STREAM_GPU, STREAM_TELEMETRY,
	};
	struct galvo_run *run;
	volatile uint64_t sum;
	size_t skip = n ? 1 : 0;
	const enum stream_kind kind = kinds[n ? data[0] % 8 : 0];
	const struct span file = span_of((const char *)data + skip, n - skip);

	grow(kind, file, file.n / 8 + 1);
	if (run_read_bytes(kind, file, &run, NULL) != GALVO_OK)
		return 0;
	sum = walk(run);
	(void)sum;
	galvo_run_close(run);
	return 0;
}
