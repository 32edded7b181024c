/* Reads scenes from text. */
#include "scene_text.h"

#include <stddef.h>

/* A member that NAME= sets. */
struct key {
	const char *name;
	enum { KEY_U32, KEY_U64, KEY_I32, KEY_NS, KEY_DOUBLE, KEY_TEXT } type;
	size_t offset, bytes;
};

#define KEY(name, type, tag, member)                                                               \
	{                                                                                          \
		name, type, offsetof(struct tag, member), sizeof(((struct tag *)0)->member)        \
	}

static const struct key scene_keys[] = {
	KEY("seed", KEY_U64, scene, seed),
	KEY("driver", KEY_TEXT, scene, driver_version),
	KEY("cuda", KEY_I32, scene, cuda_version),
	KEY("cupti", KEY_U32, scene, cupti_version),
	KEY("layout", KEY_U32, scene, layout_version),
	KEY("real", KEY_TEXT, scene, real_cupti),
	KEY("init", KEY_U32, scene, init_result),
	KEY("aborts", KEY_U32, scene, aborts),
	KEY("sample_bytes", KEY_U32, scene, sample_bytes),
	KEY("slot_bytes", KEY_U32, scene, slot_bytes),
	KEY("stretch", KEY_NS, scene, stretch_ns),
	KEY("tail", KEY_U32, scene, tail),
	KEY("gpu_delay", KEY_NS, scene, gpu_delay_ns),
	KEY("gpu_ppm", KEY_I32, scene, gpu_ppm),
	KEY("gpu_set_at", KEY_NS, scene, gpu_set_at_ns),
	KEY("gpu_set_by", KEY_NS, scene, gpu_set_by_ns),
	KEY("clock", KEY_NS, scene, fake_mono_ns),
};

static const struct key gpu_keys[] = {
	KEY("name", KEY_TEXT, scene_device, name),
	KEY("uuid", KEY_TEXT, scene_device, uuid),
	KEY("pci", KEY_TEXT, scene_device, pci_bus_id),
	KEY("ordinal", KEY_I32, scene_device, cuda_ordinal),
	KEY("minor", KEY_U32, scene_device, minor_number),
	KEY("sms", KEY_U32, scene_device, sm_count),
	KEY("links", KEY_U32, scene_device, link_count),
	KEY("memory", KEY_U64, scene_device, memory_bytes),
	KEY("lost", KEY_NS, scene_device, lost_at_ns),
	KEY("stride", KEY_U32, scene_device, process_stride),
	KEY("support", KEY_I32, scene_device, support),
	KEY("mig_result", KEY_I32, scene_device, mig_result),
	KEY("mig", KEY_U32, scene_device, mig_current),
	KEY("mig_pending", KEY_U32, scene_device, mig_pending),
	KEY("migs", KEY_U32, scene_device, max_mig_count),
	KEY("use_raw", KEY_U32, scene_device, use_raw),
	KEY("nvlink5", KEY_U32, scene_device, nvlink5),
	KEY("events", KEY_U32, scene_device, events),
};

static const struct key curve_keys[] = {
	KEY("result", KEY_I32, scene_curve, result),
	KEY("a", KEY_U64, scene_curve, a),
	KEY("b", KEY_DOUBLE, scene_curve, b),
	KEY("period", KEY_NS, scene_curve, period_ns),
};

static const struct key process_keys[] = {
	KEY("pid", KEY_U32, scene_process, pid),
	KEY("memory", KEY_U64, scene_process, memory_bytes),
	KEY("gi", KEY_U32, scene_process, gpu_instance),
	KEY("ci", KEY_U32, scene_process, compute_instance),
	KEY("from", KEY_NS, scene_process, from_ns),
	KEY("until", KEY_NS, scene_process, until_ns),
};

static const struct key use_keys[] = {
	KEY("pid", KEY_U32, scene_use, pid),     KEY("at", KEY_U64, scene_use, timestamp),
	KEY("sm", KEY_U32, scene_use, sm),       KEY("memory", KEY_U32, scene_use, memory),
	KEY("enc", KEY_U32, scene_use, encoder), KEY("dec", KEY_U32, scene_use, decoder),
};

static const struct key mig_keys[] = {
	KEY("gi", KEY_U32, scene_mig, gpu_instance),
	KEY("ci", KEY_U32, scene_mig, compute_instance),
	KEY("memory", KEY_U64, scene_mig, memory_bytes),
	KEY("used", KEY_U64, scene_mig, used_bytes),
	KEY("uuid", KEY_TEXT, scene_mig, uuid),
};

