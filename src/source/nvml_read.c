/* Readings of one of NVIDIA's GPUs: what it does now, its links, what changes slowly. */
#include "nvml_device.h"

#define MHZ UINT64_C(1000000)
#define KB UINT64_C(1000)
#define VALUES_MAX (8 + 2 * NVML_MAX_LINKS)

/* ---- fields ---------------------------------------------------------------------------------- */

/* As a number without sign; false: it is none, or says that there is none. */
static bool number_of(const struct nvml_field_value *v, uint64_t *ret)
{
	int64_t whole = 0;

	switch (v->valueType) {
	case NVML_DOUBLE:
		if (!(v->value.dVal >= 0 && v->value.dVal < 0x1p62))
			return false;
		*ret = (uint64_t)v->value.dVal;
		return true;
	case NVML_UINT:
		*ret = v->value.uiVal;
		return !gpu_is_blank32(v->value.uiVal);
	case NVML_ULONG: *ret = v->value.ulVal; break;
	case NVML_ULLONG: *ret = v->value.ullVal; break;
	case NVML_LLONG: whole = v->value.sllVal; break;
	case NVML_INT: whole = v->value.siVal; break;
	case NVML_USHORT: *ret = v->value.usVal; return true;
	default: return false;
	}
	if (v->valueType == NVML_LLONG || v->valueType == NVML_INT)
		*ret = (uint64_t)whole;
	if (v->valueType == NVML_INT && whole >= 0 && gpu_is_blank32((uint32_t)whole))
		return false;
	return whole >= 0 && !gpu_is_blank64(*ret);
}

struct asked {
	struct nvml_field_value values[VALUES_MAX];
	uint8_t row[VALUES_MAX]; /* whose value it is */
	size_t len;
};

static void ask_for(struct asked *a, const struct nvml_field_row *row, uint8_t i, uint32_t scope)
{
	if (a->len == VALUES_MAX)
		return;
	a->values[a->len] = (struct nvml_field_value){.fieldId = row->id, .scopeId = scope};
	a->row[a->len++] = i;
}

static void collect(const struct gpu_device *d, const struct nvml_part *p,
                    const struct nvml_field_row *rows, unsigned first, size_t n, struct asked *a)
{
	uint32_t link;
	size_t i;

	a->len = 0;
	for (i = 0; i < n; i++) {
		if (!nvml_may_ask(d, p, ASK_FIELD + first + (unsigned)i))
			continue;
		if (rows[i].scope != NVML_EACH_LINK)
			ask_for(a, &rows[i], (uint8_t)i, rows[i].scope);
		for (link = 0; rows[i].scope == NVML_EACH_LINK && link < d->links; link++)
			ask_for(a, &rows[i], (uint8_t)i, link);
	}
}

/* The sum of what row i got; of links, those that are down have nothing to add. */
static bool sum_up(struct gpu_device *d, struct nvml_part *p, const struct asked *a, uint8_t i,
                   bool is_of_links, unsigned question, uint64_t *ret)
{
	const size_t call = offsetof(struct nvml, field_values);
	bool is_told = false;
	uint64_t number;
	size_t k;

	*ret = 0;
	for (k = 0; k < a->len; k++) {
		if (a->row[k] != i)
			continue;
		if (a->values[k].nvmlReturn == NVML_OK && number_of(&a->values[k], &number)) {
			*ret += number;
			is_told = true;
		} else if (!is_of_links) {
			nvml_answered(d, p, question, call, a->values[k].nvmlReturn);
		}
	}
	if (is_of_links && !is_told)
		nvml_answered(d, p, question, call, NVML_NOT_SUPPORTED);
	return is_told;
}

void nvml_fields(struct gpu_device *d, struct nvml_part *p, const struct nvml_field_row *rows,
                 unsigned first, size_t n, struct raw *r)
{
	uint64_t number;
	struct asked a;
	size_t i;

	collect(d, p, rows, first, n, &a);
	if (!a.len || !NVML_ASK(d, p, ASK_FIELDS, field_values, (int)a.len, a.values))
		return;
	for (i = 0; i < n; i++)
		if (nvml_may_ask(d, p, ASK_FIELD + first + (unsigned)i) &&
		    !(r->present & FIELD(rows[i].field)) &&
		    sum_up(d, p, &a, (uint8_t)i, rows[i].scope == NVML_EACH_LINK,
		           ASK_FIELD + first + (unsigned)i, &number))
			raw_put_scaled(r, rows[i].field, number, rows[i].scale);
}

