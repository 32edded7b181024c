/*
 * The command line: a client of include/galvo/ and of nothing else.
 *
 * To add a command: write cli/cmd_NAME.c with its option table and `const struct command
 * command_NAME`, add the row to commands.def, and man/galvo-NAME.1. Help, completions and the
 * checks of the documents come from the tables.
 */
#ifndef GALVO_CLI_H
#define GALVO_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "galvo/galvo.h"

enum {
	EXIT_OF_USAGE = 2,    /* the command line makes no sense */
	EXIT_OF_GALVO = 125,  /* galvo itself failed */
	EXIT_NOT_RUN = 126,   /* the program is there and cannot be run, as a shell has it */
	EXIT_NOT_FOUND = 127, /* there is no such program */
};

struct opt {
	int key;          /* the short option, or a number from 256 up where there is none */
	const char *name; /* the long one */
	const char *arg;  /* what its argument is called; "[=ARG]": it may have one; NULL: it has none */
	const char *help; /* one line */
	const char *takes; /* what its argument has to be: "a number above 0"; NULL: anything */
};

struct command {
	const char *name;
	const char *arguments; /* for the usage line: "[options] RUN" */
	const char *summary;   /* one line */
	const struct opt *opts;
	size_t opts_len;
	int (*run)(const struct command *, int argc, char **argv); /* argv[0] is the command's name */
};

extern const struct command *const command_table[];
extern const size_t command_table_len;

/* Every table has it. */
#define OPT_HELP {'h', "help", NULL, "print this and exit", NULL}

enum opt_taken {
	OPT_TAKEN,
	OPT_WRONG, /* not what the option takes */
	OPT_SAID,  /* wrong, and stderr says why */
};
/*
 * Options up to the first operand, which is then argv[*at]. False: that was all, with an exit status
 * in *ret_exit; help was asked for, or stderr says what is wrong.
 */
bool opts_take(const struct command *, int argc, char **argv, int *at,
               enum opt_taken (*take)(void *ctx, int key, const char *arg), void *ctx, int *ret_exit);
/* Options before operands and behind them, which then are all at the end: from argv[*at] on. */
bool opts_take_mixed(const struct command *, int argc, char **argv, int *at,
                     enum opt_taken (*take)(void *ctx, int key, const char *arg), void *ctx,
                     int *ret_exit);
void command_print_help(const struct command *); /* to stdout */
/* One line on stderr, and EXIT_OF_USAGE. */
__attribute__((format(printf, 2, 3))) int usage_error(const struct command *, const char *fmt, ...);
/* "galvo: text" on stderr. */
__attribute__((format(printf, 1, 2))) void complain(const char *fmt, ...);

/* Whole text or nothing: false if it is no such value or out of bounds. */
bool parse_number(const char *text, double *ret);      /* "12", "0.5" */
bool parse_duration(const char *text, double *ret_s);  /* "10s", "500ms", "2m", "1h"; "10": seconds */
bool parse_range(const char *text, double *ret_from_s, double *ret_end_s); /* "10s-1m", "10s-", "-1m"; NaN: left out */
bool parse_size(const char *text, uint64_t *ret);      /* in bytes: "500K", "32M", "1GiB" */
bool parse_pid(const char **text, uint32_t *ret);      /* moves behind it */
/* The next of words with commas between, in place, blanks around it gone; *rest is NULL behind the last. */
char *next_word(char **rest);

/* The word of at(0), at(1) … up to NULL that is at most `most` edits away, the nearest; or NULL. */
const char *nearest(const char *word, size_t most, const char *(*at)(size_t));

/* For galvo_write_fn: a FILE. */
int write_to_file(void *file, const void *bytes, size_t n);
/* A string of JSON, with its quotes, to stdout. The library's texts are UTF-8. */
void print_json_text(const char *text);
/* Flushes stdout: 0, or EXIT_OF_GALVO with a line on stderr when it could not be written. */
int close_stdout(void);
/*
 * The end of writing there by way of write_to_file, which went as status and error have it: the exit
 * status, with a line on stderr for what failed.
 */
int end_stdout(galvo_status status, const galvo_error *error);

/* ---- last words (crash.c) ------------------------------------------------------------------------- */

/*
 * From now on a signal that tells of a crash says so in one line on stderr, with where the run is, before
 * it kills. After the workload was forked: that has what we were started with.
 */
void crash_tell(const char *dir);

/* ---- counters of GPUs (counters.c) ----------------------------------------------------------------- */

struct counters_wish {
	const char *chip;    /* NULL: of the GPU that is here */
	const char *check;   /* names with commas between, to be looked over; NULL: list them */
	const char *pattern; /* of a shell, or what is to be in the name; NULL: all */
	bool is_json, has_suffixes;
};

/* Prints; the exit status. */
int counters_print(const struct counters_wish *);

/* ---- the browser (browser.c) ----------------------------------------------------------------------- */

bool desktop_is_there(void); /* somebody sits at it, and sees what we print */
bool browser_open(const char *path); /* false: there is nothing to open it with */

/* ---- starting the workload (launch.c) ------------------------------------------------------------- */

struct launch {
	int pid;
	int go_fd;    /* the child waits at the other end */
	int error_fd; /* and says there what went wrong */
};

/* Would this program run? 0, or EXIT_NOT_FOUND, EXIT_NOT_RUN with a line on stderr. */
int launch_check(const char *program);
/*
 * Forks a child that waits. It gets the signal mask of before, and ignores SIGCHLD if that was so;
 * all else it inherits. Call before there are threads. False: errno.
 */
bool launch_fork(char **argv, const void *signal_mask, bool ignores_children, struct launch *ret);
/* Lets it go. 0, or the errno of a failed exec. */
int launch_go(struct launch *);
void launch_cancel(struct launch *); /* the child ends without having run anything */

#endif
