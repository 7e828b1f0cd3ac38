"""Events by text: what matches, and that no expression takes for ever."""

import subprocess
import sys
from pathlib import Path

import pytest
from draw import host

from tb_profile_plugin.runtime import cancellation
from tb_profile_plugin.runtime.problems import ProblemError
from tb_profile_plugin.timeline import search as module
from tb_profile_plugin.timeline.search import Pattern, search
from tb_profile_plugin.timeline.tiles import timeline

DRAWN = """
/host:CPU
  python | Add[0,5]  launch[10,5]{c=1, size=64}  ADDED[20,5]
/device:GPU:0
  Stream #13(Compute) | gemm[120,80]{c=1, tf_op='net/dense/MatMul'}  Straße[210,5]  a.b(c)[220,5]
"""


def found(text: str, regex: bool = False, args: bool = True) -> list[str]:
    drawn = host(DRAWN)
    names = timeline(drawn).names
    return sorted(names[number] for number in search(drawn, Pattern(text, regex), args).name.tolist())


def test_it_looks_at_names_and_stats_whatever_the_case() -> None:
    assert found("GEMM") == ["gemm"]
    assert found("STRASSE") == ["Straße"]
    assert found("dense/matmul") == ["gemm"]
    assert found("dense/matmul", args=False) == []
    assert found("64") == ["launch"]
    assert found("a.b(c)") == ["a.b(c)"]
    assert found("nothing like it") == []


def test_the_longest_on_a_device_comes_first() -> None:
    drawn = host("""
/host:CPU
  python | net/dense/MatMul:MatMul[0,5]  net/dense/MatMul:MatMul[10,500]
/device:GPU:0
  Stream #13(Compute) | gemm[120,80]{tf_op='net/dense/MatMul'}  gemm[220,90]{tf_op='net/dense/MatMul'}
""")
    first = search(drawn, Pattern("^net/dense/MatMul(:[^:]*)?$", True), longest=True)
    lengths = ((first.end - first.begin) // 10**6).tolist()
    devices = first.on_device.tolist()
    assert devices == sorted(devices, reverse=True)
    assert lengths[devices.count(True) :] == [500, 5]
    assert lengths[: devices.count(True)] == sorted(lengths[: devices.count(True)], reverse=True)
    assert {80, 90} <= set(lengths)
    by_time = search(drawn, Pattern("MatMul"))
    assert (by_time.begin[1:] >= by_time.begin[:-1]).all()


@pytest.mark.parametrize(
    ("expression", "names"),
    [
        ("^(gemm|add)$", ["Add", "gemm"]),
        ("^add", ["ADDED", "Add"]),
        (r"a\.b\(", ["a.b(c)"]),
        (r"^[A-D]\w{2,4}$", ["ADDED", "Add"]),
        ("STRA.E", ["Straße"]),
        (r"net/\w+/mat", ["gemm"]),
        (r"(?P<kind>dense)/", ["gemm"]),
        (r"\d", []),
    ],
)
def test_expressions_mean_what_people_expect(expression: str, names: list[str]) -> None:
    assert found(expression, regex=True) == names


@pytest.mark.parametrize("expression", ["(", "a**", "(?=a)", r"(a)\1", "a{1001}", "((a{100}){100}){100}", "a" * 1001])
def test_what_cannot_be_searched_for_is_a_problem(expression: str) -> None:
    with pytest.raises(ProblemError) as raised:
        Pattern(expression, regex=True)
    assert raised.value.problem.code == "bad_expression"
    assert raised.value.problem.remedy


def test_no_expression_takes_for_ever() -> None:
    code = """
import evil
from tb_profile_plugin.runtime.problems import ProblemError
from tb_profile_plugin.timeline.search import Pattern
for expression in evil.EXPRESSIONS:
    try:
        wanted = Pattern(expression, True)
    except ProblemError:
        continue
    print([wanted(evil.TEXT), wanted("x" * 5000)])
"""
    tests = Path(__file__).resolve().parents[1]
    program = f"import sys; sys.path[:0] = {[str(tests), str(tests.parent)]!r}{code}"
    # The limit only ends what would never end.
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert answer.returncode == 0, answer.stderr
    assert len(answer.stdout.splitlines()) > 10


def test_a_search_ends_when_nobody_waits() -> None:
    with cancellation.wanted_while(lambda: False), pytest.raises(cancellation.Cancelled):
        found("gemm", regex=True)


def test_a_search_for_an_expression_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_TIME_LIMIT_S", -1.0)
    with pytest.raises(ProblemError, match="took more than"):
        found("gemm", regex=True)
    assert found("gemm") == ["gemm"]
