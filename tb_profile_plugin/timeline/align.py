"""Two timelines on one clock: the begin of a step is aligned with the begin of a step there."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median_low
from typing import NamedTuple

from ..runtime.messages import Message
from ..runtime.problems import problem_error

MOST_NAMES = 1_000
"""Steps that a page can offer."""


class Steps(NamedTuple):
    """Of one side, in order of time; times are ps since its first event."""

    begin: Sequence[int]
    end: Sequence[int]
    name: Sequence[str]
    complete: Sequence[bool]

    def typical(self) -> int | None:
        """Index of the step of median length among the complete ones, or among all where none is; None without any."""
        indices = [i for i, is_complete in enumerate(self.complete) if is_complete] or list(range(len(self.begin)))
        if not indices:
            return None
        lengths = [self.end[i] - self.begin[i] for i in indices]
        return indices[lengths.index(median_low(lengths))]

    def at(self, index: int) -> int:
        """That index; raises `ProblemError` where there is no such step."""
        if not 0 <= index < len(self.begin):
            message = Message("There is no step at place {index}.", index=index)
            raise problem_error(
                "bad_parameter", message, Message("There are {count}, from 0 on.", count=len(self.begin)), "step"
            )
        return index


class Aligned(NamedTuple):
    """Which step lies over which; both are None where one side has none."""

    step: int | None
    base_step: int | None
    offset: int
    """ps: what is added to a time here to get the time there."""
    text: str


def aligned(here: Steps, there: Steps, step: int | None = None, base_step: int | None = None) -> Aligned:
    """By the steps at these places; what is not given is a typical step, there one of the same name if it has one.

    Raises `ProblemError` for a place without a step.
    """
    own = here.typical() if step is None else here.at(step)
    if base_step is not None:
        other: int | None = there.at(base_step)
    elif step is not None and here.name[step] in there.name:
        other = list(there.name).index(here.name[step])
    else:
        other = there.typical()
    if own is None or other is None:
        lacking = "both" if own is other else "here" if own is None else "base"
        return Aligned(
            None,
            None,
            0,
            Message(
                "No step was found {lacking, select, both {on either side} here {here} other {in the baseline}}; "
                "both are aligned by their first events.",
                lacking=lacking,
            ),
        )
    offset = there.begin[other] - here.begin[own]
    return Aligned(
        own,
        other,
        offset,
        Message("{name} is aligned with {base} of the baseline.", name=here.name[own], base=there.name[other]),
    )
