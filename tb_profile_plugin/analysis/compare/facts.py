"""What must be known before any figure: whether two sides can be compared at all, and what else differs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, prod
from typing import Any

from ...runtime.messages import Message, listed, message, some_of
from ...runtime.regex import regex
from ..digest.record import NOTHING, OTHERS, Digest, DigestOp
from .match import Pair
from .side import Side, Sides

STOPS, QUESTION, HOST, NOTE, SAME = "stops", "question", "host", "note", "same"
"""Grades of a fact: no verdict on steps; another question than that of a regression; no figures of the host, so that
the verdict is on devices; what may explain a difference; and what is reassuringly equal."""

_SPOILS = frozenset({"damaged_capture", "hosts_missing", "impossible_times"})
"""Findings that make averages worthless, whatever the other side has."""
_MISSING = frozenset({"devices_unrecorded", "no_device_events"})
"""Findings that matter where one side has them alone."""
_HEAVIEST = 10
_NEARLY_ALL = 0.75
"""Of the heaviest ops' time: another batch changes all but what works on weights alone."""
_SIZES = regex(r"\[([1-9][0-9]*(?:,[1-9][0-9]*)+)\]")
"""Of arrays that have two dimensions or more, none of them empty."""
_ARRAYS = regex(r"(?<![a-z0-9])[0-9]*([a-z][a-z0-9]*)\[([0-9,]*)\]")
_RELATED = 0.05
"""Of 12 programs before and after a change, the side that had more in common had at least 0.85."""
_NEARLY_ALL_STEPS = 0.9
"""Of the steps that count: the rest may have been cut off from what they launched."""
_OTHER_COUNT = Fraction(1, 50)
"""Where counts differ from step to step, by such a share they may differ by chance."""
_SHIFT = 0.05
"""A share of the compute that changes by so much is told."""
PYTHON_TRACER = "python_tracer_level"
_TYPES = {"bf16": "16-bit", "f16": "16-bit", "f32": "32-bit", "f64": "64-bit"}


@dataclass(frozen=True)
class Fact:
    """One that differs, or that is told because it is equal."""

    id: str
    label: str
    base: str
    new: str
    grade: str
    text: str = ""
    """What it means for the comparison, as a sentence."""

    @property
    def values(self) -> Message:
        """What both sides have, as a sentence."""
        if not self.base and not self.new:
            return Message("{label}.", label=message(self.label))
        return Message("{label}: {base} and {new}.", label=message(self.label), base=self.base, new=self.new)


def facts(sides: Sides) -> list[Fact]:
    """Of two sides, those that stop a verdict first."""
    return ordered(
        [*_health(sides), *_steps(sides), *_machine(sides), *_programs(sides), *_counts(sides), *_notes(sides)]
    )


def ordered(facts: list[Fact]) -> list[Fact]:
    """By how much they matter."""
    order = (STOPS, QUESTION, HOST, NOTE, SAME)
    return sorted(facts, key=lambda fact: order.index(fact.grade))


def _differing(
    sides: Sides, id: str, label: str, value_of: Callable[[Digest], Any], grade: str, text: str = ""
) -> list[Fact]:
    """The fact if it is not the same on both sides."""
    base, new = sides.both(lambda side: listed([str(value) for value in side.values_of(value_of)]))
    return [Fact(id, label, base, new, grade, text)] if base != new else []


def _steps(sides: Sides) -> Iterator[Fact]:
    rules = {_source(digest) for side in sides for digest in side.digests}
    if "none" in rules:
        names = sides.both(
            lambda side: Message("none") if "none" in side.values_of(_source) else listed(side.values_of(_rule))
        )
        yield Fact("step_rule", Message("Steps"), *names, STOPS, Message("Sessions without steps are not comparable."))
    elif len(rules) > 1:
        text = Message("These steps differ in kind; choose the same step event for both sides.")
        yield from _differing(sides, "step_rule", Message("Step rule"), _rule, STOPS, text)
    else:
        text = Message("These steps differ in kind.")
        other_steps = Message("The sides cover different selections of steps.")
        yield from _differing(
            sides, "chosen", Message("Counted steps"), lambda digest: digest.facts["chosen"], NOTE, other_steps
        )
        yield from _differing(
            sides, "step_kind", Message("Step names"), lambda digest: digest.facts["step_kind"], STOPS, text
        )
    if "none" not in rules and not all(sides.both(lambda side: len(side.steps()) == len(side.digests))):
        yield Fact(
            "no_time", Message("Time in steps"), "", "", STOPS, Message("Steps that take no time are not comparable.")
        )


def _source(digest: Digest) -> str:
    return str(digest.facts["step_rule"])


def _rule(digest: Digest) -> str:
    return str(digest.facts["steps_are"])


