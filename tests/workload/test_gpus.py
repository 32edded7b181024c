"""galvo record where there are GPUs, played by doubles of NVIDIA's libraries: DOUBLES is their folder."""
import json
import os
import signal
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from harness import (  # noqa: E402
    GALVO, check, main, one_line, read_messages, rows, run, same, session_of, start, test, wait_until,
)

DOUBLES = os.path.abspath(os.environ["DOUBLES"])
BUSY = "curve sm_mhz shape=constant a=1500\ncurve sm_busy_permille shape=constant a=500\n"
ONE = "scene\ngpu GH100 name=H200 uuid=GPU-aa\n" + BUSY
TWO = ONE + "gpu GA100 name=A100 uuid=GPU-bb\n" + BUSY
CLOCK, ACTIVE = "gpc__cycles_elapsed.avg.per_second", "sm__cycles_active.avg"
BOTH = "--gpu-counters=%s,%s" % (CLOCK, ACTIVE)


def play(scene):
    """The environment of a program that finds these GPUs."""
    with open("scene.txt", "w") as file:
        file.write(scene)
    run(os.path.join(DOUBLES, "scene"), "make", "scene.txt", "scene")
    return dict(os.environ, GALVO_SCENE=os.path.abspath("scene"),
                LD_LIBRARY_PATH=os.path.join(DOUBLES, "lib"))


def record(env, *words, **options):
    # With a budget that a busy machine leaves alone: there would be a line about it.
    return run(GALVO, "record", "-o", "r", "--budget", "100", *words, env=env, **options)


def calls():
    """Who was called how often, and what was done wrong."""
    lines = run(os.path.join(DOUBLES, "scene"), "show", "scene").stdout.decode().splitlines()
    wrong = [line for line in lines if line.startswith("violation")]
    same(wrong, [])
    return {line.split()[1]: int(line.split()[2]) for line in lines if line.startswith("call ")}


def counted(path="r"):
    return read_messages(os.path.join(path, "gpu_metrics.pb"))


def told(path="r"):
    return list(rows(read_messages(os.path.join(path, "gpu_telemetry.pb")), "samples"))


def expect_exact(messages):
    """
    Values as the scene has them, of samples that follow one another, but for holes that are told. How many
    there are of each GPU.
    """
    ends, many, holes, told_holes = {}, {}, {}, {}
    for message in messages:
        same([list(n.fqns) for n in message.scope_metric_names if n.scope == 4], [[CLOCK, ACTIVE]])
        for sample in message.samples:
            seconds = sample.duration_ns / 1e9
            same(list(sample.values), [1.5e9, 1.5e9 * seconds * (0.5 * 0.8)])
            gpu, begin = sample.gpu_index, sample.timestamp_ns - sample.duration_ns
            hole = begin - ends.get(gpu, begin)
            assert hole >= 0, hole
            holes[gpu] = holes.get(gpu, 0) + hole
            ends[gpu] = sample.timestamp_ns
            many[gpu] = many.get(gpu, 0) + 1
        told_holes.update((stats.gpu_index, stats.missing_ns) for stats in message.decode_stats)
    for gpu, hole in holes.items():
        assert hole <= told_holes[gpu], "GPU %d: holes of %d ns, told of %d" % (gpu, hole, told_holes[gpu])
    return many


@test
def telemetry_is_recorded_by_itself():
    env = play(ONE + "curve gpu_pct shape=constant a=40\ncurve power_mw shape=constant a=300000\n")
    done = record(env, "-q", "--gpu-telemetry-hz", "50", "--", "sleep", "0.5")
    same((done.returncode, done.stderr), (0, b""))
    check("r")
    found = told()
    assert len(found) >= 2, found
    for _, gpu, values in found:
        same((gpu, values["gpu__utilization.pct"], values["gpu__power_instant_watts"]), (0, 40, 300))
    probes = {p.kind: (p.output_file, p.sampling_frequency_hz) for p in session_of("r").probes}
    same(probes[100], ("gpu_telemetry.pb", 50))
    assert 1 not in probes and not os.path.exists("r/gpu_metrics.pb"), probes
    assert not [name for name in calls() if name.startswith("cu")], calls()


