/* Whether NVIDIA's libraries work: telemetry, hardware counters. They are called, on a thread that may hang. */
#include <fcntl.h>

#include "gpu/gpu.h"
#include "probe/probe.h"
#include "situation.h"

#define PATIENCE_NS (15 * NS_PER_S)
#define SLOW_NS (250 * NS_PER_MS)

enum { PATH_BYTES = 128 };

struct nvidia_facts {
	struct world world;
	_Atomic uint32_t is_done; /* what is below is the thread's until then */
	galvo_error cuda_error, nvml_error, cupti_error, counters_error; /* status OK: it works */
	int cuda_version;
	uint32_t cupti_version; /* 13000: of CUDA 13.0 */
	char cupti_path[PATH_BYTES];
	uint64_t nvml_ns; /* that its start took */
	unsigned gpus, not_persistent, cut;
	unsigned first_cut;
	char note[FOUND_BYTES]; /* the first thing that counters have to say */
	bool is_busy;           /* no device that could be sampled now */
};

/* ---- on the thread -------------------------------------------------------------------------------- */

static void ask_gpu(const struct nvml *nvml, struct nvidia_facts *f, unsigned i)
{
	unsigned mode = 0, pending = 0;
	void *device;

	if (nvml->by_index(i, &device) != 0)
		return;
	if (nvml->persistence_mode && nvml->persistence_mode(device, &mode) == 0 && mode == 0)
		f->not_persistent++;
	mode = 0;
	if (nvml->mig_mode && nvml->mig_mode(device, &mode, &pending) == 0 && mode != 0 && f->cut++ == 0)
		f->first_cut = i;
}

static void ask_nvml(struct nvidia_facts *f, const struct nvidia_places *where)
{
	const uint64_t from_ns = clock_real.mono_ns(&clock_real);
	struct nvml nvml;
	unsigned i;
	int result;

	if (nvml_open(&nvml, where, &f->nvml_error) != GALVO_OK)
		return;
	f->nvml_ns = clock_real.mono_ns(&clock_real) - from_ns;
	result = nvml.count(&f->gpus);
	if (result != 0)
		nvml_failed(&f->nvml_error, "nvmlDeviceGetCount_v2", result);
	for (i = 0; result == 0 && i < f->gpus; i++)
		ask_gpu(&nvml, f, i);
	nvml_close(&nvml);
}

static void ask_cupti(struct nvidia_facts *f, const struct nvidia_places *where)
{
	struct cupti cupti;

	if (cupti_open(&cupti, where, f->cuda_version, &f->cupti_error) != GALVO_OK)
		return;
	f->cupti_version = cupti.cuda;
	utf8_copy(f->cupti_path, sizeof(f->cupti_path), span_str(cupti.path));
	cupti_close(&cupti);
}

/* All that a recording does short of sampling. */
static void try_counters(struct nvidia_facts *f, const struct env_places *places)
{
	const struct counters_config config = {
		.all = true, .cuda = &places->driver, .cupti = &places->cupti, .world = &f->world,
	};
	static const char later[] = "; it is tried again"; /* by a recording, and not by us */
	const char *subject, *text, *end;
	struct counters *counters;
	struct gpu_info info;
	size_t i, busy = 0;

	if (counters_create(&config, &counters, &f->counters_error) != GALVO_OK)
		return;
	for (i = 0; counters_note_at(counters, i, &subject, &text); i++) {
		end = strstr(text, later);
		busy += end && !end[strlen(later)];
		if (i == 0)
			snprintf(f->note, sizeof(f->note), "%s: %.*s", subject,
			         end ? (int)(end - text) : (int)strlen(text), text);
	}
	f->is_busy = busy > 0 && !counters_device_at(counters, busy, &info);
	counters_destroy(counters);
}

