/* What galvo-sidecar does: the suite that it is asked for, as it is asked, until its caller has gone. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sidecar.h"

enum {
	SEND_PATIENCE_S = 10, /* with a caller that takes no replies */
	LOOK_MS = 1000,       /* whether the caller lives, where it has no descriptor (before Linux 5.3) */
};

struct served {
	int fd, signal_fd, host_pidfd;
	int stop_fd; /* -1: there is none, or it was heard */
	pid_t host;
	galvo_suite *suite;
	struct tracked *closed; /* a child that the caller is about to wait for; NULL: none */
	bool is_over;
	const char *why; /* it ends unasked; NULL: it was asked */
	galvo_error unfit; /* for anything, from the beginning; status OK: it is fit */
	struct buf in, out, body;
};

static galvo_status expect_suite(const struct served *v, galvo_error *reterr)
{
	return v->suite ? GALVO_OK : err_set(reterr, GALVO_ERR_STATE, "sidecar: there is no suite");
}

/* ---- requests -------------------------------------------------------------------------------------- */

static galvo_status pin(const char *list, galvo_error *reterr)
{
	struct cpus cpus;

	if (!suite_parse_cpus(list, &cpus))
		return err_set(reterr, GALVO_ERR_INVALID, "sidecar_cpus: " CPUS_EXPECTED);
	if (list && syscall(SYS_sched_setaffinity, 0, sizeof(cpus), &cpus) != 0)
		return err_set(reterr, GALVO_ERR_INVALID, "sidecar_cpus: none of %.100s may be used", list);
	return GALVO_OK;
}

/* The directory that the caller had is needed no more, and not to be kept busy. */
static void leave_directory(galvo_suite *suite)
{
	struct world here;

	output_fix(suite);
	if (world_open(&here, NULL, NULL) != GALVO_OK)
		return;
	if (fchdir(here.root_fd) != 0) {
		/* It stays in use, no more. */
	}
	world_close(&here);
}

static galvo_status create(struct served *v, const struct sidecar_message *request, int ring_fd,
                           galvo_error *reterr)
{
	struct suite_role role = {
		.is_alone = request->flags & SIDECAR_IS_ALONE, .is_sidecar = true, .ring_fd = ring_fd,
	};
	struct sidecar_memory memory;
	galvo_suite_config config;
	galvo_status status;

	if (v->suite)
		return err_set(reterr, GALVO_ERR_STATE, "sidecar: there is a suite already");
	status = sidecar_take_config(request->body, &config, &memory, reterr);
	if (status == GALVO_OK)
		status = pin(config.sidecar_cpus, reterr);
	config.is_recorder = 1;
	if (status == GALVO_OK)
		status = suite_create(&config, &role, &v->suite, reterr);
	sidecar_memory_free(&memory);
	if (status == GALVO_OK)
		leave_directory(v->suite);
	return status;
}

static galvo_status set_workload(const struct served *v, struct span body, galvo_error *reterr)
{
	struct sidecar_memory memory;
	galvo_workload workload;
	galvo_status status = sidecar_take_workload(body, &workload, &memory, reterr);

	if (status == GALVO_OK)
		status = galvo_suite_set_workload(v->suite, &workload, reterr);
	sidecar_memory_free(&memory);
	return status;
}

/* Of the child that was closed; an empty body tells nothing of it. */
static galvo_status enter_end(struct served *v, struct span body, galvo_error *reterr)
{
	struct sidecar_memory memory;
	galvo_child child;
	galvo_status status = sidecar_take_child(body, &child, &memory, reterr);

	if (status == GALVO_OK) {
		suite_enter_end(v->suite, v->closed, &child);
		v->closed = NULL;
	}
	sidecar_memory_free(&memory);
	return status;
}

static galvo_status add(const struct served *v, const struct sidecar_message *r, galvo_error *reterr)
{
	const galvo_process process = {
		.pid = r->pid, .profilers = r->streams, .alias = r->text, .follow = (int32_t)r->follow,
		.reserved = (int32_t)r->reserved,
	};

	return galvo_suite_add(v->suite, &process, reterr);
}

