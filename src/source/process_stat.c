/* The texts of /proc/PID that tell who a process is and who its children are. */
#include <errno.h>
#include <time.h>

#include "parser.h"

#define FLAG_EXITING 4 /* PF_EXITING of the kernel, the same since 2.6 */

/*
 * The name may hold ')', blanks and newlines; what follows it holds none of the first, so the last
 * one ends it.
 *
 * 5769 (a) R 1 (b) R 1 5769 5769 0 -1 4194304 1 0 0 0 5 1 0 0 20 0 1 0 2 1 1
 */
galvo_status process_stat_split(struct span text, struct span *ret_comm, char *ret_state,
                                struct columns *ret, galvo_error *reterr)
{
	struct span rest = text, state, pid;
	const char *open, *close;
	uint64_t number;

	if (text.n == 0)
		return err_set(reterr, GALVO_ERR_ABSENT, "stat: empty");
	if (!span_take_word(&rest, &pid) || !span_to_u64(pid, &number) || rest.n < 3 ||
	    memcmp(rest.p, " (", 2) != 0)
		return err_malformed(reterr, "stat", text, text, "a pid and a name in brackets");
	open = rest.p + 2;
	close = memrchr(open, ')', rest.n - 2);
	if (!close)
		return err_malformed(reterr, "stat", text, rest, "')' after the name");
	rest = span_of(close + 1, (size_t)(rest.p + rest.n - close - 1));
	if (!span_take_word(&rest, &state) || state.n != 1)
		return err_malformed(reterr, "stat", text, rest, "a state after the name");
	columns_read(rest, STAT_COLUMNS, ret);
	/* A cut number looks like a smaller one: only one that another column follows is whole. */
	if (ret->len < STAT_COLUMNS)
		return err_malformed(reterr, "stat", text, rest, "at least 23 columns");
	*ret_comm = span_of(open, (size_t)(close - open));
	*ret_state = state.p[0];
	return GALVO_OK;
}

galvo_status process_stat_parse(struct span text, struct process_stat *ret, galvo_error *reterr)
{
	const uint32_t needed =
	    FIELD(STAT_PPID) | FIELD(STAT_UTIME) | FIELD(STAT_STIME) | FIELD(STAT_START);
	struct process_stat s;
	struct columns c;
	galvo_status status;

	status = process_stat_split(text, &s.comm, &s.state, &c, reterr);
	if (status != GALVO_OK)
		return status;
	if ((c.good & needed) != needed || c.value[STAT_PPID] > INT32_MAX ||
	    __builtin_add_overflow(c.value[STAT_UTIME], c.value[STAT_STIME], &s.cpu_ticks))
		return err_malformed(reterr, "stat", text, text, "a parent, times and a start");
	s.ppid = (uint32_t)c.value[STAT_PPID];
	s.start_ticks = c.value[STAT_START];
	s.is_dying = s.state == 'Z' || s.state == 'X' ||
	             ((c.good & FIELD(STAT_FLAGS)) && (c.value[STAT_FLAGS] & FLAG_EXITING));
	*ret = s;
	return GALVO_OK;
}

bool process_is_in_exec(struct span statm)
{
	enum { SIZE, TEXT = 3, DATA = 5, WANTED };
	struct columns c;

	columns_read(statm, WANTED, &c);
	/* Where all but the sizes are zero, they are not known. */
	return c.len == WANTED && c.value[SIZE] && !c.value[TEXT] && c.value[DATA];
}

galvo_status process_stat_read(int dir_fd, const char *path, struct buf *into,
                               struct process_stat *ret, galvo_error *reterr)
{
	struct kept once = KEPT_NONE;
	struct span text;
	galvo_status status;

	status = kept_read(&once, dir_fd, path, 0, FILE_RECORD, into, &text, reterr);
	kept_close(&once);
	return status == GALVO_OK ? process_stat_parse(text, ret, reterr) : status;
}

/* 12 34 56 */
bool process_children_take(struct span *rest, uint32_t *ret_pid)
{
	struct span after = *rest, word;
	uint64_t pid;

	if (!span_take_word(&after, &word) || !span_to_u64(span_trim(word), &pid) || pid == 0 ||
	    pid > INT32_MAX)
		return false;
	*rest = after;
	*ret_pid = (uint32_t)pid;
	return true;
}

int process_clock_read(uint32_t pid, uint64_t *ret_ns)
{
	clockid_t id = (clockid_t)((~(unsigned)pid << 3) | 2); /* CPUCLOCK_SCHED of a process */
	struct timespec t;

	if (clock_gettime(id, &t) != 0)
		return errno;
	*ret_ns = (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
	return 0;
}
