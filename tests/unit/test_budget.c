/* The budget: who gives way when reading costs too much, and when speed comes back. */
#include "probe/internal.h"
#include "tap.h"

static struct clock_fake a_clock;
static struct world world = {.clock = &a_clock.clock};

static const struct source of_machine = {.name = "machine", .shape = SHAPE_SINGLE};
static const struct source of_processes = {.name = "processes", .shape = SHAPE_PROCESS};

/* A probe of 100 Hz whose lanes have a source each, with these costs of one reading. */
static struct probe *a_probe(double budget_pct, const uint64_t *cost_ns, const uint64_t *period_ticks,
                             size_t lanes)
{
	struct probe *p = calloc(1, sizeof(*p));
	size_t i;

	p->config = (struct probe_config){.world = &world, .period_ns = 10 * NS_PER_MS,
	                                  .budget_pct = budget_pct};
	p->lanes_len = p->pens_len = lanes;
	for (i = 0; i < lanes; i++) {
		p->pens[i].source = &of_machine;
		p->pens[i].mean_ns = cost_ns[i];
		p->pens[i].lane = &p->lanes[i];
		p->lanes[i] = (struct lane){.pens = {&p->pens[i]}, .pens_len = 1,
		                            .period_ticks = period_ticks[i], .divisor = 1};
	}
	return p;
}

static double cost_pct(const struct probe *p)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < p->lanes_len; i++)
		sum += (double)p->lanes[i].pens[0]->mean_ns * 100 /
		       (double)lane_period_ns(p, &p->lanes[i]);
	return sum;
}

static void within(void)
{
	char names[32] = "before";
	struct probe *p = a_probe(1, (const uint64_t[]){30000, 60000}, (const uint64_t[]){1, 1}, 2);

	budget_judge(p); /* 0.3 % and 0.6 % */
	OK(probe_slowed(p, names, sizeof(names)) == 1 && !strcmp(names, "before"));
	OK(p->lanes[0].divisor == 1 && p->lanes[1].divisor == 1);
	free(p);
}

static void the_dearest_gives_way(void)
{
	struct probe *p = a_probe(1, (const uint64_t[]){30000, 800000, 50000},
	                          (const uint64_t[]){1, 1, 10}, 3);

	budget_judge(p); /* 0.3 %, 8 %, 0.05 % */
	EQ(p->lanes[0].divisor, 1);
	EQ(p->lanes[1].divisor, 16);
	EQ(p->lanes[2].divisor, 1);
	OK(cost_pct(p) <= 1);
	free(p);
}

static void nobody_beyond_a_second(void)
{
	struct probe *p = a_probe(0.001, (const uint64_t[]){900000}, (const uint64_t[]){1}, 1);

	budget_judge(p);
	EQ(p->lanes[0].divisor, 64); /* 0.64 s; the next would be 1.28 s */
	free(p);
}

/* Sources of processes grow with them: where they are many, a second is too often. */
static void many_processes(void)
{
	char names[32] = "";
	struct probe *p = a_probe(0.1, (const uint64_t[]){20000000, 900000}, (const uint64_t[]){1, 1}, 2);

	p->pens[0].source = &of_processes;
	p->living = 63;
	budget_judge(p);
	OK(p->lanes[0].divisor == 64 && p->lanes[1].divisor == 64);
	p->living = 1000;
	budget_judge(p);
	EQ(p->lanes[0].divisor, 512); /* 5.12 s */
	EQ(probe_slowed(p, names, sizeof(names)), 512);
	OK(!strcmp(names, "processes, machine"));
	EQ(p->lanes[1].divisor, 64);
	p->living = 63;
	budget_judge(p);
	EQ(p->lanes[0].divisor, 64);
	free(p);
}

