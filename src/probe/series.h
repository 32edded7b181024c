/*
 * Counter to rate, in one place: the readings of one thing by one source, and the values of its
 * columns made of them. First sight, resets, wraps and levels that waver are dealt with here.
 */
#ifndef GALVO_PROBE_SERIES_H
#define GALVO_PROBE_SERIES_H

#include "source/source.h"

#define TEXTS_MAX 8 /* texts of one source, the process CPU clock included */

/* What one text of a source said last, and what it was compared with. */
struct series_text {
	uint32_t fields;  /* that it gave */
	uint64_t mono_ns; /* when; 0: never */
};

struct series {
	const struct source *source;
	uint32_t reads;                      /* of its first text, since the last reset */
	uint64_t rejected;                   /* values beyond their limit */
	struct series_text text[TEXTS_MAX];
	double value[METRICS_MAX];           /* of the columns; NaN: absent */
	uint32_t present;                    /* fields that have a base */
	uint64_t base[RAW_MAX];
};

void series_init(struct series *, const struct source *);
/* Forgets what it knows: the next reading is a first sight. */
void series_reset(struct series *);
/* Takes in what text number `text` said at that instant. Fields not in `now` are absent. */
void series_update(struct series *, size_t text, const struct raw *now, uint64_t mono_ns);
bool series_has_value(const struct series *);
/*
 * How much a counter grew from one reading to the next. False: it was reset, so nothing is known.
 * A drop from near the top to near the bottom of its width is a wrap.
 */
bool counter_growth(enum raw_kind kind, uint64_t before, uint64_t after, uint64_t *ret);

#endif
