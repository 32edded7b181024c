/* What other processes say: messages, who may, what belongs together, nobody who listens. */
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "event_rig.h"

static void messages(void)
{
	static const struct {
		const char *bytes;
		size_t n;
		bool is_good;
	} rows[] = {
		{"GLVE\1\1\3\0AAAAAAAABBBBBBBBabc", 27, true},
		{"GLVE\1\3\0\0AAAAAAAABBBBBBBB", 24, true},
		{"", 0, false},
		{"GLVE\1\1\3\0AAAAAAAABBBBBBB", 23, false},
		{"GLVE\1\1\3\0AAAAAAAABBBBBBBBab", 26, false},
		{"GLVE\1\1\3\0AAAAAAAABBBBBBBBabcd", 28, false},
		{"GLVE\1\0\3\0AAAAAAAABBBBBBBBabc", 27, false},
		{"GLVE\1\4\3\0AAAAAAAABBBBBBBBabc", 27, false},
		{"GLVE\2\1\3\0AAAAAAAABBBBBBBBabc", 27, false},
		{"glve\1\1\3\0AAAAAAAABBBBBBBBabc", 27, false},
		{"GLVE\1\1\1\4AAAAAAAABBBBBBBBabc", 27, false},
	};
	char bytes[SAID_BYTES_MAX], name[EVENT_NAME_MAX] = "n";
	struct said s = {GALVO_SAY_END, UINT64_MAX, 5, span_of(name, sizeof(name))}, back;
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++)
		if (!OK(said_parse(span_of(rows[i].bytes, rows[i].n), &back) == rows[i].is_good))
			printf("# row %zu\n", i);
	EQ(said_put(bytes, &s), SAID_BYTES_MAX);
	OK(said_parse(span_of(bytes, sizeof(bytes)), &back) && span_eq(back.name, s.name));
	OK(back.what == s.what && back.mono_ns == s.mono_ns && back.token == s.token);
}

static galvo_status say(const char *path, galvo_saying what, uint64_t token, const char *name)
{
	return galvo_say(path, what, token, name, strlen(name), NULL);
}

static void from_outside(void)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	char path[sizeof(at.sun_path)], bytes[SAID_BYTES_MAX];
	struct said early = {GALVO_SAY_MARK, 1, 0, span_str("early")};
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct events_counts counts;
	galvo_listener *l = NULL;
	struct rig r;
	size_t i;

	rig_init(&r, true);
	OK(galvo_listener_open("/tmp", &l, NULL) == GALVO_OK);
	snprintf(path, sizeof(path), "%s", galvo_listener_path(l));
	EQ(say(path, GALVO_SAY_BEGIN, 0, "outer"), GALVO_OK); /* before anyone listens */
	OK(galvo_listener_start(l, r.t, NULL) == GALVO_OK);
	EQ(say(path, GALVO_SAY_BEGIN, 0, "outer"), GALVO_OK); /* inside of it, the same name */
	EQ(say(path, GALVO_SAY_BEGIN, 9, "outer"), GALVO_OK);
	EQ(say(path, GALVO_SAY_END, 0, "outer"), GALVO_OK);
	EQ(say(path, GALVO_SAY_MARK, 0, "mark"), GALVO_OK);
	EQ(say(path, GALVO_SAY_END, 0, "outer"), GALVO_OK);
	EQ(say(path, GALVO_SAY_END, 0, "outer"), GALVO_OK); /* there is none left */
	memcpy(at.sun_path, path, sizeof(path));
	OK(sendto(fd, "hello", 5, 0, (struct sockaddr *)&at, sizeof(at)) == 5);
	OK(sendto(fd, bytes, said_put(bytes, &early), 0, (struct sockaddr *)&at, sizeof(at)) > 0);
	close(fd);
	galvo_listener_stop(l);
	EQ(access(path, F_OK), 0);
	galvo_listener_close(l);
	EQ(access(path, F_OK), -1);
	EQ(say(path, GALVO_SAY_MARK, 0, "nobody"), GALVO_ERR_ABSENT);
	events_signal_stop(r.events);
	events_join(r.events);
	events_count(r.events, &counts);
	EQ(counts.unmatched, 1);
	EQ(counts.refused, 1);
	rig_read(&r);
	EQ(r.run->regions_len, 3);
	EQ(r.run->marks_len, 2);
	/* The innermost ended first, the one with a token not at all. */
	OK(r.run->regions[0].start_mono_ns >= r.run->regions[1].start_mono_ns);
	OK(!r.run->regions[1].unfinished && r.run->regions[2].unfinished);
	for (i = 0; i < 3; i++)
		OK(r.run->regions[i].pid == (uint32_t)getpid());
	OK(r.run->marks[1].mono_ns > NS_PER_S / 1000); /* not the time that it told */
	rig_finish(&r);
}

