/*
 * Inside the room: a GPU of NVIDIA's, and how its library is asked.
 *
 * Every call goes through NVML_ASK. What the library does not support is remembered and not asked
 * again; what failed otherwise is put off until the next look, and told once; a GPU that is gone is
 * asked nothing more.
 */
#ifndef GALVO_SOURCE_NVML_DEVICE_H
#define GALVO_SOURCE_NVML_DEVICE_H

#include "gpu_raw.h"

#include "nvidia/nvidia.h"

/* Questions that are answered, or not, for themselves: of NVML's calls, and of its fields. */
enum nvml_question {
	ASK_UTILIZATION,
	ASK_MEMORY_V2,
	ASK_MEMORY,
	ASK_POWER,
	ASK_POWER_LIMIT,
	ASK_ENERGY,
	ASK_TEMPERATURE_V,
	ASK_TEMPERATURE,
	ASK_CLOCK, /* of four kinds */
	ASK_CLOCK_LAST = ASK_CLOCK + NVML_VIDEO,
	ASK_MAX_CLOCK,
	ASK_MAX_CLOCK_LAST = ASK_MAX_CLOCK + NVML_VIDEO,
	ASK_REASONS,
	ASK_PERFORMANCE_STATE,
	ASK_ENCODER,
	ASK_DECODER,
	ASK_FIELDS,
	ASK_PCIE_RX,
	ASK_PCIE_TX,
	ASK_PCIE_GENERATION,
	ASK_PCIE_WIDTH,
	ASK_FAN,
	ASK_ECC_CORRECTED,
	ASK_ECC_UNCORRECTED,
	ASK_COMPUTE_PROCESSES,
	ASK_GRAPHICS_PROCESSES,
	ASK_MPS_PROCESSES,
	ASK_PROCESS_SAMPLES,
	ASK_PROCESS_USE,
	ASK_FACTS, /* names and numbers, each once */
	ASK_MIG_MODE,
	ASK_EVENTS,
	ASK_FIELD, /* of the rows of a table of fields */
	NVML_QUESTIONS = 64,
};

#define NVML_FIELDS_MAX (NVML_QUESTIONS - ASK_FIELD)

struct nvml_xids {
	uint64_t count, last; /* last: a code, where there is one */
};

#define NVML_GPUS_MAX 100 /* their numbers leave no room for more */

struct nvml_library {
	struct nvml nvml;
	pthread_mutex_t mutex; /* whoever finds it shut down begins it again, once */
	const struct world *world;
	char driver[64];
	bool is_wsl;       /* the driver is Windows', and tells no processes */
	bool foreign_pids;
	/* Jetson: what its library does not tell is in files; empty: it is none */
	char load_path[64], thermal_path[64];
	/* By number: what was counted of a GPU that was lost goes on. Each is its own thread's alone. */
	struct nvml_xids xids[NVML_GPUS_MAX];
};

/* The GPU, or an instance of it. */
struct nvml_part {
	void *handle;
	uint32_t index; /* as in gpu_info */
	uint32_t gpu_instance, compute_instance;
	uint64_t refused, put_off; /* questions */
	size_t processes_len;      /* in the last reading */
	bool has_processes;        /* that was possible */
};

struct nvml_user { /* a process, in one reading */
	uint32_t pid;
	bool has_memory, has_use;
	uint64_t memory_bytes;
	uint64_t last;         /* time of its last sample, µs */
	uint64_t area[4];      /* percent times µs: of the load, of memory, encoder, decoder */
	uint32_t permille[4];  /* the same as a mean */
};

