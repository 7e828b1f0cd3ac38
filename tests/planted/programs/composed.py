"""How a composed program runs: with all its faults, without each of them, and with none, by its own clock."""

import json
import queue
import shutil
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from statistics import mean, median

import host_faults
from clock import Clock

DISTURBED = 0.15
"""Two runs without any fault that differ by more were disturbed by others on the machine."""
UNSTEADY = 0.3
"""So was one whose mean step takes so much more than its usual one and what its faults take in some steps."""
_WARM = 2


class Variant:
    """A program with some of its faults; frameworks' loops ask it what to do differently."""

    def __init__(self, program, faults, clock):
        self.program, self.clock = program, clock
        self.faults = {fault["name"]: fault for fault in faults}
        self.spent = {name: [] for name in self.faults}
        self.stopped = threading.Event()
        self.counts = False

    def size(self, name):
        """0 where the program has not that fault."""
        return self.faults.get(name, {"size": 0})["size"]

    def due(self, name, number):
        """Its size in a step that has the fault, else 0."""
        fault = self.faults.get(name)
        return fault["size"] if fault and (number + 1) % fault["every"] == 0 else 0

    def strike(self, spot, number):
        """What the host does too long there."""
        for name, fault in self.faults.items():
            if fault["spot"] == spot and self.due(name, number):
                self.measured(name, lambda name=name, fault=fault: getattr(host_faults, name)(fault["size"] / 1000))

    def measured(self, name, work):
        """Its result; how long it takes counts as the fault's."""
        began = time.perf_counter()
        answer = work()
        if self.counts:
            self.spent[name].append(time.perf_counter() - began)
        return answer


def decoy(variant, number, mark):
    """What looks like a fault in each step."""
    kind = variant.program["decoy"]
    if kind == "save_checkpoint":
        save_checkpoint()
    elif kind == "small_print":
        f"step {number}: done"
    elif kind == "free_lock":
        with threading.Lock():
            pass
    elif kind == "short_sleep":
        time.sleep(20e-6)
    elif kind == "empty_queue":
        with suppress(queue.Empty):
            queue.Queue().get_nowait()
    elif kind == "large_array":
        bytearray(1 << 16)
    elif kind == "marked_region":
        with mark("evaluate"):
            pass


def save_checkpoint():
    """Does nothing."""


def slow_fetch(stopped):
    """Sleeps all the time, in a thread."""
    while not stopped.wait(0.01):
        pass


def make_ahead(stopped, batches):
    """Batches, as long as there is room."""
    while not stopped.is_set():
        with suppress(queue.Full):
            batches.put(b"batch", timeout=0.01)


def threads(variant):
    """Those of the decoy."""
    kind = variant.program["decoy"]
    if kind == "sleeping_thread":
        return [threading.Thread(target=slow_fetch, args=[variant.stopped], name="slow_fetch")]
    if kind == "prefetch_thread":
        return [threading.Thread(target=make_ahead, args=[variant.stopped, queue.Queue(2)])]
    return []


def run(make, program, faults, folder):
    """Its times by its own clock, milliseconds from step to step; and what its faults took in each step."""
    variant = Variant(program, faults, Clock(folder))
    others = threads(variant)
    for each in others:
        each.start()
    try:
        loop = make(variant)
        loop.turns(_WARM)
        variant.clock = Clock(folder)
        with loop.profile(folder):
            variant.counts = True
            loop.turns(program["steps"])
            variant.counts = False
            if variant.clock.stopped is None:
                variant.clock.stop()
    finally:
        variant.stopped.set()
        for each in others:
            each.join()
    loop.close()
    variant.clock.write()
    periods = json.loads(Path(folder, "measured.json").read_text())["period_ms"]
    return periods, {name: per_step(spent, program["steps"]) for name, spent in variant.spent.items()}


def per_step(spent, steps):
    """Milliseconds that strikes of some seconds take in each step, the one as usual as the other."""
    return 1000 * median(spent) * len(spent) / steps if spent else 0.0


def variants(program):
    """Name of each, and its faults."""
    faults = program["faults"]
    yield "base", []
    yield "all", faults
    if len(faults) > 1:
        for i in range(len(faults)):
            yield f"without_{i}", faults[:i] + faults[i + 1 :]
    yield "again", []


def typical(periods, fault):
    """What seldom strikes shows in averages only."""
    return median(periods) if fault["every"] == 1 else mean(periods)


def truth(program, periods, spent):
    """What each fault costs a step, measured."""
    faults = []
    for i, fault in enumerate(program["faults"]):
        others = periods.get(f"without_{i}") or periods["base"] + periods["again"]
        gain = typical(periods["all"], fault) - typical(others, fault)
        faults.append({**fault, "gain_ms": gain, "planted_ms": spent[fault["name"]] or None})
    first, second = median(periods["base"]), median(periods["again"])
    return {
        **program,
        "faults": faults,
        "all_ms": median(periods["all"]),
        "all_mean_ms": mean(periods["all"]),
        "base_ms": (first + second) / 2,
        "noise_ms": abs(first - second) + median(abs(each - first) for each in periods["base"]),
        "disturbed": abs(first - second) > DISTURBED * min(first, second)
        or is_unsteady(periods["base"], [])
        or is_unsteady(periods["all"], faults),
    }


def is_unsteady(periods, faults):
    """Whether single steps took longer for no reason of the program's; what a framework does seldom is not known."""
    seldom = [fault["planted_ms"] for fault in faults if fault["every"] > 1]
    return None not in seldom and mean(periods) > (1 + UNSTEADY) * (median(periods) + sum(seldom))


def measured_alone(make, program, out):
    """Times of all variants by name, and what the faults took where all are there."""
    periods, spent = {}, {}
    for name, faults in variants(program):
        periods[name], own = run(make, program, faults, out / name)
        spent = own if name == "all" else spent
    return periods, spent


def compose(make, program, out, measure=measured_alone):
    """Run all variants, and once more where the machine was disturbed; keep two captures."""
    for _ in range(2):
        shutil.rmtree(out, ignore_errors=True)
        found = truth(program, *measure(make, program, out))
        if not found["disturbed"]:
            break
    for each in out.iterdir():
        if each.name not in ("all", "base"):
            shutil.rmtree(each)
    Path(out, "truth.json").write_text(json.dumps(found, indent=1) + "\n")


def main(make, measure=measured_alone):
    """`composed_FRAMEWORK.py OUT`, with programs as JSON on standard input."""
    failed = []
    for program in json.load(sys.stdin):
        try:
            compose(make, program, Path(sys.argv[1], str(program["seed"])), measure)
        except Exception as error:  # noqa: PERF203 – one program that fails is not all
            failed.append(f"{program['seed']}: {type(error).__name__}: {str(error)[-300:]}")
    if failed:
        sys.exit("\n".join(failed))
