"""The tokenizer reads what the standard library's json reads, and of broken files all that is whole."""

import json
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from tb_profile_plugin.formats.columns import kinds
from tb_profile_plugin.formats.kineto import record, tokens
from tb_profile_plugin.formats.kineto.events import MOST_ARGUMENTS
from tb_profile_plugin.formats.kineto.record import Record


def read(text: str | bytes) -> Record:
    return record.read(text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text, "f", _quiet)


def _quiet(phase: str, fraction: float) -> None:
    pass


def events(found: Record) -> list[dict[str, Any]]:
    """The events as Python values; times in ns."""
    answer = []
    for i in range(len(found)):
        args = {}
        for row in range(found.first_argument[i], found.first_argument[i + 1]):
            kind, value = int(found.kind[row]), found.value[row : row + 1]
            number = float(value.view(np.float64)[0]) if kind == kinds.DOUBLE else int(value[0])
            args[found.text_of(int(found.key[row]))] = found.text_of(int(value[0])) if kind == kinds.TEXT else number
        told: dict[str, Any] = {"ph": chr(found.phase[i]), "args": args}
        for name in ("name", "pid", "tid"):
            told[name] = found.text_of(int(getattr(found, name)[i]))
        told["cat"] = found.text_of(int(found.category[i]))
        for name, column in (("ts", found.begin), ("dur", found.duration)):
            told[name] = int(column[i]) if column[i] != tokens.NO_TIME else None
        answer.append(told)
    return answer


_TEXTS = some.text(some.characters(codec="utf-8"), max_size=12) | some.sampled_from(
    ['"', "\\", '"}', "a\\", "{[", '\\"', "é\n\t", "\U0001f600", "", "]"]
)
_WHOLE = some.integers(-(2**63), 2**63 - 1)
_FLOATS = some.floats(allow_nan=False, allow_infinity=False, min_value=-1e15, max_value=1e15)
_NESTED = some.recursive(
    _WHOLE | _TEXTS | some.none() | some.booleans(),
    lambda inner: some.lists(inner, max_size=3) | some.dictionaries(_TEXTS, inner, max_size=3),
    max_leaves=8,
)
_TIMES = some.integers(0, 3 * 10**15) | some.decimals(0, 10**12, places=3, allow_nan=False, allow_infinity=False)
_KEYS = _TEXTS.filter(lambda key: key not in ("Ev Idx", "finished", "Record function id"))
_EVENTS = some.fixed_dictionaries(
    {"ph": some.sampled_from("XiC"), "name": _TEXTS, "pid": _WHOLE, "tid": _TEXTS, "ts": _TIMES},
    optional={
        "dur": _TIMES,
        "cat": _TEXTS,
        "extra": _NESTED,
        "args": some.dictionaries(_KEYS, _WHOLE | _FLOATS | _NESTED, max_size=5),
    },
)


class _Number(float):
    """Written as it is, not as a double."""

    def __new__(cls, value: Decimal) -> "_Number":
        made = float.__new__(cls, value)
        made.text = str(value)  # type: ignore[attr-defined]
        return made

    def __repr__(self) -> str:
        return self.text  # type: ignore[attr-defined]


def _ns(value: Any) -> int | None:
    return None if value is None else int((Decimal(str(value)) * 1000).to_integral_value(ROUND_HALF_UP))


