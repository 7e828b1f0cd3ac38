"""What must be known before any figure: whether two sides can be compared at all, and what else differs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from math import prod
from typing import Any

from ...runtime.messages import Message, listed, message, some_of
from ...runtime.records import record
from ...runtime.regex import regex
from ..digest.record import NOTHING, OTHERS, Digest, DigestOp
from .match import OpPair, time_shares
from .side import Side, Sides

STOPS, QUESTION, HOST, NOTE, SAME = "stops", "question", "host", "note", "same"
"""Grades of a fact: no verdict on steps; another question than that of a regression; no figures of the host, so that
the verdict is on devices; what may explain a difference; and what is reassuringly equal."""

_BLOCKING_PROBLEMS = frozenset({"damaged_capture", "hosts_missing", "impossible_times"})
"""Findings that make averages worthless, whatever the other side has."""
_ONE_SIDED_PROBLEMS = frozenset({"devices_unrecorded", "no_device_events"})
"""Findings that matter where one side has them alone."""
_HEAVY_OPS = 10
"""So many ops that compute longest tell whether shapes changed."""
_NEARLY_ALL = 0.75
"""Share of the heaviest ops' time: another batch changes all but what works on weights alone."""
_SIZES = regex(r"\[([1-9][0-9]*(?:,[1-9][0-9]*)+)\]")
"""Sizes of arrays that have two dimensions or more, none of them empty."""
_ARRAYS = regex(r"(?<![a-z0-9])[0-9]*([a-z][a-z0-9]*)\[([0-9,]*)\]")
_LEAST_RELATED = 0.05
"""What related programs have in common: 12 before and after a change had 0.85 on the side with more in common."""
_NEARLY_ALL_STEPS = 0.9
"""Share of the steps that count: the rest may have been cut off from what they launched."""
_COUNT_TOLERANCE = Fraction(1, 50)
"""Where counts differ from step to step, by such a share they may differ by chance."""
_LEAST_SHIFT = 0.05
"""A share of the compute that changes by so much is told."""
PYTHON_TRACER = "python_tracer_level"
"""Its key among a digest's ``levels``."""
_WIDTH_OF_TYPE = {"bf16": "16-bit", "f16": "16-bit", "f32": "32-bit", "f64": "64-bit"}


@record
class Fact:
    """What is known of both sides: it differs, or it is told because it is equal."""

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


def facts(sides: Sides, pairs: Sequence[OpPair] = ()) -> list[Fact]:
    """What differs between two sides and their ops, where these are matched; what stops a verdict first."""
    all_facts = [
        *(_shapes(pairs) if sides.base.items == sides.new.items else ()),
        *_health(sides),
        *_steps(sides),
        *_machine(sides),
        *_programs(sides),
        *_launches(sides),
        *_versions_and_compute(sides),
        *_unrelated(pairs),
    ]
    order = (STOPS, QUESTION, HOST, NOTE, SAME)
    return sorted(all_facts, key=lambda fact: order.index(fact.grade))


def _if_different(
    sides: Sides, id: str, label: str, grade: str, text: str = "", value_of: Callable[[Digest], Any] | None = None
) -> list[Fact]:
    """The fact if it is not the same on both sides; without ``value_of`` it is the digests' fact of that id."""
    value_of = value_of or (lambda digest: digest.facts[id])
    base, new = sides.both(lambda side: listed([str(value) for value in side.distinct_values(value_of)]))
    return [Fact(id, label, base, new, grade, text)] if base != new else []


def _steps(sides: Sides) -> Iterator[Fact]:
    rules = {digest.facts["step_rule"] for side in sides for digest in side.digests}

    def rule_text(digest: Digest) -> str:
        return str(digest.facts["steps_are"])

    if "none" in rules:
        base, new = sides.both(
            lambda side: (
                Message("none")
                if any(digest.facts["step_rule"] == "none" for digest in side.digests)
                else listed(side.distinct_values(rule_text))
            )
        )
        yield Fact(
            "step_rule", Message("Steps"), base, new, STOPS, Message("Sessions without steps are not comparable.")
        )
        return
    if len(rules) > 1:
        text = Message("These steps differ in kind; choose the same step event for both sides.")
        yield from _if_different(sides, "step_rule", Message("Step rule"), STOPS, text, rule_text)
    else:
        text = Message("The sides cover different selections of steps.")
        yield from _if_different(sides, "chosen", Message("Counted steps"), NOTE, text)
        text = Message("These steps differ in kind.")
        yield from _if_different(sides, "step_kind", Message("Step names"), STOPS, text)
    if any(len(side.step_estimates()) < len(side.digests) for side in sides):
        text = Message("Steps that take no time are not comparable.")
        yield Fact("no_time", Message("Time in steps"), "", "", STOPS, text)


