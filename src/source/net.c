/* Traffic of each network interface. */
#include "parser.h"

enum field {
	RX_BYTES, RX_PACKETS, RX_ERRORS, RX_DROPS,
	TX_BYTES, TX_PACKETS, TX_ERRORS, TX_DROPS,
};

static const struct raw_field fields[] = {
	[RX_BYTES] = {"rx_bytes", RAW_COUNTER},     [RX_PACKETS] = {"rx_packets", RAW_COUNTER},
	[RX_ERRORS] = {"rx_errors", RAW_COUNTER},   [RX_DROPS] = {"rx_drops", RAW_COUNTER},
	[TX_BYTES] = {"tx_bytes", RAW_COUNTER},     [TX_PACKETS] = {"tx_packets", RAW_COUNTER},
	[TX_ERRORS] = {"tx_errors", RAW_COUNTER},   [TX_DROPS] = {"tx_drops", RAW_COUNTER},
};

static const struct metric metrics[] = {
	{RATE("net__rx_bytes", UNIT_BYTES_PER_SEC, FIELD(RX_BYTES),
	      "Bytes that the interface received a second, as its driver counts them.")},
	{RATE("net__tx_bytes", UNIT_BYTES_PER_SEC, FIELD(TX_BYTES),
	      "Bytes that the interface sent a second, as its driver counts them.")},
	{RATE("net__rx_packets", UNIT_PER_SEC, FIELD(RX_PACKETS),
	      "Packets that the interface received a second.")},
	{RATE("net__tx_packets", UNIT_PER_SEC, FIELD(TX_PACKETS),
	      "Packets that the interface sent a second.")},
	{RATE("net__rx_drops", UNIT_PER_SEC, FIELD(RX_DROPS),
	      "Packets received and thrown away a second, for want of room or of a taker.")},
	{RATE("net__tx_drops", UNIT_PER_SEC, FIELD(TX_DROPS),
	      "Packets thrown away a second instead of being sent.")},
	{RATE("net__rx_errors", UNIT_PER_SEC, FIELD(RX_ERRORS),
	      "Packets a second that arrived damaged or could not be received.")},
	{RATE("net__tx_errors", UNIT_PER_SEC, FIELD(TX_ERRORS),
	      "Packets a second that could not be sent.")},
};

/* bytes packets errs drop fifo frame compressed multicast, and the same again for sending */
static const struct column map[] = {
	{0, RX_BYTES}, {1, RX_PACKETS}, {2, RX_ERRORS},  {3, RX_DROPS},
	{8, TX_BYTES}, {9, TX_PACKETS}, {10, TX_ERRORS}, {11, TX_DROPS},
};
enum { USED_COLUMNS = 12 };

static enum line read_line(struct span line, struct raw_sink *sink)
{
	const char *colon = line.n ? memrchr(line.p, ':', line.n) : NULL;
	struct columns c;
	struct span name;
	struct raw *r;

	if (!colon)
		return LINE_OTHER;
	name = span_trim(span_of(line.p, (size_t)(colon - line.p)));
	if (name.n == 0)
		return LINE_BAD;
	r = sink->row(sink, name, 0);
	if (!r)
		return LINE_READ;
	columns_read(span_of(colon + 1, line.n - (size_t)(colon + 1 - line.p)), USED_COLUMNS, &c);
	if (c.len < USED_COLUMNS || !c.good)
		return LINE_BAD;
	columns_put(&c, map, ARRAY_LEN(map), r);
	return LINE_READ;
}

/*   eth0: 41891223     995    0    0    0     0          0         0    46251     576    0 … */
static galvo_status parse(struct span text, const struct world *w, struct raw_sink *sink,
                          galvo_error *reterr)
{
	(void)w;
	return lines_parse(text, "proc/net/dev", "counters of an interface", read_line, sink,
	                   reterr);
}

static const struct source_text texts[] = {
	{.path = "proc/net/dev", .kind = FILE_RECORDS, .parse = parse},
};

const struct source source_net = {
	.name = "net",
	.summary = "bytes, packets, drops and errors of each network interface",
	.shape = SHAPE_LISTED,
	.stream = STREAM_SYSTEM,
	.scope = SCOPE_INTERFACE,
	.period_ns = 100 * NS_PER_MS,
	TABLE(fields),
	TABLE(metrics),
	TABLE(texts),
	.cpu_clock_field = -1,
};
