/*
 * The double of libcupti: chips and their metrics, from a list of GH100's, and how many passes they
 * take.
 */
#include "double_cupti.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of CUDA 13.0. */
const char *const chip_names[] = {"GV100", "GV11B", "TU102", "TU104", "TU106", "TU116",
                                  "TU117", "GA100", "GA102", "GA103", "GA104", "GA106",
                                  "GA107", "GA10B", "GH100", "AD102", "AD103", "AD104",
                                  "AD106", "AD107", "GB100", "GB102", "GB110", "GB10B",
                                  "GB20B", "GB202", "GB203", "GB205", "GB206", "GB207"};
const size_t chip_count = sizeof(chip_names) / sizeof(chip_names[0]);

/* What chips whose name begins so lack of GH100's metrics; the first row that fits. */
static const struct {
	const char *chips;
	size_t max_metrics;
	const char *lacks[4];
} families[] = {
	{"TU102", 176, {"sm__pipe_tensor_cycles_active"}},
	{"TU104", 176, {"sm__pipe_tensor_cycles_active"}},
	{"TU1", 176, {"sm__pipe_tensor_cycles_active", "nvlrx__", "nvltx__"}},
	{"GA100", 224, {NULL}},
	{"GA", 200, {NULL}},
	{"AD", 200, {"nvlrx__", "nvltx__"}},
	{"GB10", 260, {"pcie__read_bytes", "pcie__write_bytes"}},
	{"GB110", 260, {"pcie__read_bytes", "pcie__write_bytes"}},
	{"GB20", 224, {"nvlrx__", "nvltx__", "dram__bytes_"}},
	{"", 248, {NULL}},
};

enum { METRICS = 2048, FAMILIES = sizeof(families) / sizeof(families[0]) };

