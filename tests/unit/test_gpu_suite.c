/* GPUs through the public headers: a profiler by itself and of a suite, here and in a sidecar. */
#include <fcntl.h>
#include <sys/stat.h>

#include "galvo/galvo.h"
#include "nvidia_rig.h"
#include "scratch.h"
#include "suite/sidecar.h"

enum { WANTED = 100 };

static char base[] = "/tmp/galvo-gpu-suite-XXXXXX";
static const char *const metrics[] = {"gpc__cycles_elapsed.avg.per_second", "sm__cycles_active.avg"};
static const uint32_t second_device[] = {1};

static const char *in_base(const char *name)
{
	return scratch_path(base, name);
}

static bool is(const char *a, const char *b)
{
	if (!strcmp(a, b))
		return true;
	printf("# '%s', not '%s'\n", a, b);
	return false;
}

/* Two GPUs whose counters are known, and time as it is. */
static void play(void)
{
	size_t i;

	scene_begin();
	scene->is_fake = 0;
	scene->begin_mono_ns = clock_real.mono_ns(&clock_real);
	scene_add(scene, "GH100");
	scene_add(scene, "GH100");
	for (i = 0; i < 2; i++) {
		scene->devices[i].curves[CURVE_sm_mhz] = (struct scene_curve){.a = 1500};
		scene->devices[i].curves[CURVE_sm_busy_permille] = (struct scene_curve){.a = 500};
	}
}

static bool is_loaded(const char *library)
{
	char *line = NULL;
	bool found = false;
	size_t cap = 0;
	FILE *f = fopen("/proc/self/maps", "re");

	while (f && getline(&line, &cap, f) > 0)
		found = found || strstr(line, library);
	free(line);
	if (f)
		fclose(f);
	return found;
}

static void rest(void)
{
	const struct timespec moment = {0, NS_PER_MS};

	nanosleep(&moment, NULL);
}

/* ---- samples --------------------------------------------------------------------------------------- */

/* Takes that many as they come: exact, and one after the other. */
static void expect_samples(galvo_profiler *p, size_t wanted, uint32_t gpu)
{
	const uint64_t limit_ns = clock_real.mono_ns(&clock_real) + 20 * NS_PER_S;
	galvo_gpu_sample s = {.struct_size = sizeof(s)};
	uint64_t last_ns = 0, overwritten = 0;
	galvo_status status = GALVO_DONE;
	size_t n = 0, wrong = 0;
	galvo_error e = {0};

	while (n < wanted && clock_real.mono_ns(&clock_real) < limit_ns) {
		status = galvo_gpu_drain(p, &s, &e);
		if (status == GALVO_DONE) {
			rest();
			continue;
		}
		if (!OK(status == GALVO_OK)) {
			printf("# %s\n", e.text);
			return;
		}
		/* Within what two readings of clocks may be apart. */
		wrong += last_ns && !(s.start_mono_ns + NS_PER_MS / 10 > last_ns);
		wrong += s.gpu_index != gpu || s.values_len != 2 || s.end_mono_ns <= s.start_mono_ns ||
		         s.values[0] != 1.5e9 || s.values[1] != 1.5e9 * 1e-3 * (0.5 * 0.8) ||
		         s.values[2] != 0;
		last_ns = s.end_mono_ns;
		overwritten += s.overwritten;
		n++;
	}
	EQ(n, wanted);
	EQ(wrong, 0);
	EQ(overwritten, 0);
}

static void expect_facts(galvo_profiler *p, size_t devices)
{
	galvo_gpu_device d = {.struct_size = sizeof(d)};
	galvo_gpu_metric m = {.struct_size = sizeof(m)};
	galvo_error e = {0};
	size_t i;

	for (i = 0; galvo_gpu_device_at(p, i, &d, &e) == GALVO_OK; i++) {
		OK(is(d.chip, "GH100") && d.name[0] && d.uuid[0] && d.pci[0]);
		OK(d.sm_count == 132 && d.memory_bytes > 0 && d.peak_dram_bytes_per_s > 1e12);
	}
	EQ(i, devices);
	EQ(galvo_gpu_device_at(p, i, &d, &e), GALVO_DONE);
	for (i = 0; galvo_gpu_metric_at(p, i, &m, &e) == GALVO_OK; i++)
		OK(i < 2 && is(m.name, metrics[i]));
	EQ(i, 2);
	EQ(galvo_gpu_status(p, &e), GALVO_OK);
}