/* ---- what it does now ------------------------------------------------------------------------ */

/* Where each table of fields begins among the questions. */
enum { FAST_FIELDS = 0, LINK_FIELDS = 4, DETAIL_FIELDS = 12 };

static const struct nvml_field_row fast_fields[] = {
	{NVML_FIELD_POWER_AVERAGE_MW, NVML_POWER_GPU, GPU_POWER_MW, 1},
	{NVML_FIELD_POWER_INSTANT_MW, NVML_POWER_GPU, GPU_POWER_INSTANT_MW, 1},
	{NVML_FIELD_ENERGY_MJ, 0, GPU_ENERGY_MJ, 1},
	{NVML_FIELD_MEMORY_TEMPERATURE, 0, GPU_MEMORY_TEMPERATURE_MC, 1000},
};
_Static_assert(FAST_FIELDS + ARRAY_LEN(fast_fields) <= LINK_FIELDS, "each has questions of its own");

bool nvml_memory(struct gpu_device *d, struct nvml_part *p, struct nvml_memory_v2 *ret)
{
	struct nvml_memory old;

	*ret = (struct nvml_memory_v2){.version = NVML_VERSION(nvml_memory_v2, 2)};
	if (NVML_ASK(d, p, ASK_MEMORY_V2, memory_v2, ret))
		return true;
	if (!NVML_ASK(d, p, ASK_MEMORY, memory, &old))
		return false;
	/* Of what is reserved it counts in `used`, and says no more. */
	*ret = (struct nvml_memory_v2){
		.total = old.total, .free = old.free, .used = old.used, .reserved = UINT64_MAX,
	};
	return true;
}

static void read_memory(struct gpu_device *d, struct nvml_part *p, struct raw *r)
{
	struct nvml_memory_v2 m;

	if (!nvml_memory(d, p, &m))
		return;
	if (!gpu_is_blank64(m.used))
		raw_put(r, GPU_MEMORY_USED_BYTES, m.used);
	if (!gpu_is_blank64(m.total))
		raw_put(r, GPU_MEMORY_TOTAL_BYTES, m.total);
	if (!gpu_is_blank64(m.reserved))
		raw_put(r, GPU_MEMORY_RESERVED_BYTES, m.reserved);
}

/* The tables of fields have been asked: what they did not tell, older calls may. */
static void read_power(struct gpu_device *d, struct nvml_part *p, struct raw *r)
{
	unsigned long long energy_mj;
	unsigned mw;

	if (!(r->present & FIELD(GPU_POWER_MW)) && NVML_ASK(d, p, ASK_POWER, power_usage, &mw))
		raw_put(r, GPU_POWER_MW, mw);
	if (!(r->present & FIELD(GPU_ENERGY_MJ)) && NVML_ASK(d, p, ASK_ENERGY, energy, &energy_mj) &&
	    !gpu_is_blank64(energy_mj))
		raw_put(r, GPU_ENERGY_MJ, energy_mj);
	if (NVML_ASK(d, p, ASK_POWER_LIMIT, power_limit, &mw))
		raw_put(r, GPU_POWER_LIMIT_MW, mw);
}

static void read_temperature(struct gpu_device *d, struct nvml_part *p, struct raw *r)
{
	struct nvml_temperature t = {.version = NVML_VERSION(nvml_temperature, 1),
	                             .sensorType = NVML_SENSOR_GPU};
	unsigned celsius;

	/* Below zero is beyond belief, too: it becomes a large number. */
	if (NVML_ASK(d, p, ASK_TEMPERATURE_V, temperature_v, &t))
		raw_put(r, GPU_TEMPERATURE_MC, (uint64_t)((int64_t)t.temperature * 1000));
	else if (NVML_ASK(d, p, ASK_TEMPERATURE, temperature, NVML_SENSOR_GPU, &celsius))
		raw_put(r, GPU_TEMPERATURE_MC, (uint64_t)celsius * 1000);
}

