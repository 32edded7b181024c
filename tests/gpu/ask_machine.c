/* Questions of the machine: versions, rights, every call of NVML, its fields, clocks. */
#include <fcntl.h>
#include <math.h>
#include <unistd.h>

#include "probe.h"

/* ---- versions and rights ---------------------------------------------------------------------------- */

static void ask_versions(void)
{
	char driver[NVML_VERSION_CHARS] = "", name[NVML_NAME_CHARS] = "";
	int n = 0;

	if (has_nvml() && nvml.driver_version(driver, sizeof(driver)) == NVML_OK) {
		answer("driver %s", driver);
		figure_text("driver", driver);
		figure_text("nvml", nvml.path);
	}
	if (has_cuda()) {
		cuda.device_get_count(&n);
		cuda.device_get_name(name, sizeof(name), 0);
		answer("%d of %s, CUDA %d", n, name, cuda.version);
		figure("devices", n);
		figure("cuda", cuda.version);
		figure_text("name", name);
		figure_text("libcuda", cuda.path);
	}
	if (has_cupti()) {
		answer("CUPTI %u of CUDA %u from %s, chip %s", cupti.version, cupti.cuda,
		       cupti.path, chip());
		figure("cupti", cupti.version);
		figure_text("libcupti", cupti.path);
		figure_text("chip", chip());
		figure("nvperf_beside_it", cupti.nvperf != NULL);
	}
}

/* The word behind `key` in a file, into `to`. */
static void find_setting(const char *path, const char *key, char *to, size_t cap)
{
	struct span all, line, word = span_of(NULL, 0);
	struct buf b;

	buf_init(&b, 1 << 20);
	if (file_read(AT_FDCWD, path, &b, &all, NULL) == GALVO_OK)
		while (span_take_line(&all, &line))
			if (span_take_word(&line, &word) && span_eq_str(word, key) &&
			    span_take_word(&line, &word))
				snprintf(to, cap, "%.*s", (int)word.n, word.p);
	buf_finish(&b);
}

static void ask_rights(void)
{
	struct cupti_device_supported d = {.cuDevice = 0, .api = CUPTI_API_PM};
	char only_root[32] = "not told", effective[32] = "not told";
	int rc;

	find_setting("/proc/driver/nvidia/params", "RmProfilingAdminOnly:", only_root,
	             sizeof(only_root));
	find_setting("/proc/self/status", "CapEff:", effective, sizeof(effective));
	answer("RmProfilingAdminOnly %s, user %u, capabilities %s", only_root, (unsigned)getuid(),
	       effective);
	figure_text("profiling_admin_only", only_root);
	figure("uid", getuid());
	if (!has_cupti())
		return;
	rc = cupti_device_supported(&cupti, &d);
	if (!good_cupti("DeviceSupported", rc))
		return;
	answer("supported %u (3: yes), architecture %u, vGPU %u, confidential %u, WSL %u",
	       d.isSupported, d.architecture, d.vGpu, d.confidentialCompute, d.wsl);
	figure("supported", d.isSupported);
}

static void ask_timestamp(void)
{
	uint64_t before, stamp, after;
	size_t inside = 0, i;

	if (!has_cupti())
		return;
	for (i = 0; i < 100000; i++) {
		before = wall_ns();
		if (cupti.get_timestamp(&stamp) != CUPTI_OK)
			break;
		after = wall_ns();
		inside += before <= stamp && stamp <= after;
	}
	answer("%zu of %zu timestamps of CUPTI lie between two of CLOCK_REALTIME", inside, i);
	figure("inside", (double)inside);
	figure("of", (double)i);
}

/* ---- NVML --------------------------------------------------------------------------------------------- */

/* Room for whatever a call writes; two of them are structs with a version, which it wants. */
struct room {
	union {
		unsigned long long wide[512];
		struct nvml_memory_v2 memory_v2;
		struct nvml_temperature temperature;
		struct nvml_processes_use use;
	} a;
	unsigned n;
	int type;
};

