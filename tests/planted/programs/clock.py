"""What a program measures of itself while it is captured, and how programs of a file are run."""

import json
import os
import sys
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from time import perf_counter


class Clock:
    """The time of each step by the program's own clock, written beside the capture."""

    def __init__(self, folder):
        self.folder = str(folder)
        self.begun, self.entered, self.ended, self.lost = [], [], [], []
        self.stopped = None

    def begin(self):
        """The loop turns to its next step."""
        self.begun.append(perf_counter())
        self.entered.append(self.begun[-1])
        self.lost.append(0.0)

    def enter(self):
        """The step itself begins, where something came before it."""
        self.entered[-1] = perf_counter()

    def end(self):
        """The step has ended. Not called by a loop that only dispatches."""
        self.ended.append(perf_counter())

    @contextmanager
    def planting(self):
        """What runs within is the planted cause; before the first step and after the last it does not count."""
        since = perf_counter()
        yield
        if self.lost and self.stopped is None:
            self.lost[-1] += perf_counter() - since

    def stop(self):
        """The loop is over, and all its work is done."""
        self.stopped = perf_counter()

    def write(self, **more):
        """measured.json, all in milliseconds: step, start to start, planted cause in each; and the whole loop."""
        turns = [*self.begun, self.stopped]
        periods = [1000 * (after - begin) for begin, after in pairwise(turns)]
        if not self.ended:
            # The loop runs ahead of the work: only the whole tells how long a step takes.
            periods = [sum(periods) / len(periods)] * len(periods)
        measured = {
            "steps": len(self.begun),
            "step_ms": [1000 * (end - enter) for enter, end in zip(self.entered, self.ended, strict=False)] or None,
            "period_ms": periods,
            "planted_ms": [1000 * lost for lost in self.lost] if any(self.lost) else None,
            "total_ms": 1000 * (self.stopped - self.begun[0]),
            **more,
        }
        Path(self.folder).mkdir(parents=True, exist_ok=True)
        Path(self.folder, "measured.json").write_text(json.dumps(measured) + "\n")


KINDS = ("with", "without")


def kinds():
    """Which comes first: the other way round where PLANTED_TURNED says so, so that what drifts meets both alike."""
    return KINDS[::-1] if os.environ.get("PLANTED_TURNED") else KINDS


def main(programs):
    """Run the programs named on the command line, or all, with the cause and without: `program.py OUT [NAME …]`."""
    out, *names = sys.argv[1:]
    named = {program.__name__: program for program in programs}
    for name in names or named:
        for kind in kinds():
            clock = Clock(Path(out, name, kind))
            named[name](clock, kind == "with")
            clock.write()
