/* What stands around the rows of a message: header, processes, devices, statistics. */
#include "writer.h"

/* The length is given one byte; what turns out longer is moved up. */
char *nested_begin(char *p, uint32_t field)
{
	return wire_put_tag(p, field, WIRE_BYTES) + 1;
}

char *nested_end(char *start, char *p)
{
	size_t n = (size_t)(p - start), len = wire_varint_len(n);

	if (len > 1)
		memmove(start - 1 + len, start, n);
	wire_put_varint(start - 1, n);
	return start - 1 + len + n;
}

char *text_put(char *p, uint32_t field, const char *text)
{
	char clean[NAME_MAX_BYTES];
	size_t n = utf8_copy(clean, sizeof(clean), span_str(text));

	return n ? wire_put_bytes(p, field, span_of(clean, n)) : p;
}

/* A bytes field out of an array that holds a NUL-terminated name. */
static char *put_raw(char *p, uint32_t field, const char *text, size_t cap)
{
	size_t n = strnlen(text, cap);

	return n ? wire_put_bytes(p, field, span_of(text, n)) : p;
}

struct span event_name_clip(struct span name)
{
	return span_of(name.p, name.n < EVENT_NAME_MAX ? name.n : EVENT_NAME_MAX);
}

uint64_t event_time(const struct stream *s, enum time_domain domain, uint64_t mono_ns)
{
	return domain == DOMAIN_GPU && mono_ns ? mono_ns + s->gpu_offset_ns : mono_ns;
}

/* An empty name is written too. */
char *region_put(char *p, uint32_t field, const struct stream *s, const struct region *r)
{
	char *start = nested_begin(p, field);

	p = wire_put_bytes(start, REGION_NAME, event_name_clip(r->name));
	p = wire_put_u64(p, REGION_START_MONO_NS, event_time(s, r->domain, r->start_mono_ns));
	p = wire_put_u64(p, REGION_END_MONO_NS, event_time(s, r->domain, r->end_mono_ns));
	p = wire_put_u64(p, REGION_ID, r->id);
	p = wire_put_u64(p, REGION_UNFINISHED, r->unfinished);
	p = wire_put_u64(p, REGION_BEGIN_THREAD, r->begin_thread);
	p = wire_put_u64(p, REGION_END_THREAD, r->end_thread);
	p = wire_put_u64(p, REGION_PID, r->pid);
	if (field == EVENTS_OPEN_REGIONS)
		p = wire_put_u64(p, REGION_DOMAIN, r->domain);
	p = wire_put_u64(p, REGION_ERROR_NS, r->error_ns);
	p = wire_put_u64(p, REGION_STREAM, r->stream);
	return nested_end(start, p);
}

void events_close_buffer(struct stream *s)
{
	if (s->buffer)
		s->at = nested_end(s->buffer, s->at);
	s->buffer = NULL;
}

char *message_put_header(char *p, const struct stream *s, const struct flush_info *info)
{
	char *header = nested_begin(p, TRACE_HEADER), *anchors;

	p = text_put(header, HEADER_HOSTNAME, s->hostname);
	if (!s->form->has_events) /* they come when they come */
		p = wire_put_u64(p, HEADER_FREQUENCY_HZ, s->frequency_hz);
	p = wire_put_u64(p, HEADER_CPU_COUNT, s->cpu_count);
	p = anchors = nested_begin(p, HEADER_ANCHORS);
	p = wire_put_u64(p, ANCHORS_MONO_NS, info->mono_ns);
	p = wire_put_u64(p, ANCHORS_WALL_NS, info->wall_ns);
	p = wire_put_u64(p, ANCHORS_GPU_NS,
	                 s->gpu_offset_ns ? info->mono_ns + s->gpu_offset_ns : info->gpu_ns);
	p = wire_put_u64(p, ANCHORS_BOOT_NS, info->boot_ns);
	p = nested_end(anchors, p);
	p = wire_put_u64(p, HEADER_MAJOR, STREAM_FORMAT_MAJOR);
	p = wire_put_u64(p, HEADER_MINOR, STREAM_FORMAT_MINOR);
	p = wire_put_u64(p, HEADER_SEQUENCE, s->sequence);
	return nested_end(header, p);
}

static char *put_usage(char *p, enum usage_kind kind, const struct usage *u)
{
	char *start = nested_begin(p, PROCESS_USAGE);

	p = wire_put_u64(start, USAGE_KIND, kind);
	p = wire_put_u64(p, USAGE_HEAD, u->head);
	p = wire_put_u64(p, USAGE_SAMPLED, u->sampled);
	p = wire_put_u64(p, USAGE_TAIL, u->tail);
	p = wire_put_u64(p, USAGE_UNSEEN, u->unseen);
	p = wire_put_u64(p, USAGE_MIXED, u->mixed);
	return nested_end(start, p);
}