static galvo_status get_stats(struct served *v, galvo_error *reterr)
{
	galvo_suite_stats stats = {.struct_size = sizeof(stats)};
	galvo_status status = galvo_suite_get_stats(v->suite, &stats, reterr);

	if (status == GALVO_OK)
		sidecar_put_stats(&v->body, &stats);
	return status;
}

/* What needs a suite that is there. */
static galvo_status serve_suite(struct served *v, const struct sidecar_message *r, galvo_error *reterr)
{
	galvo_status status = expect_suite(v, reterr);

	if (status != GALVO_OK)
		return status;
	switch (r->code) {
	case SIDECAR_START:
		return galvo_suite_start(v->suite, reterr);
	case SIDECAR_STOP:
		return galvo_suite_stop(v->suite, reterr);
	case SIDECAR_ADD:
		return add(v, r, reterr);
	case SIDECAR_REMOVE:
		return suite_remove_process(v->suite, r->pid, r->streams, reterr);
	case SIDECAR_CLOSE:
		status = enter_end(v, (struct span){0}, reterr);
		v->closed = suite_close_account(v->suite, r->pid);
		return status;
	case SIDECAR_REAPED:
		return enter_end(v, r->body, reterr);
	case SIDECAR_SET_WORKLOAD:
		return set_workload(v, r->body, reterr);
	case SIDECAR_GET_STATS:
		return get_stats(v, reterr);
	case SIDECAR_REPLAY:
		return galvo_suite_replay(v->suite, reterr);
	default:
		return sidecar_serve_facts(v->suite, (enum sidecar_request)r->code, r->pid, &v->body, reterr);
	}
}

static void end_for(struct served *v, const char *why)
{
	v->is_over = true;
	v->why = why;
}

static void end_suite(struct served *v)
{
	if (v->suite && v->why)
		suite_note(v->suite, "sidecar", "%s", v->why);
	if (v->suite)
		enter_end(v, (struct span){0}, NULL);
	galvo_suite_destroy(v->suite);
	v->suite = NULL;
}

/* The next one of those that came along, which is kept; or what was there before. */
static void keep_fd(int *fd, int *next)
{
	if (*fd < 0) {
		*fd = *next;
		*next = -1;
	}
}

/* Descriptors that came along: those of a suite are used, or none. */
static galvo_status serve(struct served *v, const struct sidecar_message *r, int fds[SIDECAR_FDS_MAX],
                          struct sidecar_message *reply, galvo_error *reterr)
{
	const size_t ring_at = r->flags & SIDECAR_HAS_PIDFD ? 1 : 0;
	const size_t stop_at = ring_at + (r->flags & SIDECAR_HAS_RING ? 1 : 0);
	galvo_status status;

	if (v->unfit.status != GALVO_OK) {
		*reterr = v->unfit;
		return (galvo_status)v->unfit.status;
	}
	switch (r->code) {
	case SIDECAR_HELLO:
		v->host = (pid_t)(r->pid <= INT32_MAX ? r->pid : 0);
		reply->protocol = SIDECAR_PROTOCOL;
		reply->text = galvo_version();
		return GALVO_OK;
	case SIDECAR_CREATE:
		if (ring_at > 0)
			keep_fd(&v->host_pidfd, &fds[0]);
		keep_fd(&v->stop_fd, &fds[stop_at]);
		status = create(v, r, stop_at > ring_at ? fds[ring_at] : -1, reterr);
		reply->flags = v->suite && galvo_suite_is_replay(v->suite) ? SIDECAR_IS_REPLAY : 0;
		return status;
	case SIDECAR_BYE:
		v->is_over = true;
		end_suite(v);
		return GALVO_OK;
	default:
		return serve_suite(v, r, reterr);
	}
}

/* ---- the conversation ------------------------------------------------------------------------------ */

