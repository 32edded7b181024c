/*
 * The toolbox: spans of borrowed bytes, bounded buffers, error text, files below a root, clocks and
 * the world as a parameter. Knows nothing of monitoring.
 *
 * Nothing here keeps state of its own, prints, or exits. Unless a function says otherwise it may be
 * called on any thread, with objects that no other thread is using.
 */
#ifndef GALVO_BASE_H
#define GALVO_BASE_H

#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "banned.h"
#include "galvo/status.h"

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
#define NS_PER_S UINT64_C(1000000000)
#define NS_PER_MS UINT64_C(1000000)

/* ---- span: borrowed bytes, never NUL-terminated, never modified ------------------------------ */

struct span {
	const char *p;
	size_t n;
};

struct span span_of(const char *p, size_t n);
struct span span_str(const char *cstr); /* NULL is the empty span */
bool span_eq(struct span a, struct span b);
bool span_eq_str(struct span a, const char *b);
bool span_starts(struct span a, const char *prefix);
/* Less than, equal, greater than zero, as memcmp, a prefix being the smaller. */
int span_cmp(struct span a, struct span b);

/*
 * The takers move *rest past what they take. Each answers "did it", and leaves both arguments alone
 * when it did not.
 */
bool span_take_line(struct span *rest, struct span *ret_line); /* without its '\n'; false at end */
bool span_take_word(struct span *rest, struct span *ret_word); /* blanks: space, tab; false if none */
bool span_take_u64(struct span *rest, uint64_t *ret); /* blanks, digits; false: none, or overflow */
/* What lies before the first sep; *rest goes past it. False if sep is not there. */
bool span_cut(struct span *rest, char sep, struct span *ret_head);
struct span span_trim(struct span s); /* without spaces, tabs, CR and LF at both ends */

/* Each demands that the whole span is the number: no sign where unsigned, no blanks, no overflow. */
bool span_to_u64(struct span s, uint64_t *ret);
/* Decimal with an optional fraction and exponent, '.' in every locale; beyond the range it is infinite
 * or zero. Allocates for more than 60 characters, and is false too if it cannot. */
bool span_to_double(struct span s, double *ret);

/* ---- buf: a growing buffer that is given its maximum at birth -------------------------------- */

struct buf {
	char *p;
	size_t len, cap, max;
	bool failed; /* a put did not fit or memory ran out: contents are incomplete */
};

void buf_init(struct buf *b, size_t max); /* allocates nothing */
void buf_finish(struct buf *b);
bool buf_reserve(struct buf *b, size_t more); /* room for `more` bytes beyond len */
void buf_put(struct buf *b, const void *bytes, size_t n);
void buf_put_str(struct buf *b, const char *cstr);
__attribute__((format(printf, 2, 3))) void buf_printf(struct buf *b, const char *fmt, ...);

/* Array of `n` zeroed elements; NULL on overflow or when memory is out. Free with free(). */
void *alloc_array(size_t n, size_t size);
/*
 * Makes room for one more element of an array that doubles, from 8 up to at most `max` elements.
 * False, and nothing changed, at the maximum or when memory is out. New elements are zeroed.
 */
bool grow_array(void **array, size_t *cap, size_t len, size_t size, size_t max);

/* How many of n numbers in order are below v; are v or below. */
size_t count_below(const uint64_t *sorted, size_t n, uint64_t v);
size_t count_up_to(const uint64_t *sorted, size_t n, uint64_t v);

/* ---- errors: all of these accept a NULL error and return the status, for `return err_set(…)` -- */

__attribute__((format(printf, 3, 4))) galvo_status
err_set(galvo_error *e, galvo_status status, const char *fmt, ...);
/* Before a call that may leave the error alone: no text. Cheaper than zeroing all of it. */
static inline void err_clear(galvo_error *e)
{
	e->status = e->sys_errno = 0;
	e->text[0] = '\0';
}
/* As err_set, ": " and the system's words for `sys_errno`. ENOENT, ESRCH, ENXIO, ENODEV, ENOTDIR:
 * ABSENT;
 * EACCES, EPERM: DENIED; ENOMEM: NOMEM; else IO. */
__attribute__((format(printf, 3, 4))) galvo_status
err_sys(galvo_error *e, int sys_errno, const char *fmt, ...);
/* Puts "context: " in front of the text of a failure that passes through. */
__attribute__((format(printf, 2, 3))) void err_wrap(galvo_error *e, const char *fmt, ...);
/*
 * `path:line: expected WANT, got 'THERE'` with status MALFORMED. `there` is a piece of
 * `text`, from which comes the line; it is escaped and clipped.
 */
