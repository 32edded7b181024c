/*
 * What a run's columns say, as plain numbers: pure functions of the run, no I/O, no clock.
 *
 * A number that is not known is NaN, a text NULL; nothing unknown is ever 0. Names carry units:
 * _pct_of_core is percent of one CPU, plain _pct percent of all there is. A figure called after a
 * rate holds the average and the peak of that rate, and as total its integral (bytes, seconds).
 *
 * A row's rate covers the time since the row before it. Averages are weighted with that time. The
 * peak of a rate is its highest mean over PEAK_WINDOW_NS, or over one row where rows are further
 * apart; the peak of a level (bytes of memory) is its highest value.
 */
#ifndef GALVO_DERIVE_H
#define GALVO_DERIVE_H

#include <math.h>

#include "galvo/summary.h"
#include "model/model.h"
#include "panels.h"

#define PEAK_WINDOW_NS (100 * NS_PER_MS)

/* Absent plus something is something. */
static inline void add_known(double *sum, double v)
{
	if (!isnan(v))
		*sum = isnan(*sum) ? v : *sum + v;
}

struct figure {
	double avg, peak;
	double total; /* of a rate only */
};

enum workload_state {
	WORKLOAD_NONE,    /* attached to processes that ran already, or the machine alone */
	WORKLOAD_UNKNOWN, /* the recording has no end */
	WORKLOAD_RUNNING, /* when the recording ended */
	WORKLOAD_EXITED,
	WORKLOAD_KILLED,
};

/* Figures of the command that was started: its own account, as the kernel gave it at its end. */
struct summary_workload {
	enum workload_state state;
	const char *const *argv;
	size_t argv_len;
	uint32_t pid;
	int32_t exit_code, term_signal;
	double wall_s, user_s, system_s, max_rss_bytes;
	double minor_faults, major_faults, voluntary_switches, involuntary_switches;
	double pct_of_core; /* (user + system) / wall */
};

struct summary_shares { /* of the time of one core, or of all */
	struct figure busy_pct, user_pct, kernel_pct, iowait_pct, steal_pct;
};

struct summary_core {
	uint32_t cpu;
	bool present; /* has rows: CPU numbers may have holes */
	struct summary_shares time;
};

struct summary_cpu {
	struct summary_shares time;
	struct figure followed_pct_of_core; /* over the followed processes; total: the sum of theirs */
	double unseen_s; /* that is known to have been used, and is in no process's own; NAN: not known */
	struct summary_core *cores;         /* by CPU number */
	size_t cores_len;
	const struct summary_core *busiest, *idlest; /* by average; NULL without cores */
	double imbalance_ratio;                      /* (busiest - mean) / mean of the averages */
	struct figure switches_per_s, forks_per_s, running, blocked;
};

struct summary_memory {
	struct figure followed_rss_bytes, followed_pss_bytes, followed_swap_bytes;
	struct figure capacity_bytes, used_bytes, available_bytes, buffers_bytes, cached_bytes;
	struct figure dirty_bytes, swap_capacity_bytes, swap_used_bytes;
};

/* Percent of the time in which some, or all, tasks waited for it. */
struct summary_pressure {
	struct figure cpu_some_pct, cpu_full_pct, memory_some_pct, memory_full_pct, io_some_pct;
	struct figure io_full_pct;
};

struct summary_disk {
	const char *name;
	bool whole, stacked;
	bool counted; /* in the total: not stacked, and no partition of a disk that is there too */
	struct figure read_bytes_per_s, write_bytes_per_s, moved_bytes_per_s; /* moved: both ways */
	struct figure read_requests_per_s, write_requests_per_s;
	struct figure busy_pct, queue_count, read_inflight, write_inflight;
};

struct summary_interface {
	const char *name;
	bool counted; /* in the total: not the loopback */
	struct figure rx_bytes_per_s, tx_bytes_per_s, moved_bytes_per_s;
	struct figure rx_packets_per_s, tx_packets_per_s;
	struct figure rx_drops_per_s, tx_drops_per_s, rx_errors_per_s, tx_errors_per_s;
	double drops_count, errors_count; /* both ways */
};

/*
 * What a process used of one kind: seconds of CPU, else bytes. Parts are NaN where the recorder did
 * not tell them; then its own is what its rows come to, which for bytes has those of its children.
 */
struct summary_use {
	double own; /* head + sampled + tail */
	double head, sampled, tail, unseen, mixed; /* as in struct usage */
};

/*
 * The same over all processes, beside the workload's own account. What is in two places of it is
 * said: own is sampled and between, the others are apart.
 */
