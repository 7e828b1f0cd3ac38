"""Trend: since when are steps slower, over the sessions of a logdir, and why?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from ..analysis.compare.load import digest_of_session, neighbour_digests
from ..analysis.compare.same_program import by_program, of_same_program, program_name
from ..analysis.compare.trend import Trend, jump_sentence, summary, timed
from ..analysis.compare.trend import trend as over_time
from ..analysis.digest.record import Digest
from ..model.host import HostWithSteps
from ..model.session import Neighbours, Session
from ..runtime.messages import Message, sentences
from ..runtime.problems import Problem
from .answers.answer import Answer, Column, Headline, Table, by_column, time_column
from .answers.tool import STEP_EVENT, Param, tool
from .columns.steps import CHOICE

_AT_ONCE = 32 << 20
"""Bytes of captures that are read without being asked for."""
_EVERY, _ANY = "all", "*"

_FACTS = (
    Column(
        "between_runs",
        "Runs differ by",
        unit="share",
        doc="Standard deviation of step times between runs; blank for fewer than 4 runs.",
    ),
    Column("unread", "Not read yet", doc="Number of sessions that were not read yet."),
    Column(
        "others",
        "Other programs",
        doc="Number of sessions with other devices, hosts, kinds of steps or ops than this one.",
    ),
)

_PROGRAMS = Table(
    "programs",
    "Programs",
    (
        Column("program", "Program", "string", doc="XLA programs or ops that compute longest, device, kind of steps."),
        Column(
            "run", "Session", "string", doc="Session to open for its trend: this one, or the newest of the program."
        ),
        Column("sessions", "Sessions", doc="Number of its sessions."),
    ),
    doc="Programs of these sessions, this session's first.",
)

_SESSIONS = Table(
    "sessions",
    "Sessions",
    (
        Column("run", "Session", "string"),
        Column("began", "Began", "string", doc="Start time by the host's clock, UTC; blank if not recorded."),
        time_column("step_ps", "Step", "Mean time from step to step."),
        time_column("level_ps", "Level", "Median of the step times between two level changes."),
        Column("kept", "Steps", doc="Number of counted steps."),
        Column(
            "marked", "Level change", "boolean", doc="Whether step times change to another level with this session."
        ),
        Column("before", "Previous session", "string", doc="Session before this one in time."),
    ),
    doc="Sessions in order of time.",
)

_JUMPS = Table(
    "jumps",
    "Level changes",
    (
        Column("since", "Since", "string", doc="First session of the new level."),
        Column("before", "Before", "string", doc="Last session of the old level."),
        Column("change", "Change", unit="share", doc="Change relative to the old level.", signed=True),
        Column(
            "confirmed",
            "Confirmed",
            "boolean",
            doc="Whether three sessions on either side confirm the change beyond chance.",
        ),
        Column("text", "Why", "string", doc="Reasons, from comparing the sessions before and after."),
    ),
)

_LEFT = Table(
    "left",
    "Left out",
    (Column("run", "Session", "string"), Column("why", "Why", "string")),
    doc="Sessions that match but are left out, with the reason.",
)


class _Read(NamedTuple):
    digests: list[tuple[str, Digest]]
    left: list[tuple[str, str]]
    unread: int


@tool(
    "Trend",
    group="Compare",
    order=75,
    params=[
        Param("match", _ANY, "Pattern of session names, e.g. nightly/*.", kind="sessions"),
        Param("read", "some", "Whether to read all sessions that were not read yet.", ("some", _EVERY)),
        CHOICE,
        STEP_EVENT,
    ],
    facts=_FACTS,
    tables=(_PROGRAMS, _JUMPS, _SESSIONS, _LEFT),
    uses_all_sessions=True,
)
def trend(session: Session, hosts: Sequence[HostWithSteps], match: str, read: str, steps: str) -> Answer:
    """Since when are steps slower, over the sessions of this logdir, and why?"""
    if not session.neighbours:
        return Answer(headline=Headline(Message("Trend needs a logdir: run tb-profile trend LOGDIR."), "unknown"))
    own = digest_of_session(session, "", hosts[0].step_event, steps)
    reading = _read(session.neighbours, match, read == _EVERY, steps, hosts[0].step_event)
    comparable = of_same_program(reading.digests, own, match == _ANY)
    history = over_time(comparable)
    names = {name for name, _ in comparable}
    others = [entry for entry in reading.digests if entry[0] not in names]
    other = Message("It has other devices, hosts, kinds of steps or ops than this session.")
    left = [*reading.left, *((name, other) for name, _ in others)]
    left += [
        (name, Message("Its steps take no time.")) for name in sorted(names - {point.name for point in history.points})
    ]
    facts = {"between_runs": history.deviation, "unread": reading.unread, "others": len(others)}
    programs = [(program_name(own), session.name, len(history.points))]
    programs += [
        (program_name(group[-1][1]), entries[-1][0], len(entries))
        for group in by_program(others, match == _ANY)
        if (entries := timed(group))
    ]
    tables = {
        "programs": by_column(_PROGRAMS, programs),
        "sessions": by_column(_SESSIONS, _points(history)),
        "jumps": by_column(_JUMPS, _jumps(history)),
        "left": by_column(_LEFT, left),
    }
    return Answer(facts, tables, _headline(history), _notes(reading.unread))


def _read(neighbours: Neighbours, match: str, every: bool, steps: str, step_event: str) -> _Read:
    """What is known of the sessions; of the others those that are small together are read, or all of them."""
    digests, left, unread = [], [], 0
    sessions = [stored for stored in reversed(neighbours.sessions()) if fnmatchcase(stored.name, match)]
    for name, digest in neighbour_digests(neighbours, sessions, step_event, steps, None if every else _AT_ONCE):
        if digest is None:
            unread += 1
        elif isinstance(digest, Problem):
            left.append((name, str(digest)))
        else:
            digests.append((name, digest))
    return _Read(digests, left, unread)


def _points(history: Trend) -> Iterator[tuple[Any, ...]]:
    firsts = {jump.at for jump in history.jumps}
    for index, point in enumerate(history.points):
        one = point.estimate
        times = round(one.mean), round(point.level)
        before = history.points[index - 1].name if index else None
        yield point.name, point.began, *times, one.step_count, index in firsts, before


def _jumps(history: Trend) -> Iterator[tuple[Any, ...]]:
    for jump in history.jumps:
        names = history.points[jump.at].name, history.points[jump.at - 1].name
        reasons = jump.verdict.reasons if jump.verdict else ()
        yield *names, jump.change, jump.confirmed, sentences(*reasons) if reasons else None


def _headline(history: Trend) -> Headline:
    last = next((jump for jump in reversed(history.jumps) if jump.confirmed), None)
    if last is None:
        return Headline(summary(history), "info" if len(history.points) > 1 else "unknown")
    return Headline(sentences(summary(history), jump_sentence(history, last)), "bad" if last.change > 0 else "ok")


def _notes(unread: int) -> list[Problem]:
    if not unread:
        return []
    message = Message(
        "{count, plural, one {# more session was} other {# more sessions were}} not read yet.", count=unread
    )
    return [Problem("unread", message, "Read them all; it takes as long as opening them one by one.", "", "warning")]
