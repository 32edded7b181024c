/* The threads that are inside vendors' libraries: one for each library, one for each GPU. */
#include <stdlib.h>
#include <string.h>

#include "telemetry_internal.h"

/* ---- the library ----------------------------------------------------------------------------- */

void library_use_free(struct library_use *use)
{
	if (!use)
		return;
	free((char *)(uintptr_t)use->places.nvml);
	free((char *)(uintptr_t)use->places.root);
	world_close(&use->world);
	free(use);
}

galvo_status library_use_new(const struct gpu_vendor *vendor, const struct telemetry_config *config,
                             struct library_use **ret_use, galvo_error *reterr)
{
	struct library_use *use = calloc(1, sizeof(*use));
	const struct gpu_places *places = &config->places;
	galvo_status status;

	if (!use)
		return err_set(reterr, GALVO_ERR_NOMEM, "out of memory");
	use->vendor = vendor;
	status = world_dup(&use->world, config->world, reterr);
	use->places = *places;
	use->places.nvml = places->nvml ? strdup(places->nvml) : NULL;
	use->places.root = places->root ? strdup(places->root) : NULL;
	if (status == GALVO_OK &&
	    (!use->places.nvml != !places->nvml || !use->places.root != !places->root))
		status = err_set(reterr, GALVO_ERR_NOMEM, "out of memory");
	if (status == GALVO_OK)
		*ret_use = use;
	else
		library_use_free(use);
	return status;
}

/* On the thread that leaves it last: it may take its time. */
static void use_leave(struct library_use *use)
{
	if (!use || atomic_fetch_sub(&use->users, 1) != 1)
		return;
	if (use->library)
		use->vendor->end(use->library);
	library_use_free(use);
}

/* ---- finders --------------------------------------------------------------------------------- */

static void find(struct worker *w)
{
	struct finder *f = (struct finder *)(void *)w;
	struct library_use *use = f->use;

	err_clear(&f->error);
	f->status = GALVO_OK;
	if (!use->library)
		f->status = use->vendor->begin(&use->places, &use->world, &use->library, &f->error);
	if (f->status == GALVO_OK)
		f->status = use->vendor->count(use->library, &f->gpus, &f->error);
}

static void finder_end(struct worker *w)
{
	struct finder *f = (struct finder *)(void *)w;

	use_leave(f->use);
	f->use = NULL;
}

static void finder_release(struct worker *w)
{
	finder_end(w); /* it may never have had a thread */
	free(w);
}

struct finder *finder_new(struct library_use *use)
{
	struct finder *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->worker.work = find;
	f->worker.end = finder_end;
	f->worker.release = finder_release;
	snprintf(f->worker.name, sizeof(f->worker.name), "galvo-%s", use->vendor->name);
	f->use = use;
	f->vendor = use->vendor;
	atomic_fetch_add(&use->users, 1);
	return f;
}

/* ---- readers --------------------------------------------------------------------------------- */

static void hand_over(struct reader *r, unsigned group)
{
	atomic_fetch_or_explicit(&r->ready, UINT32_C(1) << group, memory_order_release);
}

static void let_device_go(struct reader *r)
{
	if (r->device)
		r->use->vendor->detach(r->device);
	r->device = NULL;
}

static uint64_t now_of(const struct reader *r)
{
	return r->use->world.clock->mono_ns(r->use->world.clock);
}

static void begin(struct reader *r, unsigned group)
{
	atomic_store(&r->doing_mono_ns, now_of(r));
	atomic_store(&r->doing, group);
}

static void look(struct reader *r)
{
	const struct gpu_vendor *vendor = r->use->vendor;

	begin(r, GPU_LOOK);
	err_clear(&r->look_error);
	r->look_status = GALVO_OK;
	if (!r->device)
		r->look_status = vendor->attach(r->use->library, r->number, &r->device, &r->look_error);
	if (!r->device)
		r->look_status = GALVO_ERR_ABSENT; /* whatever the reason */
	else
		r->look_status = vendor->look(r->device, r->infos, &r->parts_len, &r->look_error);
	if (r->look_status == GALVO_ERR_ABSENT)
		let_device_go(r);
	hand_over(r, GPU_LOOK);
}

