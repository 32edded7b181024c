/* Files that stay open: as many as the budget has, and which ones; too few descriptors. */
#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "host.h"
#include "probe/keep.h"
#include "tap.h"

enum { FILES = 12 };

struct shelf {
	char dir[64];
	int dir_fd;
	struct keep files[FILES];
	struct fd_budget budget;
	struct keeper keeper;
	struct buf text;
};

static void open_shelf(struct shelf *s, size_t max)
{
	size_t i;

	*s = (struct shelf){.budget.max = max};
	s->keeper.budget = &s->budget;
	buf_init(&s->text, 1 << 16);
	snprintf(s->dir, sizeof(s->dir), "/tmp/galvo-keep-XXXXXX");
	OK(mkdtemp(s->dir) != NULL);
	s->dir_fd = open(s->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (i = 0; i < FILES; i++) {
		char name[2] = {(char)('a' + (int)i), '\0'};
		int fd = openat(s->dir_fd, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

		OK(write(fd, name, 1) == 1);
		close(fd);
		s->files[i] = KEEP_NONE;
	}
}

/* Reads file i, whatever is open, and finds in it what is there. */
static bool reads(struct shelf *s, size_t i)
{
	const char name[2] = {(char)('a' + (int)i), '\0'};
	struct span text = {0};
	galvo_error e = {0};

	return keep_read(&s->keeper, &s->files[i], s->dir_fd, name, 0, FILE_RECORD, &s->text, &text,
	                 &e) == GALVO_OK && text.n == 1 && text.p[0] == name[0];
}

static size_t open_ones(const struct shelf *s)
{
	size_t i, n = 0;

	for (i = 0; i < FILES; i++)
		n += s->files[i].file.fd >= 0;
	return n;
}

static void close_shelf(struct shelf *s)
{
	size_t i;

	for (i = 0; i < FILES; i++)
		keep_close(&s->keeper, &s->files[i]);
	EQ(s->budget.used, 0);
	OK(!s->keeper.oldest && !s->keeper.newest);
	close(s->dir_fd);
	host_remove(s->dir);
	buf_finish(&s->text);
}

static void the_oldest_goes(void)
{
	struct shelf s;

	open_shelf(&s, 3);
	OK(reads(&s, 0) && reads(&s, 1) && reads(&s, 2) && open_ones(&s) == 3);
	OK(reads(&s, 0));
	OK(reads(&s, 3) && s.files[3].file.fd < 0); /* all others were read, and it never was */
	OK(reads(&s, 0) && reads(&s, 2));
	OK(reads(&s, 3) && s.files[3].file.fd >= 0 && s.files[1].file.fd < 0);
	EQ(open_ones(&s), 3);
	OK(reads(&s, 1) && s.files[1].file.fd < 0); /* it was read before all of them */
	close_shelf(&s);
}

/* Or each would be closed just before its turn. */
static void in_turn(void)
{
	struct shelf s;
	size_t round, i;
	int kept[3];

	open_shelf(&s, 3);
	for (round = 0; round < 5; round++) {
		for (i = 0; i < FILES; i++)
			OK(reads(&s, i));
		EQ(open_ones(&s), 3);
		for (i = 0; i < 3; i++) {
			OK(round == 0 || kept[i] == s.files[i].file.fd);
			kept[i] = s.files[i].file.fd;
		}
	}
	close_shelf(&s);
}

/* Others take of the same budget: identities come first, and another probe's files are not ours. */
static void a_budget_that_others_have(void)
{
	struct shelf s;
	size_t i;

	open_shelf(&s, 6);
	for (i = 0; i < 6; i++)
		OK(reads(&s, i));
	atomic_fetch_add(&s.budget.used, 4);
	OK(reads(&s, 5) && reads(&s, 0));
	OK(s.budget.used <= s.budget.max);
	EQ(open_ones(&s), 2);
	atomic_fetch_add(&s.budget.used, 8); /* more than there are */
	for (i = 0; i < FILES; i++)
		OK(reads(&s, i));
	EQ(open_ones(&s), 0);
	fd_budget_put(&s.budget, 12);
	OK(reads(&s, 7) && s.files[7].file.fd >= 0);
	close_shelf(&s);
	open_shelf(&s, 0);
	OK(reads(&s, 0) && reads(&s, 0) && open_ones(&s) == 0);
	close_shelf(&s);
	open_shelf(&s, 2);
	s.keeper.budget = NULL;
	OK(reads(&s, 0) && open_ones(&s) == 0);
	close_shelf(&s);
}

/* Somebody needs descriptors who cannot take them: what is open gives way, and is not opened again. */
static void what_others_want(void)
{
	struct shelf s;
	size_t i;

	open_shelf(&s, 6);
	for (i = 0; i < 4; i++)
		OK(reads(&s, i));
	s.budget.wanted = 6 - 4 + 2;
	for (i = 0; i < FILES; i++)
		OK(reads(&s, i));
	EQ(open_ones(&s), 2);
	EQ(s.budget.used, 2);
	s.budget.wanted = 7; /* more than it has */
	OK(reads(&s, 5) && open_ones(&s) == 0);
	s.budget.wanted = 0;
	for (i = 0; i < FILES; i++)
		OK(reads(&s, i));
	EQ(open_ones(&s), 6);
	close_shelf(&s);
}

/* The limit is lower than it was when the budget was made: what is open gives way. */
static void no_descriptors(void)
{
	struct rlimit before, limit;
	struct shelf s;
	size_t i;

	open_shelf(&s, 8);
	for (i = 0; i < 8; i++)
		OK(reads(&s, i));
	getrlimit(RLIMIT_NOFILE, &before);
	limit = (struct rlimit){(rlim_t)s.files[7].file.fd + 1, before.rlim_max};
	setrlimit(RLIMIT_NOFILE, &limit);
	s.budget.max = FILES;
	for (i = 0; i < FILES; i++)
		OK(reads(&s, i));
	OK(open_ones(&s) <= 8);
	EQ(s.budget.used, open_ones(&s));
	setrlimit(RLIMIT_NOFILE, &before);
	close_shelf(&s);
}

static void what_is_not_there(void)
{
	struct keep none = KEEP_NONE;
	struct span text;
	galvo_error e = {0};
	struct shelf s;

	open_shelf(&s, 3);
	EQ(keep_read(&s.keeper, &none, s.dir_fd, "none", 0, FILE_RECORD, &s.text, &text, &e),
	   GALVO_ERR_ABSENT);
	EQ(s.budget.used, 0);
	keep_close(&s.keeper, &none);
	close_shelf(&s);
}

static const struct tap_test tests[] = {
	{"the oldest gives way to what was read after it", the_oldest_goes},
	{"more files than fit, read in turn", in_turn},
	{"a budget that others have, too", a_budget_that_others_have},
	{"what others want", what_others_want},
	{"no descriptors", no_descriptors},
	{"what is not there", what_is_not_there},
};
TAP_MAIN(tests)
