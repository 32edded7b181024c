/* What the kernel tells of forks and exits: its messages, and what becomes of candidates. */
#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/taskstats.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"
#include "track/kernel.h"

enum { NOBODY = 5000000, FAMILY = 25, EVENT_AT = NLMSG_HDRLEN + sizeof(struct cn_msg) };

static struct world world;

static uint64_t now(void)
{
	return clock_real.mono_ns(&clock_real);
}

/* ---- messages ------------------------------------------------------------------------------------- */

struct message {
	char bytes[EVENT_AT + sizeof(struct proc_event)];
	size_t n;
};

static uint32_t next_seq = 1;

static struct message message(const struct proc_event *event)
{
	const struct cn_msg head = {.id = {CN_IDX_PROC, CN_VAL_PROC}, .len = sizeof(*event),
	                            .seq = next_seq++, .ack = 7};
	struct message m = {.n = sizeof(m.bytes)};
	const struct nlmsghdr header = {.nlmsg_len = (uint32_t)m.n, .nlmsg_type = NLMSG_DONE};

	memcpy(m.bytes, &header, sizeof(header));
	memcpy(m.bytes + NLMSG_HDRLEN, &head, sizeof(head));
	memcpy(m.bytes + EVENT_AT, event, sizeof(*event));
	return m;
}

static struct message forked(uint32_t parent, uint32_t tgid, uint32_t tid)
{
	struct proc_event e = {.what = PROC_EVENT_FORK, .timestamp_ns = now()};

	e.event_data.fork.parent_pid = e.event_data.fork.parent_tgid = (int)parent;
	e.event_data.fork.child_tgid = (int)tgid;
	e.event_data.fork.child_pid = (int)tid;
	return message(&e);
}

static struct message exited(uint32_t tgid, uint32_t tid, uint32_t code)
{
	struct proc_event e = {.what = PROC_EVENT_EXIT, .timestamp_ns = now()};

	e.event_data.exit.process_tgid = (int)tgid;
	e.event_data.exit.process_pid = (int)tid;
	e.event_data.exit.exit_code = code;
	return message(&e);
}

static void what_it_says(void)
{
	struct proc_event e = {.what = PROC_EVENT_EXEC, .timestamp_ns = 42};
	struct message m = forked(10, 11, 12);
	struct news n;

	OK(news_parse(span_of(m.bytes, m.n), &n));
	OK(n.kind == NEWS_FORK && n.parent == 10 && n.tgid == 11 && n.tid == 12 && n.mono_ns > 0);
	m = exited(20, 21, 0x300);
	OK(news_parse(span_of(m.bytes, m.n), &n));
	OK(n.kind == NEWS_EXIT && n.tgid == 20 && n.tid == 21 && n.code == 0x300);
	e.event_data.exec.process_pid = e.event_data.exec.process_tgid = 5;
	m = message(&e);
	OK(news_parse(span_of(m.bytes, m.n), &n));
	OK(n.kind == NEWS_NAME && n.tgid == 5 && n.mono_ns == 42);
	e.what = PROC_EVENT_NONE;
	e.event_data.ack.err = 1;
	m = message(&e);
	OK(news_parse(span_of(m.bytes, m.n), &n) && n.kind == NEWS_ACK && n.code == 1 && n.ack == 7);
	e.what = PROC_EVENT_UID;
	m = message(&e);
	OK(news_parse(span_of(m.bytes, m.n), &n) && n.kind == NEWS_OTHER && n.seq == next_seq - 1);
}

