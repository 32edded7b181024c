/* The tables of bench/tick: what was measured, and what it is worth against the targets. */
#include <math.h>

#include "tick.h"

static const char *const way_names[WAYS] = {
	"null", "floor sys", "floor full", "system", "full", "reference", "ref+threads",
};

void print_head(void)
{
	size_t way;

	printf("CPU of one tick in us, medians of interleaved rounds\n%-8s %5s %7s", "", "procs",
	       "threads");
	for (way = 0; way < WAYS; way++)
		printf(" %11s", way_names[way]);
	printf("  missed by null, full\n");
}

void print_result(const struct result *r)
{
	char pace[16] = "hot";
	size_t way;

	if (r->hz)
		snprintf(pace, sizeof(pace), "%u Hz", r->hz);
	printf("%-8s %5zu %7zu", pace, r->of->processes, r->of->threads);
	for (way = 0; way < WAYS; way++)
		if (isnan(r->us[way]))
			printf(" %11s", "-");
		else
			printf(" %11.1f", r->us[way]);
	if (r->hz)
		printf("  %llu %llu", (unsigned long long)r->missed[NOTHING],
		       (unsigned long long)r->missed[FULL]);
	printf("\n");
	fflush(stdout);
}

static void judge(const struct result *r, const char *what, double value, double target)
{
	if (!isnan(value))
		printf("%5zu x %-3zu %-58s %7.3f  <= %5.3f  %s\n", r->of->processes, r->of->threads, what,
		       value, target, value <= target ? "pass" : "miss");
}

static void judge_hot(const struct result *r)
{
	judge(r, "hot system tick / floor", r->us[SYSTEM] / r->us[FLOOR_SYSTEM], 1.30);
	judge(r, "hot full tick / floor", r->us[FULL] / r->us[FLOOR_FULL], 1.25);
	judge(r, "hot full tick / reference", r->us[FULL] / r->us[REFERENCE], 0.05);
	judge(r, "hot full tick / reference with threads", r->us[FULL] / r->us[THREADS], 0.05);
}

static void judge_paced(const struct result *r)
{
	const double above = r->us[FULL] - r->us[NOTHING];

	if (r->hz == 100) {
		judge(r, "100 Hz above the null wake, full / reference",
		      above / (r->us[REFERENCE] - r->us[NOTHING]), 0.125);
		judge(r, "100 Hz above the null wake, full / reference with threads",
		      above / (r->us[THREADS] - r->us[NOTHING]), 0.125);
	} else if (r->hz == 1000 && r->of->processes <= 4) {
		judge(r, "1 kHz, full / null wake", r->us[FULL] / r->us[NOTHING], 4);
		judge(r, "1 kHz, ticks missed beyond those of the null wake",
		      (double)r->missed[FULL] - (double)r->missed[NOTHING], 0);
	}
}

void print_scans(const struct scan *scans, size_t len)
{
	size_t i;

	printf("\nlooking for descendants once, us of CPU; every 100 ms by default\n"
	       "procs threads  nothing forked  something forked\n");
	for (i = 0; i < len; i++)
		printf("%5zu %7zu %15.1f %17.1f\n", scans[i].of->processes, scans[i].of->threads,
		       scans[i].us.idle, scans[i].us.forked);
}

void print_verdicts(const struct result *results, size_t len)
{
	size_t i;

	printf("\nratios against their targets, processes x threads of each\n");
	for (i = 0; i < len; i++)
		if (results[i].hz == 0)
			judge_hot(&results[i]);
	for (i = 0; i < len; i++)
		if (results[i].hz)
			judge_paced(&results[i]);
}