static void *ask_all(void *arg)
{
	struct nvidia_facts *f = arg;
	struct env_places places;
	struct cuda cuda;

	if (env_places_find(&places, NULL, &f->nvml_error) == GALVO_OK) {
		ask_nvml(f, &places.driver);
		if (cuda_open(&cuda, &places.driver, &f->cuda_error) == GALVO_OK) {
			f->cuda_version = cuda.version;
			cuda_close(&cuda);
			try_counters(f, &places); /* before, as a libcupti that is there seems the program's */
			ask_cupti(f, &places.cupti);
		}
		env_places_free(&places);
	}
	clock_wake(&f->is_done);
	return NULL;
}

/* ---- on ours -------------------------------------------------------------------------------------- */

static struct nvidia_facts *begin(void)
{
	struct nvidia_facts *f = alloc_array(1, sizeof(*f));
	pthread_t thread;

	if (!f || world_open(&f->world, NULL, NULL) != GALVO_OK) {
		free(f);
		return NULL;
	}
	if (thread_start(&thread, ask_all, f) != 0) {
		world_close(&f->world);
		free(f);
		return NULL;
	}
	clock_real.sleep_until(&clock_real, clock_real.mono_ns(&clock_real) + PATIENCE_NS, &f->is_done);
	if (atomic_load(&f->is_done))
		pthread_join(thread, NULL);
	else
		thread_leave(thread); /* and what it writes to is left behind */
	return f;
}

void situation_forget_nvidia(struct situation *s)
{
	struct nvidia_facts *f = s->nvidia;

	if (!f || !atomic_load(&f->is_done))
		return;
	world_close(&f->world);
	free(f);
}

/* Asked once. NULL: there is nothing to be asked, or they do not answer, and f says so. */
static const struct nvidia_facts *ask(struct situation *s, struct finding *f)
{
	static const struct nvidia_places usual;

	if (!s->nvidia && !situation_has_nvidia(s) && nvml_find(&usual, NULL) != GALVO_OK) {
		finding_is(f, GALVO_VERDICT_NOT_APPLICABLE, "no NVIDIA device");
		return NULL;
	}
	if (!s->nvidia)
		s->nvidia = begin();
	if (!s->nvidia) {
		finding_is(f, GALVO_VERDICT_UNKNOWN, "no thread or memory to ask with");
		return NULL;
	}
	if (atomic_load(&s->nvidia->is_done))
		return s->nvidia;
	finding_is(f, GALVO_VERDICT_NO, "the driver has not answered within 15 s");
	finding_means(f, "recordings are without what it does not tell");
	finding_cure(f, "sudo dmesg | grep -i nvrm");
	return NULL;
}

void look_nvidia_libraries(struct situation *s, struct finding *f)
{
	const struct nvidia_facts *n = ask(s, f);

	if (!n)
		return;
	if (n->cuda_error.status || n->cupti_error.status) {
		finding_is(f, n->nvml_error.status && n->cuda_error.status ? GALVO_VERDICT_NO : GALVO_VERDICT_PARTLY,
		           "%s", n->cuda_error.status ? n->cuda_error.text : n->cupti_error.text);
		finding_means(f, "hardware counters of GPUs cannot be had");
		finding_cure(f, n->cuda_error.status
		                        ? "nvidia-smi  # tells whether the driver is whole"
		                        : "export GALVO_CUPTI_LIB=/usr/local/cuda/extras/CUPTI/lib64/libcupti.so  "
		                          "# of a CUDA toolkit, or pip install nvidia-cuda-cupti");
		return;
	}
	finding_is(f, GALVO_VERDICT_YES, "driver for CUDA %d.%d, libcupti of CUDA %u.%u: %s",
	           n->cuda_version / 1000, n->cuda_version % 1000 / 10, n->cupti_version / 1000,
	           n->cupti_version % 1000 / 10, n->cupti_path);
}

