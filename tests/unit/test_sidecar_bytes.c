/* What a suite and its sidecar say to each other: as it was meant, and what is made of rubbish. */
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "suite/sidecar.h"
#include "tap.h"

static void cpus(void)
{
	static const struct {
		const char *text;
		bool is_fine;
		unsigned long low;
	} rows[] = {
		{NULL, true, 0}, {"0", true, 1}, {"0-3,8", true, 0x10f}, {" 1 , 2-2", true, 6}, {"8191", true, 0},
		{"", false, 0}, {",", false, 0}, {"0,", false, 0}, {"3-1", false, 0}, {"8192", false, 0},
		{"-1", false, 0}, {"1-", false, 0}, {"a", false, 0}, {"1-2-3", false, 0},
		{"99999999999999999999", false, 0},
	};
	struct cpus set;
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++)
		if (!OK(suite_parse_cpus(rows[i].text, &set) == rows[i].is_fine) ||
		    !OK(!rows[i].is_fine || set.bits[0] == rows[i].low))
			printf("# '%s': %lx\n", rows[i].text, set.bits[0]);
}

/* ---- hostile bytes ---------------------------------------------------------------------------------- */

/* A sidecar of ours to talk to; orphans come to this program, so its end is known. */
static int talk(pid_t *ret_pid)
{
	int fds[2];

	if (!OK(fd_pair(fds)) || !OK(sidecar_spawn(SIDECAR, fds[1], ret_pid, NULL) == GALVO_OK))
		return -1;
	close(fds[1]);
	return fds[0];
}

static void hang_up(int fd, pid_t pid)
{
	int status = -1;

	close(fd);
	OK(waitpid(pid, &status, 0) == pid);
	EQ(status, 0);
}

/* An answer comes, and it is a refusal. */
static void say_rubbish_with(int fd, struct span bytes, const int *fds, size_t fds_len)
{
	struct sidecar_memory memory = {0};
	struct sidecar_message reply;
	struct buf in;

	buf_init(&in, 1 << 20);
	OK(sidecar_send(fd, bytes, fds, fds_len, NULL) == GALVO_OK);
	OK(sidecar_receive(fd, &in, NULL, NULL) == GALVO_OK);
	OK(sidecar_take_message(span_of(in.p, in.len), &reply, &memory, NULL) == GALVO_OK && reply.code &&
	   reply.text);
	sidecar_memory_free(&memory);
	buf_finish(&in);
}

static void say_rubbish(int fd, struct span bytes)
{
	say_rubbish_with(fd, bytes, NULL, 0);
}

/* Ends by which nothing can be stopped: there is no suite, or they are none. It answers all the same. */
static void stops_nothing(void)
{
	const struct span refused = span_str("\x08\x02\x42\x01\xff");
	pid_t pid = 0;
	int fd = talk(&pid), ends[2], many[SIDECAR_FDS_MAX] = {fd, fd, fd};

	if (fd < 0 || !OK(fd_pair(ends)))
		return;
	say_rubbish_with(fd, refused, &ends[1], 1);
	OK(shutdown(ends[0], SHUT_WR) == 0);
	say_rubbish_with(fd, refused, many, ARRAY_LEN(many));
	say_rubbish_with(fd, span_str("\x08\x04"), &ends[1], 1);
	close(ends[0]);
	close(ends[1]);
	say_rubbish(fd, refused);
	hang_up(fd, pid);
}

/* Amid the pieces of a message there is nothing but these. */
static void amid_pieces(void)
{
	struct sidecar_memory memory = {0};
	struct sidecar_message reply;
	struct buf in;
	pid_t pid = 0;
	int fd = talk(&pid);

	buf_init(&in, 1 << 20);
	OK(send(fd, "\x01\x08\x63", 3, MSG_NOSIGNAL) == 3 && send(fd, "\x01\x08\x04", 3, MSG_NOSIGNAL) == 3);
	OK(recv(fd, &reply, 1, MSG_DONTWAIT) < 0);
	OK(send(fd, "\x00", 1, MSG_NOSIGNAL) == 1);
	OK(sidecar_receive(fd, &in, NULL, NULL) == GALVO_OK);
	OK(sidecar_take_message(span_of(in.p, in.len), &reply, &memory, NULL) == GALVO_OK && reply.code);
	sidecar_memory_free(&memory);
	buf_finish(&in);
	say_rubbish(fd, span_str("\x08\x63"));
	hang_up(fd, pid);
}

