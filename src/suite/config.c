/* The configuration: defaults, bounds, and a copy of everything the caller handed in. */
#include "internal.h"

enum { FILE_NAME_BYTES_MAX = 256 };

galvo_status suite_bound_hz(const char *name, double *hz, double otherwise, double most,
                            galvo_error *reterr)
{
	if (*hz == 0)
		*hz = otherwise;
	if (!(*hz > 0.001 && *hz <= most))
		return err_set(reterr, GALVO_ERR_INVALID, "%s: expected more than 0.001 and at most %.0f",
		               name, most);
	return GALVO_OK;
}

static galvo_status set_intervals(galvo_suite_config *c, galvo_error *reterr)
{
	const uint64_t flush_ms = c->flush_interval_ms ? c->flush_interval_ms : 5000;
	const struct {
		uint64_t *ms, otherwise;
	} all[] = {
		{&c->flush_interval_ms, flush_ms}, {&c->scan_interval_ms, 100},
		{&c->disk_flush_interval_ms, flush_ms}, {&c->events_flush_interval_ms, flush_ms},
		{&c->gpu_flush_interval_ms, 10000}, {&c->telemetry_flush_interval_ms, flush_ms},
		{&c->gpu_decode_interval_ms, 0},
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(all); i++) {
		if (*all[i].ms == 0)
			*all[i].ms = all[i].otherwise;
		if (*all[i].ms > INTERVAL_MS_MAX)
			return err_set(reterr, GALVO_ERR_INVALID, "interval: expected a day at most");
	}
	return GALVO_OK;
}

/* As a reader accepts it: a name in the run directory, and not that of the metadata. */
static galvo_status check_file(const char *member, const char *name, galvo_error *reterr)
{
	if (name[0] && name[0] != '.' && !strchr(name, '/') && strlen(name) < FILE_NAME_BYTES_MAX &&
	    strcmp(name, "session_metadata.pb") != 0 && strcmp(name, "session_metadata.pb.tmp") != 0)
		return GALVO_OK;
	return err_set(reterr, GALVO_ERR_INVALID,
	               "%s: expected a file name, no path, and not that of the metadata", member);
}

galvo_status suite_set_files(galvo_suite_config *c, galvo_error *reterr)
{
	const struct {
		const char *member, **file;
		enum stream_kind kind;
		bool is_off;
	} all[] = {
		{"system_file", &c->system_file, STREAM_SYSTEM, c->no_system},
		{"disk_file", &c->disk_file, STREAM_DISK, c->no_disk},
		{"events_file", &c->events_file, STREAM_EVENTS, c->no_events},
		{"gpu_file", &c->gpu_file, STREAM_GPU, !c->gpu_counters},
		{"telemetry_file", &c->telemetry_file, STREAM_TELEMETRY, !c->gpu_telemetry},
	};
	size_t i, j;

	for (i = 0; i < ARRAY_LEN(all); i++) {
		galvo_status status;

		if (!*all[i].file)
			*all[i].file = stream_file_name(all[i].kind);
		status = check_file(all[i].member, *all[i].file, reterr);
		if (status != GALVO_OK)
			return status;
		for (j = 0; j < i; j++)
			if (!all[i].is_off && !all[j].is_off && !strcmp(*all[i].file, *all[j].file))
				return err_set(reterr, GALVO_ERR_INVALID, "%s: the same as %s",
				               all[i].member, all[j].member);
	}
	return GALVO_OK;
}

bool suite_parse_cpus(const char *text, struct cpus *ret)
{
	const size_t word_bits = 8 * sizeof(ret->bits[0]), max = 8 * sizeof(ret->bits);
	struct span rest = span_str(text), part, first;
	uint64_t from, to;
	bool has_more;

	memset(ret, 0, sizeof(*ret));
	if (!text)
		return true;
	do {
		has_more = span_cut(&rest, ',', &part);
		part = span_trim(has_more ? part : rest);
		if (!span_cut(&part, '-', &first))
			first = part;
		if (!span_to_u64(first, &from) || !span_to_u64(part, &to) || from > to || to >= max)
			return false;
		for (; from <= to; from++)
			ret->bits[from / word_bits] |= 1UL << from % word_bits;
	} while (has_more);
	return true;
}

static galvo_status set_frequencies(galvo_suite_config *c, galvo_error *reterr)
{
	galvo_status status = suite_bound_hz("system_hz", &c->system_hz, 100, HZ_MAX, reterr);

	if (status == GALVO_OK)
		status = suite_bound_hz("core_hz", &c->core_hz, 1, HZ_MAX, reterr);
	if (status == GALVO_OK)
		status = suite_bound_hz("disk_hz", &c->disk_hz, 10, HZ_MAX, reterr);
	return status;
}