@test
def gpus_are_left_alone():
    env = play(ONE)
    done = record(env, "-q", "--no-gpu", "--", "true")
    same((done.returncode, done.stderr, calls()), (0, b"", {}))
    same(sorted(n for n in os.listdir("r") if n.startswith("gpu")), [])
    for option in "--gpu-counters", "--gpu-telemetry-hz=5":
        done = record(env, "--no-gpu", option, "--", "true")
        same(done.returncode, 2)
        assert b"--no-gpu leaves GPUs alone: expected it without " + option.split("=")[0].encode() in done.stderr


@test
def a_machine_without_gpus():
    done = record(dict(os.environ, LD_LIBRARY_PATH="/nowhere"), "-q", "--", "true")
    same((done.returncode, done.stderr), (0, b""))
    if not os.path.exists("/dev/nvidiactl"):
        same([n.text for n in session_of("r").notes if "GPU" in n.subject], [])
        assert not os.path.exists("r/gpu_telemetry.pb")


@test
def counters_are_exact():
    env = play(TWO)
    done = record(env, BOTH, "--gpu-hz", "500", "--", "sleep", "0.6")
    same(done.returncode, 0)
    first, last = done.stderr.decode().splitlines()
    assert "it counts cycles: 500 samples a second were asked for" in first + last, done.stderr
    check("r")
    messages = counted()
    many = expect_exact(messages)
    assert set(many) == {0, 1} and many[0] > 100, many
    same([(g.device_index, g.device_name, g.chip_name) for g in messages[-1].tracked_gpus],
         [(0, "H200", "GH100"), (1, "A100", "GA100")])
    for stats in messages[-1].decode_stats:
        same((stats.samples, stats.reason), (many[stats.gpu_index], ""))
    same({s.duration_ns for m in messages for s in m.samples if s.gpu_index == 0}, {2000000})
    session = session_of("r")
    same([(p.output_file, p.sampling_frequency_hz) for p in session.probes if p.kind == 1],
         [("gpu_metrics.pb", 500)])
    column = [d for d in session.catalog.descriptors if d.fqn == ACTIVE]
    same([(d.entity, d.counter, d.rollup, d.scope) for d in column], [("sm", "cycles_active", "avg", 4)])
    calls()


@test
def some_gpus_are_counted_on():
    env = play(TWO)
    for gpus in ("1", "GPU-bb", "GPU-b"):
        same(record(env, "-q", "-f", BOTH, "--gpus", gpus, "--", "sleep", "0.2").returncode, 0)
        same(set(expect_exact(counted())), {1})
    same(record(env, "-q", "-f", BOTH, "--gpus", "GPU-aa,1", "--", "sleep", "0.2").returncode, 0)
    same(set(expect_exact(counted())), {0, 1})


@test
def mistakes_are_told_before_the_workload():
    env = play(TWO)
    for words, said in (
            (["--gpu-counters=sm__cycles_activ.avg"], ("sm__cycles_active.avg",)),
            (["--gpu-counters=" + ACTIVE + ",sm__throughput.avg.pct_of_peak_sustained_elapsed"],
             ("sm__throughput", "pass")),
            (["--gpu-counters", "--gpus", "2"], ("GPU 2 is not there",)),
            (["--gpu-counters", "--gpus", "GPU-c"], ("GPU-c",)),
            (["--gpu-counters", "--gpus", "GPU-"], ("--gpus",)),
            (["--gpu-hz", "10"], ("--gpu-counters",)),
    ):
        done = record(env, *words, "--", "touch", "ran")
        same((done.returncode, len(done.stderr.splitlines())), (2, 1))
        assert all(word in done.stderr.decode() for word in said), done.stderr
        same((os.path.exists("r"), os.path.exists("ran")), (False, False))


