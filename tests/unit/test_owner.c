/* Whose a recording is: of one process, in one directory, wherever the program has gone meanwhile. */
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "galvo/galvo.h"
#include "scratch.h"
#include "tap.h"

static char base[] = "/tmp/galvo-owner-XXXXXX";

static const char *in_base(const char *name)
{
	return scratch_path(base, name);
}

static galvo_suite *a_suite(const char *dir, galvo_status want)
{
	galvo_suite_config config = galvo_suite_config_default();
	galvo_suite *suite = NULL;
	galvo_error e = {0};

	config.output_dir = dir;
	config.overwrite = 1;
	if (!EQ(galvo_suite_create(&config, &suite, &e), want))
		printf("# %s\n", e.text);
	return suite;
}

/* A child after fork: it can do no harm, and holds nothing when the parent is done. */
static void in_a_child(void)
{
	galvo_suite *suite = a_suite(in_base("forked"), GALVO_OK);
	galvo_suite *created = a_suite(in_base("created"), GALVO_OK);
	pid_t child;
	int status = -1;

	OK(galvo_suite_start(suite, NULL) == GALVO_OK);
	child = fork();
	if (child == 0) {
		bool refused = galvo_suite_stop(suite, NULL) == GALVO_ERR_STATE &&
		               galvo_suite_add_process(suite, 0, NULL, NULL) == GALVO_ERR_STATE &&
		               galvo_suite_start(created, NULL) == GALVO_ERR_STATE;

		galvo_suite_destroy(suite);
		galvo_suite_destroy(created);
		_exit(!refused);
	}
	waitpid(child, &status, 0);
	EQ(status, 0);
	child = a_child();
	OK(galvo_suite_stop(suite, NULL) == GALVO_OK);
	galvo_suite_destroy(suite);
	galvo_suite_destroy(a_suite(in_base("forked"), GALVO_OK)); /* no lock is left in the child */
	OK(galvo_suite_start(created, NULL) == GALVO_OK); /* its directory is still there */
	galvo_suite_destroy(created);
	let_go(child);
}

/* Whoever records has the directory for itself: a suite, or profilers alone. */
static void one_directory(void)
{
	galvo_system_config config = galvo_system_config_default();
	galvo_event_config events = galvo_event_config_default();
	galvo_suite *suite = a_suite(in_base("shared"), GALVO_OK);
	galvo_profiler *alone, *other;

	config.output_file = in_base("shared/system_metrics.pb");
	EQ(galvo_system_profiler_create(&config, &alone, NULL), GALVO_ERR_DENIED);
	OK(galvo_suite_start(suite, NULL) == GALVO_OK && galvo_suite_stop(suite, NULL) == GALVO_OK);
	galvo_suite_destroy(suite);
	events.output_file = in_base("shared/other.pb");
	OK(galvo_system_profiler_create(&config, &alone, NULL) == GALVO_OK);
	OK(galvo_event_profiler_create(&events, &other, NULL) == GALVO_OK);
	a_suite(in_base("shared"), GALVO_ERR_DENIED);
	galvo_profiler_destroy(alone);
	galvo_profiler_destroy(other);
}

/* What galvo made it removes, not what has its name elsewhere. */
static void gone_elsewhere(void)
{
	char before[256];
	galvo_suite *suite;

	OK(getcwd(before, sizeof(before)) && chdir(base) == 0);
	suite = a_suite("relative", GALVO_OK);
	OK(mkdir("elsewhere", 0777) == 0 && mkdir("elsewhere/relative", 0777) == 0);
	OK(chdir("elsewhere") == 0);
	galvo_suite_destroy(suite);
	OK(rmdir("relative") == 0 && chdir("..") == 0);
	OK(rmdir("elsewhere") == 0 && rmdir("relative") == 0 && chdir(before) == 0);
}

/* Profilers by themselves share a directory, not a file: not even one that is there no more. */
static void one_file(void)
{
	galvo_system_config config = galvo_system_config_default();
	galvo_event_config events = galvo_event_config_default();
	galvo_profiler *first, *second, *third;
	galvo_error e = {0};
	pid_t child;

	events.output_file = config.output_file = in_base("alone.pb");
	OK(galvo_system_profiler_create(&config, &first, NULL) == GALVO_OK);
	OK(galvo_event_profiler_create(&events, &second, NULL) == GALVO_OK);
	OK(galvo_profiler_start(first, NULL) == GALVO_OK);
	EQ(galvo_profiler_start(second, &e), GALVO_ERR_DENIED);
	OK(strstr(e.text, "/alone.pb: another profiler is writing it"));
	EQ(galvo_system_profiler_create(&config, &third, &e), GALVO_ERR_DENIED);
	OK(strstr(e.text, "/alone.pb: another profiler is writing it"));
	galvo_profiler_destroy(second);
	OK(access(in_base("alone.pb"), F_OK) == 0);
	child = a_child();
	OK(galvo_profiler_stop(first, NULL) == GALVO_OK);
	OK(galvo_event_profiler_create(&events, &second, NULL) == GALVO_OK);
	OK(galvo_profiler_start(second, NULL) == GALVO_OK); /* the child holds no lock */
	galvo_profiler_destroy(second);
	galvo_profiler_destroy(first);
	let_go(child);
	OK(unlink(in_base("alone.pb")) == 0);
}

static void file_names(void)
{
	galvo_suite_config config = galvo_suite_config_default();
	galvo_suite *suite;

	config.output_dir = in_base("names");
	config.events_file = "session_metadata.pb.tmp"; /* that is where the metadata is made */
	EQ(galvo_suite_create(&config, &suite, NULL), GALVO_ERR_INVALID);
	config.events_file = NULL;
	config.system_file = "events.pb";
	EQ(galvo_suite_create(&config, &suite, NULL), GALVO_ERR_INVALID);
	config.no_events = 1; /* then nobody else wants that name */
	OK(galvo_suite_create(&config, &suite, NULL) == GALVO_OK);
	galvo_suite_destroy(suite);
	EQ(galvo_suite_create(NULL, &suite, NULL), GALVO_ERR_INVALID);
}

static void remove_all(const char *dir)
{
	static const char *const names[] = {
		"session_metadata.pb", "system_metrics.pb", "disk_metrics.pb", "events.pb", "forked",
		"created", "shared",
	};
	char path[192];
	size_t i;

	for (i = 0; i < ARRAY_LEN(names); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		if (unlink(path) != 0 && access(path, F_OK) == 0)
			remove_all(path);
	}
	OK(rmdir(dir) == 0);
}

static const struct tap_test tests[] = {
	{"in a child", in_a_child},
	{"one directory", one_directory},
	{"one file", one_file},
	{"gone elsewhere", gone_elsewhere},
	{"file names", file_names},
};

int main(void)
{
	int failed = !mkdtemp(base) || tap_run(tests, ARRAY_LEN(tests));

	remove_all(base);
	return failed || tap_failures;
}
