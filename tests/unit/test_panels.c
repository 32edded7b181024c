/* What is drawn of a run: panels, curves, and points whose time and values are those of the report. */
#include "full_run.h"
#include "panels_rig.h"
#include "derive/figure.h"

#define PERCENT 0.01

static struct fake_run *full_run(void)
{
	struct fake_run *f = alloc_array(1, sizeof(*f));

	full(f);
	full_gpus(f, 2);
	return f;
}

/* ---- as the report has it -------------------------------------------------------------------- */

static const char *key(const char *panel, const char *thing, const char *column)
{
	static char text[256];

	snprintf(text, sizeof(text), "%s/%s%s%s", panel, thing, column[0] ? "/" : "", column);
	return text;
}

static void agrees_machine(const struct drawn *d)
{
	const galvo_summary *s = d->summary;

	OK(agrees(d, curve_named(d, "cpu/user"), &s->cpu.time.user_pct, 1));
	OK(agrees(d, curve_named(d, "cpu/kernel"), &s->cpu.time.kernel_pct, 1));
	OK(agrees(d, curve_named(d, "cpu/iowait"), &s->cpu.time.iowait_pct, 1));
	OK(agrees(d, curve_named(d, "cores/1"), &s->cpu.cores[1].time.busy_pct, 1));
	OK(agrees(d, curve_named(d, "memory/used"), &s->memory.used_bytes, 1));
	OK(agrees(d, curve_named(d, "swap/used"), &s->memory.swap_used_bytes, 1));
	OK(agrees(d, curve_named(d, "scheduler/forks"), &s->cpu.forks_per_s, 1));
	OK(agrees(d, curve_named(d, "pressure/some for I/O"), &s->pressure.io_some_pct, 1));
}

static void agrees_things(const struct drawn *d)
{
	const galvo_summary *s = d->summary;
	char name[64];
	size_t i;

	for (i = 0; i < s->processes_len; i++) {
		const struct summary_process *p = &s->processes[i];

		snprintf(name, sizeof(name), "%u:%u", p->info->pid, (unsigned)p->info->start_ticks);
		OK(agrees(d, curve_named(d, key("process-cpu", name, "")), &p->cpu_pct_of_core, PERCENT));
		OK(agrees(d, curve_named(d, key("process-memory", name, "")), &p->rss_bytes, 1));
		if (p->write_bytes_per_s.total > 0) /* the others are others */
			OK(agrees(d, curve_named(d, key("process-written", name, "")),
			          &p->write_bytes_per_s, 1));
		EQ(curve_named(d, key("process-cpu", name, ""))->process, i);
	}
	for (i = 0; i < s->disks_len; i++) {
		if (!strcmp(s->disks[i].name, "sdb"))
			continue;
		OK(agrees(d, curve_named(d, key("disk-bytes", s->disks[i].name, "written")),
		          &s->disks[i].write_bytes_per_s, 1));
		OK(agrees(d, curve_named(d, key("disk-busy", s->disks[i].name, "")),
		          &s->disks[i].busy_pct, 1));
	}
	OK(agrees(d, curve_named(d, "net-bytes/lo/sent"), &s->interfaces[0].tx_bytes_per_s, 1));
}

static void agrees_gpus(const struct drawn *d)
{
	const struct summary_gpu *g = d->summary->gpus;
	const struct summary_counters *c = &g->counters;

	OK(agrees(d, curve_named(d, "gpu-utilization/gpu0"), &g->utilization_pct, PERCENT));
	OK(agrees(d, curve_named(d, "gpu-power/gpu0"), &g->power_watts, 1));
	OK(agrees(d, curve_named(d, "gpu-memory/gpu1"), &g[1].memory_used_bytes, 1));
	OK(agrees(d, curve_named(d, "gpu-throttle/gpu0/power limit"),
	          &g->throttle[THROTTLE_SW_POWER_CAP], 1));
	OK(agrees(d, curve_named(d, "gpu-process-memory/gpu0/4711:1000"),
	          &g->processes[0].memory_bytes, 1));
	EQ(curve_named(d, "gpu-process-memory/gpu0/4711:1000")->process, g->processes[0].process);
	EQ(curve_named(d, "gpu-power/gpu1")->gpu, 1);
	OK(agrees(d, curve_named(d, "gpu0-counters-pct/multiprocessors busy"), &c->sm_busy_pct, 1));
	OK(agrees(d, curve_named(d, "gpu0-counters-pct/memory busy"), &c->dram_pct, 1));
	OK(agrees(d, curve_named(d, "gpu0-counters-links/PCIe sent"), &c->pcie_tx_bytes_per_s, 1));
	OK(agrees(d, curve_named(d, "gpu0-counters-links/NVLink received"),
	          &c->nvlink_rx_bytes_per_s, 1));
	OK(is(curve_sum(d, curve_named(d, "gpu0-counters-pct/memory busy")).s, c->covered_s));
}

