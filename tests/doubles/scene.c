/* Makes and maps scenes, and plays what all doubles have in common: time, curves, faults. */
#include "scene.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static struct scene *map_file(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC, 0600);
	void *at = MAP_FAILED;
	struct stat st;

	if (fd < 0)
		return NULL;
	if ((!(flags & O_CREAT) || ftruncate(fd, sizeof(struct scene)) == 0) &&
	    fstat(fd, &st) == 0 && st.st_size == sizeof(struct scene))
		at = mmap(NULL, sizeof(struct scene), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	return at == MAP_FAILED ? NULL : at;
}

static uint64_t clock_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

struct scene *scene_new(const char *path)
{
	struct scene *s = map_file(path, O_RDWR | O_CREAT | O_TRUNC);

	if (!s)
		return NULL;
	s->magic = SCENE_MAGIC;
	s->bytes = sizeof(*s);
	s->seed = 1;
	snprintf(s->driver_version, sizeof(s->driver_version), "580.65.06");
	s->cuda_version = 13000;
	s->cupti_version = 130001;
	s->sample_bytes = 7872;
	s->slot_bytes = 64;
	/* What the real ones do, measured on an H100. */
	s->stretch_ns = 300000000;
	s->tail = 1;
	s->begin_mono_ns = clock_ns(CLOCK_MONOTONIC);
	s->wall_offset_ns = clock_ns(CLOCK_REALTIME) - s->begin_mono_ns;
	return s;
}

struct scene *scene_map(const char *path)
{
	struct scene *s = map_file(path, O_RDWR);

	if (s && (s->magic != SCENE_MAGIC || s->bytes != sizeof(*s))) {
		scene_unmap(s);
		s = NULL;
	}
	return s;
}

void scene_unmap(struct scene *s)
{
	if (s)
		munmap(s, sizeof(*s));
}

static void set_curves(struct scene_device *d)
{
	static const struct {
		int curve, shape;
		uint64_t a;
		double b;
		uint64_t period_ns;
	} rows[] = {
		{CURVE_gpu_pct, SHAPE_SQUARE, 20, 60, 2000000000},
		{CURVE_memory_pct, SHAPE_SQUARE, 10, 30, 2000000000},
		{CURVE_memory_used, SHAPE_LINE, UINT64_C(1) << 30, 1048576.0, 0},
		{CURVE_memory_reserved, SHAPE_CONSTANT, UINT64_C(512) << 20, 0, 0},
		{CURVE_power_mw, SHAPE_NOISE, 300000, 100000, 100000000},
		{CURVE_power_average_mw, SHAPE_CONSTANT, 350000, 0, 0},
		{CURVE_power_limit_mw, SHAPE_CONSTANT, 700000, 0, 0},
		{CURVE_energy_mj, SHAPE_LINE, 1000000, 350000, 0},
		{CURVE_temperature_c, SHAPE_CONSTANT, 61, 0, 0},
		{CURVE_memory_temperature_c, SHAPE_CONSTANT, 70, 0, 0},
		{CURVE_graphics_mhz, SHAPE_CONSTANT, 1755, 0, 0},
		{CURVE_sm_mhz, SHAPE_CONSTANT, 1755, 0, 0},
		{CURVE_memory_mhz, SHAPE_CONSTANT, 2619, 0, 0},
		{CURVE_video_mhz, SHAPE_CONSTANT, 1545, 0, 0},
		{CURVE_performance_state, SHAPE_CONSTANT, 0, 0, 0},
		{CURVE_fan_pct, SHAPE_CONSTANT, 0, 0, 0},
		{CURVE_pcie_tx_kb_per_s, SHAPE_CONSTANT, 1000, 0, 0},
		{CURVE_pcie_rx_kb_per_s, SHAPE_CONSTANT, 3000, 0, 0},
		{CURVE_pcie_tx_bytes, SHAPE_LINE, 0, 1024000, 0},
		{CURVE_pcie_rx_bytes, SHAPE_LINE, 0, 3072000, 0},
		{CURVE_nvlink_tx_kib, SHAPE_LINE, 0, 5000, 0},
		{CURVE_nvlink_rx_kib, SHAPE_LINE, 0, 6000, 0},
		{CURVE_sm_busy_permille, SHAPE_NOISE, 0, 1000, 1000000},
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct scene_curve *c = &d->curves[rows[i].curve];

		c->shape = rows[i].shape;
		c->a = rows[i].a;
		c->b = rows[i].b;
		c->period_ns = rows[i].period_ns;
	}
	d->curves[CURVE_fan_pct].result = 3; /* boards of servers have none: NOT_SUPPORTED */
}

struct scene_device *scene_add(struct scene *s, const char *chip)
{
	uint32_t i = s->device_count;
	struct scene_device *d = &s->devices[i];

