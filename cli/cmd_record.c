/* galvo record: what to record, from the command line; then the recording (record.c). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "record.h"

enum {
	KEY_FOR = 256, KEY_HZ, KEY_CORE_HZ, KEY_DISK_HZ, KEY_DISK, KEY_FLUSH, KEY_BUDGET, KEY_PSS,
	KEY_THREADS, KEY_FOLLOW, KEY_NO_EVENTS, KEY_ROOT, KEY_REPORT, KEY_NO_GPU, KEY_GPU_TELEMETRY_HZ,
	KEY_GPU_COUNTERS, KEY_GPU_HZ, KEY_GPUS,
};

#define HERTZ_MIN 0.001
#define HERTZ_MAX 10000
#define GPU_HERTZ 1000 /* of counters: no GPU notices */
#define GPU_HERTZ_MAX 200000
#define DAY_S 86400
#define FLUSH_MS 5000

#define HERTZ "a number above 0.001 and at most 10000"
static const struct opt opts[] = {
	{'c', "config", "FILE", "what to record: galvo-config(5); later options override", NULL},
	{'o', "output", "DIR", "the run directory (default: galvo-DATE-TIME)", "a directory's name"},
	{'f', "force", NULL, "replace a recording that DIR holds", NULL},
	{'p', "pid", "PID[,PID]", "follow running processes instead of starting a command",
	 "process numbers with commas between them, 256 at most"},
	{'a', "all", NULL, "the machine alone, no processes", NULL},
	{KEY_FOR, "for", "TIME", "stop recording after TIME: 10s, 500ms, 2m, 1h",
	 "a time above 0: 10s, 500ms, 2m, 1h"},
	{KEY_HZ, "hz", "N", "CPU, memory, processes N times a second (default: 100)", HERTZ},
	{KEY_CORE_HZ, "core-hz", "N", "each CPU by itself N times a second (default: 1)", HERTZ},
	{KEY_DISK_HZ, "disk-hz", "N", "disks and process I/O N times a second (default: 10)", HERTZ},
	{KEY_DISK, "disk", "NAME", "only this disk or partition; may be repeated",
	 "a name as in /proc/diskstats, 256 times at most"},
	{KEY_FOLLOW, "follow", "WHAT", "none, children or tree (default: tree)",
	 "none, children or tree"},
	{KEY_PSS, "pss", NULL, "proportional set sizes too; slow for large processes", NULL},
	{KEY_THREADS, "threads", NULL, "a row for each thread of the processes, too", NULL},
	{KEY_NO_EVENTS, "no-kernel-events", NULL,
	 "find descendants by files, even where the kernel tells of them", NULL},
	{KEY_FLUSH, "flush", "TIME", "write to disk every TIME (default: 5s)",
	 "a time from 1ms up to 24h"},
	{KEY_BUDGET, "budget", "PCT", "read sources with at most PCT % of one CPU (default: 1)",
	 "a number above 0 and at most 100"},
	{KEY_ROOT, "root", "DIR", "where proc/ and sys/ are, or a captured machine",
	 "a directory's name"},
	{KEY_NO_GPU, "no-gpu", NULL, "leave GPUs alone; without it their telemetry is recorded", NULL},
	{KEY_GPU_TELEMETRY_HZ, "gpu-telemetry-hz", "N", "telemetry of GPUs N times a second (default: 10)",
	 HERTZ},
	{KEY_GPU_COUNTERS, "gpu-counters", "[=SET]",
	 "hardware counters of GPUs: default, rich or names of metrics with commas between them",
	 "default, rich or full names of metrics as sm__cycles_active.avg with commas between them, 128 at most"},
	{KEY_GPU_HZ, "gpu-hz", "N", "hardware counters N times a second (default: 1000)",
	 "a number from 1 up to 200000"},
	{KEY_GPUS, "gpus", "LIST", "hardware counters of these GPUs: numbers or UUIDs (default: all)",
	 "numbers or UUIDs of GPUs with commas between them, 64 at most"},
	{KEY_REPORT, "report", NULL, "print the report on standard error at the end", NULL},
	{'q', "quiet", NULL, "say nothing but errors", NULL},
	OPT_HELP,
};

