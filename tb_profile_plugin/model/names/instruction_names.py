"""Names that XLA gives its instructions. Without numpy, which comparing kept digests does without."""

from __future__ import annotations

from ...runtime.regex import regex

_NUMBER = regex(r"\.\d+$")
_COPY = regex(r"\.(?:clone|remat\d*|sunk|cloned)(?:\.\d+)?$")


def stem(name: str) -> str:
    """An instruction's name without what the compiler appended: ``fusion.12.clone`` and ``fusion.3`` are ``fusion``."""
    previous = None
    while previous != name:
        previous, name = name, _NUMBER.sub("", _COPY.sub("", name))
    return name
