"""What galvo doctor finds out really changes: other users, capabilities, namespaces, hidepid, masks."""
import json
import os
import platform
import shutil
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from harness import (  # noqa: E402
    GALVO, Skip, main, need, run, same, start, test, wait_until,
)

NOBODY = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]


def need_root():
    if os.geteuid() != 0:
        raise Skip("only root can become somebody else")
    need("setpriv")


def doctor(*before, program=None):
    """Its findings by id; the working directory is open to everybody."""
    os.chmod(".", 0o777)
    done = run(*before, program or GALVO, "doctor", "--json")
    if done.returncode not in (0, 1):
        raise Skip("%s: %s" % (" ".join(before), done.stderr.decode().strip()))
    page = json.loads(done.stdout)
    same(page["hindered"], done.returncode == 1)
    return {f["id"]: f for f in page["findings"]}


def verdicts(findings, *ids):
    return [findings[i]["verdict"] for i in ids]


def in_namespaces(*options):
    need("unshare")
    done = run("unshare", *options, "true")
    if done.returncode:
        raise Skip("unshare %s: %s" % (" ".join(options), done.stderr.decode().strip()))
    return ["unshare", *options]


def a_program():
    """A copy of galvo that everybody may start, where file capabilities count."""
    os.chmod(".", 0o755)
    shutil.copy(GALVO, "galvo")
    os.chmod("galvo", 0o755)
    return os.path.abspath("galvo")


@test
def an_ordinary_user_sees_less_than_root():
    need_root()
    root, nobody = doctor(), doctor(*NOBODY, program=a_program())
    same(verdicts(root, "process-io", "priority"), ["yes", "yes"])
    same(verdicts(nobody, "process-io", "priority"), ["no", "no"])
    assert "of user 0, is closed to us" in nobody["process-io"]["found"], nobody["process-io"]
    assert nobody["process-io"]["meaning"] and "setcap" in nobody["process-io"]["remedy"]
    same(verdicts(nobody, "own-files", "process-clock", "process-list"), ["yes", "yes", "yes"])


@test
def one_capability_alone_does_not_open_io():
    need_root()
    for caps, verdict, words in (
            ("+sys_ptrace", "no", "CAP_DAC_READ_SEARCH"), ("+dac_read_search", "no", "CAP_SYS_PTRACE"),
            ("+sys_ptrace,+dac_read_search", "yes", "could be read")):
        found = doctor(*NOBODY, "--inh-caps", caps, "--ambient-caps", caps, program=a_program())
        same((caps, found["process-io"]["verdict"]), (caps, verdict))
        assert words in found["process-io"]["found"], found["process-io"]
        same(found["secure-exec"]["verdict"], "yes")  # ambient ones are nothing that was gained


def set_capabilities(caps, program):
    need("setcap")
    done = run("setcap", caps, program)
    if done.returncode:
        raise Skip("setcap: " + done.stderr.decode().strip())


@test
def one_remedy_is_all_that_is_to_be_done():
    need_root()
    program = a_program()
    set_capabilities("cap_net_bind_service=ep", program)
    before = doctor(*NOBODY, program=program)
    if before["secure-exec"]["verdict"] == "yes":
        raise Skip("the file system here has no use for file capabilities (nosuid)")
    able = verdicts(doctor(), "proc-connector", "taskstats")
    lacking = [f for f in before.values() if f["remedy"] and "setcap" in f["remedy"]]
    assert before["process-io"] in lacking, lacking
    assert "setcap -r" not in before["secure-exec"]["remedy"], before["secure-exec"]
    remedy, = {f["remedy"] for f in lacking}
    caps, path = remedy.replace("sudo setcap ", "").split(" ")
    assert "cap_net_bind_service" in caps and path == program, remedy
    set_capabilities(caps, path)
    after = doctor(*NOBODY, program=program)
    same(after["process-io"]["verdict"], "yes")
    same(verdicts(after, "proc-connector", "taskstats"), able)
    same([f for f in after.values() if f["remedy"] and "setcap" in f["remedy"]], [])


