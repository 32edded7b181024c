/*
 * Scenes as text: every word, what is malformed and where, and the tool that makes and shows them.
 */
#include <sys/stat.h>

#include "nvidia_rig.h"
#include "scene_text.h"

static const char all[] =
	"# A box with two GPUs.\n"
	"scene seed=7 driver=535.54.03 cuda=12040 cupti=26 sample_bytes=4096 stretch=0 tail=2 "
        "clock=5s\n"
	"gpu GH100 name=H200 uuid=GPU-x ordinal=1 links=0 memory=1000 stride=32 lost=20s  # falls "
        "off\n"
	"curve gpu_pct shape=steps 0=4294967295 1s=1734 2s=100\n"
	"curve energy_mj shape=line a=5 b=2.5e3\n"
	"curve power_mw shape=square a=100 b=50 period=10ms\n"
	"curve fan_pct result=3\n"
	"process pid=101 memory=2942304256 from=1s\n"
	"process pid=5 kind=graphics gi=5 ci=0\n"
	"use pid=10 at=1700000000900000 sm=33 memory=5\n"
	"xid at=10s code=31 times=3\n"
	"gpu GA100 ordinal=-1 mig=1 migs=7 mig_pending=1 events=1\n"
	"mig index=1 gi=5 ci=0 memory=5000000000 used=9 uuid=MIG-t1\n"
	"xid at=40s code=45 device=0 astray=1\n"
	"fault result call=cuptiPmSampling* result=26 from=20s until=40s device=0\n"
	"fault zero_stamps value=2\n"
	"fault slow call=nvmlDeviceGetPowerUsage value=5ms skip=1 times=3\n";

static galvo_status parse(const char *text, galvo_error *reterr)
{
	scene_begin();
	scene->is_fake = 0;
	return scene_parse(scene, "t", span_str(text), reterr);
}

static void test_words(void)
{
	const struct scene_device *d;
	galvo_error e = {0};

	if (!OK(parse(all, &e) == GALVO_OK))
		printf("# %s\n", e.text);
	d = &scene->devices[0];
	EQ(scene->seed, 7);
	OK(strcmp(scene->driver_version, "535.54.03") == 0);
	EQ(scene->cuda_version, 12040);
	EQ(scene->cupti_version, 26);
	EQ(scene->is_fake, 1);
	EQ(scene_now_ns(scene), 0);
	EQ(scene->begin_mono_ns, 5 * NS_PER_S);
	EQ(scene->device_count, 2);
	OK(strcmp(d->chip, "GH100") == 0 && strcmp(d->name, "H200") == 0 &&
	   strcmp(d->uuid, "GPU-x") == 0);
	EQ(d->lost_at_ns, 20 * NS_PER_S);
	EQ(d->process_stride, 32);
	EQ(scene_curve_at(scene, 0, CURVE_gpu_pct, 0), 4294967295);
	EQ(scene_curve_at(scene, 0, CURVE_gpu_pct, 1999 * MS), 1734);
	EQ(scene_curve_at(scene, 0, CURVE_gpu_pct, 9 * NS_PER_S), 100);
	EQ(scene_curve_at(scene, 0, CURVE_energy_mj, 2 * NS_PER_S), 5005);
	EQ(scene_curve_at(scene, 0, CURVE_power_mw, 9 * MS), 100);
	EQ(scene_curve_at(scene, 0, CURVE_power_mw, 10 * MS), 150);
	EQ(d->curves[CURVE_fan_pct].result, 3);
	EQ(d->process_count, 2);
	EQ(d->processes[0].gpu_instance, UINT32_MAX);
	EQ(d->processes[1].kind, PROCESS_GRAPHICS);
	EQ(d->processes[1].gpu_instance, 5);
	EQ(d->uses[0].timestamp, 1700000000900000);
	d = &scene->devices[1];
	EQ(d->cuda_ordinal, -1);
	EQ(d->mig_current * 10 + d->mig_pending, 11);
	EQ(d->migs[1].there, 1);
	EQ(d->migs[1].memory_bytes, 5000000000);
	OK(strcmp(d->migs[1].uuid, "MIG-t1") == 0);
	EQ(d->events, 1);
	EQ(scene->xid_count, 2);
	EQ(scene->xids[0].device * 100 + (int)scene->xids[0].times, 3);
	EQ(scene->xids[0].at_ns, 10 * NS_PER_S);
	EQ(scene->xids[0].code, 31);
	EQ(scene->xids[1].device * 100 + (int)scene->xids[1].times, 1);
	EQ(scene->xids[1].is_astray, 1);
	EQ(scene->fault_count, 3);
	EQ(scene->faults[0].kind, FAULT_RESULT);
	EQ(scene->faults[0].until_ns, 40 * NS_PER_S);
	EQ(scene->faults[0].device, 0);
	EQ(scene->faults[1].kind, FAULT_ZERO_STAMPS);
	EQ(scene->faults[1].device, SCENE_ALL_DEVICES);
	EQ(scene->faults[2].value, 5 * MS);
	scene_end();
}

