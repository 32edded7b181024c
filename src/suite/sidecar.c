/* The caller's half of a suite in two processes: each call is a request, and waits for its reply. */
#include <errno.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sidecar.h"

enum {
	HELLO_PATIENCE_S = 20, /* of a program that may be none of ours */
	PATIENCE_S = 60,       /* of one that waits for a file system, perhaps */
	STOP_PATIENCE_S = 19,  /* of one that ends a recording, which is bounded there, too */
	END_PATIENCE_S = 10,   /* of one that is to end */
	REAP_MS = 1000,
};

/* Our end of a socket. */
struct end {
	int fd;
	dev_t device; /* of it: the program may close what is not its own… */
	ino_t inode;  /* …and open something else under that number */
};

struct sidecar {
	struct end line, stop; /* what is said; and what is shut down to stop sampling */
	pid_t pid;
	bool is_replay;
	pthread_mutex_t lock; /* a request and its reply belong together; and of what is below */
	bool is_gone;
	struct buf out, in;
	struct drained drained; /* of whoever drains, one at a time */
};

bool sidecar_is_replay(const struct sidecar *c)
{
	return c->is_replay;
}

/* ---- a request and its reply ----------------------------------------------------------------------- */

static void keep_end(struct end *e, int fd)
{
	struct stat facts;

	e->fd = fd;
	if (fstat(fd, &facts) == 0) {
		e->device = facts.st_dev;
		e->inode = facts.st_ino;
	}
}

static bool is_ours(const struct end *e)
{
	struct stat facts;

	return e->fd >= 0 && fstat(e->fd, &facts) == 0 && facts.st_dev == e->device &&
	       facts.st_ino == e->inode;
}

static galvo_status refuse(const struct sidecar *c, galvo_error *reterr)
{
	return err_set(reterr, GALVO_ERR_STATE,
	               "sidecar: process %d has ended, or does not answer; what it recorded is there",
	               (int)c->pid);
}

static galvo_status out_of_memory(galvo_error *reterr)
{
	return err_set(reterr, GALVO_ERR_NOMEM, "sidecar: out of memory, or too much to say");
}

/* A late reply would be taken for that to another request. */
static galvo_status give_up(struct sidecar *c, galvo_status status, galvo_error *reterr)
{
	c->is_gone = true;
	if (is_ours(&c->line))
		shutdown(c->line.fd, SHUT_WR); /* which ends it */
	return status == GALVO_ERR_NOMEM ? out_of_memory(reterr) : refuse(c, reterr);
}

/* Of the reply, texts and body are in `memory` and c->in. */
static galvo_status exchange(struct sidecar *c, const struct sidecar_message *request, const int *fds,
                             size_t fds_len, struct sidecar_message *ret_reply,
                             struct sidecar_memory *memory, galvo_error *reterr)
{
	galvo_status status;

	c->out.len = 0;
	c->out.failed = false;
	sidecar_put_message(&c->out, request);
	if (c->out.failed)
		return out_of_memory(reterr);
	if (c->is_gone || !is_ours(&c->line))
		return refuse(c, reterr);
	status = sidecar_send(c->line.fd, span_of(c->out.p, c->out.len), fds, fds_len, NULL);
	if (status == GALVO_OK)
		status = sidecar_receive(c->line.fd, &c->in, NULL, NULL);
	if (status == GALVO_OK)
		status = sidecar_take_message(span_of(c->in.p, c->in.len), ret_reply, memory, NULL);
	return status == GALVO_OK ? GALVO_OK : give_up(c, status, reterr);
}

/* What it says went wrong, as if we had said so. */
static galvo_status status_of(const struct sidecar_message *reply, galvo_error *reterr)
{
	const galvo_status status = (galvo_status)-(int32_t)reply->code;

	if (status == GALVO_OK || status == GALVO_DONE)
		return status;
	err_set(reterr, status, "%s", reply->text ? reply->text : "sidecar: failed");
	if (reterr)
		reterr->sys_errno = (int32_t)reply->sys_errno;
	return status;
}

/* Under the lock. `take` looks at a reply that is a success. */
static galvo_status talk(struct sidecar *c, const struct sidecar_message *request,
                        galvo_status (*take)(void *ctx, const struct sidecar_message *reply,
                                             galvo_error *reterr),
                        void *ctx, galvo_error *reterr)
{
	struct sidecar_memory memory = {0};
	struct sidecar_message reply;
	galvo_status status;

	status = exchange(c, request, NULL, 0, &reply, &memory, reterr);
	if (status == GALVO_OK)
		status = status_of(&reply, reterr);
	if (status == GALVO_OK && take)
		status = take(ctx, &reply, reterr);
	sidecar_memory_free(&memory);
	return status;
}