@test
def file_capabilities_open_io_and_take_the_library_path():
    need_root()
    program = a_program()
    set_capabilities("cap_sys_ptrace,cap_dac_read_search=ep", program)
    found = doctor(*NOBODY, program=program)
    if found["secure-exec"]["verdict"] == "yes":
        raise Skip("the file system here has no use for file capabilities (nosuid)")
    same(verdicts(found, "process-io", "secure-exec"), ["yes", "partly"])
    assert "file capabilities" in found["secure-exec"]["found"], found["secure-exec"]
    assert "setcap -r" not in found["secure-exec"]["remedy"], found["secure-exec"]
    os.mkdir("open")
    os.chmod("open", 0o777)
    done = run(*NOBODY, program, "record", "-q", "-o", "open/r", "--", "sh", "-c", "echo \"<$LD_LIBRARY_PATH>\"",
               env={**os.environ, "LD_LIBRARY_PATH": "/nowhere"})
    same((done.returncode, done.stdout), (0, b"<>\n"))  # as the meaning of secure-exec has it


@test
def a_pid_namespace_is_told():
    need_root()
    found = doctor(*in_namespaces("--pid", "--fork", "--mount-proc"))
    same(found["pid-namespace"]["verdict"], "partly")
    same(verdicts(found, "own-files", "process-clock", "pidfd"), ["yes", "yes", "yes"])
    same(found["proc-connector"]["verdict"], "no")
    assert "initial namespace" in found["proc-connector"]["found"], found["proc-connector"]
    same(doctor()["pid-namespace"]["verdict"], "yes")


@test
def a_proc_of_another_namespace_is_told():
    need_root()
    found = doctor(*in_namespaces("--pid", "--fork"))
    same(verdicts(found, "pid-namespace", "own-files", "process-clock", "pidfd"),
         ["no", "no", "partly", "partly"])
    for name in ("pid-namespace", "own-files", "process-clock", "pidfd"):
        assert "none can be followed" in found[name]["meaning"], found[name]
        assert found[name]["remedy"].startswith("mount -t proc proc /proc"), found[name]
    assert "where this process is " in found["pid-namespace"]["found"], found["pid-namespace"]
    found = doctor(*in_namespaces("--pid", "--fork", "--mount"), "sh", "-c",
                   "mount -t proc proc /proc && exec \"$@\"", "sh")
    same(verdicts(found, "pid-namespace", "own-files", "process-clock", "pidfd"),
         ["partly", "yes", "yes", "yes"])


@test
def without_a_proc_nothing_is_made_up():
    need_root()
    before = in_namespaces("--mount")
    found = doctor(*before, "sh", "-c", "mount -t tmpfs none /proc && exec \"$@\"", "sh")
    same(verdicts(found, "own-files", "priority", "process-io", "cgroup", "yama", "pid-namespace", "lxcfs"),
         ["no", doctor()["priority"]["verdict"], "unknown", "unknown", "unknown", "unknown", "unknown"])
    said = json.dumps(found)
    assert "psi=" not in said and "is missing" not in said.replace("I/O is missing", ""), said
    if not os.path.exists("/proc/pressure/cpu"):
        raise Skip("there is no pressure to be masked")
    found = doctor(*before, "sh", "-c", "mount -t tmpfs none /proc/pressure && exec \"$@\"", "sh")
    same(found["pressure"]["verdict"], "no")
    assert "systempaths=unconfined" in found["pressure"]["remedy"], found["pressure"]


@test
def the_hard_limit_of_descriptors_counts():
    found = doctor("sh", "-c", "ulimit -Sn 64 && ulimit -Hn 1000 && exec \"$@\"", "sh")
    same(found["descriptors"]["verdict"], "yes")
    same(found["descriptors"]["found"], "1000, the hard limit: enough for 250 processes at once")
    found = doctor("sh", "-c", "ulimit -n 64 && exec \"$@\"", "sh")
    same(found["descriptors"]["found"], "64, the hard limit: enough for 16 processes at once")


@test
def how_descendants_were_found_is_said_once():
    need_root()
    same(run(*in_namespaces("--pid", "--fork", "--mount-proc"), GALVO, "record", "-q", "-o", "r", "--", "true").returncode, 0)
    text = run(GALVO, "report", "r").stdout.decode()
    same((text.count("descendants were looked for every"), text.count("proc-connector")), (1, 0))
    kept = {f["id"]: f["need"] for f in json.loads(run(GALVO, "report", "--json", "r").stdout)["situation"]}
    same(kept["proc-connector"], "none")