struct summary_balance {
	double account_all; /* as wait4(2) had it of the workload, at its end */
	double own, sampled, between; /* between: heads and tails */
	double unseen, mixed;
	double rest;     /* account less own, unseen and mixed: below 0, nobody waited for some of it */
	double rest_pct; /* of the account */
	double whole;    /* all that is known to have been used */
	uint64_t silent; /* processes whose parts are not known */
};

/* How it ended. */
enum life {
	LIFE_UNKNOWN, /* the recording has no end */
	LIFE_RUNNING, /* when the recording ended */
	LIFE_EXITED,
	LIFE_KILLED,
	LIFE_GONE,    /* its end was seen, its status was not */
	LIFE_LEFT,    /* it was no longer followed */
};

/* As wait4(2) has it, of a process and the children it waited for. NaN: not known. */
struct summary_rusage {
	double user_s, system_s, max_rss_bytes, minor_faults, major_faults, read_bytes, write_bytes;
	double voluntary_switches, involuntary_switches;
};

/* In the order of the tree: each after its parent, siblings by age, roots before strays. */
struct summary_process {
	const struct process_info *info;
	enum life life;
	int32_t exit_code, term_signal; /* of LIFE_EXITED and LIFE_KILLED */
	bool failed;                    /* ended otherwise than by exit 0 */
	bool has_rusage;
	struct summary_rusage rusage;
	struct summary_use use[USAGE_END]; /* by usage_kind */
	size_t parent;  /* index; SIZE_MAX: none that is followed */
	uint32_t depth;
	bool adopted;   /* its parent is not followed: put below the only root */
	double seen_s, lifetime_s; /* first sight since the start of recording; while followed */
	struct figure cpu_pct_of_core;                      /* total: seconds */
	struct figure user_pct_of_core, kernel_pct_of_core; /* total: seconds */
	struct figure rss_bytes, vms_bytes, shared_bytes, pss_bytes, swap_bytes, threads;
	struct figure minor_faults_per_s, major_faults_per_s;
	struct figure read_bytes_per_s, write_bytes_per_s; /* storage */
	struct figure cancelled_write_bytes_per_s;
	struct figure rchar_bytes_per_s, wchar_bytes_per_s; /* read(2), write(2) and kin */
	double other_threads_s; /* CPU time in no thread's row; NAN: threads were not recorded */
};

/* Of one process together, the busiest first. */
struct summary_thread {
	const struct thread_info *info;
	size_t process; /* index; SIZE_MAX: none that is known */
	double seen_s, lifetime_s; /* as of a process */
	struct figure cpu_pct_of_core;  /* total: seconds */
	struct figure run_delay_pct;    /* of its time it waited for a CPU; total: seconds */
	struct figure timeslices_per_s;
};

/* All processes whose last name is the same. */
struct summary_group {
	const char *comm;
	uint64_t count, failed; /* failed: of them */
	double first_s;         /* when the first was seen, since the start of recording */
	double own[USAGE_END];  /* sums, by usage_kind */
	double cpu_pct;         /* of all that is known to have been used */
	double rss_peak_bytes;  /* of their sum */
	double rss_largest_bytes; /* of any one */
};

#define GPU_IDLE_PCT 5  /* below it a GPU is idle */
#define GPU_BUSY_PCT 60 /* from there on it is busy */

enum gpu_state { /* by its mean utilization */
	GPU_UNKNOWN,     /* nobody tells it: of one that is cut into instances, say */
	GPU_UNAVAILABLE, /* nothing of it could be read */
	GPU_IDLE,
	GPU_ACTIVE,
	GPU_BUSY,
};

enum gpu_throttle { /* why its clocks are lower than they could be */
	THROTTLE_IDLE,      /* this one and the next one are no loss */
	THROTTLE_APP_CLOCKS,
	THROTTLE_SW_POWER_CAP,
	THROTTLE_HW_SLOWDOWN,
	THROTTLE_SYNC_BOOST,
	THROTTLE_SW_THERMAL,
	THROTTLE_HW_THERMAL,
	THROTTLE_HW_POWER_BRAKE,
	THROTTLES,
};

/* What a counter that only grows did, from its first reading to its last. */
struct growth {
	double amount;   /* NaN: there are no two readings */
	double over_s;   /* in the time between them */
	uint64_t resets; /* times it fell: what it did in the meantime is in neither of the two */
};

/*
 * Energy of a GPU, by its counter and by its power over time. The integral does not bridge gaps
 * between readings that are longer than some seconds, the counter does.
 */
struct summary_energy {
	struct growth counter;      /* joules */
	double integral_joules, integral_s;
	double gaps_s;              /* not bridged */
	double compared_s;          /* that both cover */
	double difference_pct;      /* how much more the integral has in it than the counter */
};

