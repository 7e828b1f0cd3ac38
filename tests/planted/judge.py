"""Hold a diagnosis to what the program measured itself."""

from collections.abc import Iterator
from statistics import mean, median
from typing import Any

from figures import column, facts
from planted.measured import Clock, gain_ms, noise_ms, spread, typical
from planted.table import HOST, Planted

Answer = dict[str, Any]
"""A named answer of the tool `why`."""

ALLOWED = 0.2
"""How far a magnitude and a ceiling may be off, relative to what was measured."""
STEP = 0.05
"""How far the time of a step may be off."""
CALLS_MS = 0.05
"""What lies between the program's reading of the clock and the profiler's."""
ABSENT = 0.05
"""Share of the step below which a cause counts as absent."""
LEFT = 0.2
"""Share of the step, or of the planted cause, that causes of its kind may take in the program without it."""


def causes(answer: Answer) -> dict[str, tuple[float, float | None]]:
    """In rank order: milliseconds per step, and at most won; None where no ceiling is known."""
    rows = zip(*(column(answer, "causes", name) for name in ("id", "per_step_ps", "gain_ps")), strict=True)
    return {id: (ps / 1e9, None if gain is None else gain / 1e9) for id, ps, gain in rows}


def judge(program: Planted, run: Clock, other: Clock, answer: Answer, whole: Answer) -> list[str]:
    """What is wrong with the answer about the run; `other` is without the cause, `whole` the answer over all steps."""
    return [
        *_steps(program, run, whole),
        *_first(program, run, answer),
        *_magnitude(program, run, other, answer, whole),
        *_ceiling(program, run, other, answer),
        *_absent(program, run, answer),
    ]


def judge_without(program: Planted, run: Clock, other: Clock, answer: Answer, whole: Answer) -> list[str]:
    """What is wrong with the answer about the run without the cause."""
    blamed = _first(program, other, answer) if program.steps == "none" else _gone(program, run, other, answer)
    return [*_steps(program, other, whole), *blamed]


def _steps(program: Planted, run: Clock, whole: Answer) -> Iterator[str]:
    """Over all steps the means are equal, whichever of them are typical."""
    found = facts(whole)
    period = found["period_ps"]
    if period is None:
        yield from () if program.stepless else ("no steps",)
        return
    if found["steps_count"] != len(run.period_ms):
        yield f"{found['steps_count']} steps, not {len(run.period_ms)}"
    turn = mean(run.period_ms)
    if run.step_ms:
        # No step follows the last one: what came after it is not between steps.
        gaps = [turn - step for turn, step in zip(run.period_ms, run.step_ms, strict=True)]
        turn = mean(run.step_ms) + mean(gaps[:-1])
    if _off(period / 1e9, turn) > STEP:
        yield f"from step to step {period / 1e9:.2f} ms, by the clock {turn:.2f} ms"


def _first(program: Planted, run: Clock, answer: Answer) -> Iterator[str]:
    first = next(iter(causes(answer)), "nothing")
    if first not in program.first and not (first == "unusual_steps" and _unusual(run)):
        yield f"{first} comes first, not {' or '.join(program.first)}"


def _unusual(run: Clock) -> bool:
    """Whether single steps took much longer by the program's own clock: others use the machine, too."""
    usual = median(run.period_ms)
    return sum(time - usual for time in run.period_ms if time > 1.3 * usual) > ABSENT * sum(run.period_ms)


def _magnitude(program: Planted, run: Clock, other: Clock, answer: Answer, whole: Answer) -> Iterator[str]:
    """The causes that may come first are ways of seeing the planted one: together they are it.

    What only some steps have is an average over all steps, or over those that are kept and what the others have more.
    """
    unknown = program.gain and not run.planted_ms
    if unknown or program.steps == "none" or facts(answer)["period_ps"] is None:
        return
    wanted, noise = _wanted(program, run, other)
    found = [_found(program, each) for each in ([answer, whole] if program.steps == "some" else [answer])]
    if min(abs(ms - wanted) for ms in found) > ALLOWED * wanted + noise:
        yield f"{_named(program)} {found[0]:.2f} ms in each step, measured {wanted:.2f} ms"


def _wanted(program: Planted, run: Clock, other: Clock) -> tuple[float, float]:
    """What the planted cause took in each step, and how far that may be off; milliseconds."""
    if run.planted_ms:
        return typical(program, run.planted_ms), spread(run.period_ms)
    return gain_ms(program, run, other), noise_ms(program, run, other)


def _found(program: Planted, answer: Answer, *but: str) -> float:
    ids = set(program.listed or program.first).difference(but)
    return sum(ms for id, (ms, _) in causes(answer).items() if id in ids)


def _named(program: Planted) -> str:
    return "+".join(program.listed or program.first)


def _ceiling(program: Planted, run: Clock, other: Clock, answer: Answer) -> Iterator[str]:
    """What the planted cause is said to win at most is what the program without it wins."""
    if program.gain or program.steps == "none" or facts(answer)["period_ps"] is None:
        return
    found, wanted = _won(program, answer), gain_ms(program, run, other)
    if found is None:
        yield "no ceiling"
    elif abs(found - wanted) > ALLOWED * wanted + noise_ms(program, run, other):
        yield f"at most {found:.2f} ms won, measured {wanted:.2f} ms"


def _won(program: Planted, answer: Answer) -> float | None:
    """Without the planted cause; or all that the host does late, where that is one of several ways."""
    ids = program.listed or program.first
    id, gain = next(((id, gain) for id, (_, gain) in causes(answer).items() if id in ids), ("", None))
    whole = dict(zip(*(column(answer, "scenarios", name) for name in ("id", "gain_ps")), strict=True)).get("host")
    return whole / 1e9 if id in HOST and whole is not None else gain


def _absent(program: Planted, run: Clock, answer: Answer) -> Iterator[str]:
    """Causes that the program has not, but for what it measured itself: others use the machine, too."""
    period = facts(answer)["period_ps"]
    measured = mean(run.planted_ms) if run.planted_ms and program.steps == "none" else 0.0
    for id, (ms, _) in causes(answer).items():
        if id in program.absent and period and ms > ABSENT * period / 1e9 + measured:
            yield f"{id} {ms:.2f} ms of {period / 1e9:.2f} ms, though there is none"


def _gone(program: Planted, run: Clock, other: Clock, answer: Answer) -> Iterator[str]:
    """Without the cause nobody finds it; single steps may take longer all the same, as others use the machine."""
    period = facts(answer)["period_ps"]
    if program.left or period is None:
        return
    found = _found(program, answer, "unusual_steps")
    if found > LEFT * max(period / 1e9, _wanted(program, run, other)[0]):
        yield f"{_named(program)} {found:.2f} ms of {period / 1e9:.2f} ms without the cause"


def _off(found: float, wanted: float) -> float:
    return max(abs(found - wanted) - CALLS_MS, 0.0) / wanted
