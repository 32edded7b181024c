/* Questions of a session that runs: passes, samples, times, sizes, rates. */
#include <math.h>
#include <sys/resource.h>
#include <unistd.h>

#include "probe.h"

#define SET(names) names, ARRAY_LEN(names)

/* All that may fit beside the default set; docs/nvidia.md has the default one. */
static const char *rich[] = {
	"gr__cycles_active.avg",
	"gr__cycles_elapsed.avg",
	"sm__cycles_active.avg",
	"sm__cycles_active.max",
	"sm__cycles_elapsed.avg",
	"sm__warps_active.avg",
	"sm__warps_active.max",
	"sm__pipe_tensor_cycles_active.avg",
	"dram__read_throughput.avg.pct_of_peak_sustained_elapsed",
	"dram__read_throughput.max.pct_of_peak_sustained_elapsed",
	"dram__write_throughput.avg.pct_of_peak_sustained_elapsed",
	"dram__write_throughput.max.pct_of_peak_sustained_elapsed",
	"pcie__read_bytes.sum",
	"pcie__write_bytes.sum",
	"nvlrx__bytes.sum",
	"nvltx__bytes.sum",
	"gpc__cycles_elapsed.avg.per_second",
	"sys__cycles_elapsed.avg.per_second",
	"dram__cycles_elapsed.avg.per_second",
	"dram__bytes_read.sum",
	"dram__bytes_write.sum",
	"gr__compute_cycles_active.avg",
	"gr__dispatch_count.sum",
	"lts__t_sectors.sum",
	"lts__t_bytes.sum",
	"pcie__throughput.avg.pct_of_peak_sustained_elapsed",
	"gpu__time_duration.sum",
	"TPC.TriageCompute.sm__inst_executed_realtime.sum",
	"TPC.TriageCompute.sm__pipe_tensor_op_hmma_cycles_active_realtime.avg",
	"TPC.TriageCompute.sm__pipe_fp64_cycles_active_realtime.avg",
	"LTS.TriageCompute.lts__average_t_sector_hit_rate_realtime.pct",
};

/* ---- passes --------------------------------------------------------------------------------------- */

static uint8_t *availability(size_t *ret_bytes)
{
	struct cupti_availability a = {.deviceIndex = 0};
	uint8_t *image;

	if (!good_cupti("GetCounterAvailability for its size",
	                CUPTI_CALL(&cupti, availability, &a)))
		return NULL;
	*ret_bytes = a.counterAvailabilityImageSize;
	image = calloc(1, *ret_bytes + 1);
	a.pCounterAvailabilityImage = image;
	if (good_cupti("GetCounterAvailability", CUPTI_CALL(&cupti, availability, &a)))
		return image;
	free(image);
	return NULL;
}

/* Passes of the default set, and what it tells in 0.3 s. */
static void ask_passes_with(const uint8_t *available, const char *what)
{
	char name[64];
	struct sampling s;
	struct catch c;
	int rc = session_host_with(&s, chip(), SET(standard), available);

	snprintf(name, sizeof(name), "passes_%s", what);
	figure(name, rc ? NAN : (double)s.passes);
	answer("%s an availability image: %d, %zu pass(es)", what, rc, s.passes);
	if (rc == CUPTI_OK && good_cupti("Enable to Start", session_start(&s, 0, usual_wish))) {
		catch_begin(&c, &s);
		rest_ms(300);
		catch_drain(&c);
		answer("NVLink receives %.6g bytes a sample, sends %.6g",
		       catch_mean(&c, "nvlrx__bytes.sum"), catch_mean(&c, "nvltx__bytes.sum"));
		snprintf(name, sizeof(name), "nvlrx_%s", what);
		figure(name, catch_mean(&c, "nvlrx__bytes.sum"));
		snprintf(name, sizeof(name), "pcie_read_%s", what);
		figure(name, catch_mean(&c, "pcie__read_bytes.sum"));
		session_do(&s, cupti.stop);
		catch_free(&c);
	}
	session_end(&s);
}

static void ask_passes(void)
{
	size_t bytes = 0;
	uint8_t *image;

	if (!has_cupti())
		return;
	image = availability(&bytes);
	figure("image_bytes", (double)bytes);
	ask_passes_with(NULL, "without");
	if (image)
		ask_passes_with(image, "with");
	free(image);
}

/* ---- one session at 1 kHz ------------------------------------------------------------------------ */

