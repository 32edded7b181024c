/* Configurations from files: what becomes of every field, defaults, what is refused and what is noted. */
#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "galvo/config.h"
#include "galvo/metrics.h"
#include "stream/stream.h"
#include "tap.h"

#define MACHINE FIXTURES "/machine/small"

static char base[] = "/tmp/galvo-load-XXXXXX";

static galvo_config *parsed(const char *text)
{
	galvo_config *config = NULL;
	galvo_error error = {0};

	if (!OK(galvo_config_parse(text, strlen(text), 1, "f", &config, &error) == GALVO_OK))
		printf("# %s: %s\n", text, error.text);
	return config;
}

static const char *note_at(const galvo_config *config, size_t i)
{
	const char *text = NULL;

	return galvo_config_note_at(config, i, &text, NULL) == GALVO_OK ? text : "";
}

static void everything(void)
{
	galvo_config *config = parsed(
		"output_dir: 'out' root: '/none-such' follow: CHILDREN scan_interval_ms: 50 budget_pct: 2.5 "
		"overwrite: true stop_at_exit: true mode: SIDECAR sidecar_path: '/s' sidecar_cpus: '0-3,8'\n"
		"system { enabled: true sampling_frequency_hz: 200 processes { pid: 7 alias: 'a' } "
		"processes { pid: 0 } flush_interval_ms: 10 output_file: 's.pb' core_frequency_hz: .5 pss: 1 "
		"threads: 1 }\n"
		"disk { enabled: true sampling_frequency_hz: 20 devices: ['sda', '/dev/md0'] "
		"processes { pid: 0 alias: 'me' } processes { pid: 7 } flush_interval_ms: 20 output_file: 'd.pb' }");
	const galvo_suite_config *c = galvo_config_suite(config);

	OK(!strcmp(c->output_dir, "out") && !strcmp(c->root, "/none-such"));
	OK(c->follow == GALVO_FOLLOW_CHILDREN && galvo_config_follow(config) == GALVO_FOLLOW_CHILDREN);
	OK(c->scan_interval_ms == 50 && fabs(c->budget_pct - 2.5) < 1e-12 && c->overwrite && c->pss &&
	   c->threads);
	OK(c->stop_at_exit == 1);
	OK(!c->no_system && !c->no_disk);
	OK(fabs(c->system_hz - 200) < 1e-9 && fabs(c->disk_hz - 20) < 1e-9 && fabs(c->core_hz - .5) < 1e-9);
	OK(c->flush_interval_ms == 10 && c->disk_flush_interval_ms == 20);
	OK(!strcmp(c->system_file, "s.pb") && !strcmp(c->disk_file, "d.pb"));
	OK(c->disks_len == 2 && !strcmp(c->disks[0], "sda") && !strcmp(c->disks[1], "md0"));
	if (EQ(c->processes_len, 2)) {
		OK(c->processes[0].pid == 7 && !strcmp(c->processes[0].alias, "a"));
		OK(c->processes[1].pid == 0 && !strcmp(c->processes[1].alias, "me"));
	}
	OK(c->mode == GALVO_SIDECAR && !strcmp(c->sidecar_path, "/s") && !strcmp(c->sidecar_cpus, "0-3,8"));
	EQ(c->notes_len, 0);
	galvo_config_destroy(config);
}

/* Zero, empty and missing are the defaults; what is not enabled is not recorded. */
static void defaults(void)
{
	galvo_config *config = parsed("");
	const galvo_suite_config *c = galvo_config_suite(config);

	OK(c->no_system && c->no_disk && !c->output_dir && !c->root && !c->metric_catalog_path);
	OK(c->follow == GALVO_FOLLOW_NONE && galvo_config_follow(config) == -1);
	OK(!strcmp(note_at(config, 0), "config: no block is enabled; there is nothing to record"));
	galvo_config_destroy(config);
	config = parsed("system { enabled: true } disk { devices: 'sda' processes { pid: 9 } }");
	c = galvo_config_suite(config);
	OK(!c->no_system && c->no_disk && c->disks_len == 0 && c->processes_len == 0);
	OK(c->system_hz == 0 && c->flush_interval_ms == 0 && !c->system_file && c->notes_len == 0);
	galvo_config_destroy(config);
	config = parsed("follow: NONE disk { enabled: true output_file: '' sampling_frequency_hz: 0 }");
	c = galvo_config_suite(config);
	OK(c->no_system && !c->no_disk && !c->disk_file && c->disk_hz == 0);
	OK(c->disk_flush_interval_ms == 5000 && galvo_config_follow(config) == GALVO_FOLLOW_NONE);
	galvo_config_destroy(config);
}