/* ---- the configuration file --------------------------------------------------------------------- */

/* Process 0 stands for the command. */
static bool take_file_processes(struct recording *r, const galvo_suite_config *from)
{
	size_t i;

	r->processes_len = 0;
	r->names_command = false;
	r->has_file_processes = true;
	for (i = 0; i < from->processes_len; i++) {
		if (from->processes[i].pid == 0) {
			r->names_command = true;
			r->alias = from->processes[i].alias;
		} else if (r->processes_len < PROCESSES_MAX) {
			r->processes[r->processes_len++] = from->processes[i];
		} else {
			complain("more than %d processes", PROCESSES_MAX);
			return false;
		}
	}
	return true;
}

static bool take_file(struct recording *r, const char *path)
{
	const galvo_suite_config *from;
	galvo_error error;
	size_t i;

	galvo_config_destroy(r->file);
	r->file = NULL;
	if (galvo_config_load(path, &r->file, &error) != GALVO_OK) {
		complain("%s", error.text);
		return false;
	}
	from = galvo_config_suite(r->file);
	r->config = *from;
	r->config.is_recorder = 1;
	r->config.mode = GALVO_IN_PROCESS; /* which is beside the workload already */
	if (galvo_config_follow(r->file) < 0)
		r->config.follow = GALVO_FOLLOW_TREE;
	r->has_file_disks = true;
	r->disks_len = from->disks_len;
	if (from->disks_len > DISKS_MAX) {
		complain("more than %d disks", DISKS_MAX);
		return false;
	}
	for (i = 0; i < from->disks_len; i++)
		r->disks[i] = from->disks[i];
	return take_file_processes(r, from);
}

static void say_notes(const struct recording *r)
{
	const char *text;
	size_t i;

	for (i = 0; !r->is_quiet && galvo_config_note_at(r->file, i, &text, NULL) == GALVO_OK; i++)
		complain("%s", text);
}

/* ---- options ------------------------------------------------------------------------------------ */

static bool take_pids(struct recording *r, const char *text)
{
	uint32_t pid;

	if (r->has_file_processes)
		r->processes_len = 0;
	r->has_file_processes = false;
	do {
		if (!parse_pid(&text, &pid) || r->processes_len == PROCESSES_MAX)
			return false;
		r->processes[r->processes_len++] = (galvo_process){.pid = pid};
	} while (*text++ == ',');
	return text[-1] == '\0';
}

static bool take_follow(galvo_suite_config *config, const char *text)
{
	static const char *const words[] = {"none", "children", "tree"};
	int32_t i;

	for (i = 0; i < 3; i++)
		if (!strcmp(words[i], text)) {
			config->follow = i;
			return true;
		}
	return false;
}

static bool take_hertz(double *to, const char *text)
{
	return parse_number(text, to) && *to > HERTZ_MIN && *to <= HERTZ_MAX;
}

static bool take_budget(double *to, const char *text)
{
	return parse_number(text, to) && *to > 0 && *to <= 100;
}

static bool take_flush(galvo_suite_config *config, const char *text)
{
	double s;

	if (!parse_duration(text, &s) || s < 0.001 || s > DAY_S)
		return false;
	config->flush_interval_ms = (uint64_t)(s * 1000);
	config->disk_flush_interval_ms = config->events_flush_interval_ms = 0; /* the same */
	config->gpu_flush_interval_ms = config->telemetry_flush_interval_ms = 0;
	return true;
}

static bool take_disk(struct recording *r, const char *name)
{
	if (r->has_file_disks)
		r->disks_len = 0;
	r->has_file_disks = false;
	if (r->disks_len == DISKS_MAX)
		return false;
	if (!strncmp(name, "/dev/", 5))
		name += 5;
	r->disks[r->disks_len++] = name;
	r->config.require_disks = 1; /* a file's list may be of several machines; this is of here */
	return name[0] != '\0';
}