static void hostile(void)
{
	static const char *const rows[] = {
		"", "\xff", "\x08", "\x08\x02", "\x08\x04", "\x08\x63", "\x08\x02\x42\x01\xff", "\x08\x06\x3a\x02" "a",
		"\x08\x09", "\x08\x0b", "\x08\x0a\x42\x04\x0a\x02" "ab", "\x0d\x01\x02\x03\x04", "\x42\x7f", "\x58\x01",
		"\x08\x02\x42\x09\x52\x07\x1a\x05" "alias", "\x08\x02\x30\x0e", "\x08\x02\x42\x04\x0a\x02" "x\x01",
	};
	char large[100000], *more;
	pid_t pid = 0;
	size_t i;
	int fd = talk(&pid);

	for (i = 0; fd >= 0 && i < ARRAY_LEN(rows); i++)
		say_rubbish(fd, span_str(rows[i]));
	memset(large, 0x0a, sizeof(large));
	say_rubbish(fd, span_of(large, sizeof(large)));
	hang_up(fd, pid);
	/* A datagram longer than any message has, and one that is empty: it hangs up. */
	fd = talk(&pid);
	OK(send(fd, large, sizeof(large), MSG_NOSIGNAL) == (ssize_t)sizeof(large));
	hang_up(fd, pid);
	fd = talk(&pid);
	OK(send(fd, large, 0, MSG_NOSIGNAL) == 0);
	hang_up(fd, pid);
	/* One without an end. */
	fd = talk(&pid);
	more = alloc_array(1 << 15, 1);
	more[0] = 1;
	for (i = 0; i < 2000 && send(fd, more, 1 << 15, MSG_NOSIGNAL) > 0; i++)
		;
	OK(i < 2000);
	free(more);
	hang_up(fd, pid);
}

static void round_trip(void)
{
	static const char *const disks[] = {"sda", "nvme0n1"}, *const notes[] = {"a: b"};
	static const galvo_process processes[] = {{.pid = 0, .alias = ""}, {.pid = 7, .profilers = 8,
		.follow = GALVO_FOLLOW_SELF, .reserved = -1}};
	galvo_suite_config c = galvo_suite_config_default(), got;
	struct sidecar_memory memory;
	struct buf bytes;
	size_t i;

	c.output_dir = "out";
	c.overwrite = c.no_kernel_events = c.threads = 1;
	c.disks = disks;
	c.disks_len = 2;
	c.notes = notes;
	c.notes_len = 1;
	c.processes = processes;
	c.processes_len = 2;
	c.system_hz = 0.5;
	c.flush_interval_ms = UINT64_MAX;
	c.sidecar_cpus = "0-1";
	buf_init(&bytes, 1 << 20);
	sidecar_put_config(&bytes, &c, 99);
	OK(sidecar_take_config(span_of(bytes.p, bytes.len), &got, &memory, NULL) == GALVO_OK);
	OK(got.struct_size == sizeof(got) && !strcmp(got.output_dir, c.output_dir) && !got.root);
	OK(got.disks_len == 2 && !strcmp(got.disks[1], "nvme0n1") && got.notes_len == 1);
	OK(got.processes_len == 2 && got.processes[0].pid == 99 && !got.processes[0].alias[0] &&
	   got.processes[1].profilers == 8 && !got.processes[1].alias);
	OK(got.processes[0].follow == 0 && got.processes[1].follow == GALVO_FOLLOW_SELF &&
	   got.processes[1].reserved == -1);
	OK(got.system_hz > 0.4 && got.system_hz < 0.6 && got.flush_interval_ms == UINT64_MAX);
	OK(!strcmp(got.sidecar_cpus, "0-1") && got.overwrite == 1 && got.no_kernel_events == 1 && got.threads == 1);
	OK(got.mode == GALVO_IN_PROCESS);
	sidecar_memory_free(&memory);
	for (i = 0; i < bytes.len; i++) { /* cut anywhere: no crash, and mostly no configuration */
		sidecar_take_config(span_of(bytes.p, i), &got, &memory, NULL);
		sidecar_memory_free(&memory);
	}
	buf_finish(&bytes);
}

/* ---- of GPUs ------------------------------------------------------------------------------------------ */

