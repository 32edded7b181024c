/* What messages say of processes, threads, devices and sources, merged over the messages of a run. */
#include "reader.h"

/* A NUL-terminated name out of any bytes. */
static void copy_raw(char *to, size_t cap, struct span from)
{
	size_t n = from.n ? strnlen(from.p, from.n) : 0;

	n = n < cap ? n : cap - 1;
	memset(to, 0, cap);
	if (n)
		memcpy(to, from.p, n);
}

/* Numbers of a message into the places of a table, by field. */
static void numbers_read(struct span bytes, uint64_t *const *to, size_t to_len)
{
	struct wire_field f;

	while (wire_next(&bytes, &f) == GALVO_OK)
		if (f.type == WIRE_VARINT && f.number < to_len && to[f.number])
			*to[f.number] = f.value;
}

static void usage_read(struct process_info *p, struct span bytes)
{
	struct usage u = {.is_known = true};
	uint64_t kind = 0;
	uint64_t *const to[] = {
		[USAGE_KIND] = &kind, [USAGE_HEAD] = &u.head, [USAGE_SAMPLED] = &u.sampled,
		[USAGE_TAIL] = &u.tail, [USAGE_UNSEEN] = &u.unseen, [USAGE_MIXED] = &u.mixed,
	};

	numbers_read(bytes, to, ARRAY_LEN(to));
	if (kind >= USAGE_CPU_NS && kind < USAGE_END)
		p->usage[kind] = u;
}

static void end_read(struct process_info *p, struct span bytes)
{
	struct process_end *e = &p->end;
	uint64_t has_status = 0, exit_code = 0, term_signal = 0, has_usage = 0;
	uint64_t *const to[] = {
		[END_HAS_STATUS] = &has_status, [END_EXIT_CODE] = &exit_code,
		[END_TERM_SIGNAL] = &term_signal, [END_HAS_USAGE] = &has_usage,
		[END_USER_NS] = &e->user_ns, [END_SYSTEM_NS] = &e->system_ns,
		[END_MAX_RSS_BYTES] = &e->max_rss_bytes, [END_MINOR_FAULTS] = &e->minor_faults,
		[END_MAJOR_FAULTS] = &e->major_faults, [END_READ_BLOCKS] = &e->read_blocks,
		[END_WRITE_BLOCKS] = &e->write_blocks,
		[END_VOLUNTARY_SWITCHES] = &e->voluntary_switches,
		[END_INVOLUNTARY_SWITCHES] = &e->involuntary_switches,
	};

	numbers_read(bytes, to, ARRAY_LEN(to));
	e->has_status = has_status != 0;
	e->has_usage = has_usage != 0;
	e->exit_code = (int32_t)exit_code;
	e->term_signal = (int32_t)term_signal;
}

static void earlier_read(struct process_info *p, struct span bytes)
{
	struct earlier_name *name = &p->earlier[p->earlier_len];
	struct wire_field f;

	if (p->earlier_len == EARLIER_NAMES)
		return;
	while (wire_next(&bytes, &f) == GALVO_OK) {
		if (f.number == EARLIER_COMM && f.type == WIRE_BYTES)
			copy_raw(name->comm, sizeof(name->comm), f.bytes);
		else if (f.number == EARLIER_UNTIL_MONO_NS && f.type == WIRE_VARINT)
			name->until_mono_ns = f.value;
	}
	p->earlier_len++;
}

static void process_field(struct process_info *p, const struct wire_field *f)
{
	struct span text = f->type == WIRE_BYTES ? f->bytes : span_of(NULL, 0);
	uint64_t value = f->type == WIRE_VARINT ? f->value : 0;

	switch ((enum process_field)f->number) {
	case PROCESS_PID:
		p->pid = (uint32_t)value;
		break;
	case PROCESS_ALIAS:
		text.n = text.n ? strnlen(text.p, text.n) : 0;
		utf8_copy(p->alias, sizeof(p->alias), text);
		break;
	case PROCESS_REMOVED:
		p->removed = value != 0;
		break;
	case PROCESS_START_TICKS:
		p->start_ticks = value;
		break;
	case PROCESS_PPID:
		p->ppid = (uint32_t)value;
		break;
	case PROCESS_COMM:
		copy_raw(p->comm, sizeof(p->comm), text);
		break;
	case PROCESS_COMMAND:
		copy_raw(p->command, sizeof(p->command), text);
		break;
	case PROCESS_FIRST_MONO_NS:
		p->first_mono_ns = value;
		break;
	case PROCESS_END_MONO_NS:
		p->end_mono_ns = value;
		break;
	case PROCESS_ROOT:
		p->root = value != 0;
		break;
	case PROCESS_USAGE:
		usage_read(p, text);
		break;
	case PROCESS_END:
		end_read(p, text);
		break;
	case PROCESS_EARLIER:
		earlier_read(p, text);
		break;
	}
}

