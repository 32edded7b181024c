/* Work of each block device: bytes, requests, time with requests in it. */
#include "parser.h"

enum field {
	READ_REQUESTS, READ_SECTORS, WRITE_REQUESTS, WRITE_SECTORS, BUSY_MS, WEIGHTED_MS,
	DISCARD_SECTORS, FLUSH_REQUESTS, READ_INFLIGHT, WRITE_INFLIGHT,
};

/* Kernel milliseconds are unsigned int, whatever the machine (block/genhd.c, diskstats_show). */
static const struct raw_field fields[] = {
	[READ_REQUESTS] = {"read_requests", RAW_COUNTER},
	[READ_SECTORS] = {"read_sectors", RAW_COUNTER},
	[WRITE_REQUESTS] = {"write_requests", RAW_COUNTER},
	[WRITE_SECTORS] = {"write_sectors", RAW_COUNTER},
	[BUSY_MS] = {"busy_ms", RAW_COUNTER32},
	[WEIGHTED_MS] = {"weighted_ms", RAW_COUNTER32},
	[DISCARD_SECTORS] = {"discard_sectors", RAW_COUNTER},
	[FLUSH_REQUESTS] = {"flush_requests", RAW_COUNTER},
	[READ_INFLIGHT] = {"read_inflight", RAW_GAUGE},
	[WRITE_INFLIGHT] = {"write_inflight", RAW_GAUGE},
};

#define SECTOR_BYTES 512 /* in these files always, whatever the device's own are */
#define BELIEVABLE_BYTES_PER_S (128.0 * 1024 * 1024 * 1024)
#define BELIEVABLE_BUSY_PCT 120 /* busy time is counted in whole jiffies, 4 or 10 ms */

static const struct metric metrics[] = {
	{RATE("disk__read_bytes", UNIT_BYTES_PER_SEC, FIELD(READ_SECTORS),
	      "Bytes read from the device a second."),
	 .scale = SECTOR_BYTES, .limit = BELIEVABLE_BYTES_PER_S},
	{RATE("disk__write_bytes", UNIT_BYTES_PER_SEC, FIELD(WRITE_SECTORS),
	      "Bytes written to the device a second."),
	 .scale = SECTOR_BYTES, .limit = BELIEVABLE_BYTES_PER_S},
	{LEVEL("disk__read_inflight", UNIT_REQUESTS, FIELD(READ_INFLIGHT),
	       "Read requests that the device is working on.")},
	{LEVEL("disk__write_inflight", UNIT_REQUESTS, FIELD(WRITE_INFLIGHT),
	       "Write requests that the device is working on.")},
	{RATE("disk__read_requests", UNIT_REQUESTS_PER_SEC, FIELD(READ_REQUESTS),
	      "Read requests that the device finished a second, after merging.")},
	{RATE("disk__write_requests", UNIT_REQUESTS_PER_SEC, FIELD(WRITE_REQUESTS),
	      "Write requests that the device finished a second, after merging.")},
	{.name = "disk__cycles_busy" OF_PEAK, .type = METRIC_THROUGHPUT, .unit = UNIT_PCT,
	 .form = FORM_RATE, .of = FIELD(BUSY_MS), .scale = 100 / 1e3, .limit = BELIEVABLE_BUSY_PCT,
	 .help = "Time in which the device had at least one request, in percent of elapsed time; "
	         "says nothing of how much more it could do at once."},
	{.name = "disk__queue_depth.avg", .type = METRIC_COUNTER, .unit = UNIT_REQUESTS,
	 .form = FORM_RATE, .of = FIELD(WEIGHTED_MS), .scale = 1 / 1e3,
	 .help = "Requests waiting or in work, averaged over the interval."},
	{RATE("disk__discard_bytes", UNIT_BYTES_PER_SEC, FIELD(DISCARD_SECTORS),
	      "Bytes a second that the device was told are no longer needed."),
	 .scale = SECTOR_BYTES},
	{RATE("disk__flush_requests", UNIT_REQUESTS_PER_SEC, FIELD(FLUSH_REQUESTS),
	      "Requests a second to put the device's cache on stable storage.")},
};