galvo_status err_malformed(galvo_error *e, const char *path, struct span text, struct span there,
                           const char *want);

/* ---- sized structs: their first member, a size_t, is the size that the caller's header has ----- */

/* Members that the caller does not know are zero; those that we do not know have to be. */
galvo_status sized_take(const char *what, void *to, size_t to_bytes, const void *from,
                        galvo_error *reterr);
/* Fills what the caller knows; what we do not know becomes zero. Its size stays. */
galvo_status sized_give(const char *what, void *to, const void *from, size_t from_bytes,
                        galvo_error *reterr);

#ifdef __clang_analyzer__
/* The analyser sees one file at a time; this tells it that none of these ever returns GALVO_OK. */
#define err_set(e, status, ...) ((void)err_set((e), (status), __VA_ARGS__), (status))
#define err_sys(...) ((void)err_sys(__VA_ARGS__), GALVO_ERR_IO)
#define err_malformed(...) ((void)err_malformed(__VA_ARGS__), GALVO_ERR_MALFORMED)
#endif

/* ---- text out -------------------------------------------------------------------------------- */

/*
 * Bytes of unknown encoding as printable UTF-8: control bytes, characters that nobody sees (overrides
 * of the direction of writing, joiners) and whatever is not valid UTF-8 become escapes of the form \n
 * or \xNN, a backslash is doubled. For terminals and error texts.
 */
void buf_put_escaped(struct buf *b, struct span bytes);
/* A JSON string with its quotes; bytes that are not UTF-8 become U+FFFD. */
void buf_put_json(struct buf *b, struct span bytes);
/* Shortest decimal that reads back as the same double, with a '.' in every locale; NaN and the
 * infinities as null. */
void buf_put_number(struct buf *b, double v);
/* Fixed decimals, '.' in every locale; NaN as "-". */
void buf_put_fixed(struct buf *b, double v, unsigned decimals);
/* Three digits, none of them after the point from 100 up. */
void buf_put_three(struct buf *b, double v);
/* 15.2 KiB: three digits and a binary unit; NaN as "-". */
void buf_put_bytes(struct buf *b, double bytes);
/* As printf's %.*g with that many digits, '.' in every locale; "inf", "-inf", "nan". */
void buf_put_general(struct buf *b, double v, int digits);
bool utf8_is_valid(struct span bytes);
/* Valid UTF-8 out of any bytes: what is not becomes U+FFFD. At most cap-1 bytes and a NUL; returns
 * the length. Never cuts a character in two. */
size_t utf8_copy(char *to, size_t cap, struct span bytes);

/* ---- columns of a terminal; all of these want valid UTF-8 ------------------------------------ */

size_t text_columns(struct span text);
/* As many of its first bytes as fit into so many columns. */
size_t text_fit(struct span text, size_t columns);
/* The first character of a text that is not empty: its bytes, and its columns. */
size_t text_take_character(struct span *rest, size_t *ret_columns);

/* ---- clocks ---------------------------------------------------------------------------------- */

struct clock {
	uint64_t (*mono_ns)(const struct clock *); /* CLOCK_MONOTONIC */
	uint64_t (*boot_ns)(const struct clock *); /* CLOCK_BOOTTIME */
	uint64_t (*wall_ns)(const struct clock *); /* CLOCK_REALTIME */
	/* Returns at the deadline, or at once when *stop is or becomes non-zero (see clock_wake). */
	void (*sleep_until)(const struct clock *, uint64_t deadline_mono_ns, _Atomic uint32_t *stop);
};

extern const struct clock clock_real;
/* Sets *stop to 1 and wakes whoever sleeps on it in clock_real. Any thread. */
void clock_wake(_Atomic uint32_t *stop);

struct clock_fake {
	struct clock clock; /* must be first; sleep_until moves mono, boot and wall to the deadline */
	_Atomic uint64_t mono_ns, boot_ns, wall_ns; /* for whoever moves them while others look */
};
void clock_fake_init(struct clock_fake *f, uint64_t mono_ns, uint64_t boot_ns, uint64_t wall_ns);

/* ---- threads --------------------------------------------------------------------------------- */

/* With all signals blocked but faults of its own. Returns errno. */
int thread_start(pthread_t *ret, void *(*body)(void *), void *arg);
/* Leaves a thread behind that does not come back in time: what it may return to stays loaded (dso_stay). */
void thread_leave(pthread_t thread);
/*
 * The first priority that the calling thread may have: late ticks cost precision, and lost samples, and
 * no more CPU time.
 */