/* In another user's shoes; what that user's attempt ends with. Needs root. */
static int as_nobody(int (*attempt)(const char *path, int fd), const char *path, int fd)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0)
		_exit(setresuid(65534, 65534, 65534) ? 100 : attempt(path, fd));
	OK(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* Connected by somebody who may, used by somebody who may not. */
static int use_connected(const char *path, int fd)
{
	(void)path;
	return send(fd, "GLVE\1\1\3\0AAAAAAAABBBBBBBBabc", 27, 0) != 27;
}

static int say_it(const char *path, int fd)
{
	(void)fd;
	return say(path, GALVO_SAY_MARK, 0, "x") != GALVO_ERR_DENIED;
}

static void another_user(void)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct events_counts counts;
	galvo_listener *l = NULL;
	struct rig r;

	if (geteuid() != 0) {
		close(fd);
		return;
	}
	rig_init(&r, true);
	OK(galvo_listener_open("/tmp", &l, NULL) == GALVO_OK);
	OK(galvo_listener_start(l, r.t, NULL) == GALVO_OK);
	snprintf(at.sun_path, sizeof(at.sun_path), "%s", galvo_listener_path(l));
	OK(connect(fd, (struct sockaddr *)&at, sizeof(at)) == 0);
	EQ(as_nobody(say_it, at.sun_path, fd), 0); /* the directory lets nobody in */
	EQ(as_nobody(use_connected, at.sun_path, fd), 0);
	galvo_listener_close(l);
	close(fd);
	events_count(r.events, &counts);
	EQ(counts.refused, 1);
	events_signal_stop(r.events);
	events_join(r.events);
	rig_read(&r);
	EQ(r.run->marks_len, 0);
	rig_finish(&r);
}

/* A socket that a third user has put there. */
static void a_foreign_socket(void)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0), dir_fd;
	char dir[64];

	dir_fd = sample_dir(dir);
	snprintf(at.sun_path, sizeof(at.sun_path), "%s/socket", dir);
	OK(bind(fd, (struct sockaddr *)&at, sizeof(at)) == 0);
	if (geteuid() == 0) {
		OK(chmod(dir, 0755) == 0 && chmod(at.sun_path, 0777) == 0);
		OK(chown(at.sun_path, 1, 1) == 0);
		EQ(as_nobody(say_it, at.sun_path, -1), 0);
	}
	close(fd);
	unlink(at.sun_path);
	sample_remove(dir, dir_fd);
}

static void nobody_listens(void)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	char dir[64], path[96];
	int dir_fd = sample_dir(dir), fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	galvo_listener *l = NULL;
	galvo_error e;

	snprintf(path, sizeof(path), "%s/socket", dir);
	snprintf(at.sun_path, sizeof(at.sun_path), "%s", path);
	OK(bind(fd, (struct sockaddr *)&at, sizeof(at)) == 0);
	close(fd); /* the name stays: a recorder that was killed */
	EQ(galvo_say(path, GALVO_SAY_MARK, 0, "x", 1, &e), GALVO_ERR_STATE);
	OK(strstr(e.text, "is gone"));
	EQ(galvo_say(dir, GALVO_SAY_MARK, 0, "x", 1, &e), GALVO_ERR_ABSENT);
	EQ(galvo_say(path, GALVO_SAY_MARK, 0, dir, EVENT_NAME_MAX + 1, &e), GALVO_ERR_INVALID);
	EQ(galvo_listener_open("tmp", &l, &e), GALVO_ERR_INVALID);
	EQ(galvo_listener_open("/tmp/no/such", &l, &e), GALVO_ERR_ABSENT);
	unlink(path);
	sample_remove(dir, dir_fd);
}

/* The dead are removed, the living and the strange are left alone. */
static void what_the_dead_left(void)
{
	const struct timespec old[] = {{1000, 0}, {1000, 0}};
	galvo_listener *alive = NULL, *next = NULL;
	char base[64], dead[96], strange[96], empty[96], path[128];
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int base_fd = sample_dir(base), fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	snprintf(dead, sizeof(dead), "%s/galvo-aaaaaa", base);
	snprintf(strange, sizeof(strange), "%s/galvo-bbbbbb", base);
	snprintf(empty, sizeof(empty), "%s/galvo-cccccc", base);
	OK(mkdir(dead, 0700) == 0 && mkdir(strange, 0700) == 0 && mkdir(empty, 0700) == 0);
	OK(utimensat(AT_FDCWD, empty, old, 0) == 0);
	snprintf(at.sun_path, sizeof(at.sun_path), "%s/socket", dead);
	OK(bind(fd, (struct sockaddr *)&at, sizeof(at)) == 0);
	OK(galvo_listener_open(base, &alive, NULL) == GALVO_OK);
	EQ(access(dead, F_OK), 0);
	close(fd);
	OK(galvo_listener_open(base, &next, NULL) == GALVO_OK);
	EQ(access(dead, F_OK), -1);
	EQ(access(empty, F_OK), -1);
	EQ(access(strange, F_OK), 0); /* as empty, but it may be somebody's who is about to begin */
	snprintf(path, sizeof(path), "%s", galvo_listener_path(alive));
	EQ(access(path, F_OK), 0);
	galvo_listener_close(next);
	galvo_listener_close(alive);
	rmdir(strange);
	sample_remove(base, base_fd);
	EQ(access(base, F_OK), -1);
}

static const struct tap_test tests[] = {
	{"messages", messages},
	{"from outside", from_outside},
	{"another user", another_user},
	{"a foreign socket", a_foreign_socket},
	{"nobody listens", nobody_listens},
	{"what the dead left", what_the_dead_left},
};
TAP_MAIN(tests)
