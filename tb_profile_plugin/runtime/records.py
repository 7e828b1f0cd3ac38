"""`record`, `mutable_record` and `NamedTuple`: classes of fields that take a fifth of the usual time to load.

A process makes two hundred of them before its first answer. The standard library compiles each one's constructor, and
reads each annotation as code, which took a sixth of the Overview of a small capture. Here the constructors of all
classes with as many fields are one code under other names. Type checkers see the standard library's classes.
"""

from __future__ import annotations

from functools import cache
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any, TypeVar

_Class = TypeVar("_Class", bound=type)

if TYPE_CHECKING:
    from dataclasses import field
    from typing import NamedTuple as NamedTuple

    from typing_extensions import dataclass_transform

    @dataclass_transform(frozen_default=True, eq_default=False, field_specifiers=(field,))
    def record(cls: _Class) -> _Class:
        """The class with an ``__init__`` that takes its fields, which `dataclasses.replace` and `fields` know.

        Only type checkers hold its fields constant, and it equals itself alone. What is compared by value is a frozen
        dataclass.
        """

    @dataclass_transform(eq_default=False, field_specifiers=(field,))
    def mutable_record(cls: _Class) -> _Class:
        """As `record`; its fields may be set anew."""

else:
    from _collections import _tuplegetter

    def record(cls: _Class) -> _Class:  # noqa: D103 - as above
        from dataclasses import MISSING, Field, dataclass, fields

        if any(isinstance(default, Field) for default in vars(cls).values()):  # made anew for each object
            return dataclass(eq=False, repr=False, match_args=False)(cls)
        columns = fields(dataclass(init=False, eq=False, repr=False, match_args=False)(cls))
        names = tuple(column.name for column in columns)
        code = _init_code(len(names)).replace(co_varnames=("self", *names), co_names=names)
        cls.__init__ = FunctionType(code, {}, "__init__")
        cls.__init__.__defaults__ = tuple(column.default for column in columns if column.default is not MISSING)
        cls.__init__.__qualname__ = f"{cls.__qualname__}.__init__"
        return cls

    mutable_record = record

    class _NamedTupleType(type):
        """The type of named tuples: what a class annotates is a field of its tuples."""

        def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> type:
            if "__slots__" not in body and not hasattr(bases[0], "_fields"):
                # Python 3.14 keeps them elsewhere where a module has no `from __future__ import annotations`.
                names = tuple(body["__annotations__"])
                code = _new_code(len(names)).replace(co_varnames=("cls", *names))
                new = FunctionType(code, {"new": tuple.__new__}, "__new__")
                new.__defaults__ = tuple(body[field] for field in names if field in body)
                new.__qualname__ = f"{body['__qualname__']}.__new__"
                getters = {field: _tuplegetter(position, "") for position, field in enumerate(names)}
                body |= getters | {"__new__": new, "__slots__": (), "_fields": names, "__match_args__": names}
            return super().__new__(cls, name, bases, body)

    class NamedTuple(tuple, metaclass=_NamedTupleType):
        """A tuple whose fields have names, with those methods of `typing.NamedTuple` that are used here."""

        __slots__ = ()

        def __getnewargs__(self) -> tuple[Any, ...]:
            return tuple(self)

        def __repr__(self) -> str:
            return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self._asdict().items())})"

        @classmethod
        def _make(cls, values: Any) -> NamedTuple:
            return cls(*values)

        def _replace(self, **changes: Any) -> NamedTuple:
            return type(self)(**(self._asdict() | changes))

        def _asdict(self) -> dict[str, Any]:
            return dict(zip(self._fields, self, strict=True))

    @cache
    def _init_code(count: int) -> CodeType:
        """The code of an ``__init__`` that keeps that many fields."""
        names = [f"field_{position}" for position in range(count)]
        body = "".join(f"\n self.{name} = {name}" for name in names)
        scope: dict[str, Any] = {}
        exec(f"def __init__({', '.join(['self', *names])}): {body or 'pass'}", scope)
        return scope["__init__"].__code__

    @cache
    def _new_code(count: int) -> CodeType:
        """The code of a ``__new__`` that makes a tuple of that many fields."""
        names = "".join(f"field_{position}, " for position in range(count))
        return eval(f"lambda cls, {names}: new(cls, ({names}))").__code__