@test
def what_cannot_be_counted_is_told_and_the_rest_recorded():
    env = play(ONE + "fault result call=cuptiPmSamplingEnable result=35\n")
    done = record(env, "--gpu-counters", "--", "sh", "-c", "exit 3")
    lines = done.stderr.decode().splitlines()
    same((done.returncode, len(lines)), (3, 2))
    assert "no GPU counters" in lines[0] and "CAP_SYS_ADMIN" in lines[0], lines
    check("r")
    same([n.subject for n in session_of("r").notes if "ADMIN" in n.text], ["GPU counters"])
    same(os.path.exists("r/gpu_metrics.pb"), False)
    same(len(told()) > 0, True)

    env = play(TWO + "fault result call=cuptiPmSamplingEnable result=26 device=0\n")
    done = record(env, "-f", BOTH, "--", "sleep", "0.2")
    lines = done.stderr.decode().splitlines()
    same((done.returncode, len(lines)), (0, 3))
    same(sum("GPU 1: it counts cycles" in line for line in lines), 1)
    assert lines[0].startswith("galvo: GPU 0: ") and "HARDWARE_BUSY" in lines[0], lines
    same(set(expect_exact(counted())), {1})


@test
def the_workload_does_not_wait_for_telemetry():
    env = play(ONE + "fault slow call=nvmlInit_v2 value=3s\n")
    process = start(GALVO, "record", "-q", "-o", "r", "--", "touch", "ran", env=env)
    begun = time.monotonic()
    wait_until(lambda: os.path.exists("ran"), "the workload runs")
    assert time.monotonic() - begun < 2.5
    same(process.wait(), 0)
    check("r")


@test
def a_call_that_hangs_does_not_keep_the_end():
    env = play(TWO + "fault hang call=nvmlDeviceGetUtilizationRates device=0\n")
    begun = time.monotonic()
    done = record(env, "-q", "--", "sleep", "0.3")
    same(done.returncode, 0)
    assert time.monotonic() - begun < 10
    check("r")
    same({gpu for _, gpu, _ in told()}, {1})
    notes = session_of("r").notes
    assert [n.text for n in notes if n.subject.startswith("GPU")], notes


@test
def a_file_asks_for_gpus():
    env = play(TWO)
    with open("c.pbtxt", "w") as file:
        file.write('system { enabled: true } gpu_telemetry { enabled: true output_file: "t.pb" }\n'
                   'gpu { enabled: true device_uuids: "GPU-bb" sampling_frequency_hz: 2000\n'
                   'metrics: ["%s", "%s"] output_file: "gpu_metrics.pb" }' % (CLOCK, ACTIVE))
    same(run(GALVO, "record", "-c", "c.pbtxt", "-q", "-o", "r", "--", "sleep", "0.2", env=env).returncode, 0)
    same(set(expect_exact(counted())), {1})
    same(sorted(os.listdir("r")), ["gpu_metrics.pb", "session_metadata.pb", "system_metrics.pb", "t.pb"])
    check("r")


@test
def a_killed_recorder_leaves_what_it_wrote():
    env = play(TWO)
    with open("c.pbtxt", "w") as file:
        file.write('system { enabled: true } gpu_telemetry { enabled: true flush_interval_ms: 50 }\n'
                   'gpu { enabled: true all_devices: true flush_interval_ms: 50 decode_interval_ms: 20\n'
                   'metrics: ["%s", "%s"] }' % (CLOCK, ACTIVE))
    process = start(GALVO, "record", "-c", "c.pbtxt", "-q", "-o", "r", "--", "sleep", "60", env=env,
                    start_new_session=True)
    wait_until(lambda: os.path.exists("r/session_metadata.pb") and told() and
               os.path.getsize("r/gpu_metrics.pb") > 50000, "some flushes are written")
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    os.killpg(process.pid, signal.SIGKILL)
    done = run(GALVO, "check", "r")
    assert done.returncode in (0, 1), done
    many = expect_exact(counted())
    assert set(many) == {0, 1} and min(many.values()) > 100, many
    assert len(told()) > 0


@test
def counters_flush_as_all_streams_do():
    env = play(ONE)
    process = start(GALVO, "record", "-q", "-o", "r", "--flush", "50ms", BOTH, "--", "sleep", "60", env=env,
                    start_new_session=True)
    wait_until(lambda: os.path.exists("r/gpu_metrics.pb") and len(counted()) > 2 and len(told()) > 0,
               "counters are written")
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    os.killpg(process.pid, signal.SIGKILL)
    with open("r/gpu_metrics.pb", "w"):
        pass
    assert b"gpu_metrics.pb: no samples were written" in run(GALVO, "report", "r").stdout


