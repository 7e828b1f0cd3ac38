"""Which digests are of one program on one machine: others are never compared silently."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence

from ...runtime.regex import regex
from ..digest.record import OTHERS, Digest

_SHARED = 0.75
"""Of the compute: programs before and after a change share 0.85 of one side and more, others mostly less than 0.3."""
_COMPUTE = "compute"
_NUMBERS = regex(r"[._]\d+")


def key(digest: Digest) -> str:
    """What machine and kind of steps a digest is of."""
    facts = [digest.facts[name] for name in ("device", "devices", "hosts", "step_kind")]
    return hashlib.sha256(repr(facts).encode()).hexdigest()[:8]


def of_same_program(
    digests: Sequence[tuple[str, Digest]], like: Digest | None = None, by_ops: bool = True
) -> list[tuple[str, Digest]]:
    """Those like the one that is given, else like the last of the machine and the kind of steps that most are of.

    Without ``by_ops`` whoever asks says that all run one program, whatever ops it has.
    """
    keys = [key(digest) for _, digest in digests]
    wanted = key(like) if like else Counter(keys).most_common(1)[0][0] if keys else ""
    entries = [entry for entry, own in zip(digests, keys, strict=True) if own == wanted]
    if not by_ops or not entries:
        return entries
    ops = _compute(like or entries[-1][1])
    return [entry for entry in entries if _shared(ops, _compute(entry[1])) >= _SHARED]


def _compute(digest: Digest) -> Mapping[str, int]:
    """Time of compute by kind of op, ps."""
    times: Counter[str] = Counter()
    for op in digest.ops:
        if op.part == _COMPUTE and op.name != OTHERS:
            times[op.type or _NUMBERS.sub("", op.name)] += op.sum_ps
    return times


def _shared(ops: Mapping[str, int], others: Mapping[str, int]) -> float:
    """Share of the compute that is in kinds of ops of both sides, on the side where that is more; 1 where one has none.

    A program that got another op shares all that it had.
    """
    sums = [sum(side.values()) for side in (ops, others)]
    if not all(sums):
        return 1.0
    return max(
        sum(time for kind, time in side.items() if kind in other) / total
        for side, other, total in zip((ops, others), (others, ops), sums, strict=True)
    )
