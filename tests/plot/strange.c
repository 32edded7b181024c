/* Pictures of runs as nobody has them: strange NAME png|svg|pdf [PANELS [WIDTH [dark [HEIGHT]]]] writes one to stdout. */
#include "full_run.h"
#include "galvo/plot.h"

static const char *const machine_columns[] = {
	SHARE("cpu__cycles_user"), SHARE("cpu__cycles_kernel"), "mem__used_bytes", "mem__capacity_bytes"};
static const char *const core_columns[] = {SHARE("core__cycles_busy")};
static const char *const process_columns[] = {RATE("proc__cycles_active"), "proc__rss_bytes"};

/* A table with room for any number of rows, which the program keeps until it ends. */
static struct table *table(struct fake_run *f, enum scope scope, const char *const *columns, size_t n,
                           size_t rows)
{
	size_t t = fake_table(f, STREAM_SYSTEM, scope, columns, n, NULL, 0), c;
	double *values = alloc_array(rows * n, sizeof(double));
	static const double *starts[FAKE_TABLES][FAKE_COLUMNS];

	for (c = 0; c < n; c++)
		starts[t][c] = values + c * rows;
	f->tables[t].values = starts[t];
	f->tables[t].mono_ns = alloc_array(rows, sizeof(uint64_t));
	f->tables[t].key = alloc_array(rows, sizeof(uint32_t));
	return &f->tables[t];
}

static void put(struct table *t, uint64_t mono_ns, uint32_t key, const double *values)
{
	union { /* the rows are read only for whoever reads the run */
		const uint64_t *from;
		uint64_t *to;
	} mono = {t->mono_ns};
	union {
		const uint32_t *from;
		uint32_t *to;
	} keys = {t->key};
	size_t row = t->rows_len++, c;

	mono.to[row] = mono_ns;
	keys.to[row] = key;
	for (c = 0; c < t->columns_len; c++) {
		union {
			const double *from;
			double *to;
		} value = {t->values[c]};

		value.to[row] = values[c];
	}
}

/* Rows of the machine, `step_ns` apart; one of them stands out. */
static void machine(struct fake_run *f, size_t rows, uint64_t step_ns, size_t odd, const double *values)
{
	struct table *t = table(f, SCOPE_SYSTEM, machine_columns, 4, rows);
	size_t i;

	for (i = 0; i < rows; i++) {
		const double usual[] = {10 + (double)(i * 7919 % 13), 3, 4e9 + 1e6 * (double)(i % 997), 16e9};

		put(t, 100 * S + (i + 1) * step_ns, 0, i == odd ? values : usual);
	}
	f->session.stop_mono_ns = 100 * S + rows * step_ns;
}

static void make_none(struct fake_run *f)
{
	(void)f;
}

static void make_one(struct fake_run *f)
{
	machine(f, 1, S, 1, NULL);
}

static void make_short(struct fake_run *f)
{
	machine(f, 5, MS, 5, NULL);
}

static void make_long(struct fake_run *f)
{
	machine(f, 36000, S, 36000, NULL);
}

/* A second among ten hours. */
static void make_spike(struct fake_run *f)
{
	static const double high[] = {97, 3, 15e9, 16e9};

	machine(f, 36000, S, 18000, high);
}

static void make_huge(struct fake_run *f)
{
	static const double odd[] = {1e18, -50, 1e300, 1e300};

	machine(f, 40, S, 20, odd);
}

static void make_absent(struct fake_run *f)
{
	static const double odd[] = {NAN, NAN, NAN, NAN};
	struct table *t = table(f, SCOPE_SYSTEM, machine_columns, 4, 40);
	size_t i;

	for (i = 0; i < 40; i++) {
		const double usual[] = {10, 3, 4e9, 16e9};

		put(t, 100 * S + (i + 1) * 250 * MS, 0, i >= 10 && i < 20 ? odd : usual);
	}
}

static void make_cores(struct fake_run *f)
{
	struct table *t = table(f, SCOPE_CORE, core_columns, 1, 128 * 100);
	uint32_t i, k;

	for (i = 0; i < 100; i++)
		for (k = 0; k < 128; k++)
			put(t, 100 * S + (i + 1) * 100 * MS, k, (const double[]){(double)((i + k) % 101)});
}

