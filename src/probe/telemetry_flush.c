/* What a message of telemetry says around its rows, and what is told when it is over. */
#include <stdlib.h>

#include "telemetry_internal.h"

/* ---- flushing -------------------------------------------------------------------------------- */

static size_t list_gpus(struct telemetry *t)
{
	size_t i, k, n = 0;

	for (i = 0; i < t->units_len; i++)
		for (k = 0; k < t->units[i]->parts_len; k++) {
			if (!grow_array((void **)&t->infos, &t->infos_cap, n, sizeof(*t->infos),
			                UNITS_MAX * (size_t)PARTS_KEPT))
				return n;
			part_tell(t->units[i], t->units[i]->parts[k], &t->infos[n++]);
		}
	return n;
}

static void tell_group(const struct telemetry *t, unsigned g, struct source_stats *ret)
{
	const struct group *group = &t->groups[g];
	uint64_t sum_ns = 0, n = 0;
	size_t i;

	for (i = 0; i < t->units_len; i++) {
		sum_ns += t->units[i]->mean_ns[g];
		n += t->units[i]->mean_ns[g] != 0;
	}
	*ret = (struct source_stats){
		.name = gpu_sources[g]->name,
		.divisor = group->divisor,
		.period_ns = group->period_ticks * group->divisor * t->config.period_ns,
		.reads = group->reads,
		.failures = group->failures,
		.first_failure_mono_ns = group->first_failure_mono_ns,
		.calibrated_ns = group->calibrated_ns,
		.mean_read_ns = n ? sum_ns / n : 0,
		.reason = group->reason,
		.longest_period_ns = group->period_ticks * group->largest_divisor * t->config.period_ns,
	};
}

/* Of the sampler and all that work for it. */
static uint64_t threads_cpu_ns(const struct telemetry *t)
{
	uint64_t cpu_ns = 0;
	size_t i;

	for (i = 0; i < t->finders_len; i++)
		cpu_ns += atomic_load(&t->finders[i]->worker.cpu_ns);
	for (i = 0; i < t->units_len; i++)
		cpu_ns += atomic_load(&t->units[i]->reader->worker.cpu_ns);
	return cpu_ns + (t->config.world->live ? thread_cpu_ns() : 0);
}

void telemetry_flush(struct telemetry *t)
{
	const struct clock *clock = t->config.world->clock;
	struct source_stats sources[GPU_GROUPS];
	struct flush_info info = {
		.mono_ns = clock->mono_ns(clock),
		.boot_ns = clock->boot_ns(clock),
		.wall_ns = clock->wall_ns(clock),
		.sources = sources,
		.sources_len = GPU_GROUPS,
		.stats = {
			.ticks = atomic_load(&t->ticks_done),
			.missed_ticks = atomic_load(&t->ticks_missed),
			.thread_cpu_ns = threads_cpu_ns(t),
		},
	};
	unsigned g;
	size_t i;

	t->flushed_mono_ns = info.mono_ns;
	for (i = 0; i < t->units_len; i++)
		info.stats.rejected_values += unit_rejected(t->units[i]);
	for (g = 0; g < GPU_GROUPS; g++)
		tell_group(t, g, &sources[g]);
	info.gpus_len = list_gpus(t);
	info.gpus = t->infos;
	if (t->stream)
		stream_flush(t->stream, &info);
}

/* ---- what is told of it ---------------------------------------------------------------------- */

bool telemetry_note_at(const struct telemetry *t, size_t i, const char **ret_subject,
                       const char **ret_text)
{
	size_t k, at = 0;

	if (t->is_left_behind) { /* it is at work on all the rest */
		*ret_subject = "GPU telemetry";
		*ret_text = "its sampler had not ended when the recording was stopped";
		return i == 0;
	}
	for (k = 0; k < t->finders_len; k++) {
		const struct finder *f = t->finders[k];

		if (!f->pending[0] && (f->is_asked ? f->units : f->status == GALVO_OK))
			continue;
		if (at++ < i)
			continue;
		*ret_subject = f->vendor->name;
		*ret_text = f->pending[0] ? f->pending
		            : f->is_asked ? "its library had not answered when the recording ended"
		            : f->status == GALVO_DONE ? "its GPUs sleep, and were let sleep"
		                                      : f->error.text;
		return true;
	}
	for (k = 0; k < t->units_len; k++) {
		const struct part *p = unit_whole(t->units[k]);

		if (!p->info.lost_mono_ns || at++ < i)
			continue;
		*ret_subject = p->subject;
		*ret_text = p->info.note;
		return true;
	}
	return false;
}

void telemetry_count(const struct telemetry *t, struct telemetry_counts *ret)
{
	*ret = (struct telemetry_counts){
		.ticks = atomic_load_explicit(&t->ticks_done, memory_order_relaxed),
		.missed_ticks = atomic_load_explicit(&t->ticks_missed, memory_order_relaxed),
		.gpus = atomic_load_explicit(&t->gpus, memory_order_relaxed),
		.lost = atomic_load_explicit(&t->lost, memory_order_relaxed),
	};
}
