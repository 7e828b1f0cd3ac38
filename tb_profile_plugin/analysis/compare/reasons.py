"""What explains the difference of two sides: the parts of the step that changed, and the ops in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from ...runtime.messages import Message, all_of, message
from ..diagnosis.catalogue import LABELS
from ..digest.record import LATE_PEER, NOTHING, OTHERS
from .causes import CauseChange, late_hosts
from .engine import Comparison, OpRow, PartRow
from .facts import PYTHON_TRACER
from .headline import cause_of
from .side import Side

_RENAMED_SHARE = 0.30
"""Where ops that the other side lacks take more than this share on both sides, they were renamed, and say little."""
_EXPLAINED_SHARE = 0.80
"""Parts are told until they explain so much of the difference."""
_MOST_REASONS = 4
_MAIN_SHARE = 0.4
"""An op is named if it is so much of its part's difference."""

Hosts = tuple[Mapping[str, str], Mapping[str, str]]
"""Names of the base's hosts and the new side's by their places, where somebody knows them: digests have none."""


def reasons_of(comparison: Comparison, hosts: Hosts) -> tuple[list[str], list[Message]]:
    """(ids, sentences): the largest parts of the step that changed in the same direction, each with its largest op,
    until they explain most of it. Ids are those of parts, and ``op:`` with an op's.

    Before them stands a host that the others wait for longer, or no longer, where that is most of it: they only wait.
    After the first reason come only those that are certain: their interval lies on one side of 0.
    """
    total = comparison.step_difference.delta
    reasons = _late_peer_reasons(comparison, hosts)
    ids = [LATE_PEER] * len(reasons)
    explained = Fraction(0)
    for part in comparison.parts:
        difference = part.difference
        if abs(explained) >= _EXPLAINED_SHARE * abs(total) or len(reasons) == _MOST_REASONS:
            break
        is_certain = not (difference.low or 0.0) <= 0 <= (difference.high or 0.0)
        if difference.delta * total > 0 and (is_certain or not reasons):
            explained += difference.delta
            op_ids, reason = _part_reason(comparison, part)
            ids += [part.id, *op_ids]
            reasons.append(reason)
    return ids, reasons


def _late_peer_reasons(comparison: Comparison, hosts: Hosts) -> list[Message]:
    """For which hosts the others wait, where that is most of the difference; else nothing."""
    cause, sides = cause_of(comparison, LATE_PEER), comparison.sides
    # Causes are per step, the difference of steps is per item.
    step_delta_ps = comparison.step_difference.delta * sides.new.items
    if not cause or cause.delta_ps * step_delta_ps <= 0 or abs(cause.delta_ps) < _MAIN_SHARE * abs(step_delta_ps):
        return []
    waits_more = cause.delta_ps > 0
    return [_peer_sentence(cause, sides.new if waits_more else sides.base, hosts[waits_more])]


def _part_reason(comparison: Comparison, part: PartRow) -> tuple[list[str], Message]:
    """(ids of its main op, sentence): by how much a part changed, and what most of that is."""
    delta = part.difference.delta
    change = Message("{part}: {change}", part=message(LABELS[part.id]), change=more_or_less(delta))
    op_ids, detail = _main_op(_named_ops(comparison, part.id), delta)
    if detail is None and part.id == "unrecorded" and _is_python_untraced(comparison):
        detail = Message("Turn on the Python tracer to name it")
    return op_ids, Message("{reason}. {detail}", reason=change, detail=detail) if detail else change