static size_t rows_of(const char *path, enum stream_kind kind)
{
	struct galvo_run *run = NULL;
	const struct table *t = NULL;
	struct span text = {0};
	galvo_error e = {0};
	struct buf buf;
	size_t n;

	buf_init(&buf, 1 << 26);
	if (!OK(file_read(AT_FDCWD, path, &buf, &text, &e) == GALVO_OK) ||
	    !OK(run_read_bytes(kind, text, &run, &e) == GALVO_OK))
		printf("# %s: %s\n", path, e.text);
	buf_finish(&buf);
	t = run ? run_table(run, kind, SCOPE_GPU) : NULL;
	n = kind == STREAM_EVENTS && run ? run->regions_len : t ? t->rows_len : 0;
	galvo_run_close(run);
	return n;
}

/* ---- a profiler by itself -------------------------------------------------------------------------- */

static galvo_gpu_config alone_config(int32_t mode)
{
	galvo_gpu_config c = galvo_gpu_config_default();

	c.output_file = in_base("alone.pb");
	c.frequency_hz = 1000;
	c.metrics = metrics;
	c.metrics_len = 2;
	c.mode = mode;
	c.sidecar_path = SIDECAR;
	return c;
}

static void alone_in(int32_t mode)
{
	galvo_gpu_config c = alone_config(mode);
	galvo_profiler *p = NULL;
	galvo_error e = {0};
	uint64_t region;

	play();
	c.device_indices = second_device;
	c.device_indices_len = 1;
	c.drain_samples = 10000;
	c.decode_interval_ms = 20;
	c.events_file = "alone-events.pb";
	if (!OK(galvo_gpu_profiler_create(&c, &p, &e) == GALVO_OK)) {
		printf("# %s\n", e.text);
		return;
	}
	expect_facts(p, 1);
	OK(galvo_profiler_start(p, &e) == GALVO_OK);
	region = galvo_region_begin(galvo_profiler_host_tracker(p), "a", 1);
	OK(region != 0);
	expect_samples(p, WANTED, 1);
	galvo_region_end(galvo_profiler_host_tracker(p), region);
	EQ(galvo_tracker_status(galvo_profiler_gpu_tracker(p), &e),
	   mode == GALVO_SIDECAR && !is_loaded("libcuda") ? GALVO_ERR_ABSENT : GALVO_ERR_STATE);
	EQ(galvo_profiler_add_process(p, 0, NULL, &e), GALVO_ERR_INVALID);
	OK(galvo_profiler_stop(p, &e) == GALVO_OK);
	galvo_profiler_destroy(p);
	OK(rows_of(in_base("alone.pb"), STREAM_GPU) >= WANTED);
	EQ(rows_of(in_base("alone-events.pb"), STREAM_EVENTS), 1);
	unlink(in_base("alone.pb"));
	unlink(in_base("alone-events.pb"));
	VIOLATIONS(0);
	scene_end();
}

static void alone(void)
{
	alone_in(GALVO_IN_PROCESS);
}

static void alone_beside(void)
{
	alone_in(GALVO_SIDECAR);
}

/* Without a name for events there are no trackers, and without a wish for them no samples are kept. */
static void alone_and_plain(void)
{
	galvo_gpu_config c = alone_config(GALVO_IN_PROCESS);
	galvo_gpu_sample s = {.struct_size = sizeof(s)};
	galvo_profiler *p = NULL;
	galvo_error e = {0};

	play();
	c.metrics_len = 0;
	c.all_devices = 1;
	OK(galvo_gpu_profiler_create(&c, &p, &e) == GALVO_OK);
	OK(galvo_profiler_start(p, &e) == GALVO_OK);
	EQ(galvo_tracker_status(galvo_profiler_host_tracker(p), &e), GALVO_ERR_ABSENT);
	EQ(galvo_gpu_drain(p, &s, &e), GALVO_DONE);
	OK(galvo_profiler_stop(p, &e) == GALVO_OK);
	galvo_profiler_destroy(p);
	OK(access(in_base("events.pb"), F_OK) != 0);
	unlink(in_base("alone.pb"));
	VIOLATIONS(0);
	scene_end();
}

static void refused(galvo_gpu_config c, galvo_status want, const char *words)
{
	galvo_profiler *p = NULL;
	galvo_error e = {0};

	if (!OK(galvo_gpu_profiler_create(&c, &p, &e) == want && strstr(e.text, words)))
		printf("# %s\n", e.text);
	galvo_profiler_destroy(p);
	OK(access(in_base("alone.pb"), F_OK) != 0);
}

