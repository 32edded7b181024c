/* Numbers that are in order: how many of them come before one. */
#include "base.h"

size_t count_below(const uint64_t *sorted, size_t n, uint64_t v)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (sorted[middle] < v)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

size_t count_up_to(const uint64_t *sorted, size_t n, uint64_t v)
{
	return v == UINT64_MAX ? n : count_below(sorted, n, v + 1);
}