struct gpu_device {
	struct nvml_library *library;
	struct gpu_info info;
	struct nvml_part parts[GPU_PARTS_MAX];
	size_t parts_len;
	bool is_named;        /* the facts that never change are known */
	bool is_cut;          /* MIG is on */
	bool is_cut_pending;  /* it will be, after the next reset */
	uint32_t links;       /* NVLinks, where their bytes are asked for one by one */
	int lost;             /* the result that said so; 0: it is there */
	galvo_error failure;  /* the first of this reading */
	uint64_t pcie_mono_ns, pcie_rx_bytes, pcie_tx_bytes; /* a second, which is measured seldom */
	/* processes */
	char *list;
	uint32_t list_cap;    /* entries of NVML_ENTRY_BYTES */
	size_t stride;        /* found to be another than declared; 0: no */
	struct nvml_process_sample *samples;
	uint32_t samples_cap;
	struct nvml_user *users;
	size_t users_len, users_cap;
	struct nvml_user *held; /* as of the last reading that had samples */
	size_t held_len, held_cap;
	uint64_t seen;        /* time of the newest sample of use, µs */
	void *events;         /* a set of this GPU's alone; NULL: there is none yet, or it cannot be had */
	struct buf text;      /* of files */
};

#define NVML_ENTRY_BYTES 32 /* the largest entry that a driver has put into a list of processes */

bool nvml_all_sleep(const struct world *);

/* True: it was answered. Else it is remembered what became of it. */
bool nvml_answered(struct gpu_device *d, struct nvml_part *p, unsigned question, size_t call,
                   int result);

static inline bool nvml_may_ask(const struct gpu_device *d, const struct nvml_part *p,
                                unsigned question)
{
	return !d->lost && !((p->refused | p->put_off) >> question & 1);
}

#define NVML_ASK(d, p, question, member, ...)                                                      \
	((d)->library->nvml.member && nvml_may_ask(d, p, question) &&                              \
	 nvml_answered(d, p, question, offsetof(struct nvml, member),                              \
	               (d)->library->nvml.member((p)->handle, __VA_ARGS__)))

/* One field of nvmlDeviceGetFieldValues, and where it goes. */
#define NVML_EACH_LINK (NVML_ALL_LINKS - 1) /* as a scope: the sum of all links that have a value */
struct nvml_field_row {
	uint32_t id, scope;
	uint8_t field;
	uint32_t scale;
};
/*
 * Asks for those of the rows that are not refused, in one call; row i is question ASK_FIELD + first + i.
 * Rows with the same field are added up, and it is put only if all of them have a value.
 */
void nvml_fields(struct gpu_device *d, struct nvml_part *p, const struct nvml_field_row *rows,
                 unsigned first, size_t n, struct raw *r);

/* The memory of a part; false: it does not tell. */
bool nvml_memory(struct gpu_device *d, struct nvml_part *p, struct nvml_memory_v2 *ret);

galvo_status nvml_read_fast(struct gpu_device *, size_t part, struct raw_sink *, galvo_error *reterr);
galvo_status nvml_read_link(struct gpu_device *, size_t part, struct raw_sink *, galvo_error *reterr);
galvo_status nvml_read_detail(struct gpu_device *, size_t part, struct raw_sink *,
                              galvo_error *reterr);
galvo_status nvml_read_processes(struct gpu_device *, size_t part, struct raw_sink *,
                                 galvo_error *reterr);
/* The process in this reading, new if need be; NULL: memory is out. */
struct nvml_user *nvml_user_of(struct gpu_device *d, uint32_t pid);
bool nvml_is_pid(uint32_t pid);
/* What each user used, as far as that is told; who is not there yet becomes one. */
void nvml_read_use(struct gpu_device *d);
/* Each begins with this and returns that. */
void nvml_reading_begin(struct gpu_device *);
galvo_status nvml_reading_end(const struct gpu_device *, galvo_error *reterr);

/* What has happened since the last time. */
void nvml_read_xids(struct gpu_device *, struct nvml_part *, struct raw *);
/* Of a GPU that is lost: the failure begins with the Xid that came with it, if one did. */
void nvml_blame_xid(struct gpu_device *);
/* What was not read of it counts nevertheless. */
void nvml_end_events(struct gpu_device *);

#define TEGRA_TEXT_MAX_BYTES 4096
/* Jetson: whether this is one, and what its files tell. */
void tegra_look(struct nvml_library *);
void tegra_read(struct gpu_device *, struct raw *);

#endif