void look_nvidia_telemetry(struct situation *s, struct finding *f)
{
	const struct nvidia_facts *n = ask(s, f);

	if (!n)
		return;
	if (n->nvml_error.status) {
		finding_is(f, GALVO_VERDICT_NO, "%s", n->nvml_error.text);
		finding_means(f, "load, memory, power and processes of GPUs are not recorded");
		finding_cure(f, "nvidia-smi  # tells the same; a driver that was updated needs a reboot");
		return;
	}
	if (n->gpus == 0) {
		finding_is(f, GALVO_VERDICT_NO, "NVML works, and tells of no GPU");
		finding_means(f, "nothing of GPUs is recorded");
		return;
	}
	finding_is(f, GALVO_VERDICT_YES, "NVML tells of %u GPU%s", n->gpus, n->gpus == 1 ? "" : "s");
}

/* NULL: there is none that NVML tells of, or nothing is asked here, and the finding says so. */
static const struct nvidia_facts *ask_of_gpus(struct situation *s, struct finding *f)
{
	const struct nvidia_facts *n = ask(s, f);

	if (!n || (!n->nvml_error.status && n->gpus))
		return n;
	finding_is(f, GALVO_VERDICT_NOT_APPLICABLE, "NVML tells of no GPU");
	return NULL;
}

void look_nvidia_persistence(struct situation *s, struct finding *f)
{
	const struct nvidia_facts *n = ask_of_gpus(s, f);

	if (!n)
		return;
	if (n->not_persistent == 0) {
		finding_is(f, GALVO_VERDICT_YES, "persistence mode is on");
		return;
	}
	finding_is(f, n->not_persistent == n->gpus ? GALVO_VERDICT_NO : GALVO_VERDICT_PARTLY,
	           "persistence mode is off on %u of %u; NVML took %llu ms to start", n->not_persistent,
	           n->gpus, (unsigned long long)(n->nvml_ns / NS_PER_MS));
	finding_means(f, "a GPU that nobody uses is started anew: what it tells comes late%s",
	              n->nvml_ns > SLOW_NS ? ", as here" : "");
	finding_cure(f, "sudo nvidia-smi -pm 1");
}

void look_nvidia_mig(struct situation *s, struct finding *f)
{
	const struct nvidia_facts *n = ask_of_gpus(s, f);

	if (!n)
		return;
	if (n->cut == 0) {
		finding_is(f, GALVO_VERDICT_YES, "no GPU is cut into instances");
		return;
	}
	finding_is(f, n->cut == n->gpus ? GALVO_VERDICT_NO : GALVO_VERDICT_PARTLY,
	           "MIG is on: %u of %u GPUs, the first is GPU %u", n->cut, n->gpus, n->first_cut);
	finding_means(f, "there are no hardware counters of it, and its instances tell less than a whole GPU");
	finding_cure(f, "sudo nvidia-smi -i %u -mig 0  # nobody may be using it", n->first_cut);
}

void look_nvidia_sampling(struct situation *s, struct finding *f)
{
	const struct nvidia_facts *n = ask(s, f);

	if (!n)
		return;
	if (n->cuda_error.status || n->cupti_error.status) {
		finding_is(f, GALVO_VERDICT_NOT_APPLICABLE, "the libraries for it are not there");
		return;
	}
	if (n->counters_error.status) {
		finding_is(f, GALVO_VERDICT_NO, "%s", n->counters_error.text);
		finding_means(f, "hardware counters of GPUs are not recorded; load, memory and power are");
		if (n->counters_error.status == GALVO_ERR_DENIED)
			finding_cure(f, "sudo galvo record --gpu-counters …  # or what nvidia-counters says");
		return;
	}
	if (n->note[0]) {
		finding_is(f, n->is_busy ? GALVO_VERDICT_NO : GALVO_VERDICT_PARTLY, "%s", n->note);
		finding_means(f, n->is_busy ? "hardware counters of GPUs are not recorded while that lasts; load, "
		                              "memory and power are"
		                            : "the other hardware counters are recorded");
		return;
	}
	finding_is(f, GALVO_VERDICT_YES, "the default counters can be sampled");
}
