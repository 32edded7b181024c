/* The catalog as the public header has it. */
#include "galvo/metrics.h"

#include "source.h"

galvo_status galvo_metric_at(size_t i, galvo_metric *ret_metric, galvo_error *reterr)
{
	struct catalog_row row;
	galvo_metric m;

	if (!catalog_at(i, &row))
		return GALVO_DONE;
	m = (galvo_metric){
		.name = row.metric->name,
		.stream = stream_file_name(row.stream),
		.scope = scope_name(row.scope),
		.type = metric_type_name(row.metric->type),
		.unit = unit_name(row.metric->unit),
		.source = row.source,
		.help = row.metric->help,
	};
	return sized_give("metric", ret_metric, &m, sizeof(m), reterr);
}
