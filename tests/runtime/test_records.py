"""Classes of fields: they behave as those of the standard library, of which type checkers take them to be."""

from __future__ import annotations

import inspect
import pickle
from dataclasses import field, fields, replace
from typing import Any

import pytest

from tb_profile_plugin.runtime.records import NamedTuple, mutable_record, record


class Span(NamedTuple):
    """A part of a track."""

    begin: int
    end: int = 5
    name: str = "op"

    @property
    def length(self) -> int:
        return self.end - self.begin


class Pair(NamedTuple):
    left: int
    right: int


class KeptSpan(Span):
    """A subclass, whose objects take other attributes."""


@record
class Op:
    name: str
    calls: int = 1


@record
class LongerOp(Op):
    length: int = 2


@mutable_record
class Table:
    rows: list[int] = field(default_factory=list)
    title: str = ""


def test_a_named_tuple_is_a_tuple_with_names() -> None:
    span = Span(1, name="kernel")
    assert span == (1, 5, "kernel")
    assert (span.begin, span.end, span.name, span.length) == (1, 5, "kernel", 4)
    assert Span._fields == ("begin", "end", "name")
    assert repr(span) == "Span(begin=1, end=5, name='kernel')"
    assert span._replace(begin=3)._asdict() == {"begin": 3, "end": 5, "name": "kernel"}
    assert Pair._make([1, 2]) == (1, 2)
    match span:
        case Span(begin, _, "kernel"):
            assert begin == 1
        case _:
            pytest.fail("no field matched")


def test_a_named_tuple_is_copied_to_another_process_as_itself() -> None:
    copy = pickle.loads(pickle.dumps(Span(1)))
    assert (type(copy), copy) == (Span, Span(1))


@pytest.mark.parametrize(
    ("cls", "arguments", "message"),
    [
        (Span, {}, "Span.__new__() missing 1 required positional argument: 'begin'"),
        (Span, {"begin": 1, "finish": 2}, "Span.__new__() got an unexpected keyword argument 'finish'"),
        (Op, {}, "Op.__init__() missing 1 required positional argument: 'name'"),
    ],
)
def test_a_wrong_field_is_refused_by_name(cls: Any, arguments: dict[str, int], message: str) -> None:
    with pytest.raises(TypeError) as refusal:
        cls(**arguments)
    assert str(refusal.value) == message


def test_a_named_tuple_takes_no_other_attributes_but_its_subclass_does() -> None:
    with pytest.raises(AttributeError):
        Span(1).color = 2  # type: ignore[attr-defined]
    kept = KeptSpan(1)
    kept.color = 2  # type: ignore[attr-defined]
    assert (kept, kept.__dict__) == ((1, 5, "op"), {"color": 2})


def test_classes_with_as_many_fields_do_not_share_names() -> None:
    """They share one code, under other names."""
    assert [list(inspect.signature(cls).parameters) for cls in (Pair, Op)] == [["left", "right"], ["name", "calls"]]
    assert Pair(right=1, left=2) == (2, 1)


def test_a_record_has_fields_and_equals_itself_alone() -> None:
    op = Op("add")
    assert (op.name, op.calls) == ("add", 1)
    assert [column.name for column in fields(LongerOp)] == ["name", "calls", "length"]
    assert replace(LongerOp("add", length=3), calls=4).__dict__ == {"name": "add", "calls": 4, "length": 3}
    assert op == op
    assert op != Op("add")
    assert pickle.loads(pickle.dumps(op)).name == "add"


def test_a_factory_makes_a_default_for_each_object() -> None:
    table, other = Table(), Table(title="other")
    table.rows.append(1)
    assert (table.rows, other.rows, other.title) == ([1], [], "other")