static void test_malformed(void)
{
	static const struct {
		const char *text, *told;
	} rows[] = {
		{"gpu\n", "t:1: expected a chip"},
		{"scene seed=1\nsun GH100\n", "t:2: expected scene, gpu, curve"},
		{"curve gpu_pct\n", "t:1: expected scene, gpu, curve"},
		{"gpu GH100\ncurve gpu\n", "t:2: expected a curve, got 'curve"},
		{"gpu GH100\ncurve gpu_pct shape=round\n",
	         "t:2: expected NAME=VALUE that belongs here, got 'shape=round"},
		{"gpu GH100 name\n", "got 'name"},
		{"gpu GH100 stride=x\n", "got 'stride=x"},
		{"gpu GH100 stride=4294967296\n", "got 'stride=4294967296"},
		{"gpu GH100 lost=99999999999s\n", "got 'lost=99999999999s"},
		{"gpu GH100 lost=s\n", "got 'lost=s"},
		{"gpu GH100 pid=1\n", "got 'pid=1"},
		{"gpu GH100\nmig gi=5\n", "got 'gi=5"},
		{"gpu GH100\nmig index=7\n", "got 'index=7"},
		{"gpu GH100\ncurve gpu_pct 0=1 1=1 2=1 3=1 4=1 5=1 6=1 7=1 8=1\n", "got '8=1"},
		{"gpu GH1000000000000000\n", "expected a chip"},
		{"fault melt\n", "t:1: expected a kind of fault"},
		{"gpu A\ngpu A\ngpu A\ngpu A\ngpu A\ngpu A\ngpu A\ngpu A\ngpu A\n", "t:9: "},
	};
	galvo_error e;
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++) {
		memset(&e, 0, sizeof(e));
		EQ(parse(rows[i].text, &e), GALVO_ERR_MALFORMED);
		if (!OK(strstr(e.text, rows[i].told)))
			printf("# %s\n", e.text);
		scene_end();
	}
}

static int run_tool(const char *verb, const char *a, const char *b)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		dup2(STDERR_FILENO, STDOUT_FILENO);
		execl(double_path("scene"), "scene", verb, a, b, (char *)NULL);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void test_tool(void)
{
	char dir[] = "/tmp/galvo-tool-XXXXXX", text[64], path[64];
	struct scene *s;
	FILE *f;

	OK(mkdtemp(dir));
	snprintf(text, sizeof(text), "%s/text", dir);
	snprintf(path, sizeof(path), "%s/scene", dir);
	f = fopen(text, "we");
	fputs(all, f);
	fclose(f);
	EQ(run_tool("make", text, path), 0);
	s = scene_map(path);
	if (OK(s)) {
		EQ(s->device_count, 2);
		EQ(run_tool("show", path, NULL), 0);
		s->violation_count = 1;
		EQ(run_tool("show", path, NULL), 1);
	}
	scene_unmap(s);
	EQ(run_tool("show", text, NULL), 2);
	EQ(run_tool("make", path, path), 1);
	EQ(run_tool("make", dir, path), 1);
	unlink(text);
	unlink(path);
	rmdir(dir);
}

/*
 * The same seed, the same values; another seed, others; the same fraction of time, whatever was
 * asked before.
 */
static void test_formula(void)
{
	double a, b, sum = 0;
	int i;

	scene_begin();
	scene_add(scene, "GH100");
	scene_add(scene, "GH100");
	a = scene_metric(scene, 0, "pcie__read_bytes.sum", 5 * MS, MS);
	OK(a == scene_metric(scene, 0, "pcie__read_bytes.sum", 5 * MS, MS));
	OK(a != scene_metric(scene, 1, "pcie__read_bytes.sum", 5 * MS, MS));
	OK(a != scene_metric(scene, 0, "pcie__read_bytes.sum", 6 * MS, MS));
	OK(a != scene_metric(scene, 0, "pcie__write_bytes.sum", 5 * MS, MS));
	scene->seed = 2;
	b = scene_metric(scene, 0, "pcie__read_bytes.sum", 5 * MS, MS);
	OK(a != b);
	for (i = 0; i < 1000; i++)
		sum += scene_metric(scene, 0, "sm__cycles_active.max", (uint64_t)i * MS, MS);
	/* Half of the time busy, on the whole. */
	OK(sum > 0.45 * 1755e6 && sum < 0.55 * 1755e6);
	scene->devices[0].curves[CURVE_sm_busy_permille] = (struct scene_curve){.a = 1000};
	OK(scene_metric(scene, 0, "sm__cycles_active.max", 0, MS) == 1755e3);
	scene_end();
}

int main(void)
{
	static const struct tap_test tests[] = {
		{"every word", test_words},
		{"malformed", test_malformed},
		{"the tool", test_tool},
		{"the formula", test_formula},
	};

	return tap_run(tests, ARRAY_LEN(tests));
}