static void like_the_report(void)
{
	struct fake_run *f = full_run();
	struct drawn d = draw(&f->run, NULL);

	agrees_machine(&d);
	agrees_things(&d);
	agrees_gpus(&d);
	EQ(d.panels.zero_mono_ns, 100 * S);
	EQ(d.panels.end_mono_ns, 110 * S);
	undraw(&d);
	free(f);
}

/* A row is late, a value absent, messages are lost: in the picture as in the report. */
static struct fake_run *torn_run(bool is_lossy, bool other_rows)
{
	static const char *const columns[] = {RATE("proc__cycles_active"), "proc__rss_bytes"};
	struct fake_run *f = alloc_array(1, sizeof(*f));
	size_t t;
	uint64_t i;

	fake_init(f);
	f->streams[0].missing_messages = is_lossy;
	t = fake_table(f, STREAM_SYSTEM, SCOPE_PROCESS, columns, 2, NULL, 0);
	fake_process(f, 10, 1, 5, "a");
	fake_process(f, 20, 1, 6, "b");
	for (i = 1; i <= 99; i++) {
		uint64_t at_ns = 100 * S + i * 100 * MS + i * i % 7 * MS;

		if (i < 30 || i > 60)
			ROW(f, t, at_ns, 10, (double)(i % 5), i % 4 ? NAN : (double)i);
		if (i < 30 || i > 60 || other_rows)
			ROW(f, t, at_ns + MS, 20, 50 + (double)(i % 3), i % 4 ? NAN : (double)i);
	}
	return f;
}

static void holes(void)
{
	int kind;

	for (kind = 0; kind < 4; kind++) {
		struct fake_run *f = torn_run(kind & 1, kind & 2);
		struct drawn d = draw(&f->run, NULL);
		struct points p = points_of(&d, curve_named(&d, "process-cpu/10:5"));
		bool is_gap = kind & 1 || kind & 2;
		size_t gaps = 0, i;

		for (i = 0; i < d.summary->processes_len; i++) {
			const char *name = i ? "20:6" : "10:5";

			OK(agrees(&d, curve_named(&d, key("process-cpu", name, "")),
			          &d.summary->processes[i].cpu_pct_of_core, PERCENT));
			OK(agrees(&d, curve_named(&d, key("process-memory", name, "")),
			          &d.summary->processes[i].rss_bytes, 1));
		}
		EQ(p.len, 68);
		for (i = 1; i < p.len; i++)
			gaps += p.from_mono_ns[i] > p.end_mono_ns[i - 1];
		EQ(gaps, is_gap);
		points_finish(&p);
		/* A source that is read less often leaves none, but where rows lack its turns. */
		p = points_of(&d, curve_named(&d, "process-memory/10:5"));
		EQ(p.len, 16);
		for (i = gaps = 0; i + 1 < p.len; i++)
			gaps += p.from_mono_ns[i + 1] > p.end_mono_ns[i];
		EQ(gaps, 1);
		points_finish(&p);
		undraw(&d);
		free(f);
	}
}

/* ---- those that are too many ------------------------------------------------------------------ */

static double panel_integral(const struct drawn *d, const struct panel *p)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < p->curves_len; i++)
		sum += curve_sum(d, &p->curves[i]).integral;
	return sum;
}