def _health(sides: Sides) -> Iterator[Fact]:
    base, new = sides.both(lambda side: {code for digest in side.digests for code in digest.facts["problems"]})
    for code in sorted(base | new):
        grade, text = NOTE, ""
        if code in _BLOCKING_PROBLEMS:
            grade, text = STOPS, Message("Averages of such a capture are meaningless.")
        elif code in base & new:
            continue
        elif code in _ONE_SIDED_PROBLEMS:
            grade, text = STOPS, Message("One side lacks device events.")
        base_has, new_has = (Message("yes") if code in codes else Message("no") for codes in (base, new))
        yield Fact(code, Message("Problem {code}", code=code), base_has, new_has, grade, text)


def _machine(sides: Sides) -> Iterator[Fact]:
    text = Message("This compares hardware, not programs.")
    for id, label in (("device", Message("Device")), ("devices", Message("Devices")), ("hosts", Message("Hosts"))):
        yield from _if_different(sides, id, label, QUESTION, text)

    def python_tracer(digest: Digest) -> int | None:
        return digest.facts["levels"].get(PYTHON_TRACER)

    base_levels, new_levels = sides.both(lambda side: side.distinct_values(python_tracer))
    if None not in (*base_levels, *new_levels) and any(base_levels) != any(new_levels):
        text = Message("The Python tracer slows the host, so only device work is compared.")
        yield from _if_different(sides, PYTHON_TRACER, Message("Python tracer level"), HOST, text, python_tracer)
    text = Message("Recording more events takes more time.")
    yield from _if_different(sides, "levels", Message("Tracer levels"), NOTE, text, _other_tracer_levels)


def _other_tracer_levels(digest: Digest) -> str:
    levels = digest.facts["levels"]
    return ", ".join(f"{name} {levels[name]}" for name in sorted(levels) if name != PYTHON_TRACER) or "unknown"


def _programs(sides: Sides) -> Iterator[Fact]:
    base, new = sides.both(lambda side: {program for digest in side.digests for program in digest.programs})
    if not base or not new:
        return
    if base == new:
        if _launches_agree(sides):
            grade, text = SAME, Message("The programs are equal, so differences come from data, machine or host.")
        else:
            grade, text = NOTE, Message("The programs are equal, but steps run a different number of ops.")
        yield Fact("programs", Message("XLA programs"), f"{len(base)}", Message("the same"), grade, text)
    else:
        base_only, new_only = (some_of(sorted({name for name, _ in only}), 3) for only in (base - new, new - base))
        yield Fact("programs", Message("XLA programs on one side only"), base_only, new_only, NOTE)


def _launches(sides: Sides) -> Iterator[Fact]:
    base, new = sides.both(_launches_per_step)
    if base != new and None not in (base, new) and sides.base.items == sides.new.items:
        yield Fact("launches", Message("Ops and kernels per step"), f"{base:,}", f"{new:,}", NOTE)


def _launches_per_step(side: Side) -> int | None:
    """Ops and kernels that begin in nearly each step, the same number in all captures; None where they differ."""
    usual_counts = {digest.steps.usual_launches for digest in side.digests}
    for digest in side.digests:
        counts = [digest.steps.launches[i] for i in digest.steps.selected]
        if counts.count(digest.steps.usual_launches or 0) < _NEARLY_ALL_STEPS * len(counts):
            return None
    return usual_counts.pop() if len(usual_counts) == 1 else None


def _launches_agree(sides: Sides) -> bool:
    """Whether steps of both sides run as many ops, as far as the captures tell."""
    base, new = sides.both(_launches_per_step)
    if None not in (base, new) and sides.base.items == sides.new.items:
        return base == new
    sums = sides.both(
        lambda side: [sum(digest.steps.launches[i] for i in digest.steps.selected) for digest in side.digests]
    )
    low, high = sorted(side.mean_per_item(launches) for side, launches in zip(sides, sums, strict=True))
    return low >= (1 - _COUNT_TOLERANCE) * high


def _versions_and_compute(sides: Sides) -> Iterator[Fact]:
    for name in sorted({name for side in sides for digest in side.digests for name in digest.facts["versions"]}):

        def version(digest: Digest, name: str = name) -> str:
            return str(digest.facts["versions"].get(name, "unknown"))

        label = Message("Version of {package}", package=name)
        yield from _if_different(sides, f"version.{name}", label, NOTE, value_of=version)
    label = Message("Compilations in counted steps")
    yield from _if_different(sides, "compiles", label, NOTE, value_of=_compiles)
    base, new = sides.both(lambda side: precision_shares(side.digests))
    for kind in sorted({*base, *new}) if base and new else ():
        yield from _if_shifted(
            f"precision.{kind}", Message("Compute on {type} arrays", type=kind), base.get(kind, 0), new.get(kind, 0)
        )
    base_cores, new_cores = sides.both(_tensor_core_share)
    if base_cores is not None and new_cores is not None:
        yield from _if_shifted("tensor_cores", Message("Kernels on tensor cores"), base_cores, new_cores)