static galvo_status ask(struct sidecar *c, const struct sidecar_message *request, galvo_error *reterr)
{
	galvo_status status;

	pthread_mutex_lock(&c->lock);
	status = talk(c, request, NULL, NULL, reterr);
	pthread_mutex_unlock(&c->lock);
	return status;
}

galvo_status sidecar_call(struct sidecar *c, enum sidecar_request what, galvo_error *reterr)
{
	return ask(c, &(struct sidecar_message){.code = what}, reterr);
}

galvo_status sidecar_call_for(struct sidecar *c, enum sidecar_request what, uint32_t pid,
                              uint32_t streams, galvo_error *reterr)
{
	const struct sidecar_message request = {
		.code = what, .pid = pid ? pid : (uint32_t)getpid(), .streams = streams,
	};

	return ask(c, &request, reterr);
}

galvo_status sidecar_add(struct sidecar *c, const galvo_process *p, galvo_error *reterr)
{
	const struct sidecar_message request = {
		.code = SIDECAR_ADD, .pid = p->pid ? p->pid : (uint32_t)getpid(), .text = p->alias,
		.streams = p->profilers, .follow = (uint32_t)p->follow, .reserved = (uint32_t)p->reserved,
	};

	return ask(c, &request, reterr);
}

/* Somebody else's request may not be answered, either. */
static bool take_turn(struct sidecar *c, uint64_t until_ns)
{
	const struct timespec moment = {0, NS_PER_MS};

	while (pthread_mutex_trylock(&c->lock) != 0) {
		if (clock_real.mono_ns(&clock_real) > until_ns)
			return false;
		nanosleep(&moment, NULL);
	}
	return true;
}

galvo_status sidecar_stop(struct sidecar *c, galvo_error *reterr)
{
	const uint64_t from_ns = clock_real.mono_ns(&clock_real);
	galvo_status status;
	unsigned waited_s;

	if (!take_turn(c, from_ns + STOP_PATIENCE_S * NS_PER_S)) {
		if (is_ours(&c->line))
			shutdown(c->line.fd, SHUT_RDWR); /* who waits for an answer gives up, and so does it */
		return refuse(c, reterr);
	}
	waited_s = (unsigned)((clock_real.mono_ns(&clock_real) - from_ns) / NS_PER_S);
	if (is_ours(&c->line))
		sidecar_set_patience(c->line.fd, waited_s < STOP_PATIENCE_S ? STOP_PATIENCE_S - waited_s : 1);
	status = talk(c, &(struct sidecar_message){.code = SIDECAR_STOP}, NULL, NULL, reterr);
	if (is_ours(&c->line))
		sidecar_set_patience(c->line.fd, PATIENCE_S);
	pthread_mutex_unlock(&c->lock);
	return status;
}

galvo_status sidecar_set_workload(struct sidecar *c, const galvo_workload *w, galvo_error *reterr)
{
	struct buf body;
	galvo_status status;

	buf_init(&body, SIDECAR_BYTES_MAX);
	sidecar_put_workload(&body, w);
	status = body.failed ? out_of_memory(reterr)
	                     : ask(c, &(struct sidecar_message){.code = SIDECAR_SET_WORKLOAD,
	                                                        .body = span_of(body.p, body.len)},
	                           reterr);
	buf_finish(&body);
	return status;
}

/* Both requests in one turn: it remembers one child. */
bool sidecar_reap(struct sidecar *c, uint32_t pid, bool (*wait_for)(uint32_t pid, galvo_child *ret),
                  galvo_child *ret_child)
{
	bool is_waited_for;
	struct buf body;

	buf_init(&body, SIDECAR_BYTES_MAX);
	pthread_mutex_lock(&c->lock);
	talk(c, &(struct sidecar_message){.code = SIDECAR_CLOSE, .pid = pid}, NULL, NULL, NULL);
	is_waited_for = wait_for(pid, ret_child);
	sidecar_put_child(&body, ret_child);
	talk(c, &(struct sidecar_message){.code = SIDECAR_REAPED, .body = span_of(body.p, body.len)},
	     NULL, NULL, NULL);
	pthread_mutex_unlock(&c->lock);
	buf_finish(&body);
	return is_waited_for;
}

