/* Documents of a page as JSON, which may stand in HTML as it is. */
#include "page.h"

#define HEAD_COLUMNS 512

/* ---- JSON that holds no markup ------------------------------------------------------------------------ */

/* Where bytes go that JSON makes; pieces end between values, so no character is cut. */
struct plain {
	galvo_write_fn write_fn;
	void *ctx;
};

/* A string has these three only: '<', and two that older scripts take for ends of lines. */
static const char *escape_of(const char *p, size_t n, size_t *ret_len)
{
	if (*p == '<') {
		*ret_len = 1;
		return "\\u003c";
	}
	if (n < 3 || memcmp(p, "\xe2\x80", 2) != 0 || (p[2] != '\xa8' && p[2] != '\xa9'))
		return NULL;
	*ret_len = 3;
	return p[2] == '\xa8' ? "\\u2028" : "\\u2029";
}

static int write_plain(void *ctx, const void *bytes, size_t n)
{
	const struct plain *to = ctx;
	const char *p = bytes;
	size_t from = 0, i, taken = 0;

	for (i = 0; i < n; i += taken) {
		const char *escape = p[i] == '<' || p[i] == '\xe2' ? escape_of(p + i, n - i, &taken) : NULL;

		if (!escape) {
			taken = 1;
			continue;
		}
		if ((i > from && to->write_fn(to->ctx, p + from, i - from) != 0) ||
		    to->write_fn(to->ctx, escape, 6) != 0)
			return 1;
		from = i + taken;
	}
	return i > from ? to->write_fn(to->ctx, p + from, i - from) : 0;
}

/* ---- what is known of a run --------------------------------------------------------------------------- */

static int append(void *ctx, const void *bytes, size_t n)
{
	struct buf *b = ctx;

	buf_put(b, bytes, n);
	return b->failed;
}

static void json_pair(struct json *j, struct span label, struct span text)
{
	json_open(j, NULL, "[");
	json_span(j, NULL, label);
	json_span(j, NULL, text);
	json_close(j, "]");
}

/* While the recording goes on it is no news that it has no end. */
static bool live_line(struct span label, struct span *text)
{
	if (span_eq(label, span_str("result")))
		*text = span_str("it is at work");
	return !span_eq(label, span_str("WARNING")) || text->n < 11 || memcmp(text->p, "unfinished:", 11) != 0;
}

/* The beginning of the report: the label of a line and its text. */
static void json_head(struct json *j, const struct galvo_summary *sum, bool is_live)
{
	struct buf text;
	struct sheet sheet;
	struct span rest, line, label, what;

	buf_init(&text, 1 << 20);
	sheet_init(&sheet, append, &text);
	sheet.columns = HEAD_COLUMNS;
	report_head(&sheet, sum);
	if (sheet_finish(&sheet, NULL) != GALVO_OK && j->sheet->status == GALVO_OK)
		j->sheet->status = GALVO_ERR_NOMEM;
	json_open(j, "head", "[");
	for (rest = span_of(text.p, text.len); span_take_line(&rest, &line);) {
		if (line.n <= LABEL_COLUMNS)
			continue;
		label = span_trim(span_of(line.p, LABEL_COLUMNS));
		what = span_of(line.p + LABEL_COLUMNS, line.n - LABEL_COLUMNS);
		if (!is_live || live_line(label, &what))
			json_pair(j, label, what);
	}
	json_close(j, "]");
	buf_finish(&text);
}

static void json_report(struct json *j, const struct galvo_summary *sum)
{
	struct buf text;

	buf_init(&text, 1 << 24);
	if (galvo_summary_write(sum, GALVO_REPORT_TEXT, append, &text, NULL) != GALVO_OK &&
	    j->sheet->status == GALVO_OK)
		j->sheet->status = GALVO_ERR_NOMEM;
	json_span(j, "report", span_of(text.p, text.len));
	buf_finish(&text);
}

/* What is not recorded and why, and what may be so. */
static void json_notes(struct json *j, const struct galvo_summary *sum)
{
	struct sheet subject, text;
	size_t i;

	sheet_init(&subject, append, NULL);
	sheet_init(&text, append, NULL);
	json_open(j, "notes", "[");
	for (i = 0; i < sum->notes_len; i++) {
		if (!note_is_shown(&sum->notes[i]))
			continue;
		subject.buf.len = text.buf.len = 0;
		put_note_subject(&subject, &sum->notes[i]);
		put_note_text(&text, &sum->notes[i]);
		json_pair(j, span_of(subject.buf.p, subject.buf.len),
		          span_of(text.buf.p, text.buf.len));
	}
	for (i = 0; i < sum->findings_len; i++)
		if (sum->findings[i].has_effect)
			json_pair(j, span_str(sum->findings[i].id), span_str(sum->findings[i].found));
	json_close(j, "]");
	j->sheet->buf.failed |= subject.buf.failed | text.buf.failed;
	buf_finish(&subject.buf);
	buf_finish(&text.buf);
}