@test
def a_user_namespace_is_told():
    need_root()
    found = doctor(*in_namespaces("--user"), program=a_program())
    same(found["user-namespace"]["verdict"], "partly")
    same(doctor()["user-namespace"]["verdict"], "yes")


@test
def hidepid_is_told_to_whom_it_concerns():
    need_root()
    if tuple(int(n) for n in platform.release().split("-")[0].split(".")[:2]) < (5, 8):
        raise Skip("before 5.8 a second proc changes the first one")
    script = "mount -t proc -o hidepid=2%s proc /proc && exec \"$@\""
    before = in_namespaces("--mount")
    program = a_program()
    hidden = [*before, "sh", "-c", script % "", "sh"]
    found = doctor(*hidden, *NOBODY, program=program)
    same(found["process-list"]["verdict"], "no")
    assert "hidepid=2" in found["process-list"]["found"], found["process-list"]
    same(verdicts(found, "own-files", "process-clock"), ["yes", "yes"])  # the clock knows no hidepid
    same(doctor(*hidden)["process-list"]["verdict"], "yes")
    found = doctor(*before, "sh", "-c", script % ",gid=65534", "sh", *NOBODY, program=program)
    same(found["process-list"]["verdict"], "yes")


@test
def a_mask_over_a_file_is_told():
    need_root()
    with open("mask", "w"):
        pass
    script = "mount --bind mask /proc/%s && exec \"$@\""
    before = in_namespaces("--mount")
    found = doctor(*before, "sh", "-c", script % "diskstats", "sh")
    same(verdicts(found, "masked-files", "lxcfs"), ["partly", "partly"])
    assert found["masked-files"]["found"].startswith("proc/diskstats"), found["masked-files"]
    found = doctor(*before, "sh", "-c", script % "timer_list", "sh")
    same(found["masked-files"]["verdict"], "yes")


@test
def a_recording_keeps_what_it_could_not_see():
    need_root()
    program = a_program()
    os.mkdir("open")
    os.chmod("open", 0o777)
    busy = start("setpriv", "--reuid", "1", "--regid", "1", "--clear-groups", "sh", "-c",
                 "while :; do cat /proc/self/maps >/dev/null; done", start_new_session=True)
    try:
        wait_until(lambda: os.stat("/proc/%d" % busy.pid).st_uid == 1, "it is somebody else")
        done = run(*NOBODY, program, "record", "-q", "-o", "open/r", "--for", "500ms", "-p", busy.pid)
        same(done.returncode, 0)
    finally:
        os.killpg(busy.pid, signal.SIGKILL)
        busy.wait()
    page = json.loads(run(GALVO, "report", "--json", "open/r").stdout)
    kept = {f["id"]: f for f in page["situation"]}
    assert all(f["verdict"] in ("no", "partly", "unknown") for f in kept.values()), kept
    assert all(kept["process-io"].values()) and kept["process-io"]["verdict"] == "no", kept
    assert "nvidia-libraries" not in kept and "bpf" not in kept, kept
    source, = [s for s in page["sources"] if s["name"] == "process_io"]
    assert source["failures"] > 0 and 0 <= source["first_failure_s"] < 0.5, source
    note, = [n for n in page["not_recorded"] if n["subject"] == "process_io"]
    same((note["count"], note["first_failure_s"]), (source["failures"], source["first_failure_s"]))
    shell, = [p for p in page["processes"] if p["pid"] == busy.pid]
    assert all(shell[key] is None for key in shell if key.startswith(("read_", "rchar", "write_"))), shell
    assert shell["cpu_s"] > 0, shell
    text = " ".join(run(GALVO, "report", "open/r").stdout.decode().split())
    assert "source process_io: process " in text and " times, from " in text, text
    assert " process-io: proc/1/io" in text, text


@test
def a_child_of_ones_own_is_no_denial():
    """Short ones die between two looks: nothing of that is a matter of permissions."""
    need_root()
    program = a_program()
    os.mkdir("open")
    os.chmod("open", 0o777)
    same(run(*NOBODY, program, "record", "-q", "-o", "open/r", "--", "sh", "-c",
             "i=0; while [ $i -lt 300 ]; do cat /dev/null; i=$((i + 1)); done").returncode, 0)
    page = json.loads(run(GALVO, "report", "--json", "open/r").stdout)
    same([n for n in page["not_recorded"] if n["kind"] == "source"], [])


if __name__ == "__main__":
    main()
