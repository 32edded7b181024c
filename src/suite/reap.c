/* Waiting for children of the recorder, or of who has a sidecar: their accounts are closed first. */
#include <errno.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sidecar.h"

static uint64_t ns_of(struct timeval t)
{
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_usec * 1000;
}

/* 0: none has ended, or there is none. */
static uint32_t next_ended(void)
{
	siginfo_t info = {0};

	if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0)
		return 0;
	return (uint32_t)info.si_pid;
}

static void fill(galvo_child *child, uint32_t pid, int status, const struct rusage *use)
{
	*child = (galvo_child){
		.pid = pid,
		.exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status),
		.term_signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0,
		.user_ns = ns_of(use->ru_utime),
		.system_ns = ns_of(use->ru_stime),
		.max_rss_bytes = (uint64_t)use->ru_maxrss * 1024,
		.minor_faults = (uint64_t)use->ru_minflt,
		.major_faults = (uint64_t)use->ru_majflt,
		.read_blocks = (uint64_t)use->ru_inblock,
		.write_blocks = (uint64_t)use->ru_oublock,
		.voluntary_switches = (uint64_t)use->ru_nvcsw,
		.involuntary_switches = (uint64_t)use->ru_nivcsw,
	};
}

static bool wait_for(uint32_t pid, galvo_child *ret)
{
	struct rusage use;
	int status;

	if (wait4((pid_t)pid, &status, WNOHANG, &use) != (pid_t)pid)
		return false; /* somebody else was faster */
	fill(ret, pid, status, &use);
	return true;
}

struct tracked *suite_close_account(struct galvo_suite *s, uint32_t pid)
{
	return s->track ? track_close(s->track, pid) : NULL;
}

void suite_enter_end(struct galvo_suite *s, struct tracked *who, const galvo_child *child)
{
	struct process_end end;

	if (!who)
		return;
	end = (struct process_end){
		.has_status = true,
		.exit_code = child->exit_code,
		.term_signal = child->term_signal,
		.has_usage = true,
		.user_ns = child->user_ns,
		.system_ns = child->system_ns,
		.max_rss_bytes = child->max_rss_bytes,
		.minor_faults = child->minor_faults,
		.major_faults = child->major_faults,
		.read_blocks = child->read_blocks,
		.write_blocks = child->write_blocks,
		.voluntary_switches = child->voluntary_switches,
		.involuntary_switches = child->involuntary_switches,
	};
	track_reaped(s->track, who, child->pid ? &end : NULL);
}

static bool reap_here(struct galvo_suite *s, uint32_t pid, galvo_child *ret)
{
	struct tracked *who = suite_close_account(s, pid);
	bool is_waited_for = wait_for(pid, ret);

	suite_enter_end(s, who, ret);
	return is_waited_for;
}

galvo_status galvo_suite_reap(galvo_suite *s, galvo_child *ret_child, galvo_error *reterr)
{
	const enum suite_state state = suite_state(s);
	galvo_child child = {0};
	uint32_t pid;

	if (s->owner != getpid() || state == SUITE_CREATED || state == SUITE_STARTING)
		return err_set(reterr, GALVO_ERR_STATE, "reap: not started, or another process's suite");
	pid = next_ended();
	if (!pid || !(s->sidecar ? sidecar_reap(s->sidecar, pid, wait_for, &child)
	                         : reap_here(s, pid, &child)))
		return GALVO_DONE;
	return sized_give("child", ret_child, &child, sizeof(child), reterr);
}
