"""Reads what galvo wrote with Google's protobuf and compares every value. Exits 77 without it."""
import math
import os
import re
import subprocess
import sys
import tempfile
import zlib

try:
    import google.protobuf  # noqa: F401
    subprocess.run(["protoc", "--version"], check=True, stdout=subprocess.DEVNULL)
except (ImportError, OSError):
    print("skipped: python3-protobuf or protoc is not installed")
    sys.exit(77)

WRITER, PROTO = sys.argv[1:3]
NAMES = ["metric_catalog", "metric_sample", "system_metrics", "disk_metrics", "events",
         "gpu_metrics", "gpu_telemetry", "session_metadata"]


def messages(path):
    """The messages of a stream: [varint length][message] and so on."""
    data = open(path, "rb").read()
    at = 0
    while at < len(data):
        length = shift = 0
        while True:
            byte = data[at]
            at += 1
            length |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
        yield data[at:at + length]
        at += length


def protoc_decode(kind, message):
    """The text that protoc makes of it; a number where a name should be is a field it lacks."""
    text = subprocess.run(
        ["protoc", "--proto_path", PROTO, "--decode", "galvo." + kind[0], kind[1] + ".proto"],
        input=message, check=True, stdout=subprocess.PIPE).stdout.decode()
    assert text and not re.search(r"^\s*\d+:", text, re.M), text
    return text


def line(file, field, row):
    number = getattr(row, "pid", 0)
    name = getattr(row, "device_name", "").replace("\ufffd", "\\xff")
    values = ["nan" if math.isnan(v) else v for v in row.values]
    return (file, field, row.timestamp_ns, number, "[%s]" % name, *values)


def event_lines(m):
    """An EventTrace in the lines of the writer."""
    assert m.metadata.hostname == "host" and m.metadata.format_major == 1
    assert [b.domain for b in m.buffers] == [1, 2]
    for r in m.buffers[0].regions:
        yield "events region %d %d %d %d %d %d %d %s" % (
            r.id, r.start_timestamp_ns, r.end_timestamp_ns, r.unfinished, r.begin_thread,
            r.end_thread, r.pid, r.name.hex() or "-")
    a = m.metadata.anchors
    for b in m.buffers:
        ahead = (a.cupti_reference_ns - a.steady_clock_reference_ns) if b.domain == 2 else 0
        for e in b.events:
            yield "events event %d %d %d %d %d %d %s" % (
                b.domain, e.timestamp_ns - ahead, e.thread, e.pid, e.error_ns, e.stream,
                e.name.hex() or "-")
    for r in m.open_regions:
        yield "events open %d %d %d %d %d %s" % (
            r.id, r.start_timestamp_ns, r.begin_thread, r.pid, r.domain, r.name.hex() or "-")
    if m.HasField("gpu_stats"):
        g = m.gpu_stats
        yield "events lost %d %d %d %d %d %s" % (
            g.capturing, g.no_room, g.failed, g.unreached, g.unbound, g.reason)