@test
def a_gpu_has_the_number_of_telemetry():
    env = play("scene\ngpu GH100 name=H200 ordinal=-1\ngpu GH100 name=H200 ordinal=1\n"
               "gpu GH100 name=H200 ordinal=0\n")
    same(record(env, "-q", BOTH, "--", "sleep", "0.3").returncode, 0)
    gpus = json.loads(run(GALVO, "report", "--json", "r").stdout)["gpus"]
    same([(g["index"], g["uuid"][-1]) for g in gpus], [(0, "1"), (1, "2"), (2, "3")])


@test
def a_start_that_hangs_ends_with_a_signal():
    env = play(ONE + "fault hang call=cuInit\n")
    process = start(GALVO, "record", "-o", "r", BOTH, "--", "touch", "ran", env=env)
    wait_until(lambda: "cuInit" in calls(), "the driver is opened")
    process.send_signal(signal.SIGTERM)
    same(process.wait(), -signal.SIGTERM)
    assert not os.path.exists("ran")
    same(record(play(ONE), "-q", BOTH, "--", "true").returncode, 0)


@test
def what_fails_is_told_where_it_was_asked_for():
    env = play(ONE + "fault result call=cuInit result=100\n")
    assert b"no GPU counters: cuInit" in record(env, "-q", BOTH, "--", "true").stderr
    env = play("scene init=18\n" + ONE.split("\n", 1)[1])
    lines = record(env, "-f", "--", "sleep", "1").stderr.splitlines() # its library may come late to it
    same(len([line for line in lines if b"LIB_RM_VERSION_MISMATCH" in line]), 1)
    same(run(GALVO, "report", "r").stdout.count(b"LIB_RM_VERSION_MISMATCH"), 1)


@test
def a_driver_that_hangs_makes_no_recording_longer():
    env = play(ONE + "fault hang call=cuptiPmSamplingDecodeData\n")
    record(env, "-q", BOTH, "--", "sleep", "0.5")
    assert json.loads(run(GALVO, "report", "--json", "r").stdout)["recorded_s"] < 3


@test
def samples_that_are_lost_are_told():
    env = play(ONE + "fault overflow call=cuptiPmSamplingDecodeData value=50 times=20\n")
    said = record(env, BOTH, "--", "sleep", "0.5").stderr
    assert b" % of the samples of hardware counters are lost: the hardware buffer overflowed" in said, said


@test
def the_doctor_knows_a_gpu_that_is_busy():
    env = play(ONE + "fault result call=cuptiPmSamplingEnable result=26\n")
    text = run(GALVO, "doctor", "--json", env=env).stdout.decode()
    line = [part for part in text.splitlines() if '"nvidia-sampling"' in part]
    assert '"verdict": "no"' in line[0] and "tried again" not in line[0] and "not recorded" in line[0], line


@test
def the_doctor_tries_them():
    env = play(ONE)
    done = run(GALVO, "doctor", "--json", env=env)
    text = done.stdout.decode()
    for finding in ("nvidia-telemetry", "nvidia-libraries", "nvidia-sampling", "nvidia-mig"):
        line = [part for part in text.splitlines() if '"%s"' % finding in part]
        assert len(line) == 1 and '"verdict": "yes"' in line[0], (finding, line)
    calls()
    env = play(ONE + "fault result call=nvmlInit_v2 result=18\n"
               "fault result call=cuptiPmSamplingEnable result=35\n")
    text = run(GALVO, "doctor", "--json", env=env).stdout.decode()
    for finding, words in (("nvidia-telemetry", "reload it or reboot"), ("nvidia-sampling", "CAP_SYS_ADMIN")):
        line = [part for part in text.splitlines() if '"%s"' % finding in part]
        assert len(line) == 1 and '"verdict": "no"' in line[0] and words in line[0], (finding, line)


main()
