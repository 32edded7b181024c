/* Bytes that one process reads and writes, as it asked and as devices saw it, children apart. */
#include "parser.h"

/* Five times the same: as the kernel tells it, of the main thread, and parted. */
enum field {
	OWN = 0,
	REAPED = 5,
	MIXED = 10,
	TOTAL = 15, /* of the process, its ended threads, and children it waited for */
	MAIN = 20,  /* of its main thread alone */
	MARK = 25,  /* moves when the process has waited for a child */
	THREADS = 26,
	MARK_AFTER = 27, /* these two if they were read again after the rest */
	MAIN_AFTER = 28, /* but the last one: there is no room */
};
enum item { RCHAR, WCHAR, READ_BYTES, WRITE_BYTES, CANCELLED, ITEMS };

#define FIELDS(at, what)                                                                           \
	[(at) + RCHAR] = {what "rchar_bytes", RAW_COUNTER},                                        \
	[(at) + WCHAR] = {what "wchar_bytes", RAW_COUNTER},                                        \
	[(at) + READ_BYTES] = {what "read_bytes", RAW_COUNTER},                                    \
	[(at) + WRITE_BYTES] = {what "write_bytes", RAW_COUNTER},                                  \
	[(at) + CANCELLED] = {what "cancelled_write_bytes", RAW_COUNTER}

static const struct raw_field fields[] = {
	FIELDS(OWN, ""), FIELDS(REAPED, "reaped_"), FIELDS(MIXED, "mixed_"), FIELDS(TOTAL, "total_"),
	FIELDS(MAIN, "main_"),
	[MARK] = {"reaped_mark", RAW_GAUGE},
	[THREADS] = {"threads_count", RAW_GAUGE},
	[MARK_AFTER] = {"reaped_mark_after", RAW_GAUGE},
	[MAIN_AFTER + RCHAR] = {"main_rchar_bytes_after", RAW_COUNTER},
	[MAIN_AFTER + WCHAR] = {"main_wchar_bytes_after", RAW_COUNTER},
	[MAIN_AFTER + READ_BYTES] = {"main_read_bytes_after", RAW_COUNTER},
	[MAIN_AFTER + WRITE_BYTES] = {"main_write_bytes_after", RAW_COUNTER},
};

#define ACCOUNTS(kind, item)                                                                       \
	{(kind), PART_OWN, OWN + (item)}, {(kind), PART_REAPED, REAPED + (item)},                  \
	{(kind), PART_MIXED, MIXED + (item)}

static const struct source_account accounts[] = {
	ACCOUNTS(USAGE_RCHAR, RCHAR), ACCOUNTS(USAGE_WCHAR, WCHAR), ACCOUNTS(USAGE_READ, READ_BYTES),
	ACCOUNTS(USAGE_WRITE, WRITE_BYTES), ACCOUNTS(USAGE_CANCELLED, CANCELLED),
};

static const struct metric metrics[] = {
	{RATE("proc__io_rchar", UNIT_BYTES_PER_SEC, FIELD(RCHAR),
	      "Bytes a second that the process got from read calls, cached or not.")},
	{RATE("proc__io_wchar", UNIT_BYTES_PER_SEC, FIELD(WCHAR),
	      "Bytes a second that the process gave to write calls, wherever they went.")},
	{RATE("proc__io_read_bytes", UNIT_BYTES_PER_SEC, FIELD(READ_BYTES),
	      "Bytes a second that storage had to deliver for the process.")},
	{RATE("proc__io_write_bytes", UNIT_BYTES_PER_SEC, FIELD(WRITE_BYTES),
	      "Bytes a second of cached pages that the process made to be written to storage.")},
	{RATE("proc__io_cancelled_write_bytes", UNIT_BYTES_PER_SEC, FIELD(CANCELLED),
	      "Bytes a second of those that were thrown away before they were written.")},
};

#define KEYS(at)                                                                                   \
	KEY("rchar:", (at) + RCHAR, KEY_PLAIN), KEY("wchar:", (at) + WCHAR, KEY_PLAIN),            \
	KEY("read_bytes:", (at) + READ_BYTES, KEY_PLAIN),                                          \
	KEY("write_bytes:", (at) + WRITE_BYTES, KEY_PLAIN),                                        \
	KEY("cancelled_write_bytes:", (at) + CANCELLED, KEY_PLAIN)

