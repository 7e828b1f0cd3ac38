"""What flight recorders tell of a hang: as text for a terminal, as Markdown, and as JSON for scripts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...analysis.hang import sentences
from ...analysis.hang.groups import ProcessGroup, rank_ranges
from ...analysis.hang.table import Cell, RankTable, table
from ...analysis.hang.verdict import HangCause, HangVerdict, Position, judge
from ...formats.flight_recorder import Dump, PythonFrame
from ...runtime.messages import Message, localized, translated
from ...runtime.problems import Problem
from ...runtime.records import NamedTuple
from ...runtime.terminal import cells, padded, printable
from ...store import flight_recorder_dumps
from ...tools.answers.answer import Json
from ...tools.answers.markdown import code, escaped

VERSION = 1
_MOST_GROUPS = 8
"""Tables that text and Markdown show; JSON has all."""
_MOST_FRAMES = 12
_MOST_DETAILS = 12
_RANKS_LABEL = Message("ranks")


class HangAnalysis(NamedTuple):
    """The verdict over a folder, and what it rests on."""

    folder: str
    verdict: HangVerdict
    dumps: Sequence[Dump]
    problems: Sequence[Problem]
    profiles: Sequence[str]
    """Names of sessions of the same folder."""


def analysis_of(folder: str, name: str, profiles: Sequence[str] = ()) -> HangAnalysis:
    """What the dumps in a folder tell, which is called by that name; raises `ProblemError` where none can be read."""
    dumps, problems = flight_recorder_dumps.read(folder)
    return HangAnalysis(name, judge(dumps, not problems), dumps, problems, profiles)


class Stack(NamedTuple):
    """The stack from which ranks called their last operation."""

    title: Message
    """Which ranks called what."""
    frames: tuple[PythonFrame, ...]
    """Innermost first."""


def as_json(analysis: HangAnalysis) -> Json:
    """As docs/hang.md describes it."""
    verdict = analysis.verdict
    return {
        "version": VERSION,
        "kind": "hang",
        "outcome": verdict.outcome,
        "headline": sentences.headline(verdict),
        "details": sentences.details(verdict),
        "causes": [_cause(verdict, cause) for cause in verdict.causes],
        "groups": [_group(group, divergence(verdict, group)) for group in verdict.groups],
        "ranks": [_rank(verdict, dump) for dump in analysis.dumps],
        "silent": list(verdict.ranks_without_dump),
        "problems": [problem.as_json() for problem in analysis.problems],
        "profiles": list(analysis.profiles),
    }


def text(analysis: HangAnalysis) -> str:
    """For a terminal."""
    return "".join(f"{printable(line)}\n" for line in _text_lines(analysis))


def markdown(analysis: HangAnalysis) -> str:
    """For a ticket or a mail."""
    verdict = analysis.verdict
    lines = [f"**{escaped(sentences.headline(verdict))}**", ""]
    lines += [f"- {escaped(line)}" for line in (*details(verdict), *hints(analysis))]
    for group in visible_groups(verdict):
        grid = table(group, divergence(verdict, group))
        heads = [f"{name} {number}" for name, number in zip(grid.operations, grid.sequences, strict=True)]
        lines += ["", f"{escaped(group_title(group))}:", ""]
        lines += [f"| {escaped(_RANKS_LABEL)} | {' | '.join(map(escaped, heads))} |", f"|---|{'---|' * len(heads)}"]
        lines += [
            f"| {rank_ranges(row.ranks)} | {' | '.join(escaped(sentences.cell_text(cell)) for cell in row.cells)} |"
            for row in grid.rows
        ]
    for stack in stacks(verdict):
        lines += ["", escaped(_stack_title(stack)), "", *(f"1. {code(frame_text(frame))}" for frame in stack.frames)]
    return "\n".join(lines) + "\n"


def _text_lines(analysis: HangAnalysis) -> Iterator[str]:
    verdict = analysis.verdict
    yield sentences.headline(verdict)
    yield from (f"  {translated(detail)}" for detail in details(verdict))
    for group in visible_groups(verdict):
        yield ""
        yield group_title(group)
        yield from _table_lines(table(group, divergence(verdict, group)))
    left_out = len(verdict.groups) - len(visible_groups(verdict))
    if left_out:
        omitted = Message(
            "{count, plural, one {# more group} other {# more groups}}; --format json lists all.", count=left_out
        )
        yield f"  {translated(omitted)}"
    for stack in stacks(verdict):
        yield ""
        yield str(translated(_stack_title(stack)))
        yield from (f"  {frame_text(frame)}" for frame in stack.frames[:_MOST_FRAMES])
        if len(stack.frames) > _MOST_FRAMES:
            yield f"  {localized('and {count} more', count=len(stack.frames) - _MOST_FRAMES)}"
    hint_lines = list(hints(analysis))
    if hint_lines:
        yield ""
        yield from hint_lines


def _stack_title(stack: Stack) -> Message:
    return Message("{title}:", title=stack.title)


def group_title(group: ProcessGroup) -> Message:
    """The title of a group's table."""
    count = len(group.members)
    return Message("Group {group}, {count, plural, one {# rank} other {# ranks}}", group=group.label, count=count)