static void read_clocks(struct gpu_device *d, struct nvml_part *p, struct raw *r)
{
	static const uint8_t fields[] = {
		[NVML_GRAPHICS] = GPU_CLOCK_GRAPHICS_HZ,
		[NVML_SM] = GPU_CLOCK_SM_HZ,
		[NVML_MEM] = GPU_CLOCK_MEMORY_HZ,
		[NVML_VIDEO] = GPU_CLOCK_VIDEO_HZ,
	};
	unsigned i, mhz;

	for (i = 0; i < ARRAY_LEN(fields); i++)
		if (NVML_ASK(d, p, ASK_CLOCK + i, clock, (int)i, &mhz))
			raw_put(r, fields[i], mhz * MHZ);
}

static void read_throttling(struct gpu_device *d, struct nvml_part *p, struct raw *r)
{
	static const struct {
		uint32_t bit;
		uint8_t field;
	} reasons[] = {
		{NVML_REASON_IDLE, GPU_THROTTLE_IDLE},
		{NVML_REASON_APPLICATION, GPU_THROTTLE_APP_CLOCKS},
		{NVML_REASON_POWER_CAP, GPU_THROTTLE_SW_POWER_CAP},
		{NVML_REASON_HW_SLOWDOWN, GPU_THROTTLE_HW_SLOWDOWN},
		{NVML_REASON_SYNC_BOOST, GPU_THROTTLE_SYNC_BOOST},
		{NVML_REASON_SW_THERMAL, GPU_THROTTLE_SW_THERMAL},
		{NVML_REASON_HW_THERMAL, GPU_THROTTLE_HW_THERMAL},
		{NVML_REASON_POWER_BRAKE, GPU_THROTTLE_HW_POWER_BRAKE},
	};
	unsigned long long bits;
	size_t i;

	if (!NVML_ASK(d, p, ASK_REASONS, clock_reasons, &bits) || gpu_is_blank64(bits))
		return;
	for (i = 0; i < ARRAY_LEN(reasons); i++)
		raw_put(r, reasons[i].field, (bits & reasons[i].bit) != 0);
}

galvo_status nvml_read_fast(struct gpu_device *d, size_t part, struct raw_sink *sink,
                            galvo_error *reterr)
{
	struct nvml_part *p = &d->parts[part];
	struct raw *r = row_only(sink);
	struct nvml_utilization use;
	int state;

	nvml_reading_begin(d);
	read_memory(d, p, r);
	if (part) /* of an instance the others would tell what the whole does, or nothing */
		return nvml_reading_end(d, reterr);
	if (NVML_ASK(d, p, ASK_UTILIZATION, utilization, &use)) {
		raw_put(r, GPU_UTILIZATION_PERMILLE, (uint64_t)use.gpu * 10);
		raw_put(r, GPU_MEMORY_UTILIZATION_PERMILLE, (uint64_t)use.memory_pct * 10);
	}
	nvml_fields(d, p, fast_fields, FAST_FIELDS, ARRAY_LEN(fast_fields), r);
	read_power(d, p, r);
	read_temperature(d, p, r);
	read_clocks(d, p, r);
	read_throttling(d, p, r);
	/* 32 stands for unknown. */
	if (NVML_ASK(d, p, ASK_PERFORMANCE_STATE, performance_state, &state) && state >= 0 && state != 32)
		raw_put(r, GPU_PERFORMANCE_STATE, (uint64_t)state);
	tegra_read(d, r);
	return nvml_reading_end(d, reterr);
}

/* ---- links ----------------------------------------------------------------------------------- */