void thread_hurry(void);
/* CPU time of the calling thread; 0 if it is not told. */
uint64_t thread_cpu_ns(void);

/* ---- libraries that are loaded at run time --------------------------------------------------- */

/* A row of a table of functions. */
struct dso_symbol {
	const char *names; /* what it is called, the newest name first, a space between */
	uint32_t offset;   /* of the pointer to it in the struct that is filled */
	bool required;
};

/* Loads a library as dlopen does. ABSENT and the words of the loader if it cannot be had. */
galvo_status dso_open(const char *name, int flags, void **ret_handle, galvo_error *reterr);
/* Fills the pointers of `table`, NULL where there is no such function; ABSENT if that was required. */
galvo_status dso_bind(void *handle, const struct dso_symbol *symbols, size_t n, void *table,
                      galvo_error *reterr);
/* The file that it came from; borrowed for as long as it is loaded. Never NULL. */
const char *dso_path(void *handle);
/* What this code is in stays loaded until the process ends: a thread that is left behind may return to it. */
void dso_stay(void);

/* ---- the world: everything galvo may learn of the machine ------------------------------------ */

struct world {
	int root_fd;         /* proc/ and sys/ are below it */
	uint32_t epoch;      /* moves on when root_fd becomes another instant: kept files reopen */
	bool live;           /* pids below root are pids of ours: pidfds and process clocks work */
	bool is_foreign;     /* proc below root is of another PID namespace: our numbers are not its */
	uint32_t cpu_count;  /* CPUs online */
	uint32_t clk_tck;    /* units of time a second in /proc/stat */
	uint32_t page_bytes;
	const struct clock *clock;
};

/* This machine, with proc/ and sys/ below `root` (NULL: "/"). world_close gives root_fd back. */
galvo_status world_open(struct world *w, const char *root, galvo_error *reterr);
void world_close(struct world *w);
/* The same with a descriptor of its own, for a thread that may outlive whoever opened it. */
galvo_status world_dup(struct world *ret, const struct world *from, galvo_error *reterr);
/* A setting of the environment; NULL: there is none, or the program has privileges that its user has not. */
const char *world_setting(const char *name);

/* ---- files ----------------------------------------------------------------------------------- */

enum file_kind {
	FILE_RECORD,  /* the kernel renders it whole: one read takes all of it */
	FILE_RECORDS, /* rendered piece by piece: read until nothing comes */
};

/* A file kept open between readings. Zero it to begin with fd -1: KEPT_NONE. */
struct kept {
	int fd;
	uint32_t epoch;
};
#define KEPT_NONE ((struct kept){.fd = -1})

/*
 * Reads all of the file into `into` from its start, opening it below dir_fd when it is not open
 * or belongs to another epoch. Gives the text, which borrows from `into`. An empty file is an empty
 * text. Allocates only while `into` has to grow; a file larger than into->max is MALFORMED.
 * Fails as err_sys says; the file is then closed.
 */
galvo_status kept_read(struct kept *k, int dir_fd, const char *path, uint32_t epoch,
                       enum file_kind kind, struct buf *into, struct span *ret_text,
                       galvo_error *reterr);
void kept_close(struct kept *k);
/* A file that is read once. */
galvo_status file_read(int dir_fd, const char *path, struct buf *into, struct span *ret_text,
                       galvo_error *reterr);
/*
 * Descriptors 0 to 2 are the program's, even while it has them closed: what it prints must not land
 * in a file of ours. Every descriptor that galvo gets comes through one of these four, is closed on
 * exec, and is 3 or more. They fail as the system does, with -1 or NULL, and errno.
 */
int fd_keep(int fd); /* of a call that has just made it, or failed; takes it over */
bool fd_pair(int ret_fds[2]); /* two ends of a socket that keeps messages apart */
int file_open(int dir_fd, const char *path, int flags); /* mode 0666 */
DIR *file_open_dir(int dir_fd, const char *path);
/* All of the bytes or a failure; EINTR, short writes and SIGXFSZ are dealt with. *ret_written always
 * set. */
int file_write_all(int fd, const void *bytes, size_t n, size_t *ret_written);
/* 0 or errno; SIGXFSZ is dealt with. */
int file_set_size(int fd, uint64_t bytes);
/* Replaces dir/name by way of a temporary name beside it and rename(2): never seen half. */
galvo_status file_replace(int dir_fd, const char *name, const void *bytes, size_t n,
                          galvo_error *reterr);

#endif