/* One row a call: its name in struct nvml, and how it is called. `d` is the device, `r` the room. */
#define EVERY(X)                                                                                   \
	X(name, (d, (char *)&r->a, NVML_NAME_CHARS))                                               \
	X(uuid, (d, (char *)&r->a, NVML_NAME_CHARS))                                               \
	X(pci_info, (d, (struct nvml_pci_info *)&r->a))                                            \
	X(minor_number, (d, &r->n))                                                                \
	X(compute_capability, (d, (int *)&r->a, &r->type))                                         \
	X(utilization, (d, (struct nvml_utilization *)&r->a))                                      \
	X(memory, (d, (struct nvml_memory *)&r->a))                                                \
	X(memory_v2, (d, &r->a.memory_v2))                                                         \
	X(power_usage, (d, &r->n))                                                                 \
	X(power_limit, (d, &r->n))                                                                 \
	X(energy, (d, r->a.wide))                                                                  \
	X(temperature, (d, NVML_SENSOR_GPU, &r->n))                                                \
	X(temperature_v, (d, &r->a.temperature))                                                   \
	X(clock, (d, NVML_SM, &r->n))                                                              \
	X(max_clock, (d, NVML_SM, &r->n))                                                          \
	X(clock_reasons, (d, r->a.wide))                                                           \
	X(performance_state, (d, &r->type))                                                        \
	X(fan_speed, (d, &r->n))                                                                   \
	X(pcie_throughput, (d, NVML_TX, &r->n))                                                    \
	X(pcie_generation, (d, &r->n))                                                             \
	X(pcie_width, (d, &r->n))                                                                  \
	X(max_pcie_generation, (d, &r->n))                                                         \
	X(max_pcie_width, (d, &r->n))                                                              \
	X(nvlink_state, (d, 0, &r->n))                                                             \
	X(compute_processes, (d, &r->n, (struct nvml_process *)&r->a))                             \
	X(graphics_processes, (d, &r->n, (struct nvml_process *)&r->a))                            \
	X(mps_processes, (d, &r->n, (struct nvml_process *)&r->a))                                 \
	X(process_utilization, (d, NULL, &r->n, 0))                                                \
	X(processes_use, (d, &r->a.use))                                                           \
	X(ecc_mode, (d, &r->n, (unsigned *)&r->type))                                              \
	X(ecc_errors, (d, NVML_CORRECTED, NVML_VOLATILE, r->a.wide))                               \
	X(mig_mode, (d, &r->n, (unsigned *)&r->type))                                              \
	X(max_mig_count, (d, &r->n))                                                               \
	X(persistence_mode, (d, &r->n))                                                            \
	X(encoder_utilization, (d, &r->n, (unsigned *)&r->type))                                   \
	X(decoder_utilization, (d, &r->n, (unsigned *)&r->type))                                   \
	X(samples, (d, NVML_SAMPLES_POWER, 0, &r->type, &r->n, NULL))

static void make_ready(struct room *r, const char *call)
{
	memset(r, 0, sizeof(*r));
	if (strcmp(call, "memory_v2") == 0)
		r->a.memory_v2.version = NVML_VERSION(nvml_memory_v2, 2);
	if (strcmp(call, "temperature_v") == 0)
		r->a.temperature.version = NVML_VERSION(nvml_temperature, 1);
	if (strcmp(call, "processes_use") == 0)
		r->a.use.version = NVML_VERSION(nvml_processes_use, 1);
	if (strstr(call, "processes") && strcmp(call, "processes_use") != 0)
		r->n = 32;
}