def _compiles(digest: Digest) -> int:
    return sum(digest.steps.compiles[i] for i in digest.steps.selected)


def _if_shifted(id: str, label: str, base: float, new: float) -> Iterator[Fact]:
    if abs(base - new) > _LEAST_SHIFT:
        yield Fact(id, label, Message("{share}", share=base), Message("{share}", share=new), NOTE)


def precision_shares(digests: Sequence[Digest]) -> dict[str, float]:
    """Shares of the compute by the type of the arrays that it works on; empty where no shape is known."""
    ps_by_width: Counter[str] = Counter()
    for digest in digests:
        for op in digest.ops:
            width = _WIDTH_OF_TYPE.get(_largest_type(op))
            if op.part == "compute" and width:
                ps_by_width[width] += op.sum_ps
    total = sum(ps_by_width.values())
    return {width: ps / total for width, ps in ps_by_width.items()} if total else {}


def _largest_type(op: DigestOp) -> str:
    """Type of the largest array among an op's result and what it takes; empty where none is known."""
    arrays = _ARRAYS.findall(f"{op.shape},{op.operands}")
    sizes = [prod(int(size) for size in dimensions.split(",") if size) for _, dimensions in arrays]
    return arrays[sizes.index(max(sizes))][0] if arrays else ""


def _tensor_core_share(side: Side) -> float | None:
    """Share of the kernels' time on tensor cores; None where there are no kernels."""
    kernels = [kernel for digest in side.digests for kernel in digest.kernels]
    total = sum(kernel.total_ps for kernel in kernels)
    return sum(kernel.total_ps for kernel in kernels if kernel.tensor_core) / total if total else None


def _shapes(pairs: Sequence[OpPair]) -> list[Fact]:
    """Whether the heaviest ops have other shapes; where only leading dimensions of nearly all changed, by one factor,
    steps do other work.
    """
    heavy = [pair for pair in pairs if pair.base and pair.new and pair.any_op.part == "compute"]
    heavy.sort(key=lambda pair: -(pair.base_ps + pair.new_ps))
    total_ps = changed_ps = 0
    changes: list[tuple[tuple[int, ...], tuple[int, ...]]] = []
    for pair in heavy[:_HEAVY_OPS]:
        base, new = _dimensions(pair.base[0][1]), _dimensions(pair.new[0][1])
        if base and len(base) == len(new):
            total_ps += pair.base_ps + pair.new_ps
            if base != new:
                changed_ps += pair.base_ps + pair.new_ps
                changes += [sizes for sizes in zip(base, new, strict=True) if sizes[0] != sizes[1]]
    if not changes:
        return []
    ratios = {Fraction(base[0], new[0]) if base[1:] == new[1:] else None for base, new in changes}
    (ratio, *others) = ratios
    if ratio and not others and changed_ps >= _NEARLY_ALL * total_ps:
        text = Message("The sides use different sizes; state the items per step of both sides.")
        base_size, new_size = f"{ratio.numerator}", f"{ratio.denominator}"
        return [Fact("batch", Message("Ratio of leading dimensions"), base_size, new_size, STOPS, text)]
    base_shapes, new_shapes = (", ".join(str(list(shapes[side])) for shapes in changes[:2]) for side in (0, 1))
    return [Fact("shapes", Message("Shapes of heavy ops"), base_shapes, new_shapes, NOTE)]


def _unrelated(pairs: Sequence[OpPair]) -> list[Fact]:
    """Whether next to no time of either side is in ops that the other has, too, by any rule of `match`."""
    named_pairs = [pair for pair in pairs if pair.any_op.name not in (OTHERS, NOTHING)]
    shares = time_shares(named_pairs, lambda pair: bool(pair.base and pair.new))
    if max(shares) >= _LEAST_RELATED:
        return []
    base, new = (Message("{percent}", percent=share) for share in shares)
    text = Message("These are different programs.")
    return [Fact("unrelated", Message("Time in ops found on both sides"), base, new, STOPS, text)]


def _dimensions(op: DigestOp) -> list[tuple[int, ...]]:
    """Dimensions of an op's result and operands, of those that have two or more."""
    sizes = _SIZES.findall(f"{op.shape},{op.operands}")
    return [tuple(map(int, text.split(","))) for text in sizes]