static const struct key total_key[] = {KEYS(TOTAL)}, main_key[] = {KEYS(MAIN)};
static const struct key after_key[] = {
	KEY("rchar:", MAIN_AFTER + RCHAR, KEY_PLAIN), KEY("wchar:", MAIN_AFTER + WCHAR, KEY_PLAIN),
	KEY("read_bytes:", MAIN_AFTER + READ_BYTES, KEY_PLAIN),
	KEY("write_bytes:", MAIN_AFTER + WRITE_BYTES, KEY_PLAIN),
};
static const struct keys total_keys = {"io", total_key, ARRAY_LEN(total_key), false};
static const struct keys main_keys = {"task io", main_key, ARRAY_LEN(main_key), false};
static const struct keys after_keys = {"task io", after_key, ARRAY_LEN(after_key), false};

/* rchar: 6976 */
static galvo_status parse(struct span text, const struct world *w, struct raw_sink *sink,
                          galvo_error *reterr)
{
	struct raw *r = row_only(sink);

	(void)w;
	return r ? keys_parse(text, &total_keys, r, reterr) : GALVO_OK;
}

/* rchar: 6976 */
static galvo_status parse_main(struct span text, const struct world *w, struct raw_sink *sink,
                               galvo_error *reterr)
{
	struct raw *r = row_only(sink);

	(void)w;
	if (!r)
		return GALVO_OK;
	return keys_parse(text, r->present & FIELD(MAIN) ? &after_keys : &main_keys, r, reterr);
}

/*
 * Faults and times of children that were waited for: no process comes to its end without a fault, so
 * their sum moves with each. (Who ignores SIGCHLD has nothing added of anything.)
 */
static galvo_status parse_stat(struct span text, const struct world *w, struct raw_sink *sink,
                               galvo_error *reterr)
{
	const uint32_t needed = FIELD(STAT_CMINFLT) | FIELD(STAT_CMAJFLT) | FIELD(STAT_CUTIME) |
	                        FIELD(STAT_CSTIME) | FIELD(STAT_THREADS);
	struct raw *r = row_only(sink);
	struct columns c;
	struct span comm;
	galvo_status status;
	char state;

	(void)w;
	status = process_stat_split(text, &comm, &state, &c, reterr);
	if (status != GALVO_OK || !r || (c.good & needed) != needed)
		return status;
	raw_put(r, r->present & FIELD(MARK) ? MARK_AFTER : MARK,
	        c.value[STAT_CMINFLT] + c.value[STAT_CMAJFLT] + c.value[STAT_CUTIME] +
	        c.value[STAT_CSTIME]);
	raw_put(r, THREADS, c.value[STAT_THREADS]);
	return GALVO_OK;
}

/* ---- own, and of children that it waited for ------------------------------------------------------- */

/*
 * The kernel adds the bytes of a child to those of the parent that waits for it (wait_task_zombie in
 * kernel/exit.c), as it adds those of a thread that ends; a thread by itself has its own alone. So of
 * a process with one thread the rest is known, and of others as long as they wait for nobody.
 *
 * The main thread goes on between the readings of its file and of the process's. Its own comes first:
 * the rest is seen as too large, never too small, so that no child that was waited for is missed. How
 * much of it is accounted for stays in `now`, as the MAIN that makes it the rest.
 */
struct parted {
	uint64_t own, reaped, mixed;
};

static bool is_single(const struct raw *r, enum item item)
{
	return (r->present & FIELD(MARK)) && r->value[THREADS] == 1 &&
	       (r->present & FIELD(MAIN + item));
}

