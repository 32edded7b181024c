/*
 * A family of processes that keeps its own books: family TRUTH SCENARIO [NUMBER].
 *
 * TRUTH is a file of records (struct record, test_family.py reads them) on a file system without a
 * disk. Every member writes its own: what the kernel says it used just before it leaves.
 */
#include "family.h"

/* ---- scenarios: children and their ends ---------------------------------------------------------- */

static void storm(int n)
{
	int i, alive = 0;

	for (i = 0; i < n; i++) {
		child(WAITED, i % 4 == 3 ? run_true : work, i);
		if (++alive < 6)
			continue;
		if (wait(NULL) > 0)
			alive--;
	}
	await_all();
}

static void chain(int depth)
{
	work(depth * 5 + 4);
	if (depth > 1)
		await(child(WAITED, chain, depth - 1));
	work(depth * 3);
}

/* Each waits for its child, which is alive for a while: all are seen. */
static void slow_chain(int depth)
{
	work(depth * 5 + 4);
	if (depth > 1)
		await(child(WAITED, slow_chain, depth - 1));
	else
		rest(400);
	work(depth * 3);
	rest(30);
}

static void live(int ms)
{
	work(13);
	rest(ms);
	work(17);
}

static void leave_behind(int ms)
{
	work(9);
	child(ADOPTED, live, ms);
}

/* The middle of it dies before its child. */
static void break_chain(int n)
{
	int i;

	for (i = 0; i < n; i++)
		child(WAITED, leave_behind, 30 + i * 40);
	await_all();
	await_orphans();
}

/* The same, and somebody else adopts them. */
static void orphans(int n)
{
	int i;

	for (i = 0; i < n; i++)
		child(WAITED, leave_behind, 30 + i * 40);
	await_all();
	storm(30);
}

static void second_fork(int ms)
{
	if (setsid() < 0)
		fail("setsid");
	child(ADOPTED, live, ms);
}

static void daemons(int n)
{
	int i;

	for (i = 0; i < n; i++)
		await(child(WAITED, second_fork, i * 60));
	await_orphans();
}

/* Half of them outlive us, and the recording. */
static void late_daemons(int n)
{
	int i;

	for (i = 0; i < n; i++)
		await(child(WAITED, second_fork, i % 2 ? 3000 : 0));
	rest(500);
}

static void steady(int ms)
{
	int i;

	for (i = 0; i < ms / 20; i++) {
		work(i % 5 + 10);
		rest(5);
	}
}

/* SIGCHLD is ignored, or nobody wants zombies: the kernel forgets children at once. */
static void ignore(int how)
{
	struct sigaction a = {.sa_handler = how == 1 ? SIG_DFL : SIG_IGN,
	                      .sa_flags = how == 1 ? SA_NOCLDWAIT : 0};
	int i, rounds = how == 2 ? 3 : 1;

	for (i = 0; i < rounds; i++) {
		sigaction(SIGCHLD, &a, NULL);
		child(LOST, steady, 400);
		child(LOST, steady, 600);
		await_all();
		signal(SIGCHLD, SIG_DFL);
		child(WAITED, steady, 400);
		child(WAITED, work, 20);
		await_all();
	}
}

/* All have ended, nobody waits for them, and they are zombies for a while. */
static void breed(int n)
{
	siginfo_t info;
	pid_t pid[64];
	int i;

	for (i = 0; i < n; i++)
		pid[i] = child(ADOPTED, work, i);
	for (i = 0; i < n; i++)
		waitid(P_PID, (id_t)pid[i], &info, WEXITED | WNOWAIT);
	rest(300);
}

static void zombies(int n)
{
	await(child(WAITED, breed, n));
	burn(10);
	await_orphans();
}

/* Ends are everywhere. If it is deep, children of those that are killed are orphans. */
static void kill_all(int n, bool is_deep)
{
	unsigned seed = 4711;
	pid_t alive[8] = {0};
	int i, at;

	for (i = 0; i < n; i++) {
		at = rand_r(&seed) % 8;
		if (alive[at]) {
			kill(alive[at], SIGKILL);
			await(alive[at]);
		}
		alive[at] = child(WAITED, i % 10 == 9 && is_deep ? storm : toil, i % 10 == 9 ? 20 : i);
		usleep((useconds_t)(rand_r(&seed) % 2000));
	}
	for (at = 0; at < 8; at++)
		if (alive[at])
			kill(alive[at], SIGKILL);
	await_all();
}