static char *put_end(char *p, const struct process_end *end)
{
	char *start = nested_begin(p, PROCESS_END);

	p = wire_put_u64(start, END_HAS_STATUS, end->has_status);
	p = wire_put_u64(p, END_EXIT_CODE, (uint64_t)end->exit_code);
	p = wire_put_u64(p, END_TERM_SIGNAL, (uint64_t)end->term_signal);
	p = wire_put_u64(p, END_HAS_USAGE, end->has_usage);
	p = wire_put_u64(p, END_USER_NS, end->user_ns);
	p = wire_put_u64(p, END_SYSTEM_NS, end->system_ns);
	p = wire_put_u64(p, END_MAX_RSS_BYTES, end->max_rss_bytes);
	p = wire_put_u64(p, END_MINOR_FAULTS, end->minor_faults);
	p = wire_put_u64(p, END_MAJOR_FAULTS, end->major_faults);
	p = wire_put_u64(p, END_READ_BLOCKS, end->read_blocks);
	p = wire_put_u64(p, END_WRITE_BLOCKS, end->write_blocks);
	p = wire_put_u64(p, END_VOLUNTARY_SWITCHES, end->voluntary_switches);
	p = wire_put_u64(p, END_INVOLUNTARY_SWITCHES, end->involuntary_switches);
	return nested_end(start, p);
}

static char *put_earlier(char *p, const struct earlier_name *name)
{
	char *start = nested_begin(p, PROCESS_EARLIER);

	p = put_raw(start, EARLIER_COMM, name->comm, sizeof(name->comm));
	p = wire_put_u64(p, EARLIER_UNTIL_MONO_NS, name->until_mono_ns);
	return nested_end(start, p);
}

/* Each kind of usage is the tale of one stream, whose sampler reads it. */
static bool tells_usage(enum stream_kind stream, enum usage_kind kind)
{
	return (kind == USAGE_CPU_NS) == (stream == STREAM_SYSTEM);
}

static char *put_process(char *p, enum stream_kind stream, const struct process_info *process)
{
	enum usage_kind kind;
	size_t i;

	char *start = nested_begin(p, TRACE_PROCESSES);

	p = wire_put_u64(start, PROCESS_PID, process->pid);
	p = text_put(p, PROCESS_ALIAS, process->alias);
	p = wire_put_u64(p, PROCESS_REMOVED, process->removed);
	p = wire_put_u64(p, PROCESS_START_TICKS, process->start_ticks);
	p = wire_put_u64(p, PROCESS_PPID, process->ppid);
	p = put_raw(p, PROCESS_COMM, process->comm, sizeof(process->comm));
	p = put_raw(p, PROCESS_COMMAND, process->command, sizeof(process->command));
	p = wire_put_u64(p, PROCESS_FIRST_MONO_NS, process->first_mono_ns);
	p = wire_put_u64(p, PROCESS_END_MONO_NS, process->end_mono_ns);
	p = wire_put_u64(p, PROCESS_ROOT, process->root);
	for (kind = USAGE_CPU_NS; kind < USAGE_END; kind++)
		if (process->usage[kind].is_known && tells_usage(stream, kind))
			p = put_usage(p, kind, &process->usage[kind]);
	if (process->end.has_status || process->end.has_usage)
		p = put_end(p, &process->end);
	for (i = 0; i < process->earlier_len; i++)
		p = put_earlier(p, &process->earlier[i]);
	return nested_end(start, p);
}

static char *put_thread(char *p, const struct thread_info *thread)
{
	char *start = nested_begin(p, TRACE_THREADS);

	p = wire_put_u64(start, THREAD_PID, thread->pid);
	p = wire_put_u64(p, THREAD_TID, thread->tid);
	p = put_raw(p, THREAD_NAME, thread->name, sizeof(thread->name));
	p = wire_put_u64(p, THREAD_FIRST_MONO_NS, thread->first_mono_ns);
	p = wire_put_u64(p, THREAD_END_MONO_NS, thread->end_mono_ns);
	p = wire_put_u64(p, THREAD_START_TICKS, thread->start_ticks);
	return nested_end(start, p);
}

static char *put_device(char *p, uint32_t field, const struct stream_device *device)
{
	char *start;

	p = text_put(p, field, device->name);
	p = start = nested_begin(p, TRACE_BLOCK_DEVICES);
	p = text_put(p, DEVICE_NAME, device->name);
	p = wire_put_u64(p, DEVICE_WHOLE, device->whole);
	p = wire_put_u64(p, DEVICE_STACKED, device->stacked);
	return nested_end(start, p);
}

