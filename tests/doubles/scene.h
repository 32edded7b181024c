/*
 * The scene that the doubles of NVIDIA's libraries play: a struct in a file that the test and the
 * doubles map.
 *
 * The test makes it (scene_new, or scene_read from text), names the file in the environment
 * (GALVO_SCENE) and may change it while the doubles play: move the clock, let a GPU fall off the
 * bus, release a call that hangs. The doubles read it in every call, and write into it what was
 * called and what was done wrong.
 *
 * "Scene time" is ns since the scene began; faults and curves are in it.
 */
#ifndef GALVO_SCENE_H
#define GALVO_SCENE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCENE_VARIABLE "GALVO_SCENE"
#define SCENE_MAGIC UINT64_C(0x31656e6563736e67)
#define SCENE_ALL_DEVICES (-1)

enum {
	SCENE_DEVICES = 8,
	SCENE_MIG = 7,
	SCENE_STEPS = 8,
	SCENE_PROCESSES = 16,
	SCENE_SAMPLES = 128,
	SCENE_FAULTS = 32,
	SCENE_XIDS = 16,
	SCENE_VIOLATIONS = 32,
	SCENE_COUNTS = 192,
};

/* ---- telemetry as functions of time ---------------------------------------------------------- */

#define SCENE_CURVES(X)                                                                            \
	X(gpu_pct) X(memory_pct) X(memory_used) X(memory_reserved) X(power_mw) X(power_average_mw) \
	X(power_limit_mw) X(energy_mj) X(temperature_c) X(memory_temperature_c) X(graphics_mhz)    \
	X(sm_mhz) X(memory_mhz) X(video_mhz) X(clock_reasons) X(performance_state) X(fan_pct)      \
	X(pcie_tx_kb_per_s) X(pcie_rx_kb_per_s) X(pcie_tx_bytes) X(pcie_rx_bytes) X(pcie_replays)  \
	X(nvlink_tx_kib) X(nvlink_rx_kib) X(encoder_pct) X(decoder_pct) X(ecc_corrected)           \
	X(ecc_uncorrected) X(slowed_power_ns) X(slowed_thermal_ns) X(slowed_brake_ns)              \
	X(slowed_sync_ns) X(sm_busy_permille)

enum scene_curve_id {
#define X(name) CURVE_##name,
	SCENE_CURVES(X)
#undef X
	SCENE_CURVE_COUNT,
};

enum scene_shape {
	SHAPE_CONSTANT, /* a */
	SHAPE_LINE,     /* a + b a second */
	SHAPE_SQUARE,   /* a in even periods, a + b in odd ones */
	SHAPE_NOISE,    /* a + b times a fraction that seed, device, curve and period give */
	SHAPE_STEPS,    /* values[i] from at_ns[i] on */
};

struct scene_curve {
	int32_t shape;
	int32_t result; /* what NVML answers instead of a value, if not 0 */
	uint64_t a;
	double b;
	uint64_t period_ns;
	uint32_t steps;
	uint64_t at_ns[SCENE_STEPS], values[SCENE_STEPS];
};

/* ---- devices --------------------------------------------------------------------------------- */

enum scene_process_kind { PROCESS_COMPUTE, PROCESS_GRAPHICS, PROCESS_MPS };

struct scene_process {
	uint32_t pid, kind;
	uint64_t memory_bytes; /* UINT64_MAX: not available */
	uint32_t gpu_instance, compute_instance;
	uint64_t from_ns, until_ns; /* 0: from the beginning, to the end */
};

struct scene_use { /* of nvmlDeviceGetProcessUtilization */
	uint32_t pid, sm, memory, encoder, decoder;
	uint64_t timestamp; /* microseconds; as it is, garbage too */
};

struct scene_mig {
	uint32_t there;
	uint32_t gpu_instance, compute_instance;
	uint64_t memory_bytes, used_bytes;
	char uuid[64];
};

struct scene_device {
	char name[64], chip[16], uuid[64], pci_bus_id[32];
	int32_t cuda_ordinal; /* as CUDA counts them; -1: hidden from CUDA */
	uint32_t minor_number, cc_major, cc_minor, sm_count, link_count;
	uint64_t memory_bytes;
	_Atomic uint64_t lost_at_ns; /* scene time; off the bus from then on; UINT64_MAX: never */
	int32_t mig_result;          /* of nvmlDeviceGetMigMode */
	uint32_t mig_current, mig_pending, max_mig_count;
	struct scene_mig migs[SCENE_MIG];
	uint32_t process_stride;     /* bytes from one process to the next: 24, 32 */
	uint32_t process_count, use_count;
	struct scene_process processes[SCENE_PROCESSES];
	uint32_t use_raw;            /* tells that many rows, whatever was seen last */
	struct scene_use uses[SCENE_SAMPLES];
	struct scene_curve curves[SCENE_CURVE_COUNT];
	int32_t support;             /* isSupported of cuptiProfilerDeviceSupported: 3 */
	uint32_t nvlink5;            /* bytes of links are fields 202 and 204, each link by itself */
	uint32_t events;             /* that it supports, as bits */
	uint32_t uses_time_trigger;  /* 0: TU10x and GA100, cycles only */
};

/* ---- faults ---------------------------------------------------------------------------------- */

