"""What would help, in the program's own framework: a sentence, and code that runs as it stands."""

from __future__ import annotations

from ....runtime.messages import message
from ....runtime.records import NamedTuple
from ...finding import Finding
from ..program.facts import FUSED, KINDS_OF_PROGRAMS, NO_TENSOR_CORES, ON_CPU, PREFETCHES, SPARSE_GRADIENTS, TRACED
from ..program.program_facts import ProgramFacts
from .examples import EXAMPLES
from .texts import LOOK_AT_STEPS, REMEDIES, SPREAD

_SAVE_NOTHING = (
    "unexplained",
    "start_up",
    "warmup",
    "warmup_same_work",
    "not_recorded",
    "before_capture",
    "stream",
    "counted",
    LOOK_AT_STEPS,
    SPREAD,
)
"""Causes whose remedies say what to record, where to look, or to do the same work at another time."""
_OF_CAPTURE = (ON_CPU, TRACED)
"""Facts that say more of the capture than of the program's habits."""
_NO_USE = {
    ("optimizer", SPARSE_GRADIENTS),
    ("elementwise", SPARSE_GRADIENTS),
    ("other_optimizer", SPARSE_GRADIENTS),
    ("optimizer", FUSED),
    ("float32", NO_TENSOR_CORES),
    ("input", PREFETCHES),
}
"""Causes of which a capture shows that their remedy was taken, or cannot help."""


class Remedy(NamedTuple):
    """What to do about a cause."""

    text: str
    code: str = ""
    """An example that runs by itself; empty where none would be shorter than the sentence."""
    saves: bool = True
    """Whether it shortens steps; what is only to be recorded saves nothing."""
    most_ps: float | None = None
    """What it saves of a step at most, where that may be less than the cause takes."""
    fact: str = ""
    """What the capture shows that it is for, as `program_facts` names it; empty where it is for all."""

    def gain_ps(self, cause_gain_ps: float | None) -> float | None:
        """What it saves at most, where a step without the cause saves so much; None where nothing, or not known."""
        if not self.saves or cause_gain_ps is None:
            return None
        return cause_gain_ps if self.most_ps is None else min(self.most_ps, cause_gain_ps)


def remedy(framework: str, *causes: str, facts: frozenset[str] = frozenset()) -> Remedy:
    """Remedy of the first of the causes that has one: for what the capture shows, as `program_facts` names it, in its
    framework, else what holds in all.
    """
    for cause in causes:
        # What was not recorded is to be recorded, whether the host or a device is idle meanwhile.
        for key in _advice_keys("unexplained" if cause == "unrecorded" else cause, framework, facts):
            if key in REMEDIES:
                return Remedy(message(REMEDIES[key]), EXAMPLES.get(key, ""), key[0] not in _SAVE_NOTHING, fact=key[2])
    return Remedy("")


def advised(
    program: ProgramFacts, id: str, cause: str, evidence: str, gain_ps: float | None = None, tool: str = ""
) -> Finding | None:
    """What a rule of that id finds, with the remedy of a cause; None where the program needs none."""
    advice = remedy(program.framework, cause, facts=program.facts)
    return Finding(id, advice.text, evidence, gain_ps, code=advice.code, tool=tool) if advice.text else None


def _advice_keys(cause: str, framework: str, facts: frozenset[str]) -> list[tuple[str, str, str]]:
    """From the most special to the most general; none where what would help is done already, or would not help."""
    if any((cause, fact) in _NO_USE for fact in facts):
        return []
    special_first = sorted(facts, key=lambda fact: (fact in KINDS_OF_PROGRAMS, fact in _OF_CAPTURE, fact))
    return [(cause, framework_name, fact) for fact in (*special_first, "") for framework_name in (framework, "")]
