/* Time that the hypervisor kept: a row of its own, as the wire has it behind memory's columns. */
#include "parser.h"

static const struct metric metrics[] = {
	{CPU_SHARE("cpu__cycles_steal", FIELD(CPU_STEAL),
	           "Time in which a CPU had work but the hypervisor ran something else, in percent "
	           "of the time of all CPUs online.")},
};

static const struct source_text texts[] = {
	{.path = "proc/stat", .kind = FILE_RECORD, .parse = cpu_line_parse},
};

const struct source source_steal = {
	.name = "steal",
	.summary = "time of all CPUs that the hypervisor gave to others",
	.shape = SHAPE_SINGLE,
	.stream = STREAM_SYSTEM,
	.scope = SCOPE_SYSTEM,
	.fields = cpu_fields,
	.fields_len = CPU_FIELDS,
	TABLE(metrics),
	TABLE(texts),
	.cpu_clock_field = -1,
};