def _health(sides: Sides) -> Iterator[Fact]:
    base, new = sides.both(lambda side: {code for digest in side.digests for code in digest.facts["problems"]})
    for code in sorted(base | new):
        has = (_yes_or_no(code in base), _yes_or_no(code in new))
        label = Message("Problem {code}", code=code)
        if code in _SPOILS:
            yield Fact(code, label, *has, STOPS, Message("Averages of such a capture are meaningless."))
        elif code in _MISSING and has[0] != has[1]:
            yield Fact(code, label, *has, STOPS, Message("One side lacks device events."))
        elif has[0] != has[1]:
            yield Fact(code, label, *has, NOTE)


def _yes_or_no(is_so: bool) -> Message:
    return Message("yes") if is_so else Message("no")


def _machine(sides: Sides) -> Iterator[Fact]:
    text = Message("This compares hardware, not programs.")
    yield from _differing(sides, "device", Message("Device"), lambda digest: digest.facts["device"], QUESTION, text)
    yield from _differing(sides, "devices", Message("Devices"), lambda digest: digest.facts["devices"], QUESTION, text)
    yield from _differing(sides, "hosts", Message("Hosts"), lambda digest: digest.facts["hosts"], QUESTION, text)
    levels = sides.both(lambda side: side.values_of(lambda digest: digest.facts["levels"].get(PYTHON_TRACER)))
    if None not in (*levels[0], *levels[1]) and any(levels[0]) != any(levels[1]):
        text = Message("The Python tracer slows the host, so only device work is compared.")
        yield from _differing(
            sides,
            PYTHON_TRACER,
            Message("Python tracer level"),
            lambda digest: digest.facts["levels"][PYTHON_TRACER],
            HOST,
            text,
        )
    yield from _differing(
        sides, "levels", Message("Tracer levels"), _levels, NOTE, Message("Recording more events takes more time.")
    )


def _levels(digest: Digest) -> str:
    levels = digest.facts["levels"]
    return ", ".join(f"{name} {levels[name]}" for name in sorted(levels) if name != PYTHON_TRACER) or "unknown"


def _programs(sides: Sides) -> Iterator[Fact]:
    base, new = sides.both(lambda side: {program for digest in side.digests for program in digest.programs})
    if not base or not new:
        return
    if base == new and _is_as_often(sides):
        text = Message("The programs are equal, so differences come from data, machine or host.")
        yield Fact("programs", Message("XLA programs"), f"{len(base)}", Message("the same"), SAME, text)
    elif base == new:
        yield Fact(
            "programs",
            Message("XLA programs"),
            f"{len(base)}",
            Message("the same"),
            NOTE,
            Message("The programs are equal, but steps run a different number of ops."),
        )
    else:
        only = [some_of(sorted({name for name, _ in own - other}), 3) for own, other in ((base, new), (new, base))]
        yield Fact("programs", Message("XLA programs on one side only"), only[0], only[1], NOTE)


def _counts(sides: Sides) -> Iterator[Fact]:
    base, new = sides.both(_launches_per_step)
    if base != new and None not in (base, new) and sides.base.items == sides.new.items:
        yield Fact("launches", Message("Ops and kernels per step"), f"{base:,}", f"{new:,}", NOTE)


def _launches_per_step(side: Side) -> int | None:
    """Ops and kernels that begin in nearly each step, the same number in all captures; None where they differ."""
    usual = {digest.steps.usual_launches for digest in side.digests}
    for digest in side.digests:
        counts = [digest.steps.launches[i] for i in digest.steps.selected]
        if counts.count(digest.steps.usual_launches or 0) < _NEARLY_ALL_STEPS * len(counts):
            return None
    return usual.pop() if len(usual) == 1 else None


def _is_as_often(sides: Sides) -> bool:
    """Whether steps of both sides run as many ops, as far as the captures tell."""
    base, new = sides.both(_launches_per_step)
    if None not in (base, new) and sides.base.items == sides.new.items:
        return base == new
    sums = sides.both(
        lambda side: [sum(digest.steps.launches[i] for i in digest.steps.selected) for digest in side.digests]
    )
    low, high = sorted(side.mean(launches) for side, launches in zip(sides, sums, strict=True))
    return low >= (1 - _OTHER_COUNT) * high


def _notes(sides: Sides) -> Iterator[Fact]:
    for name in sorted({name for side in sides for digest in side.digests for name in digest.facts["versions"]}):

        def version(digest: Digest, name: str = name) -> str:
            return str(digest.facts["versions"].get(name, "unknown"))

        yield from _differing(sides, f"version.{name}", Message("Version of {package}", package=name), version, NOTE)
    yield from _differing(sides, "compiles", Message("Compilations in counted steps"), _compiles, NOTE)
    base, new = sides.both(lambda side: precision(side.digests))
    for kind in sorted({*base, *new}) if base and new else ():
        yield from _shifted(
            f"precision.{kind}", Message("Compute on {type} arrays", type=kind), base.get(kind, 0), new.get(kind, 0)
        )
    cores = sides.both(_tensor_cores)
    if cores[0] is not None and cores[1] is not None:
        yield from _shifted("tensor_cores", Message("Kernels on tensor cores"), cores[0], cores[1])