static const struct key xid_keys[] = {
	KEY("at", KEY_NS, scene_xid, at_ns),         KEY("code", KEY_U32, scene_xid, code),
	KEY("device", KEY_I32, scene_xid, device),   KEY("times", KEY_U32, scene_xid, times),
	KEY("astray", KEY_U32, scene_xid, is_astray),
};

static const struct key fault_keys[] = {
	KEY("call", KEY_TEXT, scene_fault, call),    KEY("device", KEY_I32, scene_fault, device),
	KEY("result", KEY_I32, scene_fault, result), KEY("value", KEY_NS, scene_fault, value),
	KEY("from", KEY_NS, scene_fault, from_ns),   KEY("until", KEY_NS, scene_fault, until_ns),
	KEY("skip", KEY_U32, scene_fault, skip),     KEY("times", KEY_U32, scene_fault, times),
};

static const char *const curve_names[] = {
#define X(name) #name,
	SCENE_CURVES(X)
#undef X
};
static const char *const shapes[] = {"constant", "line", "square", "noise", "steps"};
static const char *const fault_kinds[] = {"result", "hang",       "slow",       "overflow",
                                          "stuck",  "no_samples", "stop_other", "zero_stamps",
                                          "nan",    "unfinished", "stall"};
static const char *const process_kinds[] = {"compute", "graphics", "mps"};

static bool find_word(struct span word, const char *const *words, size_t n, size_t *ret)
{
	for (*ret = 0; *ret < n; ++*ret)
		if (span_eq_str(word, words[*ret]))
			return true;
	return false;
}

static bool take_ns(struct span s, uint64_t *ret)
{
	static const struct {
		const char *unit;
		uint64_t ns;
	} units[] = {{"us", 1000}, {"ms", 1000000}, {"s", 1000000000}};
	struct span number = s;
	uint64_t by = 1;
	size_t i, n;

	for (i = 0; i < ARRAY_LEN(units); i++) {
		n = strlen(units[i].unit);
		if (by == 1 && s.n > n && span_eq_str(span_of(s.p + s.n - n, n), units[i].unit)) {
			by = units[i].ns;
			number.n -= n;
		}
	}
	if (!span_to_u64(number, ret) || *ret > UINT64_MAX / by)
		return false;
	*ret *= by;
	return true;
}

static bool set_member(void *at, const struct key *key, struct span value)
{
	bool negative = key->type == KEY_I32 && span_starts(value, "-");
	uint64_t number = 0;
	double real = 0;

	if (key->type == KEY_TEXT) {
		if (value.n >= key->bytes)
			return false;
		memset(at, 0, key->bytes);
		memcpy(at, value.p, value.n);
		return true;
	}
	if (key->type == KEY_DOUBLE) {
		if (!span_to_double(value, &real))
			return false;
		memcpy(at, &real, sizeof(real));
		return true;
	}
	if (negative)
		value = span_of(value.p + 1, value.n - 1);
	if (!(key->type == KEY_NS ? take_ns(value, &number) : span_to_u64(value, &number)))
		return false;
	if (key->bytes == 4) {
		uint32_t small = negative ? 0 - (uint32_t)number : (uint32_t)number;

		memcpy(at, &small, sizeof(small));
		return number <= UINT32_MAX;
	}
	memcpy(at, &number, sizeof(number));
	return true;
}

struct parse {
	struct scene *s;
	struct scene_device *gpu; /* that lines are of */
	struct scene_curve *curve;
	void *at; /* what the words of this line are of */
	const struct key *keys;
	size_t key_count;
	struct scene_process *process;
	struct scene_fault *fault;
	const char *want; /* of an error */
};

static void words_of(struct parse *p, void *at, const struct key *keys, size_t n)
{
	p->at = at;
	p->keys = keys;
	p->key_count = n;
}

