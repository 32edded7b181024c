/* Memory that runs out at every single allocation, in all that a program can do with galvo. */
#include "life.h"

enum { ALLOCATIONS_MAX = 20000 };

static char base[] = "/tmp/galvo-memory-XXXXXX";
static struct life life;

static const char *in_base(const char *name)
{
	static char path[4][160];
	static unsigned next;
	char *to = path[next++ % 4];

	snprintf(to, sizeof(path[0]), "%s/%s", base, name);
	return to;
}

/*
 * Once for each of its allocations, which fails, alone or with all that come after it. It answers OK,
 * or NOMEM with a text.
 */
static long sweep_with(enum fault_mode mode, const char *name, galvo_status (*call)(galvo_error *))
{
	size_t fds = life_count_fds();
	bool was_hit = true;
	long n;

	for (n = 0; was_hit && n < ALLOCATIONS_MAX && !tap_failures; n++) {
		galvo_error e = {0};
		galvo_status status;

		fault_arm(CALL_MEMORY, mode, n, ENOMEM);
		status = call(&e);
		was_hit = fault_disarm() > n;
		life_check_error(status, &e);
		OK(status == GALVO_OK || status == GALVO_ERR_NOMEM);
		EQ(life_count_fds(), fds);
		if (tap_failures)
			printf("# %s, mode %d, allocation %ld: '%s'\n", name, mode, n, e.text);
	}
	OK(n > 1 && n < ALLOCATIONS_MAX);
	return n;
}

static long sweep(const char *name, galvo_status (*call)(galvo_error *reterr))
{
	long once = sweep_with(FAULT_ONCE, name, call), from = sweep_with(FAULT_FROM, name, call);

	printf("# %s: %ld allocations\n", name, once);
	return once < from ? once : from;
}

/* ---- recording --------------------------------------------------------------------------------------- */

static galvo_status live(galvo_error *reterr)
{
	long hits;

	life_live(&life);
	hits = fault_disarm();
	life_check_files(&life);
	host_remove(life.dir);
	atomic_store(&fault.count, hits);
	*reterr = life.error;
	return life.status;
}

static void a_life(void)
{
	life.child = life_child();
	snprintf(life.dir, sizeof(life.dir), "%s/run", base);
	OK(sweep("life", live) > 50);
	life_end_child(life.child);
}

static galvo_status begin_alone(galvo_status created, galvo_profiler **p, galvo_error *reterr)
{
	galvo_status status = created;

	if (status == GALVO_OK) {
		status = galvo_profiler_start(*p, reterr);
		if (status == GALVO_OK)
			status = galvo_profiler_stop(*p, reterr);
		galvo_profiler_destroy(*p);
	}
	return status;
}

static galvo_status system_once(galvo_error *reterr)
{
	galvo_system_config config = galvo_system_config_default();
	const galvo_process self = {.alias = "self"};
	galvo_profiler *p;

	config.output_file = in_base("system.pb");
	config.processes = &self;
	config.processes_len = 1;
	return begin_alone(galvo_system_profiler_create(&config, &p, reterr), &p, reterr);
}

static galvo_status disk_once(galvo_error *reterr)
{
	static const char *const devices[] = {"sda", "none"};
	galvo_disk_config config = galvo_disk_config_default();
	galvo_profiler *p;

	config.output_file = in_base("disk.pb");
	config.devices = devices;
	config.devices_len = ARRAY_LEN(devices);
	return begin_alone(galvo_disk_profiler_create(&config, &p, reterr), &p, reterr);
}

static galvo_status events_once(galvo_error *reterr)
{
	galvo_event_config config = galvo_event_config_default();
	galvo_profiler *p;

	config.output_file = in_base("events.pb");
	return begin_alone(galvo_event_profiler_create(&config, &p, reterr), &p, reterr);
}

static void profilers(void)
{
	OK(sweep("system", system_once) > 20);
	OK(sweep("disk", disk_once) > 20);
	OK(sweep("events", events_once) > 5);
}

/* All that a configuration can hold, from a file. */
static galvo_status create_once(galvo_error *reterr)
{
	static const char text[] =
		"output_dir: '%s' metric_catalog_path: '%s' system { enabled: true processes { alias: 'a' } }"
		"disk { enabled: true devices: 'none' devices: 'sda' } gpu { enabled: true }";
	static const char *const argv[] = {"a", "b", "c"};
	galvo_workload workload = {.struct_size = sizeof(workload), .argv = argv, .argv_len = 3};
	galvo_suite *suite = NULL;
	galvo_config *config = NULL;
	char whole[1024];
	galvo_status status;

	snprintf(whole, sizeof(whole), text, in_base("created"), in_base("catalog"));
	status = galvo_config_parse(whole, strlen(whole), 1, "c", &config, reterr);
	if (status == GALVO_OK)
		status = galvo_suite_create(galvo_config_suite(config), &suite, reterr);
	galvo_config_destroy(config);
	if (status == GALVO_OK)
		status = galvo_suite_set_workload(suite, &workload, reterr);
	if (status == GALVO_OK)
		status = galvo_suite_set_workload(suite, &workload, reterr);
	galvo_suite_destroy(suite);
	return status;
}