def _main_op(ops: Sequence[OpRow], delta: Fraction) -> tuple[list[str], Message | None]:
    """(ids, sentence) of the op, or of the new or gone ops, that make most of a part's difference; empty if none do.

    Ops that one side lacks are new or gone only where the other has few of its own in the part: else they are renamed.
    """
    has_few_renamed = min(_unmatched_ps(ops)) <= _RENAMED_SHARE * abs(delta)
    changed_ops = [op for op in ops if op.difference.delta * delta > 0 and (has_few_renamed or not op.is_one_sided)]
    op = max(changed_ops, key=lambda op: abs(op.difference.delta), default=None)
    if op and abs(op.difference.delta) >= _MAIN_SHARE * abs(delta):
        return [f"op:{op.id}"], _op_sentence(op)
    one_sided_ops = [op for op in changed_ops if op.is_one_sided]
    one_sided_ps = abs(sum((op.difference.delta for op in one_sided_ops), Fraction(0)))
    if one_sided_ps < _MAIN_SHARE * abs(delta):
        return [], None
    return [], Message(
        "{count} ops are {way, select, new {new} other {gone}} ({time_ps}), such as {op}",
        count=len(one_sided_ops),
        way="new" if delta > 0 else "gone",
        time_ps=float(one_sided_ps),
        op=one_sided_ops[0].name,
    )


def _is_python_untraced(comparison: Comparison) -> bool:
    """Whether the Python tracer, which would tell what runs where nothing was recorded, was off."""
    return all(digest.facts["levels"].get(PYTHON_TRACER) == 0 for digest in comparison.sides.new.digests)


def _unmatched_ps(ops: Sequence[OpRow]) -> tuple[Fraction, Fraction]:
    """ps per step in ops that only the base has, and that only the new side has."""
    unmatched = [op.difference for op in ops if op.is_one_sided]
    return sum((op.base for op in unmatched), Fraction(0)), sum((op.new for op in unmatched), Fraction(0))


def _named_ops(comparison: Comparison, part: str) -> list[OpRow]:
    return [op for op in comparison.ops if op.part == part and not {op.base.name, op.new.name} & {NOTHING, OTHERS}]


def is_renamed(comparison: Comparison) -> bool:
    """Whether so much of both sides is in ops that the other lacks that ops say little."""
    renamed_ps = sum((min(_unmatched_ps(_named_ops(comparison, part.id))) for part in comparison.parts), Fraction(0))
    return renamed_ps > _RENAMED_SHARE * min(comparison.step_difference.base, comparison.step_difference.new)


def _peer_sentence(cause: CauseChange, side: Side, hosts: Mapping[str, str]) -> Message:
    """For which workers the others wait, and how long on both sides."""
    late_names = [hosts.get(host, host) for host in late_hosts(side)]
    return Message(
        "{label}: the others wait for {workers}, {base_ps} → {new_ps}",
        label=cause.label,
        workers=all_of(late_names) if late_names else Message("one worker"),
        base_ps=cause.base_ps,
        new_ps=cause.new_ps,
    )


def _op_sentence(op: OpRow) -> Message:
    """What became of an op: new, gone, or its times on both sides, with their counts or kernels where these differ."""
    base_ps, new_ps = float(op.difference.base), float(op.difference.new)
    if not op.base.name:
        return Message("{op} is new ({new_ps})", op=op.name, new_ps=new_ps)
    if not op.new.name:
        return Message("{op} is gone ({base_ps})", op=op.name, base_ps=base_ps)
    if _is_by_count(op):
        change = Message(
            "{op}: {base_ps} → {new_ps}, {base_count} → {new_count} times per step",
            op=op.name,
            base_ps=base_ps,
            new_ps=new_ps,
            base_count=_count_text(op.base.launches),
            new_count=_count_text(op.new.launches),
        )
    else:
        change = Message("{op}: {base_ps} → {new_ps}", op=op.name, base_ps=base_ps, new_ps=new_ps)
    if not op.has_other_kernel:
        return change
    return Message(
        "{change}, with another kernel: {base} → {new}", change=change, base=op.base.kernels, new=op.new.kernels
    )


def _is_by_count(op: OpRow) -> bool:
    """Whether most of its difference comes from running twice as often, or half, and more."""
    low, high = sorted((op.base.launches, op.new.launches))
    return high >= 2 * low and 2 * op.by_count / op.difference.delta >= 1


def _count_text(launches: Fraction) -> str:
    return f"{float(launches):,.0f}" if launches >= 10 else f"{float(launches):.2g}"


def more_or_less(delta: Fraction) -> Message:
    """How much more or less time something takes."""
    if delta > 0:
        return Message("{more_ps} more", more_ps=float(delta))
    return Message("{less_ps} less", less_ps=-float(delta))