/* ---- panels and what their curves are made of ----------------------------------------------------------- */

const char *block_id(char id[static BLOCK_ID_BYTES], enum layer layer, size_t number)
{
	static const char letters[LAYERS] = {'k', 'f', 'p'};

	snprintf(id, BLOCK_ID_BYTES, "%c%zu", letters[layer], number);
	return id;
}

static void json_block_id(struct json *j, const char *key, enum layer layer, size_t number)
{
	char id[BLOCK_ID_BYTES];

	json_string(j, key, block_id(id, layer, number));
}

static void json_base_id(struct json *j, const char *key, size_t number)
{
	json_begin(j, key);
	buf_printf(&j->sheet->buf, "\"b%zu\"", number);
}

static double since(const struct page_run_data *r, uint64_t mono_ns)
{
	return (double)(int64_t)(mono_ns - r->zero_mono_ns) / 1e9;
}

static void json_bases(struct json *j, const struct page_run_data *r)
{
	size_t i, k;
	int layer;

	json_open(j, "bases", "[");
	for (i = 0; i < r->bases_len; i++) {
		json_open(j, NULL, "{");
		json_base_id(j, "id", i);
		json_open(j, "pieces", "[");
		for (layer = 0; layer < LAYERS; layer++)
			for (k = 0; k < r->bases[i].pieces_len; k++) {
				const struct piece *p = &r->bases[i].pieces[k];

				if ((int)p->layer != layer)
					continue;
				json_open(j, NULL, "{");
				json_block_id(j, "block", p->layer, p->block);
				json_u64(j, "n", p->n);
				json_double(j, "from", since(r, p->from_mono_ns));
				json_double(j, "end", since(r, p->end_mono_ns));
				json_u64(j, "per", p->per);
				json_close(j, "}");
			}
		json_close(j, "]");
		json_close(j, "}");
	}
	json_close(j, "]");
}

/* In the order of its base's. */
static void json_pieces(struct json *j, const struct page_run_data *r, const struct page_curve *c)
{
	const struct base *b = &r->bases[c->base];
	int layer;
	size_t k;

	json_open(j, "pieces", "[");
	for (layer = 0; layer < LAYERS; layer++)
		for (k = 0; k < b->pieces_len; k++)
			if ((int)b->pieces[k].layer == layer)
				json_block_id(j, NULL, b->pieces[k].layer, c->blocks[k]);
	json_close(j, "]");
}

static void json_curve(struct json *j, const char *name, const struct document *d,
                       const struct page_run_data *r, const struct page_curve *c)
{
	const struct curve *curve = c->curve;

	json_open(j, name, "{");
	json_string(j, "key", curve->key);
	json_string(j, "label", curve->label);
	json_string(j, "metric", curve->metric ? curve->metric : "");
	json_string(j, "help", curve->help ? curve->help : "");
	json_flag(j, "level", curve->is_level);
	json_flag(j, "rest", curve->is_rest);
	if (curve->process < r->summary->processes_len)
		json_process_id(j, "process", r->summary->processes[curve->process].info);
	else
		json_null(j, "process");
	json_base_id(j, "base", c->base);
	json_pieces(j, r, c);
	if (!d->is_detail) {
		json_u64(j, "n", c->n);
		json_double(j, "mean", c->mean);
		json_double(j, "min", c->min);
		json_double(j, "max", c->max);
		json_double(j, "integral", c->integral);
	}
	json_close(j, "}");
}

static void json_panel_head(struct json *j, const struct panel *p)
{
	static const char *const shapes[] = {
		[PANEL_LINES] = "lines", [PANEL_STACK] = "stack", [PANEL_HEAT] = "heat",
	};
	size_t i;

	json_string(j, "id", p->id);
	json_string(j, "title", p->title);
	json_string(j, "group", p->group);
	json_string(j, "unit", unit_name(p->unit));
	json_string(j, "shape", shapes[p->shape]);
	json_string(j, "clock", p->is_gpu_clock ? "gpu" : "host");
	json_double(j, "floor", p->floor);
	json_double(j, "ceiling", p->ceiling);
	json_open(j, "peaks", "[");
	for (i = 0; i < p->peaks_len; i++) {
		json_open(j, NULL, "[");
		json_string(j, NULL, p->peaks[i].label);
		json_double(j, NULL, p->peaks[i].value);
		json_close(j, "]");
	}
	json_close(j, "]");
}