static void gpus(void)
{
	galvo_config *config = parsed(
		"gpu { enabled: true device_indices: [2, 0] device_uuids: 'GPU-ab' sampling_frequency_hz: 50000 "
		"hw_buffer_size: 4096 max_samples: 9 metrics: ['a__b.sum', 'rich'] flush_interval_ms: 30 "
		"output_file: 'g.pb' decode_interval_ms: 40 }"
		"gpu_telemetry { enabled: true sampling_frequency_hz: .5 flush_interval_ms: 60 output_file: 't.pb' }");
	const galvo_suite_config *c = galvo_config_suite(config);

	OK(c->gpu_counters == 1 && c->gpu_telemetry == 1 && !c->require_gpu_counters);
	OK(fabs(c->gpu_hz - 50000) < 1e-9 && fabs(c->telemetry_hz - .5) < 1e-12);
	OK(c->gpu_buffer_bytes == 4096 && c->gpu_max_samples == 9 && c->gpu_drain_samples == 0);
	OK(c->gpu_flush_interval_ms == 30 && c->gpu_decode_interval_ms == 40 &&
	   c->telemetry_flush_interval_ms == 60);
	OK(!strcmp(c->gpu_file, "g.pb") && !strcmp(c->telemetry_file, "t.pb"));
	if (EQ(c->gpus_len, 3))
		OK(!strcmp(c->gpus[0], "2") && !strcmp(c->gpus[1], "0") && !strcmp(c->gpus[2], "GPU-ab"));
	if (EQ(c->gpu_metrics_len, 2))
		OK(!strcmp(c->gpu_metrics[0], "a__b.sum") && !strcmp(c->gpu_metrics[1], "rich"));
	galvo_config_destroy(config);
}

static void few_gpus(void)
{
	galvo_config *config = parsed("gpu { enabled: true all_devices: true device_indices: 1 } "
	                              "gpu_telemetry { enabled: true }");
	const galvo_suite_config *c = galvo_config_suite(config);

	OK(c->gpu_counters && c->gpus_len == 1 && !strcmp(c->gpus[0], "all") && c->gpu_metrics_len == 0);
	OK(c->gpu_telemetry == 1 && c->telemetry_flush_interval_ms == 5000 && c->notes_len == 0);
	galvo_config_destroy(config);
	config = parsed("gpu { metrics: '' device_indices: -1 } gpu_telemetry { sampling_frequency_hz: -1 }");
	c = galvo_config_suite(config);
	OK(!c->gpu_counters && !c->gpu_telemetry && c->gpus_len == 0);
	galvo_config_destroy(config);
}

static void notes(void)
{
	galvo_config *config = parsed("system { enabled: true processes { pid: 2147483647 } } "
	                              "disk { enabled: true devices: 'nvme99n99' }");
	const char *text;

	if (access("/sys/class/block", F_OK) == 0)
		OK(!strcmp(note_at(config, 0), "nvme99n99: there is no such block device"));
	OK(!strcmp(note_at(config, galvo_config_suite(config)->notes_len - 1),
	           "processes: there is no process 2147483647; the rest is recorded"));
	EQ(galvo_config_suite(config)->processes_len, 0);
	EQ(galvo_config_note_at(config, 99, &text, NULL), GALVO_DONE);
	galvo_config_destroy(config);
}

