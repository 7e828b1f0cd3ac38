"""Drives the decoder and every tool with damaged captures for some minutes, and counts; run by scripts/fuzz."""

from __future__ import annotations

import faulthandler
import pickle
import random
import resource
import sys
import time
import traceback
import zlib
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from importlib import import_module
from pathlib import Path
from typing import Any

import fuzz
import hang_damage
import hlodraw
import hlohostile
import seeds
from everything import ask_every_tool, work_out
from mutations import Mutator

ROOT = Path(__file__).resolve().parents[2]
FINDS = ROOT / ".fuzz"
PATIENCE_S = 20.0
"""Of the processor: no input of these sizes may take longer, with all tools."""
HANG_S = 600
"""After so long on some inputs, the run ends and shows where it hangs."""
WATCHED = 500
"""The watch is set anew after so many inputs: that costs a thread each time."""
MORE_BYTES = 1 << 30
"""What all inputs together may take beyond what is taken at the start; the captures here are below 400 kB."""
COMPLETE = 0.02
"""Share of the inputs that are made of whole captures; the others of what is cut from them."""
SMALL = 100_000
"""Hostile programs of more bytes are left to the tests that know them."""
DUMPS = 0.1
"""Share of the inputs that are flight-recorder dumps of a job."""
DEEPLY = 25
"""One input in so many, and those of hostile programs, go through every tool and export; all through the model."""


class Inline(Executor):
    """One piece after the other: handing small captures to threads takes longer than working on them."""

    def __init__(self, *unused: Any):
        pass

    def submit(self, call: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        """The result of the call, made at once."""
        future: Future[Any] = Future()
        future.set_result(call(*arguments, **named))
        return future


class Drive:
    """A run with one seed."""

    def __init__(self, seed: int, more: Sequence[str] = ()):
        """`more` are paths of captures besides those of the tests."""
        paths = [*sorted((ROOT / "tests" / "traces").rglob("*.xplane.pb")), *map(Path, more)]
        hostile = {name: hlohostile.capture(made()).SerializeToString() for name, made in hlohostile.PROGRAMS.items()}
        captures = {name: data for name, data in hostile.items() if len(data) < SMALL}
        captures["drawn"] = fuzz.DRAWN.SerializeToString()
        captures["program"] = hlohostile.capture(hlodraw.train()).SerializeToString()
        captures |= {str(path): path.read_bytes() for path in paths}
        self.of_complete = {name: Mutator(data, seed + i) for i, (name, data) in enumerate(captures.items())}
        self.of_cut = {name: Mutator(seeds.cut(data), seed + i) for i, (name, data) in enumerate(captures.items())}
        self.names = list(captures)
        self.dumps = hang_damage.DamagedDumps(seed)
        self.dice = random.Random(seed)
        self.inputs = self.deep = 0
        self.slowest = 0.0
        self.finds: dict[str, int] = {}
        for mutator in (*self.of_complete.values(), *self.of_cut.values()):
            ask_every_tool(fuzz.look(mutator.data))

    def once(self) -> None:
        """One damaged input."""
        if self.dice.random() < DUMPS:
            self._dumps_once()
            return
        name = self.dice.choice(self.names)
        data = (self.of_complete if self.dice.random() < COMPLETE else self.of_cut)[name]()
        deeply = self.inputs % DEEPLY == 0 or name in hlohostile.PROGRAMS
        self.inputs, self.deep = self.inputs + 1, self.deep + deeply
        if self.inputs % WATCHED == 1:
            faulthandler.dump_traceback_later(HANG_S, exit=True)
        began = time.process_time()
        try:
            space = fuzz.look(data)
            (ask_every_tool if deeply else work_out)(space)
        except Exception as error:
            self._report(f"{type(error).__name__} at {_location(error)}", name, data, traceback.format_exc())
        spent = time.process_time() - began
        self.slowest = max(self.slowest, spent)
        if spent > PATIENCE_S:
            self._report(f"slow on {Path(name).name}", name, data, "")

    def _dumps_once(self) -> None:
        dumps = self.dumps()
        self.inputs += 1
        try:
            hang_damage.look(dumps)
        except Exception as error:
            fault = f"{type(error).__name__} at {_location(error)}"
            self._report(fault, "dumps", pickle.dumps(dumps), traceback.format_exc(), ".dumps.pickle")

    def _report(self, fault: str, name: str, data: bytes, detail: str, ending: str = ".xplane.pb") -> None:
        self.finds[fault] = self.finds.get(fault, 0) + 1
        if self.finds[fault] == 1:
            path = FINDS / f"{zlib.crc32(fault.encode()):08x}{ending}"
            path.write_bytes(data)
            print(f"{fault} from {name}, kept as {path.name}\n{detail}", flush=True)

    def __str__(self) -> str:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        return (
            f"{self.inputs:,} inputs, {self.deep:,} of them through every tool, {len(self.finds)} finds; "
            f"slowest {self.slowest:.1f} s of the processor, peak {peak:.0f} MiB"
        )


def _location(error: Exception) -> str:
    frames = list(traceback.extract_tb(error.__traceback__))
    frame = ([frame for frame in frames if "tb_profile_plugin" in frame.filename] or frames)[-1]
    return f"{Path(frame.filename).name}:{frame.lineno}"


def main(minutes: str, seed: str = "", *more: str) -> int:
    """1 where something was found."""
    for module, executor in (("formats.xspace.reader", "_thread_pool"), ("model.events.groups", "ThreadPoolExecutor")):
        setattr(import_module(f"tb_profile_plugin.{module}"), executor, Inline)
    end = time.monotonic() + 60 * float(minutes)
    number = int(seed) if seed else random.SystemRandom().randrange(1 << 32)
    drive = Drive(number, more)
    print(f"seed {number}, {len(drive.names)} captures", flush=True)
    bytes_used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (bytes_used + MORE_BYTES, resource.getrlimit(resource.RLIMIT_AS)[1]))
    last_report = time.monotonic()
    while time.monotonic() < end:
        drive.once()
        if time.monotonic() - last_report > 60:
            last_report = time.monotonic()
            print(drive, flush=True)
    print(drive)
    for fault, count in drive.finds.items():
        print(f"{count:6} × {fault}")
    return 1 if drive.finds else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