/* The last word counts, except that silence takes nothing back and the first sight is the first. */
static void process_merge(struct process_info *into, const struct process_info *p)
{
	size_t i;

	into->ppid = p->ppid ? p->ppid : into->ppid;
	if (p->first_mono_ns && (!into->first_mono_ns || p->first_mono_ns < into->first_mono_ns))
		into->first_mono_ns = p->first_mono_ns;
	into->end_mono_ns = p->end_mono_ns ? p->end_mono_ns : into->end_mono_ns;
	into->removed = into->removed || p->removed;
	into->root = into->root || p->root;
	if (p->alias[0])
		memcpy(into->alias, p->alias, sizeof(into->alias));
	if (p->comm[0])
		memcpy(into->comm, p->comm, sizeof(into->comm));
	if (p->command[0])
		memcpy(into->command, p->command, sizeof(into->command));
	for (i = 0; i < USAGE_END; i++)
		if (p->usage[i].is_known)
			into->usage[i] = p->usage[i];
	if (p->end.has_status || p->end.has_usage)
		into->end = p->end;
	if (p->earlier_len >= into->earlier_len) {
		memcpy(into->earlier, p->earlier, sizeof(into->earlier));
		into->earlier_len = p->earlier_len;
	}
}

bool process_read(struct reading *r, struct span bytes)
{
	struct process_info p = {0};
	char key[sizeof(p.pid) + sizeof(p.start_ticks)];
	struct wire_field f;
	size_t i;

	while (wire_next(&bytes, &f) == GALVO_OK)
		process_field(&p, &f);
	memcpy(key, &p.pid, sizeof(p.pid));
	memcpy(key + sizeof(p.pid), &p.start_ticks, sizeof(p.start_ticks));
	i = intern(&r->process_keys, span_of(key, sizeof(key)));
	if (i == INTERN_FULL)
		return true;
	if (i == INTERN_NOMEM)
		return false;
	if (i < r->processes.len / sizeof(p))
		process_merge((struct process_info *)(void *)r->processes.p + i, &p);
	else
		buf_put(&r->processes, &p, sizeof(p));
	return !r->processes.failed;
}

static void thread_field(struct thread_info *t, const struct wire_field *f)
{
	uint64_t value = f->type == WIRE_VARINT ? f->value : 0;

	switch ((enum thread_field)f->number) {
	case THREAD_PID:
		t->pid = (uint32_t)value;
		break;
	case THREAD_TID:
		t->tid = (uint32_t)value;
		break;
	case THREAD_NAME:
		copy_raw(t->name, sizeof(t->name), f->type == WIRE_BYTES ? f->bytes : span_of(NULL, 0));
		break;
	case THREAD_FIRST_MONO_NS:
		t->first_mono_ns = value;
		break;
	case THREAD_END_MONO_NS:
		t->end_mono_ns = value;
		break;
	case THREAD_START_TICKS:
		t->start_ticks = value;
		break;
	}
}

bool thread_read(struct reading *r, struct span bytes)
{
	struct thread_info t = {0}, *known;
	char key[sizeof(t.tid) + sizeof(t.start_ticks)];
	struct wire_field f;
	size_t i;

	while (wire_next(&bytes, &f) == GALVO_OK)
		thread_field(&t, &f);
	memcpy(key, &t.tid, sizeof(t.tid));
	memcpy(key + sizeof(t.tid), &t.start_ticks, sizeof(t.start_ticks));
	i = intern(&r->thread_keys, span_of(key, sizeof(key)));
	if (i == INTERN_FULL || i == INTERN_NOMEM)
		return i == INTERN_FULL;
	if (i == r->threads.len / sizeof(t)) {
		buf_put(&r->threads, &t, sizeof(t));
		return !r->threads.failed;
	}
	known = (struct thread_info *)(void *)r->threads.p + i;
	if (t.first_mono_ns && (!known->first_mono_ns || t.first_mono_ns < known->first_mono_ns))
		known->first_mono_ns = t.first_mono_ns;
	known->end_mono_ns = t.end_mono_ns ? t.end_mono_ns : known->end_mono_ns;
	if (t.name[0])
		memcpy(known->name, t.name, sizeof(t.name));
	return true;
}

/* The device of that name, made on first sight; NULL: no room, and *ret_ok says if that is fine. */
static struct run_device *device_of(struct reading *r, struct span name, bool *ret_ok)
{
	struct run_device device = {0};
	size_t i = intern_text(&r->device_keys, name);

	*ret_ok = i == INTERN_FULL;
	if (i == INTERN_FULL || i == INTERN_NOMEM)
		return NULL;
	if (i == r->devices.len / sizeof(device))
		buf_put(&r->devices, &device, sizeof(device));
	*ret_ok = !r->devices.failed;
	return *ret_ok ? (struct run_device *)(void *)r->devices.p + i : NULL;
}

bool device_name_read(struct reading *r, struct span name)
{
	bool ok;

	device_of(r, name, &ok);
	return ok;
}