static void hostile(void)
{
	static const struct {
		const char *text, *error;
		galvo_status status;
	} rows[] = {
		{"system { sampling_frequency_hz: x }", "f:1:33: field 'system.sampling_frequency_hz': expected a "
		 "number from 0 to 18446744073709551615, got 'x'", GALVO_ERR_MALFORMED},
		{"system { enabled: true sampling_frequency_hz: 10001 }",
		 "f:1:47: field 'system.sampling_frequency_hz': expected at most 10000, got 10001", GALVO_ERR_INVALID},
		{"disk { enabled: true sampling_frequency_hz: 18446744073709551615 }",
		 "f:1:45: field 'disk.sampling_frequency_hz': expected at most 10000, got 18446744073709551615",
		 GALVO_ERR_INVALID},
		{"system { enabled: true core_frequency_hz: -1 }",
		 "f:1:43: field 'system.core_frequency_hz': expected more than 0.001 and at most 10000",
		 GALVO_ERR_INVALID},
		{"system { enabled: true core_frequency_hz: nan }",
		 "f:1:43: field 'system.core_frequency_hz': expected more than 0.001 and at most 10000",
		 GALVO_ERR_INVALID},
		{"gpu { enabled: true sampling_frequency_hz: 200001 }",
		 "f:1:44: field 'gpu.sampling_frequency_hz': expected at most 200000, got 200001", GALVO_ERR_INVALID},
		{"gpu { enabled: true device_indices: [0, -1] }",
		 "f:1:41: field 'gpu.device_indices': expected numbers from 0 to 1023, got -1", GALVO_ERR_INVALID},
		{"gpu { enabled: true device_uuids: 'MIG-1' }", "f:1:35: field 'gpu.device_uuids': expected GPU-…",
		 GALVO_ERR_INVALID},
		{"gpu { enabled: true\n metrics: 'a__b.sum' metrics: '' }",
		 "f:2:31: field 'gpu.metrics': expected a full name, default or rich", GALVO_ERR_INVALID},
		{"gpu { enabled: true max_samples: 4294967296 }",
		 "f:1:34: field 'gpu.max_samples': expected at most 4294967295, got 4294967296", GALVO_ERR_INVALID},
		{"gpu { enabled: true output_file: 'a/b' }", "f:1:34: field 'gpu.output_file': expected a file name, no "
		 "path, and not that of the metadata", GALVO_ERR_INVALID},
		{"gpu { enabled: true } gpu_telemetry { enabled: true output_file: 'gpu_metrics.pb' }",
		 "f:1:66: field 'gpu_telemetry.output_file': the same as gpu_file", GALVO_ERR_INVALID},
		{"gpu_telemetry { enabled: true sampling_frequency_hz: 10001 }",
		 "f:1:54: field 'gpu_telemetry.sampling_frequency_hz': expected more than 0.001 and at most 10000",
		 GALVO_ERR_INVALID},
		{"budget_pct: 101", "f:1:13: field 'budget_pct': expected more than 0.001 and at most 100",
		 GALVO_ERR_INVALID},
		{"scan_interval_ms: 86400001", "f:1:19: field 'scan_interval_ms': expected a day, 86400000, at most, "
		 "got 86400001", GALVO_ERR_INVALID},
		{"system { enabled: true processes { pid: 2147483648 } }",
		 "f:1:34: field 'system.processes.pid': expected a pid of at most 2147483647, got 2147483648",
		 GALVO_ERR_INVALID},
		{"disk { enabled: true devices: '' }", "f:1:31: field 'disk.devices': expected names of 1 to 255 bytes",
		 GALVO_ERR_INVALID},
		{"disk { enabled: true devices: 'a'\n devices: ['b', ''] }",
		 "f:2:17: field 'disk.devices': expected names of 1 to 255 bytes", GALVO_ERR_INVALID},
		{"system { enabled: true processes { pid: 1 }\n\tprocesses [{ }, { pid: 4294967295 }] }",
		 "f:2:18: field 'system.processes.pid': expected a pid of at most 2147483647, got 4294967295",
		 GALVO_ERR_INVALID},
		{"disk { enabled: true devices: '/dev/' }", "f:1:31: field 'disk.devices': expected names of 1 to 255 bytes",
		 GALVO_ERR_INVALID},
		{"system { processes { alias: '\\xff' } }", "f:1:29: field 'system.processes.alias': expected valid "
		 "UTF-8, got ''\\\\xff''", GALVO_ERR_MALFORMED},
		{"output_dir: 'a\\000b'", "f: field 'output_dir': expected UTF-8 without a NUL", GALVO_ERR_MALFORMED},
		{"follow: 4", "f:1:9: field 'follow': expected NONE, CHILDREN or TREE, got 4", GALVO_ERR_INVALID},
		{"mode: 2", "f:1:7: field 'mode': expected IN_PROCESS or SIDECAR, got 2", GALVO_ERR_INVALID},
		{"sidecar_cpus: '3-1'", "f:1:15: field 'sidecar_cpus': expected numbers and ranges of CPUs below "
		 "8192, as in 0-3,8", GALVO_ERR_INVALID},
		{"metric_catalog_path: '/none-such'", "/none-such: No such file or directory", GALVO_ERR_ABSENT},
	};
	galvo_config *config;
	galvo_error error;
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++) {
		EQ(galvo_config_parse(rows[i].text, strlen(rows[i].text), 1, "f", &config, &error), rows[i].status);
		if (!OK(!strcmp(error.text, rows[i].error)))
			printf("# %s\n", error.text);
	}
}

