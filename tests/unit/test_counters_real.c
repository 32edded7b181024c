/* Sampled counters with the host side of a real libcupti: its metrics and passes, samples of the double. */
#include "nvidia_real.h"

#include "counters_rig.h"

static void record(const char *chip, const char *set, size_t columns_at_least)
{
	const char *metrics[] = {set};
	struct take t;
	galvo_run *run;

	take_stage(chip, 1);
	snprintf(scene->real_cupti, sizeof(scene->real_cupti), "%s", real_path);
	take_init(&t);
	t.config.metrics = metrics;
	t.config.metrics_len = 1;
	if (!take_begin(&t))
		return;
	take_pass(100, 1);
	run = take_end(&t);
	OK(rows_of(run)->columns_len >= columns_at_least);
	OK(rows_of(run)->rows_len > 0);
	EQ(rows_wrong(run), 0);
	EQ(decode_of(run, 0)->not_finite, 0);
	OK(decode_of(run, 0)->sample_bytes > 1000);
	VIOLATIONS(0);
	take_remove(&t, run);
}

static void sets_of_chips(void)
{
	record("GH100", "default", 17);
	record("GH100", "rich", 40);
	record("GA100", "default", 17);
	record("AD102", "default", 15);
	record("GB100", "default", 16);
	record("TU102", "default", 13);
}

static void real_sets(void)
{
	if (real_path[0])
		apart(sets_of_chips);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{"sets of a real library are counted and recorded", real_sets},
	};

	find_real();
	return tap_run(tests, ARRAY_LEN(tests));
}