@settings(max_examples=80)
@given(some.lists(_EVENTS, max_size=6), some.booleans(), some.booleans(), some.sampled_from([None, 1]))
def test_it_reads_what_json_reads(
    drawn: list[dict[str, Any]], ascii_only: bool, bare: bool, indent: int | None
) -> None:
    for event in drawn:
        event.update({name: _Number(event[name]) for name in ("ts", "dur") if isinstance(event.get(name), Decimal)})
    whole: Any = drawn if bare else {"first": {"a": [1, "}"]}, "traceEvents": drawn, "last": drawn}
    text = json.dumps(whole, ensure_ascii=ascii_only, indent=indent)
    parsed = json.loads(text, parse_float=Decimal)
    found = read(text)
    assert not found.problems
    assert (bare and found.header == {}) or list(found.header) == ["first", "last"]
    wanted = parsed if bare else parsed["traceEvents"]
    for got, want in zip(events(found), wanted, strict=True):
        assert (got["ph"], got["name"], got["pid"], got["tid"]) == (
            want["ph"],
            want["name"],
            str(want["pid"]),
            want["tid"],
        )
        assert got["cat"] == want.get("cat", "")
        assert (got["ts"], got["dur"]) == (_ns(want["ts"]), _ns(want.get("dur")))
        stated = {key: value for key, value in want.get("args", {}).items() if value is not None}
        assert got["args"].keys() == stated.keys()
        for key, value in stated.items():
            mine = got["args"][key]
            if isinstance(value, list | dict):
                assert json.loads(mine, parse_float=Decimal) == value
            elif isinstance(value, Decimal):
                assert mine == pytest.approx(float(value), rel=1e-14)
            else:
                assert mine == value


SMALL = (
    '{"schemaVersion": 1, "traceEvents": [\n'
    '{"ph": "X", "cat": "op", "name": "aten::mm", "pid": 7, "tid": 7, "ts": 1.5, "dur": 2, "args": {"a": [1]}},\n'
    '{"ph": "X", "cat": "op", "name": "aten::\\u00e9", "pid": 7, "tid": 7, "ts": 4, "dur": 2.5, "args": {"n": -3}}\n'
    '], "traceName": "x"}'
)


def test_a_file_that_ends_anywhere_gives_its_whole_events() -> None:
    whole = events(read(SMALL))
    data = SMALL.encode()
    for size in range(len(data)):
        found = read(data[:size])
        mine = events(found)
        assert mine == whole[: len(mine)]
        assert len(mine) == data[:size].count(b"}}")
        assert size < 40 or any(problem.code == "damaged_capture" for problem in found.problems)


@pytest.mark.parametrize(
    ("broken", "told"),
    [
        ('"name": "a "b" c"', {"name": 'a "b" c'}),
        ('"name": "say("hi")"', {"name": 'say("hi")'}),
        ('"name": "C:\\python\\lib"', {"name": "C:\\python\\lib"}),
        ('"name": "two\nlines\x01"', {"name": "two\nlines\x01"}),
        ('"name": "a", "dur": N/A', {"name": "a", "dur": None}),
        ('"name": "a", "args": {"x": nan, "y": -inf, "z": N/A, "k": 1}', {"args": {"k": 1}}),
        ('"name": "a", "args": {"x": -1.-23, "k": 1}', {"args": {"k": 1}}),
        ('"name": "a", , "dur": 3', {"name": "a", "dur": 3000}),
        ('"name": "a" "dur": 3', {"name": "a", "dur": 3000}),
        ('"name": "a", "dur": 3, ', {"name": "a", "dur": 3000}),
        ('"name": "a", "args": {, "k": 1, }', {"args": {"k": 1}}),
        ('"name": "a", "name": "b"', {"name": "b"}),
        ('"name": "a", "args": {"when": 2021-01-01 plain text, "k": 1}', {"args": {"k": 1}}),
        ('"name": "a", "dur": 1.712e+3', {"dur": 1712000}),
        ('"name": "a", "dur": 1.23449', {"dur": 1234}),
        ('"name": "a", "dur": 1.2345', {"dur": 1235}),
        ('"name": "a", "dur": 12.0', {"dur": 12000}),
        ('"name": "a", "dur": 1e400', {"dur": tokens.TOO_FAR}),
        ('"name": "a", "dur": 1e, "cat": "b"', {"dur": None, "cat": "b"}),
        ('"name": "a", "dur": "12.5", "cat": "b"', {"dur": 12500, "cat": "b"}),
        ('"name": "a", "dur": 1e-400', {"dur": 0}),
        ('"name": "a", "dur": ' + "9" * 400, {"dur": tokens.TOO_FAR}),
        ('"name": "a", "args": {"x": ' + "[" * 100_000 + '}, "dur": 3', {}),
        ('"name": "a", "args": {"x": ' + '{"y":' * 1000 + "1" + "}" * 1000 + ', "k": 2}, "dur": 3', {"dur": 3000}),
    ],
)
def test_what_programs_write_instead_of_json(broken: str, told: dict[str, Any]) -> None:
    good = '{"ph": "X", "cat": "c", "name": "good", "pid": 1, "tid": 2, "ts": 5, "dur": 1}'
    text = '{"traceEvents": [%s, {"ph": "X", "cat": "c", "pid": 1, "tid": 2, "ts": 5, %s}, %s]}'
    found = events(read(text % (good, broken, good)))
    assert found[0]["name"] == "good"
    if told:
        assert [event["name"] for event in found][-1] == "good"
        assert {key: found[1][key] for key in told} == told


