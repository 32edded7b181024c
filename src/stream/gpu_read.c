/* What messages say of GPUs, read back; whose rows are whose, and when they were. */
#include <math.h>

#include "reader.h"

enum { GPUS_MAX = 1024 }; /* of one stream; rows of more are nobody's */

void gpus_init(struct gpus_build *g)
{
	*g = (struct gpus_build){0};
	buf_init(&g->anchors, SIZE_MAX / 2);
}

void gpus_finish(struct gpus_build *g)
{
	free(g->all);
	buf_finish(&g->anchors);
}

void gpus_forget_anchors(struct gpus_build *g)
{
	g->anchors.len = 0;
}

/* The GPU of that number, made on first sight; NULL: no room, and *ret_ok says if that is fine. */
static struct run_gpu *gpu_of(struct gpus_build *g, uint32_t index, bool *ret_ok)
{
	size_t i;

	*ret_ok = true;
	for (i = 0; i < g->len; i++)
		if (g->all[i].info.index == index)
			return &g->all[i];
	if (g->len == GPUS_MAX)
		return NULL;
	*ret_ok = grow_array((void **)&g->all, &g->cap, g->len, sizeof(*g->all), GPUS_MAX);
	if (!*ret_ok)
		return NULL;
	g->all[g->len] = (struct run_gpu){
		.info = {
			.index = index,
			.peak_dram_bytes_per_s = NAN,
			.peak_pcie_bytes_per_s = NAN,
			.peak_nvlink_bytes_per_s = NAN,
		},
	};
	return &g->all[g->len++];
}

/* Where a text of the message goes; the others go by take_number. */
static bool take_text(struct gpu_info *to, const struct wire_field *f)
{
	const struct {
		uint32_t field;
		char *at;
		size_t cap;
	} texts[] = {
		{GPU_NAME, to->name, sizeof(to->name)},
		{GPU_CHIP, to->chip, sizeof(to->chip)},
		{GPU_VENDOR, to->vendor, sizeof(to->vendor)},
		{GPU_UUID, to->uuid, sizeof(to->uuid)},
		{GPU_PCI, to->pci, sizeof(to->pci)},
		{GPU_DRIVER, to->driver, sizeof(to->driver)},
		{GPU_NOTE, to->note, sizeof(to->note)},
	};
	struct span text = f->bytes;
	size_t i;

	text.n = text.n ? strnlen(text.p, text.n) : 0;
	for (i = 0; i < ARRAY_LEN(texts); i++)
		if (f->type == WIRE_BYTES && f->number == texts[i].field) {
			utf8_copy(texts[i].at, texts[i].cap, text);
			return true;
		}
	return false;
}

static double peak_of(uint64_t bits)
{
	double peak;

	memcpy(&peak, &bits, sizeof(peak));
	return isfinite(peak) && peak > 0 ? peak : NAN;
}

static void take_number(struct gpu_info *to, const struct wire_field *f)
{
	const uint64_t v = f->type == WIRE_VARINT ? f->value : 0;

	switch ((enum gpu_field)f->number) {
	case GPU_INDEX: to->index = (uint32_t)v; break;
	case GPU_PEAK_DRAM: to->peak_dram_bytes_per_s = peak_of(f->value); break;
	case GPU_PEAK_PCIE: to->peak_pcie_bytes_per_s = peak_of(f->value); break;
	case GPU_PEAK_NVLINK: to->peak_nvlink_bytes_per_s = peak_of(f->value); break;
	case GPU_MEMORY_BYTES: to->memory_bytes = v; break;
	case GPU_SM_COUNT: to->sm_count = (uint32_t)v; break;
	case GPU_WARPS_PER_SM: to->warps_per_sm = (uint32_t)v; break;
	case GPU_COMPUTE_MAJOR: to->compute_major = (uint32_t)v; break;
	case GPU_COMPUTE_MINOR: to->compute_minor = (uint32_t)v; break;
	case GPU_IS_INSTANCE: to->is_instance = v != 0; break;
	case GPU_PARENT: to->parent = (uint32_t)v; break;
	case GPU_INSTANCE: to->gpu_instance = (uint32_t)v; break;
	case GPU_COMPUTE_INSTANCE: to->compute_instance = (uint32_t)v; break;
	case GPU_FOREIGN_PIDS: to->foreign_pids = v != 0; break;
	case GPU_LOST_NS: to->lost_mono_ns = v; break;
	default: break;
	}
}

