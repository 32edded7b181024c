/*
 * Every parser of src/source: the first line of an input names the source and the path of its text,
 * or "-" and "stat", "children" or "block"; the rest is the text. So a corpus survives new sources.
 */
#include "source_rig.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

/* What must hold whatever the text: nothing but fields of the source, a message for a failure. */
static void fuzz_text(const struct source *s, const struct source_text *t, struct span text)
{
	galvo_error e = {0};
	struct rig rig;
	size_t i;

	rig_init(&rig);
	if (t->parse(text, &rig_world, &rig.sink, &e) < GALVO_OK && !e.text[0])
		abort();
	for (i = 0; i < rig.rows_len; i++)
		if ((uint64_t)rig.rows[i].raw.present >> s->fields_len)
			abort();
}

static void fuzz_other(struct span what, struct span text)
{
	struct process_stat stat;
	struct block_device device;
	char name[256];
	uint32_t pid;

	if (span_eq_str(what, "stat")) {
		if (process_stat_parse(text, &stat, NULL) == GALVO_OK && stat.comm.n > text.n)
			abort();
	} else if (span_eq_str(what, "children")) {
		while (process_children_take(&text, &pid))
			if (pid == 0 || pid > INT32_MAX)
				abort();
	} else if (span_eq_str(what, "block")) {
		block_device_look(&rig_world, text, &device);
		if (block_device_sysfs_name(text, name, sizeof(name)) && strchr(name, '/'))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct span text = span_of((const char *)bytes, n), path, name;
	const struct source *s;
	const struct source_text *t;

	if (!span_take_line(&text, &path) || !span_cut(&path, ' ', &name))
		return 0;
	s = rig_source(name);
	t = rig_text(s, path);
	if (t)
		fuzz_text(s, t, text);
	else if (span_eq_str(name, "-"))
		fuzz_other(path, text);
	return 0;
}