static void massacre(int n)
{
	kill_all(n, false);
}

static void deep_massacre(int n)
{
	kill_all(n, true);
	await_orphans();
}


static void crowd(int n)
{
	int i;

	for (i = 0; i < n; i++)
		child(WAITED, nap, i);
	await_all();
}

/* ---- scenarios: threads -------------------------------------------------------------------------- */

static void *thread_work(void *arg)
{
	int i, n = *(int *)arg;

	for (i = 0; i < n; i++)
		work(i + 5);
	return NULL;
}

static void threads(int n)
{
	int i, j, each = 6;
	pthread_t t[4];

	for (i = 0; i < n; i++) {
		for (j = 0; j < 4; j++)
			pthread_create(&t[j], NULL, thread_work, &each);
		for (j = 0; j < 4; j++)
			pthread_join(t[j], NULL);
		rest(10);
	}
}

static void *outlive(void *arg)
{
	(void)arg;
	rest(50);
	steady(1200);
	leave();
	return NULL;
}

/* The main thread goes, the process stays. */
static void headless(int mib)
{
	size_t bytes = (size_t)mib << 20;
	char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_t t;

	if (memory == MAP_FAILED)
		fail("mmap");
	memset(memory, 1, bytes);
	pthread_create(&t, NULL, outlive, NULL);
	burn(30);
	pthread_exit(NULL);
}

static void heads(int mib)
{
	await(child(WAITED, headless, mib));
}