def _compiles(digest: Digest) -> int:
    return sum(digest.steps.compiles[i] for i in digest.steps.selected)


def _shifted(id: str, label: str, base: float, new: float) -> Iterator[Fact]:
    if abs(base - new) > _SHIFT:
        yield Fact(id, label, Message("{share}", share=base), Message("{share}", share=new), NOTE)


def precision(digests: Sequence[Digest]) -> dict[str, float]:
    """Shares of the compute by the type of the arrays that it works on; empty where no shape is known."""
    times: Counter[str] = Counter()
    for digest in digests:
        for op in digest.ops:
            kind = _TYPES.get(_largest(op))
            if op.part == "compute" and kind:
                times[kind] += op.sum_ps
    total = sum(times.values())
    return {kind: ps / total for kind, ps in times.items()} if total else {}


def _largest(op: DigestOp) -> str:
    """Type of the largest array among an op's result and what it takes; empty where none is known."""
    arrays = _ARRAYS.findall(f"{op.shape},{op.operands}")
    sizes = [prod(int(size) for size in dimensions.split(",") if size) for _, dimensions in arrays]
    return arrays[sizes.index(max(sizes))][0] if arrays else ""


def _tensor_cores(side: Side) -> float | None:
    kernels = [kernel for digest in side.digests for kernel in digest.kernels]
    total = sum(kernel.total_ps for kernel in kernels)
    return sum(kernel.total_ps for kernel in kernels if kernel.tensor_core) / total if total else None


def shapes(pairs: list[Pair]) -> list[Fact]:
    """Whether the heaviest ops have other shapes; where only leading dimensions of nearly all changed, by one factor,
    steps do other work.
    """
    heavy = [pair for pair in pairs if pair.base and pair.new and pair.base[0][1].part == "compute"]
    heavy.sort(key=lambda pair: -_time(pair))
    heaviest = [(pair, _dimensions(pair.base[0][1]), _dimensions(pair.new[0][1])) for pair in heavy[:_HEAVIEST]]
    heaviest = [(pair, base, new) for pair, base, new in heaviest if base and len(base) == len(new)]
    others = [(pair, base, new) for pair, base, new in heaviest if base != new]
    changed = [both for _, base, new in others for both in zip(base, new, strict=True) if both[0] != both[1]]
    if not changed:
        return []
    factors = {
        (base[0] // gcd(base[0], new[0]), new[0] // gcd(base[0], new[0])) if base[1:] == new[1:] else None
        for base, new in changed
    }
    (only, *more) = factors
    nearly_all = sum(_time(pair) for pair, _, _ in others) >= _NEARLY_ALL * sum(_time(pair) for pair, _, _ in heaviest)
    if only and not more and nearly_all:
        text = Message("The sides use different sizes; state the items per step of both sides.")
        return [Fact("batch", Message("Ratio of leading dimensions"), f"{only[0]}", f"{only[1]}", STOPS, text)]
    base, new = (", ".join(str(list(pair[side])) for pair in changed[:2]) for side in (0, 1))
    return [Fact("shapes", Message("Shapes of heavy ops"), base, new, NOTE)]


def unrelated(pairs: list[Pair]) -> list[Fact]:
    """Whether next to no time of either side is in ops that the other has, too, by any rule of `match`."""
    named_pairs = [pair for pair in pairs if (pair.base or pair.new)[0][1].name not in (OTHERS, NOTHING)]
    shares = []
    for own, other in (("base", "new"), ("new", "base")):
        times = [(sum(op.sum_ps for _, op in getattr(pair, own)), bool(getattr(pair, other))) for pair in named_pairs]
        total = sum(ps for ps, _ in times)
        shares.append(sum(ps for ps, both in times if both) / total if total else 1.0)
    if max(shares) >= _RELATED:
        return []
    base, new = (Message("{percent}", percent=share) for share in shares)
    return [
        Fact(
            "unrelated",
            Message("Time in ops found on both sides"),
            base,
            new,
            STOPS,
            Message("These are different programs."),
        )
    ]


def _time(pair: Pair) -> int:
    return sum(op.sum_ps for ops in (pair.base, pair.new) for _, op in ops)


def _dimensions(op: DigestOp) -> list[tuple[int, ...]]:
    """Of an op's result and of what it takes, those of two dimensions or more."""
    sizes = _SIZES.findall(f"{op.shape},{op.operands}")
    return [tuple(map(int, text.split(","))) for text in sizes]
