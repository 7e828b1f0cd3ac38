"""Hold what is said of a composed program to what its faults were measured to cost."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from figures import column, facts
from planted.faults import accepted
from planted.judge import ALLOWED, Answer, causes
from planted.table import HOST

import tb_profile_plugin

Verdict = Literal["right", "half", "wrong", "none"]
Truth = dict[str, Any]

SMALL = 0.1
"""Share of a step below which a fault leads nothing: work comes first then."""
_LIKE = 0.7
"""A fault that costs so much of what the largest does may lead as well."""
_NEW = 0.1
"""Share of a step that a cause must not take where neither a fault nor the program without any has it."""
WORK = ("compute", "exposed_collective", "collective_host", "gpu_unused")
"""What programs do without any fault; workers of one program communicate."""
NOTHING = (*WORK, "warmup", "unusual_steps")
"""What may come first in a program without a fault."""
_OUR_OWN = 0.15
"""Share of a step that a cause may take in a program without a fault, since no program is work alone."""
FOREIGN = {
    "jax": ("tf.", "Keras", "torch", "DataLoader", "CUDA", "GPU", "pinned"),
    "tensorflow": ("jax", "torch", "DataLoader", "CUDA", "GPU", "pinned"),
    "pytorch": ("jax", "tf.", "Keras", "CUDA", "pinned", "GPU"),
}
"""Words that no remedy for a program of the framework on a CPU has."""
_RECORDS = "Record Python"


@dataclass(frozen=True)
class Judged:
    """What is true of the diagnosis of one program."""

    seed: int
    framework: str
    about: str
    first: Verdict
    """Of the program with its faults; `none` where they cost too little to be found."""
    control: bool
    """Whether nothing is blamed in the program without faults."""
    size: bool | None
    ceiling: bool | None
    """Whether it is within what was measured; None where the first cause is not right, or none was measured."""
    wrong: tuple[str, ...]
    headline: str
    disturbed: bool


def judged(folder: Path) -> Judged:
    """Of the captures and the truth in this folder."""
    truth = with_causes(json.loads((folder / "truth.json").read_text()))
    with_all, base = (tb_profile_plugin.open(folder / kind) for kind in ("all", "base"))
    return judge(truth, with_all.answer("why"), base.answer("why"), with_all.answer("why", steps="all"))


def with_causes(truth: Truth) -> Truth:
    """The truth, with the ids that are right for each fault and what it costs.

    What a host does too long costs as long as it takes, where the loop waits for each step; that is not off by what
    others do on the machine, as the difference of two runs is.
    """
    is_outside = truth["marks"] == "none" or truth["loop"] == "keras"
    waits = truth["loop"] != "asynchronous"
    faults = [
        {
            **fault,
            "causes": accepted(fault["name"], truth["framework"], fault["spot"], fault["every"], is_outside),
            "cost_ms": fault["planted_ms"] if waits and fault["spot"] and fault["planted_ms"] else fault["gain_ms"],
        }
        for fault in truth["faults"]
    ]
    return truth | {"faults": faults}


def judge(truth: Truth, answer: Answer, base: Answer, whole: Answer) -> Judged:
    """Hold the answers about the program with all faults, without any, and with all over all steps, to the truth."""
    first = _first(truth, answer)
    size = ceiling = None
    if first == "right" and next(iter(causes(answer))) not in WORK:
        size, ceiling = _size(truth, answer, whole), _ceiling(truth, answer)
    faults = " + ".join(_described(fault) for fault in truth["faults"])
    shape = f"{truth['loop']}, marks {truth['marks']}, {'traced' if truth['traced'] else 'untraced'}"
    steps = f"{truth['steps']} steps of {truth['all_ms']:.1f} ms (without faults {truth['base_ms']:.1f})"
    return Judged(
        truth["seed"],
        truth["framework"],
        f"{shape}, {steps}: {faults}",
        first,
        _is_clean(truth, base),
        size,
        ceiling,
        tuple(_wrong(truth, answer, base)),
        answer["headline"]["text"],
        truth["disturbed"],
    )


def _described(fault: dict[str, Any]) -> str:
    where = f" in {fault['spot']}" if fault["spot"] else ""
    seldom = f" every {fault['every']}" if fault["every"] > 1 else ""
    cost = f"{fault['cost_ms']:.1f} ms, without it {fault['gain_ms']:.1f} less"
    return f"{fault['name']} {fault['size']}{where}{seldom} ({cost})"


def _first(truth: Truth, answer: Answer) -> Verdict:
    """Right: the first cause is the largest fault's, or as large a one's, or the work where that is most by far."""
    largest = max(fault["cost_ms"] for fault in truth["faults"])
    if largest < max(SMALL * truth["all_mean_ms"], 2 * truth["noise_ms"]):
        return "none"
    ids = list(causes(answer))
    first = ids[0] if ids else ""
    leading = [fault for fault in truth["faults"] if fault["cost_ms"] >= _LIKE * largest]
    if any(first in fault["causes"] for fault in leading):
        return "right"
    if any(first in fault["causes"] for fault in truth["faults"]):
        return "half"
    if first in NOTHING and any(set(ids[1:3]) & set(fault["causes"]) for fault in leading):
        is_minor = largest < 0.5 * truth["all_mean_ms"]
        return "right" if is_minor and _longest_is_work(answer) else "half"
    return "half" if any(set(ids[1:3]) & set(fault["causes"]) for fault in leading) else "wrong"


def _longest_is_work(answer: Answer) -> bool:
    times = {id: ms for id, (ms, _) in causes(answer).items()}
    return max(times, key=lambda id: times[id]) in WORK


def _is_clean(truth: Truth, base: Answer) -> bool:
    """Whether nothing is blamed where nothing is wrong; work of the framework's own takes its part of small steps."""
    found = causes(base)
    first = next(iter(found), "compute")
    period = facts(base)["period_ps"]
    return first in NOTHING or not period or found[first][0] < _OUR_OWN * period / 1e9