static bool gpu_read(struct gpus_build *g, struct span bytes, bool in_telemetry)
{
	struct gpu_info info = {
		.peak_dram_bytes_per_s = NAN,
		.peak_pcie_bytes_per_s = NAN,
		.peak_nvlink_bytes_per_s = NAN,
	};
	struct run_gpu *gpu;
	struct wire_field f;
	bool ok;

	while (wire_next(&bytes, &f) == GALVO_OK)
		if (!take_text(&info, &f))
			take_number(&info, &f);
	gpu = gpu_of(g, info.index, &ok);
	if (gpu) {
		gpu->info = info;
		gpu->in_telemetry = in_telemetry;
	}
	return ok;
}

static bool decode_read(struct gpus_build *g, struct span bytes)
{
	struct decode_stats d = {0};
	struct run_gpu *gpu;
	struct wire_field f;
	struct span reason;
	bool ok;

	while (wire_next(&bytes, &f) == GALVO_OK) {
		if (f.number == DECODE_REASON && f.type == WIRE_BYTES) {
			reason = f.bytes;
			reason.n = reason.n ? strnlen(reason.p, reason.n) : 0;
			utf8_copy(d.reason, sizeof(d.reason), reason);
		}
		if (f.type != WIRE_VARINT)
			continue;
		switch (f.number) {
		case DECODE_GPU: d.gpu = (uint32_t)f.value; break;
#define X(member, field, meaning) case field: d.member = f.value; break;
		DECODE_COUNTS(X)
#undef X
		case DECODE_INTERVAL_NS: d.interval_ns = f.value; break;
		case DECODE_BUFFER_BYTES: d.buffer_bytes = f.value; break;
		case DECODE_SAMPLE_BYTES: d.sample_bytes = f.value; break;
		default: break;
		}
	}
	gpu = gpu_of(g, d.gpu, &ok);
	if (gpu) {
		gpu->decode = d;
		gpu->has_decode = true;
	}
	return ok;
}

static bool anchor_read(struct gpus_build *g, struct span bytes)
{
	struct gpu_anchor anchor = {0};
	struct wire_field f;

	while (wire_next(&bytes, &f) == GALVO_OK) {
		if (f.number == ANCHORS_MONO_NS && f.type == WIRE_VARINT)
			anchor.mono_ns = f.value;
		else if (f.number == ANCHORS_GPU_NS && f.type == WIRE_VARINT)
			anchor.gpu_ns = f.value;
	}
	if (anchor.gpu_ns)
		buf_put(&g->anchors, &anchor, sizeof(anchor));
	return !g->anchors.failed;
}

bool gpus_read(struct gpus_build *g, const struct stream_form *form, uint32_t field,
               struct span bytes)
{
	if (field == TRACE_GPUS)
		return gpu_read(g, bytes, !form->has_decodes);
	if (field == TRACE_DECODE_STATS && form->has_decodes)
		return decode_read(g, bytes);
	if (field == TRACE_ANCHORS && form->has_decodes)
		return anchor_read(g, bytes);
	return true;
}

/* ---- clocks -------------------------------------------------------------------------------- */

static int compare_anchors(const void *a, const void *b)
{
	const struct gpu_anchor *x = a, *y = b;

	return x->gpu_ns < y->gpu_ns ? -1 : x->gpu_ns > y->gpu_ns;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* Of n > 0, in order of the GPUs' time. */
static const struct gpu_anchor *nearest(const struct gpu_anchor *anchors, size_t n, uint64_t gpu_ns)
{
	size_t low = 0, high = n;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (anchors[middle].gpu_ns <= gpu_ns)
			low = middle;
		else
			high = middle;
	}
	if (high < n && distance(anchors[high].gpu_ns, gpu_ns) < distance(anchors[low].gpu_ns, gpu_ns))
		low = high;
	return &anchors[low];
}

bool gpus_convert(struct gpus_build *g, const struct header *header, uint64_t *mono_ns, size_t n)
{
	const struct gpu_anchor own = {header->anchor.mono_ns, header->gpu_ns}, *anchors;
	size_t len, i;

	if (own.gpu_ns)
		buf_put(&g->anchors, &own, sizeof(own));
	if (g->anchors.failed)
		return false;
	len = g->anchors.len / sizeof(own);
	if (!len)
		return true; /* nobody says that it is another clock than ours */
	qsort(g->anchors.p, len, sizeof(own), compare_anchors);
	anchors = (const struct gpu_anchor *)(const void *)g->anchors.p;
	for (i = 0; i < n; i++) {
		const struct gpu_anchor *at = nearest(anchors, len, mono_ns[i]);

		mono_ns[i] = at->mono_ns + (mono_ns[i] - at->gpu_ns);
	}
	return true;
}

/* ---- the run's GPUs ------------------------------------------------------------------------ */

