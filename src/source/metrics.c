/* The catalog as the public header has it. */
#include "galvo/metrics.h"

#include "source.h"

galvo_status galvo_metric_at(size_t i, galvo_metric *ret_metric, galvo_error *reterr)
{
	struct catalog_row row;

	if (ret_metric->struct_size != sizeof(*ret_metric))
		return err_set(reterr, GALVO_ERR_INVALID, "metric: struct_size is not that of this galvo");
	if (!catalog_at(i, &row))
		return GALVO_DONE;
	ret_metric->name = row.metric->name;
	ret_metric->stream = stream_file_name(row.stream);
	ret_metric->scope = scope_name(row.scope);
	ret_metric->type = metric_type_name(row.metric->type);
	ret_metric->unit = unit_name(row.metric->unit);
	ret_metric->source = row.source;
	ret_metric->help = row.metric->help;
	return GALVO_OK;
}
