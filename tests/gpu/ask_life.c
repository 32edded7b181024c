/* Questions of a session's life: overflow and recovery, a second one, two at once, sizes, subsets. */
#include <math.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe.h"

#define SET(names) names, ARRAY_LEN(names)

static const char *two[] = {"sm__cycles_active.avg", "sm__cycles_elapsed.avg"};

/* A hardware buffer of 1 MiB at 20 kHz is full within some ten ms. */
static const struct session_wish small_oldest = {50000, 1 << 20, CUPTI_KEEP_OLDEST, 4096,
                                                 CUPTI_TIME_INTERVAL};
static const struct session_wish small_latest = {50000, 1 << 20, CUPTI_KEEP_LATEST, 4096,
                                                 CUPTI_TIME_INTERVAL};
static const struct session_wish roomy_oldest = {50000, 64 << 20, CUPTI_KEEP_OLDEST, 4096,
                                                 CUPTI_TIME_INTERVAL};

/* Samples in `ms` from now. */
static size_t samples_in(struct sampling *s, unsigned ms, int *ret_rc, bool *ret_overflow)
{
	struct catch c;
	size_t n;

	catch_begin(&c, s);
	rest_ms(ms);
	*ret_rc = catch_drain(&c);
	*ret_overflow = c.overflows > 0;
	n = c.n;
	catch_free(&c);
	return n;
}

/* ---- overflow -------------------------------------------------------------------------------------- */

static void ask_oldest(void)
{
	bool overflow;
	uint64_t began;
	struct sampling s;
	size_t n;
	int rc;

	if (!open_session(&s, SET(standard), small_oldest))
		return;
	n = samples_in(&s, 400, &rc, &overflow);
	answer("after 400 ms at 20 kHz into 1 MiB decode gives %d, overflow %d, %zu samples", rc,
	       overflow, n);
	figure("rc", rc);
	figure("overflow", overflow);
	figure("samples", (double)n);
	n = samples_in(&s, 3, &rc, &overflow);
	answer("again: %d, %zu samples", rc, n);
	figure("again_rc", rc);
	session_do(&s, cupti.stop);
	rc = session_do(&s, cupti.start);
	n = samples_in(&s, 3, &rc, &overflow);
	answer("after Stop and Start: %d, %zu samples", rc, n);
	figure("restarted_rc", rc);
	figure("restarted_samples", (double)n);
	session_do(&s, cupti.stop);
	session_do(&s, cupti.disable);
	began = now_ns();
	rc = session_start(&s, 0, roomy_oldest);
	figure("recovery_ms", us_since(began) / 1e3);
	if (good_cupti("Enable to Start once more", rc)) {
		n = samples_in(&s, 3, &rc, &overflow);
		answer("after Disable and Enable, which took %.1f ms: %d, %zu samples",
		       us_since(began) / 1e3 - 3, rc, n);
		figure("recovered_samples", (double)n);
		session_do(&s, cupti.stop);
	}
	session_end(&s);
}

static void ask_latest(void)
{
	bool overflow, after;
	struct sampling s;
	size_t n, later;
	int rc, later_rc;

	if (!open_session(&s, SET(standard), small_latest))
		return;
	n = samples_in(&s, 400, &rc, &overflow);
	later = samples_in(&s, 3, &later_rc, &after);
	answer("after 400 ms at 20 kHz into 1 MiB: %d, overflow %d, %zu of 8000 samples; then %d, "
	       "overflow %d, %zu of 60",
	       rc, overflow, n, later_rc, after, later);
	answer("so a raw sample takes about %.0f bytes", n ? (double)(1 << 20) / (double)n : NAN);
	figure("rc", rc);
	figure("overflow", overflow);
	figure("samples", (double)n);
	figure("later_rc", later_rc);
	figure("later_overflow", after);
	figure("later_samples", (double)later);
	figure("raw_bytes", n ? (double)(1 << 20) / (double)n : NAN);
	session_do(&s, cupti.stop);
	session_end(&s);
}