static void make_processes(struct fake_run *f)
{
	enum { PROCESSES = 1000 };
	struct process_info *all = alloc_array(PROCESSES, sizeof(*all));
	struct table *t = table(f, SCOPE_PROCESS, process_columns, 2, PROCESSES * 10);
	uint32_t i, k;

	for (k = 0; k < PROCESSES; k++) {
		all[k] = (struct process_info){.pid = 5000 + k, .ppid = k ? 5000 : 1, .start_ticks = 10 + k,
		                               .first_mono_ns = 100 * S, .root = k == 0};
		snprintf(all[k].comm, sizeof(all[k].comm), "worker-%u", (unsigned)k);
	}
	f->run.processes = all;
	f->run.processes_len = PROCESSES;
	for (i = 0; i < 10; i++)
		for (k = 0; k < PROCESSES; k++)
			put(t, 100 * S + (i + 1) * S, 5000 + k,
			    (const double[]){(double)((i + 3) * (k + 1) % 17) / 5, 1e6 * (k + 1)});
}

/* Names that want to be markup, move the cursor, pile up, or are nothing readable. */
static void make_hostile(struct fake_run *f)
{
	static const char *const names[] = {
		"</text><script>alert(1)</script>", "]]>&lt;&#0;", "\x1b[2J\x07", "\xff\xfe\x80 bytes",
		"a\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81",
		"\342\200\256desrever", "\"' onload=\"x", "\xef\xbf\xbe\xef\xbf\xbf", "tab\there\nline",
	};
	static const char *const words[] = {"<b>&\"make\"</b>", "\x1b]0;x\x07", "\xc3\x28"};
	struct table *t = table(f, SCOPE_PROCESS, process_columns, 2, 10 * ARRAY_LEN(names));
	uint32_t i, k;

	for (k = 0; k < ARRAY_LEN(names); k++) {
		fake_process(f, 4711 + k, 1, 10 + k, names[k])->root = true;
		fake_region(f, names[k], 1000 * k, 1000 * k + 900);
		fake_mark(f, names[k], 1000 * k + 500);
	}
	for (i = 0; i < 10; i++)
		for (k = 0; k < ARRAY_LEN(names); k++)
			put(t, 100 * S + (i + 1) * S, 4711 + k, (const double[]){10 * k + 5, 1e6 * (k + 1)});
	f->session.hostname = "<host>\x1b[0m&";
	f->session.workload = (struct session_workload){.present = true, .argv = words, .argv_len = 3,
		.pid = 4711, .start_mono_ns = 100 * S, .end_mono_ns = 109 * S, .exited = true};
}

static void make_regions(struct fake_run *f)
{
	enum { REGIONS = 10000 };
	static const char *const names[] = {"load", "train", "a long name of a step", "save"};
	struct region *all = alloc_array(REGIONS, sizeof(*all));
	uint64_t i;

	make_one(f);
	f->session.stop_mono_ns = 110 * S;
	for (i = 0; i < REGIONS; i++) {
		uint64_t from = i < 100 ? i * 100 * MS : i * MS, length = i < 2 ? 6 * S : i < 100 ? (i % 5 + 1) * 60 * MS : MS / 2;

		all[i] = (struct region){.domain = i % 3 ? DOMAIN_GENERIC : DOMAIN_GPU,
			.name = span_str(names[i % 4]), .id = i + 1, .start_mono_ns = 100 * S + from,
			.end_mono_ns = i == 99 ? 0 : 100 * S + from + length, .unfinished = i == 99};
	}
	f->run.regions = all;
	f->run.regions_len = REGIONS;
}

static void put_marks(struct fake_run *f, size_t n, uint64_t step_ns)
{
	struct mark *all = alloc_array(n, sizeof(*all));
	size_t i;

	make_absent(f);
	for (i = 0; i < n; i++)
		all[i] = (struct mark){.domain = DOMAIN_GENERIC, .name = span_str(i % 2 ? "odd" : "even"),
		                       .mono_ns = 100 * S + (i + 1) * step_ns};
	f->run.marks = all;
	f->run.marks_len = n;
}

static void make_marks(struct fake_run *f)
{
	put_marks(f, 4, 2 * S);
}

static void make_dense(struct fake_run *f)
{
	put_marks(f, 1500, 6 * MS);
}

