/* Last words of a recorder that crashes: one line, and the file is left as it is. */
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

enum { STACK_BYTES = 64 << 10, DIR_BYTES_MAX = 1024 };

static const struct {
	int number;
	const char *name;
} crashes[] = {
	{SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"}, {SIGFPE, "SIGFPE"}, {SIGILL, "SIGILL"},
	{SIGABRT, "SIGABRT"},
};

static char stack[STACK_BYTES]; /* the other one may be what is used up */
static char end_of_line[2 * DIR_BYTES_MAX + 128];

static size_t put(char *line, size_t n, size_t max, const char *text)
{
	while (*text && n < max)
		line[n++] = *text++;
	return n;
}

/* Nothing here but write(2) and raise(3): the rest of the program may be in any state. */
static void on_crash(int number)
{
	char line[sizeof(end_of_line) + 64];
	size_t i, n = put(line, 0, sizeof(line), "galvo: killed by ");
	ssize_t said;

	for (i = 0; i < sizeof(crashes) / sizeof(crashes[0]); i++)
		if (crashes[i].number == number)
			n = put(line, n, sizeof(line), crashes[i].name);
	n = put(line, n, sizeof(line), end_of_line);
	said = write(STDERR_FILENO, line, n);
	(void)said;
	raise(number); /* waits until we return; then the default action, with status and core */
}

void crash_tell(const char *dir)
{
	struct sigaction act = {.sa_handler = on_crash, .sa_flags = (int)(SA_ONSTACK | SA_RESETHAND)};
	struct sigaction before;
	size_t i, n, max = sizeof(end_of_line) - 2;

	n = put(end_of_line, 0, max, "; ");
	n = put(end_of_line, n, n + DIR_BYTES_MAX, dir);
	n = put(end_of_line, n, max, " is readable up to its last flush: galvo check ");
	n = put(end_of_line, n, n + DIR_BYTES_MAX, dir);
	put(end_of_line, n, max, "\n");
	sigfillset(&act.sa_mask);
	sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof(stack)}, NULL);
	for (i = 0; i < sizeof(crashes) / sizeof(crashes[0]); i++)
		if (sigaction(crashes[i].number, NULL, &before) == 0 && before.sa_handler == SIG_DFL)
			sigaction(crashes[i].number, &act, NULL);
}