static void rest(void)
{
	static const struct figure_row row = {RATE("proc__cycles_active"), .offset = 0};
	static const struct figure_row rss = {"proc__rss_bytes", .is_level = true};
	struct fake_run *f = full_run();
	struct drawn all = draw(&f->run, NULL);
	struct drawn few = draw(&f->run, &(struct panels_options){.processes_max = 5});
	const struct panel *panel = panel_named(&few, "process-cpu");
	struct line ticks;
	struct figure sum;
	struct points p;
	struct ledger s;
	size_t i, k;

	EQ(panel->curves_len, 6);
	OK(panel->curves[5].is_rest && !strcmp(panel->curves[5].label, "17 others"));
	EQ(panel->curves[5].process, SIZE_MAX);
	OK(!strcmp(panel->curves[0].label, "cc1 (4739)"));
	OK(ledger_init(&s, &f->run, STREAM_SYSTEM, SCOPE_PROCESS, NULL) == GALVO_OK);
	OK(ledger_sum(&s, &row, &sum, NULL) == GALVO_OK);
	OK(is(panel_integral(&few, panel), sum.total));
	OK(is(panel_integral(&few, panel), panel_integral(&all, panel_named(&all, "process-cpu"))));
	OK(ledger_ticks(&s, &rss, &ticks, NULL) == GALVO_OK);
	panel = panel_named(&few, "process-memory");
	for (i = 0; i < ticks.len; i++) {
		double stack = 0;

		for (k = 0; k < panel->curves_len; k++) {
			size_t at;

			p = points_of(&few, &panel->curves[k]);
			for (at = 0; at < p.len; at++)
				if (p.from_mono_ns[at] < ticks.mono_ns[i] &&
				    ticks.mono_ns[i] <= p.end_mono_ns[at])
					stack += p.value[at];
			points_finish(&p);
		}
		OK(is(stack, ticks.value[i]));
	}
	line_finish(&ticks);
	ledger_finish(&s);
	undraw(&few);
	undraw(&all);
	free(f);
}

/* Rows of each at its own pace, some for a moment only: all that was used is in the picture. */
static void odd_rest_of(const struct run_source *source)
{
	static const char *const columns[] = {RATE("proc__cycles_active")};
	struct fake_run *f = alloc_array(1, sizeof(*f));
	struct drawn d;
	uint64_t i, rows = 0;
	uint32_t k;
	double all = 0, seen;
	size_t t;

	fake_init(f);
	t = fake_table(f, STREAM_SYSTEM, SCOPE_PROCESS, columns, 1, NULL, 0);
	for (k = 0; k < 40; k++)
		fake_process(f, 10 + k, 1, 5 + k, "p");
	for (i = 1; i < 100; i++)
		for (k = 0; k < 40 && rows < FAKE_ROWS; k++)
			if (k % 8 == 0 ? i % 50 == 3 : k % 5 == 0 ? i % 9 == k % 9 : i / 5 == k) {
				ROW(f, t, 100 * S + i * 100 * MS + k * MS, 10 + k,
				    (double)(k * i % 17));
				rows++;
			}
	f->run.sources = source;
	f->run.sources_len = source != NULL;
	d = draw(&f->run, &(struct panels_options){.processes_max = 1});
	for (k = 0; k < 40; k++)
		if (!isnan(d.summary->processes[k].cpu_pct_of_core.total))
			all += d.summary->processes[k].cpu_pct_of_core.total;
	seen = panel_integral(&d, panel_named(&d, "process-cpu")) * PERCENT;
	OK(all > 0 && fabs(seen - all) < 1e-9 * all);
	undraw(&d);
	free(f);
}

static void odd_rest(void)
{
	/* Read so rarely at times that one value covers many of the others' ticks. */
	static const struct run_source rare = {.stream = STREAM_SYSTEM, .name = "process",
		.reason = "", .period_ns = 100 * MS, .longest_period_ns = 6 * S};

	odd_rest_of(NULL);
	odd_rest_of(&rare);
}

/* ---- what no rule knows ----------------------------------------------------------------------- */

