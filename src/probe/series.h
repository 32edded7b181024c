/*
 * Counter to rate, in one place: the readings of one thing by one source, and the values of its
 * columns made of them. First sight, resets, wraps and levels that waver are dealt with here.
 */
#ifndef GALVO_PROBE_SERIES_H
#define GALVO_PROBE_SERIES_H

#include "source/source.h"

#define TEXTS_MAX 8 /* texts of one source, the process CPU clock included */

/*
 * Shares of a whole. The kernel counts CPU time in hundredths of a second, so that at 100 Hz a reading
 * finds few units, or many, and the mean of such ratios is not the ratio of the sums. What a reading
 * finds is therefore owed, and paid out as fast as the whole grows over a second or two: the values
 * over time then add up to what was counted, and none is above 100 %.
 */
#define SHARE_FIELDS_MAX 8

struct share {
	double owed[SHARE_FIELDS_MAX]; /* by field */
	double grown[2];               /* of the whole, in the block before and in this one */
	uint64_t took_ns[2];
};

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
	uint32_t used;                       /* fields that columns are made of */
	uint32_t whole;                      /* of these, those that its shares are of */
	struct share share;
	uint32_t present;                    /* fields that have a base */
	uint64_t base[RAW_MAX];
};

void series_init(struct series *, const struct source *);
/* Forgets what it knows: the next reading is a first sight. */
void series_reset(struct series *);
/* Takes in what text number `text` said at that instant. Fields not in `now` are absent. */
void series_update(struct series *, size_t text, const struct raw *now, uint64_t mono_ns);
/* The same as it said last. */
void series_repeat(struct series *, size_t text, uint64_t mono_ns);
bool series_has_value(const struct series *);
/*
 * How much a counter grew from one reading to the next. False: it was reset, so nothing is known.
 * A drop from near the top to near the bottom of its width is a wrap.
 */
bool counter_growth(enum raw_kind kind, uint64_t before, uint64_t after, uint64_t *ret);

#endif
