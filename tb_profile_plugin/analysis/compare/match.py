"""Ops that are the same on both sides, though compilers number them anew: by name, origin, calculation, or source line.

Groups match one to one, in tiers: each takes what earlier ones left, and the rows of one key on a side are summed. A
name with a number alone matches nothing: `fusion.7` may be another fusion today.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

from ...model.names.instruction_names import stem
from ...runtime.memo import lazy
from ...runtime.messages import Message
from ...runtime.records import record
from ...runtime.regex import regex, without_end
from ..digest.record import OTHERS, DigestOp

EXACT, ORIGIN, BODY, LINE, NONE = range(5)
TIER_LABELS = (
    Message("exact"),
    Message("same origin"),
    Message("same body"),
    Message("same line"),
    Message("on one side"),
)
"""What each tier is called."""
SURE = BODY
"""Tiers up to this one count as matched with certainty."""

_COUNTER = regex(r"_\d+$")
_COUNTERS = regex(r"(?:_\d+)+")
_LINE_NUMBER = regex(r":\d+\)$")
_CALLS_AND_LOOPS = regex(r"(?:StatefulPartitionedCall(?:_\d+)?/)+|while(?:_\d+)?/body(?:/_\d+)?/")

Entry = tuple[int, DigestOp]
"""The capture's index within its side, and an op of it."""
Key = Hashable
"""Ops of equal keys are one; None of an op that a rule says nothing of."""


@record
class Scopes:
    """The paths of the scopes that a side's ops are in, such as ``model/dense_1/MatMul``."""

    paths: frozenset[str]

    @lazy
    def names(self) -> frozenset[str]:
        """All that stands between slashes."""
        return frozenset(name for path in self.paths for name in path.split("/"))

    @lazy
    def _labels(self) -> dict[str, str]:
        """By path of a scope, what it is called by its position among those of its kind: ``dense 2 of 6``."""
        # By outer scope and kind: of each path the numbers at its end.
        sort_keys: dict[tuple[str, str], dict[str, list[tuple[int, str]]]] = {}
        for path in self.paths:
            scope = ""
            for name in _scope_names(path):
                kind = without_end(_COUNTERS, name)
                outer, scope = scope, f"{scope}/{name}"
                # By length, then by digits, numbers of any length are in order.
                sort_key = [(len(digits), digits) for digits in name[len(kind) :].split("_")]
                sort_keys.setdefault((outer, kind), {})[scope] = sort_key
        return {
            scope: f"{kind} {position} of {len(scopes)}"
            for (_, kind), scopes in sort_keys.items()
            for position, scope in enumerate(sorted(scopes, key=lambda path: scopes[path]))
        }

    def with_positions(self, path: str) -> str:
        """A path of the side with positions for counters, which go on from model to model in one process."""
        scope, labels = "", []
        for name in _scope_names(path):
            scope = f"{scope}/{name}"
            labels.append(self._labels[scope])
        return "/".join(labels)

    def without_counters(self, path: str) -> str:
        """A path without counters of names that the side has without one, too, and without what wraps calls."""
        bare_names = ((name, _COUNTER.sub("", name)) for name in _scope_names(path))
        return "/".join(bare_name if bare_name in self.names else name for name, bare_name in bare_names)


def _scope_names(path: str) -> list[str]:
    """What stands between slashes, without what wraps calls and the bodies of loops."""
    return _CALLS_AND_LOOPS.sub("", path).split("/")


@record
class OpPair:
    """Ops of both sides that are one; each side has one per capture and key, and none where it is missing there."""

    base: Sequence[Entry]
    new: Sequence[Entry]
    tier: int

    @property
    def any_op(self) -> DigestOp:
        """The first one of the base, or else of the new side."""
        return (self.base or self.new)[0][1]

    @property
    def base_ps(self) -> int:
        """What the base's ops take, over all captures and the steps that count."""
        return sum(op.sum_ps for _, op in self.base)

    @property
    def new_ps(self) -> int:
        """The same of the new side's."""
        return sum(op.sum_ps for _, op in self.new)


