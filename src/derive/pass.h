/* Going through the rows of a table once: a column or two of it, and what each row covers. */
#ifndef GALVO_PASS_H
#define GALVO_PASS_H

#include "figure.h"

/* What one thing has come to so far. */
struct account {
	bool any;
	uint64_t last_mono_ns;
	double integral, covered_s, highest;
	double window, window_s, peak; /* the window that is open; the highest closed one */
};

struct pass {
	const double *a, *b; /* the columns; b NULL if it is one */
	uint64_t period_ns;  /* the median of what rows cover */
	uint64_t tick_ns, last_tick_ns;
	size_t holes;
};

static inline double pass_value(const struct pass *p, size_t row)
{
	return p->b ? p->a[row] + p->b[row] : p->a[row];
}

static inline uint32_t ledger_slot(const struct ledger *s, size_t row)
{
	return s->slots ? s->slots[row] : 0;
}

/* False: the table has no such column. */
bool pass_find(const struct table *t, const struct figure_row *row, struct pass *ret);
/* The median time between two values of a thing, from a sample of them; else what is stated. */
galvo_status pass_find_period(const struct ledger *s, struct pass *p, struct account *accounts,
                              galvo_error *reterr);
/* Rows that are close together are of one tick. Answers whether this one begins another. */
bool pass_advance(struct pass *p, uint64_t mono_ns);
/* The time that a row's value stands for. */
uint64_t pass_covered_ns(const struct ledger *s, const struct pass *p, const struct account *a,
                         uint64_t mono_ns);

#endif