/* Curves without any point are not there, and panels without curves neither. */
static void json_panels(struct json *j, const struct document *d, const struct page_run_data *r)
{
	const struct page_curve *c = r->curves;
	size_t i, k, with;

	json_open(j, "panels", "[");
	for (i = 0; i < r->panels.panels_len; i++) {
		const struct panel *p = &r->panels.panels[i];

		for (k = with = 0; k < p->curves_len; k++)
			with += c[k].base != SIZE_MAX;
		if (with) {
			json_open(j, NULL, "{");
			json_panel_head(j, p);
			json_open(j, "series", "[");
			for (k = 0; k < p->curves_len; k++)
				if (c[k].base != SIZE_MAX)
					json_curve(j, NULL, d, r, &c[k]);
			json_close(j, "]");
			if (p->total && c[k].base != SIZE_MAX)
				json_curve(j, "total", d, r, &c[k]);
			json_close(j, "}");
		}
		c += p->curves_len + (p->total != NULL);
	}
	json_close(j, "]");
}

/* ---- documents ---------------------------------------------------------------------------------------- */

static void json_number_text(struct json *j, const char *key, uint64_t v)
{
	json_begin(j, key);
	buf_printf(&j->sheet->buf, "\"%llu\"", (unsigned long long)v);
}

static void json_run(struct json *j, const struct document *d, const struct page_run_data *r)
{
	const char *host = r->summary->hostname;

	json_open(j, NULL, "{");
	json_string(j, "label", run_label(r));
	json_string(j, "host", host ? host : "");
	json_number_text(j, "start_wall_ns", r->summary->start_wall_ns);
	json_number_text(j, "zero_mono_ns", r->zero_mono_ns);
	json_double(j, "length_s", since(r, r->panels.end_mono_ns));
	json_double(j, "shift_s", r->shift_s);
	/* What news alone would say of a recording is not true of it. */
	if (!d->is_detail && !d->is_news) {
		json_head(j, r->summary, d->is_live);
		json_report(j, r->summary);
		json_notes(j, r->summary);
	}
	if (!d->is_detail) {
		json_processes(j, d, r);
		json_regions(j, d, r);
		json_marks(j, d, r);
	}
	json_bases(j, r);
	json_panels(j, d, r);
	json_close(j, "}");
}

static void json_blocks(struct json *j, const struct document *d)
{
	size_t layer, i;
	char id[BLOCK_ID_BYTES];

	json_open(j, "blocks", "{");
	for (layer = 0; layer < LAYERS; layer++)
		for (i = 0; i < d->blocks[layer].len; i++) {
			const struct block *b = &d->blocks[layer].all[i];

			json_begin(j, block_id(id, (enum layer)layer, i));
			buf_put_str(&j->sheet->buf, "\"");
			put_base64(&j->sheet->buf, b->bytes, b->len);
			buf_put_str(&j->sheet->buf, "\"");
			sheet_flush(j->sheet, false);
		}
	json_close(j, "}");
}

galvo_status document_write(const struct document *d, bool has_blocks, galvo_write_fn write_fn,
                            void *ctx, galvo_error *reterr)
{
	struct plain plain = {write_fn, ctx};
	struct sheet sheet;
	struct json j = {.sheet = &sheet, .is_dense = true};
	size_t i;

	sheet_init(&sheet, write_plain, &plain);
	json_open(&j, NULL, "{");
	json_u64(&j, "format", 1);
	json_string(&j, "kind", d->kind);
	json_begin(&j, "generator");
	buf_printf(&sheet.buf, "\"galvo %s\"", galvo_version());
	json_span(&j, "title", span_of(d->title.p, d->title.len));
	json_flag(&j, "live", d->is_live);
	if (d->sequence)
		json_number_text(&j, "sequence", d->sequence);
	json_span(&j, "resolution", span_of(d->resolution.p, d->resolution.len));
	sheet.buf.failed |= d->resolution.failed;
	json_u64(&j, "bytes", d->bytes);
	json_open(&j, "runs", "[");
	for (i = 0; i < d->runs_len; i++)
		json_run(&j, d, &d->runs[i]);
	json_close(&j, "]");
	if (has_blocks)
		json_blocks(&j, d);
	json_close(&j, "}");
	return sheet_finish(&sheet, reterr);
}
