/* The public door of reports: picks the format, keeps the receiver's word. */
#include "output.h"

galvo_status galvo_summary_write(const galvo_summary *summary, galvo_report_format format,
                                 galvo_write_fn write_fn, void *ctx, galvo_error *reterr)
{
	struct sheet s;

	if (!summary || !write_fn)
		return err_set(reterr, GALVO_ERR_INVALID, "a report needs a summary and a writer");
	if (format != GALVO_REPORT_TEXT && format != GALVO_REPORT_JSON)
		return err_set(reterr, GALVO_ERR_INVALID, "no report has format %d", (int)format);
	sheet_init(&s, write_fn, ctx);
	if (format == GALVO_REPORT_TEXT)
		report_text(&s, summary);
	else
		report_json(&s, summary);
	return sheet_finish(&s, reterr);
}
