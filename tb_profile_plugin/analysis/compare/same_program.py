"""Which digests are of one program on one machine: others are never compared silently."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence

from ..digest.record import Digest


def key(digest: Digest) -> str:
    """What machine and program a digest is of."""
    facts = [digest.facts[name] for name in ("device", "devices", "hosts", "step_kind")]
    return hashlib.sha256(repr(facts).encode()).hexdigest()[:8]


def of_same_program(digests: Sequence[tuple[str, Digest]], like: Digest | None = None) -> list[tuple[str, Digest]]:
    """Those like the one that is given, else those of the program and machine that most are of."""
    keys = [key(digest) for _, digest in digests]
    wanted = key(like) if like else Counter(keys).most_common(1)[0][0] if keys else ""
    return [entry for entry, own in zip(digests, keys, strict=True) if own == wanted]