static void tell_lengths(const struct catch *c)
{
	struct list length = {NULL, 0, 0};
	size_t i, gaps = 0, zero = 0, empty = 0;

	for (i = 1; i < c->n; i++) {
		zero += c->begin[i] == 0 || c->end[i] == 0;
		empty += c->end[i] <= c->begin[i];
		gaps += c->end[i - 1] && c->begin[i] != c->end[i - 1];
		if (c->end[i] > c->begin[i])
			list_add(&length, (double)(c->end[i] - c->begin[i]) / 1e3);
	}
	if (c->n == 0)
		return;
	answer("samples of %.1f us (%.1f to %.1f), %zu not contiguous, %zu without times, %zu "
	       "without length",
	       list_at(&length, 0.5), list_at(&length, 0), list_at(&length, 1), gaps, zero, empty);
	answer("the first covers %.1f ms", (double)(c->end[0] - c->begin[0]) / 1e6);
	figure("sample_us", list_at(&length, 0.5));
	figure("sample_us_p99", list_at(&length, 0.99));
	figure("sample_us_max", list_at(&length, 1));
	figure("gaps", (double)gaps);
	figure("no_times", (double)zero);
	figure("no_length", (double)empty);
	figure("first_ms", (double)(c->end[0] - c->begin[0]) / 1e6);
	list_free(&length);
}

static void tell_costs(struct catch *c)
{
	double n = c->n ? (double)c->n : NAN;

	figure("samples", (double)c->n);
	figure("decodes", (double)c->decodes);
	figure("stop_end", (double)c->ended);
	figure("stop_other", (double)c->other);
	figure("stop_full", (double)c->full);
	figure("overflows", (double)c->overflows);
	figure("failed", (double)c->failed);
	figure("first_failure", c->first_failure);
	figure("decode_us_a_sample", c->decode_us / n);
	figure("decode_us_empty", list_at(&c->empty_us, 0.5));
	figure("info_us_a_sample", c->info_us / n);
	figure("evaluate_us_a_sample", c->evaluate_us / (double)c->evaluated);
	figure("image_initialize_us", c->fresh_us / (double)(c->decodes ? c->decodes : 1));
	figure("age_us_min", list_at(&c->age_us, 0));
	figure("age_us_median", list_at(&c->age_us, 0.5));
	figure("age_us_max", list_at(&c->age_us, 1));
}

/* What comes after Stop: a rest, and samples without length. */
static void tell_tail(struct catch *c)
{
	size_t i, before = c->n, empty = 0;

	session_do(c->of, cupti.stop);
	catch_drain(c);
	for (i = before; i < c->n; i++)
		empty += c->end[i] <= c->begin[i];
	answer("%zu samples after Stop, %zu of them without length", c->n - before, empty);
	figure("after_stop", (double)(c->n - before));
	figure("after_stop_empty", (double)empty);
}

static void ask_spacing(void)
{
	struct sampling s;
	struct catch c;
	uint64_t began;
	int i;

	if (!open_session(&s, SET(standard), usual_wish))
		return;
	catch_begin(&c, &s);
	for (began = now_ns(), i = 0; i < 20; i++) {
		rest_ms(100);
		catch_drain(&c);
	}
	answer("%zu samples in %.2f s at 1 kHz", c.n, us_since(began) / 1e6);
	tell_lengths(&c);
	answer("decode ended with END_OF_RECORDS %zu, OTHER %zu, FULL %zu, an error %zu times",
	       c.ended, c.other, c.full, c.failed);
	answer("newest sample is %.0f us old by CLOCK_REALTIME (%.0f to %.0f)",
	       list_at(&c.age_us, 0.5), list_at(&c.age_us, 0), list_at(&c.age_us, 1));
	tell_costs(&c);
	figure("slot_bytes", (double)s.image_bytes / usual_wish.slots);
	figure("config_bytes", (double)s.config_bytes);
	figure("metrics", (double)s.count);
	answer("%.0f bytes a slot of the image for %zu metrics",
	       (double)s.image_bytes / usual_wish.slots, s.count);
	tell_tail(&c);
	catch_free(&c);
	session_end(&s);
}

/* ---- rates and sizes ------------------------------------------------------------------------------ */

