"""Regular expressions that are compiled when they are first asked: a tool asks half of those that its modules hold."""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast


def regex(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """As `re.compile`; what is wrong with a pattern is told by its first use."""
    return cast("re.Pattern[AnyStr]", _Late(pattern, flags))


class _Late:
    def __init__(self, *given: Any):
        self._given = given

    def __getattr__(self, name: str) -> Any:
        found = getattr(re.compile(*self._given), name)
        setattr(self, name, found)
        return found
