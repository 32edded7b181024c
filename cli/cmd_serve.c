/* galvo serve: the page of a run that grows, for a browser on this machine. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "serve.h"

enum { KEY_LIVE = 256, KEY_PORT, KEY_LISTEN, KEY_NO_OPEN };

static const struct opt opts[] = {
	{KEY_LIVE, "live", NULL, "record this machine, and serve that", NULL},
	{'p', "pid", "PID[,PID]", "with --live: follow these processes too",
	 "process numbers with commas between them, 256 at most"},
	{'o', "output", "DIR", "with --live: keep the recording in DIR", "a directory's name"},
	{KEY_PORT, "port", "N", "the port (default: 8425, or another one if that is taken)",
	 "a number from 0 up to 65535; 0: any that is free"},
	{KEY_LISTEN, "listen", "WHERE", "another address than this machine's own loopback, or unix:PATH",
	 "ADDRESS, ADDRESS:PORT, [ADDRESS]:PORT or unix:PATH"},
	{KEY_NO_OPEN, "no-open", NULL, "open no browser", NULL},
	OPT_HELP,
};

struct serving {
	const char *dir, *listen_at;
	int port; /* -1: the usual one */
	bool is_live, has_live_options, no_open, shows;
	struct live live;
	struct gate gate;
	struct sockets sockets;
	struct hub hub;
	struct feed *feed;
	struct http *http;
	int signal_fd;
};

static bool take_pids(struct live *l, const char *text)
{
	uint32_t pid;

	do {
		if (!parse_pid(&text, &pid) || l->processes_len == sizeof(l->processes) / sizeof(l->processes[0]))
			return false;
		l->processes[l->processes_len++] = (galvo_process){.pid = pid};
	} while (*text++ == ',');
	return text[-1] == '\0';
}

static bool take_port(int *port, const char *text)
{
	double number;

	if (!parse_number(text, &number) || number > 65535 || number != (double)(int)number)
		return false;
	*port = (int)number;
	return true;
}

static enum opt_taken take_option(void *ctx, int key, const char *arg)
{
	struct serving *s = ctx;
	bool is_taken = true;

	switch (key) {
	case KEY_LIVE: s->is_live = true; break;
	case 'p':
		s->has_live_options = true;
		is_taken = take_pids(&s->live, arg);
		break;
	case 'o':
		s->has_live_options = true;
		s->live.keep_dir = arg;
		is_taken = arg[0] != '\0';
		break;
	case KEY_PORT: is_taken = take_port(&s->port, arg); break;
	case KEY_LISTEN: s->listen_at = arg; break;
	case KEY_NO_OPEN: s->no_open = true; break;
	}
	return is_taken ? OPT_TAKEN : OPT_WRONG;
}

/* ---- serving -------------------------------------------------------------------------------------------- */

static void accept_at(struct serving *s, int listen_fd)
{
	struct sockaddr_storage from = {0};
	socklen_t len = sizeof(from);
	int fd = accept4(listen_fd, (struct sockaddr *)&from, &len, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd >= 0)
		http_add(s->http, fd, (struct sockaddr *)&from, len);
	else if (errno == EMFILE || errno == ENFILE || errno == ENOMEM)
		poll(NULL, 0, 100); /* it waits in the queue, as we do */
}

/* Until a signal ends it. */
static void serve(struct serving *s)
{
	struct pollfd fds[SOCKETS_MAX + 1];
	size_t i;

	for (i = 0; i < s->sockets.len; i++)
		fds[i] = (struct pollfd){.fd = s->sockets.fd[i], .events = POLLIN};
	fds[i] = (struct pollfd){.fd = s->signal_fd, .events = POLLIN};
	while (!fds[s->sockets.len].revents) {
		if (poll(fds, (nfds_t)s->sockets.len + 1, -1) < 0 && errno != EINTR)
			return;
		for (i = 0; i < s->sockets.len; i++)
			if (fds[i].revents)
				accept_at(s, s->sockets.fd[i]);
	}
}