/* Blanks around the commas are none of a word. */
static bool take_words(struct words *to, const char *text, size_t most)
{
	char *rest = to->text, *word;

	to->len = 0;
	if (strlen(text) >= sizeof(to->text))
		return false;
	memcpy(to->text, text, strlen(text) + 1);
	while (rest) {
		word = next_word(&rest);
		if (!word[0] || to->len == most)
			return false;
		to->all[to->len++] = word;
	}
	return true;
}

/* As CUDA counts them: "0", "GPU-…". */
static bool is_gpu(const char *word)
{
	size_t digits = strspn(word, "0123456789");

	return (digits > 0 && digits < 4 && !word[digits]) || (!strncmp(word, "GPU-", 4) && word[4]);
}

static bool take_gpus(struct recording *r, const char *text)
{
	size_t i;

	r->has_gpu_options = true;
	if (!take_words(&r->gpus, text, GPUS_MAX))
		return false;
	for (i = 0; i < r->gpus.len; i++)
		if (!is_gpu(r->gpus.all[i]))
			return false;
	r->config.gpus = r->gpus.all;
	r->config.gpus_len = r->gpus.len;
	return true;
}

/* No GPU has another: "unit__what.suffix", or a set's name. */
static bool is_metric(const char *word)
{
	const char *unit_end = strstr(word, "__"), *suffix = strchr(word, '.');

	return !strcmp(word, "default") || !strcmp(word, "rich") ||
	       (unit_end && unit_end > word && suffix && suffix > unit_end + 2 && suffix[1]);
}

/* What the file says of devices and frequency stands. */
static bool take_counters(struct recording *r, const char *text)
{
	static const char *const all[] = {"all"};
	galvo_suite_config *c = &r->config;
	size_t i;

	r->asks_counters = true;
	if (!c->gpu_counters && !c->gpus_len) {
		c->gpus = all;
		c->gpus_len = 1;
	}
	if (!c->gpu_counters && c->gpu_hz == 0)
		c->gpu_hz = GPU_HERTZ;
	c->gpu_counters = 1;
	if (!text)
		return true;
	if (!take_words(&r->gpu_metrics, text, GPU_METRICS_MAX))
		return false;
	for (i = 0; i < r->gpu_metrics.len; i++)
		if (!is_metric(r->gpu_metrics.all[i]))
			return false;
	c->gpu_metrics = r->gpu_metrics.all;
	c->gpu_metrics_len = r->gpu_metrics.len;
	return true;
}

static bool take_gpu_hertz(struct recording *r, const char *text)
{
	r->has_gpu_options = true;
	return parse_number(text, &r->config.gpu_hz) && r->config.gpu_hz >= 1 &&
	       r->config.gpu_hz <= GPU_HERTZ_MAX;
}

static bool take_gpu_value(struct recording *r, int key, const char *arg)
{
	switch (key) {
	case KEY_NO_GPU: r->no_gpu = true; return true;
	case KEY_GPU_TELEMETRY_HZ:
		r->config.gpu_telemetry = 1;
		r->asks_telemetry = true;
		return take_hertz(&r->config.telemetry_hz, arg);
	case KEY_GPU_COUNTERS: return take_counters(r, arg);
	case KEY_GPU_HZ: return take_gpu_hertz(r, arg);
	case KEY_GPUS: return take_gpus(r, arg);
	}
	return false;
}