static void mistakes(void)
{
	static const char *const wrong[] = {"sm__cycles_activ.avg"}, *const empty[] = {""};
	static const uint32_t far_device[] = {9}, no_device[] = {5000};
	galvo_gpu_config c = alone_config(GALVO_IN_PROCESS);

	play();
	c.metrics = wrong;
	c.metrics_len = 1;
	refused(c, GALVO_ERR_INVALID, "did you mean sm__cycles_active.avg");
	c.metrics = empty;
	refused(c, GALVO_ERR_INVALID, "gpu_metrics: expected names");
	c = alone_config(GALVO_IN_PROCESS);
	c.device_indices = far_device;
	c.device_indices_len = 1;
	refused(c, GALVO_ERR_INVALID, "GPU 9 is not there");
	c.mode = GALVO_SIDECAR;
	refused(c, GALVO_ERR_INVALID, "GPU 9 is not there");
	c.device_indices = no_device;
	refused(c, GALVO_ERR_INVALID, "gpus: expected numbers");
	c = alone_config(GALVO_IN_PROCESS);
	c.frequency_hz = 300000;
	refused(c, GALVO_ERR_INVALID, "gpu_hz: expected");
	c = alone_config(GALVO_IN_PROCESS);
	c.output_file = NULL;
	refused(c, GALVO_ERR_INVALID, "output_file: expected a path");
	c = alone_config(GALVO_IN_PROCESS);
	c.events_file = "a/b";
	refused(c, GALVO_ERR_INVALID, "events_file: expected a file name");
	scene_fault(scene, FAULT_RESULT, "cuptiPmSamplingEnable", 35);
	refused(alone_config(GALVO_IN_PROCESS), GALVO_ERR_DENIED, "CAP_SYS_ADMIN");
	refused(alone_config(GALVO_SIDECAR), GALVO_ERR_DENIED, "CAP_SYS_ADMIN");
	scene_end();
}

/* ---- a part of a suite ----------------------------------------------------------------------------- */

static galvo_suite_config suite_config(int32_t mode)
{
	static const char *const all[] = {"all"};
	galvo_suite_config c = galvo_suite_config_default();

	c.output_dir = in_base("suite");
	c.overwrite = 1;
	c.gpu_counters = c.gpu_telemetry = 1;
	c.gpus = all;
	c.gpus_len = 1;
	c.gpu_metrics = metrics;
	c.gpu_metrics_len = 2;
	c.gpu_hz = 1000;
	c.telemetry_hz = 100;
	c.mode = mode;
	c.sidecar_path = SIDECAR;
	return c;
}

static bool has_note(galvo_suite *s, const char *subject, const char *words)
{
	galvo_note note = {.struct_size = sizeof(note)};
	size_t i;

	for (i = 0; galvo_suite_note_at(s, i, &note, NULL) == GALVO_OK; i++)
		if (!strcmp(note.subject, subject) && strstr(note.text, words))
			return true;
	return false;
}

static bool has_metric(const struct galvo_run *run, const char *name, const char *unit)
{
	size_t i;

	for (i = 0; i < run->session->metrics_len; i++)
		if (!strcmp(run->session->metrics[i].name, name))
			return is(run->session->metrics[i].unit, unit);
	return false;
}

static void expect_recording(void)
{
	struct galvo_run *run = NULL;
	const struct table *t;
	size_t i, wrong = 0;

	if (!OK(galvo_run_open(in_base("suite"), &run, NULL) == GALVO_OK))
		return;
	EQ(run->damages_len, 0);
	EQ(run->gpus_len, 2); /* of both streams: the same ones */
	OK(has_metric(run, metrics[0], "hz") && has_metric(run, metrics[1], "cycles"));
	OK(has_metric(run, "gpu__utilization.pct", "pct"));
	t = run_table(run, STREAM_GPU, SCOPE_GPU);
	for (i = 0; t && i < t->rows_len; i++)
		wrong += t->values[0][i] != 1.5e9;
	OK(t && t->rows_len > 0 && wrong == 0);
	t = run_table(run, STREAM_TELEMETRY, SCOPE_GPU);
	OK(t && t->rows_len > 0);
	galvo_run_close(run);
}

static bool await_counters(galvo_suite *s)
{
	const uint64_t limit_ns = clock_real.mono_ns(&clock_real) + 20 * NS_PER_S;
	galvo_suite_stats stats = {.struct_size = sizeof(stats)};

	while (clock_real.mono_ns(&clock_real) < limit_ns) {
		if (galvo_suite_get_stats(s, &stats, NULL) == GALVO_OK && stats.gpu_samples >= WANTED)
			return stats.gpu_lost_samples == 0;
		rest();
	}
	return false;
}

static void part_in(int32_t mode)
{
	galvo_suite_config c = suite_config(mode);
	galvo_suite *s = NULL;
	galvo_error e = {0};

	play();
	c.gpu_decode_interval_ms = 20;
	if (!OK(galvo_suite_create(&c, &s, &e) == GALVO_OK)) {
		printf("# %s\n", e.text);
		return;
	}
	OK(galvo_suite_gpu_profiler(s) && galvo_profiler_start(galvo_suite_gpu_profiler(s), &e) < 0);
	EQ(galvo_gpu_status(galvo_suite_system_profiler(s), &e), GALVO_ERR_INVALID);
	expect_facts(galvo_suite_gpu_profiler(s), 2);
	OK(galvo_suite_start(s, &e) == GALVO_OK);
	OK(await_counters(s));
	OK(galvo_suite_stop(s, &e) == GALVO_OK);
	galvo_suite_destroy(s);
	expect_recording();
	VIOLATIONS(0);
	scene_end();
}

