/* The configuration: defaults, bounds, and a copy of everything the caller handed in. */
#include "internal.h"

#define HZ_MAX 10000.0
enum { DAY_MS = 86400000, FILE_NAME_BYTES_MAX = 256 };

static galvo_status bound_hz(const char *name, double *hz, double otherwise, galvo_error *reterr)
{
	if (*hz == 0)
		*hz = otherwise;
	if (!(*hz > 0.001 && *hz <= HZ_MAX))
		return err_set(reterr, GALVO_ERR_INVALID, "%s: expected more than 0.001 and at most %.0f",
		               name, HZ_MAX);
	return GALVO_OK;
}

static galvo_status set_intervals(galvo_suite_config *c, galvo_error *reterr)
{
	if (c->flush_interval_ms == 0)
		c->flush_interval_ms = 5000;
	if (c->scan_interval_ms == 0)
		c->scan_interval_ms = 100;
	if (c->disk_flush_interval_ms == 0)
		c->disk_flush_interval_ms = c->flush_interval_ms;
	if (c->events_flush_interval_ms == 0)
		c->events_flush_interval_ms = c->flush_interval_ms;
	if (c->flush_interval_ms > DAY_MS || c->scan_interval_ms > DAY_MS ||
	    c->disk_flush_interval_ms > DAY_MS || c->events_flush_interval_ms > DAY_MS)
		return err_set(reterr, GALVO_ERR_INVALID, "interval: expected a day at most");
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

static galvo_status set_defaults(galvo_suite_config *c, galvo_error *reterr)
{
	galvo_status status = bound_hz("system_hz", &c->system_hz, 100, reterr);

	if (status == GALVO_OK)
		status = bound_hz("core_hz", &c->core_hz, 1, reterr);
	if (status == GALVO_OK)
		status = bound_hz("disk_hz", &c->disk_hz, 10, reterr);
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
	if (c->no_system && c->no_disk && c->no_events)
		return err_set(reterr, GALVO_ERR_INVALID, "config: nothing is to be recorded");
	return suite_set_files(c, reterr);
}

static bool copy_string(char **to, const char *from)
{
	*to = from ? strdup(from) : NULL;
	return *to || !from;
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
	       copy_string(&s->events_file, c->events_file);
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
		c->disks_len = c->processes_len = 0;
		return status;
	}
	take_notes(s, c);
	ok = copy_strings(s);
	s->disks = alloc_array(c->disks_len, sizeof(*s->disks));
	s->processes = alloc_array(c->processes_len, sizeof(*s->processes));
	ok = ok && s->disks && s->processes;
	for (i = 0; ok && i < c->disks_len; i++)
		ok = copy_string(&s->disks[i], c->disks[i]);
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

	for (i = 0; s->disks && i < s->config.disks_len; i++)
		free(s->disks[i]);
	for (i = 0; s->processes && i < s->config.processes_len; i++) {
		union { const char *in; char *own; } alias = {s->processes[i].alias};

		free(alias.own);
	}
	free(s->disks);
	free(s->processes);
	free(s->output_dir);
	free(s->dir_path);
	free(s->root);
	for (i = 0; i < PROBES; i++)
		free(s->files[i]);
	free(s->events_file);
	buf_finish(&s->catalog);
}