/* Cut anywhere, at any address, of another kind or with lengths that lie: never read beyond. */
static void hostile_news(void)
{
	struct message whole = forked(1, 2, 2), m;
	char *tight, *odd = malloc(whole.n + 1);
	const size_t needed = EVENT_AT + offsetof(struct proc_event, event_data.fork.child_tgid) + 4;
	uint32_t n32;
	struct news n;
	size_t i;

	for (i = 0; i < whole.n; i++) {
		tight = malloc(i ? i : 1); /* so that a sanitizer sees one byte too many */
		memcpy(tight, whole.bytes, i);
		n32 = (uint32_t)i;
		if (i >= sizeof(n32))
			memcpy(tight, &n32, sizeof(n32));
		OK(!news_parse(span_of(tight, i), &n)); /* the length of the event lies */
		if (i >= EVENT_AT) {
			uint16_t len = (uint16_t)(i - EVENT_AT);

			memcpy(tight + NLMSG_HDRLEN + offsetof(struct cn_msg, len), &len, sizeof(len));
			EQ(news_parse(span_of(tight, i), &n), i >= needed);
		}
		free(tight);
	}
	memcpy(odd + 1, whole.bytes, whole.n);
	OK(news_parse(span_of(odd + 1, whole.n), &n) && n.tgid == 2);
	free(odd);
	m = whole;
	m.bytes[4] = NLMSG_ERROR; /* its type */
	OK(!news_parse(span_of(m.bytes, m.n), &n));
	m = whole;
	m.bytes[NLMSG_HDRLEN] = 3; /* another connector */
	OK(!news_parse(span_of(m.bytes, m.n), &n));
	m = whole;
	memset(m.bytes, 0xff, 4); /* its length */
	OK(!news_parse(span_of(m.bytes, m.n), &n));
	OK(!news_parse(span_of(NULL, 0), &n));
}

/* ---- records -------------------------------------------------------------------------------------- */

static void attribute(struct buf *b, uint16_t type, const void *content, size_t n)
{
	const struct nlattr a = {.nla_len = (uint16_t)(sizeof(a) + n), .nla_type = type};

	buf_put(b, &a, sizeof(a));
	buf_put(b, content, n);
	buf_put(b, "\0\0\0", (4 - n % 4) % 4);
}

static struct taskstats stats(uint32_t tgid, uint32_t tid, uint64_t cpu_ns)
{
	struct taskstats s = {.version = 13, .ac_pid = tid, .ac_tgid = tgid,
	                      .cpu_run_virtual_total = cpu_ns, .read_char = 1 << 20,
	                      .write_char = 2 << 20, .read_bytes = 4096, .write_bytes = 8192,
	                      .cancelled_write_bytes = 1024};

	return s;
}

/* As the kernel makes it: the record of a thread, and that of its process if there were several. */
static void put_record(struct buf *b, const struct taskstats *own, const struct taskstats *group)
{
	struct genlmsghdr genl = {.cmd = TASKSTATS_CMD_NEW, .version = 1};
	struct nlmsghdr header = {.nlmsg_type = FAMILY};
	struct buf inner;
	size_t i;

	buf_put(b, &header, sizeof(header));
	buf_put(b, &genl, sizeof(genl));
	for (i = 0; i < 2; i++) {
		const struct taskstats *s = i ? group : own;

		if (!s)
			continue;
		buf_init(&inner, 4096);
		attribute(&inner, i ? TASKSTATS_TYPE_TGID : TASKSTATS_TYPE_PID, &s->ac_pid, 4);
		attribute(&inner, TASKSTATS_TYPE_STATS, s, sizeof(*s));
		attribute(b, i ? TASKSTATS_TYPE_AGGR_TGID : TASKSTATS_TYPE_AGGR_PID, inner.p, inner.len);
		buf_finish(&inner);
	}
	header.nlmsg_len = (uint32_t)b->len;
	memcpy(b->p, &header, sizeof(header));
}