/* Threads read and write while the main thread waits for children that do so too. */
static void mixed(int n)
{
	int i, each = n;
	pthread_t t[3];

	for (i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, thread_work, &each);
	for (i = 0; i < n; i++) {
		await(child(WAITED, work, i + 3));
		await(child(WAITED, run_true, i));
	}
	for (i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
}

/* ---- scenarios: names and numbers ---------------------------------------------------------------- */

/* It calls exec for each name. */
static void rename_to(int n)
{
	char name[16], left[16];

	snprintf(name, sizeof(name), "name-%d", n);
	snprintf(left, sizeof(left), "%d", n - 1);
	if (symlink(program, name) != 0 && errno != EEXIST)
		fail("symlink");
	rest(1150);
	burn(20);
	if (n > 0)
		execl(name, name, truth_path, "again", left, (char *)NULL);
}

static void set_next_pid(pid_t pid)
{
	int file = open("/proc/sys/kernel/ns_last_pid", O_WRONLY | O_CLOEXEC);

	if (file < 0 || dprintf(file, "%d", pid - 1) < 0)
		fail("ns_last_pid");
	close(file);
}

static void reuse(int n)
{
	pid_t first, second;
	int i;

	set_next_pid(500);
	for (i = 0; i < n; i++) {
		first = child(WAITED, steady, 600);
		await(first);
		set_next_pid(first);
		second = child(WAITED, steady, 400);
		if (second != first)
			fail("the number was not given again");
		set_next_pid(first - 3); /* as if they had come round: who looks for new ones looks again */
		await(child(WAITED, work, 1));
		await(second);
		set_next_pid(first + 20 * (i + 1));
	}
}

/* The same, and the second one is another family's: that of `other`. */
static void reuse_elsewhere(int n)
{
	pid_t first;
	int i;

	for (i = 0; i < n; i++) {
		first = child(WAITED, steady, 600);
		await(first);
		atomic_store(&truth->at, (uint64_t)first);
		while (atomic_load(&truth->at))
			usleep(200);
		rest(400);
	}
}

static void other(int n)
{
	uint64_t wanted;
	pid_t pid;

	mine->fate = STRANGER;
	for (; n > 0; n--) {
		while (!(wanted = atomic_load(&truth->at)))
			usleep(200);
		set_next_pid((pid_t)wanted);
		pid = fork();
		if (pid == 0) {
			burn(300);
			_exit(0);
		}
		if ((uint64_t)pid != wanted)
			fail("the number was not given again");
		atomic_store(&truth->at, 0);
		await(pid);
	}
}

/* ---- scenarios: a device ------------------------------------------------------------------------- */

enum { DIRECT = 4096 * 16 };

static void direct(int i, bool is_write)
{
	void *block;
	int file = open(getenv("DEVICE"), (is_write ? O_WRONLY : O_RDONLY) | O_DIRECT | O_CLOEXEC);
	ssize_t n;

	if (file < 0 || posix_memalign(&block, 4096, DIRECT) != 0)
		fail("DEVICE");
	memset(block, i, DIRECT);
	n = is_write ? pwrite(file, block, DIRECT, (off_t)(i % 256) * DIRECT)
	             : pread(file, block, DIRECT, (off_t)(i % 256) * DIRECT);
	if (n != DIRECT)
		fail("DEVICE");
	close(file);
	free(block);
}

static void direct_both(int i)
{
	direct(i, true);
	if (i % 2)
		direct(i, false);
}

static void direct_long(int n)
{
	int i;

	for (i = 0; i < n; i++) {
		direct(i, true);
		rest(3);
	}
}

static void device(int n)
{
	int i;

	child(WAITED, direct_long, n);
	for (i = 0; i < n; i++)
		await(child(WAITED, direct_both, i));
	await_all();
}

/* ---- scenarios: in the middle of it -------------------------------------------------------------- */

static void await_word(uint64_t word)
{
	while (atomic_load(&truth->at) != word)
		usleep(2000);
}

static void aged(int i)
{
	burn(100);
	put(5000000);
	atomic_fetch_add(&truth->at, 1);
	await_word(2);
	steady(i);
}

/* Two that used much already; then they do more; then it is as quiet as before. */
static void ongoing(int n)
{
	pid_t old;

	burn(300);
	put(10000000);
	storm(20);
	old = child(WAITED, aged, 800);
	await_word(1);
	puts("ready");
	fflush(stdout);
	await_word(2);
	await(child(WAITED, storm, n));
	chain(5);
	await(old);
	atomic_store(&truth->at, 3);
	await_word(4);
}

/* ---- scenarios: how they end --------------------------------------------------------------------- */

static void end_so(int i)
{
	put(7000);
	if (i % 2)
		kill(getpid(), i == 1 ? SIGKILL : SIGTERM);
	_exit(i);
}

static void end_as_orphan(int i)
{
	child(ADOPTED, end_so, i);
}

static void ends(int n)
{
	int i;

	for (i = 0; i < n; i++)
		await(child(WAITED, end_as_orphan, i));
	await_orphans();
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		deed *deed;
	} scenarios[] = {
		{"again", rename_to}, {"break-chain", break_chain}, {"chain", chain},
		{"crowd", crowd}, {"daemons", daemons}, {"deep-massacre", deep_massacre},
		{"device", device}, {"ends", ends}, {"headless", heads}, {"ignore", ignore},
		{"late-daemons", late_daemons}, {"massacre", massacre}, {"mixed", mixed},
		{"ongoing", ongoing}, {"orphans", orphans}, {"other", other}, {"rename", rename_to},
		{"reuse", reuse}, {"reuse-elsewhere", reuse_elsewhere},
		{"slow-chain", slow_chain}, {"steady", steady}, {"storm", storm},
		{"threads", threads}, {"zombies", zombies},
	};
	int file = argc > 3 ? open(argv[1], O_RDWR | O_CLOEXEC) : -1;
	size_t i;

	if (file < 0)
		fail("family TRUTH SCENARIO NUMBER");
	truth_path = argv[1];
	program = realpath("/proc/self/exe", NULL);
	truth = mmap(NULL, sizeof(*truth), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (truth == MAP_FAILED)
		fail(argv[1]);
	close(file);
	enter(ADOPTED); /* by galvo, which is its parent */
	for (i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++)
		if (!strcmp(argv[2], scenarios[i].name)) {
			scenarios[i].deed((int)number_at(argv[3]));
			leave();
		}
	fail(argv[2]);
	return 3;
}