static double cpu_us(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e6 +
	       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static void at_rate(double hz, unsigned ms, const char *what)
{
	struct session_wish wish = {(uint64_t)(1e9 / hz), 512 << 20, CUPTI_KEEP_LATEST, 4096,
	                            CUPTI_TIME_INTERVAL};
	uint64_t began;
	char name[64];
	double cpu, share, took_us = 0;
	struct sampling s;
	struct catch c;

	if (!open_session(&s, SET(standard), wish))
		return;
	catch_begin(&c, &s);
	c.stride = hz > 1e4 ? 50 : 1;
	cpu = cpu_us();
	/* What has come until a drain begins is there afterwards, however long that takes. */
	for (began = now_ns(); took_us < ms * 1e3;) {
		rest_ms(20);
		took_us = us_since(began);
		catch_drain(&c);
	}
	share = (double)c.n / (took_us / 1e6 * hz);
	cpu = (cpu_us() - cpu) / us_since(began);
	answer("%s: %.1f %% of the samples, %zu overflows, %zu too long, CPU %.0f %%", what,
	       100 * share, c.overflows, catch_long(&c, 1e9 / hz), 100 * cpu);
	snprintf(name, sizeof(name), "share_at_%s", what);
	figure(name, share);
	snprintf(name, sizeof(name), "overflows_at_%s", what);
	figure(name, (double)c.overflows);
	snprintf(name, sizeof(name), "cpu_at_%s", what);
	figure(name, cpu);
	snprintf(name, sizeof(name), "decode_us_at_%s", what);
	figure(name, c.n ? c.decode_us / (double)c.n : NAN);
	snprintf(name, sizeof(name), "evaluate_us_at_%s", what);
	figure(name, c.evaluated ? c.evaluate_us / (double)c.evaluated : NAN);
	session_do(&s, cupti.stop);
	catch_free(&c);
	session_end(&s);
}

static void ask_fast(void)
{
	at_rate(10e3, 1500, "10kHz");
	at_rate(50e3, 500, "50kHz");
	at_rate(200e3, 300, "200kHz");
}

static void ask_rich(void)
{
	struct sampling s;
	struct catch c;
	size_t i, k, absent = 0, asked = ARRAY_LEN(rich);

	if (!open_session(&s, SET(rich), usual_wish))
		return;
	catch_begin(&c, &s);
	rest_ms(500);
	catch_drain(&c);
	for (i = 0; i < c.n; i++)
		for (k = 0; k < s.count; k++)
			absent += isfinite(c.values[i * s.count + k]) ? 0 : 1;
	answer("%zu of %zu metrics in one pass, %zu samples, %zu values not finite", s.count,
	       ARRAY_LEN(rich), c.n, absent);
	if (s.count < ARRAY_LEN(rich))
		answer("the first that was left out is %s", rich[s.count]);
	figure("fitting", (double)s.count);
	figure("asked", (double)asked);
	figure("slot_bytes", (double)s.image_bytes / usual_wish.slots);
	tell_costs(&c);
	for (k = 0; k < s.count; k++)
		figure(s.names[k], catch_mean(&c, s.names[k]));
	session_do(&s, cupti.stop);
	catch_free(&c);
	session_end(&s);
}

static void ask_memory(void)
{
	struct sampling s;
	struct rusage before, loaded, running;

	getrusage(RUSAGE_SELF, &before);
	if (!has_cupti())
		return;
	getrusage(RUSAGE_SELF, &loaded);
	if (!open_session(&s, SET(standard), usual_wish))
		return;
	getrusage(RUSAGE_SELF, &running);
	answer("largest resident set: %.0f MiB before, %.0f with CUPTI begun, %.0f in a session",
	       (double)before.ru_maxrss / 1024, (double)loaded.ru_maxrss / 1024,
	       (double)running.ru_maxrss / 1024);
	figure("before_mib", (double)before.ru_maxrss / 1024);
	figure("loaded_mib", (double)loaded.ru_maxrss / 1024);
	figure("session_mib", (double)running.ru_maxrss / 1024);
	session_do(&s, cupti.stop);
	session_end(&s);
}

const struct question session_questions[] = {
	{"passes", 20,
         "is the default set one pass, with and without an availability image; does "
         "NVLink tell values",
         ask_passes},
	{"spacing", 15,
         "1 kHz for 2 s: spacing, the first sample, reasons to stop, clock, sizes, cost",
         ask_spacing},
	{"fast", 20, "10, 50 and 200 kHz: what is lost, what it costs", ask_fast},
	{"rich", 15, "how many of a rich set fit in one pass, and are there values", ask_rich},
	{"memory", 10, "what CUPTI takes of the recorder's memory", ask_memory},
	{NULL, 0, NULL, NULL},
};