def details(verdict: HangVerdict) -> list[Message]:
    """Sentences beside the headline, cut where nobody would read on."""
    all_details = sentences.details(verdict)
    omitted = len(all_details) - _MOST_DETAILS
    return [
        *all_details[:_MOST_DETAILS],
        *([Message("{count} more sentences; --format json lists all.", count=omitted)] if omitted > 0 else []),
    ]


def hints(analysis: HangAnalysis) -> Iterator[Message]:
    """What to do to learn more."""
    unread = sum(dump.unread_entries for dump in analysis.dumps)
    if unread:
        yield Message("{count} entries of the dumps could not be read.", count=unread)
    if analysis.verdict.causes and not any(dump.has_stacks for dump in analysis.dumps):
        yield Message("These dumps hold no Python stacks. Dump pickles instead of JSON.")
    if analysis.profiles:
        yield Message(
            "The folder also holds profiles. Open them: {command}", command=f"tb-profile serve {analysis.folder}"
        )


def _table_lines(grid: RankTable) -> Iterator[str]:
    """Lines of a table, each column as wide as its widest cell."""
    rows = [(translated(_RANKS_LABEL), *map(str, grid.sequences)), ("", *grid.operations)]
    rows += [(rank_ranges(row.ranks), *map(sentences.cell_text, row.cells)) for row in grid.rows]
    widths = [max(map(cells, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  " + "  ".join(padded(cell, width) for cell, width in zip(row, widths, strict=True)).rstrip()


def visible_groups(verdict: HangVerdict) -> list[ProcessGroup]:
    """The groups with findings, in the order of the causes, or all where there are none; `_MOST_GROUPS` of them."""
    groups = list({id(cause.finding.group): cause.finding.group for cause in verdict.causes}.values())
    candidates = groups or verdict.groups
    return [group for group in candidates if group.sequences()][:_MOST_GROUPS]


def divergence(verdict: HangVerdict, group: ProcessGroup) -> int | None:
    """The sequence number at which a group's ranks diverge."""
    findings = (
        cause.finding for cause in verdict.causes if cause.finding.group is group and not cause.finding.unit.is_p2p
    )
    return next((finding.unit.sequence for finding in findings), None)


def stacks(verdict: HangVerdict) -> list[Stack]:
    """The stacks of the culprits of all causes, each rank once; of all ranks of a cause that has no culprits."""
    ranks_of: dict[tuple[PythonFrame, ...], list[int]] = {}
    call_of: dict[tuple[PythonFrame, ...], Position] = {}
    ranks_with_stack: set[int] = set()
    for cause in verdict.causes:
        for rank in cause.finding.culprits or cause.finding.others:
            position = verdict.position_at(rank, cause.finding)
            if rank not in ranks_with_stack and position and (frames := position.unit.first.frames):
                call_of.setdefault(frames, position)
                ranks_of.setdefault(frames, []).append(rank)
                ranks_with_stack.add(rank)
    return [
        Stack(
            Message(
                "{who} called {operation} of group {group} from",
                who=sentences.ranks_text(numbers),
                operation=sentences.operation_text(call_of[frames].unit),
                group=call_of[frames].group,
            ),
            frames,
        )
        for frames, numbers in ranks_of.items()
    ]


def frame_text(frame: PythonFrame) -> str:
    """A call of a stack: ``train.py:88 in step``."""
    return f"{frame.file}:{frame.line} in {frame.function}"


def _cause(verdict: HangVerdict, cause: HangCause) -> Json:
    finding = cause.finding
    stacks: dict[tuple[PythonFrame, ...], list[int]] = {}
    for rank in finding.culprits or finding.others:
        position = verdict.position_at(rank, finding)
        stacks.setdefault(position.unit.first.frames if position else (), []).append(rank)
    return {
        "sort": finding.sort,
        "sentence": sentences.finding_sentence(finding),
        "group": finding.group.label,
        "operation": finding.unit.kind,
        "sequence": finding.unit.sequence,
        "p2p": finding.unit.is_p2p,
        "culprits": list(finding.culprits),
        "waiting": list(finding.waiting),
        "others": list(finding.others),
        "sides": [side._asdict() for side in finding.mismatch.sides] if finding.mismatch else [],
        "follows": list(cause.follows_from),
        "stacks": [
            {"ranks": ranks, "frames": [frame._asdict() for frame in frames]}
            for frames, ranks in stacks.items()
            if frames
        ],
    }


def _group(group: ProcessGroup, sequence: int | None) -> Json:
    grid = table(group, sequence) if group.sequences() else RankTable((), (), ())
    return {
        "label": group.label,
        "members": list(group.members),
        "silent": list(group.ranks_without_dump),
        "sequences": list(grid.sequences),
        "operations": list(grid.operations),
        "rows": [{"ranks": list(row.ranks), "cells": list(map(_cell, row.cells))} for row in grid.rows],
    }


def _cell(cell: Cell) -> str:
    return f"{cell.operation} {cell.state}" if cell.operation else cell.state


def _rank(verdict: HangVerdict, dump: Dump) -> Json:
    position = verdict.positions.get(dump.rank)
    return {
        "rank": dump.rank,
        "file": dump.where,
        "entries": len(dump.operations),
        "unread": dump.unread_entries,
        "at": position
        and {
            "group": position.group,
            "operation": sentences.operation_text(position.unit),
            "state": position.unit.state,
        },
    }