/* Blocked from now on, in threads too: they come out of a descriptor. */
static bool open_signals(struct serving *s)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	struct sigaction now;
	sigset_t set;
	size_t i;

	sigemptyset(&set);
	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (sigaction(numbers[i], NULL, &now) != 0 || now.sa_handler != SIG_IGN)
			sigaddset(&set, numbers[i]);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	s->signal_fd = signalfd(-1, &set, SFD_CLOEXEC);
	return s->signal_fd >= 0;
}

/* Where somebody sits at a desktop. */
static void show(struct serving *s)
{
	char address[GATE_NAME_BYTES + TOKEN_CHARS + 32];

	if (!s->shows || s->sockets.path[0])
		return;
	snprintf(address, sizeof(address), "http://%s/?token=%s", s->sockets.url_host, s->gate.once);
	browser_open_address(address);
}

static int tell_where(const struct serving *s)
{
	struct stat st;

	if (s->sockets.path[0])
		complain("to look at it from elsewhere: ssh -L %d:%s HOST, then this address with "
		         "localhost:%d", SERVE_PORT, s->sockets.path, SERVE_PORT);
	else if (s->listen_at)
		complain("whoever can reach %s and has this address can look, and it travels as plain text",
		         s->sockets.url_host);
	if (!s->is_live && stat(s->dir, &st) != 0)
		complain("%s: nothing is recorded there yet, the page waits for it", s->dir);
	printf("http://%s/?token=%s\n", s->sockets.url_host, s->gate.token);
	return close_stdout();
}

static bool page_is_built(void)
{
	const char *bytes;
	galvo_error error;
	size_t len;

	if (galvo_page_part_at(GALVO_PAGE_HTML, &bytes, &len, &error) == GALVO_OK)
		return true;
	complain("%s", error.text);
	return false;
}

static bool start(struct serving *s)
{
	struct stat st;

	if (!page_is_built())
		return false;
	s->shows = !s->no_open && desktop_is_there();
	if (!open_signals(s) || !gate_draw_token(s->gate.token) ||
	    (s->shows && !gate_draw_token(s->gate.once)) || !hub_init(&s->hub)) {
		complain("cannot serve: %s", strerror(errno));
		return false;
	}
	if (!s->is_live && stat(s->dir, &st) == 0 && !S_ISDIR(st.st_mode)) {
		complain("%s: expected the directory of a run, this is a file", s->dir);
		return false;
	}
	s->http = http_start(&s->hub, &s->gate);
	if (!s->http || !sockets_open(&s->sockets, s->listen_at, s->port, &s->gate))
		return false;
	if (s->is_live && !live_start(&s->live))
		return false;
	s->feed = feed_start(s->is_live ? s->live.dir : s->dir, &s->hub);
	if (!s->feed)
		complain("cannot serve: %s", strerror(errno));
	return s->feed;
}

static int serve_run(struct serving *s)
{
	int exit_code = EXIT_OF_GALVO, lost;

	if (start(s)) {
		exit_code = tell_where(s);
		if (exit_code == 0) {
			show(s);
			serve(s);
		}
	}
	if (s->hub.wake_fd > 0)
		hub_close(&s->hub);
	feed_stop(s->feed);
	http_stop(s->http);
	sockets_close(&s->sockets);
	if (s->hub.wake_fd > 0)
		hub_finish(&s->hub);
	lost = live_stop(&s->live);
	return exit_code ? exit_code : lost;
}

static int run(const struct command *command, int argc, char **argv)
{
	static struct serving s = {.port = -1, .signal_fd = -1};
	int at, exit_code;

	if (!opts_take_mixed(command, argc, argv, &at, take_option, &s, &exit_code))
		return exit_code;
	if (s.has_live_options && !s.is_live)
		return usage_error(command, "--pid and --output are of a recording: expected --live");
	if (argc - at != (s.is_live ? 0 : 1))
		return usage_error(command, s.is_live ? "--live is of this machine: expected no run directory"
		                                      : "expected one run directory, or --live");
	s.dir = argv[at];
	return serve_run(&s);
}

const struct command command_serve = {
	"serve", "[options] RUN | --live", "The page of a run for a browser, also while it is recorded.",
	opts, sizeof(opts) / sizeof(opts[0]), run,
};
