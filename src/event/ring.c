/* The callers' side: a record into the ring without waiting, and back out of it. */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "internal.h"

#define POSITION_NONE UINT64_MAX

struct gate *gate_create(bool must_be_emptied)
{
	struct gate *g = mmap(NULL, sizeof(*g), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (g == MAP_FAILED)
		return NULL;
	/* Linux 4.14. Before, a child records into a copy of the ring that nobody reads, if it has one. */
	if (madvise(g, sizeof(*g), MADV_WIPEONFORK) != 0 && must_be_emptied) {
		munmap(g, sizeof(*g));
		return NULL;
	}
	return g;
}

void gate_destroy(struct gate *g)
{
	if (g)
		munmap(g, sizeof(*g));
}

struct ring *ring_create(void)
{
	struct ring *r = mmap(NULL, sizeof(*r), PROT_READ | PROT_WRITE,
	                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return r == MAP_FAILED ? NULL : r;
}

static galvo_status map_shared(int fd, struct ring **ret_ring, galvo_error *reterr)
{
	struct ring *r = mmap(NULL, sizeof(*r), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);

	if (r == MAP_FAILED)
		return err_sys(reterr, errno, "memory for regions");
	*ret_ring = r;
	return GALVO_OK;
}

/* Sealed: memory that shrinks is memory that kills who reads it. */
galvo_status ring_create_shared(struct ring **ret_ring, int *ret_fd, galvo_error *reterr)
{
	int fd = fd_keep(memfd_create("galvo-regions", MFD_CLOEXEC | MFD_ALLOW_SEALING));
	int failed = fd < 0 ? errno : file_set_size(fd, sizeof(struct ring));
	galvo_status status;

	if (!failed && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
		failed = errno;
	if (failed)
		status = err_sys(reterr, failed, "memory for regions");
	else
		status = map_shared(fd, ret_ring, reterr);
	if (status == GALVO_OK)
		*ret_fd = fd;
	else if (fd >= 0)
		close(fd);
	return status;
}

galvo_status ring_map(int fd, struct ring **ret_ring, galvo_error *reterr)
{
	int seals = fcntl(fd, F_GET_SEALS);
	struct stat facts;

	if (seals < 0 || !(seals & F_SEAL_SHRINK) || fstat(fd, &facts) != 0 ||
	    facts.st_size != (off_t)sizeof(struct ring))
		return err_set(reterr, GALVO_ERR_MALFORMED, "that is no memory for regions");
	return map_shared(fd, ret_ring, reterr);
}

void ring_destroy(struct ring *r)
{
	if (r)
		munmap(r, sizeof(*r));
}

static uint64_t cells_of(size_t name_bytes)
{
	size_t more = name_bytes > HEAD_TEXT_BYTES ? name_bytes - HEAD_TEXT_BYTES : 0;

	return 1 + (more + CELL_TEXT_BYTES - 1) / CELL_TEXT_BYTES;
}

static struct cell *cell_at(struct ring *r, uint64_t position)
{
	return &r->cells[position % CELLS];
}

/*
 * Cells for a record if that leaves no more than `max` in use. The acquire pairs with the reader's
 * release: what it has read there, it has read.
 */
static uint64_t claim(struct ring *r, uint64_t cells, uint64_t max)
{
	uint64_t at = atomic_load_explicit(&r->tail, memory_order_relaxed);

	for (;;) {
		uint64_t head = atomic_load_explicit(&r->head, memory_order_acquire);

		/* A tail that is behind the head is old: the exchange will say so. */
		if (at >= head && at - head + cells > max)
			break;
		if (atomic_compare_exchange_weak_explicit(&r->tail, &at, at + cells,
		                                          memory_order_relaxed,
		                                          memory_order_relaxed))
			return at;
	}
	atomic_fetch_add_explicit(&r->dropped, 1, memory_order_relaxed);
	return POSITION_NONE;
}

static void put_name(struct ring *r, uint64_t at, struct span name)
{
	size_t n = name.n < HEAD_TEXT_BYTES ? name.n : HEAD_TEXT_BYTES, done;

	if (n)
		memcpy(cell_at(r, at)->is.head.text, name.p, n);
	for (done = n; done < name.n; done += n) {
		n = name.n - done < CELL_TEXT_BYTES ? name.n - done : CELL_TEXT_BYTES;
		memcpy(cell_at(r, ++at)->is.text, name.p + done, n);
	}
}

static void publish(struct ring *r, uint64_t at)
{
	atomic_store_explicit(&cell_at(r, at)->ready, at + 1, memory_order_release);
}

bool ring_take(struct ring *r, uint64_t *at, char text[EVENT_NAME_MAX], struct record *ret)
{
	struct cell *c = cell_at(r, *at);
	size_t n, done, name_bytes;
	uint64_t more;

	if (atomic_load_explicit(&c->ready, memory_order_acquire) != *at + 1)
		return false;
	name_bytes = c->is.head.name_bytes;
	*ret = (struct record){
		.kind = (enum record_kind)c->is.head.kind, .position = *at,
		.mono_ns = c->is.head.mono_ns, .thread = c->is.head.thread, .pid = c->is.head.pid,
		.id = *at + 1,
		.name = span_of(text, name_bytes < EVENT_NAME_MAX ? name_bytes : EVENT_NAME_MAX),
	};
	if (ret->kind == RECORD_END)
		memcpy(&ret->id, c->is.head.text, sizeof(ret->id));
	if (ret->kind >= RECORD_GPU_STARTED)
		memcpy(&ret->times, c->is.head.text, sizeof(ret->times));
	n = ret->name.n < HEAD_TEXT_BYTES ? ret->name.n : HEAD_TEXT_BYTES;
	memcpy(text, c->is.head.text, n);
	for (done = n, more = *at + 1; done < ret->name.n; done += n, more++) {
		n = ret->name.n - done < CELL_TEXT_BYTES ? ret->name.n - done : CELL_TEXT_BYTES;
		memcpy(text + done, cell_at(r, more)->is.text, n);
	}
	*at = more;
	return true;
}

/* ---- trackers ------------------------------------------------------------------------------------- */

/*
 * The kernel's number of the calling thread. Asking is a system call, so each thread remembers the
 * answer; after fork the answer is another, and so is the process.
 */
static uint32_t thread_number(uint32_t pid)
{
	static _Thread_local __attribute__((tls_model("initial-exec"))) uint32_t number, number_pid;

	if (number_pid != pid) {
		number = (uint32_t)syscall(SYS_gettid);
		number_pid = pid;
	}
	return number;
}

uint32_t caller_number(const galvo_tracker *t, uint32_t *ret_pid)
{
	*ret_pid = atomic_load_explicit(&t->gate->pid, memory_order_relaxed);
	return thread_number(*ret_pid);
}

/* A time of 0 is now, as late as can be: what a begin costs is not in the region. */
uint64_t ring_begin(galvo_tracker *t, enum record_kind kind, struct span name, uint64_t mono_ns,
                    uint32_t thread, uint32_t pid)
{
	struct ring *r = t->ring;
	struct cell *c;
	uint64_t at;

	name.n = name.n < EVENT_NAME_MAX ? name.n : EVENT_NAME_MAX;
	at = claim(r, cells_of(name.n), USED_MAX);
	if (at == POSITION_NONE)
		return 0;
	c = cell_at(r, at);
	c->is.head.kind = (uint16_t)kind;
	c->is.head.thread = thread;
	c->is.head.pid = pid;
	c->is.head.name_bytes = (uint16_t)name.n;
	put_name(r, at, name);
	c->is.head.mono_ns = mono_ns ? mono_ns : t->clock->mono_ns(t->clock);
	publish(r, at);
	return at + 1;
}

/* What ends something: there is room for it, as what was begun left that. */
static void put_end(struct ring *r, enum record_kind kind, const void *text, size_t text_bytes,
                    uint64_t mono_ns, uint32_t thread)
{
	uint64_t at = claim(r, 1, CELLS);
	struct cell *c;

	if (at == POSITION_NONE)
		return;
	c = cell_at(r, at);
	c->is.head.kind = (uint16_t)kind;
	c->is.head.thread = thread;
	c->is.head.pid = 0;
	c->is.head.name_bytes = 0;
	memcpy(c->is.head.text, text, text_bytes);
	c->is.head.mono_ns = mono_ns;
	publish(r, at);
}

static void record_end(galvo_tracker *t, uint64_t id, uint64_t mono_ns, uint32_t thread)
{
	put_end(t->ring, RECORD_END, &id, sizeof(id), mono_ns, thread);
}

void ring_put_times(struct ring *r, enum record_kind kind, const struct gpu_times *times,
                    uint64_t end_mono_ns, uint32_t thread)
{
	_Static_assert(sizeof(*times) <= HEAD_TEXT_BYTES, "they are in one cell");
	put_end(r, kind, times, sizeof(*times), end_mono_ns, thread);
}

bool ring_is_crowded(struct ring *r)
{
	if (!atomic_load_explicit(&r->is_crowded, memory_order_relaxed))
		return false;
	atomic_fetch_add_explicit(&r->dropped, 1, memory_order_relaxed);
	return true;
}

uint64_t tracker_begin(galvo_tracker *t, struct span name, uint64_t mono_ns, uint32_t pid)
{
	if (!tracker_is_recording(t) || ring_is_crowded(t->ring))
		return 0;
	return ring_begin(t, RECORD_BEGIN, name, mono_ns, 0, pid);
}

void tracker_end(galvo_tracker *t, uint64_t id, uint64_t mono_ns)
{
	if (id && tracker_is_recording(t))
		record_end(t, id, mono_ns, 0);
}

void tracker_mark(galvo_tracker *t, struct span name, uint64_t mono_ns, uint32_t pid)
{
	if (tracker_is_recording(t))
		ring_begin(t, RECORD_MARK, name, mono_ns, 0, pid);
}

uint64_t galvo_region_begin(galvo_tracker *t, const char *name, size_t name_len)
{
	uint32_t pid, thread;

	if (!tracker_is_recording(t))
		return 0;
	if (t->gpu)
		return gpu_begin(t, span_of(name, name_len));
	if (ring_is_crowded(t->ring))
		return 0;
	thread = caller_number(t, &pid);
	return ring_begin(t, RECORD_BEGIN, span_of(name, name_len), 0, thread, pid);
}

void galvo_region_end(galvo_tracker *t, uint64_t id)
{
	uint32_t pid;

	if (!id || !tracker_is_recording(t))
		return;
	if (t->gpu)
		gpu_end(t, id);
	else
		record_end(t, id, t->clock->mono_ns(t->clock), caller_number(t, &pid));
}

void galvo_mark(galvo_tracker *t, const char *name, size_t name_len)
{
	uint32_t pid, thread;

	if (!tracker_is_recording(t))
		return;
	if (t->gpu) {
		gpu_mark(t, span_of(name, name_len));
		return;
	}
	thread = caller_number(t, &pid);
	ring_begin(t, RECORD_MARK, span_of(name, name_len), 0, thread, pid);
}

static galvo_status refuse_all(galvo_error *reterr)
{
	return err_set(reterr, GALVO_ERR_ABSENT, "regions: switched off");
}

galvo_status galvo_tracker_status(const galvo_tracker *t, galvo_error *reterr)
{
	galvo_status status;

	if (!t || !t->ring)
		return refuse_all(reterr);
	status = t->gpu ? gpu_status(t->gpu, reterr) : GALVO_OK;
	if (status != GALVO_OK)
		return status;
	if (!tracker_is_recording(t) ||
	    atomic_load_explicit(&t->ring->is_closed, memory_order_relaxed))
		return err_set(reterr, GALVO_ERR_STATE, "regions: nothing is recorded now");
	return GALVO_OK;
}

galvo_domain galvo_tracker_domain(const galvo_tracker *t)
{
	return t->domain == DOMAIN_GPU ? GALVO_DOMAIN_GPU : GALVO_DOMAIN_HOST;
}

galvo_status galvo_tracker_set_stream(galvo_tracker *t, void *stream, galvo_error *reterr)
{
	if (t->domain != DOMAIN_GPU)
		return err_set(reterr, GALVO_ERR_INVALID, "a tracker of the host has no stream");
	return t->gpu ? gpu_set_stream(t->gpu, stream, reterr) : refuse_all(reterr);
}