static struct metric metrics[METRICS];
static size_t metric_count;
/* What each family has, NULL behind the last. */
static const struct metric *of_family[FAMILIES][METRICS + 1];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static bool begins(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

static const char *per_second(const char *unit)
{
	char text[64];

	snprintf(text, sizeof(text), "%s/second", unit ? unit : "");
	return strdup(text);
}

static bool lacks(size_t family, const char *name)
{
	const char *const *lack = families[family].lacks;
	size_t i;

	for (i = 0; i < 4 && lack[i]; i++)
		if (begins(name, lack[i]))
			return true;
	return false;
}

static void share(size_t family)
{
	size_t i, n = 0;

	for (i = 0; i < metric_count; i++)
		if (!lacks(family, metrics[i].name))
			of_family[family][n++] = &metrics[i];
}

/* type, name, unit of hardware, unit of dimension, a tab between. */
static void load(void)
{
	FILE *f = fopen(SCENE_METRICS, "re");
	char *line = NULL, *rest, *word[4];
	size_t cap = 0, i;

	while (f && getline(&line, &cap, f) > 0 && metric_count < METRICS) {
		line[strcspn(line, "\n")] = '\0';
		rest = strdup(line);
		for (i = 0; i < 4; i++)
			word[i] = rest ? strsep(&rest, "\t") : NULL;
		if (!word[1])
			continue;
		metrics[metric_count].type = (uint32_t)(word[0][0] - '0');
		metrics[metric_count].name = word[1];
		metrics[metric_count].chars = strlen(word[1]);
		metrics[metric_count].hw_unit = word[2] ? word[2] : "";
		metrics[metric_count].dim_unit = word[3] ? word[3] : "";
		metrics[metric_count++].dim_unit_per_second = per_second(word[3]);
	}
	free(line);
	if (f)
		fclose(f);
	if (metric_count == 0) {
		fprintf(stderr, "the double of libcupti: no metrics in " SCENE_METRICS "\n");
		abort();
	}
	for (i = 0; i < FAMILIES; i++)
		share(i);
}

int chip_find(const char *name)
{
	size_t i;

	for (i = 0; i < chip_count; i++)
		if (strcmp(chip_names[i], name) == 0)
			return (int)i;
	return -1;
}

bool chip_can_sample(int chip)
{
	return chip != 0; /* GV100 cannot */
}

static size_t family(int chip)
{
	size_t i = 0;

	while (!begins(chip_names[chip], families[i].chips))
		i++;
	return i;
}

size_t chip_max_metrics(int chip)
{
	return families[family(chip)].max_metrics;
}

const struct metric *chip_metric_next(int chip, size_t *at)
{
	const struct metric *m;

	pthread_once(&once, load);
	m = of_family[family(chip)][*at];
	*at += m != NULL;
	return m;
}

size_t metric_suffixes(uint32_t type, const char *const **ret)
{
	static const char *const rest[] = {"",
	                                   ".peak_sustained",
	                                   ".peak_sustained_active",
	                                   ".peak_sustained_active.per_second",
	                                   ".peak_sustained_elapsed",
	                                   ".peak_sustained_elapsed.per_second",
	                                   ".per_cycle_active",
	                                   ".per_cycle_elapsed",
	                                   ".per_second",
	                                   ".pct_of_peak_sustained_active",
	                                   ".pct_of_peak_sustained_elapsed"};
	static const char *const rollups[] = {".avg", ".max", ".min", ".sum"};
	static const char *const ratios[] = {".max_rate", ".pct", ".ratio"};
	static char text[4 * 11][64];
	static const char *counters[4 * 11], *throughputs[4 * 2];
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	size_t i, j;

	pthread_mutex_lock(&lock);
	for (i = 0; i < 4 && !counters[43]; i++)
		for (j = 0; j < 11; j++) {
			snprintf(text[i * 11 + j], sizeof(text[0]), "%s%s", rollups[i], rest[j]);
			counters[i * 11 + j] = text[i * 11 + j];
			if (j >= 9)
				throughputs[i * 2 + j - 9] = text[i * 11 + j];
		}
	pthread_mutex_unlock(&lock);
	*ret = type == CUPTI_RATIO ? ratios : type == CUPTI_THROUGHPUT ? throughputs : counters;
	return type == CUPTI_RATIO ? 3 : type == CUPTI_THROUGHPUT ? 8 : 44;
}

/* How long the base name is: to the first dot behind the unit's "__". */
static size_t base_chars(const char *name)
{
	const char *unit = strstr(name, "__");

	return unit ? (size_t)(unit - name) + strcspn(unit, ".") : strlen(name);
}

const struct metric *chip_metric_named(int chip, const char *name, const char **ret_suffix)
{
	size_t n = base_chars(name), i, count;
	const struct metric *const *m;
	const char *const *suffixes;

	pthread_once(&once, load);
	for (m = of_family[family(chip)]; *m; m++)
		if ((*m)->chars == n && memcmp((*m)->name, name, n) == 0)
			break;
	if (!*m)
		return NULL;
	*ret_suffix = name + n;
	if (name[n] == '\0')
		return *m;
	count = metric_suffixes((*m)->type, &suffixes);
	for (i = 0; i < count; i++)
		if (strcmp(suffixes[i], name + n) == 0)
			return *m;
	return NULL;
}

/* Of one metric by itself. */
static size_t passes_alone(int chip, const char *name)
{
	if (begins(name, "sm__inst_executed_pipe_tensor."))
		return 2;
	if (begins(chip_names[chip], "TU") &&
	    (begins(name, "dram__read_t") || begins(name, "dram__write_t")))
		return 2;
	if (begins(name, "sm__throughput."))
		return 19;
	if (begins(name, "l1tex__throughput."))
		return 5;
	return begins(name, "lts__throughput.") ? 4 : 1;
}

/* Does it need the one place that the multiprocessors have left beside sm__warps_active? */
static bool needs_slot(const char *name)
{
	static const char *const greedy[] = {"sm__pipe_", "sm__inst_executed", "sm__issue_active",
	                                     "smsp__",    "l1tex__",           "sm__ctas_launched"};
	size_t i;

	if (strstr(name, "_realtime"))
		return false;
	for (i = 0; i < sizeof(greedy) / sizeof(greedy[0]); i++)
		if (begins(name, greedy[i]))
			return true;
	return false;
}

size_t chip_passes(int chip, const char *const *names, size_t n)
{
	size_t passes = 1, slots = 0, i, k, alone, chars;
	bool is_crowded = false;

	for (i = 0; i < n; i++)
		is_crowded = is_crowded || begins(names[i], "sm__warps_active.");
	for (i = 0; i < n; i++) {
		alone = passes_alone(chip, names[i]);
		passes = alone > passes ? alone : passes;
		if (!is_crowded || !needs_slot(names[i]))
			continue;
		chars = base_chars(names[i]);
		for (k = 0; k < i; k++)
			if (base_chars(names[k]) == chars && !strncmp(names[k], names[i], chars))
				break;
		slots += k == i;
	}
	return slots > passes ? slots : passes;
}