def time_shares(pairs: Sequence[OpPair], is_selected: Callable[[OpPair], bool]) -> tuple[float, float]:
    """By side, the base first: the share of its ops' time in those of the selected pairs; 1 where no op takes any."""
    selected = [pair for pair in pairs if is_selected(pair)]
    base_ps, new_ps = sum(pair.base_ps for pair in pairs), sum(pair.new_ps for pair in pairs)
    base_share = sum(pair.base_ps for pair in selected) / base_ps if base_ps else 1.0
    return base_share, sum(pair.new_ps for pair in selected) / new_ps if new_ps else 1.0


_Rule = Callable[[DigestOp, Scopes], Key]


def _identity(op: DigestOp, _: Scopes) -> Key:
    return op.name, op.type, op.module, op.origin, op.shape, op.operands, op.body


def _exact(op: DigestOp, scopes: Scopes) -> Key:
    is_only_numbered = op.module and not (op.body or op.origin) and stem(op.name) != op.name
    return None if is_only_numbered else _identity(op, scopes)


def _origin(path_of: Callable[[Scopes, str], str], name_of: Callable[[str], str] = str) -> _Rule:
    """The rule of what `path_of` makes of an op's path: ops outside of XLA's programs are named by it."""

    def rule(op: DigestOp, scopes: Scopes) -> Key:
        path = op.origin or ("" if op.module else name_of(op.name))
        return (path_of(scopes, path), op.type, op.module) if path else None

    return rule


_RULES: tuple[tuple[int, _Rule], ...] = (
    (EXACT, _exact),
    (ORIGIN, _origin(lambda _, path: path)),
    (ORIGIN, _origin(Scopes.without_counters, lambda name: _LINE_NUMBER.sub(")", name))),
    (ORIGIN, _origin(Scopes.with_positions)),
    (BODY, lambda op, _: (op.type, op.shape, op.body) if op.body else None),
    (LINE, lambda op, _: (op.source, op.type) if op.source else None),
    (LINE, lambda op, _: (stem(op.name), op.type, op.module, op.shape) if op.module and not op.body else None),
)


def op_pairs(base: Sequence[Entry], new: Sequence[Entry]) -> list[OpPair]:
    """Pairs of the ops of both sides, every op in one of them; those that are not told apart by part."""
    scopes = [Scopes(frozenset(op.origin or op.name for _, op in side)) for side in (base, new)]
    unmatched = [[(capture, op) for capture, op in side if op.name != OTHERS] for side in (base, new)]
    pairs: list[OpPair] = []
    for tier, rule in _RULES:
        groups = [_entries_by_key(side, rule, own_scopes) for side, own_scopes in zip(unmatched, scopes, strict=True)]
        common_keys = dict.fromkeys(key for key in groups[0] if key in groups[1])
        pairs += [OpPair(groups[0][key], groups[1][key], tier) for key in common_keys]
        unmatched = [
            [(capture, op) for capture, op in side if _key(op, rule, own_scopes) not in common_keys]
            for side, own_scopes in zip(unmatched, scopes, strict=True)
        ]
    pairs += [OpPair(ops, (), NONE) for ops in _entries_by_key(unmatched[0], _identity, scopes[0]).values()]
    pairs += [OpPair((), ops, NONE) for ops in _entries_by_key(unmatched[1], _identity, scopes[1]).values()]
    others = [
        _entries_by_key([(capture, op) for capture, op in side if op.name == OTHERS], lambda op, _: op.part, own_scopes)
        for side, own_scopes in zip((base, new), scopes, strict=True)
    ]
    return pairs + [OpPair(others[0].get(key, ()), others[1].get(key, ()), EXACT) for key in others[0] | others[1]]


def _key(op: DigestOp, rule: _Rule, scopes: Scopes) -> Key:
    """By the rule, and the part and side that the op is in."""
    key = rule(op, scopes)
    return None if key is None else (op.part, op.side, key)


def _entries_by_key(entries: Sequence[Entry], rule: _Rule, scopes: Scopes) -> dict[Key, list[Entry]]:
    entries_by_key: dict[Key, list[Entry]] = {}
    for capture, op in entries:
        key = _key(op, rule, scopes)
        if key is not None:
            entries_by_key.setdefault(key, []).append((capture, op))
    return entries_by_key