/* Two that hand over to each other, read at moments that differ: never more than 100 % together. */
static void make_turns(struct fake_run *f)
{
	enum { TURNS = 20 };
	struct table *t = table(f, SCOPE_PROCESS, process_columns, 2, 4 * TURNS);
	uint32_t i, k;

	for (k = 0; k < 2; k++)
		fake_process(f, 5000 + k, 1, 10 + k, k ? "tock" : "tick")->root = true;
	for (i = 0; i < TURNS; i++)
		for (k = 0; k < 2; k++)
			put(t, 100 * S + (i + 1) * 500 * MS + k * 3 * MS, 5000 + k,
			    (const double[]){i % 2 == k ? 1 : 0, 1e6});
}

/* All of the machine, in readings of which one in seven came late. */
static void make_late(struct fake_run *f)
{
	static const double all[] = {70, 30, 4e9, 16e9};
	struct table *t = table(f, SCOPE_SYSTEM, machine_columns, 4, 200);
	size_t i;

	for (i = 0; i < 200; i++)
		put(t, 100 * S + (i + 1) * 10 * MS + (i % 7 == 3 ? 6 * MS : 0), 0, all);
	f->session.stop_mono_ns = 102 * S;
}

/* A machine that did nothing, and a recording that is not whole. */
static void make_idle(struct fake_run *f)
{
	static const double odd[] = {0, 0, 4e9, 16e9};
	struct table *t = table(f, SCOPE_SYSTEM, machine_columns, 4, 10);
	size_t i;

	for (i = 0; i < 10; i++)
		put(t, 100 * S + (i + 1) * S, 0, odd);
	f->streams[0].missing_messages = 3;
	f->session.stop_mono_ns = 0;
}

/* More names than colours, one within the other. */
static void make_names(struct fake_run *f)
{
	static char names[24][8];
	size_t i;

	make_one(f);
	f->session.stop_mono_ns = 110 * S;
	for (i = 0; i < ARRAY_LEN(names); i++) {
		snprintf(names[i], sizeof(names[i]), "step%zu", i);
		fake_region(f, names[i], i / 2 * 800, i / 2 * 800 + (i % 2 ? 700 : 790));
	}
}

static const struct {
	const char *name;
	void (*make)(struct fake_run *);
} strange[] = {
	{"marks", make_marks}, {"dense", make_dense}, {"turns", make_turns}, {"idle", make_idle},
	{"names", make_names}, {"late", make_late},
	{"none", make_none}, {"one", make_one}, {"short", make_short}, {"long", make_long},
	{"spike", make_spike}, {"huge", make_huge}, {"absent", make_absent}, {"cores", make_cores},
	{"processes", make_processes}, {"hostile", make_hostile}, {"regions", make_regions}, {"full", full},
};

/* What fontconfig, below cairo, keeps for the process is no leak of ours. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libfontconfig\n";
}

const char *__lsan_default_options(void);
const char *__lsan_default_options(void)
{
	return "print_suppressions=0";
}

static int to_stdout(void *ctx, const void *bytes, size_t n)
{
	(void)ctx;
	return fwrite(bytes, 1, n, stdout) != n;
}

static int32_t format_of(const char *name)
{
	return !strcmp(name, "svg") ? GALVO_PLOT_SVG : !strcmp(name, "pdf") ? GALVO_PLOT_PDF : GALVO_PLOT_PNG;
}

int main(int argc, char **args)
{
	galvo_plot_options o = {.struct_size = sizeof(o)};
	static struct fake_run run;
	struct fake_run *f = &run;
	galvo_error error;
	uint64_t width = 0, height = 0;
	size_t i;

	if (argc < 3)
		return 2;
	o.format = format_of(args[2]);
	o.panels = argc > 3 && args[3][0] ? args[3] : NULL;
	if (argc > 4)
		span_to_u64(span_str(args[4]), &width);
	o.width = (uint32_t)width;
	o.is_dark = argc > 5 && args[5][0];
	if (argc > 6)
		span_to_u64(span_str(args[6]), &height);
	o.panel_height = (uint32_t)height;
	fake_init(f);
	for (i = 0; i < ARRAY_LEN(strange) && strcmp(strange[i].name, args[1]) != 0; i++)
		;
	if (i == ARRAY_LEN(strange))
		return 2;
	strange[i].make(f);
	if (galvo_plot_write(&f->run, &o, to_stdout, NULL, &error) != GALVO_OK) {
		fprintf(stderr, "%s\n", error.text);
		return 1;
	}
	return fflush(stdout) != 0;
}
