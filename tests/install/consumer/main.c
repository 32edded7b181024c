/* Somebody's program, in C or C++: calls a little of each header of the library that was installed. */
#include <galvo/config.h>
#include <galvo/event.h>
#include <galvo/metrics.h>
#include <galvo/profiler.h>
#include <galvo/suite.h>
#include <stdio.h>
#include <string.h>

static const char text[] = "system { enabled: true processes { pid: 0 alias: \"me\" } } follow: TREE mode: SIDECAR";

static int fail(const char *what, const galvo_error *error)
{
	fprintf(stderr, "%s: %s\n", what, error->text);
	return 1;
}

static int use_metrics(void)
{
	galvo_error error;
	galvo_metric metric;

	memset(&metric, 0, sizeof(metric));
	metric.struct_size = sizeof(metric);
	if (galvo_metric_at(0, &metric, &error) != GALVO_OK)
		return fail("metric", &error);
	printf("galvo %s, first metric %s\n", galvo_version(), metric.name);
	return 0;
}

/* A suite as a text asks for it, with a sidecar, which is found; it is not started, and leaves nothing. */
static int use_config(void)
{
	galvo_config *config = NULL;
	galvo_suite *suite = NULL;
	galvo_suite_config chosen;
	galvo_error error;

	if (galvo_config_parse(text, strlen(text), 1, NULL, &config, &error) != GALVO_OK)
		return fail("config", &error);
	chosen = *galvo_config_suite(config);
	chosen.output_dir = "consumer-run";
	if (galvo_config_follow(config) != GALVO_FOLLOW_TREE || chosen.processes_len != 1 ||
	    galvo_suite_create(&chosen, &suite, &error) != GALVO_OK)
		return fail("suite", &error);
	galvo_config_destroy(config);
	if (!galvo_suite_system_profiler(suite) || galvo_suite_disk_profiler(suite))
		return 1;
	galvo_suite_destroy(suite);
	return 0;
}

static int use_profiler(void)
{
	galvo_event_config config = galvo_event_config_default();
	galvo_profiler *profiler = NULL;
	galvo_tracker *host;
	galvo_error error;
	uint64_t region;

	config.output_file = "consumer-events.pb";
	if (galvo_event_profiler_create(&config, &profiler, &error) != GALVO_OK ||
	    galvo_profiler_start(profiler, &error) != GALVO_OK)
		return fail("profiler", &error);
	host = galvo_profiler_host_tracker(profiler);
	region = galvo_region_begin(host, "all", 3);
	galvo_mark(host, "here", 4);
	galvo_region_end(host, region);
	if (!region || galvo_tracker_domain(host) != GALVO_DOMAIN_HOST)
		return 1;
	if (galvo_profiler_stop(profiler, &error) != GALVO_OK)
		return fail("profiler", &error);
	galvo_profiler_destroy(profiler);
	return remove(config.output_file);
}

int main(void)
{
	return use_metrics() || use_config() || use_profiler();
}