enum scene_fault_kind {
	FAULT_RESULT,       /* the call does nothing and gives `result` */
	FAULT_HANG,         /* it blocks until scene.released is set, then gives `result` */
	FAULT_SLOW,         /* it takes `value` ns longer, of real time */
	/* Those that follow are of PM sampling; `call` is not looked at. */
	FAULT_OVERFLOW,     /* a decode tells overflow and has lost the `value` oldest samples */
	FAULT_STUCK,        /* as KEEP_OLDEST overflowed: 8 until it is enabled anew */
	FAULT_NO_SAMPLES,   /* a decode finds nothing */
	FAULT_STOP_OTHER,   /* a decode says OTHER, not END_OF_RECORDS */
	FAULT_ZERO_STAMPS,  /* both times of every `value`th sample are 0 */
	FAULT_NAN,          /* values of metrics whose name begins with `call` */
	FAULT_UNFINISHED,   /* the `value` newest samples are populated, not completed */
	FAULT_STALL,        /* a sample covers what `value` of them do */
	SCENE_FAULT_KINDS,
};

struct scene_fault {
	char call[64]; /* the function; with a '*' at the end, all that begin so */
	int32_t device, kind, result;
	uint64_t value;
	uint64_t from_ns, until_ns; /* scene time; until 0: to the end */
	uint32_t skip, times;       /* the first calls go well, then this many do not; 0: all */
	_Atomic uint32_t seen;
};

struct scene_xid {
	uint64_t at_ns;     /* scene time */
	uint32_t code;
	int32_t device;
	uint32_t times;     /* so many at once */
	uint32_t is_astray; /* sets of other devices are told of it, too */
};

struct scene_count {
	char call[64];
	_Atomic uint32_t calls;
};

/* ---- the scene ------------------------------------------------------------------------------- */

struct scene {
	uint64_t magic, bytes;
	uint64_t seed;
	char driver_version[32]; /* "580.65.06" */
	int32_t cuda_version;    /* 13000 */
	uint32_t cupti_version;  /* 130001 */
	uint32_t layout_version; /* sizes of structs are of that one; 0: of cupti_version */
	char real_cupti[256];    /* its host half is used, if not "" */
	uint32_t init_result;    /* of nvmlInit_v2 */
	uint32_t aborts;         /* where the real one crashes: abort, not only a violation */
	uint32_t sample_bytes;   /* of a raw sample in the hardware buffer */
	uint32_t slot_bytes;     /* of a sample in an image */
	uint64_t stretch_ns;     /* the first sample after Start began that much too early */
	uint32_t tail;           /* samples without length after Stop */
	uint32_t is_light;       /* PM sampling for measurements: cheap values, no books, no checks */
	uint64_t gpu_delay_ns;   /* from recording an event into an idle stream until the GPU gets there */
	int32_t gpu_ppm;         /* how much faster than ours its clock runs, in millionths */
	uint64_t gpu_set_at_ns, gpu_set_by_ns; /* scene time when its clock is set, and by how much */
	uint32_t device_count;
	struct scene_device devices[SCENE_DEVICES];
	uint32_t fault_count;
	struct scene_fault faults[SCENE_FAULTS];
	uint32_t xid_count;
	struct scene_xid xids[SCENE_XIDS];

	/* Time. begin is on CLOCK_MONOTONIC, or on the fake clock. */
	uint32_t is_fake;
	uint64_t begin_mono_ns;
	uint64_t wall_offset_ns; /* CLOCK_REALTIME less CLOCK_MONOTONIC when the scene was made */
	_Atomic uint64_t fake_mono_ns;
	_Atomic int64_t wall_step_ns; /* added to CLOCK_REALTIME, or to the fake clock */
	_Atomic uint32_t released;

	/* What the doubles tell. */
	_Atomic uint32_t hanging; /* calls that block now */
	_Atomic uint32_t violation_count;
	char violations[SCENE_VIOLATIONS][160];
	struct scene_count counts[SCENE_COUNTS];
};

/* The file is made or overwritten, and mapped; a scene with no device. NULL if that fails. */
struct scene *scene_new(const char *path);
struct scene *scene_map(const char *path); /* one that is there */
void scene_unmap(struct scene *s);
/* Adds a GPU of that chip that does what such a GPU does; NULL if there are too many. */
struct scene_device *scene_add(struct scene *s, const char *chip);
/* All of it zero but what makes it apply to every device; NULL if there are too many. */
struct scene_fault *scene_fault(struct scene *s, int kind, const char *call, int result);
/* One, then, on that device; NULL if there are too many. */
struct scene_xid *scene_xid(struct scene *s, uint32_t device, uint64_t at_ns, uint32_t code);
uint32_t scene_calls(const struct scene *s, const char *call); /* how often it was called */

uint64_t scene_mono_ns(const struct scene *s);
uint64_t scene_now_ns(const struct scene *s);  /* scene time */
uint64_t scene_wall_ns(const struct scene *s); /* what cuptiGetTimestamp tells */
/* What has to be added to scene time for that clock: what times of the GPU are converted with. */
uint64_t scene_wall_begin_ns(const struct scene *s);
uint64_t scene_curve_at(const struct scene *s, uint32_t device, int curve, uint64_t now_ns);
/* What an undistorted sample that began at `start_ns`, scene time, has for a metric. */
double scene_metric(const struct scene *s, uint32_t device, const char *metric, uint64_t start_ns,
                    uint64_t length_ns);

/* ---- for the doubles ------------------------------------------------------------------------- */

#define EXPORT(name, args)                                                                         \
	__attribute__((visibility("default"))) int name args;                                      \
	int name args

struct scene *scene_of_process(void); /* that the environment names; aborts if none */
__attribute__((format(printf, 1, 2))) void scene_violation(const char *fmt, ...);
/* As that, and aborts if the scene wants it. */
__attribute__((format(printf, 1, 2))) void scene_crash(const char *fmt, ...);
/* Counts the call, waits if it hangs or is slow; a result to give at once, or 0. */
int scene_enter(const char *call, int device);
/* A fault of that kind that applies now, or NULL. */
const struct scene_fault *scene_applies(int kind, int device);
bool scene_is_lost(uint32_t device);
int scene_by_ordinal(long long ordinal); /* the device that CUDA counts so, or -1 */

#endif
