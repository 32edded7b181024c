/* Trees of files in place of a machine: block devices, and every field of a modern kernel. */
#include <fcntl.h>
#include <unistd.h>

#include "source_rig.h"
#include "tap.h"

static struct world world_at(const char *root)
{
	struct world w = {.root_fd = -1};

	OK(world_open(&w, root, NULL) == GALVO_OK);
	w.page_bytes = 4096;
	w.clk_tck = 100;
	return w;
}

/* As letters: w whole, h hidden, s stacked, d by default, u when used. */
static void check_device(const struct world *w, const char *name, const char *want)
{
	struct block_device d;
	char got[8];

	block_device_look(w, span_str(name), &d);
	snprintf(got, sizeof(got), "%s%s%s%s%s", d.whole ? "w" : "", d.hidden ? "h" : "",
	         d.stacked ? "s" : "", d.by_default ? "d" : "", d.when_used ? "u" : "");
	if (!OK(!strcmp(got, want)))
		printf("# %s is '%s', not '%s'\n", name, got, want);
}

static void devices_by_name(void)
{
	static const struct { const char *name, *want; } rows[] = {
		{"sda", "wd"}, {"sda1", ""}, {"sdab12", ""}, {"nvme0n1", "wd"}, {"nvme0n1p2", ""},
		{"nvme0c1n1", "wh"}, {"nvme10c2n3", "wh"}, {"mmcblk0", "wd"}, {"mmcblk0p1", ""},
		{"cciss/c0d0", "wd"}, {"cciss/c0d0p1", ""}, {"dm-0", "wsd"}, {"md127", "wsd"},
		{"loop3", "ws"}, {"ram0", "w"}, {"zram0", "wsu"}, {"sr0", "wd"}, {"vda", "wd"},
		{"xvdf2", ""}, {"nbd0", "wd"}, {"", "wd"}, {"1", "wd"}, {"p1", "wd"}, {"nvmen1", "wd"},
		{"nvme0cn1", "wd"},
	};
	struct world w = world_at(FIXTURES "/source/machine");
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++)
		check_device(&w, rows[i].name, rows[i].want);
	world_close(&w);
}

/* What sysfs says wins over what the name suggests. */
static void devices_by_sysfs(void)
{
	static const struct { const char *name, *want; } rows[] = {
		{"nvme0n1", "wd"}, {"nvme0c0n1", "wh"}, {"cciss/c0d0", "wsd"}, {"dm-0", "wsd"},
		{"md127", "wsd"}, {"zram0", "wsu"}, {"loop0", "ws"}, {"xvda1", "wd"}, {"sdq", "wh"},
		{"sda1", ""}, {"nvme0n1p1", ""}, {"odd1", "wd"}, {"../../machine", "wd"},
	};
	struct world w = world_at(FIXTURES "/source/block");
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++)
		check_device(&w, rows[i].name, rows[i].want);
	world_close(&w);
}

static void names_in_sysfs(void)
{
	char to[8];

	OK(block_device_sysfs_name(span_str("a/b/c"), to, sizeof(to)) && !strcmp(to, "a!b!c"));
	OK(block_device_sysfs_name(span_str("1234567"), to, sizeof(to)) && !strcmp(to, "1234567"));
	OK(!block_device_sysfs_name(span_str("12345678"), to, sizeof(to)));
	OK(!block_device_sysfs_name(span_str(""), to, sizeof(to)));
	OK(!block_device_sysfs_name(span_str("."), to, sizeof(to)));
	OK(!block_device_sysfs_name(span_str(".."), to, sizeof(to)));
	OK(!block_device_sysfs_name(span_of("a\0b", 3), to, sizeof(to)));
	OK(block_device_sysfs_name(span_str("../x"), to, sizeof(to)) && !strcmp(to, "..!x"));
}

/* Fields of the first row, or of the device vda, that the texts below `root` fill. */
static uint32_t fields_read(const struct world *w, const struct source *s)
{
	struct raw all = {0}, before = {0};
	size_t i, k, turn;

	for (i = 0; i < s->texts_len; i++) {
		const struct source_text *t = &s->texts[i];
		char path[128];
		struct buf b;
		struct span text;
		struct rig rig;
		galvo_error e = {0};

		buf_init(&b, 1 << 20);
		rig_init(&rig);
		snprintf(path, sizeof(path), "%s%s",
		         s->shape == SHAPE_PROCESS ? "proc/1300/"
		         : s->shape == SHAPE_THREAD ? "proc/1300/task/1300/" : "", t->path);
		if (strstr(path, "%u"))
			snprintf(path, sizeof(path), "proc/1300/task/1300/io");
		if (strstr(path, "%s"))
			snprintf(path, sizeof(path), "sys/class/block/vda/inflight");
		/* What has to settle may read all but its last text twice into one reading. */
		for (turn = 0; turn < (s->settle && i + 1 < s->texts_len ? 2 : 1); turn++, rig.is_again = true)
			if (!OK(file_read(w->root_fd, path, &b, &text, &e) == GALVO_OK &&
			        t->parse(text, w, &rig.sink, &e) == GALVO_OK))
				printf("# %s\n", e.text);
		for (k = 0; k < rig.rows_len; k++)
			all.present |= rig.rows[k].raw.present;
		buf_finish(&b);
	}
	if (s->settle)
		OK(s->settle(&before, &all, false));
	return all.present;
}

static void a_modern_kernel_fills_every_field(void)
{
	struct world w = world_at(FIXTURES "/source/machine");
	size_t i, f;

	for (i = 0; i < source_table_len; i++) {
		const struct source *s = source_table[i];
		uint32_t present = fields_read(&w, s);

		for (f = 0; f < s->fields_len && s->shape != SHAPE_GPU; f++)
			if (!OK((present & FIELD(f)) || (int)f == s->cpu_clock_field))
				printf("# %s: no %s\n", s->name, s->fields[f].name);
	}
	world_close(&w);
}

static const struct tap_test tests[] = {
	{"a block device by its name", devices_by_name},
	{"a block device by what sysfs says", devices_by_sysfs},
	{"names as sysfs spells them", names_in_sysfs},
	{"a modern kernel fills every field", a_modern_kernel_fills_every_field},
};

TAP_MAIN(tests)