/* The line's first words: what the rest is of. */
static bool begin_line(struct parse *p, struct span word, struct span *rest)
{
	struct span second = span_of(NULL, 0);
	char chip[16] = "";
	size_t i;

	p->curve = NULL;
	p->process = NULL;
	p->fault = NULL;
	if (span_eq_str(word, "scene")) {
		words_of(p, p->s, scene_keys, ARRAY_LEN(scene_keys));
		return true;
	}
	if (span_eq_str(word, "fault")) {
		p->want = "a kind of fault";
		if (!span_take_word(rest, &second) ||
		    !find_word(second, fault_kinds, ARRAY_LEN(fault_kinds), &i))
			return false;
		p->fault = scene_fault(p->s, (int)i, "", 0);
		words_of(p, p->fault, fault_keys, ARRAY_LEN(fault_keys));
		return p->fault != NULL;
	}
	if (span_eq_str(word, "gpu")) {
		p->want = "a chip";
		if (!span_take_word(rest, &second) || second.n >= sizeof(chip))
			return false;
		memcpy(chip, second.p, second.n);
		p->gpu = scene_add(p->s, chip);
		words_of(p, p->gpu, gpu_keys, ARRAY_LEN(gpu_keys));
		return p->gpu != NULL;
	}
	if (span_eq_str(word, "xid")) {
		p->want = "a place for one more";
		i = p->s->device_count ? p->s->device_count - 1 : 0;
		words_of(p, scene_xid(p->s, (uint32_t)i, 0, 0), xid_keys, ARRAY_LEN(xid_keys));
		return p->at != NULL;
	}
	p->want = "scene, gpu, curve, process, use, mig, xid or fault, of them scene or gpu at first";
	if (!p->gpu)
		return false;
	if (span_eq_str(word, "curve")) {
		p->want = "a curve";
		if (!span_take_word(rest, &second) ||
		    !find_word(second, curve_names, SCENE_CURVE_COUNT, &i))
			return false;
		p->curve = &p->gpu->curves[i];
		memset(p->curve, 0, sizeof(*p->curve));
		words_of(p, p->curve, curve_keys, ARRAY_LEN(curve_keys));
		return true;
	}
	if (span_eq_str(word, "process") && p->gpu->process_count < SCENE_PROCESSES) {
		p->process = &p->gpu->processes[p->gpu->process_count++];
		p->process->gpu_instance = p->process->compute_instance = UINT32_MAX;
		words_of(p, p->process, process_keys, ARRAY_LEN(process_keys));
		return true;
	}
	if (span_eq_str(word, "use") && p->gpu->use_count < SCENE_SAMPLES) {
		words_of(p, &p->gpu->uses[p->gpu->use_count++], use_keys, ARRAY_LEN(use_keys));
		return true;
	}
	if (span_eq_str(word, "mig")) {
		words_of(p, NULL, mig_keys, ARRAY_LEN(mig_keys));
		return true;
	}
	return false;
}

/* NAME=VALUE that no table of members has. */
static bool set_special(struct parse *p, struct span name, struct span value)
{
	struct scene_curve *c = p->curve;
	uint64_t number = 0;
	size_t i;

	if (p->keys == mig_keys && span_eq_str(name, "index") && span_to_u64(value, &number) &&
	    number < SCENE_MIG) {
		p->gpu->migs[number].there = 1;
		p->at = &p->gpu->migs[number];
		return true;
	}
	if (c && span_eq_str(name, "shape") && find_word(value, shapes, ARRAY_LEN(shapes), &i)) {
		c->shape = (int32_t)i;
		return true;
	}
	if (p->process && span_eq_str(name, "kind") &&
	    find_word(value, process_kinds, ARRAY_LEN(process_kinds), &i)) {
		p->process->kind = (uint32_t)i;
		return true;
	}
	if (c && c->steps < SCENE_STEPS && take_ns(name, &c->at_ns[c->steps]) &&
	    span_to_u64(value, &c->values[c->steps])) {
		c->steps++;
		return true;
	}
	return false;
}

static bool set_word(struct parse *p, struct span word)
{
	struct span value = word, name;
	size_t i;

	p->want = "NAME=VALUE that belongs here";
	if (!span_cut(&value, '=', &name))
		return false;
	if (p->keys == scene_keys && span_eq_str(name, "clock"))
		p->s->is_fake = 1;
	for (i = 0; p->at && i < p->key_count; i++)
		if (span_eq_str(name, p->keys[i].name))
			return set_member((char *)p->at + p->keys[i].offset, &p->keys[i], value);
	return set_special(p, name, value);
}

galvo_status scene_parse(struct scene *s, const char *name, struct span text, galvo_error *reterr)
{
	struct parse p = {.s = s};
	struct span rest = text, line, word;

	while (span_take_line(&rest, &line)) {
		word.n = 0;
		if (!span_take_word(&line, &word) || word.p[0] == '#')
			continue;
		if (!begin_line(&p, word, &line))
			return err_malformed(reterr, name, text, word, p.want);
		while (span_take_word(&line, &word) && word.p[0] != '#')
			if (!set_word(&p, word))
				return err_malformed(reterr, name, text, word, p.want);
	}
	if (s->is_fake)
		s->begin_mono_ns = s->fake_mono_ns;
	return GALVO_OK;
}
