/* Whether the figures of the machine are there and can be trusted: files, pressure, disks, clocks. */
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

#include "situation.h"
#include "source/source.h"

/* Every file that a source of the machine cannot do without. */
void look_machine_files(struct situation *s, struct finding *f)
{
	galvo_error why = {0}, first = {0};
	const char *last = "";
	size_t i, j, n = 0, failed = 0;
	bool at_open;

	for (i = 0; i < source_table_len; i++) {
		const struct source *source = source_table[i];

		for (j = 0; source_is_of_machine(source) && j < source->texts_len; j++) {
			const struct source_text *t = &source->texts[j];

			if (t->optional || strchr(t->path, '%') || !strcmp(t->path, last))
				continue;
			last = t->path;
			n++;
			if (situation_try(s->world, t->path, &at_open, &why) != GALVO_OK && failed++ == 0)
				first = why;
		}
	}
	if (failed == 0) {
		finding_is(f, GALVO_VERDICT_YES, "%zu of %zu could be read", n, n);
		return;
	}
	finding_is(f, failed == n ? GALVO_VERDICT_NO : GALVO_VERDICT_PARTLY, "%s (%zu of %zu fail)",
	           first.text, failed, n);
	finding_means(f, "the columns that come from there are missing");
}

void look_pressure(struct situation *s, struct finding *f)
{
	static const char *const paths[] = {
		"proc/pressure/cpu", "proc/pressure/memory", "proc/pressure/io"};
	galvo_error why = {0}, first = {0};
	struct span line = {0};
	struct stat facts;
	size_t i, failed = 0;
	bool at_open;

	for (i = 0; i < ARRAY_LEN(paths); i++)
		if (situation_try(s->world, paths[i], &at_open, &why) != GALVO_OK && failed++ == 0)
			first = why;
	if (failed == 0) {
		finding_is(f, GALVO_VERDICT_YES, "proc/pressure could be read");
		return;
	}
	finding_is(f, failed == ARRAY_LEN(paths) ? GALVO_VERDICT_NO : GALVO_VERDICT_PARTLY, "%s",
	           first.text);
	finding_means(f, "how long tasks waited for CPU, memory and I/O is missing");
	if (situation_read(s, "proc/cmdline", &line) && memmem(line.p, line.n, "psi=0", 5))
		finding_cure(f, "boot without psi=0 on the kernel's command line");
	else if (first.status == GALVO_ERR_ABSENT &&
	         fstatat(s->world->root_fd, "proc/pressure", &facts, 0) == 0) /* the kernel's is not empty */
		finding_cure(f, "docker run --security-opt systempaths=unconfined …");
	else if (first.status == GALVO_ERR_ABSENT && situation_has_proc(s))
		finding_cure(f, "boot with psi=1 on the kernel's command line");
}

static bool is_memory_disk(const char *name)
{
	return !strncmp(name, "loop", 4) || !strncmp(name, "ram", 3) || !strncmp(name, "zram", 4);
}

/* queue/iostats 0: the kernel counts nothing, and the file has zeros all the same. */
void look_disk_statistics(struct situation *s, struct finding *f)
{
	DIR *dir = file_open_dir(s->world->root_fd, "sys/block");
	char path[512], name[256] = "";
	struct dirent *entry;
	size_t n = 0, off = 0;
	uint64_t counts;

	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.' || is_memory_disk(entry->d_name))
			continue;
		snprintf(path, sizeof(path), "sys/block/%s/queue/iostats", entry->d_name);
		if (!situation_read_u64(s, path, &counts))
			continue;
		n++;
		if (counts == 0 && off++ == 0)
			utf8_copy(name, sizeof(name), span_str(entry->d_name));
	}
	if (dir)
		closedir(dir);
	if (n == 0)
		finding_is(f, GALVO_VERDICT_NOT_APPLICABLE, "no disk in /sys/block");
	else if (off == 0)
		finding_is(f, GALVO_VERDICT_YES, "%zu disk%s, all counted", n, n == 1 ? "" : "s");
	if (n == 0 || off == 0)
		return;
	finding_is(f, off == n ? GALVO_VERDICT_NO : GALVO_VERDICT_PARTLY,
	           "%zu of %zu disks without statistics: %s%s", off, n, name, off > 1 ? ", …" : "");
	finding_means(f, "their figures are zero, whatever they do");
	finding_cure(f, "echo 1 | sudo tee /sys/block/%s/queue/iostats", name);
}

/* Those that are read from a device, which takes a microsecond each time, and from ticks. */
void look_clock(struct situation *s, struct finding *f)
{
	static const char *const slow[] = {"hpet", "acpi_pm", "jiffies", "refined-jiffies", "pit"};
	struct span text;
	char name[64];
	size_t i;

	if (!situation_read(s, "sys/devices/system/clocksource/clocksource0/current_clocksource", &text)) {
		finding_is(f, GALVO_VERDICT_UNKNOWN, "the clock source is not told");
		return;
	}
	text = span_trim(text);
	utf8_copy(name, sizeof(name), text);
	finding_is(f, GALVO_VERDICT_YES, "%s", name);
	for (i = 0; i < ARRAY_LEN(slow); i++)
		if (span_eq_str(text, slow[i])) {
			finding_is(f, GALVO_VERDICT_PARTLY, "%s, which is slow to read", name);
			finding_means(f, "every sample costs several microseconds more; regions and marks, too");
			finding_cure(f, "boot with tsc=reliable, if dmesg tells that the TSC was given up "
			                "without need");
		}
}

void look_tick(struct situation *s, struct finding *f)
{
	struct timespec t = {0};
	struct span text;
	uint64_t quiet = 0;
	bool is_known = s->world->live && clock_getres(CLOCK_MONOTONIC_COARSE, &t) == 0 && t.tv_nsec;

	/* "(null)" where the kernel could do it and no CPU does. */
	if (situation_read(s, "sys/devices/system/cpu/nohz_full", &text) && parse_list(text, &quiet) &&
	    quiet) {
		finding_is(f, GALVO_VERDICT_PARTLY, "%llu CPU%s without a tick (nohz_full)",
		           (unsigned long long)quiet, quiet == 1 ? "" : "s");
		finding_means(f, "the CPU time of a task that is alone on such a CPU moves about once a "
		                 "second");
	} else if (is_known) {
		finding_is(f, GALVO_VERDICT_YES, "every %.3g ms: no share of CPU time is finer than that",
		           (double)t.tv_nsec / 1e6);
	} else {
		finding_is(f, GALVO_VERDICT_UNKNOWN, "how often it moves is not told");
	}
}