static void gpus(void)
{
	static const char *const names[] = {"0", "GPU-a"}, *const metrics[] = {"a__b.sum"};
	galvo_suite_config c = galvo_suite_config_default(), got;
	struct sidecar_memory memory;
	struct buf bytes;

	c.gpus = names;
	c.gpus_len = 2;
	c.gpu_metrics = metrics;
	c.gpu_metrics_len = 1;
	c.gpu_counters = c.require_gpu_counters = 1;
	c.gpu_telemetry = 2;
	c.gpu_hz = 0.25;
	c.telemetry_hz = 0.5;
	c.gpu_buffer_bytes = 1;
	c.gpu_max_samples = 2;
	c.gpu_decode_interval_ms = 3;
	c.gpu_flush_interval_ms = 4;
	c.gpu_drain_samples = 5;
	c.telemetry_flush_interval_ms = 6;
	c.gpu_file = "g";
	c.telemetry_file = "t";
	buf_init(&bytes, 1 << 20);
	sidecar_put_config(&bytes, &c, 99);
	OK(sidecar_take_config(span_of(bytes.p, bytes.len), &got, &memory, NULL) == GALVO_OK);
	OK(got.gpus_len == 2 && !strcmp(got.gpus[1], "GPU-a"));
	OK(got.gpu_metrics_len == 1 && !strcmp(got.gpu_metrics[0], "a__b.sum"));
	OK(got.gpu_counters == 1 && got.require_gpu_counters == 1 && got.gpu_telemetry == 2);
	OK(got.gpu_hz > 0.24 && got.gpu_hz < 0.26 && got.telemetry_hz > 0.49 && got.telemetry_hz < 0.51);
	OK(got.gpu_buffer_bytes == 1 && got.gpu_max_samples == 2 && got.gpu_decode_interval_ms == 3);
	OK(got.gpu_flush_interval_ms == 4 && got.gpu_drain_samples == 5);
	OK(got.telemetry_flush_interval_ms == 6 && !strcmp(got.gpu_file, "g") &&
	   !strcmp(got.telemetry_file, "t"));
	sidecar_memory_free(&memory);
	buf_finish(&bytes);
}

static void facts(void)
{
	const galvo_note note = {.subject = "s", .text = "t"};
	const galvo_gpu_device device = {.index = 1, .sm_count = 2, .warps_per_sm = 3, .compute_major = 4,
		.compute_minor = 5, .memory_bytes = 6, .peak_dram_bytes_per_s = 7, .peak_pcie_bytes_per_s = 8,
		.peak_nvlink_bytes_per_s = 9, .name = "n", .chip = "c", .uuid = "u", .pci = "p", .driver = "d"};
	galvo_gpu_device got_device;
	galvo_note got_note;
	struct sidecar_memory memory;
	struct buf bytes;

	buf_init(&bytes, 1 << 20);
	sidecar_put_note(&bytes, &note);
	OK(sidecar_take_note(span_of(bytes.p, bytes.len), &got_note, &memory, NULL) == GALVO_OK);
	OK(!strcmp(got_note.subject, "s") && !strcmp(got_note.text, "t"));
	sidecar_memory_free(&memory);
	bytes.len = 0;
	sidecar_put_gpu(&bytes, &device);
	OK(sidecar_take_gpu(span_of(bytes.p, bytes.len), &got_device, &memory, NULL) == GALVO_OK);
	OK(got_device.struct_size == sizeof(device));
	got_device.struct_size = device.struct_size;
	OK(memcmp(&got_device, &device, sizeof(device)) == 0);
	sidecar_memory_free(&memory);
	OK(sidecar_take_gpu(span_str("\xff"), &got_device, &memory, NULL) == GALVO_ERR_MALFORMED);
	sidecar_memory_free(&memory);
	buf_finish(&bytes);
}

static void drained_bytes(void)
{
	const uint32_t too_many[] = {0, ROW_MAX + 1, 0, 0, 0, 0};
	char bytes[64] = {0};
	struct counters_sample s;
	struct span rest;
	size_t n, len = 99;

	for (n = 0; n < 24; n++) {
		rest = span_of(bytes, n);
		OK(!drained_take(&rest, &s, &len) && rest.n == n);
	}
	rest = span_of(bytes, sizeof(bytes));
	OK(drained_take(&rest, &s, &len) && len == 0 && rest.n == sizeof(bytes) - 24);
	bytes[4] = 6; /* values, and room for five */
	rest = span_of(bytes, sizeof(bytes));
	OK(!drained_take(&rest, &s, &len));
	memcpy(bytes, too_many, sizeof(too_many));
	rest = span_of(bytes, sizeof(bytes));
	OK(!drained_take(&rest, &s, &len));
}

static const struct tap_test tests[] = {
	{"lists of CPUs", cpus},
	{"hostile bytes", hostile},
	{"stops nothing", stops_nothing},
	{"amid pieces", amid_pieces},
	{"round trip", round_trip},
	{"GPUs in a configuration", gpus},
	{"facts of GPUs", facts},
	{"drained bytes", drained_bytes},
};

int main(void)
{
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	return tap_run(tests, ARRAY_LEN(tests));
}