static void ask_full(void)
{
	struct session_wish wish = usual_wish;
	struct cupti_decode d;
	struct sampling s;
	size_t first, second, third;
	int rc;

	wish.slots = 64;
	if (!open_session(&s, SET(standard), wish))
		return;
	rest_ms(200);
	rc = session_decode(&s, &d);
	first = session_completed(&s);
	answer("64 slots after 200 ms: %d, reason %u, %zu completed", rc, d.decodeStopReason,
	       first);
	figure("reason", d.decodeStopReason);
	session_decode(&s, &d);
	second = session_completed(&s);
	answer("into the same image: reason %u, %zu completed", d.decodeStopReason, second);
	session_image(&s);
	session_decode(&s, &d);
	third = session_completed(&s);
	answer("into a fresh one: reason %u, %zu completed", d.decodeStopReason, third);
	figure("completed", (double)first);
	figure("completed_again", (double)second);
	figure("completed_fresh", (double)third);
	session_do(&s, cupti.stop);
	session_end(&s);
}

/* ---- sessions after and beside each other ---------------------------------------------------------- */

static void ask_again(void)
{
	bool overflow;
	struct sampling s;
	size_t n;
	int turn, rc;

	for (turn = 0; turn < 3; turn++) {
		if (!open_session(&s, SET(two), usual_wish))
			return;
		n = samples_in(&s, 50, &rc, &overflow);
		rc = session_do(&s, cupti.stop);
		answer("session %d in this process: %zu samples in 50 ms, Stop %d", turn + 1, n,
		       rc);
		rc = session_end(&s);
		figure(turn == 0 ? "first" : turn == 1 ? "second" : "third", (double)n);
		if (rc)
			answer("Disable %d", rc);
	}
}

/* In the child: a session that is told by a byte, until it is killed. */
static void hold(int to)
{
	struct sampling s;
	char byte = 'x';
	int rc = 0;

	if (has_cupti()) {
		rc = session_host(&s, chip(), SET(two));
		rc = rc ? rc : session_start(&s, 0, usual_wish);
	}
	byte = (char)(rc ? '!' : 's');
	if (write(to, &byte, 1) == 1)
		pause();
	_exit(0);
}

static int try_session(size_t *ret_samples)
{
	bool overflow;
	struct sampling s;
	int rc = session_host(&s, chip(), SET(two));

	*ret_samples = 0;
	rc = rc ? rc : session_start(&s, 0, usual_wish);
	if (rc == CUPTI_OK) {
		*ret_samples = samples_in(&s, 50, &(int){0}, &overflow);
		session_do(&s, cupti.stop);
	}
	session_end(&s);
	return rc;
}

/* The child begins first, as nothing of CUDA survives a fork. */
static void ask_busy(void)
{
	int ends[2], rc, status;
	uint64_t killed;
	char byte = 0;
	size_t n;
	pid_t pid;

	if (pipe(ends) != 0)
		return;
	pid = fork();
	if (pid == 0)
		hold(ends[1]);
	close(ends[1]);
	if (pid < 0 || read(ends[0], &byte, 1) != 1 || byte != 's' || !has_cupti()) {
		answer("another process got no session");
	} else {
		rc = try_session(&n);
		answer("while another process samples: %d, %zu samples", rc, n);
		figure("second_rc", rc);
	}
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	close(ends[0]);
	if (!cupti.handle)
		return;
	for (killed = now_ns();;) {
		rc = try_session(&n);
		if ((rc == CUPTI_OK && n) || us_since(killed) > 5e6)
			break;
		rest_ms(50);
	}
	answer("%.0f ms after it was killed: %d, %zu samples", us_since(killed) / 1e3, rc, n);
	figure("after_kill_rc", rc);
	figure("after_kill_ms", us_since(killed) / 1e3);
}

static void ask_twice(void)
{
	struct cupti_enable again = {.deviceIndex = 0};
	struct sampling s;
	int rc;

	if (!open_session(&s, SET(two), usual_wish))
		return;
	rc = CUPTI_CALL(&cupti, enable, &again);
	answer("a second Enable of the same device gives %d", rc);
	figure("rc", rc);
	session_do(&s, cupti.stop);
	session_end(&s);
}

static void ask_context(void)
{
	unsigned flags = 0;
	int before = 0, during = 0, rc;
	bool overflow;
	struct sampling s;
	size_t n;

	if (!has_cupti() || !cuda.primary_get_state)
		return;
	cuda.primary_get_state(0, &flags, &before);
	if (!open_session(&s, SET(two), usual_wish))
		return;
	n = samples_in(&s, 50, &rc, &overflow);
	cuda.primary_get_state(0, &flags, &during);
	answer("%zu samples without a context of ours; primary context active before %d, during %d",
	       n, before, during);
	figure("samples", (double)n);
	figure("active_before", before);
	figure("active_during", during);
	session_do(&s, cupti.stop);
	session_end(&s);
}

/* ---- layouts and names ------------------------------------------------------------------------------ */