/* They have a share of their own, whatever the rest costs; many of them may get very slow. */
static void threads(void)
{
	static const struct source of_threads = {.name = "threads", .shape = SHAPE_THREAD};
	struct probe *p = a_probe(1, (const uint64_t[]){5000000, 20000}, (const uint64_t[]){10, 1}, 2);

	p->pens[0].source = &of_threads;
	p->threads_len = 10;
	budget_judge(p); /* 5 % and 0.2 % */
	EQ(p->lanes[0].divisor, 8); /* 0.8 s; the next would be 1.6 s */
	p->threads_len = 1000;
	p->pens[0].mean_things = 0;
	budget_judge(p);
	OK(p->lanes[0].divisor == 16 && p->lanes[1].divisor == 1); /* 0.31 %, not what is left */
	p->pens[0].mean_ns = 30000;
	p->pens[1].mean_ns = 100000; /* 0.03 % and 1 %: up to a second, the little that they have goes */
	budget_judge(p);
	OK(p->lanes[0].divisor == 8 && p->lanes[1].divisor == 2);
	free(p);
}

/* A reading tells of a step in cost only bit by bit; how many there are tells at once. */
static void processes_that_join(void)
{
	struct probe *p = a_probe(1, (const uint64_t[]){10000, 10000}, (const uint64_t[]){1, 1}, 2);
	int i;

	p->pens[0].source = &of_processes;
	p->living = 4;
	budget_foresee(p);
	EQ(p->pens[0].mean_ns, 10000);
	for (i = 0; i < 100; i++) { /* short ones come and go between two readings */
		p->living = 5;
		budget_foresee(p);
		p->living = 4;
		budget_foresee(p);
	}
	EQ(p->pens[0].mean_ns, 10000);
	p->living = 400;
	budget_foresee(p);
	OK(p->pens[0].mean_ns == 1000000 && p->pens[1].mean_ns == 10000);
	EQ(p->lanes[0].divisor, 16);
	EQ(p->lanes[1].divisor, 1);
	free(p);
}

/* Following is a source too, where this probe leads. */
static void following(void)
{
	struct probe *p = a_probe(1, (const uint64_t[]){50000}, (const uint64_t[]){1}, 1);
	union { void *any; struct track *track; } some = {.any = p};

	p->config.scan_period_ns = 100 * NS_PER_MS;
	p->config.track = some.track; /* only asked whether there is one */
	follow_plan(p);
	p->follow_pen.mean_ns = 3 * NS_PER_MS; /* 3 % */
	budget_judge(p);
	EQ(p->follow_lane.divisor, 1); /* another probe leads */
	p->config.leads = true;
	budget_judge(p);
	EQ(p->follow_lane.divisor, 8);
	EQ(p->lanes[0].divisor, 1);
	free(p);
}

static void no_limit(void)
{
	struct probe *p = a_probe(0, (const uint64_t[]){900000000}, (const uint64_t[]){1}, 1);

	budget_judge(p);
	EQ(p->lanes[0].divisor, 1);
	free(p);
}

static void back_with_room_to_spare(void)
{
	struct probe *p = a_probe(1, (const uint64_t[]){110000}, (const uint64_t[]){1}, 1);

	budget_judge(p);
	EQ(p->lanes[0].divisor, 2);
	p->pens[0].mean_ns = 90000; /* 0.9 % at full speed: too near the limit to go back */
	budget_judge(p);
	EQ(p->lanes[0].divisor, 2);
	p->pens[0].mean_ns = 60000;
	budget_judge(p);
	EQ(p->lanes[0].divisor, 1);
	free(p);
}

static void interrupted_readings(void)
{
	struct pen pen = {0};
	int i;

	for (i = 0; i < 100; i++)
		budget_account(&pen, 1000);
	EQ(pen.mean_ns, 1000);
	budget_account(&pen, 50 * NS_PER_MS); /* the thread was put aside meanwhile */
	OK(pen.mean_ns < 1200);
	for (i = 0; i < 200; i++)
		budget_account(&pen, 3000); /* but what is dear for good is seen */
	OK(pen.mean_ns > 2900);
}

static const struct tap_test tests[] = {
	{"within the budget", within},
	{"the dearest gives way", the_dearest_gives_way},
	{"nobody is slowed beyond a second", nobody_beyond_a_second},
	{"many processes are slowed further", many_processes},
	{"processes that join are foreseen", processes_that_join},
	{"following is slowed too", following},
	{"threads have a share of their own", threads},
	{"no limit", no_limit},
	{"back with room to spare", back_with_room_to_spare},
	{"interrupted readings", interrupted_readings},
};

int main(void)
{
	clock_fake_init(&a_clock, 1, 1, 1);
	return tap_run(tests, ARRAY_LEN(tests));
}
