"""Trend: since when are steps slower, over the sessions of a logdir, and why?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from typing import Any

from ..analysis.compare.load import digest_of_session, neighbour_digests
from ..analysis.compare.same_program import by_program, of_same_program, program_name
from ..analysis.compare.trend import Trend, jump_sentence, sessions_by_time, summary
from ..analysis.compare.trend import trend as trend_of
from ..analysis.digest.record import Digest
from ..model.host import HostWithSteps
from ..model.session import Neighbours, Session
from ..runtime.messages import Message, sentences
from ..runtime.problems import Problem
from ..runtime.records import NamedTuple
from .answers.answer import Answer, Headline, Table, by_column, flag, number, text
from .answers.tool import STEP_EVENT, Param, tool
from .columns.steps import STEPS_PARAM

_BYTES_READ_UNASKED = 32 << 20
"""Captures that were not read yet are read as long as they are no more than this together."""
_ALL, _ANY_NAME = "all", "*"
"""Values of the options ``read`` and ``match``."""

_FACTS = (
    number(
        "between_runs",
        "Runs differ by",
        "share",
        "Standard deviation of step times between runs; blank for fewer than 4 runs.",
    ),
    number("unread", "Not read yet", doc="Number of sessions that were not read yet."),
    number(
        "others",
        "Other programs",
        doc="Number of sessions with other devices, hosts, kinds of steps or ops than this one.",
    ),
)

_PROGRAMS = Table(
    "programs",
    "Programs",
    (
        text("program", "Program", "XLA programs or ops that compute longest, device, kind of steps."),
        text("run", "Session", "Session to open for its trend: this one, or the newest of the program."),
        number("sessions", "Sessions", doc="Number of its sessions."),
    ),
    doc="Programs of these sessions, this session's first.",
)

_SESSIONS = Table(
    "sessions",
    "Sessions",
    (
        text("run", "Session"),
        text("began", "Began", "Start time by the host's clock, UTC; blank if not recorded."),
        number("step_ps", "Step", "ps", "Mean time from step to step."),
        number("level_ps", "Level", "ps", "Median of the step times between two level changes."),
        number("kept", "Steps", doc="Number of counted steps."),
        flag("marked", "Level change", "Whether step times change to another level with this session."),
        text("before", "Previous session", "Session before this one in time."),
    ),
    doc="Sessions in order of time.",
)

_JUMPS = Table(
    "jumps",
    "Level changes",
    (
        text("since", "Since", "First session of the new level."),
        text("before", "Before", "Last session of the old level."),
        number("change", "Change", "share", "Change relative to the old level.", signed=True),
        flag("confirmed", "Confirmed", "Whether three sessions on either side confirm the change beyond chance."),
        text("text", "Why", "Reasons, from comparing the sessions before and after."),
    ),
)

_LEFT_OUT = Table(
    "left",
    "Left out",
    (text("run", "Session"), text("why", "Why")),
    doc="Sessions that match but are left out, with the reason.",
)


class _ReadDigests(NamedTuple):
    """What is known of the sessions whose names match."""

    digests: list[tuple[str, Digest]]
    """(name of the session, its digest), in order of time."""
    left_out: list[tuple[str, str]]
    """(name of the session, why it has no digest)."""
    unread: int
    """Number of sessions that were not read yet."""


@tool(
    "Trend",
    group="Compare",
    order=75,
    params=[
        Param("match", _ANY_NAME, "Pattern of session names, e.g. nightly/*.", kind="sessions"),
        Param("read", "some", "Whether to read all sessions that were not read yet.", ("some", _ALL)),
        STEPS_PARAM,
        STEP_EVENT,
    ],
    facts=_FACTS,
    tables=(_PROGRAMS, _JUMPS, _SESSIONS, _LEFT_OUT),
    uses_all_sessions=True,
)
def trend(session: Session, hosts: Sequence[HostWithSteps], match: str, read: str, steps: str) -> Answer:
    """Since when are steps slower, over the sessions of this logdir, and why?"""
    if not session.neighbours:
        return Answer(headline=Headline(Message("Trend needs a logdir: run tb-profile trend LOGDIR."), "unknown"))
    own_digest = digest_of_session(session, "", hosts[0].step_event, steps)
    reading = _read_digests(session.neighbours, match, read == _ALL, steps, hosts[0].step_event)
    comparable = of_same_program(reading.digests, own_digest, match == _ANY_NAME)
    history = trend_of(comparable)
    names = {name for name, _ in comparable}
    others = [(name, digest) for name, digest in reading.digests if name not in names]
    other_program_reason = Message("It has other devices, hosts, kinds of steps or ops than this session.")
    no_time_reason = Message("Its steps take no time.")
    left_out = [*reading.left_out, *((name, other_program_reason) for name, _ in others)]
    left_out += [(name, no_time_reason) for name in sorted(names - {point.name for point in history.points})]
    facts = {"between_runs": history.deviation, "unread": reading.unread, "others": len(others)}
    programs = [(program_name(own_digest), session.name, len(history.points))]
    programs += [
        (program_name(group[-1][1]), timed_sessions[-1][0], len(timed_sessions))
        for group in by_program(others, match == _ANY_NAME)
        if (timed_sessions := sessions_by_time(group))
    ]
    tables = {
        "programs": by_column(_PROGRAMS, programs),
        "sessions": by_column(_SESSIONS, _session_rows(history)),
        "jumps": by_column(_JUMPS, _jump_rows(history)),
        "left": by_column(_LEFT_OUT, left_out),
    }
    return Answer(facts, tables, _headline(history), _notes(reading.unread))


def _read_digests(neighbours: Neighbours, match: str, read_all: bool, steps: str, step_event: str) -> _ReadDigests:
    """Digests from the cache, and of sessions that are read now: all, or as many as are small together."""
    digests, left_out, unread = [], [], 0
    sessions = [stored for stored in reversed(neighbours.sessions()) if fnmatchcase(stored.name, match)]
    most_bytes = None if read_all else _BYTES_READ_UNASKED
    for name, digest in neighbour_digests(neighbours, sessions, step_event, steps, most_bytes):
        if digest is None:
            unread += 1
        elif isinstance(digest, Problem):
            left_out.append((name, str(digest)))
        else:
            digests.append((name, digest))
    return _ReadDigests(digests, left_out, unread)


def _session_rows(history: Trend) -> Iterator[tuple[Any, ...]]:
    jumps = {jump.at for jump in history.jumps}
    for index, point in enumerate(history.points):
        estimate = point.estimate
        before = history.points[index - 1].name if index else None
        times_ps = round(estimate.mean), round(point.level)
        yield point.name, point.began, *times_ps, estimate.step_count, index in jumps, before


def _jump_rows(history: Trend) -> Iterator[tuple[Any, ...]]:
    for jump in history.jumps:
        names = history.points[jump.at].name, history.points[jump.at - 1].name
        reasons = jump.verdict.reasons if jump.verdict else ()
        yield *names, jump.change, jump.confirmed, sentences(*reasons) if reasons else None


def _headline(history: Trend) -> Headline:
    last_jump = next((jump for jump in reversed(history.jumps) if jump.confirmed), None)
    if last_jump is None:
        return Headline(summary(history), "info" if len(history.points) > 1 else "unknown")
    text = sentences(summary(history), jump_sentence(history, last_jump))
    return Headline(text, "bad" if last_jump.change > 0 else "ok")


def _notes(unread: int) -> list[Problem]:
    if not unread:
        return []
    message = Message(
        "{count, plural, one {# more session was} other {# more sessions were}} not read yet.", count=unread
    )
    return [Problem("unread", message, "Read them all; it takes as long as opening them one by one.", "", "warning")]