	if (i == SCENE_DEVICES)
		return NULL;
	s->device_count++;
	snprintf(d->chip, sizeof(d->chip), "%s", chip);
	snprintf(d->name, sizeof(d->name), "NVIDIA %s", chip);
	snprintf(d->uuid, sizeof(d->uuid), "GPU-00000000-0000-0000-0000-%012x", i + 1);
	snprintf(d->pci_bus_id, sizeof(d->pci_bus_id), "00000000:%02X:00.0", 0x18 + i);
	d->cuda_ordinal = (int32_t)i;
	d->minor_number = i;
	d->cc_major = 9;
	d->sm_count = 132;
	d->link_count = 18;
	d->memory_bytes = UINT64_C(141) << 30;
	d->lost_at_ns = UINT64_MAX;
	d->process_stride = 24;
	d->support = 3;
	d->events = 0x1f;
	d->uses_time_trigger = strncmp(chip, "TU", 2) != 0 && strcmp(chip, "GA100") != 0;
	set_curves(d);
	return d;
}

struct scene_fault *scene_fault(struct scene *s, int kind, const char *call, int result)
{
	struct scene_fault *f = &s->faults[s->fault_count];

	if (s->fault_count == SCENE_FAULTS)
		return NULL;
	memset(f, 0, sizeof(*f));
	snprintf(f->call, sizeof(f->call), "%s", call);
	f->device = SCENE_ALL_DEVICES;
	f->kind = kind;
	f->result = result;
	s->fault_count++;
	return f;
}

struct scene_xid *scene_xid(struct scene *s, uint32_t device, uint64_t at_ns, uint32_t code)
{
	struct scene_xid *x = &s->xids[s->xid_count];

	if (s->xid_count == SCENE_XIDS)
		return NULL;
	*x = (struct scene_xid){
		.at_ns = at_ns, .code = code, .device = (int32_t)device, .times = 1,
	};
	s->xid_count++;
	return x;
}

uint32_t scene_calls(const struct scene *s, const char *call)
{
	size_t i;

	for (i = 0; i < SCENE_COUNTS && s->counts[i].call[0]; i++)
		if (strcmp(s->counts[i].call, call) == 0)
			return s->counts[i].calls;
	return 0;
}

/* ---- time and values ------------------------------------------------------------------------- */

uint64_t scene_mono_ns(const struct scene *s)
{
	return s->is_fake ? s->fake_mono_ns : clock_ns(CLOCK_MONOTONIC);
}

uint64_t scene_now_ns(const struct scene *s)
{
	uint64_t now = scene_mono_ns(s);

	return now > s->begin_mono_ns ? now - s->begin_mono_ns : 0;
}

uint64_t scene_wall_ns(const struct scene *s)
{
	uint64_t base = s->is_fake ? s->fake_mono_ns : clock_ns(CLOCK_REALTIME);

	return base + (uint64_t)s->wall_step_ns;
}

uint64_t scene_wall_begin_ns(const struct scene *s)
{
	return s->begin_mono_ns + (s->is_fake ? 0 : s->wall_offset_ns) + (uint64_t)s->wall_step_ns;
}

