/*
 * What the kernel tells of processes by itself: forks, execs and exits (the proc connector), and the
 * totals of what has ended (taskstats). Where it does not tell, files are read as ever.
 */
#ifndef GALVO_TRACK_KERNEL_H
#define GALVO_TRACK_KERNEL_H

#include <linux/netlink.h>
#include <sys/socket.h>

#include "internal.h"

enum {
	MESSAGE_BYTES = 2048,  /* more than any message that we ask for */
	MESSAGES_AT_ONCE = 64, /* taken with one system call */
	AWAITED_MAX = 4096,
	PENDING_MAX = 1024,
	CPUS_MAX = 8192, /* whose events' numbers are looked at */
};

/* ---- messages: pure, total on every input ------------------------------------------------------- */

/* NEWS_NAME: by exec, or as it likes. */
enum news_kind { NEWS_ACK, NEWS_FORK, NEWS_NAME, NEWS_EXIT, NEWS_OTHER };

struct news {
	enum news_kind kind;
	uint32_t tgid, tid; /* of the child, in a fork */
	uint32_t parent;    /* NEWS_FORK: the process that forked */
	uint32_t code;      /* NEWS_EXIT: as wait(2) has it; NEWS_ACK: an errno */
	uint32_t ack;       /* NEWS_ACK: of the request, and one more */
	uint32_t cpu, seq;  /* its number among those of this CPU */
	uint64_t mono_ns;
};

/* One datagram of the connector. False: no such message. */
bool news_parse(struct span datagram, struct news *ret);

/* What a thread used until it ended, of the process it belonged to. */
struct exit_record {
	uint32_t tid, tgid;
	bool is_last;        /* its process has ended with it */
	bool has_group;      /* group_cpu_ns: of all threads the process ever had */
	uint64_t group_cpu_ns;
	struct exit_account own;
};

/* One datagram of the taskstats family. False: not a record whose layout we know. */
bool exit_record_parse(struct span datagram, uint16_t family, struct exit_record *ret);
/* The number of a family of generic netlink out of the answer to a question for it; 0: not there. */
uint16_t family_parse(struct span datagram);

/* ---- sockets ------------------------------------------------------------------------------------- */

/* Room for what is taken at once. Zeroed by its owner. */
struct inbox {
	struct mmsghdr headers[MESSAGES_AT_ONCE];
	struct iovec parts[MESSAGES_AT_ONCE];
	struct sockaddr_nl from[MESSAGES_AT_ONCE];
	char bytes[MESSAGES_AT_ONCE][MESSAGE_BYTES];
	size_t ready_len;
};

struct span inbox_at(const struct inbox *box, int i); /* empty: not the kernel's, or cut short */
/*
 * Takes what has come, at most MESSAGES_AT_ONCE; 0: no more. *ret_lost is how many messages the
 * kernel had no room for since `*drops`, which is moved on.
 */
int inbox_take(struct inbox *box, int fd, uint64_t *drops, uint64_t *ret_lost);
/* A socket for what the kernel sends to these groups, with room for a storm. -1: errno. */
int netlink_open(int protocol, uint32_t groups);
/* A request of one netlink message, at most 128 bytes of content. */
bool netlink_ask(int fd, uint16_t type, uint16_t flags, uint32_t seq, const void *content, size_t n);

/* -1: `why` says what is in the way. */
int connector_open(const struct world *w, struct inbox *box, char why[WHY_BYTES]);
void connector_close(int fd);
/* A socket that gives a record for each thread that ends on these CPUs, once it is switched on. */
int taskstats_open(struct inbox *box, uint16_t *ret_family, char why[WHY_BYTES]);
bool taskstats_switch(int fd, const struct world *w, uint16_t family, bool on);

/* ---- what they mean ------------------------------------------------------------------------------ */

/* A process that one of ours has forked, and that is not followed (yet). */
struct candidate {
	uint32_t pid, parent;
	enum follow follow; /* of its descendants */
	uint32_t threads;
	bool is_over;     /* it has ended; it may be a zombie still, and its totals may come */
	uint32_t exit_status;
	uint64_t exit_mono_ns;
	bool was_missed;  /* it was not there any more, though nobody said that it ended */
	bool was_put_off; /* a scan could not take it */
	bool has_total;   /* account is all of it */
	uint64_t born_mono_ns;
	struct tracked *anchor; /* the nearest of its ancestors that is followed, held; NULL: the adopter */
	struct exit_account account;
	struct candidate *next; /* in its bucket, or in the free list */
	struct candidate *older, *newer;
};

/* A process that has ended, of which the kernel may have more to tell at the next reading. */
struct awaited {
	struct tracked *who; /* held */
	uint64_t reading;
};

struct kernel_events {
	int fd, exits_fd; /* -1: off */
	uint16_t family;
	_Atomic bool is_reading; /* by one thread at a time: the lead, as a rule */
	/* of whoever reads */
	struct inbox inbox;
	uint64_t drops, exits_drops;
	uint64_t judged_mono_ns; /* how many exits there are */
	uint64_t read_mono_ns, allowance; /* how much more news may be read */
	/* under the lock */
	uint64_t reading; /* its number */
	uint32_t next_seq[CPUS_MAX]; /* 0: not known */
	uint64_t excused; /* lost ones that are counted, and whose numbers will be missing */
	struct candidate *buckets[BUCKETS];
	struct candidate *oldest, *newest, *free_list;
	size_t candidates_len, over_len;
	bool is_behind; /* not all that has come was read */
	struct awaited awaited[AWAITED_MAX];
	_Atomic size_t awaited_len; /* any thread looks */
	struct exit_record pending[PENDING_MAX]; /* whose births were not read yet */
	size_t pending_len;
	size_t named;       /* in this reading, because of an exec */
	bool has_unchecked; /* there were forks since the last walk */
	/* exits are told of while they are not too many */
	uint64_t exits_since_mono_ns; /* UINT64_MAX: not now */
	uint64_t quiet_since_mono_ns, exits_seen;
};

struct candidate *candidate_find(struct kernel_events *k, uint32_t pid);
/* Followed, or ended a moment ago. */
struct tracked *kernel_find_tracked(struct track *t, uint32_t pid);
/* One record, if it is of anybody we know. */
bool exits_take(struct track *t, const struct exit_record *record);
/* Reads what has come; what is nobody's is kept for the next time. */
void exits_read(struct track *t);
#define JUDGE_EVERY_NS (NS_PER_S / 4)
void exits_begin(struct track *t, struct kernel_events *k);
/* On and off, by how many exits there are. */
void exits_judge(struct track *t, uint64_t mono_ns);

#endif
