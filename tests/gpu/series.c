/*
 * Shows a run as lines of JSON, by the public reader: the run, its GPUs, streams, notes, regions,
 * marks, what each column comes to, and the rows of those columns that are named.
 *
 * usage: gpu_series RUN [COLUMN]...
 */
#include <math.h>
#include <unistd.h>

#include "base/base.h"
#include "galvo/galvo.h"

static struct buf line;

/* ---- one line ------------------------------------------------------------------------------------ */

static void put_key(const char *key)
{
	buf_put_str(&line, line.len ? ", " : "{");
	buf_put_json(&line, span_str(key));
	buf_put_str(&line, ": ");
}

static void put_text(const char *key, const char *text)
{
	put_key(key);
	buf_put_json(&line, span_str(text));
}

static void put_number(const char *key, double v)
{
	put_key(key);
	buf_put_number(&line, v);
}

/* Times are whole ns, more than a double holds exactly. */
static void put_whole(const char *key, uint64_t v)
{
	put_key(key);
	buf_printf(&line, "%llu", (unsigned long long)v);
}

static void end_line(void)
{
	buf_put_str(&line, "}\n");
	fwrite(line.p, 1, line.len, stdout);
	line.len = 0;
}

/* ---- what is in a run ------------------------------------------------------------------------------ */

static void show_run(const galvo_run *run)
{
	galvo_run_info info = {.struct_size = sizeof(info)};

	galvo_run_get_info(run, &info, NULL);
	put_text("run", info.galvo_version);
	put_whole("start_ns", info.start_mono_ns);
	put_whole("stop_ns", info.stop_mono_ns ? info.stop_mono_ns : info.last_mono_ns);
	end_line();
}

static void show_gpus(const galvo_run *run)
{
	galvo_run_gpu gpu = {.struct_size = sizeof(gpu)};
	size_t i;

	for (i = 0; galvo_run_gpu_at(run, i, &gpu, NULL) == GALVO_OK; i++) {
		put_text("gpu", gpu.name);
		put_text("chip", gpu.chip);
		put_text("reason", gpu.reason);
		put_number("has_counters", gpu.has_counters);
		put_number("peak_dram_bytes_per_s", gpu.peak_dram_bytes_per_s);
		put_number("peak_pcie_bytes_per_s", gpu.peak_pcie_bytes_per_s);
		put_number("peak_nvlink_bytes_per_s", gpu.peak_nvlink_bytes_per_s);
#define COUNT(member) put_whole(#member, gpu.member);
		COUNT(samples)
		COUNT(decodes)
		COUNT(decode_failures)
		COUNT(full_images)
		COUNT(overflows)
		COUNT(restarts)
		COUNT(stretched)
		COUNT(empty)
		COUNT(timeless)
		COUNT(unwritten)
		COUNT(not_finite)
		COUNT(missing_ns)
		COUNT(decode_ns)
		COUNT(evaluate_ns)
		COUNT(clock_steps)
		COUNT(interval_ns)
		COUNT(buffer_bytes)
		COUNT(sample_bytes)
#undef COUNT
		end_line();
	}
}

static void show_streams(const galvo_run *run)
{
	galvo_run_stream s = {.struct_size = sizeof(s)};
	galvo_run_note note = {.struct_size = sizeof(note)};
	size_t i;

	for (i = 0; galvo_run_stream_at(run, i, &s, NULL) == GALVO_OK; i++) {
		put_text("stream", s.file);
		put_whole("bytes", s.bytes);
		put_whole("rows", s.rows);
		put_whole("dropped_rows", s.dropped_rows);
		put_whole("missing_messages", s.missing_messages);
		put_whole("damaged_messages", s.damaged_messages);
		put_whole("ticks", s.ticks);
		put_whole("missed_ticks", s.missed_ticks);
		end_line();
	}
	for (i = 0; galvo_run_note_at(run, i, &note, NULL) == GALVO_OK; i++) {
		put_text("note", note.text);
		put_text("subject", note.subject);
		end_line();
	}
}