/* Called three times; the result, and the median of the times. */
static int call_one(void *d, const char *call, struct room *r, double *ret_us)
{
	struct list us = {NULL, 0, 0};
	uint64_t began;
	int i, rc = -1;

	for (i = 0; i < 3; i++) {
		make_ready(r, call);
		began = now_ns();
#define X(member, args)                                                                            \
	if (strcmp(call, #member) == 0)                                                            \
		rc = nvml.member ? nvml.member args : -1;
		EVERY(X)
#undef X
		list_add(&us, us_since(began));
	}
	*ret_us = list_at(&us, 0.5);
	list_free(&us);
	return rc;
}

static void ask_nvml(void)
{
	static const char *const calls[] = {
#define X(member, args) #member,
		EVERY(X)
#undef X
	};
	struct room r;
	size_t i, good = 0, slow = 0;
	void *device = nvml_device();
	char name[64];
	double us;
	int rc;

	for (i = 0; device && i < ARRAY_LEN(calls); i++) {
		rc = call_one(device, calls[i], &r, &us);
		snprintf(name, sizeof(name), "%s_rc", calls[i]);
		figure(name, rc);
		snprintf(name, sizeof(name), "%s_us", calls[i]);
		figure(name, us);
		good += rc == NVML_OK;
		slow += us > 1000;
		if (rc == -1)
			answer("%s is not there", calls[i]);
		else if (rc != NVML_OK)
			answer("%s %d", calls[i], rc);
		if (us > 1000)
			answer("%s takes %.1f ms", calls[i], us / 1e3);
	}
	answer("%zu of %zu calls work, %zu take more than 1 ms", good, ARRAY_LEN(calls), slow);
}

static double value_of(const struct nvml_field_value *f)
{
	switch (f->valueType) {
	case NVML_DOUBLE: return f->value.dVal;
	case NVML_UINT: return f->value.uiVal;
	case NVML_ULONG: return (double)f->value.ulVal;
	case NVML_ULLONG: return (double)f->value.ullVal;
	case NVML_LLONG: return (double)f->value.sllVal;
	case NVML_INT: return f->value.siVal;
	case NVML_USHORT: return f->value.usVal;
	default: return NAN;
	}
}

static void ask_fields(void)
{
	static const struct {
		uint32_t id, scope;
	} want[] = {{82, 0},
	            {83, 0},
	            {74, 0},
	            {76, 0},
	            {90, 0},
	            {91, 0},
	            {94, 0},
	            {138, NVML_ALL_LINKS},
	            {139, NVML_ALL_LINKS},
	            {138, 0},
	            {139, 0},
	            {140, 0},
	            {164, 0},
	            {185, 0},
	            {186, 0},
	            {185, 1},
	            {186, 1},
	            {186, 2},
	            {187, 0},
	            {188, 0},
	            {190, 0},
	            {197, 0},
	            {198, 0},
	            {202, 0},
	            {204, 0},
	            {269, 0},
	            {270, 0},
	            {271, 0}};
	struct nvml_field_value f;
	void *device = nvml_device();
	uint64_t began;
	char name[48];
	size_t i;
	int rc;

	if (!device || !nvml.field_values)
		return;
	for (i = 0; i < ARRAY_LEN(want); i++) {
		memset(&f, 0, sizeof(f));
		f.fieldId = want[i].id;
		f.scopeId = want[i].scope;
		began = now_ns();
		rc = nvml.field_values(device, 1, &f);
		rc = rc ? rc : f.nvmlReturn;
		if (want[i].scope == NVML_ALL_LINKS)
			snprintf(name, sizeof(name), "%u/all", want[i].id);
		else
			snprintf(name, sizeof(name), "%u/%u", want[i].id, want[i].scope);
		if (rc)
			answer("%s fails with %d", name, rc);
		else
			answer("%s is %.10g (%.0f us)", name, value_of(&f), us_since(began));
		figure(name, rc ? NAN : value_of(&f));
	}
}

/* The SM clock with nothing to do: does a session move it? */
static void ask_idle_clock(void)
{
	static const char *one[] = {"sm__cycles_active.avg"};
	double before, during, after;
	struct sampling s;

	before = sm_mhz();
	if (!open_session(&s, one, 1, usual_wish))
		return;
	rest_ms(1000);
	during = sm_mhz();
	session_do(&s, cupti.stop);
	session_end(&s);
	rest_ms(1500);
	after = sm_mhz();
	answer("SM clock without work: %.0f MHz before, %.0f in a session, %.0f after it", before,
	       during, after);
	figure("before_mhz", before);
	figure("during_mhz", during);
	figure("after_mhz", after);
}

const struct question machine_questions[] = {
	{"versions", 20, "which driver, libraries, chip", ask_versions},
	{"rights", 20, "who may sample here", ask_rights},
	{"timestamp", 15, "is CUPTI's clock CLOCK_REALTIME", ask_timestamp},
	{"nvml", 20, "every call of NVML: result and time", ask_nvml},
	{"fields", 15, "NVML's fields: which tell something", ask_fields},
	{"idle_clock", 15, "does a session move the clocks of an idle GPU", ask_idle_clock},
	{NULL, 0, NULL, NULL},
};