def _of_first(truth: Truth, answer: Answer) -> tuple[set[str], tuple[float, float]]:
    """Ids that may tell the faults that the first cause tells; what all of those cost, and those of each step alone."""
    first = next(iter(causes(answer)))
    of_it = [fault for fault in truth["faults"] if first in fault["causes"]]
    costs = [sum(fault["cost_ms"] for fault in of_it if fault["every"] <= every) for every in (truth["steps"], 1)]
    return {id for fault in of_it for id in fault["causes"]}, (costs[0], costs[1] or costs[0])


def _size(truth: Truth, answer: Answer, whole: Answer) -> bool:
    """The first cause, or all ways of telling the faults, are them; what some steps have shows in one average."""
    ids, costs = _of_first(truth, answer)
    found = [next(iter(causes(answer).values()))[0]]
    found += [sum(ms for id, (ms, _) in causes(each).items() if id in ids) for each in (answer, whole)]
    return any(_is_near(ms, cost, truth) for ms in found for cost in costs)


def _ceiling(truth: Truth, answer: Answer) -> bool | None:
    """What is won at most; all that the host does late, where the first cause is one of several ways."""
    first, (_, gain) = next(iter(causes(answer).items()))
    _, costs = _of_first(truth, answer)
    whole = dict(zip(*(column(answer, "scenarios", name) for name in ("id", "gain_ps")), strict=True)).get("host")
    gains = [each for each in (gain, whole / 1e9 if first in HOST and whole is not None else None) if each is not None]
    return any(_is_near(each, cost, truth) for each in gains for cost in costs) if gains else None


def _is_near(ms: float, wanted: float, truth: Truth) -> bool:
    noise: float = truth["noise_ms"]
    return abs(ms - wanted) <= ALLOWED * wanted + noise


def _wrong(truth: Truth, answer: Answer, base: Answer) -> Iterator[str]:
    """What is said that is not so."""
    period = facts(answer)["period_ps"]
    if period is None:
        yield "no steps"
        return
    planted = {id for fault in truth["faults"] for id in fault["causes"]} | set(NOTHING)
    before = {id: ms for id, (ms, _) in causes(base).items()}
    for id, (ms, _) in causes(answer).items():
        if id not in planted and ms - before.get(id, 0.0) > _NEW * period / 1e9:
            yield f"{id} {ms:.1f} ms, though there is none"
    for remedy in filter(None, column(answer, "causes", "remedy")):
        if any(word in remedy for word in FOREIGN[truth["framework"]]):
            yield f"does not fit: {remedy}"
        if truth["traced"] and truth["framework"] != "tensorflow" and _RECORDS in remedy:
            yield f"Python was recorded: {remedy}"


def printed(program: Judged) -> str:
    """One program, in lines."""
    marks = [program.first.upper() if program.first in ("half", "wrong") else program.first]
    marks += ["control blamed"] * (not program.control) + ["size off"] * (program.size is False)
    marks += ["ceiling off"] * (program.ceiling is False) + ["disturbed"] * program.disturbed
    lines = [f"{program.seed} {program.framework}, {program.about}", f"  {', '.join(marks)}: {program.headline}"]
    return "\n".join(lines + [f"  - {each}" for each in program.wrong])


def sums(name: str, programs: Sequence[Judged]) -> str:
    """Of one half of the seeds, by framework and over all, without those that others on the machine disturbed."""
    calm = [each for each in programs if not each.disturbed]
    groups = {framework: [each for each in calm if each.framework == framework] for framework in FOREIGN}
    lines = [_sum(f"{name}, {part}", some) for part, some in [*groups.items(), ("all", calm)] if some]
    return "\n".join([*lines, f"{name}: {len(programs) - len(calm)} disturbed"])


def _sum(name: str, programs: Sequence[Judged]) -> str:
    first = Counter(each.first for each in programs)
    found = len(programs) - first["none"]
    words = [f"{first[verdict]} {verdict} ({_share(first[verdict], found)})" for verdict in ("right", "half", "wrong")]
    sizes, ceilings = ([value for value in values if value is not None] for values in _figures(programs))
    clean = sum(each.control for each in programs)
    return (
        f"{name}: {len(programs)} programs, {', '.join(words)}, {first['none']} too small to judge; "
        f"controls {clean}/{len(programs)}; sizes {sum(sizes)}/{len(sizes)}, ceilings {sum(ceilings)}/{len(ceilings)}; "
        f"{sum(bool(each.wrong) for each in programs)} say more than is there"
    )


def _figures(programs: Sequence[Judged]) -> tuple[list[bool | None], list[bool | None]]:
    return [each.size for each in programs], [each.ceiling for each in programs]


def _share(count: int, of: int) -> str:
    return f"{count / of:.0%}" if of else "–"
