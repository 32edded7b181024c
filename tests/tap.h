/* The harness: a table of functions, OK(claim), TAP on stdout, a non-zero exit when one failed. */
#ifndef GALVO_TAP_H
#define GALVO_TAP_H

#include <stdio.h>

static int tap_failures; /* claims that did not hold in the test that runs */

#define OK(claim) tap_claim(!!(claim), #claim, __FILE__, __LINE__)
/* Compares integers and shows both. */
#define EQ(got, want) tap_equal((long long)(got), (long long)(want), #got, __FILE__, __LINE__)

static inline int tap_claim(int holds, const char *text, const char *file, int line)
{
	if (!holds) {
		printf("# %s:%d: does not hold: %s\n", file, line, text);
		tap_failures++;
	}
	return holds;
}

static inline int tap_equal(long long got, long long want, const char *text, const char *file, int line)
{
	if (got == want)
		return 1;
	printf("# %s:%d: %s is %lld, not %lld\n", file, line, text, got, want);
	tap_failures++;
	return 0;
}

struct tap_test {
	const char *name;
	void (*run)(void);
};

static inline int tap_run(const struct tap_test *tests, size_t n)
{
	size_t i, failed = 0;

	printf("1..%zu\n", n);
	fflush(stdout); /* children of tests have nothing to print again */
	for (i = 0; i < n; i++) {
		tap_failures = 0;
		tests[i].run();
		printf("%sok %zu - %s\n", tap_failures ? "not " : "", i + 1, tests[i].name);
		fflush(stdout);
		failed += tap_failures != 0;
	}
	printf("%zu passed, %zu failed\n", n - failed, failed);
	return failed != 0;
}

#define TAP_MAIN(tests)                                                                            \
	int main(void)                                                                             \
	{                                                                                          \
		return tap_run(tests, sizeof(tests) / sizeof((tests)[0]));                         \
	}

#endif