static uint64_t above(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static uint64_t rest_of(const struct raw *r, enum item item)
{
	return above(r->value[TOTAL + item], r->value[MAIN + item]);
}

/* At least so much. */
static uint64_t sure_rest_of(const struct raw *r, enum item item)
{
	if (item == CANCELLED || !(r->present & FIELD(MAIN_AFTER + item)))
		return rest_of(r, item);
	return above(r->value[TOTAL + item], r->value[MAIN_AFTER + item]);
}

static void set_rest(struct raw *r, enum item item, uint64_t rest)
{
	r->value[MAIN + item] = above(r->value[TOTAL + item], rest);
}

/*
 * The next reading begins from the mark that was read before the bytes: a wait between them and the
 * mark that was read again shows in the bytes of that one.
 */
static bool has_waited(uint64_t mark_before, const struct raw *now)
{
	unsigned last = now->present & FIELD(MARK_AFTER) ? MARK_AFTER : MARK;

	return now->value[last] != mark_before;
}

static bool part_first(struct raw *now, enum item item, bool is_sure, struct parted *ret)
{
	uint64_t total = now->value[TOTAL + item], rest;

	*ret = (struct parted){.own = total};
	if (!(now->present & FIELD(MARK)))
		return true;
	if (!is_single(now, item)) {
		if (has_waited(0, now))
			*ret = (struct parted){.mixed = total};
		return true;
	}
	rest = rest_of(now, item);
	if (has_waited(0, now))
		*ret = (struct parted){.own = total - rest, .reaped = rest};
	else if (rest > 0 && !is_sure)
		return false;
	else
		set_rest(now, item, sure_rest_of(now, item));
	return true;
}

/* False: it may have waited for a child between the two texts, or threads may have ended. */
static bool part_growth(const struct raw *before, struct raw *now, enum item item, bool is_sure,
                        struct parted *ret)
{
	uint64_t grown = above(now->value[TOTAL + item], before->value[TOTAL + item]);
	uint64_t was = rest_of(before, item), by_others = grown;
	bool has_mark = before->present & now->present & FIELD(MARK);
	bool is_alone = is_single(before, item) && is_single(now, item);

	*ret = (struct parted){.own = grown};
	if (is_alone) {
		by_others = above(rest_of(now, item), was);
		by_others = by_others < grown ? by_others : grown;
	}
	if (has_mark && by_others > 0 && has_waited(before->value[MARK], now)) {
		*ret = is_alone ? (struct parted){.own = grown - by_others, .reaped = by_others}
		                : (struct parted){.mixed = grown};
		if (is_alone)
			set_rest(now, item, was + by_others);
		return true;
	}
	if (has_mark && by_others > 0 && !is_sure)
		return false;
	/* Threads of its own. */
	if (is_alone)
		set_rest(now, item, was + above(sure_rest_of(now, item), was));
	else if (is_single(now, item))
		set_rest(now, item, sure_rest_of(now, item));
	return true;
}

static bool settle(const struct raw *before, struct raw *now, bool is_sure)
{
	struct raw parted = *now;
	struct parted p;
	enum item i;

	for (i = 0; i < ITEMS; i++) {
		bool is_first = !(before->present & FIELD(TOTAL + i));

		if (!(now->present & FIELD(TOTAL + i)))
			continue;
		if (!(is_first ? part_first(&parted, i, is_sure, &p)
		               : part_growth(before, &parted, i, is_sure, &p)))
			return false;
		if (!is_first) {
			p.own += before->value[OWN + i];
			p.reaped += before->value[REAPED + i];
			p.mixed += before->value[MIXED + i];
		}
		raw_put(&parted, OWN + i, p.own);
		raw_put(&parted, REAPED + i, p.reaped);
		raw_put(&parted, MIXED + i, p.mixed);
	}
	*now = parted;
	return true;
}

/* Optional: the files of another user's process, or of one not to be traced, are closed to us. */
static const struct source_text texts[] = {
	{.path = "stat", .kind = FILE_RECORD, .optional = true, .accounts = true,
	 .parse = parse_stat},
	{.path = "task/%u/io", .kind = FILE_RECORD, .optional = true, .accounts = true,
	 .parse = parse_main},
	{.path = "io", .kind = FILE_RECORD, .optional = true, .accounts = true, .parse = parse},
};

const struct source source_process_io = {
	.name = "process_io",
	.summary = "bytes that each followed process reads and writes",
	.shape = SHAPE_PROCESS,
	.stream = STREAM_DISK,
	.scope = SCOPE_PROCESS,
	TABLE(fields),
	TABLE(metrics),
	TABLE(texts),
	TABLE(accounts),
	.settle = settle,
	.mark_field = MARK,
	.cpu_clock_field = -1,
	.waits_for_exec = true,
	.rests_with_cpu = true,
};
