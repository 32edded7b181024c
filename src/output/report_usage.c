/* The report on what is in no process's figures, and how all of it adds up to the kernel's account. */
#include <math.h>

#include "output.h"

#define REST_MIN_S 0.05 /* worth a line when it is more than the rounding of the lines above */
#define REST_MIN_PCT 2

static void put_known(struct sheet *s, unsigned width, void (*put)(struct buf *, double), double v)
{
	if (isnan(v))
		buf_printf(&s->buf, "%*s", (int)width, "");
	else
		sheet_cell(s, width, put, v);
}

void put_remainder(struct sheet *s, const struct remainder_columns *c, double cpu_s,
                   double read_bytes, double write_bytes)
{
	sheet_column(s, c->at);
	put_known(s, c->cpu, put_fine_seconds, cpu_s);
	buf_printf(&s->buf, "%*s", (int)c->gap, "");
	put_known(s, c->bytes, c->put_bytes, read_bytes);
	put_known(s, c->bytes, c->put_bytes, write_bytes);
	sheet_line_end(s);
}

/* Old recordings tell no parts: then it is all that the account has beyond the rows. */
static void report_unseen(struct sheet *s, const struct galvo_summary *sum)
{
	double all_s = sum->balance[USAGE_CPU_NS].account_all;

	if (!(sum->cpu.unseen_s >= REST_MIN_S && 100 * sum->cpu.unseen_s >= REST_MIN_PCT * all_s))
		return;
	buf_put_str(&s->buf, "  not in these rows: ");
	put_duration(&s->buf, sum->cpu.unseen_s);
	buf_put_str(&s->buf, " CPU (short lives; before first, after last row)");
	sheet_line_end(s);
}

/* What is above 0 of it: the rest is left out. */
static double above_0(double v)
{
	return v > 0 ? v : NAN;
}

/* Of the account's remainder only what is no rounding. */
static double rest_of(const struct summary_balance *b, double at_least)
{
	return b->rest >= at_least && b->rest_pct >= REST_MIN_PCT ? b->rest : NAN;
}

void report_remainder(struct sheet *s, const struct galvo_summary *sum,
                      const struct remainder_columns *c)
{
	const struct summary_balance *cpu = &sum->balance[USAGE_CPU_NS];
	const struct summary_balance *read = &sum->balance[USAGE_READ];
	const struct summary_balance *write = &sum->balance[USAGE_WRITE];
	const struct {
		const char *words, *brief;
		double cpu_s, read_bytes, write_bytes;
	} rows[] = {
		{"short-lived children and unseen ends", "unseen lives and ends",
		 above_0(cpu->unseen), above_0(read->unseen), above_0(write->unseen)},
		{"own or such children's: no telling", "no telling whose",
		 above_0(cpu->mixed), above_0(read->mixed), above_0(write->mixed)},
		{"in the account, but in nobody's rows", "in nobody's rows",
		 rest_of(cpu, REST_MIN_S), rest_of(read, 4096), rest_of(write, 4096)},
	};
	size_t i;

	if (isnan(cpu->between)) {
		report_unseen(s, sum);
		return;
	}
	for (i = 0; i < ARRAY_LEN(rows); i++) {
		if (isnan(rows[i].cpu_s) && isnan(rows[i].read_bytes) && isnan(rows[i].write_bytes))
			continue;
		buf_printf(&s->buf, "  %s", c->is_brief ? rows[i].brief : rows[i].words);
		put_remainder(s, c, rows[i].cpu_s, rows[i].read_bytes, rows[i].write_bytes);
	}
}

/* ---- the balance ---------------------------------------------------------------------------- */

#define CELL(name, width, member) {(name), (width), offsetof(struct summary_balance, member)}

static const struct {
	const char *head;
	unsigned width;
	size_t offset;
} cells[] = {
	CELL("accounted", 10, account_all), CELL("in rows", 10, sampled), CELL("between", 9, between),
	CELL("unseen", 9, unseen), CELL("unclear", 9, mixed),
};
#define REST_COLUMNS 11

static void balance_row(struct sheet *s, const char *name, const struct summary_balance *b,
                        void (*put)(struct buf *, double))
{
	size_t i;

	buf_put_str(&s->buf, name);
	sheet_column(s, NAME_COLUMNS);
	for (i = 0; i < ARRAY_LEN(cells); i++) {
		double v;

		memcpy(&v, (const char *)b + cells[i].offset, sizeof(v));
		sheet_cell(s, cells[i].width, put, v);
	}
	sheet_cell(s, REST_COLUMNS, put_pct, b->rest_pct);
	sheet_line_end(s);
}

void report_balance(struct sheet *s, const struct galvo_summary *sum)
{
	static const struct {
		const char *name;
		enum usage_kind kind;
		void (*put)(struct buf *, double);
	} rows[] = {
		{"  CPU s", USAGE_CPU_NS, put_fine_seconds}, {"  read", USAGE_READ, put_bytes},
		{"  written", USAGE_WRITE, put_bytes},
	};
	const struct summary_balance *cpu = &sum->balance[USAGE_CPU_NS];
	size_t shown = 0, i;

	for (i = 0; i < ARRAY_LEN(rows); i++) {
		const struct summary_balance *b = &sum->balance[rows[i].kind];
		size_t k;

		if (isnan(b->between) || !(b->whole > 0))
			continue;
		if (shown++ == 0) {
			sheet_text(s, "");
			buf_put_str(&s->buf, "balance");
			sheet_column(s, NAME_COLUMNS);
			for (k = 0; k < ARRAY_LEN(cells); k++)
				buf_printf(&s->buf, "%*s", (int)cells[k].width, cells[k].head);
			buf_printf(&s->buf, "%*s", REST_COLUMNS, "remainder");
			sheet_line_end(s);
		}
		balance_row(s, rows[i].name, b, rows[i].put);
	}
	if (shown && cpu->silent) {
		buf_printf(&s->buf, "  of %llu process%s no more is known than rows tell",
		           (unsigned long long)cpu->silent, cpu->silent == 1 ? "" : "es");
		sheet_line_end(s);
	}
	if (shown && -cpu->rest >= REST_MIN_S && -cpu->rest_pct >= REST_MIN_PCT) {
		buf_put_str(&s->buf, "  ");
		put_duration(&s->buf, -cpu->rest);
		sheet_text(s, " CPU in no account: nobody waited for who used it");
	}
}