static bool take_value(struct recording *r, int key, const char *arg)
{
	galvo_suite_config *c = &r->config;

	switch (key) {
	case 'o': c->output_dir = arg; return arg[0] != '\0';
	case 'f': c->overwrite = 1; return true;
	case 'p': return take_pids(r, arg);
	case 'a': r->is_machine_only = true; return true;
	case 'q': r->is_quiet = true; return true;
	case KEY_FOR: return parse_duration(arg, &r->for_s) && r->for_s > 0;
	case KEY_HZ: return take_hertz(&c->system_hz, arg);
	case KEY_CORE_HZ: return take_hertz(&c->core_hz, arg);
	case KEY_DISK_HZ: return take_hertz(&c->disk_hz, arg);
	case KEY_DISK: return take_disk(r, arg);
	case KEY_FLUSH: return take_flush(c, arg);
	case KEY_BUDGET: return take_budget(&c->budget_pct, arg);
	case KEY_PSS: c->pss = 1; return true;
	case KEY_THREADS: c->threads = 1; return true;
	case KEY_NO_EVENTS: c->no_kernel_events = 1; return true;
	case KEY_FOLLOW: return take_follow(c, arg);
	case KEY_ROOT: c->root = arg; return arg[0] != '\0';
	case KEY_REPORT: r->wants_report = true; return true;
	}
	return take_gpu_value(r, key, arg);
}

static enum opt_taken take_option(void *ctx, int key, const char *arg)
{
	if (key == 'c')
		return take_file(ctx, arg) ? OPT_TAKEN : OPT_SAID;
	return take_value(ctx, key, arg) ? OPT_TAKEN : OPT_WRONG;
}

/* 0, or an exit status. */
static int settle_gpus(const struct command *command, struct recording *r)
{
	if (r->has_gpu_options && !r->config.gpu_counters)
		return usage_error(command, "--gpus and --gpu-hz are of hardware counters: expected --gpu-counters");
	if (r->no_gpu && (r->asks_counters || r->asks_telemetry))
		return usage_error(command, "--no-gpu leaves GPUs alone: expected it without %s",
		                   r->asks_counters ? "--gpu-counters" : "--gpu-telemetry-hz");
	if (r->no_gpu)
		r->config.gpu_counters = r->config.gpu_telemetry = 0;
	if (!r->config.gpu_flush_interval_ms) /* no stream loses more than another when we are killed */
		r->config.gpu_flush_interval_ms = r->config.flush_interval_ms ? r->config.flush_interval_ms
		                                                              : FLUSH_MS;
	return 0;
}

/* Who is followed: the command, those of --pid, else those of the file. 0, or an exit status. */
static int settle_processes(const struct command *command, struct recording *r)
{
	bool has_pids = r->processes_len && !r->has_file_processes;

	if ((r->argc > 0) + has_pids + r->is_machine_only > 1)
		return usage_error(command, "expected one of a command, --pid and --all");
	if (r->is_machine_only)
		r->processes_len = 0;
	if (r->argc) {
		memmove(r->processes + 1, r->processes, r->processes_len * sizeof(r->processes[0]));
		r->processes[0] = (galvo_process){.alias = r->alias};
		r->processes_len++;
		return 0;
	}
	if (r->processes_len || r->is_machine_only || (r->file && !r->names_command))
		return 0;
	return usage_error(command, r->file ? "expected a command, for which process 0 of the file stands, "
	                                      "--pid or --all"
	                                    : "expected a command, --pid or --all");
}

static int run(const struct command *command, int argc, char **argv)
{
	static struct recording r; /* large, and there is one */
	int at, exit_code;

	r.config = galvo_suite_config_default();
	r.config.follow = GALVO_FOLLOW_TREE;
	r.config.is_recorder = 1;
	r.config.gpu_telemetry = 2; /* where there are GPUs */
	if (!opts_take(command, argc, argv, &at, take_option, &r, &exit_code))
		return exit_code;
	r.argv = argv + at;
	r.argc = argc - at;
	exit_code = settle_processes(command, &r);
	if (exit_code == 0)
		exit_code = settle_gpus(command, &r);
	if (exit_code)
		return exit_code;
	if (r.file)
		say_notes(&r);
	exit_code = record(&r);
	galvo_config_destroy(r.file);
	return exit_code;
}

const struct command command_record = {
	"record", "[options] -- command…", "Record what a command, processes or the machine do.",
	opts, sizeof(opts) / sizeof(opts[0]), run,
};