static void bytes(void)
{
	static const char sound[] = "\x0a\x03" "out" "\x22\x04\x08\x01\x10\x32";
	static const struct { const char *bytes; size_t n; } rows[] = {
		{"\x0a\x05" "ab", 4},           /* short */
		{"\x0a\x01\xff", 3},            /* not UTF-8 */
		{"\x22\x03\x2a\x01\x00", 5},    /* a NUL in system.output_file */
		{"\x22\x02\x12\x00", 4},        /* a frequency is no string */
		{"\x08\x01\x0c", 3},            /* a group */
	};
	galvo_config *config = NULL;
	galvo_error error;
	size_t i;

	if (OK(galvo_config_parse(sound, sizeof(sound) - 1, 0, NULL, &config, &error) == GALVO_OK)) {
		OK(!strcmp(galvo_config_suite(config)->output_dir, "out"));
		OK(fabs(galvo_config_suite(config)->system_hz - 50) < 1e-9);
	}
	galvo_config_destroy(config);
	OK(galvo_config_parse(NULL, 0, 0, NULL, &config, &error) == GALVO_OK);
	galvo_config_destroy(config);
	for (i = 0; i < ARRAY_LEN(rows); i++)
		EQ(galvo_config_parse(rows[i].bytes, rows[i].n, 0, NULL, &config, &error), GALVO_ERR_MALFORMED);
	galvo_config_destroy(NULL);
}

static void example(void)
{
	const galvo_suite_config *c;
	galvo_config *config;
	galvo_error error = {0};

	if (!OK(galvo_config_load(CONFIGS "/example.pbtxt", &config, &error) == GALVO_OK)) {
		printf("# %s\n", error.text);
		return;
	}
	c = galvo_config_suite(config);
	OK(!c->no_system && !c->no_disk && c->processes_len == 1 && c->processes[0].pid == 0);
	OK(!strcmp(c->processes[0].alias, "self") && !strcmp(c->output_dir, "profiling_output"));
	OK(c->follow == GALVO_FOLLOW_TREE && c->notes_len == 0);
	galvo_config_destroy(config);
	EQ(galvo_config_load("/none-such.pbtxt", &config, &error), GALVO_ERR_ABSENT);
	EQ(galvo_config_load("/", &config, &error), GALVO_ERR_IO);
}

/* ---- memory that runs out ----------------------------------------------------------------------- */

static long countdown = -1; /* allocations until one fails; negative: never */

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);

static bool is_out(void)
{
	return countdown >= 0 && countdown-- == 0;
}

void *__wrap_malloc(size_t n)
{
	return is_out() ? NULL : __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return is_out() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t n)
{
	return is_out() ? NULL : __real_realloc(p, n);
}

