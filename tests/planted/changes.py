"""What a comparison must say of a program that was changed: `scripts/changes OUT ROUNDS [NAME …]` prints the table.

The base is the program without its planted cause, the new side that with it, captured by turns in ROUNDS processes.
OUT gets the logdirs ROUND/NAME/with and ROUND/NAME/without; those that are there already are not captured again.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median

from planted.capture import run
from planted.measured import Clock
from planted.table import PROGRAMS

from tb_profile_plugin.analysis.compare.engine import Comparison, compare
from tb_profile_plugin.analysis.compare.load import load, named_source
from tb_profile_plugin.analysis.compare.side import side_of_digests
from tb_profile_plugin.analysis.compare.verdict import ComparisonVerdict, verdict
from tb_profile_plugin.analysis.digest.record import Digest
from tb_profile_plugin.store.result_cache import ResultCache

SLOWER, NO_CHANGE = ("slower",), ("same", "unclear")
OFTEN = ("python", "dispatch", "launch", "eager", "latency", "sync")


@dataclass(frozen=True)
class Change:
    """Of a program in `file`, the same name stands for a function in it."""

    file: str
    about: str
    verdicts: tuple[str, ...]
    """Codes of which the verdict must be one."""
    first: tuple[str, ...] = ()
    """Ids of parts of which one must be the first reason; nothing where there is none to give."""
    facts: tuple[str, ...] = ()
    """Ids of facts that must be told."""
    items: tuple[int, int] = (1, 1)
    """What a step of each side works through."""


BATCH = "twice as many rows in each step"
CHANGES = {
    "jax_extra_matmul": Change("jax_changes", "four more matmuls in a scope", SLOWER, ("compute",), ("programs",)),
    "jax_hidden_larger": Change(
        "jax_changes", "layers half as wide again", SLOWER, ("compute",), ("shapes", "programs")
    ),
    "jax_bfloat16": Change("jax_changes", "bfloat16", (*SLOWER, "faster", *NO_CHANGE), facts=("precision.16-bit",)),
    "jax_batch_doubled": Change("jax_changes", BATCH, ("incomparable",), facts=("batch",)),
    "jax_scopes_renamed": Change("jax_changes", "other names of scopes", NO_CHANGE),
    "jax_same": Change("jax_changes", "nothing", NO_CHANGE, facts=("programs",)),
    "jax_traced": Change("jax_changes", "Python's frames recorded", NO_CHANGE, facts=("python_tracer_level",)),
    "jax_split": Change("jax_changes", "a jitted function a layer, each waited for", SLOWER, (*OFTEN, "compute")),
    "tf_extra_matmul": Change("tf_changes", "one more matmul", SLOWER, ("compute",)),
    "tf_prefetch_removed": Change("tf_changes", "no prefetch", SLOWER, ("input",)),
    "tf_map_sleeps": Change("tf_changes", "the map sleeps 3 ms more", SLOWER, ("input",)),
    "tf_batch_doubled": Change("tf_changes", BATCH, ("incomparable", "slower"), ()),
    "tf_same": Change("tf_changes", "nothing", NO_CHANGE),
    "tf_leak": Change("tf_changes", "a tensor of each step is kept", NO_CHANGE),
}
"""Changes of their own; those of `table.PROGRAMS` that all steps have are judged, too."""
_PARTS = {
    "between_steps": ("unexplained", "python", "untraced", "before_capture"),
    "late_peer": ("late_peer", "exposed_collective"),
}
"""Causes that are no parts, and the parts that they are of."""


def changes() -> dict[str, Change]:
    """All of them by name."""
    planted = {
        name: Change(
            program.file,
            program.about,
            SLOWER,
            tuple(dict.fromkeys(part for id in program.first for part in _PARTS.get(id, (id,)))),
        )
        for name, program in PROGRAMS.items()
        if program.steps == "each" and not program.stepless
    }
    return CHANGES | planted


@dataclass(frozen=True)
class Judged:
    """One change as it was found."""

    name: str
    change: Change
    measured: float
    """By the program's own clock, over the medians of its steps, as a share of the base."""
    found: Comparison
    told: ComparisonVerdict

    @property
    def wrong(self) -> list[str]:
        """What is wrong with it."""
        answer = []
        if self.told.code not in self.change.verdicts:
            answer.append(f"{self.told.code}, not {' or '.join(self.change.verdicts)}")
        elif self.change.first and next(iter(self.told.why), "nothing") not in self.change.first:
            answer.append(f"{next(iter(self.told.why), 'nothing')} first, not {' or '.join(self.change.first)}")
        fact_ids = {fact.id for fact in self.found.facts}
        return answer + [f"{id} is not told" for id in self.change.facts if id not in fact_ids]


def captured(python: str, out: Path, rounds: int, names: Sequence[str]) -> None:
    """Capture each by turns, once a round; which side comes first alternates, too."""
    program_of = changes()
    for number in range(1, rounds + 1):
        folder, files = out / str(number), dict.fromkeys(program_of[name].file for name in names)
        for file in files:
            missing = [
                name for name in names if program_of[name].file == file and not (folder / name / "with").exists()
            ]
            if missing:
                run(python, folder, file, missing, without_first=bool(number % 2))


def judged(out: Path, rounds: int, name: str) -> Judged:
    """The changed program against the other."""
    change = changes()[name]
    digests: dict[str, list[tuple[str, Digest]]] = {"without": [], "with": []}
    times: dict[str, list[float]] = {"without": [], "with": []}
    for number in range(1, rounds + 1):
        for kind in times:
            folder = out / str(number) / name / kind
            times[kind].append(median(Clock.read(folder).period_ms))
            digests[kind].append((f"{kind}-{number}", load(named_source(str(folder)), ResultCache(True))))
    base, new = (side_of_digests(digests[kind], items) for kind, items in zip(digests, change.items, strict=True))
    found = compare(base, new)
    return Judged(name, change, mean(times["with"]) / mean(times["without"]) - 1, found, verdict(found))


def row(one: Judged) -> str:
    """Of the table."""
    told, change = one.told, one.found.deciding_change
    share = "" if change is None or told.code == "incomparable" else f"{change.estimate:+.1%}"
    facts = "; ".join(fact.label for fact in one.found.facts if fact.grade in ("stops", "host", "same"))
    first = f"{told.why[0]}: {told.reasons[0]}" if told.why else facts
    cells = one.name, one.change.about, f"{one.measured:+.1%}", f"{told.code}, {told.certainty}", share, first
    return f"| {' | '.join(cells)} | {'; '.join(one.wrong) or 'right'} |"


def main(python: str, out: Path, rounds: int, names: Sequence[str]) -> None:
    """Capture what is missing and print the table."""
    captured(python, out, rounds, names)
    print(
        "| program | change | by its clock | verdict | change found | first reason | |\n|---|---|---|---|---|---|---|"
    )
    for name in names:
        print(row(judged(out, rounds, name)), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]).resolve(), int(sys.argv[3]), sys.argv[4:] or list(changes()))