def check_gpus(run, want, make_counted, make_told):
    """Samples of GPUs, the GPUs, and what became of the samples."""
    got = []
    for kind, make in [(("GPUMetricsTrace", "gpu_metrics"), make_counted),
                       (("GPUTelemetryTrace", "gpu_telemetry"), make_told)]:
        for sequence, raw in enumerate(messages(os.path.join(run, kind[1] + ".pb"))):
            protoc_decode(kind, raw)
            m = make.FromString(raw)
            for field in ("samples", "detail_samples", "process_samples"):
                got += ["gpu %s %d %d %d %d %s" % (
                    field, s.timestamp_ns, s.gpu_index, getattr(s, "pid", 0),
                    getattr(s, "duration_ns", 0), s.values[0].hex())
                    for s in getattr(m, field, [])]
            g = m.tracked_gpus[0]
            assert (g.device_name, g.vendor, g.chip_name, g.uuid, g.pci_address, g.driver_version) \
                == ("Big\ufffd", "nvidia", "GH100", "GPU-1", "0000:3b:00.0", "580.1")
            assert (g.peak_dram_bw_bytes_per_s, g.peak_pcie_bw_bytes_per_s) == (4.8e12, 0)
            assert (g.memory_bytes, g.sm_count, g.warps_per_sm) == (1 << 30, 132, 64)
            assert g.compute_capability_major == 9 and not g.is_instance
            g = m.tracked_gpus[1]
            assert (g.gpu_instance, g.compute_instance) == (3, 4)
            assert (g.foreign_pids, g.lost_timestamp_ns, g.note) == (True, 77, "gone")
            assert g.is_instance == (kind[1] == "gpu_telemetry") and g.parent_index == g.is_instance
            if kind[1] == "gpu_telemetry":
                continue
            d, = m.decode_stats
            assert (d.samples, d.overflows, d.missing_ns, d.interval_ns, d.reason) == (
                3 * (sequence + 1), sequence, 7, 1000000, "so")
            a, h = m.clock_anchors[0], m.header.anchors
            assert h.cupti_reference_ns - a.cupti_reference_ns - (
                h.steady_clock_reference_ns - a.steady_clock_reference_ns) == (
                3600 * 10**9 if sequence == 1 else 0)
    got = [re.sub(r"0x1\.(\w+?)0*p", r"0x1.\1p", s).replace("0x1.0p", "0x1p")
           .replace("0x0.0p+0", "0x0p+0") for s in got]
    assert sorted(got) == sorted(want), (sorted(got), sorted(want))


def check_events(path, want, make):
    """Regions, marks and what stands around them."""
    got = []
    for sequence, raw in enumerate(messages(path)):
        protoc_decode(("EventTrace", "events"), raw)
        m = make.FromString(raw)
        assert raw[-6:-4] == b"\xfd\x07" and m.checksum == zlib.crc32(raw[:-6])
        assert m.metadata.sequence == sequence and len(m.flush_stats) == (sequence > 0)
        got += event_lines(m)
    assert got == want, (got, want)


def told(text):
    """A line of the writer's, in the same form."""
    file, field, at, number, rest = text.split(" ", 4)
    name, values = rest.split("]")
    values = ["nan" if v == "nan" else float.fromhex(v) for v in values.split()]
    return (file, field, int(at), int(number), name.replace("\udcff", "\\xff") + "]", *values)


def check_around(m, file, sequence, previous_size):
    """What stands around the rows."""
    h = m.header
    assert (h.hostname, h.sampling_frequency_hz, h.host_cpu_count) == ("host", 100, 2)
    assert (h.anchors.steady_clock_reference_ns, h.anchors.wall_clock_epoch_ns,
            h.anchors.boot_clock_reference_ns) == (1001 if sequence else 1, 3, 2)
    assert (h.format_major, h.format_minor, h.sequence) == (1, 0, sequence)
    p, = m.tracked_processes
    assert (p.pid, p.ppid, p.start_ticks) == (2**32 - 1, 1, 2**64 - 1)
    assert (p.alias, p.comm, p.command) == ("café", b"a\xff) R", b"a b")
    assert (p.removed, p.root, p.first_timestamp_ns, p.end_timestamp_ns) == (True, True, 1, 2)
    s = m.probe_stats
    assert (s.ticks, s.missed_ticks, s.rejected_values, s.vanished, s.thread_cpu_ns) == (
        11, 12, 13, 14, 15)
    c, = s.sources
    assert (c.name, c.divisor, c.period_ns, c.reads, c.failures, c.calibrated_ns,
            c.mean_read_ns, c.reason, c.first_failure_timestamp_ns,
            c.longest_period_ns) == (
        "cpu", 3, 4, 5, 6, 7, 8, "gone", 9, 10)
    flushes = [(f.flush_byte_size, f.flush_interval_ns) for f in m.flush_stats]
    assert flushes == ([(previous_size, 0)] if sequence else []), flushes
    names = {n.scope: list(n.fqns) for n in m.scope_metric_names}
    if file == "disk":
        assert list(m.tracked_devices) == ["sda\ufffd"]
        d, = m.block_devices
        assert (d.name, d.whole, d.stacked) == ("sda\ufffd", True, True)
        assert names == {2: ["disk__read_bytes.sum.per_second"],
                         3: ["proc__io_rchar.sum.per_second"]}
    else:
        t, = m.threads
        assert (t.pid, t.tid, t.start_ticks, t.first_timestamp_ns, t.end_timestamp_ns,
                t.name) == (2**32 - 1, 7, 8, 9, 10, b"t\xff")
        assert list(names) == [1, 3, 101] and names[1][1] == "mem__used_bytes"