static void unknown_columns(void)
{
	static const char *const columns[] = {
		"mount__used_bytes", "mount__free_bytes", "mount__reads.sum.per_second", "oddity",
		"disk__read_bytes.sum.per_second",
	};
	static const char *const lone[] = {"warp__drive.pct", "warp__core_celsius", "\xff__\x1b[1m"};
	static const char *const of_processes[] = {"proc__dreams", "proc__hopes"};
	static const char *const names[] = {"/", "/home"};
	static const struct session_metric metrics[] = {
		{.name = "mount__used_bytes", .unit = "bytes", .help = "What is used.", .peak = NAN,
		 .peak_ref = "mount__free_bytes"},
		{.name = "oddity", .unit = "nonsense", .help = "", .peak = 12},
	};
	struct fake_run *f = alloc_array(1, sizeof(*f));
	struct drawn d;
	const struct panel *p;
	uint64_t i;
	size_t t, m, o;

	fake_init(f);
	f->session.metrics = metrics;
	f->session.metrics_len = 2;
	t = fake_table(f, STREAM_DISK, SCOPE_DEVICE, columns, 5, names, 2);
	m = fake_table(f, STREAM_SYSTEM, SCOPE_SYSTEM, lone, 3, NULL, 0);
	o = fake_table(f, STREAM_SYSTEM, SCOPE_PROCESS, of_processes, 2, NULL, 0);
	fake_process(f, 10, 1, 5, "a");
	for (i = 1; i <= 10; i++) {
		ROW(f, t, (100 + i) * S, 0, 5, 100, 1, -3, 7);
		ROW(f, t, (100 + i) * S, 1, 6, 200, 1, 2, 0);
		ROW(f, m, (100 + i) * S, 0, 150, -20, 1);
		ROW(f, o, (100 + i) * S, 10, 3, 4);
	}
	d = draw(&f->run, NULL);
	p = panel_named(&d, "device-mount-bytes");
	OK(p && p->curves_len == 4 && p->unit == UNIT_BYTES && p->peaks_len == 1);
	OK(p && !strcmp(p->group, "Disks") && !strcmp(p->curves[0].label, "/ used bytes"));
	OK(p && p->curves[0].is_level && !strcmp(p->curves[0].help, "What is used."));
	OK(p && is(p->peaks[0].value, 200));
	OK(p && is(curve_sum(&d, &p->curves[3]).mean, 200));
	p = panel_named(&d, "device-?-count");
	OK(p && p->curves_len == 2 && isnan(p->floor) && is(p->peaks[0].value, 12));
	p = panel_named(&d, "system-warp-pct");
	OK(p && p->curves_len == 1 && isnan(p->ceiling) && !strcmp(p->curves[0].label, "drive"));
	OK(panel_named(&d, "process-proc-dreams") && panel_named(&d, "process-proc-hopes"));
	OK(panel_named(&d, "disk-bytes") != NULL);
	/* Neighbours have the same group. */
	OK(panel_named(&d, "device-mount-bytes") > panel_named(&d, "disk-bytes"));
	for (i = 0; i < d.panels.panels_len; i++)
		OK(utf8_is_valid(span_str(d.panels.panels[i].id)));
	undraw(&d);
	free(f);
}

/* ---- names ------------------------------------------------------------------------------------ */

static bool is_printable(const char *text)
{
	size_t i;

	for (i = 0; text[i]; i++)
		if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
			return false;
	return i > 0 && utf8_is_valid(span_str(text)) && text_columns(span_str(text)) < 80;
}

static void hostile_names(void)
{
	static const char *const columns[] = {RATE("proc__cycles_active")};
	static const char *const disk[] = {RATE("disk__read_bytes"), RATE("disk__write_bytes")};
	static char long_a[3000], long_b[3000];
	static const char *const disks[] = {"\x1b[31m", "\xff\xfe", "", long_a, long_b, "a\\#2", "a",
	                                    "\342\200\256evil", "</script>"};
	struct fake_run *f = alloc_array(1, sizeof(*f));
	struct drawn d;
	size_t t, k, i, n = 0;

	memset(long_a, 'a', sizeof(long_a) - 1);
	memset(long_b, 'a', sizeof(long_b) - 1);
	long_b[2000] = 'b';
	fake_init(f);
	t = fake_table(f, STREAM_SYSTEM, SCOPE_PROCESS, columns, 1, NULL, 0);
	fake_process(f, 10, 1, 5, "\x01\x02\xff" "x");
	fake_process(f, 11, 1, 6, "");
	snprintf(fake_process(f, 12, 1, 7, "c")->alias, 64, "%s", "\xf0\x9f\x98\x80 job");
	for (k = 10; k < 13; k++)
		ROW(f, t, 101 * S, (uint32_t)k, 1);
	t = fake_table(f, STREAM_DISK, SCOPE_DEVICE, disk, 2, disks, ARRAY_LEN(disks));
	for (k = 0; k < ARRAY_LEN(disks); k++)
		ROW(f, t, 101 * S, (uint32_t)k, 1, 1);
	d = draw(&f->run, NULL);
	for (i = 0; i < d.panels.panels_len; i++) {
		OK(is_printable(d.panels.panels[i].id) && is_printable(d.panels.panels[i].title));
		for (k = 0; k < d.panels.panels[i].curves_len; k++, n++) {
			const struct curve *c = &d.panels.panels[i].curves[k];

			OK(is_printable(c->label) && is_printable(c->key));
			OK(curve_named(&d, c->key) == c); /* the first of that key */
		}
	}
	EQ(n, 3 + 2 * ARRAY_LEN(disks));
	OK(!strcmp(curve_named(&d, "process-cpu/12:7")->label, "\xf0\x9f\x98\x80 job"));
	OK(!strcmp(curve_named(&d, "process-cpu/11:6")->label, "? (11)"));
	undraw(&d);
	free(f);
}