static void records(void)
{
	struct taskstats own = stats(7, 8, 1000), group = stats(7, 7, 5000);
	struct exit_record r;
	struct buf b;

	own.ac_flag = 0x20;
	buf_init(&b, 1 << 16);
	put_record(&b, &own, &group);
	OK(exit_record_parse(span_of(b.p, b.len), FAMILY, &r));
	OK(r.tgid == 7 && r.tid == 8 && r.is_last && r.has_group && r.group_cpu_ns == 5000);
	OK(r.own.cpu_ns == 1000 && r.own.io[0] == 1 << 20 && r.own.io[1] == 2 << 20);
	OK(r.own.io[2] == 4096 && r.own.io[3] == 8192 && r.own.io[4] == 1024);
	OK(!exit_record_parse(span_of(b.p, b.len), FAMILY + 1, &r));
	b.len = 0;
	own.version = 11; /* which does not say whose thread it is */
	put_record(&b, &own, NULL);
	OK(!exit_record_parse(span_of(b.p, b.len), FAMILY, &r));
	buf_finish(&b);
}

static void hostile_records(void)
{
	struct taskstats own = stats(7, 7, 1000);
	struct exit_record r;
	struct buf b;
	size_t i, j;

	buf_init(&b, 1 << 16);
	put_record(&b, &own, &own);
	for (i = 0; i < b.len; i++) {
		char *tight = malloc(i ? i : 1);
		uint32_t n32 = (uint32_t)i;

		memcpy(tight, b.p, i);
		if (i >= sizeof(n32))
			memcpy(tight, &n32, sizeof(n32));
		exit_record_parse(span_of(tight, i), FAMILY, &r);
		family_parse(span_of(tight, i));
		for (j = NLMSG_HDRLEN; j < i && j < 64; j++) { /* lengths and types that lie */
			char was = tight[j];

			tight[j] = (char)(was ^ 0x55);
			exit_record_parse(span_of(tight, i), FAMILY, &r);
			tight[j] = was;
		}
		free(tight);
	}
	OK(exit_record_parse(span_of(b.p, b.len), FAMILY, &r));
	buf_finish(&b);
}

/* ---- candidates, of events that we make up -------------------------------------------------------- */

struct rig {
	struct track *track;
	int kernel; /* our end of it */
	pid_t root, child;
	struct tracked *who;
};

static bool take(void *ctx, struct tracked *who)
{
	((struct rig *)ctx)->who = who;
	return true;
}

/* A root with a child, both asleep. */
static void open_rig(struct rig *r, enum follow follow)
{
	struct track_config config = {.world = &world, .follow = follow};
	uint64_t cursor = 0;
	int ends[2], tell[2];

	*r = (struct rig){0};
	OK(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) == 0 && pipe(tell) == 0);
	r->kernel = ends[0];
	config.events_fd = ends[1];
	OK(track_create(&config, &r->track, NULL) == GALVO_OK);
	r->root = fork();
	if (r->root == 0) {
		pid_t child = fork();

		if (child && write(tell[1], &child, sizeof(child)) != sizeof(child))
			_exit(1);
		for (;;)
			pause();
	}
	OK(read(tell[0], &r->child, sizeof(r->child)) == sizeof(r->child));
	close(tell[0]);
	close(tell[1]);
	OK(track_add(r->track, (uint32_t)r->root, NULL, STREAM_ALL, FOLLOW_NONE, NULL) == GALVO_OK);
	track_join(r->track, STREAM_SYSTEM, &cursor, take, r);
	r->track->must_walk = false; /* nothing but events tells of the child */
	r->track->walked_mono_ns = now();
}

static void close_rig(struct rig *r)
{
	int events_fd = r->track->config.events_fd;

	kill(r->child, SIGKILL);
	kill(r->root, SIGKILL);
	waitpid(r->root, NULL, 0);
	track_release(r->track, r->who);
	track_destroy(r->track);
	close(r->kernel);
	close(events_fd);
}

static void tell(const struct rig *r, struct message m)
{
	OK(send(r->kernel, m.bytes, m.n, 0) == (ssize_t)m.n);
}

static struct track_counts counts(const struct rig *r)
{
	struct track_counts c;