struct user_sink {
	struct raw_sink sink; /* first */
	struct reader *reader;
	size_t part;
};

static struct raw *user_row(struct raw_sink *sink, struct span name, uint32_t pid)
{
	struct user_sink *to = (struct user_sink *)(void *)sink;
	struct told_user **at = &to->reader->users[to->part].at, *user;
	size_t *len = &to->reader->users[to->part].len;
	size_t i;

	(void)name;
	for (i = 0; i < *len; i++)
		if ((*at)[i].pid == pid)
			return &(*at)[i].raw;
	if (!grow_array((void **)at, &to->reader->users[to->part].cap, *len, sizeof(*user), USERS_MAX))
		return NULL;
	user = &(*at)[(*len)++];
	user->pid = pid;
	raw_clear(&user->raw);
	return &user->raw;
}

static uint64_t cpu_of(const struct reader *r)
{
	return r->use->world.live ? thread_cpu_ns() : 0;
}

static galvo_status read_part(struct reader *r, unsigned group, size_t part, galvo_error *reterr)
{
	struct user_sink users = {.sink.row = user_row, .reader = r, .part = part};
	struct finished *to = &r->finished[group];
	struct raw_only_sink only = {.sink.row = raw_only_row};
	bool is_of_users = group == GPU_PROCESSES;
	uint64_t before = now_of(r);
	galvo_status status;

	raw_clear(&only.raw);
	if (is_of_users) /* else they may be with the sampler */
		r->users[part].len = 0;
	status = r->use->vendor->read[group](r->device, part, is_of_users ? &users.sink : &only.sink,
	                                     reterr);
	to->mono_ns[part] = before + (now_of(r) - before) / 2;
	to->raw[part] = only.raw;
	return status;
}

/* False: it is gone. */
static bool read_group(struct reader *r, unsigned group)
{
	struct finished *to = &r->finished[group];
	uint64_t before = now_of(r), cpu = cpu_of(r);
	galvo_status status = GALVO_OK;
	galvo_error error;
	size_t i;

	begin(r, group);
	to->status = GALVO_OK;
	err_clear(&to->error);
	for (i = 0; i < r->parts_len && status != GALVO_ERR_ABSENT; i++) {
		err_clear(&error);
		status = read_part(r, group, i, &error);
		if (status != GALVO_OK && (to->status == GALVO_OK || status == GALVO_ERR_ABSENT)) {
			to->status = status;
			to->error = error;
		}
	}
	to->took_ns = now_of(r) - before;
	to->cpu_ns = cpu_of(r) - cpu;
	if (to->status == GALVO_ERR_ABSENT)
		let_device_go(r);
	hand_over(r, group);
	return r->device != NULL;
}

static void work(struct worker *w)
{
	struct reader *r = (struct reader *)(void *)w;
	unsigned group;

	if (r->wanted >> GPU_LOOK & 1 || !r->device)
		look(r);
	for (group = 0; r->device && group < GPU_GROUPS; group++)
		if (r->wanted >> group & 1 && r->use->vendor->read[group] && !read_group(r, group))
			return;
}

static void reader_end(struct worker *w)
{
	struct reader *r = (struct reader *)(void *)w;

	let_device_go(r);
	use_leave(r->use);
	r->use = NULL;
}

static void reader_release(struct worker *w)
{
	struct reader *r = (struct reader *)(void *)w;
	size_t i;

	reader_end(w);
	for (i = 0; i < GPU_PARTS_MAX; i++)
		free(r->users[i].at);
	free(r);
}

struct reader *reader_new(struct library_use *use, uint32_t number)
{
	struct reader *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->worker.work = work;
	r->worker.end = reader_end;
	r->worker.release = reader_release;
	snprintf(r->worker.name, sizeof(r->worker.name), "galvo-gpu%u", number % VENDOR_NUMBERS);
	r->use = use;
	r->number = number;
	atomic_fetch_add(&use->users, 1);
	return r;
}
