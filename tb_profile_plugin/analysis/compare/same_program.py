"""Which digests are of one program on one machine: others are never compared silently."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from ...runtime.records import NamedTuple
from ...runtime.regex import regex
from ..digest.record import OTHERS, Digest, DigestOp

_LEAST_COMMON = 0.75
"""Share of the compute: programs before and after a change share 0.85 of one side, others mostly less than 0.3."""
_COMPUTE = "compute"
_NUMBERS = regex(r"[._]\d+")
_MOST_NAMES = 3
"""Ops by which a program is called."""

NamedDigest = tuple[str, Digest]
"""A session's name, and its digest."""


class _Program(NamedTuple):
    """What tells programs apart."""

    machine_key: str
    xla_names: frozenset[str]
    """Names of XLA's programs."""
    compute_ps: Mapping[str, int]
    """Time by kind of op; empty where no op is known."""

    def is_same(self, other: _Program) -> bool:
        names_differ = self.xla_names and other.xla_names and not self.xla_names & other.xla_names
        return (
            self.machine_key == other.machine_key
            and not names_differ
            and _common_share(self.compute_ps, other.compute_ps) >= _LEAST_COMMON
        )


def machine_key(digest: Digest) -> str:
    """Equal for digests of one kind of machine and one kind of steps: 8 hexadecimal digits."""
    facts = [digest.facts[name] for name in ("device", "devices", "hosts", "step_kind")]
    return hashlib.sha256(repr(facts).encode()).hexdigest()[:8]


def of_same_program(digests: Sequence[NamedDigest], digest: Digest, by_ops: bool = True) -> list[NamedDigest]:
    """Those of the program and machine of ``digest``.

    Without ``by_ops`` whoever asks says that all run one program, whatever ops it has.
    """
    program = _program(digest, by_ops)
    return [entry for entry in digests if program.is_same(_program(entry[1], by_ops))]


def by_program(digests: Sequence[NamedDigest], by_ops: bool = True) -> list[list[NamedDigest]]:
    """All of them, in order, by the program that the last of each runs; programs of most sessions first."""
    remaining = [(entry, _program(entry[1], by_ops)) for entry in digests]
    groups = []
    while remaining:
        last_program = remaining[-1][1]
        groups.append([entry for entry, program in remaining if last_program.is_same(program)])
        remaining = [(entry, program) for entry, program in remaining if not last_program.is_same(program)]
    return sorted(groups, key=len, reverse=True)


def program_name(digest: Digest) -> str:
    """XLA's programs or the ops that compute longest, the device, the kind of steps; those that are known."""
    ps_by_name = _compute_ps(digest, lambda op: op.module or op.type or op.name)
    ops = ", ".join(name for name, _ in ps_by_name.most_common(_MOST_NAMES))
    device, devices = digest.facts["device"], digest.facts["devices"]
    texts = [ops, f"{devices} × {device}" if devices > 1 else device, digest.facts["step_kind"]]
    return " · ".join(text for text in texts if text)


def _program(digest: Digest, by_ops: bool) -> _Program:
    if not by_ops:
        return _Program(machine_key(digest), frozenset(), {})
    compute_ps = _compute_ps(digest, lambda op: op.type or _NUMBERS.sub("", op.name))
    return _Program(machine_key(digest), frozenset(name for name, _ in digest.programs), compute_ps)


def _compute_ps(digest: Digest, kind_of: Callable[[DigestOp], str]) -> Counter[str]:
    """Time of the ops that compute by their kind, without those that are not told apart."""
    ps_by_kind: Counter[str] = Counter()
    for op in digest.ops:
        if op.part == _COMPUTE and op.name != OTHERS:
            ps_by_kind[kind_of(op)] += op.sum_ps
    return ps_by_kind


def _common_share(base: Mapping[str, int], new: Mapping[str, int]) -> float:
    """Share of the compute that is in kinds of ops of both sides, on the side where that is more.

    A program that got another op shares all that it had; where no op of either side is known, they share all, too.
    """
    sums = [sum(side.values()) for side in (base, new)]
    if not all(sums):
        return 0.0 if any(sums) else 1.0
    return max(
        sum(time for kind, time in side.items() if kind in other) / total
        for side, other, total in zip((base, new), (new, base), sums, strict=True)
    )
