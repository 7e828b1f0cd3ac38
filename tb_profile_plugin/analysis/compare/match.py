"""The same op on both sides, though compilers number them anew: by name, origin, what it calculates, or source line.

Groups match one to one, in tiers: each takes what earlier ones left, and the rows of one key on a side are summed. A
name with a number alone matches nothing: `fusion.7` may be another fusion today.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

from ...runtime.memo import lazy
from ...runtime.messages import Message
from ...runtime.regex import regex, without_end
from ..digest.record import OTHERS, DigestOp

EXACT, ORIGIN, BODY, LINE, NONE = range(5)
TIERS = (
    Message("exact"),
    Message("same origin"),
    Message("same body"),
    Message("same line"),
    Message("on one side"),
)
"""What each tier is called."""
SURE = BODY
"""Tiers up to this one count as matched with certainty."""

_NUMBER = regex(r"_\d+$")
_NUMBERS = regex(r"(?:_\d+)+")
_NUMBERED = regex(r"\.\d+$")
_COPY = regex(r"\.(?:clone|remat\d*|sunk|cloned)(?:\.\d+)?$")
_LINE = regex(r":\d+\)$")
_LOOPS = regex(r"(?:StatefulPartitionedCall(?:_\d+)?/)+|while(?:_\d+)?/body(?:/_\d+)?/")

Key = Hashable


@dataclass(frozen=True)
class Scopes:
    """What the paths of a side's ops are made of."""

    paths: frozenset[str]

    @lazy
    def parts(self) -> frozenset[str]:
        """All of them."""
        return frozenset(part for path in self.paths for part in path.split("/"))

    @lazy
    def _labels(self) -> dict[str, str]:
        """By path of a scope, what it is called by its place among those of its kind: ``dense 2 of 6``."""
        kinds: dict[tuple[str, str], dict[str, list[tuple[int, str]]]] = {}
        for path in self.paths:
            around = ""
            for part in _LOOPS.sub("", path).split("/"):
                kind = without_end(_NUMBERS, part)
                # By length, then by digits, numbers of any length are in order.
                numbers = [(len(digits), digits) for digits in part[len(kind) :].split("_")]
                around, outer = f"{around}/{part}", around
                kinds.setdefault((outer, kind), {})[around] = numbers
        return {
            scope: f"{kind} {position} of {len(scopes)}"
            for (_, kind), scopes in kinds.items()
            for position, scope in enumerate(sorted(scopes, key=lambda path: scopes[path]))
        }

    def placed(self, path: str) -> str:
        """A path of the side with places for counters, which go on from model to model in one process."""
        around, labels = "", []
        for part in _LOOPS.sub("", path).split("/"):
            around = f"{around}/{part}"
            labels.append(self._labels[around])
        return "/".join(labels)


_Key = Callable[[DigestOp, Scopes], Key]


@dataclass(frozen=True)
class Pair:
    """Ops of both sides that are one; each side has one per capture and key, and none where it is missing there."""

    base: Sequence[tuple[int, DigestOp]]
    """Capture and op."""
    new: Sequence[tuple[int, DigestOp]]
    tier: int


def stem(name: str) -> str:
    """An instruction's name without what the compiler appended: ``fusion.12.clone`` and ``fusion.3`` are ``fusion``."""
    shorter = None
    while shorter != name:
        shorter, name = name, _NUMBERED.sub("", _COPY.sub("", name))
    return name


def normal(path: str, side_parts: frozenset[str]) -> str:
    """A path of scopes without counters of parts that stand there without one, too, and without what wraps calls."""
    parts = _LOOPS.sub("", path).split("/")
    return "/".join(bare if (bare := _NUMBER.sub("", part)) in side_parts else part for part in parts)


def _exact(op: DigestOp, scopes: Scopes) -> Key:
    if op.module and not (op.body or op.origin) and stem(op.name) != op.name:
        return None
    return _itself(op, scopes)


def _itself(op: DigestOp, scopes: Scopes) -> Key:
    return op.name, op.type, op.module, op.origin, op.shape, op.operands, op.body


def _origin(op: DigestOp, scopes: Scopes) -> Key:
    path = op.origin or ("" if op.module else op.name)
    return (path, op.type, op.module) if path else None


def _normal_origin(op: DigestOp, scopes: Scopes) -> Key:
    path = op.origin or ("" if op.module else _LINE.sub(")", op.name))
    return (normal(path, scopes.parts), op.type, op.module) if path else None


def _placed_origin(op: DigestOp, scopes: Scopes) -> Key:
    path = op.origin or ("" if op.module else op.name)
    return (scopes.placed(path), op.type, op.module) if path else None


def _body(op: DigestOp, scopes: Scopes) -> Key:
    return (op.type, op.shape, op.body) if op.body else None


def _line(op: DigestOp, scopes: Scopes) -> Key:
    return (op.source, op.type) if op.source else None


def _named(op: DigestOp, scopes: Scopes) -> Key:
    return (stem(op.name), op.type, op.module, op.shape) if op.module and not op.body else None


_RULES: tuple[tuple[int, _Key], ...] = (
    (EXACT, _exact),
    (ORIGIN, _origin),
    (ORIGIN, _normal_origin),
    (ORIGIN, _placed_origin),
    (BODY, _body),
    (LINE, _line),
    (LINE, _named),
)


def matched(base: Sequence[Sequence[DigestOp]], new: Sequence[Sequence[DigestOp]]) -> list[Pair]:
    """Pairs of the ops of both sides' captures, every op in one of them; those that are not told apart by part."""
    return paired(*([(i, op) for i, ops in enumerate(side) for op in ops] for side in (base, new)))


def paired(base: Sequence[tuple[int, DigestOp]], new: Sequence[tuple[int, DigestOp]]) -> list[Pair]:
    """The same of ops with whatever number they go by."""
    sides = [base, new]
    scopes = [Scopes(frozenset(op.origin or op.name for _, op in side)) for side in sides]
    rest = [[entry for entry in side if entry[1].name == OTHERS] for side in sides]
    left = [[entry for entry in side if entry[1].name != OTHERS] for side in sides]
    pairs: list[Pair] = []
    for tier, rule in _RULES:
        groups = [_grouped(side, rule, words) for side, words in zip(left, scopes, strict=True)]
        common = [key for key in groups[0] if key in groups[1]]
        pairs += [Pair(groups[0][key], groups[1][key], tier) for key in common]
        matched_keys = dict.fromkeys(common)
        left = [
            [entry for entry in side if _key(entry[1], rule, words) not in matched_keys]
            for side, words in zip(left, scopes, strict=True)
        ]
    for side, which in zip(left, (0, 1), strict=True):
        for alone in _grouped(side, _itself, scopes[which]).values():
            pairs.append(Pair(alone, (), NONE) if which == 0 else Pair((), alone, NONE))
    others = [_grouped(side, lambda op, scopes: op.part, scopes[0]) for side in rest]
    pairs += [Pair(others[0].get(key, ()), others[1].get(key, ()), EXACT) for key in {**others[0], **others[1]}]
    return pairs


def _key(op: DigestOp, rule: _Key, scopes: Scopes) -> Key:
    own = rule(op, scopes)
    return None if own is None else (op.part, op.side, own)


def _grouped(side: Sequence[tuple[int, DigestOp]], rule: _Key, scopes: Scopes) -> dict[Key, list[tuple[int, DigestOp]]]:
    groups: dict[Key, list[tuple[int, DigestOp]]] = {}
    for entry in side:
        key = _key(entry[1], rule, scopes)
        if key is not None:
            groups.setdefault(key, []).append(entry)
    return groups