static char *put_source(char *p, const struct source_stats *source)
{
	char *start = nested_begin(p, STATS_SOURCES);

	p = text_put(start, SOURCE_NAME, source->name);
	p = wire_put_u64(p, SOURCE_DIVISOR, source->divisor);
	p = wire_put_u64(p, SOURCE_PERIOD_NS, source->period_ns);
	p = wire_put_u64(p, SOURCE_READS, source->reads);
	p = wire_put_u64(p, SOURCE_FAILURES, source->failures);
	p = wire_put_u64(p, SOURCE_CALIBRATED_NS, source->calibrated_ns);
	p = wire_put_u64(p, SOURCE_MEAN_READ_NS, source->mean_read_ns);
	p = text_put(p, SOURCE_REASON, source->reason);
	p = wire_put_u64(p, SOURCE_FIRST_FAILURE_NS, source->first_failure_mono_ns);
	p = wire_put_u64(p, SOURCE_LONGEST_PERIOD_NS, source->longest_period_ns);
	return nested_end(start, p);
}

static char *put_gpu_events(char *p, const struct gpu_events *lost)
{
	char *start = nested_begin(p, EVENTS_GPU_STATS);

	p = wire_put_u64(start, GPU_STATS_CAPTURING, lost->capturing);
	p = wire_put_u64(p, GPU_STATS_NO_ROOM, lost->no_room);
	p = wire_put_u64(p, GPU_STATS_FAILED, lost->failed);
	p = wire_put_u64(p, GPU_STATS_UNREACHED, lost->unreached);
	p = wire_put_u64(p, GPU_STATS_UNBOUND, lost->unbound);
	p = text_put(p, GPU_STATS_REASON, lost->reason);
	return nested_end(start, p);
}

/* Sources that find no room before `end` are left out. */
static char *put_stats(char *p, const char *end, const struct stream *s,
                       const struct flush_info *info)
{
	const struct probe_stats *stats = &info->stats;
	char *start = nested_begin(p, TRACE_PROBE_STATS);
	size_t i;

	p = wire_put_u64(start, STATS_TICKS, stats->ticks);
	p = wire_put_u64(p, STATS_MISSED_TICKS, stats->missed_ticks);
	p = wire_put_u64(p, STATS_DROPPED_BATCHES,
	                 atomic_load_explicit(&s->dropped_batches, memory_order_relaxed));
	p = wire_put_u64(p, STATS_DROPPED_ROWS,
	                 atomic_load_explicit(&s->dropped_rows, memory_order_relaxed));
	p = wire_put_u64(p, STATS_REJECTED_VALUES, stats->rejected_values);
	p = wire_put_u64(p, STATS_VANISHED, stats->vanished);
	p = wire_put_u64(p, STATS_THREAD_CPU_NS, stats->thread_cpu_ns);
	p = wire_put_u64(p, STATS_BYTES_WRITTEN,
	                 atomic_load_explicit(&s->bytes_written, memory_order_relaxed));
	for (i = 0; i < info->sources_len && end - p > ITEM_BYTES_MAX; i++)
		p = put_source(p, &info->sources[i]);
	return nested_end(start, p);
}

char *message_put_tail(char *p, char *end, const struct stream *s, const struct flush_info *info,
                       uint64_t *ret_left_out)
{
	const char *items_end = end - STATS_BYTES - ITEM_BYTES_MAX;
	char *start;
	size_t threads_len = s->form->has_threads ? info->threads_len : 0, i, j = 0, k = 0;

	for (i = 0; i < info->open_regions_len && p < items_end; i++)
		p = region_put(p, EVENTS_OPEN_REGIONS, s, info->open_regions[i]);
	if (info->gpu_events)
		p = put_gpu_events(p, info->gpu_events);
	for (i = 0; i < info->processes_len && p < items_end; i++)
		p = put_process(p, s->form->kind, info->processes[i]);
	for (; j < threads_len && p < items_end; j++)
		p = put_thread(p, info->threads[j]);
	if (s->form->devices_field)
		for (; k < info->devices_len && p < items_end; k++)
			p = put_device(p, s->form->devices_field, &info->devices[k]);
	else
		k = info->devices_len;
	*ret_left_out = info->processes_len - i + threads_len - j + info->devices_len - k;
	if (s->form->has_gpus)
		*ret_left_out += gpus_put(&p, items_end, s->form, info);
	p = put_stats(p, end - ITEM_BYTES_MAX, s, info);
	if (s->flush_bytes) {
		start = nested_begin(p, s->form->flush_stats_field);
		p = wire_put_u64(start, FLUSH_SIZE_BYTES, s->flush_bytes);
		p = wire_put_u64(p, FLUSH_INTERVAL_NS, s->flush_interval_ns);
		p = nested_end(start, p);
	}
	return p;
}