static galvo_status answer(struct served *v, struct sidecar_message *reply, galvo_status status,
                           const galvo_error *e)
{
	reply->code = (uint32_t)-(int32_t)status;
	if (status != GALVO_OK) {
		reply->text = e->text;
		reply->sys_errno = (uint32_t)e->sys_errno;
	}
	reply->body = span_of(v->body.p, v->body.len);
	v->out.len = 0;
	v->out.failed = false;
	sidecar_put_message(&v->out, reply);
	if (v->out.failed)
		return GALVO_ERR_NOMEM;
	return sidecar_send(v->fd, span_of(v->out.p, v->out.len), NULL, 0, NULL);
}

static void converse(struct served *v)
{
	struct sidecar_memory memory = {0};
	struct sidecar_message request = {0}, reply = {0};
	int fds[SIDECAR_FDS_MAX];
	galvo_error e = {0};
	galvo_status status = sidecar_receive(v->fd, &v->in, fds, &e);
	size_t i;

	if (status != GALVO_OK)
		end_for(v, "the program that was recording has ended without stopping it");
	else {
		v->body.len = 0;
		status = sidecar_take_message(span_of(v->in.p, v->in.len), &request, &memory, &e);
		if (status == GALVO_OK)
			status = serve(v, &request, fds, &reply, &e);
		if (answer(v, &reply, status, &e) != GALVO_OK)
			end_for(v, "the program that was recording takes no answers");
	}
	for (i = 0; i < SIDECAR_FDS_MAX; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	sidecar_memory_free(&memory);
}

/* An end that was shut down asks for it; one that was closed does not, and the other one tells why. */
static void hear_stop(struct served *v, short events)
{
	close(v->stop_fd);
	v->stop_fd = -1;
	if (!v->suite || events & POLLHUP)
		return;
	galvo_suite_signal_stop(v->suite);
	if (v->suite->is_alone)
		suite_signal_events(v->suite);
}

/* Until the caller has closed its end or is no more, or a signal comes. */
static void attend(struct served *v)
{
	struct pollfd fds[] = {
		{.fd = v->fd, .events = POLLIN}, {.fd = v->signal_fd, .events = POLLIN},
		{.fd = v->host_pidfd, .events = POLLIN},
		{.fd = v->suite ? v->stop_fd : -1, .events = POLLIN},
	};
	const bool must_look = v->host_pidfd < 0 && v->host > 0;
	int n = poll(fds, ARRAY_LEN(fds), must_look ? LOOK_MS : -1);

	if (n > 0 && fds[3].revents)
		hear_stop(v, fds[3].revents);
	if ((n < 0 && errno != EINTR) || (n > 0 && fds[1].revents))
		end_for(v, "a signal ended the recording");
	else if ((n == 0 && kill(v->host, 0) != 0 && errno == ESRCH) || (n > 0 && fds[2].revents))
		end_for(v, "the program that was recording has ended without stopping it");
	else if (n > 0 && fds[0].revents)
		converse(v);
}

/* Blocked in all threads to come, and read here. */
static int open_signals(void)
{
	static const int numbers[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT};
	sigset_t set;
	size_t i;

	sigemptyset(&set);
	for (i = 0; i < ARRAY_LEN(numbers); i++)
		sigaddset(&set, numbers[i]);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	return fd_keep(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

void sidecar_serve(int fd)
{
	struct served v = {.fd = fd, .signal_fd = open_signals(), .host_pidfd = -1, .stop_fd = -1};

	if (v.signal_fd < 0)
		err_sys(&v.unfit, errno, "sidecar: signalfd");
	sidecar_set_patience(fd, SEND_PATIENCE_S);
	buf_init(&v.in, SIDECAR_BYTES_MAX);
	buf_init(&v.out, SIDECAR_BYTES_MAX);
	buf_init(&v.body, SIDECAR_BYTES_MAX);
	while (!v.is_over)
		attend(&v);
	end_suite(&v);
	if (v.host_pidfd >= 0)
		close(v.host_pidfd);
	if (v.stop_fd >= 0)
		close(v.stop_fd);
	if (v.signal_fd >= 0)
		close(v.signal_fd);
	buf_finish(&v.in);
	buf_finish(&v.out);
	buf_finish(&v.body);
}
