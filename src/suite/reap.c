/* Waiting for children of the recorder: their accounts are closed first. */
#include <errno.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "internal.h"

static uint64_t ns_of(struct timeval t)
{
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_usec * 1000;
}

/* 0: none has ended, or there is none. */
static pid_t next_ended(void)
{
	siginfo_t info = {0};

	if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0)
		return 0;
	return info.si_pid;
}

static void fill(struct process_end *end, int status, const struct rusage *use)
{
	*end = (struct process_end){
		.has_status = true,
		.exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status),
		.term_signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0,
		.has_usage = true,
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

galvo_status galvo_suite_reap(galvo_suite *s, galvo_child *ret_child, galvo_error *reterr)
{
	galvo_child child = {0};
	struct process_end end;
	struct tracked *who;
	struct rusage use;
	int status;
	pid_t pid;

	if (s->owner != getpid() || !s->track)
		return err_set(reterr, GALVO_ERR_STATE, "reap: not started, or another process's suite");
	pid = next_ended();
	if (!pid)
		return GALVO_DONE;
	who = track_close(s->track, (uint32_t)pid);
	if (wait4(pid, &status, WNOHANG, &use) != pid) {
		track_reaped(s->track, who, NULL);
		return GALVO_DONE; /* somebody else was faster */
	}
	fill(&end, status, &use);
	track_reaped(s->track, who, &end);
	child = (galvo_child){
		.pid = (uint32_t)pid,
		.exit_code = end.exit_code,
		.term_signal = end.term_signal,
		.user_ns = end.user_ns,
		.system_ns = end.system_ns,
		.max_rss_bytes = end.max_rss_bytes,
		.minor_faults = end.minor_faults,
		.major_faults = end.major_faults,
		.read_blocks = end.read_blocks,
		.write_blocks = end.write_blocks,
		.voluntary_switches = end.voluntary_switches,
		.involuntary_switches = end.involuntary_switches,
	};
	return sized_give("child", ret_child, &child, sizeof(child), reterr);
}
