/* Tables with their rows by things, and what is known of each column. */
#include "panels_parts.h"

#define ROWS_MAX UINT32_MAX

static galvo_status order_rows(struct feed *f, galvo_error *reterr)
{
	const struct ledger *s = &f->ledger;
	const size_t rows = s->table->rows_len, things = s->slots_len;
	size_t i;

	f->order = rows < ROWS_MAX ? alloc_array(rows, sizeof(*f->order)) : NULL;
	f->first = alloc_array(things + 2, sizeof(*f->first));
	if (!f->order || !f->first)
		return err_set(reterr, GALVO_ERR_NOMEM, "no memory for %zu rows", rows);
	/* Counted two places on, so that filling leaves each where the next one begins. */
	for (i = 0; i < rows; i++)
		if (ledger_slot(s, i) < things)
			f->first[ledger_slot(s, i) + 2]++;
	for (i = 2; i < things + 2; i++)
		f->first[i] += f->first[i - 1];
	for (i = 0; i < rows; i++)
		if (ledger_slot(s, i) < things)
			f->order[f->first[ledger_slot(s, i) + 1]++] = (uint32_t)i;
	return GALVO_OK;
}

galvo_status feed_init(struct feed *f, const struct galvo_run *run, const struct table *t,
                       galvo_error *reterr)
{
	galvo_status status;

	*f = (struct feed){0};
	status = ledger_init(&f->ledger, run, t->stream, t->scope, reterr);
	if (status != GALVO_OK)
		return status;
	if (t->scope == SCOPE_GPU_PROCESS)
		status = gpu_users_find(&f->ledger, run, &f->users, reterr);
	if (status != GALVO_OK)
		return status;
	f->column = alloc_array(t->columns_len, sizeof(*f->column));
	if (!f->column)
		return err_set(reterr, GALVO_ERR_NOMEM, "no memory for %zu columns", t->columns_len);
	return order_rows(f, reterr);
}

void feed_forget_figures(struct feed *f)
{
	size_t i;

	for (i = 0; f->column && i < f->ledger.table->columns_len; i++) {
		free(f->column[i].levels);
		free(f->column[i].rates);
		f->column[i].levels = f->column[i].rates = NULL;
	}
}

void feed_finish(struct feed *f)
{
	feed_forget_figures(f);
	while (f->ticks) {
		struct ticks *t = f->ticks;

		f->ticks = t->next;
		free(t->row);
		free(t->mono_ns);
		free(t);
	}
	free(f->users);
	free(f->column);
	free(f->order);
	free(f->first);
	ledger_finish(&f->ledger);
	*f = (struct feed){0};
}

/* ---- columns --------------------------------------------------------------------------------- */

static galvo_status ticks_fill(struct ticks *t, const struct table *table, galvo_error *reterr)
{
	struct pass p = {.period_ns = t->period_ns};
	size_t n = 0, i;

	for (i = 0; i < table->rows_len; i++)
		n += pass_advance(&p, table->mono_ns[i]);
	t->row = alloc_array(n, sizeof(*t->row));
	t->mono_ns = alloc_array(n, sizeof(*t->mono_ns));
	if (!t->row || !t->mono_ns)
		return err_set(reterr, GALVO_ERR_NOMEM, "no memory for %zu ticks", n);
	p = (struct pass){.period_ns = t->period_ns};
	for (i = 0; i < table->rows_len; i++)
		if (pass_advance(&p, table->mono_ns[i])) {
			t->row[t->len] = i;
			t->mono_ns[t->len++] = table->mono_ns[i];
		}
	return GALVO_OK;
}

static galvo_status find_ticks(struct feed *f, struct feed_column *c, galvo_error *reterr)
{
	struct ticks *t;

	for (t = f->ticks; t && t->period_ns != c->period_ns; t = t->next)
		;
	c->ticks = t;
	if (t)
		return GALVO_OK;
	t = alloc_array(1, sizeof(*t));
	if (!t)
		return err_set(reterr, GALVO_ERR_NOMEM, "no memory for ticks");
	*t = (struct ticks){.period_ns = c->period_ns, .next = f->ticks};
	f->ticks = t;
	c->ticks = t;
	return ticks_fill(t, f->ledger.table, reterr);
}

galvo_status feed_know(struct feed *f, size_t column, galvo_error *reterr)
{
	struct feed_column *c = &f->column[column];
	struct pass p = {.a = f->ledger.table->values[column]};
	struct account *accounts;
	galvo_status status;

	if (c->is_known)
		return GALVO_OK;
	accounts = alloc_array(f->ledger.slots_len, sizeof(*accounts));
	status = accounts ? pass_find_period(&f->ledger, &p, accounts, reterr)
	                  : err_set(reterr, GALVO_ERR_NOMEM, "no memory for %zu accounts",
	                            f->ledger.slots_len);
	free(accounts);
	if (status != GALVO_OK)
		return status;
	c->period_ns = p.period_ns;
	c->is_known = true;
	/* Elsewhere a hole is a hole. */
	return f->ledger.is_lossy || f->ledger.is_of_instants ? GALVO_OK : find_ticks(f, c, reterr);
}

galvo_status feed_figures(struct feed *f, size_t column, bool is_level,
                          const struct figure **ret, galvo_error *reterr)
{
	struct figure **to = is_level ? &f->column[column].levels : &f->column[column].rates;
	const struct figure_row row = {f->ledger.table->columns[column], .is_level = is_level};
	galvo_status status = GALVO_OK;

	if (!*to) {
		*to = alloc_array(f->ledger.slots_len, sizeof(**to));
		status = *to ? ledger_figures(&f->ledger, &row, 1, *to, sizeof(**to), reterr)
		             : err_set(reterr, GALVO_ERR_NOMEM, "no memory for %zu things",
		                       f->ledger.slots_len);
	}
	*ret = *to;
	return status;
}