bool device_read(struct reading *r, struct span bytes)
{
	struct run_device said = {0}, *device;
	struct span name = {0};
	struct wire_field f;
	bool ok;

	while (wire_next(&bytes, &f) == GALVO_OK) {
		if (f.number == DEVICE_NAME && f.type == WIRE_BYTES)
			name = f.bytes;
		else if (f.number == DEVICE_WHOLE && f.type == WIRE_VARINT)
			said.whole = f.value != 0;
		else if (f.number == DEVICE_STACKED && f.type == WIRE_VARINT)
			said.stacked = f.value != 0;
	}
	device = device_of(r, name, &ok);
	if (device) {
		device->whole = said.whole;
		device->stacked = said.stacked;
	}
	return ok;
}

/* ---- statistics ---------------------------------------------------------------------------- */

enum { SOURCES_MAX = 256 }; /* of one stream */

static const char *text_of(struct arena *a, struct span bytes, const char *before)
{
	char clean[NAME_MAX_BYTES];
	size_t n;

	bytes.n = bytes.n ? strnlen(bytes.p, bytes.n) : 0;
	n = utf8_copy(clean, sizeof(clean), bytes);
	return before && strcmp(before, clean) == 0 ? before : arena_text(a, span_of(clean, n));
}

/* Where the stream's source of that name is, or the place after the last one. */
static struct run_source *source_find(struct reading *r, size_t from, const char *name)
{
	size_t n = r->sources.len / sizeof(struct run_source), i;
	struct run_source *all = (struct run_source *)(void *)r->sources.p;

	for (i = from; i < n; i++)
		if (strcmp(all[i].name, name) == 0)
			return &all[i];
	return NULL;
}

static bool source_read(struct reading *r, enum stream_kind kind, size_t from, struct span bytes)
{
	struct run_source s = {.stream = kind}, *known;
	struct span name = {0}, reason = {0};
	char clean[NAME_MAX_BYTES];
	uint64_t divisor = 0;
	struct wire_field f;
	uint64_t *to[] = {
		[SOURCE_DIVISOR] = &divisor,
		[SOURCE_PERIOD_NS] = &s.period_ns,
		[SOURCE_READS] = &s.reads,
		[SOURCE_FAILURES] = &s.failures,
		[SOURCE_CALIBRATED_NS] = &s.calibrated_ns,
		[SOURCE_MEAN_READ_NS] = &s.mean_read_ns,
		[SOURCE_FIRST_FAILURE_NS] = &s.first_failure_mono_ns,
		[SOURCE_LONGEST_PERIOD_NS] = &s.longest_period_ns,
	};

	while (wire_next(&bytes, &f) == GALVO_OK) {
		if (f.number == SOURCE_NAME && f.type == WIRE_BYTES)
			name = f.bytes;
		else if (f.number == SOURCE_REASON && f.type == WIRE_BYTES)
			reason = f.bytes;
		else if (f.number < ARRAY_LEN(to) && to[f.number] && f.type == WIRE_VARINT)
			*to[f.number] = f.value;
	}
	s.divisor = (uint32_t)divisor;
	name.n = name.n ? strnlen(name.p, name.n) : 0;
	utf8_copy(clean, sizeof(clean), name);
	known = source_find(r, from, clean);
	if (!known && r->sources.len / sizeof(s) - from >= SOURCES_MAX)
		return true;
	s.name = known ? known->name : text_of(&r->arena, name, NULL);
	s.reason = text_of(&r->arena, reason, known ? known->reason : NULL);
	if (!s.name || !s.reason)
		return false;
	if (known)
		*known = s;
	else
		buf_put(&r->sources, &s, sizeof(s));
	return !r->sources.failed;
}

bool stats_read(struct reading *r, struct run_stream *stream, size_t sources_from,
                struct span bytes)
{
	struct wire_field f;
	uint64_t *to[] = {
		[STATS_TICKS] = &stream->stats.ticks,
		[STATS_MISSED_TICKS] = &stream->stats.missed_ticks,
		[STATS_DROPPED_BATCHES] = &stream->dropped_batches,
		[STATS_DROPPED_ROWS] = &stream->dropped_rows,
		[STATS_REJECTED_VALUES] = &stream->stats.rejected_values,
		[STATS_VANISHED] = &stream->stats.vanished,
		[STATS_THREAD_CPU_NS] = &stream->stats.thread_cpu_ns,
	};

	stream->stats = (struct probe_stats){0};
	stream->dropped_batches = stream->dropped_rows = 0;
	while (wire_next(&bytes, &f) == GALVO_OK) {
		if (f.type == WIRE_VARINT && f.number < ARRAY_LEN(to) && to[f.number])
			*to[f.number] = f.value;
		else if (f.type == WIRE_BYTES && f.number == STATS_SOURCES &&
		         !source_read(r, stream->kind, sources_from, f.bytes))
			return false;
	}
	return true;
}