static galvo_status set_defaults(galvo_suite_config *c, galvo_error *reterr)
{
	galvo_status status = set_frequencies(c, reterr);

	if (status == GALVO_OK)
		status = suite_set_gpu(c, reterr);
	if (status == GALVO_OK)
		status = set_intervals(c, reterr);
	if (status != GALVO_OK)
		return status;
	if (c->budget_pct == 0)
		c->budget_pct = 1;
	if (!(c->budget_pct > 0 && c->budget_pct <= 100))
		return err_set(reterr, GALVO_ERR_INVALID, "budget_pct: expected more than 0, at most 100");
	if (!c->output_dir || !c->output_dir[0])
		return err_set(reterr, GALVO_ERR_INVALID, "output_dir: expected a directory");
	if (c->follow < GALVO_FOLLOW_NONE || c->follow > GALVO_FOLLOW_TREE)
		return err_set(reterr, GALVO_ERR_INVALID, "follow: expected a galvo_follow");
	if (c->mode != GALVO_IN_PROCESS && c->mode != GALVO_SIDECAR)
		return err_set(reterr, GALVO_ERR_INVALID, "mode: expected a galvo_mode");
	if (!suite_parse_cpus(c->sidecar_cpus, &(struct cpus){0}))
		return err_set(reterr, GALVO_ERR_INVALID, "sidecar_cpus: " CPUS_EXPECTED);
	if (c->no_system && c->no_disk && c->no_events && !c->gpu_counters && !c->gpu_telemetry)
		return err_set(reterr, GALVO_ERR_INVALID, "config: nothing is to be recorded");
	return suite_set_files(c, reterr);
}

static bool copy_string(char **to, const char *from)
{
	*to = from ? strdup(from) : NULL;
	return *to || !from;
}

/* The list has its memory, however far it was copied. */
static bool copy_list(char ***to, const char *const *from, size_t n)
{
	bool ok;
	size_t i;

	*to = alloc_array(n + 1, sizeof(**to));
	for (ok = *to != NULL, i = 0; ok && i < n; i++)
		ok = copy_string(&(*to)[i], from[i]);
	return ok;
}

static void free_list(char **list)
{
	size_t i;

	for (i = 0; list && list[i]; i++)
		free(list[i]);
	free(list);
}

/* Each is "subject: text". */
static void take_notes(struct galvo_suite *s, galvo_suite_config *c)
{
	size_t i;

	for (i = 0; i < c->notes_len; i++) {
		struct span text = span_str(c->notes[i]), subject = {0};
		char name[sizeof(s->notes[0].subject)];

		span_cut(&text, ':', &subject);
		utf8_copy(name, sizeof(name), subject);
		suite_note(s, name, "%s", span_trim(text).p);
	}
	c->notes = NULL;
	c->notes_len = 0;
}

static bool copy_strings(struct galvo_suite *s)
{
	const galvo_suite_config *c = &s->config;

	return copy_string(&s->output_dir, c->output_dir) && copy_string(&s->root, c->root) &&
	       copy_string(&s->files[PROBE_SYSTEM], c->system_file) &&
	       copy_string(&s->files[PROBE_DISK], c->disk_file) &&
	       copy_string(&s->files[PART_EVENTS], c->events_file) &&
	       copy_string(&s->files[PART_GPU], c->gpu_file) &&
	       copy_string(&s->files[PART_TELEMETRY], c->telemetry_file) &&
	       copy_list(&s->disks, c->disks, c->disks_len) && copy_list(&s->gpus, c->gpus, c->gpus_len) &&
	       copy_list(&s->gpu_metrics, c->gpu_metrics, c->gpu_metrics_len);
}

galvo_status suite_copy_config(struct galvo_suite *s, const galvo_suite_config *config,
                               galvo_error *reterr)
{
	galvo_suite_config *c = &s->config;
	galvo_status status = sized_take("config", c, sizeof(*c), config, reterr);
	bool ok;
	size_t i;

	if (status == GALVO_OK)
		status = set_defaults(c, reterr);
	if (status != GALVO_OK) {
		c->processes_len = 0;
		return status;
	}
	take_notes(s, c);
	ok = copy_strings(s);
	s->processes = alloc_array(c->processes_len, sizeof(*s->processes));
	ok = ok && s->processes;
	for (i = 0; ok && i < c->processes_len; i++) {
		char *alias = NULL;

		ok = copy_string(&alias, c->processes[i].alias);
		s->processes[i] = c->processes[i];
		s->processes[i].alias = alias;
	}
	if (!ok)
		return err_set(reterr, GALVO_ERR_NOMEM, "out of memory");
	if (c->metric_catalog_path)
		return catalog_load(c->metric_catalog_path, &s->catalog, reterr);
	return GALVO_OK;
}

void suite_free_config(struct galvo_suite *s)
{
	size_t i;

	free_list(s->disks);
	free_list(s->gpus);
	free_list(s->gpu_metrics);
	for (i = 0; s->processes && i < s->config.processes_len; i++) {
		union { const char *in; char *own; } alias = {s->processes[i].alias};

		free(alias.own);
	}
	free(s->processes);
	free(s->output_dir);
	free(s->dir_path);
	free(s->root);
	for (i = 0; i < PARTS; i++)
		free(s->files[i]);
	buf_finish(&s->catalog);
}