static void no_memory(void)
{
	static const char text[] = "output_dir: 'a' system { enabled: true processes { alias: 'b' } } "
	                           "gpu { enabled: t device_indices: [1, 2] metrics: 'a__b.sum' device_uuids: 'GPU-1' }";
	galvo_status status = GALVO_ERR_NOMEM;
	galvo_config *config = NULL;
	long n;

	for (n = 0; status == GALVO_ERR_NOMEM && n < 100; n++) {
		galvo_error error = {0};

		countdown = n;
		status = galvo_config_parse(text, strlen(text), 1, "f", &config, &error);
		countdown = -1;
		OK(status == GALVO_OK || error.text[0]);
	}
	EQ(status, GALVO_OK);
	OK(n > 3);
	galvo_config_destroy(config);
}

/* ---- what the suite makes of it ----------------------------------------------------------------- */

static galvo_status replay(const char *more, const char *name, struct galvo_run **ret_run)
{
	galvo_error error = {0};
	galvo_config *config = NULL;
	galvo_suite *suite = NULL;
	galvo_status status;
	char text[1024], dir[64];

	snprintf(dir, sizeof(dir), "%s/%s", base, name);
	snprintf(text, sizeof(text), "output_dir: '%s' root: '%s' overwrite: true %s", dir, MACHINE, more);
	status = galvo_config_parse(text, strlen(text), 1, "f", &config, &error);
	if (status == GALVO_OK)
		status = galvo_suite_create(galvo_config_suite(config), &suite, &error);
	galvo_config_destroy(config);
	if (status == GALVO_OK)
		status = galvo_suite_replay(suite, &error);
	galvo_suite_destroy(suite);
	if (status == GALVO_OK && ret_run)
		status = galvo_run_open(dir, ret_run, &error);
	if (status != GALVO_OK)
		printf("# %s\n", error.text);
	return status;
}

static bool is_there(const char *name, const char *file)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s/%s", base, name, file);
	return access(path, F_OK) == 0;
}

static void streams(void)
{
	struct galvo_run *run;

	if (OK(replay("system { enabled: true output_file: 's.pb' } gpu { enabled: true }", "a", &run) == GALVO_OK)) {
		OK(is_there("a", "s.pb") && !is_there("a", "system_metrics.pb") && !is_there("a", "disk_metrics.pb"));
		OK(run_table(run, STREAM_SYSTEM, SCOPE_SYSTEM) && !run_table(run, STREAM_DISK, SCOPE_DEVICE));
		EQ(run->session->probes_len, 1);
		OK(run->session->notes_len == 1 && !strcmp(run->session->notes[0].subject, "GPU counters"));
		OK(!strcmp(run->session->notes[0].text, "a captured machine has no GPUs"));
		EQ(run->damages_len, 0);
		galvo_run_close(run);
	}
	if (OK(replay("disk { enabled: true processes { pid: 100 alias: 'sh' } } follow: TREE", "b", &run) ==
	       GALVO_OK)) {
		OK(!run_table(run, STREAM_SYSTEM, SCOPE_SYSTEM) && run_table(run, STREAM_DISK, SCOPE_PROCESS));
		OK(run->processes_len > 1 && !strcmp(run->processes[0].alias, "sh"));
		EQ(run->damages_len, 0);
		galvo_run_close(run);
	}
	EQ(replay("", "c", NULL), GALVO_ERR_INVALID);
	EQ(replay("system { enabled: true output_file: '../s.pb' }", "c", NULL), GALVO_ERR_INVALID);
	EQ(replay("system { enabled: true output_file: 'a' } disk { enabled: true output_file: 'a' }", "c", NULL),
	   GALVO_ERR_INVALID);
	EQ(replay("system { enabled: true output_file: 'session_metadata.pb' }", "c", NULL), GALVO_ERR_INVALID);
}

static void put_file(const char *name, const char *text)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	size_t written;

	OK(fd >= 0 && file_write_all(fd, text, strlen(text), &written) == 0);
	close(fd);
}

static bool metadata_have(const char *name, const char *what)
{
	char path[128];
	struct span text;
	struct buf b;
	bool found;

	snprintf(path, sizeof(path), "%s/%s/session_metadata.pb", base, name);
	buf_init(&b, 1 << 20);
	found = file_read(AT_FDCWD, path, &b, &text, NULL) == GALVO_OK && memmem(text.p, text.n, what, strlen(what));
	buf_finish(&b);
	return found;
}

