"""Two timelines on one clock: the begin of a step is aligned with the begin of a step there."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median_low

from ..runtime.messages import Message
from ..runtime.problems import problem_error
from ..runtime.records import NamedTuple

MOST_NAMES = 1_000
"""Steps that a page can offer."""


class StepSpans(NamedTuple):
    """The steps of one side, in order of time; times are ps since its first event."""

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

    def check_index(self, index: int) -> None:
        """Raise `ProblemError` where there is no step of this index."""
        if not 0 <= index < len(self.begin):
            message = Message("There is no step at place {index}.", index=index)
            raise problem_error(
                "bad_parameter", message, Message("There are {count}, from 0 on.", count=len(self.begin)), "step"
            )


class Alignment(NamedTuple):
    """Which step lies over which; both are None where one side has none."""

    step: int | None
    base_step: int | None
    offset: int
    """ps: added to a time here it gives the baseline's."""
    text: str


def align(here: StepSpans, there: StepSpans, step: int | None = None, base_step: int | None = None) -> Alignment:
    """Align two sides by these steps (indices).

    A step that is not given is the typical one; in the baseline the one of the same name, if it has one. Raises
    `ProblemError` for an index without a step.
    """
    for steps, index in ((here, step), (there, base_step)):
        if index is not None:
            steps.check_index(index)
    if base_step is None and step is not None and here.name[step] in there.name:
        base_step = list(there.name).index(here.name[step])
    step = here.typical() if step is None else step
    base_step = there.typical() if base_step is None else base_step
    if step is None or base_step is None:
        lacking = "both" if step is base_step else "here" if step is None else "base"
        message = Message(
            "No step was found {lacking, select, both {on either side} here {here} other {in the baseline}}; "
            "both are aligned by their first events.",
            lacking=lacking,
        )
        return Alignment(None, None, 0, message)
    text = Message("{name} is aligned with {base} of the baseline.", name=here.name[step], base=there.name[base_step])
    return Alignment(step, base_step, there.begin[base_step] - here.begin[step], text)
