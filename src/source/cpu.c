/* Where the time of all CPUs together goes. */
#include "parser.h"

#define OF_ALL " in percent of the time of all CPUs online."

static const struct metric metrics[] = {
	{CPU_SHARE("cpu__cycles_busy", CPU_BUSY,
	           "Time in which CPUs were neither idle nor waiting for I/O," OF_ALL)},
	{CPU_SHARE("cpu__cycles_user", FIELD(CPU_USER),
	           "Time in user mode, at any nice level and guests included," OF_ALL)},
	{CPU_SHARE("cpu__cycles_kernel", FIELD(CPU_KERNEL),
	           "Time in the kernel, its interrupts included," OF_ALL)},
	{CPU_SHARE("cpu__cycles_iowait", FIELD(CPU_IOWAIT),
	           "Time in which a CPU was idle while a task that last ran there waited for I/O,"
	           OF_ALL)},
};

static const struct source_text texts[] = {
	{.path = "proc/stat", .kind = FILE_RECORD, .parse = cpu_line_parse},
};

const struct source source_cpu = {
	.name = "cpu",
	.summary = "time of all CPUs: busy, user, kernel, waiting for I/O",
	.shape = SHAPE_SINGLE,
	.stream = STREAM_SYSTEM,
	.scope = SCOPE_SYSTEM,
	.fields = cpu_fields,
	.fields_len = CPU_FIELDS,
	TABLE(metrics),
	TABLE(texts),
	.cpu_clock_field = -1,
};
