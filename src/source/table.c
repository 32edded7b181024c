/* The table of sources, and the catalog of columns that follows from it. */
#include "source.h"

#define SOURCE(name) extern const struct source source_##name;
#include "sources.def"
#undef SOURCE

#define SOURCE(name) &source_##name,
const struct source *const source_table[] = {
#include "sources.def"
};
#undef SOURCE

const size_t source_table_len = ARRAY_LEN(source_table);

bool catalog_at(size_t i, struct catalog_row *ret)
{
	size_t s;

	for (s = 0; s < source_table_len; s++) {
		const struct source *source = source_table[s];

		if (i < source->metrics_len) {
			*ret = (struct catalog_row){source->stream, source->scope, source->name,
			                            &source->metrics[i]};
			return true;
		}
		i -= source->metrics_len;
	}
	return false;
}