@pytest.mark.parametrize("length", range(20))
def test_values_end_where_they_end_wherever_they_stand_in_a_word(length: int) -> None:
    filler = "x" * length
    nested = [[filler, {"]}": ["[", '"', filler]}], [[[]], filler + "\\"], length]
    event = {"ph": "X", "name": filler + '"', "ts": 1, "args": {filler + "n": nested, "t": "\\" + filler, "k": 1}}
    for separators in ((",", ":"), (", ", ": ")):
        (found,) = events(read(json.dumps([event], separators=separators)))
        assert (found["name"], found["ts"]) == (event["name"], 1000)
        assert json.loads(found["args"].pop(filler + "n")) == nested
        assert found["args"] == {"t": "\\" + filler, "k": 1}


def test_bytes_that_are_no_text_become_replacement_characters() -> None:
    (found,) = events(read(SMALL.splitlines()[1].join(["[", "]"]).encode().replace(b"mm", b"\xff\xfe")))
    assert found["name"] == "aten::\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}"


def test_a_byte_order_mark_and_carriage_returns_are_passed_over() -> None:
    assert events(read("\ufeff" + SMALL.replace("\n", "\r\n"))) == events(read(SMALL))


def test_members_that_cannot_be_read_are_left_out_by_name() -> None:
    text = '{"plain": some text, "user": "a", "also plain": x "y" z, "traceEvents": [], "distributedInfo": {"rank": 3}}'
    found = read(text)
    assert (found.header["user"], found.header["distributedInfo"]) == ("a", {"rank": 3})
    assert [problem.code for problem in found.problems] == ["broken_header"]


def test_times_are_read_without_doubles() -> None:
    (found,) = events(read('[{"ph": "X", "ts": 1712195496004644.201, "dur": 0.001}]'))
    assert (found["ts"], found["dur"]) == (1712195496004644201, 1)


def test_more_events_and_arguments_than_are_read_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record, "_EVENT_ROOM", 3)
    monkeypatch.setattr(record, "_ARGUMENT_ROOM", 4)
    drawn = [
        {"ph": "X", "name": f"n{i}", "pid": 1, "tid": 1, "ts": i, "args": {f"k{j}": j for j in range(i % 4)}}
        for i in range(50)
    ]
    found = events(read(json.dumps({"traceEvents": drawn})))
    assert [event["name"] for event in found] == [event["name"] for event in drawn]
    assert [event["args"] for event in found] == [event["args"] for event in drawn]
    many = json.dumps({f"k{j}": j for j in range(MOST_ARGUMENTS + 5)})
    crowded = read(f'[{{"ph": "X", "args": {many}}}, {{"ph": "X", "name": "next"}}]')
    assert crowded.first_argument.tolist() == [0, MOST_ARGUMENTS, MOST_ARGUMENTS]
    assert [problem.code for problem in crowded.problems] == ["too_many_arguments"]