static void ask_struct_size(void)
{
	static const size_t sizes[] = {44, 45, 48};
	char name[32];
	struct cupti_decode d;
	struct sampling s;
	size_t i;
	int rc;

	if (!open_session(&s, SET(two), usual_wish))
		return;
	for (i = 0; i < ARRAY_LEN(sizes); i++) {
		d = (struct cupti_decode){.structSize = sizes[i],
		                          .pPmSamplingObject = s.object,
		                          .pCounterDataImage = s.image,
		                          .counterDataImageSize = s.image_bytes};
		rc = cupti.decode(&d);
		answer("DecodeData with structSize %zu gives %d", sizes[i], rc);
		snprintf(name, sizeof(name), "rc_%zu", sizes[i]);
		figure(name, rc);
	}
	figure("resized", cupti.resized);
	session_do(&s, cupti.stop);
	session_end(&s);
}

static void try_names(struct sampling *s, const char *what, const char **names, size_t n)
{
	double values[4] = {NAN, NAN, NAN, NAN};
	const char **all = s->names;
	size_t count = s->count;
	int rc;

	s->names = names;
	s->count = n;
	rc = session_evaluate(s, 1, values);
	s->names = all;
	s->count = count;
	answer("%s: %d, %.6g", what, rc, values[0]);
	figure(what, rc);
}

static void ask_subset(void)
{
	static const char *turned[] = {"sm__cycles_elapsed.avg", "sm__cycles_active.avg"};
	static const char *one[] = {"sm__cycles_elapsed.avg"};
	static const char *sum[] = {"sm__cycles_active.sum"};
	static const char *share[] = {"sm__cycles_active.avg.pct_of_peak_sustained_elapsed"};
	static const char *foreign[] = {"dram__bytes_read.sum"};
	struct cupti_decode d;
	struct sampling s;

	if (!open_session(&s, SET(two), usual_wish))
		return;
	rest_ms(50);
	if (good_cupti("DecodeData", session_decode(&s, &d)) && session_completed(&s) > 1) {
		try_names(&s, "the same names", SET(two));
		try_names(&s, "in another order", SET(turned));
		try_names(&s, "one of two", SET(one));
		try_names(&s, "another roll-up", SET(sum));
		try_names(&s, "its share of the peak", SET(share));
		try_names(&s, "a counter that is not configured", SET(foreign));
	}
	session_do(&s, cupti.stop);
	session_end(&s);
}

/* A copy of a fresh image instead of Initialize. */
static void ask_copy(void)
{
	struct cupti_decode d;
	uint8_t *pristine;
	uint64_t began;
	struct sampling s;
	double copy, fresh;
	size_t n;

	if (!open_session(&s, SET(standard), usual_wish))
		return;
	pristine = malloc(s.image_bytes);
	if (pristine) {
		memcpy(pristine, s.image, s.image_bytes);
		rest_ms(50);
		session_decode(&s, &d);
		began = now_ns();
		memcpy(s.image, pristine, s.image_bytes);
		copy = us_since(began);
		rest_ms(50);
		good_cupti("DecodeData into the copy", session_decode(&s, &d));
		n = session_completed(&s);
		began = now_ns();
		session_image(&s);
		fresh = us_since(began);
		answer("%zu samples into a copied image; copying %.0f us, initialising %.0f us", n,
		       copy, fresh);
		figure("samples", (double)n);
		figure("copy_us", copy);
		figure("initialize_us", fresh);
	}
	free(pristine);
	session_do(&s, cupti.stop);
	session_end(&s);
}

const struct question life_questions[] = {
	{"oldest", 20, "a small buffer, KEEP_OLDEST: what overflow looks like, and what cures it",
         ask_oldest},
	{"latest", 15, "a small buffer, KEEP_LATEST: what overflow looks like, bytes a raw sample",
         ask_latest},
	{"full", 15, "an image that is full", ask_full},
	{"again", 15, "several sessions after each other in one process", ask_again},
	{"busy", 25, "a session while another process has one, and after that was killed",
         ask_busy},
	{"twice", 10, "Enable twice in one process", ask_twice},
	{"context", 10, "does sampling need a context", ask_context},
	{"struct_size", 10, "which sizes of DecodeData's struct are taken", ask_struct_size},
	{"subset", 10, "evaluating other names than were configured", ask_subset},
	{"copy", 10, "a copied image instead of an initialised one", ask_copy},
	{NULL, 0, NULL, NULL},
};