	track_count(r->track, &c);
	return c;
}

static void short_ones(void)
{
	struct rig r;
	uint32_t root;

	open_rig(&r, FOLLOW_TREE);
	root = (uint32_t)r.root;
	tell(&r, forked(root, NOBODY, NOBODY));
	tell(&r, exited(NOBODY, NOBODY, 0));
	tell(&r, forked(root, NOBODY + 1, NOBODY + 1));     /* a chain, */
	tell(&r, forked(NOBODY + 1, NOBODY + 2, NOBODY + 2)); /* which is counted on who is followed */
	tell(&r, exited(NOBODY + 1, NOBODY + 1, 0));
	tell(&r, exited(NOBODY + 2, NOBODY + 2, 0));
	tell(&r, forked(NOBODY + 8, NOBODY + 9, NOBODY + 9)); /* of somebody else */
	tell(&r, exited(NOBODY + 9, NOBODY + 9, 0));
	track_poll(r.track);
	EQ(counts(&r).short_children, 0); /* there may be zombies among them */
	track_scan(r.track, now());
	EQ(counts(&r).forks, 3);
	EQ(counts(&r).short_children, 3);
	EQ(r.who->short_children, 3);
	EQ(counts(&r).short_without_totals, 3);
	OK(counts(&r).way == WAY_EVENTS);
	close_rig(&r);
}

/* A process has ended with its last thread, which need not be the first. */
static void threads(void)
{
	struct rig r;

	open_rig(&r, FOLLOW_TREE);
	tell(&r, forked((uint32_t)r.root, NOBODY, NOBODY));
	tell(&r, forked((uint32_t)r.root, NOBODY, NOBODY + 1));
	tell(&r, exited(NOBODY, NOBODY, 0));
	track_poll(r.track);
	EQ(counts(&r).short_children, 0);
	tell(&r, exited(NOBODY, NOBODY + 1, 0));
	track_scan(r.track, now());
	EQ(counts(&r).short_children, 1);
	close_rig(&r);
}

static void a_lasting_one(void)
{
	struct message m;
	struct rig r;

	open_rig(&r, FOLLOW_TREE);
	m = forked((uint32_t)r.root, (uint32_t)r.child, (uint32_t)r.child);
	tell(&r, m);
	track_poll(r.track);
	EQ(counts(&r).alive, 1); /* a poll costs little */
	track_scan(r.track, now());
	EQ(counts(&r).alive, 2);
	OK(track_find(r.track, (uint32_t)r.child)->born_mono_ns > 0);
	tell(&r, forked((uint32_t)r.child, NOBODY, NOBODY));
	tell(&r, exited(NOBODY, NOBODY, 0));
	tell(&r, exited((uint32_t)r.child, (uint32_t)r.child, 0x0b));
	track_scan(r.track, now());
	EQ(track_find(r.track, (uint32_t)r.child)->short_children, 1);
	EQ(r.who->short_children, 0);
	EQ(track_find(r.track, (uint32_t)r.child)->exit_status, 0x0b);
	EQ(counts(&r).alive, 2); /* which is for the pidfd to say */
	close_rig(&r);
}

static void children_only(void)
{
	struct rig r;

	open_rig(&r, FOLLOW_CHILDREN);
	tell(&r, forked((uint32_t)r.root, NOBODY, NOBODY));
	tell(&r, forked(NOBODY, NOBODY + 1, NOBODY + 1));
	tell(&r, exited(NOBODY, NOBODY, 0));
	tell(&r, exited(NOBODY + 1, NOBODY + 1, 0));
	track_scan(r.track, now());
	EQ(counts(&r).forks, 1);
	EQ(counts(&r).short_children, 1);
	close_rig(&r);
}