/* Rows that come first are preferred. */
static const struct nvml_field_row link_fields[] = {
	{NVML_FIELD_PCIE_RX_BYTES, 0, GPU_PCIE_RX_BYTES, 1},
	{NVML_FIELD_PCIE_TX_BYTES, 0, GPU_PCIE_TX_BYTES, 1},
	{NVML_FIELD_NVLINK_DATA_RX_KIB, NVML_ALL_LINKS, GPU_NVLINK_RX_BYTES, KIB},
	{NVML_FIELD_NVLINK_DATA_TX_KIB, NVML_ALL_LINKS, GPU_NVLINK_TX_BYTES, KIB},
};
/* Blackwell. */
static const struct nvml_field_row each_link_fields[] = {
	{NVML_FIELD_NVLINK5_RX_BYTES, NVML_EACH_LINK, GPU_NVLINK_RX_BYTES, 1},
	{NVML_FIELD_NVLINK5_TX_BYTES, NVML_EACH_LINK, GPU_NVLINK_TX_BYTES, 1},
};
enum { EACH_LINK_FIELDS = LINK_FIELDS + ARRAY_LEN(link_fields) };
_Static_assert(EACH_LINK_FIELDS + ARRAY_LEN(each_link_fields) <= DETAIL_FIELDS,
               "each has questions of its own");

/* Its counters of bytes answer, if not now then another time. */
static bool has_pcie_bytes(const struct gpu_device *d, const struct nvml_part *p)
{
	return d->library->nvml.field_values && nvml_may_ask(d, p, ASK_FIELDS) &&
	       nvml_may_ask(d, p, ASK_FIELD + LINK_FIELDS) &&
	       nvml_may_ask(d, p, ASK_FIELD + LINK_FIELDS + 1);
}

/* Each of the two calls measures for 20 ms: once a second is enough. */
static void read_pcie_throughput(struct gpu_device *d, struct nvml_part *p, struct raw *r)
{
	const struct clock *clock = d->library->world->clock;
	uint64_t now_mono_ns = clock->mono_ns(clock);
	unsigned kb;

	if (!d->pcie_mono_ns || now_mono_ns - d->pcie_mono_ns >= NS_PER_S) {
		d->pcie_mono_ns = now_mono_ns;
		d->pcie_rx_bytes = d->pcie_tx_bytes = UINT64_MAX;
		if (NVML_ASK(d, p, ASK_PCIE_RX, pcie_throughput, NVML_RX, &kb))
			d->pcie_rx_bytes = kb * KB;
		if (NVML_ASK(d, p, ASK_PCIE_TX, pcie_throughput, NVML_TX, &kb))
			d->pcie_tx_bytes = kb * KB;
	}
	if (d->pcie_rx_bytes != UINT64_MAX)
		raw_put(r, GPU_PCIE_RX_BYTES_PER_S, d->pcie_rx_bytes);
	if (d->pcie_tx_bytes != UINT64_MAX)
		raw_put(r, GPU_PCIE_TX_BYTES_PER_S, d->pcie_tx_bytes);
}

galvo_status nvml_read_link(struct gpu_device *d, size_t part, struct raw_sink *sink,
                            galvo_error *reterr)
{
	const uint32_t links = FIELD(GPU_NVLINK_RX_BYTES) | FIELD(GPU_NVLINK_TX_BYTES);
	struct nvml_part *p = &d->parts[part];
	struct raw *r = row_only(sink);
	unsigned pct, period;

	nvml_reading_begin(d);
	if (part)
		return GALVO_OK;
	nvml_fields(d, p, link_fields, LINK_FIELDS, ARRAY_LEN(link_fields), r);
	if (d->links && !(r->present & links))
		nvml_fields(d, p, each_link_fields, EACH_LINK_FIELDS, ARRAY_LEN(each_link_fields), r);
	if (NVML_ASK(d, p, ASK_ENCODER, encoder_utilization, &pct, &period))
		raw_put(r, GPU_ENCODER_PERMILLE, (uint64_t)pct * 10);
	if (NVML_ASK(d, p, ASK_DECODER, decoder_utilization, &pct, &period))
		raw_put(r, GPU_DECODER_PERMILLE, (uint64_t)pct * 10);
	if (!has_pcie_bytes(d, p))
		read_pcie_throughput(d, p, r);
	return nvml_reading_end(d, reterr);
}

/* ---- what changes slowly --------------------------------------------------------------------- */

