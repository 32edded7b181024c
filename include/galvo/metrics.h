/* The columns that galvo records: names, units, meanings. All strings are static. Any thread. */
#ifndef GALVO_METRICS_H
#define GALVO_METRICS_H

#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct galvo_metric {
	size_t struct_size; /* sizeof(galvo_metric) as the caller knows it */
	const char *name;   /* fully qualified */
	const char *stream; /* the file it is in: "system_metrics.pb" */
	const char *scope;  /* "system", "process", … */
	const char *type;   /* "counter", "ratio", "throughput" */
	const char *unit;   /* "bytes", "pct", … */
	const char *source; /* who reads it */
	const char *help;   /* one sentence */
} galvo_metric;

/* Metric i in wire order; DONE past the last one. */
GALVO_API galvo_status galvo_metric_at(size_t i, galvo_metric *ret_metric, galvo_error *reterr);
/* All of them as a MetricCatalog in text form, which configurations can lay others over. */
GALVO_API galvo_status galvo_catalog_write(galvo_write_fn write, void *ctx, galvo_error *reterr);

#ifdef __cplusplus
}
#endif
#endif