struct taking {
	sidecar_taker take;
	void *ctx;
};

static galvo_status take_body(void *ctx, const struct sidecar_message *reply, galvo_error *reterr)
{
	const struct taking *t = ctx;

	return t->take(t->ctx, reply->body, reterr);
}

galvo_status sidecar_ask(struct sidecar *c, enum sidecar_request what, size_t i, sidecar_taker take,
                         void *ctx, galvo_error *reterr)
{
	const struct sidecar_message request = {
		.code = what, .pid = i < UINT32_MAX ? (uint32_t)i : UINT32_MAX,
	};
	struct taking taking = {take, ctx};
	galvo_status status;

	pthread_mutex_lock(&c->lock);
	status = talk(c, &request, take_body, &taking, reterr);
	pthread_mutex_unlock(&c->lock);
	return status;
}

static galvo_status take_stats(void *ctx, struct span body, galvo_error *reterr)
{
	struct sidecar_memory memory;
	galvo_status status = sidecar_take_stats(body, ctx, &memory, reterr);

	sidecar_memory_free(&memory);
	return status;
}

galvo_status sidecar_get_stats(struct sidecar *c, galvo_suite_stats *ret, galvo_error *reterr)
{
	return sidecar_ask(c, SIDECAR_GET_STATS, 0, take_stats, ret, reterr);
}

struct drained *sidecar_drained(struct sidecar *c)
{
	return &c->drained;
}

/*
 * Takes no lock, as somebody may wait with it, and so says nothing on the line, where it would be amid
 * the pieces of a message. An end that is shut down stays so: there is no queue that may be full.
 */
void sidecar_signal_stop(struct sidecar *c)
{
	if (is_ours(&c->stop))
		shutdown(c->stop.fd, SHUT_WR);
}

/* ---- create and destroy ---------------------------------------------------------------------------- */

static galvo_status check_version(const struct sidecar_message *hello, galvo_error *reterr)
{
	const char *version = hello->text ? hello->text : "?";

	if (hello->code)
		return status_of(hello, reterr);
	if (hello->protocol == SIDECAR_PROTOCOL && !strcmp(version, galvo_version()))
		return GALVO_OK;
	return err_set(reterr, GALVO_ERR_NEWER,
	               "sidecar: the program is of galvo %.40s, protocol %u; expected %s, protocol %d",
	               version, (unsigned)hello->protocol, galvo_version(), SIDECAR_PROTOCOL);
}

static galvo_status say_hello(struct sidecar *c, galvo_error *reterr)
{
	const struct sidecar_message hello = {
		.code = SIDECAR_HELLO, .pid = (uint32_t)getpid(), .protocol = SIDECAR_PROTOCOL,
		.text = galvo_version(),
	};
	struct sidecar_memory memory = {0};
	struct sidecar_message reply = {0};
	galvo_status status;

	sidecar_set_patience(c->line.fd, HELLO_PATIENCE_S);
	status = exchange(c, &hello, NULL, 0, &reply, &memory, reterr);
	if (status == GALVO_OK)
		status = check_version(&reply, reterr);
	else if (status != GALVO_ERR_NOMEM)
		status = err_set(reterr, GALVO_ERR_ABSENT, "sidecar: the program is no " SIDECAR_PROGRAM);
	sidecar_memory_free(&memory);
	sidecar_set_patience(c->line.fd, PATIENCE_S);
	return status;
}

static galvo_status ask_to_create(struct sidecar *c, const struct galvo_suite *s, struct span config,
                                  int ring_fd, galvo_error *reterr)
{
	const int pidfd = fd_keep((int)syscall(SYS_pidfd_open, getpid(), 0)); /* Linux 5.3 */
	const struct sidecar_message request = {
		.code = SIDECAR_CREATE, .body = config,
		.flags = (s->is_alone ? SIDECAR_IS_ALONE : 0) | (pidfd >= 0 ? SIDECAR_HAS_PIDFD : 0) |
		         (ring_fd >= 0 ? SIDECAR_HAS_RING : 0),
	};
	struct sidecar_memory memory = {0};
	struct sidecar_message reply;
	int fds[SIDECAR_FDS_MAX], stop_fds[2];
	galvo_status status;
	size_t n = 0;

	if (pidfd >= 0)
		fds[n++] = pidfd;
	if (ring_fd >= 0)
		fds[n++] = ring_fd;
	if (fd_pair(stop_fds)) {
		keep_end(&c->stop, stop_fds[0]);
		fds[n++] = stop_fds[1];
		status = exchange(c, &request, fds, n, &reply, &memory, reterr);
		close(stop_fds[1]);
	} else {
		status = err_sys(reterr, errno, "sidecar: socket");
	}
	if (status == GALVO_OK)
		status = status_of(&reply, reterr);
	if (status == GALVO_OK)
		c->is_replay = reply.flags & SIDECAR_IS_REPLAY;
	sidecar_memory_free(&memory);
	if (pidfd >= 0)
		close(pidfd);
	return status;
}