static void part(void)
{
	part_in(GALVO_IN_PROCESS);
}

static void part_beside(void)
{
	part_in(GALVO_SIDECAR);
}

/* A machine that cannot: the rest is recorded, unless there is none, or they are required. */
static void goes_on_in(int32_t mode)
{
	galvo_suite_config c = suite_config(mode);
	galvo_gpu_device d = {.struct_size = sizeof(d)};
	galvo_suite *s = NULL;
	galvo_error e = {0};

	play();
	scene_fault(scene, FAULT_RESULT, "cuptiPmSamplingEnable", 35);
	c.gpu_telemetry = 0;
	OK(galvo_suite_create(&c, &s, &e) == GALVO_OK);
	OK(galvo_suite_start(s, &e) == GALVO_OK);
	OK(galvo_suite_gpu_profiler(s) != NULL);
	EQ(galvo_gpu_status(galvo_suite_gpu_profiler(s), &e), GALVO_ERR_DENIED);
	EQ(galvo_gpu_device_at(galvo_suite_gpu_profiler(s), 0, &d, &e), GALVO_ERR_DENIED);
	OK(has_note(s, "GPU counters", "CAP_SYS_ADMIN"));
	OK(galvo_suite_stop(s, &e) == GALVO_OK);
	galvo_suite_destroy(s);
	OK(access(in_base("suite/gpu_metrics.pb"), F_OK) != 0);
	OK(access(in_base("suite/system_metrics.pb"), F_OK) == 0);

	c.require_gpu_counters = 1;
	EQ(galvo_suite_create(&c, &s, &e), GALVO_ERR_DENIED);
	OK(!strncmp(e.text, "gpu: ", 5));
	c.require_gpu_counters = 0;
	c.no_system = c.no_disk = 1;
	EQ(galvo_suite_create(&c, &s, &e), GALVO_ERR_DENIED);
	VIOLATIONS(0);
	scene_end();
}

static void goes_on(void)
{
	goes_on_in(GALVO_IN_PROCESS);
	goes_on_in(GALVO_SIDECAR);
}

/* First of all: nothing of NVIDIA's is loaded where nobody asks for it. */
static void host_only(void)
{
	galvo_suite_config c = suite_config(GALVO_IN_PROCESS);
	galvo_suite *s = NULL;
	galvo_error e = {0};

	play();
	c.gpu_counters = c.gpu_telemetry = 0;
	OK(galvo_suite_create(&c, &s, &e) == GALVO_OK && galvo_suite_start(s, &e) == GALVO_OK);
	OK(!galvo_suite_gpu_profiler(s));
	OK(galvo_suite_stop(s, &e) == GALVO_OK);
	galvo_suite_destroy(s);
	OK(!is_loaded("libcuda") && !is_loaded("libcupti") && !is_loaded("libnvidia-ml"));
	/* Telemetry alone is without CUDA. */
	c.gpu_telemetry = 2;
	OK(galvo_suite_create(&c, &s, &e) == GALVO_OK && galvo_suite_start(s, &e) == GALVO_OK);
	OK(galvo_suite_stop(s, &e) == GALVO_OK);
	galvo_suite_destroy(s);
	OK(!is_loaded("libcuda") && !is_loaded("libcupti") && is_loaded("libnvidia-ml"));
	scene_end();
}

static const struct tap_test tests[] = {
	{"host only", host_only},
	{"alone", alone},
	{"alone, in a sidecar", alone_beside},
	{"alone and plain", alone_and_plain},
	{"mistakes", mistakes},
	{"part of a suite", part},
	{"part of a suite in a sidecar", part_beside},
	{"goes on without", goes_on},
};

static void clean_up(void)
{
	static const char *const names[] = {
		"suite/session_metadata.pb", "suite/system_metrics.pb", "suite/disk_metrics.pb",
		"suite/events.pb", "suite/gpu_metrics.pb", "suite/gpu_telemetry.pb",
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(names); i++)
		unlink(in_base(names[i]));
	rmdir(in_base("suite"));
	rmdir(base);
}

/* The linker finds the doubles if it is told where before the program starts. */
int main(int argc, char **argv)
{
	const char *path = getenv("LD_LIBRARY_PATH");
	int failed;

	(void)argc;
	if (!path || strcmp(path, DOUBLES "/lib") != 0) {
		setenv("LD_LIBRARY_PATH", DOUBLES "/lib", 1);
		execv("/proc/self/exe", argv);
		return 1;
	}
	if (!mkdtemp(base))
		return 1;
	failed = tap_run(tests, ARRAY_LEN(tests));
	clean_up();
	return failed;
}