/* ---- lines across, GPUs alone ------------------------------------------------------------------- */

static void peaks(void)
{
	struct fake_run *f = full_run();
	struct drawn d;
	const struct panel *p;

	f->gpus[0].info.peak_pcie_bytes_per_s = 64e9;
	f->gpus[1].info.peak_pcie_bytes_per_s = 32e9;
	d = draw(&f->run, NULL);
	p = panel_named(&d, "process-cpu");
	OK(p->peaks_len == 1 && is(p->peaks[0].value, 200));
	OK(!strcmp(p->peaks[0].label, "all 2 CPUs"));
	p = panel_named(&d, "process-memory");
	OK(p->peaks_len == 1 && is(p->peaks[0].value, 16384 * MIB));
	p = panel_named(&d, "gpu-power");
	OK(p->peaks_len == 1 && !strcmp(p->peaks[0].label, "power limit of each GPU"));
	p = panel_named(&d, "gpu-pcie");
	OK(p->peaks_len == 2 && !strcmp(p->peaks[1].label, "PCIe of GPU 1"));
	p = panel_named(&d, "gpu1-counters-links");
	OK(p->is_gpu_clock && p->peaks_len == 1 && is(p->peaks[0].value, 32e9));
	p = panel_named(&d, "gpu1-counters-bytes");
	OK(p->peaks_len == 1 && is(p->peaks[0].value, 4.8e12));
	OK(!strcmp(p->group, "GPU 1"));
	undraw(&d);
	d = draw(&f->run, &(struct panels_options){.gpu_only = true});
	OK(!panel_named(&d, "cpu") && panel_named(&d, "gpu-power") &&
	   panel_named(&d, "gpu0-counters-pct"));
	EQ(d.panels.regions_len, 1);
	undraw(&d);
	free(f);
}

/* Two GPUs of one number, as a stream may claim: ids and keys tell them apart. */
static void twins(void)
{
	struct fake_run *f = full_run();
	struct drawn d;

	f->gpus[1].info.index = 0;
	d = draw(&f->run, NULL);
	OK(panel_named(&d, "gpu0-counters-pct") && panel_named(&d, "gpu0-counters-pct\\#2"));
	OK(curve_named(&d, "gpu-power/gpu0") && curve_named(&d, "gpu-power/gpu0\\#2"));
	undraw(&d);
	free(f);
}

static void nothing(void)
{
	struct galvo_run run = {0};
	struct drawn d = draw(&run, NULL);
	struct panels zeroed = {0};

	EQ(d.panels.panels_len, 0);
	EQ(d.panels.regions_len, 0);
	undraw(&d);
	undraw(&(struct drawn){0});
	panels_finish(&zeroed);
}

/* Where nobody knows when it began, the axis begins where values do. */
static void no_session(void)
{
	struct fake_run *f = full_run();
	struct drawn d;
	size_t i, k;

	f->run.session = NULL;
	d = draw(&f->run, NULL);
	for (i = 0; i < d.panels.panels_len; i++)
		for (k = 0; k < d.panels.panels[i].curves_len; k++) {
			struct points p = points_of(&d, &d.panels.panels[i].curves[k]);

			OK(p.len && p.from_mono_ns[0] >= d.panels.zero_mono_ns);
			OK(p.len && p.end_mono_ns[p.len - 1] <= d.panels.end_mono_ns);
			points_finish(&p);
		}
	undraw(&d);
	free(f);
}

static const struct tap_test tests[] = {
	{"points come to what the report says", like_the_report},
	{"holes are gaps, sources that are read less often are not", holes},
	{"the others are summed up", rest},
	{"the others, each at its own pace", odd_rest},
	{"columns that no rule knows", unknown_columns},
	{"names from outside", hostile_names},
	{"lines across panels", peaks},
	{"two of one name", twins},
	{"nothing at all", nothing},
	{"a run that does not know when it began", no_session},
};
TAP_MAIN(tests)