static void show_regions(const galvo_run *run)
{
	galvo_run_region region = {.struct_size = sizeof(region)};
	galvo_run_mark mark = {.struct_size = sizeof(mark)};
	size_t i;

	for (i = 0; galvo_run_region_at(run, i, &region, NULL) == GALVO_OK; i++) {
		put_text("region", region.name);
		put_whole("start_ns", region.start_mono_ns);
		put_whole("end_ns", region.end_mono_ns);
		put_number("is_gpu", region.is_gpu);
		put_number("is_unfinished", region.is_unfinished);
		end_line();
	}
	for (i = 0; galvo_run_mark_at(run, i, &mark, NULL) == GALVO_OK; i++) {
		put_text("mark", mark.name);
		put_whole("at_ns", mark.mono_ns);
		put_number("is_gpu", mark.is_gpu);
		end_line();
	}
}

/* ---- columns --------------------------------------------------------------------------------------- */

/* Each value counts for as long as it covers, where that is known. */
static void show_column(const galvo_run_table *t, const galvo_run_column *c)
{
	double sum = 0, weight = 0, of, max = NAN;
	size_t i, n = 0;

	for (i = 0; i < t->rows_len; i++) {
		if (isnan(c->values[i]))
			continue;
		of = t->duration_ns ? (double)t->duration_ns[i] : 1;
		sum += c->values[i] * of;
		weight += of;
		max = n == 0 || c->values[i] > max ? c->values[i] : max;
		n++;
	}
	put_text("column", c->name);
	put_text("scope", t->scope);
	put_text("unit", c->unit);
	put_number("stream", t->stream);
	put_whole("rows", t->rows_len);
	put_whole("n", n);
	put_number("mean", weight > 0 ? sum / weight : NAN);
	put_number("max", max);
	end_line();
}

static void show_rows(const galvo_run_table *t, const galvo_run_column *c)
{
	size_t i;

	put_text("rows_of", c->name);
	put_key("end_ns");
	for (i = 0; i < t->rows_len; i++)
		buf_printf(&line, "%s%llu", i ? "," : "[", (unsigned long long)t->mono_ns[i]);
	buf_put_str(&line, i ? "]" : "[]");
	put_key("duration_ns");
	for (i = 0; i < t->rows_len; i++)
		buf_printf(&line, "%s%llu", i ? "," : "[",
		           t->duration_ns ? (unsigned long long)t->duration_ns[i] : 0);
	buf_put_str(&line, i ? "]" : "[]");
	put_key("values");
	for (i = 0; i < t->rows_len; i++) {
		buf_put_str(&line, i ? "," : "[");
		buf_put_number(&line, c->values[i]);
	}
	buf_put_str(&line, i ? "]" : "[]");
	end_line();
}

static bool is_named(const char *name, char **names)
{
	while (*names && strcmp(*names, name) != 0)
		names++;
	return *names != NULL;
}

static void show_columns(const galvo_run *run, char **names)
{
	galvo_run_table table = {.struct_size = sizeof(table)};
	galvo_run_column column = {.struct_size = sizeof(column)};
	size_t t, c;

	for (t = 0; galvo_run_table_at(run, t, &table, NULL) == GALVO_OK; t++)
		for (c = 0; galvo_run_column_at(run, t, c, &column, NULL) == GALVO_OK; c++) {
			show_column(&table, &column);
			if (is_named(column.name, names))
				show_rows(&table, &column);
		}
}

int main(int argc, char **argv)
{
	galvo_run *run = NULL;
	galvo_error error = {0};

	if (argc < 2) {
		fprintf(stderr, "usage: gpu_series RUN [COLUMN]...\n");
		return 2;
	}
	if (galvo_run_open(argv[1], &run, &error) != GALVO_OK) {
		fprintf(stderr, "gpu_series: %s\n", error.text);
		return 1;
	}
	buf_init(&line, 512 << 20);
	show_run(run);
	show_gpus(run);
	show_streams(run);
	show_regions(run);
	show_columns(run, argv + 2);
	buf_finish(&line);
	galvo_run_close(run);
	return 0;
}
