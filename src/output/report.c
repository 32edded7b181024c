/* The public door of reports: picks the format, keeps the receiver's word. */
#include "output.h"

galvo_status galvo_summary_report(const galvo_summary *summary, const galvo_report_options *options,
                                  galvo_write_fn write_fn, void *ctx, galvo_error *reterr)
{
	galvo_report_options o = {0};
	struct sheet s;
	galvo_status status;

	if (!summary || !write_fn)
		return err_set(reterr, GALVO_ERR_INVALID, "a report needs a summary and a writer");
	status = sized_take("report options", &o, sizeof(o), options, reterr);
	if (status != GALVO_OK)
		return status;
	o.format = o.format ? o.format : GALVO_REPORT_TEXT;
	if (o.format != GALVO_REPORT_TEXT && o.format != GALVO_REPORT_JSON)
		return err_set(reterr, GALVO_ERR_INVALID, "no report has format %d", (int)o.format);
	if (o.by != GALVO_REPORT_BY_PID && o.by != GALVO_REPORT_BY_COMM)
		return err_set(reterr, GALVO_ERR_INVALID, "no report goes by %d", (int)o.by);
	sheet_init(&s, write_fn, ctx);
	if (o.format == GALVO_REPORT_TEXT)
		report_text(&s, summary, (galvo_report_by)o.by);
	else
		report_json(&s, summary);
	return sheet_finish(&s, reterr);
}

galvo_status galvo_summary_write(const galvo_summary *summary, galvo_report_format format,
                                 galvo_write_fn write_fn, void *ctx, galvo_error *reterr)
{
	const galvo_report_options options = {.struct_size = sizeof(options),
	                                      .format = (int32_t)format};

	return galvo_summary_report(summary, &options, write_fn, ctx, reterr);
}