static uint64_t mix(uint64_t x)
{
	x += UINT64_C(0x9e3779b97f4a7c15);
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

/* In [0, 1). */
static double fraction(uint64_t seed, uint64_t a, uint64_t b, uint64_t c)
{
	return (double)(mix(mix(mix(seed) + a) + mix(b) * 3 + mix(c) * 5) >> 11) * 0x1p-53;
}

uint64_t scene_curve_at(const struct scene *s, uint32_t device, int curve, uint64_t now_ns)
{
	const struct scene_curve *c = &s->devices[device].curves[curve];
	uint64_t period = c->period_ns ? now_ns / c->period_ns : now_ns;
	uint64_t value = c->a;
	uint32_t i;

	switch (c->shape) {
	case SHAPE_LINE: return c->a + (uint64_t)(c->b * ((double)now_ns / 1e9));
	case SHAPE_SQUARE: return period % 2 ? c->a + (uint64_t)c->b : c->a;
	case SHAPE_NOISE:
		return c->a + (uint64_t)(c->b * fraction(s->seed, device, (uint64_t)curve, period));
	case SHAPE_STEPS:
		for (i = 0; i < c->steps && c->at_ns[i] <= now_ns; i++)
			value = c->values[i];
		return value;
	default: return value;
	}
}

double scene_metric(const struct scene *s, uint32_t device, const char *metric, uint64_t start_ns,
                    uint64_t length_ns)
{
	double hz = 1e6 * (double)scene_curve_at(s, device, CURVE_sm_mhz, start_ns);
	double busy = (double)scene_curve_at(s, device, CURVE_sm_busy_permille, start_ns) / 1000;
	double seconds = (double)length_ns / 1e9, elapsed = hz * seconds, noise;
	const char *at = strchr(strstr(metric, "__") ? strstr(metric, "__") : metric, '.');
	double share =
		busy * (strstr(metric, ".max") ? 1.0 : 0.8); /* the largest is above the average */
	uint64_t name = 0;
	const char *p;

	for (p = metric; *p && p != at; p++)
		name = mix(name + (unsigned char)*p);
	noise = fraction(s->seed, device, name, start_ns);
	if (strstr(metric, "cycles_elapsed"))
		return strstr(metric, ".per_second") ? hz : elapsed;
	if (strstr(metric, ".pct"))
		return 100 * share * (0.5 + noise / 2);
	if (strstr(metric, "warps_active"))
		return 32 * elapsed * share;
	if (strstr(metric, "cycles_active"))
		return elapsed * share;
	if (strstr(metric, "bytes"))
		return (double)(uint64_t)(noise * 1e10 * seconds / 32) * 32;
	return (double)(uint64_t)(1000 * noise);
}

/* ---- for the doubles ------------------------------------------------------------------------- */

static struct scene *the_scene;
static pthread_once_t the_once = PTHREAD_ONCE_INIT;
static pthread_mutex_t the_lock = PTHREAD_MUTEX_INITIALIZER;

static void attach(void)
{
	const char *path = getenv(SCENE_VARIABLE);

	the_scene = path ? scene_map(path) : NULL;
	if (!the_scene) {
		fprintf(stderr, "a double of NVIDIA's: " SCENE_VARIABLE " names no scene\n");
		abort();
	}
}

struct scene *scene_of_process(void)
{
	pthread_once(&the_once, attach);
	return the_scene;
}

__attribute__((format(printf, 1, 0))) static void tell(const char *fmt, va_list args)
{
	struct scene *s = scene_of_process();
	uint32_t i = atomic_fetch_add(&s->violation_count, 1);

	if (i < SCENE_VIOLATIONS)
		vsnprintf(s->violations[i], sizeof(s->violations[i]), fmt, args);
}

void scene_violation(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	tell(fmt, args);
	va_end(args);
}

void scene_crash(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	tell(fmt, args);
	va_end(args);
	if (scene_of_process()->aborts)
		abort();
}

static void count_call(struct scene *s, const char *call)
{
	size_t i;

	pthread_mutex_lock(&the_lock);
	for (i = 0; i < SCENE_COUNTS; i++) {
		if (!s->counts[i].call[0])
			snprintf(s->counts[i].call, sizeof(s->counts[i].call), "%s", call);
		if (strcmp(s->counts[i].call, call) == 0) {
			s->counts[i].calls++;
			break;
		}
	}
	pthread_mutex_unlock(&the_lock);
}

static bool is_named(const char *pattern, const char *call)
{
	size_t n = strlen(pattern);

	return n && pattern[n - 1] == '*' ? strncmp(pattern, call, n - 1) == 0
	                                  : strcmp(pattern, call) == 0;
}

/* Is it its time, its device, and its turn? Counts the turn. */
static bool is_due(struct scene *s, struct scene_fault *f, int device)
{
	uint64_t now = scene_now_ns(s);
	uint32_t turn;

	if (f->device != SCENE_ALL_DEVICES && f->device != device)
		return false;
	if (now < f->from_ns || (f->until_ns && now >= f->until_ns))
		return false;
	turn = atomic_fetch_add(&f->seen, 1);
	return turn >= f->skip && (f->times == 0 || turn < f->skip + f->times);
}

static void wait_ns(uint64_t ns)
{
	struct timespec t = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};

	nanosleep(&t, NULL);
}

int scene_enter(const char *call, int device)
{
	struct scene *s = scene_of_process();
	uint32_t i;

	if (!s->is_light)
		count_call(s, call);
	for (i = 0; i < s->fault_count; i++) {
		struct scene_fault *f = &s->faults[i];

		if (f->kind > FAULT_SLOW || !is_named(f->call, call) || !is_due(s, f, device))
			continue;
		if (f->kind == FAULT_HANG) {
			atomic_fetch_add(&s->hanging, 1);
			while (!s->released)
				wait_ns(1000000);
			atomic_fetch_sub(&s->hanging, 1);
		} else if (f->kind == FAULT_SLOW) {
			wait_ns(f->value);
		}
		if (f->result)
			return f->result;
	}
	return 0;
}

const struct scene_fault *scene_applies(int kind, int device)
{
	struct scene *s = scene_of_process();
	uint32_t i;

	for (i = 0; i < s->fault_count; i++)
		if (s->faults[i].kind == kind && is_due(s, &s->faults[i], device))
			return &s->faults[i];
	return NULL;
}

int scene_by_ordinal(long long ordinal)
{
	const struct scene *s = scene_of_process();
	uint32_t i;

	for (i = 0; i < s->device_count; i++)
		if (ordinal >= 0 && s->devices[i].cuda_ordinal == ordinal)
			return (int)i;
	return -1;
}

bool scene_is_lost(uint32_t device)
{
	struct scene *s = scene_of_process();

	return scene_now_ns(s) >= s->devices[device].lost_at_ns;
}
