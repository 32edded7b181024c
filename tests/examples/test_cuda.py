"""The examples in CUDA C where there is no GPU: they say so in one line, and leave nothing behind."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from harness import Skip, main, run, same, test  # noqa: E402

EXAMPLES = os.path.abspath(os.environ["EXAMPLES"])


def without_gpu(name):
    program = os.path.join(EXAMPLES, name)
    if not os.path.exists(program):
        raise Skip(name + " is not built")
    if os.path.exists("/dev/nvidiactl"):
        raise Skip("there may be a GPU")
    done = run(program)
    same((done.returncode, done.stdout), (1, b""))
    lines = done.stderr.decode().splitlines()
    assert len(lines) == 1 and "no NVIDIA GPU here" in lines[0], lines
    same(os.listdir(), [])
    done = run(program, "-x")
    same((done.returncode, done.stdout), (2, b""))
    assert b"usage: " in done.stderr, done.stderr


@test
def gemm_profiling():
    without_gpu("gemm_profiling")


@test
def full_system_profiling():
    without_gpu("full_system_profiling_cuda")


main()