/* Starts the program and knows it to be ours. */
static galvo_status start_program(struct sidecar *c, const galvo_suite_config *config,
                                  galvo_error *reterr)
{
	galvo_status status;
	int fds[2];

	if (!fd_pair(fds))
		return err_sys(reterr, errno, "sidecar: socket");
	keep_end(&c->line, fds[0]);
	status = sidecar_spawn(config->sidecar_path, fds[1], &c->pid, reterr);
	close(fds[1]);
	if (status != GALVO_OK)
		return status;
	status = say_hello(c, reterr);
	if (status != GALVO_OK) {
		kill(c->pid, SIGKILL); /* whatever it is */
		c->is_gone = true;
	}
	return status;
}

static galvo_status create(struct sidecar *c, struct galvo_suite *s, const galvo_suite_config *config,
                           galvo_error *reterr)
{
	const bool has_events = !config->no_events;
	struct buf body;
	galvo_status status = start_program(c, config, reterr);
	int ring_fd = -1;

	if (status == GALVO_OK && has_events)
		status = events_create_callers(&s->world, &s->events, &ring_fd, reterr);
	if (status != GALVO_OK)
		return status;
	buf_init(&body, SIDECAR_BYTES_MAX);
	sidecar_put_config(&body, config, (uint32_t)getpid());
	status = body.failed ? out_of_memory(reterr)
	                     : ask_to_create(c, s, span_of(body.p, body.len), ring_fd, reterr);
	buf_finish(&body);
	if (ring_fd >= 0)
		close(ring_fd);
	if (status != GALVO_OK || (has_events && !c->is_replay))
		return status;
	events_destroy(s->events); /* there is nobody to read what is said */
	s->events = NULL;
	return events_create(&s->world, false, &s->events, reterr);
}

galvo_status sidecar_create(struct galvo_suite *s, const galvo_suite_config *config,
                            galvo_error *reterr)
{
	struct sidecar *c = alloc_array(1, sizeof(*c));

	if (!c)
		return err_set(reterr, GALVO_ERR_NOMEM, "out of memory");
	c->line.fd = c->stop.fd = -1;
	pthread_mutex_init(&c->lock, NULL);
	buf_init(&c->out, SIDECAR_BYTES_MAX);
	buf_init(&c->in, SIDECAR_BYTES_MAX);
	buf_init(&c->drained.bytes, SIDECAR_BYTES_MAX);
	s->sidecar = c;
	s->world.clock = &clock_real;
	return create(c, s, config, reterr);
}

/* Where orphans come to us it is our child by now: it was alive a moment ago, so the number is its own. */
static void reap(pid_t pid)
{
	const struct timespec moment = {0, NS_PER_MS};
	size_t i;

	for (i = 0; i < REAP_MS && waitpid(pid, NULL, WNOHANG) == 0; i++)
		nanosleep(&moment, NULL);
}

/* By its end its end of the socket is closed, and the directory is free again. */
static void await_end(struct sidecar *c)
{
	shutdown(c->line.fd, SHUT_WR); /* children that were forked meanwhile have it, too */
	sidecar_set_patience(c->line.fd, END_PATIENCE_S);
	while (sidecar_receive(c->line.fd, &c->in, NULL, NULL) == GALVO_OK)
		; /* a late reply */
}

void sidecar_destroy(struct sidecar *c)
{
	bool was_alive;

	if (!c)
		return;
	was_alive = c->pid && sidecar_call(c, SIDECAR_BYE, NULL) == GALVO_OK;
	if (is_ours(&c->line)) {
		if (c->pid)
			await_end(c);
		close(c->line.fd);
	}
	if (is_ours(&c->stop))
		close(c->stop.fd);
	if (was_alive)
		reap(c->pid);
	pthread_mutex_destroy(&c->lock);
	buf_finish(&c->out);
	buf_finish(&c->in);
	buf_finish(&c->drained.bytes);
	free(c);
}
