/* The catalog of columns as a message, for the session metadata and by itself. */
#ifndef GALVO_STREAM_CATALOG_H
#define GALVO_STREAM_CATALOG_H

#include "metric_catalog.pb-c.h"
#include "reader.h"

/* n messages of `size` bytes and the pointers to them that protobuf-c wants; false: no memory. */
bool arena_messages(struct arena *a, size_t n, size_t size, void *ret_pointers);
/* The rows and, over them, the wire bytes of another catalog (none: empty). False: no memory, or the
 * bytes are no catalog. All memory is the arena's. */
bool catalog_put(struct arena *a, bool (*catalog_at)(size_t, struct catalog_row *),
                 struct span overlay, Galvo__MetricCatalog *to);

#endif