/* What is not there though nobody said that it ended was lost on the way: counted at the second scan. */
static void unheard_ends(void)
{
	struct rig r;

	open_rig(&r, FOLLOW_TREE);
	tell(&r, forked((uint32_t)r.root, NOBODY, NOBODY));
	track_scan(r.track, now());
	EQ(counts(&r).short_children, 0);
	track_scan(r.track, now());
	EQ(counts(&r).short_children, 1);
	EQ(counts(&r).alive, 1);
	tell(&r, forked((uint32_t)r.root, NOBODY, NOBODY));
	tell(&r, forked((uint32_t)r.root, NOBODY, NOBODY)); /* the number again, without an end */
	tell(&r, exited(NOBODY, NOBODY, 0));
	track_scan(r.track, now());
	EQ(counts(&r).short_children, 3);
	close_rig(&r);
}

/* Each CPU numbers its events. */
static void missing_numbers(void)
{
	struct rig r;

	open_rig(&r, FOLLOW_TREE);
	tell(&r, forked((uint32_t)r.root, NOBODY, NOBODY));
	tell(&r, exited(NOBODY, NOBODY, 0));
	track_poll(r.track);
	EQ(counts(&r).lost_events, 0);
	next_seq += 3;
	tell(&r, forked(NOBODY + 1, NOBODY + 2, NOBODY + 2));
	track_poll(r.track);
	EQ(counts(&r).lost_events, 3);
	OK(r.track->must_walk);
	track_scan(r.track, now());
	EQ(counts(&r).alive, 2); /* the child, of which nobody told */
	r.track->kernel->excused = 5; /* the kernel said that it had no room for so many */
	next_seq += 4;
	tell(&r, exited(NOBODY + 2, NOBODY + 2, 0));
	track_poll(r.track);
	EQ(counts(&r).lost_events, 3);
	next_seq = 1; /* begun anew */
	tell(&r, exited(NOBODY + 2, NOBODY + 2, 0));
	track_poll(r.track);
	EQ(counts(&r).lost_events, 3);
	close_rig(&r);
}

/* The totals of who has ended come in any order with the news of it. */
static void totals(void)
{
	struct exit_record last = {NOBODY, NOBODY, true, false, 0, {1000, {1, 2, 3, 4, 5}, true}};
	struct rig r;

	open_rig(&r, FOLLOW_TREE);
	r.track->kernel->exits_since_mono_ns = 1;
	tell(&r, forked((uint32_t)r.root, NOBODY, NOBODY));
	track_poll(r.track);
	OK(exits_take(r.track, &last));
	tell(&r, exited(NOBODY, NOBODY, 0));
	track_scan(r.track, now());
	EQ(r.who->short_cpu_ns, 1000);
	EQ(r.who->short_io[4], 5);
	EQ(counts(&r).short_without_totals, 0);
	OK(!exits_take(r.track, &last)); /* nobody's any more */
	last.tgid = (uint32_t)r.root;
	last.is_last = false;
	OK(exits_take(r.track, &last)); /* one of its threads */
	OK(!r.who->exited_is_all && r.who->exited.cpu_ns == 1000);
	last.is_last = last.has_group = true;
	last.group_cpu_ns = 7000; /* it had others, before we looked */
	OK(exits_take(r.track, &last));
	OK(r.who->exited_is_all && r.who->exited.cpu_ns == 7000 && !r.who->exited.has_io);
	close_rig(&r);
}

static const struct tap_test tests[] = {
	{"what news say", what_it_says},
	{"hostile news", hostile_news},
	{"records of exits", records},
	{"hostile records", hostile_records},
	{"children that are short-lived", short_ones},
	{"a leader that ends first", threads},
	{"a child that lasts", a_lasting_one},
	{"children only", children_only},
	{"ends that nobody told of", unheard_ends},
	{"numbers that are missing", missing_numbers},
	{"totals", totals},
};

int main(void)
{
	int failed = world_open(&world, NULL, NULL) != GALVO_OK || tap_run(tests, ARRAY_LEN(tests));

	world_close(&world);
	return failed;
}