static const struct nvml_field_row detail_fields[] = {
	{NVML_FIELD_PCIE_REPLAYS, 0, GPU_PCIE_REPLAYS, 1},
	{NVML_FIELD_SLOWED_POWER_NS, 0, GPU_THROTTLED_POWER_NS, 1},
	{NVML_FIELD_SLOWED_SW_THERMAL_NS, 0, GPU_THROTTLED_SW_THERMAL_NS, 1},
	{NVML_FIELD_SLOWED_HW_THERMAL_NS, 0, GPU_THROTTLED_HW_THERMAL_NS, 1},
	{NVML_FIELD_SLOWED_POWER_BRAKE_NS, 0, GPU_THROTTLED_POWER_BRAKE_NS, 1},
	{NVML_FIELD_SLOWED_SYNC_NS, 0, GPU_THROTTLED_SYNC_BOOST_NS, 1},
};
_Static_assert(DETAIL_FIELDS + ARRAY_LEN(detail_fields) <= NVML_FIELDS_MAX,
               "there are questions for all of them");

static void read_max_clocks(struct gpu_device *d, struct nvml_part *p, struct raw *r)
{
	static const uint8_t fields[] = {
		[NVML_GRAPHICS] = GPU_CLOCK_GRAPHICS_MAX_HZ,
		[NVML_SM] = GPU_CLOCK_SM_MAX_HZ,
		[NVML_MEM] = GPU_CLOCK_MEMORY_MAX_HZ,
	};
	unsigned i, mhz;

	for (i = 0; i < ARRAY_LEN(fields); i++)
		if (NVML_ASK(d, p, ASK_MAX_CLOCK + i, max_clock, (int)i, &mhz))
			raw_put(r, fields[i], mhz * MHZ);
}

static void read_errors(struct gpu_device *d, struct nvml_part *p, struct raw *r)
{
	unsigned long long n;

	if (NVML_ASK(d, p, ASK_ECC_CORRECTED, ecc_errors, NVML_CORRECTED, NVML_VOLATILE, &n) &&
	    !gpu_is_blank64(n))
		raw_put(r, GPU_ECC_CORRECTED, n);
	if (NVML_ASK(d, p, ASK_ECC_UNCORRECTED, ecc_errors, NVML_UNCORRECTED, NVML_VOLATILE, &n) &&
	    !gpu_is_blank64(n))
		raw_put(r, GPU_ECC_UNCORRECTED, n);
}

/* As they were listed last, on the whole GPU or on all of its instances. */
static void count_processes(const struct gpu_device *d, size_t part, struct raw *r)
{
	bool is_known = d->parts[part].has_processes;
	uint64_t n = d->parts[part].processes_len;
	size_t i;

	for (i = 1; part == 0 && i < d->parts_len; i++) {
		is_known = (is_known || i == 1) && d->parts[i].has_processes;
		n += d->parts[i].processes_len;
	}
	if (is_known)
		raw_put(r, GPU_PROCESS_COUNT, n);
}

galvo_status nvml_read_detail(struct gpu_device *d, size_t part, struct raw_sink *sink,
                              galvo_error *reterr)
{
	struct nvml_part *p = &d->parts[part];
	struct raw *r = row_only(sink);
	unsigned value;

	nvml_reading_begin(d);
	count_processes(d, part, r);
	if (part)
		return GALVO_OK;
	nvml_fields(d, p, detail_fields, DETAIL_FIELDS, ARRAY_LEN(detail_fields), r);
	/* Some tell one of the two kinds of heat: then that is all there is. */
	if (r->present & FIELD(GPU_THROTTLED_SW_THERMAL_NS) &&
	    p->refused >> (ASK_FIELD + DETAIL_FIELDS + 3) & 1)
		raw_put(r, GPU_THROTTLED_HW_THERMAL_NS, 0);
	read_errors(d, p, r);
	nvml_read_xids(d, p, r);
	if (NVML_ASK(d, p, ASK_PCIE_GENERATION, pcie_generation, &value))
		raw_put(r, GPU_PCIE_GENERATION, value);
	if (NVML_ASK(d, p, ASK_PCIE_WIDTH, pcie_width, &value))
		raw_put(r, GPU_PCIE_WIDTH, value);
	if (NVML_ASK(d, p, ASK_FAN, fan_speed, &value))
		raw_put(r, GPU_FAN_PERMILLE, (uint64_t)value * 10);
	read_max_clocks(d, p, r);
	return nvml_reading_end(d, reterr);
}
