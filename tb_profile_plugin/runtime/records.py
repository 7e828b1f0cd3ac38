"""`record`: a class of fields that nobody changes, as type checkers see it.

A frozen dataclass compiles six methods when its module is loaded, which was a tenth of the time of a small capture's
Overview. A record compiles one: only type checkers hold its fields constant, and it equals itself alone. What is
compared by value stays a frozen dataclass.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

_Class = TypeVar("_Class", bound=type)

if TYPE_CHECKING:
    from typing_extensions import dataclass_transform

    @dataclass_transform(frozen_default=True, eq_default=False, field_specifiers=(field,))
    def record(cls: _Class) -> _Class:
        """The class with an ``__init__`` that takes its fields, which `dataclasses.replace` and `fields` know."""

else:
    record = dataclass(eq=False, repr=False, match_args=False)
