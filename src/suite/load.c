/* Configurations from files and bytes: parsed, checked, and compared with the machine. */
#include <fcntl.h>
#include <unistd.h>

#include "load.h"

enum { TEXT_BYTES_MAX = 4 << 20 };

/* Those that are gone would keep the suite from starting. */
static void drop_processes(struct loading *l, int root_fd)
{
	galvo_suite_config *c = &l->config->suite;
	galvo_process *all = l->config->processes;
	size_t i, n = c->processes_len;
	char path[64];

	c->processes_len = 0;
	for (i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "proc/%u", all[i].pid);
		if (all[i].pid == 0 || faccessat(root_fd, path, F_OK, 0) == 0)
			all[c->processes_len++] = all[i];
		else
			config_note(l, "processes: there is no process %u; the rest is recorded", all[i].pid);
	}
}

/* Below a captured machine's root there is no sys/ or proc/, and nothing to say. */
static void note_absences(struct loading *l)
{
	const galvo_suite_config *c = &l->config->suite;
	struct world w;
	char path[64 + DEVICE_NAME_MAX];
	bool has_blocks, has_processes;
	size_t i;

	if (world_open(&w, c->root, NULL) != GALVO_OK)
		return;
	has_blocks = faccessat(w.root_fd, "sys/class/block", F_OK, 0) == 0;
	has_processes = faccessat(w.root_fd, "proc/stat", F_OK, 0) == 0;
	for (i = 0; has_blocks && i < c->disks_len; i++) {
		snprintf(path, sizeof(path), "sys/class/block/%s", c->disks[i]);
		if (faccessat(w.root_fd, path, F_OK, 0) != 0)
			config_note(l, "%.64s: there is no such block device", c->disks[i]);
	}
	if (has_processes)
		drop_processes(l, w.root_fd);
	world_close(&w);
}

static galvo_status load_bytes(struct loading *l, struct span bytes)
{
	galvo_config *c = l->config;
	struct buf catalog = {0};
	galvo_status status;

	status = message_unpack(&galvo__profiler_suite_config__descriptor, l->name, bytes, &c->message,
	                        l->reterr);
	if (status != GALVO_OK)
		return status;
	if (!config_take(l))
		return l->status;
	if (c->suite.metric_catalog_path)
		status = catalog_load(c->suite.metric_catalog_path, &catalog, l->reterr);
	buf_finish(&catalog);
	if (status == GALVO_OK)
		note_absences(l);
	return status;
}

galvo_status galvo_config_parse(const void *bytes, size_t n, int32_t is_text, const char *name,
                                galvo_config **ret_config, galvo_error *reterr)
{
	struct loading l = {.name = name ? name : "config", .reterr = reterr};
	struct span given = span_of(n ? bytes : "", n);
	galvo_status status = GALVO_OK;
	struct buf wire;

	l.config = calloc(1, sizeof(*l.config));
	if (!l.config)
		return err_set(reterr, GALVO_ERR_NOMEM, "%s: out of memory", l.name);
	l.config->suite = galvo_suite_config_default();
	l.text = is_text ? given : span_of("", 0);
	buf_init(&wire, TEXT_BYTES_MAX);
	if (is_text)
		status = text_parse(&galvo__profiler_suite_config__descriptor, l.name, given, &wire, reterr);
	if (status == GALVO_OK)
		status = load_bytes(&l, is_text ? span_of(wire.p, wire.len) : given);
	buf_finish(&wire);
	if (status == GALVO_OK)
		*ret_config = l.config;
	else
		galvo_config_destroy(l.config);
	return status;
}

galvo_status galvo_config_load(const char *path, galvo_config **ret_config, galvo_error *reterr)
{
	struct span text;
	struct buf file;
	galvo_status status;

	buf_init(&file, TEXT_BYTES_MAX);
	status = file_read(AT_FDCWD, path, &file, &text, reterr);
	if (status == GALVO_OK)
		status = galvo_config_parse(text.p, text.n, 1, path, ret_config, reterr);
	buf_finish(&file);
	return status;
}

const galvo_suite_config *galvo_config_suite(const galvo_config *config)
{
	return &config->suite;
}

int32_t galvo_config_follow(const galvo_config *config)
{
	return config->follow;
}

galvo_status galvo_config_note_at(const galvo_config *config, size_t i, const char **ret_text,
                                  galvo_error *reterr)
{
	(void)reterr;
	if (i >= config->suite.notes_len)
		return GALVO_DONE;
	*ret_text = config->notes[i];
	return GALVO_OK;
}

void galvo_config_destroy(galvo_config *config)
{
	size_t i;

	if (!config)
		return;
	if (config->message)
		galvo__profiler_suite_config__free_unpacked(config->message, NULL);
	for (i = 0; i < config->suite.notes_len; i++)
		free(config->notes[i]);
	for (i = 0; config->gpus && config->gpus[i]; i++)
		free(config->gpus[i]);
	free(config->gpus);
	free(config->all_gpus);
	free(config->processes);
	free(config);
}