/* What its hardware counters say: shares are of all the time that samples cover. */
struct summary_counters {
	bool asked;                 /* somebody tried */
	uint64_t samples;
	double covered_s, covered_pct;    /* of the recording */
	struct figure gr_busy_pct;        /* something was being executed */
	struct figure sm_busy_pct;        /* mean over its SMs: at least one warp */
	struct figure tensor_pct;         /* tensor pipes active */
	struct figure warps_per_sm, occupancy_pct; /* resident; of those that can be */
	struct figure dram_pct, dram_read_pct, dram_write_pct; /* of what the memory can do */
	struct figure dram_read_bytes_per_s, dram_write_bytes_per_s;
	struct figure pcie_rx_bytes_per_s, pcie_tx_bytes_per_s, pcie_pct;
	struct figure nvlink_rx_bytes_per_s, nvlink_tx_bytes_per_s;
	struct figure sm_clock_hz;
	double sm_imbalance_ratio;        /* the busiest SM above their mean; of sums over samples */
	const struct decode_stats *decode; /* NULL: not told */
	double missing_s, missing_pct;     /* lost; of the recording */
};

/* One process on one GPU. */
struct summary_gpu_process {
	uint32_t pid;
	const struct process_info *info; /* NULL: it was not followed */
	size_t process;                  /* index into the summary's processes; SIZE_MAX: none */
	double memory_mean_bytes;        /* over all the time that the GPU was watched: these add up */
	struct figure memory_bytes;      /* while it was there */
	struct figure utilization_pct;   /* while it was there; total: seconds of the whole GPU */
	struct figure memory_utilization_pct, encoder_pct, decoder_pct;
	double share_pct;                /* of what the GPU did */
};

struct summary_gpu {
	const struct gpu_info *info;
	size_t number;              /* in the run */
	size_t parent;              /* index; SIZE_MAX: it is no instance of any */
	bool has_cuda_index;        /* its number is CUDA's, and those of others are not */
	enum gpu_state state;
	bool used;                  /* by what was followed; where nobody tells, by anybody */
	bool is_allocation_known, allocated; /* a process had it open */
	double covered_s, covered_pct; /* by telemetry, of the recording */
	double lost_s; /* when it was found gone or silent, since the start of recording; NaN: never */

	struct figure utilization_pct; /* total: seconds of the whole GPU */
	struct figure idle, busy;      /* 1 where it was; total: seconds */
	struct figure memory_utilization_pct, encoder_pct, decoder_pct;
	struct figure memory_used_bytes, memory_reserved_bytes, memory_total_bytes;
	double memory_bytes;           /* all there is */
	struct figure power_watts, power_instant_watts, power_limit_watts;
	struct figure temperature_celsius, memory_temperature_celsius;
	struct figure clock_graphics_hz, clock_sm_hz, clock_memory_hz, clock_video_hz;
	struct figure clock_sm_max_hz, clock_memory_max_hz;
	struct figure pcie_rx_bytes_per_s, pcie_tx_bytes_per_s;
	struct figure nvlink_rx_bytes_per_s, nvlink_tx_bytes_per_s;
	struct figure pcie_link_generation, pcie_link_width, processes_count;

	struct figure throttled;           /* by any reason that is a loss; total: seconds */
	struct figure throttle[THROTTLES]; /* by gpu_throttle */
	struct growth power_throttle, thermal_throttle; /* in s, as it counted itself */
	struct growth power_brake_throttle, sync_boost_throttle;
	double xid_errors, xid_last; /* of the recording; the code of the newest, NaN: there is none */
	struct growth ecc_corrected, ecc_uncorrected, pcie_replays;

	struct summary_energy energy;
	struct summary_counters counters;

	struct summary_gpu_process *processes; /* those that used most of it first */
	size_t processes_len;
	/* Of other or unattributed users; below 0: processes are said to have more than it has. */
	double rest_memory_bytes, rest_utilization_s, rest_share_pct;
	bool is_suspect; /* it is busy, and processes are said to do next to nothing */
};

/* Over GPUs that are no instances of others. */
struct summary_gpu_totals {
	size_t gpus;
	double memory_peak_bytes, memory_bytes; /* sum of peaks; of all there is */
	double power_watts;                     /* sum of means */
	double energy_joules, integral_joules;
};

/* All regions of one name, and what the followed processes used while they lasted. */
struct summary_region {
	enum time_domain domain;
	struct span name;         /* any bytes */
	uint64_t count;
	uint64_t unfinished;      /* of them: nobody ended them */
	double first_s;           /* when the first began, since the start of recording */
	double total_s, mean_s, min_s, max_s;
	double cpu_s, read_bytes, write_bytes; /* sums; what overlaps counts in each */
	double peak_rss_bytes;
	/* Of the GPUs that are used, together: means over the time of the regions, and a sum. */
	double gpu_utilization_pct, gpu_sm_busy_pct, gpu_tensor_pct, gpu_energy_joules;
	double error_s;           /* of the GPU: what may be wrong with an instant, at most; NaN: not known */
};