/*
 * After major, minor and name: 11 columns, 15 since 4.18 (discards), 17 since 5.5 (flushes). Before
 * 2.6.25 partitions had 4 of their own.
 */
static const struct column map[] = {
	{0, READ_REQUESTS}, {2, READ_SECTORS}, {4, WRITE_REQUESTS},   {6, WRITE_SECTORS},
	{9, BUSY_MS},       {10, WEIGHTED_MS}, {13, DISCARD_SECTORS}, {15, FLUSH_REQUESTS},
};
static const struct column partition_map[] = {
	{0, READ_REQUESTS}, {1, READ_SECTORS}, {2, WRITE_REQUESTS}, {3, WRITE_SECTORS},
};
enum { COLUMNS_PARTITION = 4, COLUMNS_LEAST = 11, COLUMNS_MOST = 17 };

/* The number of a row is the device's, as the kernel packs it: a name may come back for another. */
static bool take_device(struct span *rest, struct span *ret_name, uint32_t *ret_number)
{
	uint64_t major, minor;

	if (!span_take_u64(rest, &major) || !span_take_u64(rest, &minor) || major >= 1u << 12 ||
	    minor >= 1u << 20 || !span_take_word(rest, ret_name))
		return false;
	*ret_number = (uint32_t)(major << 20 | minor);
	return true;
}

static enum line read_line(struct span line, struct raw_sink *sink)
{
	struct columns c;
	struct span name;
	struct raw *r;
	uint32_t number;

	if (!take_device(&line, &name, &number))
		return LINE_BAD;
	r = sink->row(sink, name, number);
	if (!r)
		return LINE_READ;
	columns_read(line, COLUMNS_MOST, &c);
	if (!c.good || (c.len < COLUMNS_LEAST && c.len != COLUMNS_PARTITION))
		return LINE_BAD;
	if (c.len == COLUMNS_PARTITION)
		columns_put(&c, partition_map, ARRAY_LEN(partition_map), r);
	else
		columns_put(&c, map, ARRAY_LEN(map), r);
	return LINE_READ;
}

/*  254 0 vda 31094 8542 3047730 8056 5872 7193 626864 1562 0 5544 9865 4294 37 113288 213 960 32 */
static galvo_status parse(struct span text, const struct world *w, struct raw_sink *sink,
                          galvo_error *reterr)
{
	(void)w;
	return lines_parse(text, "proc/diskstats", "numbers of a device", read_line, sink, reterr);
}

/*        0        3 */
static galvo_status parse_inflight(struct span text, const struct world *w, struct raw_sink *sink,
                                   galvo_error *reterr)
{
	static const struct column both[] = {{0, READ_INFLIGHT}, {1, WRITE_INFLIGHT}};
	struct raw *r = row_only(sink);
	struct columns c;

	(void)w;
	columns_read(text, ARRAY_LEN(both), &c);
	if (!c.good)
		return err_malformed(reterr, "inflight", text, text, "two numbers of requests");
	if (r)
		columns_put(&c, both, ARRAY_LEN(both), r);
	return GALVO_OK;
}

static const struct source_text texts[] = {
	{.path = "proc/diskstats", .kind = FILE_RECORDS, .parse = parse},
	{.path = "sys/class/block/%s/inflight", .kind = FILE_RECORD, .optional = true,
	 .parse = parse_inflight},
};

const struct source source_disk = {
	.name = "disk",
	.summary = "bytes, requests, queue and busy time of each block device",
	.shape = SHAPE_LISTED,
	.stream = STREAM_DISK,
	.scope = SCOPE_DEVICE,
	TABLE(fields),
	TABLE(metrics),
	TABLE(texts),
	.cpu_clock_field = -1,
};