static bool is_same(const struct gpu_info *a, const struct gpu_info *b)
{
	if (a->uuid[0] && b->uuid[0])
		return !strcmp(a->uuid, b->uuid);
	return a->pci[0] && !a->is_instance && !b->is_instance && !strcmp(a->pci, b->pci);
}

#define FILL(member)                                                                               \
	do                                                                                         \
		if (!to->member[0])                                                                \
			memcpy(to->member, from->member, sizeof(to->member));                      \
	while (0)

/* What the one does not know of itself, the other may. */
static void fill(struct gpu_info *to, const struct gpu_info *from)
{
	FILL(name);
	FILL(vendor);
	FILL(chip);
	FILL(uuid);
	FILL(pci);
	FILL(driver);
	FILL(note);
	to->foreign_pids |= from->foreign_pids;
	to->lost_mono_ns = to->lost_mono_ns ? to->lost_mono_ns : from->lost_mono_ns;
	if (isnan(to->peak_dram_bytes_per_s))
		to->peak_dram_bytes_per_s = from->peak_dram_bytes_per_s;
	if (isnan(to->peak_pcie_bytes_per_s))
		to->peak_pcie_bytes_per_s = from->peak_pcie_bytes_per_s;
	if (isnan(to->peak_nvlink_bytes_per_s))
		to->peak_nvlink_bytes_per_s = from->peak_nvlink_bytes_per_s;
	to->memory_bytes = to->memory_bytes ? to->memory_bytes : from->memory_bytes;
	to->sm_count = to->sm_count ? to->sm_count : from->sm_count;
	to->warps_per_sm = to->warps_per_sm ? to->warps_per_sm : from->warps_per_sm;
	if (!to->compute_major) {
		to->compute_major = from->compute_major;
		to->compute_minor = from->compute_minor;
	}
}

/* The number that it has in the run; GPU_NONE when memory is out. */
static uint32_t merge(struct reading *r, const struct run_gpu *gpu)
{
	struct run_gpu *all = (struct run_gpu *)(void *)r->gpus.p;
	size_t n = r->gpus.len / sizeof(*gpu), i;

	for (i = 0; i < n && !is_same(&all[i].info, &gpu->info); i++)
		;
	if (i == n) {
		buf_put(&r->gpus, gpu, sizeof(*gpu));
		return r->gpus.failed ? GPU_NONE : (uint32_t)i;
	}
	fill(&all[i].info, &gpu->info);
	if (gpu->in_telemetry && !all[i].in_telemetry) /* CUDA counts in another order, those it is shown */
		all[i].info.index = gpu->info.index;
	all[i].in_telemetry |= gpu->in_telemetry;
	if (gpu->has_decode) {
		all[i].has_decode = true;
		all[i].decode = gpu->decode;
	}
	return (uint32_t)i;
}

/* Rows of GPUs that nobody named have one without a name. */
static bool number_rows(struct gpus_build *g, struct reading *r, uint32_t *numbers,
                        struct table_build *t)
{
	const struct run_gpu *gpu = NULL;
	size_t before, row;
	bool ok = true;

	for (row = 0; row < t->rows_len; row++) {
		before = g->len;
		if (!gpu || gpu->info.index != t->key[row])
			gpu = gpu_of(g, t->key[row], &ok);
		if (g->len > before) {
			numbers[before] = merge(r, gpu);
			ok = numbers[before] != GPU_NONE;
		}
		if (!ok)
			return false;
		t->key[row] = gpu ? numbers[gpu - g->all] : GPU_NONE;
	}
	return true;
}

static void number_parent(const struct gpus_build *g, struct reading *r, const uint32_t *numbers,
                          size_t instance)
{
	struct gpu_info *info = &((struct run_gpu *)(void *)r->gpus.p)[numbers[instance]].info;
	size_t i;

	if (!g->all[instance].info.is_instance)
		return;
	for (i = 0; i < g->len && g->all[i].info.index != g->all[instance].info.parent; i++)
		;
	info->parent = i < g->len ? numbers[i] : GPU_NONE;
}

bool gpus_take(struct gpus_build *g, struct reading *r, struct table_build *tables, size_t n)
{
	uint32_t *numbers = alloc_array(GPUS_MAX, sizeof(*numbers));
	bool ok = numbers != NULL;
	size_t i;

	for (i = 0; ok && i < g->len; i++) {
		numbers[i] = merge(r, &g->all[i]);
		ok = numbers[i] != GPU_NONE;
	}
	for (i = 0; ok && i < g->len; i++)
		number_parent(g, r, numbers, i);
	for (i = 0; ok && i < n; i++)
		ok = number_rows(g, r, numbers, &tables[i]);
	free(numbers);
	return ok;
}