/* Memory is short on this side. */
static galvo_status create_beside(galvo_error *reterr)
{
	static const char *const argv[] = {"a", "b", "c"};
	galvo_workload workload = {.struct_size = sizeof(workload), .argv = argv, .argv_len = 3};
	galvo_suite_config config = galvo_suite_config_default();
	galvo_suite_stats stats = {.struct_size = sizeof(stats)};
	galvo_suite *suite = NULL;
	galvo_status status;

	config.output_dir = in_base("created");
	config.mode = GALVO_SIDECAR;
	config.sidecar_path = SIDECAR;
	config.overwrite = 1;
	status = galvo_suite_create(&config, &suite, reterr);
	if (status == GALVO_OK)
		status = galvo_suite_set_workload(suite, &workload, reterr);
	if (status == GALVO_OK)
		status = galvo_suite_start(suite, reterr);
	if (status == GALVO_OK)
		status = galvo_suite_get_stats(suite, &stats, reterr);
	if (status == GALVO_OK)
		status = galvo_suite_stop(suite, reterr);
	galvo_suite_destroy(suite);
	return status;
}

static galvo_status listen_once(galvo_error *reterr)
{
	galvo_listener *l;
	galvo_status status = galvo_listener_open(base, &l, reterr);

	if (status == GALVO_OK)
		galvo_listener_close(l);
	return status;
}

static int write_file(void *ctx, const void *bytes, size_t n)
{
	return fwrite(bytes, 1, n, ctx) != n;
}

static void configurations(void)
{
	static const char catalog[] = "descriptors { fqn: 'cpu__busy.avg' description: 'x' }";
	FILE *file = fopen(in_base("catalog"), "w");

	OK(file && write_file(file, catalog, strlen(catalog)) == 0 && fclose(file) == 0);
	OK(sweep("create", create_once) > 20);
	OK(sweep("listen", listen_once) > 1);
	OK(access(in_base("created"), F_OK) != 0);
	OK(sweep("create with a sidecar", create_beside) > 10);
	host_remove(in_base("created"));
}

/* ---- reading ----------------------------------------------------------------------------------------- */

static int write_nowhere(void *ctx, const void *bytes, size_t n)
{
	(void)ctx;
	(void)bytes;
	return n == 0;
}

static galvo_status read_once(galvo_error *reterr)
{
	galvo_summary *summary = NULL;
	galvo_run *run = NULL;
	galvo_status status = galvo_run_open(life.dir, &run, reterr);

	if (status == GALVO_OK)
		status = galvo_summary_create(run, &summary, reterr);
	if (status == GALVO_OK)
		status = galvo_summary_write(summary, GALVO_REPORT_TEXT, write_nowhere, NULL, reterr);
	if (status == GALVO_OK)
		status = galvo_summary_write(summary, GALVO_REPORT_JSON, write_nowhere, NULL, reterr);
	galvo_summary_destroy(summary);
	galvo_run_close(run);
	return status;
}

static galvo_status check_once(galvo_error *reterr)
{
	galvo_check_result result;

	return galvo_run_check(life.dir, write_nowhere, NULL, &result, reterr);
}

static galvo_status repair_once(galvo_error *reterr)
{
	galvo_status status = galvo_run_repair(life.dir, in_base("copy"), NULL, reterr);
	long hits = fault_disarm();

	host_remove(in_base("copy"));
	atomic_store(&fault.count, hits);
	return status;
}

static galvo_status catalog_once(galvo_error *reterr)
{
	return galvo_catalog_write(write_nowhere, NULL, reterr);
}

static void reading(void)
{
	life.child = life_child();
	life_live(&life);
	life_end_child(life.child);
	EQ(life.status, GALVO_OK);
	OK(sweep("read", read_once) > 50);
	OK(sweep("check", check_once) > 20);
	OK(sweep("repair", repair_once) > 20);
	OK(sweep("catalog", catalog_once) > 1);
}

static const struct tap_test tests[] = {
	{"a life", a_life},
	{"each profiler", profilers},
	{"configurations", configurations},
	{"reading", reading},
};

int main(void)
{
	int failed = !mkdtemp(base) || tap_run(tests, ARRAY_LEN(tests));

	host_remove(base);
	return failed;
}
