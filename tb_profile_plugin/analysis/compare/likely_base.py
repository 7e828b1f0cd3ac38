"""What a session is most likely to be compared with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...runtime.problems import Problem, ProblemError
from ..steps.choice_names import TYPICAL
from .load import digest_of_session, neighbour_digests
from .same_program import of_same_program

if TYPE_CHECKING:
    from ...model.session import Session

_MOST_BYTES = 32 << 20
"""Bytes of captures that are read for a suggestion."""


def likely_base(session: Session, step_event: str = "", steps: str = TYPICAL) -> str | None:
    """Name of the last session before this one that ran the same program, one of its own folder first.

    None where there is none, where finding one would take reading too much, and where this session has no digest.
    """
    if not session.neighbours:
        return None
    try:
        own_digest = digest_of_session(session, "", step_event, steps)
    except ProblemError:
        return None
    folder = _folder(session.name)
    earlier = [stored for stored in session.neighbours.sessions() if stored.modified < session.stored.modified]
    earlier.sort(key=lambda stored: _folder(stored.name) != folder)
    for name, digest in neighbour_digests(session.neighbours, earlier, step_event, steps, _MOST_BYTES):
        if digest and not isinstance(digest, Problem) and of_same_program([(name, digest)], own_digest):
            return name
    return None


def _folder(name: str) -> str:
    return name.rpartition("/")[0]
