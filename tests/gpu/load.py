"""Work for a GPU that changes on demand, and a log of how long each step of it took.

usage: load.py FOLDER [--sleep] [--seconds N] [--mode MODE]

MODE is idle, gemm, copy or train; with --mode there is but that one, for N seconds. Otherwise the file
FOLDER/mode names it, "end" ends. FOLDER/load.log gets "ready PID …", "mode MODE NS" when a mode has
begun, "step MODE END_NS MICROSECONDS", "error …"; NS is CLOCK_MONOTONIC. --sleep: without PyTorch.
"""
import os
import sys
import time


class Log:
    """Lines that are written now and then, as writing them must not be what is measured."""

    def __init__(self, path):
        self.file, self.waiting, self.flushed = open(path, "a", encoding="utf-8"), [], 0.0

    def say(self, line):
        self.waiting.append(line + "\n")
        self.flush()

    def step(self, mode, end_ns, us):
        self.waiting.append("step %s %d %.2f\n" % (mode, end_ns, us))
        if time.monotonic() - self.flushed > 0.2:
            self.flush()

    def flush(self):
        self.file.write("".join(self.waiting))
        self.file.flush()
        self.waiting, self.flushed = [], time.monotonic()


class Sleep:
    """Stands for a GPU where there is none."""

    def prepare(self, mode):
        return lambda: time.sleep(0.002)

    def wait(self):
        pass


class Cuda:
    """The loads, with PyTorch."""

    def __init__(self):
        import torch
        self.torch = torch
        torch.manual_seed(1)
        torch.zeros(1, device="cuda")
        self.pending = []

    def prepare(self, mode):
        self.pending = []
        return getattr(self, mode)()

    def gemm(self):
        torch, n = self.torch, 8192
        a, b = (torch.randn(n, n, device="cuda").to(torch.bfloat16) for _ in range(2))
        out = torch.empty_like(a)

        def step():
            for _ in range(4):
                torch.mm(a, b, out=out)
        return step

    def copy(self):
        a = self.torch.empty(1 << 30, dtype=self.torch.uint8, device="cuda")
        b = self.torch.empty_like(a)

        def step():
            for _ in range(8):
                b.copy_(a)
        return step

    def train(self):
        torch, nn = self.torch, self.torch.nn
        layer = nn.TransformerEncoderLayer(1024, 16, 4096, dropout=0.0, batch_first=True, norm_first=True)
        model = nn.Sequential(nn.Embedding(8192, 1024), nn.TransformerEncoder(layer, 6, enable_nested_tensor=False),
                              nn.Linear(1024, 8192)).cuda()
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
        tokens = torch.randint(0, 8192, (16, 513)).pin_memory()

        def step():
            here = tokens.to("cuda", non_blocking=True)
            with torch.autocast("cuda", dtype=torch.bfloat16):
                guess = model(here[:, :-1])
            loss = nn.functional.cross_entropy(guess.flatten(0, 1).float(), here[:, 1:].flatten())
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
        return step

    def wait(self):
        """For the step before the last one, so that the GPU always has work."""
        event = self.torch.cuda.Event()
        event.record()
        self.pending.append(event)
        if len(self.pending) > 2:
            self.pending.pop(0).synchronize()


def work(load, log, mode, goes_on):
    """Steps of one mode for as long as it is wanted."""
    step = load.prepare(mode)
    for _ in range(5):
        step()
        load.wait()
    last = time.monotonic_ns()
    log.say("mode %s %d" % (mode, last))
    while goes_on():
        step()
        load.wait()
        now = time.monotonic_ns()
        log.step(mode, now, (now - last) / 1e3)
        last = now
    log.flush()


def obey(folder, load, log):
    path = os.path.join(folder, "mode")

    def wanted():
        try:
            with open(path, encoding="utf-8") as file:
                return file.read().strip() or "idle"
        except OSError:
            return "idle"

    seen = ""
    while True:
        mode = wanted()
        if mode == "end":
            return
        if mode == "idle":
            if seen != mode:
                log.say("mode idle %d" % time.monotonic_ns())
            time.sleep(0.02)
        else:
            work(load, log, mode, lambda: wanted() == mode)
        seen = mode


def main(words):
    folder, only, seconds = words[0], None, 3.0
    if "--mode" in words:
        only = words[words.index("--mode") + 1]
    if "--seconds" in words:
        seconds = float(words[words.index("--seconds") + 1])
    log = Log(os.path.join(folder, "load.log" if only is None else "load-%s.log" % only))
    try:
        load = Sleep() if "--sleep" in words else Cuda()
        log.say("ready %d" % os.getpid())
        if only:
            end = time.monotonic() + seconds
            work(load, log, only, lambda: time.monotonic() < end)
        else:
            obey(folder, load, log)
    except Exception as fault:  # who started this reads the log
        log.say("error %s: %s" % (type(fault).__name__, str(fault).replace("\n", " ")[:300]))
        return 1
    return 0


sys.exit(main(sys.argv[1:]))
