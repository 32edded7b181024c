/* What a suite and its sidecar say to each other: structs as protobuf messages, by tables of members. */
#include "sidecar.h"

enum member_kind {
	MEMBER_U32,
	MEMBER_U64,
	MEMBER_DOUBLE,
	MEMBER_TEXT,      /* const char *: NULL is left out */
	MEMBER_CHARS,     /* an array of `bytes` */
	MEMBER_SPAN,      /* empty is left out */
	MEMBER_TEXTS,     /* const char *const *, as many as the size_t at `len_at` says */
	MEMBER_PROCESSES, /* galvo_process */
};

struct member {
	uint32_t number;
	enum member_kind kind;
	size_t at, len_at, bytes;
};

struct layout {
	const char *name;
	const struct member *members;
	size_t len, struct_bytes;
};

#define AT(type, number, kind, member) {number, MEMBER_##kind, offsetof(type, member), 0, 0}
#define ARRAY_AT(type, number, kind, member)                                                       \
	{number, MEMBER_##kind, offsetof(type, member), offsetof(type, member##_len), 0}
#define CHARS_AT(type, number, member)                                                             \
	{number, MEMBER_CHARS, offsetof(type, member), 0, sizeof(((type *)0)->member)}
#define LAYOUT(type, name) {#name, name##_members, ARRAY_LEN(name##_members), sizeof(type)}

#define OF(number, kind, member) AT(struct sidecar_message, number, kind, member)
static const struct member message_members[] = {
	OF(1, U32, code), OF(2, U32, sys_errno), OF(3, U32, pid), OF(4, U32, protocol),
	OF(5, U32, streams), OF(6, U32, flags), OF(7, TEXT, text), OF(8, SPAN, body),
	OF(9, U32, follow), OF(10, U32, reserved),
};
#undef OF
static const struct layout message_layout = LAYOUT(struct sidecar_message, message);

/* Of what is about the sidecar itself it needs to know its CPUs. */
#define OF(number, kind, member) AT(galvo_suite_config, number, kind, member)
static const struct member config_members[] = {
	OF(1, TEXT, output_dir), OF(2, TEXT, root), OF(3, DOUBLE, system_hz), OF(4, DOUBLE, core_hz),
	OF(5, DOUBLE, disk_hz), OF(6, U64, flush_interval_ms), OF(7, U64, scan_interval_ms),
	OF(8, DOUBLE, budget_pct), ARRAY_AT(galvo_suite_config, 9, TEXTS, disks),
	ARRAY_AT(galvo_suite_config, 10, PROCESSES, processes), OF(11, U32, follow), OF(12, U32, pss),
	OF(13, U32, overwrite), OF(14, U32, adopter_pid), OF(15, U32, no_events),
	OF(16, TEXT, events_file), OF(17, U64, events_flush_interval_ms), OF(18, U32, no_system),
	OF(19, U32, no_disk), OF(20, TEXT, system_file), OF(21, TEXT, disk_file),
	OF(22, U64, disk_flush_interval_ms), OF(23, TEXT, metric_catalog_path),
	ARRAY_AT(galvo_suite_config, 24, TEXTS, notes), OF(25, U32, require_disks),
	OF(26, TEXT, sidecar_cpus), OF(27, U32, no_kernel_events),
	OF(28, U32, threads), OF(29, U32, gpu_counters), OF(30, U32, gpu_telemetry),
	OF(31, U32, require_gpu_counters), ARRAY_AT(galvo_suite_config, 32, TEXTS, gpus),
	ARRAY_AT(galvo_suite_config, 33, TEXTS, gpu_metrics), OF(34, DOUBLE, gpu_hz),
	OF(35, U64, gpu_buffer_bytes), OF(36, U64, gpu_max_samples), OF(37, U64, gpu_decode_interval_ms),
	OF(38, U64, gpu_flush_interval_ms), OF(39, U64, gpu_drain_samples), OF(40, TEXT, gpu_file),
	OF(41, DOUBLE, telemetry_hz), OF(42, U64, telemetry_flush_interval_ms),
	OF(43, TEXT, telemetry_file),
};
#undef OF
static const struct layout config_layout = LAYOUT(galvo_suite_config, config);

#define OF(number, kind, member) AT(galvo_process, number, kind, member)
static const struct member process_members[] = {
	OF(1, U32, pid), OF(2, U32, profilers), OF(3, TEXT, alias), OF(4, U32, follow),
	OF(5, U32, reserved),
};
#undef OF
static const struct layout process_layout = LAYOUT(galvo_process, process);

#define OF(number, kind, member) AT(galvo_workload, number, kind, member)
static const struct member workload_members[] = {
	ARRAY_AT(galvo_workload, 1, TEXTS, argv), OF(2, U32, pid), OF(3, U32, exited),
	OF(4, U32, exit_code), OF(5, U32, term_signal), OF(6, U64, start_mono_ns),
	OF(7, U64, end_mono_ns), OF(8, U64, user_ns), OF(9, U64, system_ns), OF(10, U64, max_rss_bytes),
	OF(11, U64, minor_faults), OF(12, U64, major_faults), OF(13, U64, read_blocks),
	OF(14, U64, write_blocks), OF(15, U64, voluntary_switches), OF(16, U64, involuntary_switches),
};
#undef OF
static const struct layout workload_layout = LAYOUT(galvo_workload, workload);

#define OF(number, kind, member) AT(galvo_child, number, kind, member)
static const struct member child_members[] = {
	OF(1, U32, pid), OF(2, U32, exit_code), OF(3, U32, term_signal), OF(4, U64, user_ns),
	OF(5, U64, system_ns), OF(6, U64, max_rss_bytes), OF(7, U64, minor_faults),
	OF(8, U64, major_faults), OF(9, U64, read_blocks), OF(10, U64, write_blocks),
	OF(11, U64, voluntary_switches), OF(12, U64, involuntary_switches),
};
#undef OF
static const struct layout child_layout = LAYOUT(galvo_child, child);

#define OF(number, kind, member) AT(galvo_suite_stats, number, kind, member)
static const struct member stats_members[] = {
	OF(1, U64, ticks), OF(2, U64, missed_ticks), OF(3, U64, processes_alive), OF(4, U64, roots_alive),
	OF(5, U64, bytes_written), OF(6, U64, dropped_batches), OF(7, U64, elapsed_ns),
	OF(8, U32, largest_divisor),
	CHARS_AT(galvo_suite_stats, 9, slowed_sources), OF(10, U64, gpu_samples),
	OF(11, U64, gpu_lost_samples), OF(12, DOUBLE, gpu_lost_pct),
	CHARS_AT(galvo_suite_stats, 13, gpu_lost_why),
};
#undef OF
static const struct layout stats_layout = LAYOUT(galvo_suite_stats, stats);

static const struct member note_members[] = {
	CHARS_AT(galvo_note, 1, subject), CHARS_AT(galvo_note, 2, text),
};
static const struct layout note_layout = LAYOUT(galvo_note, note);

#define OF(number, kind, member) AT(galvo_gpu_device, number, kind, member)
static const struct member gpu_members[] = {
	OF(1, U32, index), OF(2, U32, sm_count), OF(3, U32, warps_per_sm), OF(4, U32, compute_major),
	OF(5, U32, compute_minor), OF(6, U64, memory_bytes), OF(7, DOUBLE, peak_dram_bytes_per_s),
	OF(8, DOUBLE, peak_pcie_bytes_per_s), OF(9, DOUBLE, peak_nvlink_bytes_per_s),
	CHARS_AT(galvo_gpu_device, 10, name), CHARS_AT(galvo_gpu_device, 11, chip),
	CHARS_AT(galvo_gpu_device, 12, uuid), CHARS_AT(galvo_gpu_device, 13, pci),
	CHARS_AT(galvo_gpu_device, 14, driver),
};
#undef OF
static const struct layout gpu_layout = LAYOUT(galvo_gpu_device, gpu);

/* ---- into bytes ----------------------------------------------------------------------------------- */

static void put_number(struct buf *to, uint32_t field, uint64_t v)
{
	if (buf_reserve(to, WIRE_TAG_MAX + WIRE_VARINT_MAX))
		to->len = (size_t)(wire_put_u64(to->p + to->len, field, v) - to->p);
}

static void put_double(struct buf *to, uint32_t field, double v)
{
	char *end;

	if (!buf_reserve(to, WIRE_TAG_MAX + sizeof(v)))
		return;
	end = wire_put_tag(to->p + to->len, field, WIRE_FIXED64);
	memcpy(end, &v, sizeof(v));
	to->len = (size_t)(end - to->p) + sizeof(v);
}

static void put_bytes(struct buf *to, uint32_t field, struct span s)
{
	if (buf_reserve(to, wire_bytes_len(field, s.n)))
		to->len = (size_t)(wire_put_bytes(to->p + to->len, field, s) - to->p);
}

static void put_texts(struct buf *to, uint32_t field, const char *const *texts, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		put_bytes(to, field, span_str(texts[i]));
}

static void put_layout(struct buf *to, const struct layout *t, const void *from, uint32_t self);

static void put_processes(struct buf *to, uint32_t field, const galvo_process *all, size_t n,
                          uint32_t self)
{
	struct buf one;
	size_t i;

	buf_init(&one, SIDECAR_BYTES_MAX);
	for (i = 0; i < n; i++) {
		galvo_process p = all[i];

		p.pid = p.pid ? p.pid : self;
		one.len = 0;
		put_layout(&one, &process_layout, &p, self);
		to->failed = to->failed || one.failed;
		put_bytes(to, field, span_of(one.p, one.len));
	}
	buf_finish(&one);
}

static size_t size_of(const struct member *m)
{
	switch (m->kind) {
	case MEMBER_U32:
		return sizeof(uint32_t);
	case MEMBER_U64:
	case MEMBER_DOUBLE:
		return sizeof(uint64_t);
	case MEMBER_CHARS:
		return 0;
	case MEMBER_SPAN:
		return sizeof(struct span);
	default:
		return sizeof(void *);
	}
}

static void put_member(struct buf *to, const struct member *m, const void *from, uint32_t self)
{
	const char *at = (const char *)from + m->at;
	union {
		uint32_t u32;
		uint64_t u64;
		double number;
		const char *text;
		struct span span;
		const char *const *texts;
		const galvo_process *processes;
	} is;
	size_t n = 0;

	memcpy(&is, at, size_of(m));
	if (m->len_at)
		memcpy(&n, (const char *)from + m->len_at, sizeof(n));
	switch (m->kind) {
	case MEMBER_U32:
		put_number(to, m->number, is.u32);
		break;
	case MEMBER_U64:
		put_number(to, m->number, is.u64);
		break;
	case MEMBER_DOUBLE:
		put_double(to, m->number, is.number);
		break;
	case MEMBER_TEXT:
		put_texts(to, m->number, &is.text, is.text != NULL);
		break;
	case MEMBER_CHARS:
		put_bytes(to, m->number, span_of(at, strnlen(at, m->bytes)));
		break;
	case MEMBER_SPAN:
		if (is.span.n)
			put_bytes(to, m->number, is.span);
		break;
	case MEMBER_TEXTS:
		put_texts(to, m->number, is.texts, n);
		break;
	case MEMBER_PROCESSES:
		put_processes(to, m->number, is.processes, n, self);
		break;
	}
}

static void put_layout(struct buf *to, const struct layout *t, const void *from, uint32_t self)
{
	size_t i;

	for (i = 0; i < t->len; i++)
		put_member(to, &t->members[i], from, self);
}

void sidecar_put_message(struct buf *to, const struct sidecar_message *m)
{
	put_layout(to, &message_layout, m, 0);
}

void sidecar_put_config(struct buf *to, const galvo_suite_config *c, uint32_t self)
{
	put_layout(to, &config_layout, c, self);
}

void sidecar_put_workload(struct buf *to, const galvo_workload *w)
{
	put_layout(to, &workload_layout, w, 0);
}

void sidecar_put_child(struct buf *to, const galvo_child *c)
{
	put_layout(to, &child_layout, c, 0);
}

void sidecar_put_stats(struct buf *to, const galvo_suite_stats *s)
{
	put_layout(to, &stats_layout, s, 0);
}

void sidecar_put_note(struct buf *to, const galvo_note *n)
{
	put_layout(to, &note_layout, n, 0);
}

void sidecar_put_gpu(struct buf *to, const galvo_gpu_device *d)
{
	put_layout(to, &gpu_layout, d, 0);
}

/* ---- out of bytes --------------------------------------------------------------------------------- */

void sidecar_memory_free(struct sidecar_memory *m)
{
	size_t i;

	for (i = 0; i < m->arrays_len; i++)
		free(m->arrays[i]);
	free(m->texts);
	*m = (struct sidecar_memory){0};
}

static galvo_status refuse(const struct layout *t, galvo_error *reterr)
{
	return err_set(reterr, GALVO_ERR_MALFORMED, "sidecar: that is no %s", t->name);
}

/* A text with its NUL is no longer than the field that it came in. */
static const char *copy_text(struct sidecar_memory *m, struct span s)
{
	char *to = m->texts + m->texts_used;

	memcpy(to, s.p, s.n);
	to[s.n] = '\0';
	m->texts_used += s.n + 1;
	return to;
}

static const struct member *find_member(const struct layout *t, uint32_t number)
{
	size_t i;

	for (i = 0; i < t->len; i++)
		if (t->members[i].number == number)
			return &t->members[i];
	return NULL;
}

static enum wire_type type_of(enum member_kind kind)
{
	return kind == MEMBER_DOUBLE ? WIRE_FIXED64
	       : kind == MEMBER_U32 || kind == MEMBER_U64 ? WIRE_VARINT : WIRE_BYTES;
}

/* Fields of that number. */
static size_t count_fields(struct span bytes, uint32_t number)
{
	struct wire_field f;
	size_t n = 0;

	while (wire_next(&bytes, &f) == GALVO_OK)
		n += f.number == number;
	return n;
}

/* The array that a first element of it needs, for all of them. */
static void *make_array(struct sidecar_memory *memory, size_t n, size_t size)
{
	void *array = memory->arrays_len < ARRAY_LEN(memory->arrays) ? alloc_array(n, size) : NULL;

	if (array)
		memory->arrays[memory->arrays_len++] = array;
	return array;
}

static galvo_status take_layout(const struct layout *t, struct span bytes, void *to,
                               struct sidecar_memory *memory, galvo_error *reterr);

/* One more of an array; `all` are the fields of the whole message. */
static galvo_status take_element(const struct layout *t, const struct member *m,
                                 const struct wire_field *f, struct span all, void *to,
                                 struct sidecar_memory *memory, galvo_error *reterr)
{
	const size_t size = m->kind == MEMBER_TEXTS ? sizeof(char *) : sizeof(galvo_process);
	char *array, *len_at = (char *)to + m->len_at;
	size_t len;

	memcpy(&len, len_at, sizeof(len));
	memcpy(&array, (char *)to + m->at, sizeof(array));
	if (!array)
		array = make_array(memory, count_fields(all, m->number), size);
	if (!array)
		return err_set(reterr, GALVO_ERR_NOMEM, "out of memory");
	memcpy((char *)to + m->at, &array, sizeof(array));
	if (m->kind == MEMBER_PROCESSES) {
		galvo_status status = take_layout(&process_layout, f->bytes, array + len * size, memory,
		                                 reterr);

		if (status != GALVO_OK)
			return status;
	} else if (f->bytes.n && memchr(f->bytes.p, '\0', f->bytes.n)) {
		return refuse(t, reterr);
	} else {
		const char *text = copy_text(memory, f->bytes);

		memcpy(array + len * size, &text, sizeof(text));
	}
	len++;
	memcpy(len_at, &len, sizeof(len));
	return GALVO_OK;
}

static galvo_status take_member(const struct layout *t, const struct member *m,
                                const struct wire_field *f, struct span all, void *to,
                                struct sidecar_memory *memory, galvo_error *reterr)
{
	char *at = (char *)to + m->at;
	uint32_t u32 = (uint32_t)f->value;
	const char *text;

	if (f->type != type_of(m->kind) || (m->kind == MEMBER_U32 && f->value > UINT32_MAX))
		return refuse(t, reterr);
	switch (m->kind) {
	case MEMBER_U32:
		memcpy(at, &u32, sizeof(u32));
		break;
	case MEMBER_U64:
	case MEMBER_DOUBLE:
		memcpy(at, &f->value, sizeof(f->value));
		break;
	case MEMBER_TEXT:
		if (f->bytes.n && memchr(f->bytes.p, '\0', f->bytes.n))
			return refuse(t, reterr);
		text = copy_text(memory, f->bytes);
		memcpy(at, &text, sizeof(text));
		break;
	case MEMBER_CHARS:
		utf8_copy(at, m->bytes, f->bytes);
		break;
	case MEMBER_SPAN:
		memcpy(at, &f->bytes, sizeof(f->bytes));
		break;
	case MEMBER_TEXTS:
	case MEMBER_PROCESSES:
		return take_element(t, m, f, all, to, memory, reterr);
	}
	return GALVO_OK;
}

static galvo_status take_layout(const struct layout *t, struct span bytes, void *to,
                               struct sidecar_memory *memory, galvo_error *reterr)
{
	const struct member *m;
	struct span rest = bytes;
	struct wire_field f;
	galvo_status field, status = GALVO_OK;

	while ((field = wire_next(&rest, &f)) == GALVO_OK && status == GALVO_OK) {
		m = find_member(t, f.number);
		status = m ? take_member(t, m, &f, bytes, to, memory, reterr) : refuse(t, reterr);
	}
	if (status == GALVO_OK && field != GALVO_DONE)
		return refuse(t, reterr);
	return status;
}

static galvo_status take(const struct layout *t, struct span bytes, void *ret,
                         struct sidecar_memory *memory, galvo_error *reterr)
{
	memset(ret, 0, t->struct_bytes);
	memcpy(ret, &t->struct_bytes, sizeof(t->struct_bytes));
	*memory = (struct sidecar_memory){.texts = alloc_array(bytes.n ? bytes.n : 1, 1)};
	if (!memory->texts)
		return err_set(reterr, GALVO_ERR_NOMEM, "out of memory");
	return take_layout(t, bytes, ret, memory, reterr);
}

galvo_status sidecar_take_message(struct span bytes, struct sidecar_message *ret,
                                  struct sidecar_memory *memory, galvo_error *reterr)
{
	return take(&message_layout, bytes, ret, memory, reterr);
}

galvo_status sidecar_take_config(struct span bytes, galvo_suite_config *ret,
                                 struct sidecar_memory *memory, galvo_error *reterr)
{
	return take(&config_layout, bytes, ret, memory, reterr);
}

galvo_status sidecar_take_workload(struct span bytes, galvo_workload *ret,
                                   struct sidecar_memory *memory, galvo_error *reterr)
{
	return take(&workload_layout, bytes, ret, memory, reterr);
}

galvo_status sidecar_take_child(struct span bytes, galvo_child *ret, struct sidecar_memory *memory,
                                galvo_error *reterr)
{
	return take(&child_layout, bytes, ret, memory, reterr);
}

galvo_status sidecar_take_stats(struct span bytes, galvo_suite_stats *ret,
                                struct sidecar_memory *memory, galvo_error *reterr)
{
	return take(&stats_layout, bytes, ret, memory, reterr);
}

galvo_status sidecar_take_note(struct span bytes, galvo_note *ret, struct sidecar_memory *memory,
                               galvo_error *reterr)
{
	return take(&note_layout, bytes, ret, memory, reterr);
}

galvo_status sidecar_take_gpu(struct span bytes, galvo_gpu_device *ret, struct sidecar_memory *memory,
                              galvo_error *reterr)
{
	return take(&gpu_layout, bytes, ret, memory, reterr);
}
