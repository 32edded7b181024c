/* Neighbouring points made one, so that none of their extremes is lost. */
#include <math.h>

#include "panels.h"

static bool is_parted(const struct points *p, size_t i, uint64_t gap_ns)
{
	return p->from_mono_ns[i] > p->end_mono_ns[i - 1] &&
	       p->from_mono_ns[i] - p->end_mono_ns[i - 1] > gap_ns;
}

static size_t bucket_len(const struct points *p, size_t first, size_t last, size_t most,
                         uint64_t gap_ns)
{
	size_t n = 1;

	while (n < most && first + n < last && !is_parted(p, first + n, gap_ns))
		n++;
	return n;
}

static struct bucket bucket_of(const struct points *p, size_t first, size_t len)
{
	struct bucket b = {.from_mono_ns = p->from_mono_ns[first],
	                   .end_mono_ns = p->end_mono_ns[first + len - 1],
	                   .min = p->value[first], .max = p->value[first],
	                   .first = first, .len = len};
	double sum = 0, whole = 0;
	size_t i;

	for (i = first; i < first + len; i++) {
		double ns = (double)(p->end_mono_ns[i] - p->from_mono_ns[i]);

		b.min = p->value[i] < b.min ? p->value[i] : b.min;
		b.max = p->value[i] > b.max ? p->value[i] : b.max;
		sum += p->value[i] * ns;
		whole += ns;
	}
	/* Rounding, and numbers near the largest, make it no more than what was read. */
	b.mean = fmin(fmax(sum / whole, b.min), b.max);
	return b;
}

/* Who asks for all time there is wants no more than points cover. */
static uint64_t gap_that_parts(const struct points *p, uint64_t from_ns, uint64_t end_ns)
{
	if (p->len && from_ns < p->from_mono_ns[0])
		from_ns = p->from_mono_ns[0];
	if (p->len && end_ns > p->end_mono_ns[p->len - 1])
		end_ns = p->end_mono_ns[p->len - 1];
	return end_ns > from_ns ? (end_ns - from_ns) / GAP_PARTS : 0;
}

galvo_status points_buckets(const struct points *p, uint64_t from_mono_ns, uint64_t end_mono_ns,
                            size_t wish, struct bucket **ret, size_t *ret_len, galvo_error *reterr)
{
	const uint64_t gap_ns = gap_that_parts(p, from_mono_ns, end_mono_ns);
	const size_t first = count_up_to(p->end_mono_ns, p->len, from_mono_ns);
	const size_t last = count_below(p->from_mono_ns, p->len, end_mono_ns);
	const size_t n = last > first && end_mono_ns > from_mono_ns ? last - first : 0;
	const size_t most = wish && n ? (n - 1) / wish + 1 : n;
	struct bucket *all;
	size_t len = 0, i;

	for (i = 0; i < n; i += bucket_len(p, first + i, last, most, gap_ns))
		len++;
	all = alloc_array(len, sizeof(*all));
	if (!all)
		return err_set(reterr, GALVO_ERR_NOMEM, "no memory for %zu buckets", len);
	for (i = 0, len = 0; i < n; i += all[len++].len)
		all[len] = bucket_of(p, first + i,
		                     bucket_len(p, first + i, last, most, gap_ns));
	*ret = all;
	*ret_len = len;
	return GALVO_OK;
}