static void catalogs(void)
{
	char path[128], text[256];
	galvo_error error;
	galvo_config *config;

	snprintf(path, sizeof(path), "%s/catalog.pbtxt", base);
	put_file(path, "descriptors { fqn: 'mem__used_bytes' description: 'The one of mine.' unit: UNIT_BYTES }\n"
	               "descriptors { fqn: 'my__own.sum' description: 'Another one.' }");
	snprintf(text, sizeof(text), "metric_catalog_path: '%s' system { enabled: true }", path);
	if (OK(replay(text, "o", NULL) == GALVO_OK)) {
		OK(metadata_have("o", "The one of mine.") && metadata_have("o", "my__own.sum"));
		OK(metadata_have("o", "mem__available_bytes"));
	}
	put_file(path, "descriptors { fqn: 'nonsense' }");
	EQ(galvo_config_parse(text, strlen(text), 1, "f", &config, &error), GALVO_ERR_INVALID);
	put_file(path, "descriptors {\n unit: UNIT_PARSEC }");
	EQ(galvo_config_parse(text, strlen(text), 1, "f", &config, &error), GALVO_ERR_MALFORMED);
	OK(strstr(error.text, "catalog.pbtxt:2:8: field 'descriptors.unit': expected MetricCatalog") == NULL);
	OK(strstr(error.text, "catalog.pbtxt:2:8: field 'descriptors.unit': expected ") != NULL);
}

static int append(void *into, const void *more, size_t n)
{
	buf_put(into, more, n);
	return 0;
}

static int stop_at_once(void *ctx, const void *more, size_t n)
{
	(void)ctx;
	(void)more;
	(void)n;
	return 1;
}

/* The built-in catalog is one that can be laid over itself. */
static void dump(void)
{
	char path[128], text[256];
	galvo_config *config = NULL;
	galvo_error error = {0};
	struct buf b;

	buf_init(&b, 1 << 20);
	OK(galvo_catalog_write(append, &b, &error) == GALVO_OK);
	buf_put(&b, "", 1);
	snprintf(path, sizeof(path), "%s/dump.pbtxt", base);
	put_file(path, b.p);
	OK(strstr(b.p, "\n  fqn: \"mem__used_bytes\"\n") != NULL);
	buf_finish(&b);
	snprintf(text, sizeof(text), "metric_catalog_path: '%s'", path);
	if (!OK(galvo_config_parse(text, strlen(text), 1, "f", &config, &error) == GALVO_OK))
		printf("# %s\n", error.text);
	galvo_config_destroy(config);
	EQ(galvo_catalog_write(stop_at_once, NULL, &error), GALVO_ERR_CALLBACK);
}

static void clean_up(void)
{
	static const char *const names[] = {"a", "b", "o"};
	static const char *const files[] = {"session_metadata.pb", "system_metrics.pb", "disk_metrics.pb", "s.pb"};
	char path[128];
	size_t i, j;

	for (i = 0; i < ARRAY_LEN(names); i++) {
		for (j = 0; j < ARRAY_LEN(files); j++) {
			snprintf(path, sizeof(path), "%s/%s/%s", base, names[i], files[j]);
			unlink(path);
		}
		snprintf(path, sizeof(path), "%s/%s", base, names[i]);
		rmdir(path);
	}
	snprintf(path, sizeof(path), "%s/catalog.pbtxt", base);
	unlink(path);
	snprintf(path, sizeof(path), "%s/dump.pbtxt", base);
	unlink(path);
	OK(rmdir(base) == 0);
}

static void make_base(void)
{
	OK(mkdtemp(base) != NULL);
}

static const struct tap_test tests[] = {
	{"a directory", make_base},
	{"everything", everything},
	{"defaults", defaults},
	{"blocks about GPUs", gpus},
	{"blocks about GPUs that say little", few_gpus},
	{"notes", notes},
	{"hostile", hostile},
	{"bytes", bytes},
	{"no memory", no_memory},
	{"the example", example},
	{"streams", streams},
	{"catalogs", catalogs},
	{"the dump", dump},
	{"clean up", clean_up},
};
TAP_MAIN(tests)