struct summary_mark { /* all marks of one name */
	enum time_domain domain;
	struct span name;
	uint64_t count;
	double first_s, last_s;
	double error_s;
};

enum note_kind { NOTE_SESSION, NOTE_SOURCE, NOTE_DAMAGE, NOTE_REJECTED, NOTE_VANISHED };

/* What is not in the figures, and why. */
struct summary_note {
	enum note_kind kind;
	const char *subject, *text; /* bytes of unknown encoding */
	uint64_t count, of;         /* SOURCE: failures, turns; REJECTED, VANISHED: how many */
	double first_failure_s;     /* SOURCE: since the start of recording */
	uint64_t offset;            /* DAMAGE */
	bool torn_tail;             /* DAMAGE */
};

/* What was found out before the recording. */
struct summary_finding {
	const char *id;
	const char *verdict, *need; /* as JSON has them: "no", "some" */
	const char *found, *meaning, *remedy; /* bytes of unknown encoding */
	bool has_effect; /* what is recorded lacks something, or may */
};

struct summary_stream {
	const char *file_name;
	bool present;
	uint64_t bytes, messages, rows, bad_messages, missing_messages;
	uint64_t dropped_batches, dropped_rows;
	uint64_t gaps;            /* holes in time that lost messages left */
	uint64_t ticks, missed_ticks;
	double frequency_hz;
};

struct summary_source {
	const char *name, *reason;
	uint64_t divisor, reads, failures;
	double period_s, mean_read_s;
	double first_failure_s; /* since the start of recording */
};

enum cost_of { /* whose CPU time it is */
	COST_OF_NOTHING,  /* it is not known */
	COST_OF_PROCESS,  /* all of the recorder */
	COST_OF_THREADS,  /* galvo's own threads in a process that does other things too */
	COST_OF_SAMPLING, /* nobody knows the whole: the sampling threads, nothing more */
};

struct summary_cost {
	bool sampling_only; /* the whole is unknown: of is COST_OF_SAMPLING */
	enum cost_of of;
	double cpu_s, pct_of_core, max_rss_bytes, bytes_written;
	uint64_t ticks, missed_ticks, dropped_rows, dropped_batches;
};

/* How descendants were found, and so which of them may be missing. */
struct summary_following {
	bool is_known;
	bool is_complete; /* the kernel told of every fork and exit, and nothing was lost */
	enum follow_way way;
	const char *why_no_events; /* NULL: there were */
	uint64_t forks, short_children, late_children, short_without_totals, lost_events, put_off;
	double short_cpu_s, scan_interval_s, longest_interval_s;
};

/* Everything is borrowed from the run, arrays apart. */
struct galvo_summary {
	bool has_session, finished;
	const char *hostname, *kernel, *root, *galvo_version;
	uint32_t cpu_count;      /* 0: not known */
	uint64_t start_wall_ns;  /* 0: not known */
	uint64_t start_mono_ns, end_mono_ns;
	double recorded_s;
	struct summary_workload workload;
	struct summary_cpu cpu;
	struct summary_memory memory;
	struct summary_pressure pressure;
	struct summary_disk *disks;
	size_t disks_len;
	struct figure disk_read_bytes_per_s, disk_write_bytes_per_s; /* of those counted */
	struct summary_interface *interfaces;
	size_t interfaces_len;
	struct figure net_rx_bytes_per_s, net_tx_bytes_per_s; /* of those counted */
	struct summary_gpu *gpus; /* each before its instances */
	size_t gpus_len;
	struct summary_gpu_process *gpu_processes; /* all of theirs */
	struct summary_gpu_totals gpu_totals;
	struct summary_process *processes;
	size_t processes_len;
	struct summary_thread *threads;
	size_t threads_len;
	struct summary_balance balance[USAGE_END]; /* by usage_kind */
	struct summary_group *groups; /* those that used most CPU time first */
	size_t groups_len;
	struct summary_region *regions; /* in the order of their first begins */
	size_t regions_len;
	struct summary_mark *marks;
	size_t marks_len;
	struct gpu_events gpu_events;   /* what of those of the GPU is not recorded, or not in full */
	struct summary_note *notes;
	size_t notes_len;
	struct summary_finding *findings;
	size_t findings_len;
	struct summary_stream *streams;
	size_t streams_len;
	struct summary_source *sources;
	size_t sources_len;
	struct summary_cost cost;
	struct summary_following following;
};

#endif
