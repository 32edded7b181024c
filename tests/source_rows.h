/* Rows of texts and what parsers make of them: the ordinary, the old, the future, the hostile. */
static const struct row rows[] = {
	/* cpu: only the first line counts; guest times are inside user and never added */
	{"cpu", "proc/stat",
	 TEXT("cpu  1558 2 1574 194315 349 5 35 8 700 100\ncpu0 x\nintr 1\n"),
	 "user_ticks=1560 kernel_ticks=1614 idle_ticks=194315 iowait_ticks=349 steal_ticks=8"},
	{"cpu", "proc/stat", TEXT("cpu  400 0 0 4000\ncpu0 100 0 0 1000\n"), /* Linux 2.4 */
	 "user_ticks=400 kernel_ticks=0 idle_ticks=4000 iowait_ticks=0 steal_ticks=0"},
	{"cpu", "proc/stat", TEXT("cpu  1 2 3 4 5 6 7 8 9 10 11 12 13"), /* columns to come */
	 "user_ticks=3 kernel_ticks=16 idle_ticks=4 iowait_ticks=5 steal_ticks=8"},
	{"cpu", "proc/stat", TEXT("cpu  1 2 3 4 5 6 7 8 9 10\r\ncpu0 1\r\n"),
	 "user_ticks=3 kernel_ticks=16 idle_ticks=4 iowait_ticks=5 steal_ticks=8"},
	{"cpu", "proc/stat", TEXT("cpu 1 2 3 4\r\n"),
	 "user_ticks=3 kernel_ticks=3 idle_ticks=4 iowait_ticks=0 steal_ticks=0"},
	{"cpu", "proc/stat", TEXT("cpu  18446744073709551615 0 0 0 0 0 0 0 0 0\n"),
	 "user_ticks=18446744073709551615 kernel_ticks=0 idle_ticks=0 iowait_ticks=0 steal_ticks=0"},
	{"cpu", "proc/stat", TEXT(""), "!proc/stat:1: expected the line 'cpu', got ''"},
	{"cpu", "proc/stat", TEXT("cpu0 1 2 3 4 5 6 7 8 9 10\n"),
	 "!proc/stat:1: expected the line 'cpu', got 'cpu0 1 2 3 4 5 6 7 8 9 1'"},
	{"cpu", "proc/stat", TEXT("cpu  1 2 3\n"),
	 "!proc/stat:1: expected times of all CPUs, got 'cpu  1 2 3'"},
	{"cpu", "proc/stat", TEXT("cpu  1 2 3 -4 5 6 7 8\n"),
	 "!proc/stat:1: expected times of all CPUs, got 'cpu  1 2 3 -4 5 6 7 8'"},
	{"cpu", "proc/stat", TEXT("cpu  1 2 3 18446744073709551616 5\n"),
	 "!proc/stat:1: expected times of all CPUs, got 'cpu  1 2 3 1844674407370'"},
	{"cpu", "proc/stat", TEXT("cpu  1 2 3 4 5 6 7 8x 9 10\n"),
	 "!proc/stat:1: expected times of all CPUs, got 'cpu  1 2 3 4 5 6 7 8x 9 '"},
	{"cpu", "proc/stat", TEXT("cpu \0001 2 3 4\n"),
	 "!proc/stat:1: expected times of all CPUs, got 'cpu \\x001 2 3 4'"},
	{"steal", "proc/stat", TEXT("cpu  1 2 3 4 5 6 7 8 9 10\n"),
	 "user_ticks=3 kernel_ticks=16 idle_ticks=4 iowait_ticks=5 steal_ticks=8"},
	{"steal", "proc/stat", TEXT("intr 1\n"),
	 "!proc/stat:1: expected the line 'cpu', got 'intr 1'"},

	/* core: numbers may have gaps, one bad line does not drop the others */
	{"core", "proc/stat",
	 TEXT("cpu  330 0 0 3270\ncpu0 110 0 0 1090\ncpu1 110 0 0 1090\ncpu3 110 0 0 1090\nintr 7\n"),
	 "cpu0#0 user_ticks=110 kernel_ticks=0 idle_ticks=1090 iowait_ticks=0 steal_ticks=0; "
	 "cpu1#1 user_ticks=110 kernel_ticks=0 idle_ticks=1090 iowait_ticks=0 steal_ticks=0; "
	 "cpu3#3 user_ticks=110 kernel_ticks=0 idle_ticks=1090 iowait_ticks=0 steal_ticks=0"},
	{"core", "proc/stat", TEXT("cpu  9 9 9 9\ncpu0 1 -2 3 4 5\ncpu127 1 2 3 4 5 6 7 8 9 10\n"),
	 "cpu0#0; cpu127#127 user_ticks=3 kernel_ticks=16 idle_ticks=4 iowait_ticks=5 steal_ticks=8"},
	{"core", "proc/stat", TEXT("cpu  9 9 9 9\nctxt 1\ncpu0 1 2 3 4\n"), ""},
	{"core", "proc/stat", TEXT(""), ""},
	{"core", "proc/stat", TEXT("cpu  9 9 9 9\ncpu 1 1 1 1\ncpu0\ncpu4294967296 1 2 3 4\ncpux 1 2 3 4\n"),
	 "!proc/stat:3: expected times of a CPU, got 'cpu0'"},

	/* memory */
	{"memory", "proc/meminfo",
	 TEXT("MemTotal:       24684100 kB\nMemFree:        24149132 kB\nMemAvailable:   24317916 kB\n"
	      "Buffers:            3976 kB\nCached:           352460 kB\nSwapCached:            0 kB\n"),
	 "total_bytes=25276518400 available_bytes=24901545984 buffers_bytes=4071424 "
	 "cached_bytes=360919040 used_bytes=374972416"},
	{"memory", "proc/meminfo", /* before 3.14: no MemAvailable, so nothing used either */
	 TEXT("MemTotal: 100 kB\nMemFree: 50 kB\nBuffers: 3 kB\nCached: 4 kB\nSwapCached: 9 kB\n"),
	 "total_bytes=102400 buffers_bytes=3072 cached_bytes=4096"},
	{"memory", "proc/meminfo", /* another order, CRLF, no last newline */
	 TEXT("SwapCached: 9 kB\r\nCached: 4 kB\r\nBuffers: 3 kB\r\nMemTotal: 1 kB\r\nMemAvailable: 1 kB"),
	 "total_bytes=1024 available_bytes=1024 buffers_bytes=3072 cached_bytes=4096 used_bytes=0"},
	{"memory", "proc/meminfo", /* one bad field leaves the others */
	 TEXT("MemTotal: 18014398509481984 kB\nMemAvailable: -1 kB\nBuffers: 3\nCached: 4 kB\n"),
	 "cached_bytes=4096"},
	{"memory", "proc/meminfo", TEXT("MemTotal: 1 MB\nCached: 1 kB x\nBuffers: 3 kB\n"),
	 "buffers_bytes=3072"},
	{"memory", "proc/meminfo", TEXT("MemTotal: 1 kB\nMemAvailable: 2 kB\n"),
	 "total_bytes=1024 available_bytes=2048"},
	{"memory", "proc/meminfo", TEXT("MemTotal: 1 kB\nMemTotal: 2 kB\n"), "total_bytes=1024"},
	{"memory", "proc/meminfo", TEXT("MemTotal\nMemTotal:\n\nCached:1kB\n"),
	 "!proc/meminfo:2: expected a number in its unit, got ''"},
	{"memory", "proc/meminfo", TEXT("MemTotal: 99999999999999999999 kB\n"),
	 "!proc/meminfo:1: expected a number in its unit, got '99999999999999999999 kB'"},
	{"memory", "proc/meminfo", TEXT("\0\0\0"),
	 "!proc/meminfo: expected a line 'MemTotal:', got none"},
	{"memory", "proc/meminfo", TEXT(""), "!proc/meminfo: empty"},

	/* swap */
	{"swap", "proc/meminfo",
	 TEXT("MemTotal: 9 kB\nSwapTotal: 2097148 kB\nSwapFree: 2097100 kB\nDirty: 2 kB\n"
	      "Writeback: 3 kB\nAnonPages: 1 kB\nShmem: 4 kB\nSlab: 5 kB\nWritebackTmp: 8 kB\n"),
	 "swap_total_bytes=2147479552 swap_free_bytes=2147430400 dirty_bytes=2048 writeback_bytes=3072 "
	 "shmem_bytes=4096 slab_bytes=5120 swap_used_bytes=49152"},
	{"swap", "proc/meminfo", TEXT("SwapTotal: 0 kB\nSwapFree: 1 kB\nSlab: x kB\n"),
	 "swap_total_bytes=0 swap_free_bytes=1024"},
	{"swap", "proc/meminfo", TEXT("Slab: kB\n"),
	 "!proc/meminfo:1: expected a number in its unit, got 'kB'"},

	/* kernel: a vendor's kernel prints a negative count of forks */
	{"kernel", "proc/stat",
	 TEXT("cpu  92 38 84 447 22 0 3 0 0 0\nintr 8885 17 0\nctxt 38014\nbtime 1600000000\n"
	      "processes -2049\nprocs_running 1\nprocs_blocked 0\nsoftirq 50 1 2\n"),
	 "interrupts_count=8885 context_switches_count=38014 procs_running_count=1 "
	 "procs_blocked_count=0"},
	{"kernel", "proc/stat", TEXT("intr 5\nctxt 6\nprocesses 18446744073709551615\nfuture 1 2 3\n"),
	 "interrupts_count=5 context_switches_count=6 forks_count=18446744073709551615"},
	{"kernel", "proc/stat", TEXT("ctxt 6 7\nintr\n"),
	 "!proc/stat:1: expected a number in its unit, got '6 7'"},

	/* pressure: 'full' of CPUs came with 5.13; the averages are not read */
	{"pressure", "proc/pressure/cpu", TEXT("some avg10=2.53 avg60=0.98 avg300=0.29 total=4325776\n"),
	 "cpu_some_us=4325776"},
	{"pressure", "proc/pressure/cpu",
	 TEXT("some avg10=0.00 avg60=0.00 avg300=0.00 total=1\nfull total=2 future=3\nmost total=4\n"),
	 "cpu_some_us=1 cpu_full_us=2"},
	{"pressure", "proc/pressure/cpu", TEXT("some avg10=1,50 total=-1\nsome total=\n"),
	 "!proc/pressure/cpu:1: expected a line with total=, got 'some avg10=1,50 total=-1'"},
	{"pressure", "proc/pressure/memory", TEXT("some total=5\r\nfull total=18446744073709551616\r\n"),
	 "memory_some_us=5"},
	{"pressure", "proc/pressure/memory", TEXT(""),
	 "!proc/pressure/memory:1: expected a line with total=, got ''"},
	{"pressure", "proc/pressure/io", TEXT("full total=18446744073709551615\nsome total=6"),
	 "io_some_us=6 io_full_us=18446744073709551615"},
	{"pressure", "proc/pressure/io", TEXT("total=5\nsome\n"),
	 "!proc/pressure/io:1: expected a line with total=, got 'total=5\\nsome\\n'"},

	/* net: the number may stick to the name */
	{"net", "proc/net/dev",
	 TEXT("Inter-|   Receive                    |  Transmit\n"
	      " face |bytes    packets errs drop fifo frame compressed multicast|bytes packets errs\n"
	      "    lo:    3267      29    0    0    0     0          0         0     3267      29    0    "
	      "0    0     0       0          0\n"
	      "eth0:41891223 995 1 2 3 4 5 6 46251 576 7 8 9 10 11 12 13\n"),
	 "lo#0 rx_bytes=3267 rx_packets=29 rx_errors=0 rx_drops=0 tx_bytes=3267 tx_packets=29 "
	 "tx_errors=0 tx_drops=0; eth0#0 rx_bytes=41891223 rx_packets=995 rx_errors=1 rx_drops=2 "
	 "tx_bytes=46251 tx_packets=576 tx_errors=7 tx_drops=8"},
	{"net", "proc/net/dev",
	 TEXT("eth0:1: 1 -2 x 18446744073709551616 5 6 7 8 9 10 11 12 13 14 15 16\r\nwl: 1 2\n: 1\n"),
	 "eth0:1#0 rx_bytes=1 tx_bytes=9 tx_packets=10 tx_errors=11 tx_drops=12; wl#0"},
	{"net", "proc/net/dev", TEXT("Inter-|\n face |\n"), ""},
	{"net", "proc/net/dev", TEXT("a|b\n lo: 1 2 3\n"),
	 "!proc/net/dev:2: expected counters of an interface, got ' lo: 1 2 3'"},

	/* disk: 11 columns, 15 since 4.18, 17 since 5.5, 4 of a partition before 2.6.25 */
	{"disk", "proc/diskstats",
	 TEXT("   8       0 sda 10 0 18446744073709551000 4294967290 20 0 160 9 0 100 200\n"),
	 "sda#8388608 read_requests=10 read_sectors=18446744073709551000 write_requests=20 "
	 "write_sectors=160 busy_ms=100 weighted_ms=200"},
	{"disk", "proc/diskstats", TEXT(" 259 0 nvme0n1 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15\n"),
	 "nvme0n1#271581184 read_requests=1 read_sectors=3 write_requests=5 write_sectors=7 busy_ms=10 "
	 "weighted_ms=11 discard_sectors=14"},
	{"disk", "proc/diskstats",
	 TEXT(" 254 0 vda 31094 8542 3047730 8056 5872 7193 626864 1562 0 5544 9865 4294 37 113288 213 "
	      "960 32\n 8 1 sda1 11 22 33 44\n 104 0 cciss/c0d0 1 2 3 4 5 6 7 8 9 10 11\r\n"),
	 "vda#266338304 read_requests=31094 read_sectors=3047730 write_requests=5872 "
	 "write_sectors=626864 busy_ms=5544 weighted_ms=9865 discard_sectors=113288 flush_requests=960; "
	 "sda1#8388609 read_requests=11 read_sectors=22 write_requests=33 write_sectors=44; "
	 "cciss/c0d0#109051904 read_requests=1 read_sectors=3 write_requests=5 write_sectors=7 "
	 "busy_ms=10 weighted_ms=11"},
	{"disk", "proc/diskstats", /* one bad number, columns to come, too few columns */
	 TEXT(" 8 0 sda 1 2 x 4 5 6 -7 8 9 10 11 12 13 14 15 16 17 18 19\n 8 16 sdb 1 2 3 4 5\n"),
	 "sda#8388608 read_requests=1 write_requests=5 busy_ms=10 weighted_ms=11 discard_sectors=14 "
	 "flush_requests=16; sdb#8388624"},
	{"disk", "proc/diskstats", TEXT(""), ""}, /* a container without devices */
	{"disk", "proc/diskstats", TEXT("\n8 0\n4096 0 sda 1 2 3 4\n 8 0 sda 1 2 3\n"),
	 "!proc/diskstats:1: expected numbers of a device, got ''"},
	{"disk", "proc/diskstats", TEXT("8 0 sda 1 2 3 4 5 6 7 8 9 10"),
	 "!proc/diskstats:1: expected numbers of a device, got '8 0 sda 1 2 3 4 5 6 7 8 '"},
	{"disk", "sys/class/block/%s/inflight", TEXT("       0        3\n"),
	 "read_inflight=0 write_inflight=3"},
	{"disk", "sys/class/block/%s/inflight", TEXT("1 -1"), "read_inflight=1"},
	{"disk", "sys/class/block/%s/inflight", TEXT("\n"),
	 "!inflight:1: expected two numbers of requests, got '\\n'"},

	/* process */
	{"process", "statm", TEXT("765 432 404 5 0 123 0\n"),
	 "vms_bytes=3133440 rss_bytes=1769472 in_exec=0"},
	{"process", "statm", TEXT("34 1 0 0 0 34 0\n"), "vms_bytes=139264 rss_bytes=4096 in_exec=1"},
	{"process", "statm", TEXT("34 1 0 0 0 0 0\n"), "vms_bytes=139264 rss_bytes=4096 in_exec=0"},
	{"process", "statm", TEXT("34 1\n"), "vms_bytes=139264 rss_bytes=4096 in_exec=0"},
	{"process", "statm", TEXT("0 0 0 0 0 0 0\n"), "~ vms_bytes=0 rss_bytes=0 in_exec=0"}, /* a zombie */
	{"process", "statm", TEXT("18446744073709551615 432\r\n"), "rss_bytes=1769472 in_exec=0"},
	{"process", "statm", TEXT(""), "!statm: empty"},
	{"process", "statm", TEXT("x -1 5\n"), "!statm:1: expected numbers of pages, got 'x -1 5\\n'"},
	{"process", "status",
	 TEXT("Name:\tRssShmem:\\n\nVmRSS:\t    1708 kB\nRssAnon:\t 9 kB\nRssShmem:\t       8 kB\n"),
	 "shared_bytes=8192"},
	{"process", "status", TEXT("Name:\tkthreadd\nState:\tS (sleeping)\nThreads:\t1\n"), ""},
	{"process", "status", TEXT("RssShmem:\t 8 pages\n"),
	 "!status:1: expected a number in its unit, got '8 pages'"},

	/* process_detail: the largest limits and signals, a dying process with 2^64-1 threads */
	{"process_detail", "stat",
	 TEXT("1 (svc) S 0 1 1 0 -1 1077944576 4345 0 1 0 13 17 0 0 20 0 5 0 346180303 732237824 2193 "
	      "18446744073709551615 4194304 9876697 140737276107232 0 0 0 0 0 2143420159 "
	      "18446744073709551615 0 0 17 4 0 0 1 0 0\n"),
	 "user_ns=130000000 kernel_ns=170000000 minor_faults_count=4345 major_faults_count=1 "
	 "threads_count=5 "
	 "reaped_ns=0"},
	{"process_detail", "stat",
	 TEXT("61 (x) Z 1 61 61 0 -1 4194560 1 0 0 0 7 3 0 0 20 0 18446744073709551615 0 55 0 0 1 0\n"),
	 "user_ns=70000000 kernel_ns=30000000 minor_faults_count=1 major_faults_count=0 "
	 "reaped_ns=0"},
	{"process_detail", "stat",
	 TEXT("5 (a) R 1 5 5 0 -1 0 x 0 0 0 18446744073709551615 3 0 0 20 0 1 0 55 0 0\n"),
	 "kernel_ns=30000000 major_faults_count=0 threads_count=1 reaped_ns=0"},
	{"process_detail", "stat", TEXT("5 (a) R 1 5 5 0 -1 0 1 0 0 0 7 3 0 0 20 0 1 0 55"),
	 "!stat:1: expected at least 23 columns, got ' 1 5 5 0 -1 0 1 0 0 0 7 '"},
	{"process_detail", "status",
	 TEXT("VmSwap:\t       4 kB\nThreads:\t1\nvoluntary_ctxt_switches:\t12\n"
	      "nonvoluntary_ctxt_switches:\t3\n"),
	 "swap_bytes=4096 voluntary_count=12 involuntary_count=3"},
	{"process_detail", "status", TEXT("nonvoluntary_ctxt_switches:\t3 kB\n"),
	 "!status:1: expected a number in its unit, got '3 kB'"},
	{"process_detail", "smaps_rollup",
	 TEXT("5611f0ca0000-7ffcbeb4b000 ---p 00000000 00:00 0   [rollup]\nRss: 1708 kB\nPss: 336 kB\n"),
	 "pss_bytes=344064"},
	{"process_detail", "smaps_rollup", TEXT(""), "!smaps_rollup: empty"},

	/* thread */
	{"thread", "schedstat", TEXT("148361279 2083456 123\n"),
	 "run_ns=148361279 wait_ns=2083456 slices_count=123"},
	{"thread", "schedstat", TEXT("18446744073709551615 0 0 7\n"),
	 "run_ns=18446744073709551615 wait_ns=0 slices_count=0"},
	{"thread", "schedstat", TEXT("5 x 1\n"), "run_ns=5 slices_count=1"},
	{"thread", "schedstat", TEXT("18446744073709551616\n"),
	 "!schedstat:1: expected nanoseconds and a number of slices, got '18446744073709551616\\n'"},
	{"thread", "schedstat", TEXT(""), "!schedstat: empty"},

	/* process_io */
	{"process_io", "io",
	 TEXT("rchar: 6976\nwchar: 1\nsyscr: 10\nsyscw: 0\nread_bytes: 2\nwrite_bytes: 3\n"
	      "cancelled_write_bytes: 4\n"),
	 "total_rchar_bytes=6976 total_wchar_bytes=1 total_read_bytes=2 total_write_bytes=3 "
	 "total_cancelled_write_bytes=4"},
	{"process_io", "io", TEXT("rchar: 18446744073709551615\nwchar: -1\nfuture: 7\n"),
	 "total_rchar_bytes=18446744073709551615"},
	{"process_io", "io", TEXT("rchar: 1.5\n"),
	 "!io:1: expected a number in its unit, got '1.5'"},
	{"process_io", "task/%u/io", TEXT("rchar: 5\nwchar: 1\nwrite_bytes: 3\n"),
	 "main_rchar_bytes=5 main_wchar_bytes=1 main_write_bytes=3"},
	{"process_io", "task/%u/io", TEXT(""), "!task io: empty"},
	{"process_io", "stat",
	 TEXT("1 (svc) S 0 1 1 0 -1 0 4345 10 1 20 13 17 3 4 20 0 5 0 346180303 732237824 2193\n"),
	 "reaped_mark=37 threads_count=5"},
	{"process_io", "stat", /* one that cannot be read: no mark is better than a wrong one */
	 TEXT("1 (svc) S 0 1 1 0 -1 0 4345 x 1 20 13 17 3 4 20 0 5 0 346180303 732237824 2193\n"), ""},
	{"process_io", "stat", TEXT("1 (svc) S 0 1"),
	 "!stat:1: expected at least 23 columns, got ' 0 1'"},
};
