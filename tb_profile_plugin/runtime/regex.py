"""Regular expressions that are compiled when they are first asked: a tool asks half of those that its modules hold."""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast


def regex(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """As `re.compile`; what is wrong with a pattern is told by its first use."""
    return cast("re.Pattern[AnyStr]", _LazyPattern(pattern, flags))


def without_end(pattern: re.Pattern[str], text: str) -> str:
    """The text without the pattern's last occurrence, where the text ends with that.

    Searching for ``(?:pattern)$`` begins anew at each place of a long run, which takes quadratic time.
    """
    *_, last = (None, *pattern.finditer(text))
    return text[: last.start()] if last and last.end() == len(text) else text


class _LazyPattern:
    def __init__(self, *arguments: Any):
        self._arguments = arguments

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(re.compile(*self._arguments), name)
        setattr(self, name, attribute)
        return attribute
