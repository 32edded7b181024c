/* The table of streams: which rows each carries, and under which field numbers. */
#include "format.h"

const struct stream_form stream_forms[] = {
	{
		.kind = STREAM_GPU,
		.file_name = "gpu_metrics.pb",
		.flush_stats_field = 5,
		.has_gpus = true,
		.has_decodes = true,
		.rows_len = 1,
		.rows = {
			{SCOPE_GPU, 4, KEY_NUMBER, true},
		},
	},
	{
		.kind = STREAM_SYSTEM,
		.file_name = "system_metrics.pb",
		.flush_stats_field = 6,
		.has_threads = true,
		.rows_len = 7,
		.rows = {
			{SCOPE_SYSTEM, 4, KEY_NONE, false},
			{SCOPE_PROCESS, 5, KEY_NUMBER, false},
			{SCOPE_CORE, 100, KEY_NUMBER, false},
			{SCOPE_INTERFACE, 101, KEY_NAME, false},
			{SCOPE_SYSTEM_DETAIL, 102, KEY_NONE, false},
			{SCOPE_PROCESS_DETAIL, 103, KEY_NUMBER, false},
			{SCOPE_THREAD, 106, KEY_PAIR, false},
		},
	},
	{
		.kind = STREAM_DISK,
		.file_name = "disk_metrics.pb",
		.devices_field = 4,
		.flush_stats_field = 7,
		.rows_len = 2,
		.rows = {
			{SCOPE_DEVICE, 5, KEY_NAME, false},
			{SCOPE_PROCESS, 6, KEY_NUMBER, false},
		},
	},
	{
		.kind = STREAM_EVENTS,
		.file_name = "events.pb",
		.flush_stats_field = EVENTS_FLUSH_STATS,
		.has_events = true,
	},
	{
		.kind = STREAM_TELEMETRY,
		.file_name = "gpu_telemetry.pb",
		.flush_stats_field = 5,
		.has_gpus = true,
		.rows_len = 3,
		.rows = {
			{SCOPE_GPU, 4, KEY_NUMBER, false},
			{SCOPE_GPU_DETAIL, 100, KEY_NUMBER, false},
			{SCOPE_GPU_PROCESS, 101, KEY_PAIR, false},
		},
	},
};
const size_t stream_forms_len = ARRAY_LEN(stream_forms);

const struct stream_form *stream_form_of(enum stream_kind kind)
{
	size_t i;

	for (i = 0; i < stream_forms_len; i++)
		if (stream_forms[i].kind == kind)
			return &stream_forms[i];
	return NULL;
}

const struct row_form *row_form_of_scope(const struct stream_form *form, enum scope scope)
{
	size_t i;

	for (i = 0; i < form->rows_len; i++)
		if (form->rows[i].scope == scope)
			return &form->rows[i];
	return NULL;
}

const struct row_form *row_form_of_field(const struct stream_form *form, uint32_t field)
{
	size_t i;

	for (i = 0; i < form->rows_len; i++)
		if (form->rows[i].field == field)
			return &form->rows[i];
	return NULL;
}

uint32_t row_values_field(const struct row_form *row)
{
	return row->key == KEY_NONE ? ROW_KEY : row->key == KEY_PAIR ? ROW_KEY + 2 : ROW_KEY + 1;
}
