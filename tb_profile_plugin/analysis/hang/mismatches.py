"""Whether the ranks of a group ask for the same: the same collective, as many elements, the same types."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping
from math import prod

from ...formats.flight_recorder import Call
from ...runtime.messages import Message, all_of
from ...runtime.records import NamedTuple
from .groups import Unit

TYPE, SIZE, DTYPE = "type", "size", "dtype"
"""Ranks call different collectives; pass different numbers of elements; pass different types of elements."""

_TO_ALL = ("all_to_all", "all_to_all_single", "all_to_all_v_single")
_INPUTS_DIFFER = frozenset({*_TO_ALL, "scatter", "all_gather_v"})
_OUTPUTS_DIFFER = frozenset({*_TO_ALL, "gather", "reduce_scatter_v"})
_INPUT_TYPES_DIFFER = frozenset({"scatter", "broadcast"})
_OUTPUT_TYPES_DIFFER = frozenset({"gather"})
"""Collectives that ask it of one rank alone, or let ranks pass as much as they like."""


class AgreeingRanks(NamedTuple):
    """Ranks that ask for the same."""

    ranks: tuple[int, ...]
    what: str
    """What they call or pass: ``broadcast``, ``16 elements``, ``Float``."""
    kind: str
    """What they call."""


class Mismatch(NamedTuple):
    """How ranks differ at one number of a group."""

    sort: str
    """`TYPE`, `SIZE` or `DTYPE`."""
    sides: tuple[AgreeingRanks, ...]
    """Most ranks first; if the first two have as many, none is known to be right."""


def mismatch(units: Mapping[int, Unit], has_all_members: bool) -> Mismatch | None:
    """How the ranks' units of one number differ; ``has_all_members`` tells that all members' are there."""
    distinct_calls = {unit.calls for unit in units.values()}
    if len(distinct_calls) == 1 and not any(call.kind in _TO_ALL for call in next(iter(distinct_calls))):
        return None
    kinds = {rank: unit.kind for rank, unit in units.items()}
    sides = _sides({rank: tuple(call.kind for call in unit.calls) for rank, unit in units.items()}, kinds, kinds)
    if sides:
        return Mismatch(TYPE, sides)
    for i in range(len(next(iter(distinct_calls)))):
        calls = {rank: unit.calls[i] for rank, unit in units.items()}
        if difference := _rank_mismatch(calls, kinds) or (_total_mismatch(calls, kinds) if has_all_members else None):
            return difference
    return None


def element_count(shapes: Iterable[tuple[int, ...]]) -> int:
    """Elements of tensors of these shapes."""
    return sum(map(prod, shapes))


def _rank_mismatch(calls: Mapping[int, Call], kinds: Mapping[int, str]) -> Mismatch | None:
    """How calls of one kind differ in what each rank passes, where all must pass the same."""
    kind = next(iter(calls.values())).kind
    for field, any_size, any_type in (
        ("input", _INPUTS_DIFFER, _INPUT_TYPES_DIFFER),
        ("output", _OUTPUTS_DIFFER, _OUTPUT_TYPES_DIFFER),
    ):
        shapes = {rank: getattr(call, f"{field}_sizes") for rank, call in calls.items()}
        # Of a rank that passes no tensor, or of which none was recorded, there is nothing to say.
        shapes = {rank: shape for rank, shape in shapes.items() if shape}
        counts = {rank: tuple(map(prod, shape)) for rank, shape in shapes.items()}
        texts = {rank: Message("{count} elements", count=element_count(shape)) for rank, shape in shapes.items()}
        if kind not in any_size and (sides := _sides(counts, texts, kinds)):
            return Mismatch(SIZE, sides)
        dtypes = {rank: tuple(sorted(set(getattr(calls[rank], f"{field}_dtypes")))) for rank in shapes}
        dtypes = {rank: names for rank, names in dtypes.items() if names}
        texts = {rank: all_of(names) for rank, names in dtypes.items()}
        if kind not in any_type and (sides := _sides(dtypes, texts, kinds)):
            return Mismatch(DTYPE, sides)
    return None


def _total_mismatch(calls: Mapping[int, Call], kinds: Mapping[int, str]) -> Mismatch | None:
    """Whether all ranks together send more or less than they receive, where each may choose how much."""
    if next(iter(calls.values())).kind not in _TO_ALL:
        return None
    sent = sum(element_count(call.input_sizes) for call in calls.values())
    received = sum(element_count(call.output_sizes) for call in calls.values())
    text = Message("send {sent} elements and receive {received}", sent=sent, received=received)
    kind = next(iter(kinds.values()))
    return Mismatch(SIZE, (AgreeingRanks(tuple(sorted(calls)), text, kind),)) if sent != received else None


def _sides(
    values: Mapping[int, Hashable], texts: Mapping[int, str], kinds: Mapping[int, str]
) -> tuple[AgreeingRanks, ...]:
    """Ranks by what they ask for, most ranks first; empty where all ask for the same."""
    ranks_by_value: dict[Hashable, list[int]] = defaultdict(list)
    for rank, value in sorted(values.items()):
        ranks_by_value[value].append(rank)
    if len(ranks_by_value) < 2:
        return ()
    sides = sorted(ranks_by_value.values(), key=lambda members: (-len(members), members))
    return tuple(AgreeingRanks(tuple(members), texts[members[0]], kinds[members[0]]) for members in sides)