def main():
    with tempfile.TemporaryDirectory() as tmp:
        run = os.path.join(tmp, "run")
        os.mkdir(run)
        said = subprocess.run([WRITER, run], check=True, stdout=subprocess.PIPE).stdout
        said = said.decode(errors="surrogateescape").splitlines()
        events = [s for s in said if s.startswith("events ")]
        gpus = [s for s in said if s.startswith("gpu ")]
        want = [told(s) for s in said if not s.startswith(("events ", "gpu "))]
        subprocess.run(["protoc", "--proto_path", PROTO, "--python_out", tmp] +
                       [n + ".proto" for n in NAMES], check=True)
        sys.path.insert(0, tmp)
        import disk_metrics_pb2
        import events_pb2
        import gpu_metrics_pb2
        import gpu_telemetry_pb2
        import session_metadata_pb2
        import system_metrics_pb2

        got = []
        for file, kind, make in [
                ("system", ("SystemMetricsTrace", "system_metrics"),
                 system_metrics_pb2.SystemMetricsTrace),
                ("disk", ("DiskMetricsTrace", "disk_metrics"),
                 disk_metrics_pb2.DiskMetricsTrace)]:
            size = 0
            for sequence, raw in enumerate(messages(os.path.join(run, kind[1] + ".pb"))):
                protoc_decode(kind, raw)
                m = make.FromString(raw)
                assert raw[-6:-4] == b"\xfd\x07" and m.checksum == zlib.crc32(raw[:-6])
                check_around(m, file, sequence, size)
                size = len(raw) + (1 if len(raw) < 128 else 2)
                for field in [f.name for f in m.DESCRIPTOR.fields]:
                    if field.endswith("_samples"):
                        got += [line(file, field, r) for r in getattr(m, field)]
            assert sequence == 1
        assert sorted(map(repr, got)) == sorted(map(repr, want)), (got, want)

        check_events(os.path.join(run, "events.pb"), events, events_pb2.EventTrace)
        check_gpus(run, gpus, gpu_metrics_pb2.GPUMetricsTrace, gpu_telemetry_pb2.GPUTelemetryTrace)
        raw = open(os.path.join(run, "session_metadata.pb"), "rb").read()
        protoc_decode(("SessionMetadata", "session_metadata"), raw)
        s = session_metadata_pb2.SessionMetadata.FromString(raw)
        assert (s.hostname, s.start_iso8601) == ("h\ufffd", "1970-01-01T00:00:01Z")
        assert (s.stop_timestamp_ns, s.galvo_version, s.budget_pct) == (3, "0.1.0", 0.25)
        assert len(s.catalog.descriptors) == 9
        d = s.catalog.descriptors[0]
        assert (d.fqn, d.entity, d.counter) == (
            "cpu__busy.avg.pct_of_peak_sustained_elapsed", "cpu", "busy"), d
        assert (d.rollup, d.submetric) == ("avg", "pct_of_peak_sustained_elapsed")
        assert (d.type, d.unit, d.scope, d.peak_constant, d.smoothable) == (2, 4, 1, 100, True)
        print("protobuf agrees on %d rows" % len(got))


main()
