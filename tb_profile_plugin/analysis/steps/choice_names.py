"""How steps may be chosen, and why one is left out; `step_choice` chooses them."""

from __future__ import annotations

from ...runtime.messages import Message
from ...runtime.problems import problem_error
from ...runtime.regex import regex

TYPICAL, ALL = "typical", "all"
"""Choices of steps; the third is a range of their numbers, as pages show them, such as ``5-20``."""

SELECTED, CUT, WARM_UP, UNUSUAL, EXTREME, NOT_CHOSEN = "", "cut", "warm_up", "unusual", "extreme", "not_chosen"
"""Why a step is not among those that figures go over; `SELECTED` where it is."""

NUMBER_RANGE = regex(r"(\d{1,18})-(\d{1,18})")
"""The first and the last number."""


def checked_choice(wanted: str) -> str:
    """The choice itself; raises `ProblemError` for what is none."""
    match = NUMBER_RANGE.fullmatch(wanted)
    if wanted in (TYPICAL, ALL) or (match and int(match[1]) <= int(match[2])):
        return wanted
    remedy = Message("Give {typical}, {all}, or a range of numbers such as 5-20.", typical=TYPICAL, all=ALL)
    raise problem_error("bad_option", Message("steps={steps} is not a choice of steps.", steps=repr(wanted)), remedy)
