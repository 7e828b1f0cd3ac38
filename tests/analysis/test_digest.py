"""The digest: parts and ops sum to the steps exactly, nothing tells who made it, and equal work has equal numbers."""

import json
from pathlib import Path
from typing import Any

import draw
import hlodraw
import numpy as np
import pytest

import tb_profile_plugin
from tb_profile_plugin.analysis.activity.devices.device_work import device_work
from tb_profile_plugin.analysis.digest import blame
from tb_profile_plugin.analysis.digest.digest import digest, variances
from tb_profile_plugin.analysis.digest.instruction_fingerprints import InstructionFingerprints
from tb_profile_plugin.analysis.digest.record import Digest
from tb_profile_plugin.analysis.labels import device_timeline
from tb_profile_plugin.formats.protobuf import message as field
from tb_profile_plugin.formats.protobuf import varint
from tb_profile_plugin.formats.xspace.hlo.module import Module
from tb_profile_plugin.runtime.problems import ProblemError

TRACES = Path(__file__).resolve().parent.parent / "traces"
CAPTURES = sorted({path.parent for pattern in ("*.xplane.pb", "*.pt.trace.json*") for path in TRACES.rglob(pattern)})


@pytest.mark.parametrize("capture", CAPTURES, ids=lambda path: path.parts[-4] if path.name == "run" else path.name)
def test_parts_and_ops_sum_to_the_steps(capture: Path) -> None:
    session = tb_profile_plugin.open(capture)
    found = digest(session)
    whole = sum(found.steps.ps[i] for i in found.steps.selected)
    assert sum(part.sum_ps for part in found.parts) == whole
    assert sum(op.sum_ps for op in found.ops) == whole
    for part in found.parts:
        assert sum(op.sum_ps for op in found.ops if op.part == part.id) == part.sum_ps
    text = found.to_json()
    assert Digest.from_json(text) == Digest.from_json(text.encode()) and Digest.from_json(text).to_json() == text
    assert len(text) < 400_000
    assert digest(tb_profile_plugin.open(capture)).id == found.id
    assert not any(len(host) > 6 and host in text for host in session.hosts)


def loop(step: str, steps: int = 6, **more: str) -> Digest:
    drawn = draw.space(f"/host:CPU\n  python | train[0,90]{{_r=1, step_num=s}} {step}", steps, 100)
    return digest(tb_profile_plugin.api.Capture.at(write(drawn, more.get("name", "a"))))


FOLDER: list[Path] = []


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path) -> None:
    FOLDER[:] = [tmp_path]


def write(drawn: object, name: str) -> Path:
    path = FOLDER[0] / f"{name}.xplane.pb"
    path.write_bytes(drawn.SerializeToString())  # type: ignore[attr-defined]
    return path


def test_a_step_lasts_until_the_next_one_begins() -> None:
    """Input that is taken between the marks would be lost otherwise; after the last step nothing tells how long."""
    found = loop("x/MatMul:MatMul[1,88] IteratorGetNext[90,9]")
    assert found.steps.ps == [100_000_000] * 5 + [90_000_000]
    assert found.steps.reason[-1] == "cut"
    times = {part.id: part.sum_ps / len(found.steps.selected) for part in found.parts}
    assert times["input"] >= 9_000_000 and sum(times.values()) == 100_000_000


def test_a_hidden_kernel_has_no_moment_of_its_own() -> None:
    text = """
/host:CPU
  python | train[0,100]{_r=1, step_num=s} Launch[1,1]{c=1} Launch[3,1]{c=2}
/device:GPU:0
  Stream #1 | p[10,80]{c=1, tf_op=p/MatMul:MatMul}
  Stream #2 | q[9,%s]{c=2, tf_op=q/Relu:Relu}
"""
    ops = {}
    for lasts in (4, 2):
        found = digest(tb_profile_plugin.open(write(draw.space(text % f"{lasts}", 5, 100), f"{lasts}")))
        ops[lasts] = {op.name: op for op in found.ops if op.side == "device"}
        kept = len(found.steps.selected)
        assert ops[lasts]["p/MatMul"].sum_ps == kept * 80_000_000
        assert ops[lasts]["q/Relu"].sum_ps == kept * 1_000_000
        assert ops[lasts]["q/Relu"].total_ps == kept * lasts * 1_000_000
        assert ops[lasts]["q/Relu"].launches == kept


def test_an_op_that_threads_share_is_one_execution() -> None:
    """How many threads of a pool come to help depends on the machine's load, which no count may."""
    text = """
/host:CPU
  python | train[0,100]{_r=1, step_num=s}
  tf_XLAPjRtCpuClient/5 | dot.1[10,50]{hlo_op=dot.1, hlo_module=jit_step}
  | ThreadpoolListener::Record[15,0]{_pt=15, _p=1+s}
  tf_XLAEigen/6 | ThreadpoolListener::StartRegion[20,30]{_ct=15, _c=1+s} ThreadpoolListener::StopRegion[50,0]
"""
    drawn = draw.space(text, 5, 100)
    assert max(map(len, device_work(draw.decoded(drawn)))) == 10, "each op is work of two threads"
    found = digest(tb_profile_plugin.open(write(drawn, "shared")))
    assert found.steps.launches == [1] * 5
    (op,) = [op for op in found.ops if op.name == "dot.1"]
    kept = len(found.steps.selected)
    assert (op.launches, op.total_ps) == (kept, kept * 50_000_000)


def test_variance_is_that_of_yuen() -> None:
    """Worked by hand: two of the ten are clipped, 18 is the sum of squares, 2 * 9 / 56 the variance."""
    times = np.array([100, 102, 98, 101, 99, 100, 103, 97, 100, 100]) * 10**6
    kept = ~np.isin(times, [103 * 10**6, 97 * 10**6])
    drawn = variances(np.stack([times, np.zeros_like(times)]), kept)
    assert drawn == [round(18 / 56 * 10**12), 0]
    assert variances(times[None, :2], kept[:2]) == [None]


def add(first: str, second: str, dtype: int = hlodraw.F32, numbers: int = 10) -> tuple[Module, int]:
    """A program whose root is a fusion of add(mul(p0, p1), p2), with operands in the order told."""
    shape = hlodraw.shape(128, 128, dtype=dtype)
    at = {"mul": numbers + 3, "p0": numbers, "p1": numbers + 1, "p2": numbers + 2}
    parts = [hlodraw.instruction(at[f"p{i}"], "parameter", shape, parameter=i) for i in range(3)]
    product = [at["p1"], at["p0"]] if first == "p2" else [at["p0"], at["p1"]]
    parts.append(hlodraw.instruction(at["mul"], "multiply", shape, product))
    parts.append(hlodraw.instruction(numbers + 4, "add", shape, [at[first], at[second]]))
    body = hlodraw.computation(1, b"".join(parts), numbers + 4)
    fusion = hlodraw.instruction(99, "fusion", shape, called=[1], name=f"fusion.{numbers}")
    module = hlodraw.module(body, hlodraw.computation(2, fusion, 99))
    return module, module.row(f"fusion.{numbers}")


def test_equal_work_has_equal_numbers_whatever_it_is_called() -> None:
    one, other, half = add("mul", "p2"), add("p2", "mul", numbers=40), add("mul", "p2", dtype=10)
    fingerprints = [InstructionFingerprints(module) for module, _ in (one, other, half)]
    of_add = [found.of_instruction(row) for found, (_, row) in zip(fingerprints, (one, other, half), strict=True)]
    of_program = [found.of_program() for found in fingerprints]
    for same, equal, unequal in (of_add, of_program):
        assert same == equal != unequal


def loop_of(turns: int, start: int = 0) -> Module:
    """A program that counts in a loop: ``start`` is a literal of its body, ``turns`` one of its condition."""
    number, truth = hlodraw.shape(dtype=4), hlodraw.shape(dtype=1)

    def constant(at: int, value: int) -> bytes:
        literal = field(8, b"\x22" + bytes([len(varint(value))]) + varint(value))
        return hlodraw.instruction(at, "constant", number, rest=literal)

    body = [hlodraw.instruction(1, "parameter", number), constant(2, start)]
    body.append(hlodraw.instruction(3, "add", number, [1, 2]))
    tests = [hlodraw.instruction(11, "parameter", number), constant(12, turns)]
    tests.append(hlodraw.instruction(13, "compare", truth, [11, 12]))
    inner = hlodraw.computation(1, b"".join(body), 3), hlodraw.computation(2, b"".join(tests), 13)
    main = hlodraw.instruction(21, "parameter", number) + hlodraw.instruction(22, "while", number, [21], [1, 2])
    return hlodraw.module(*inner, hlodraw.computation(3, main, 22), entry="c3")


def test_a_loop_of_more_turns_is_another_program() -> None:
    one, again, more, other = (InstructionFingerprints(loop_of(*each)) for each in ((100,), (100,), (150,), (100, 7)))
    assert one.of_program() == again.of_program() == other.of_program() != more.of_program()
    row = loop_of(100).row("while.22")
    assert one.of_instruction(row) == again.of_instruction(row) != more.of_instruction(row)


def test_a_program_that_calls_itself_has_a_number() -> None:
    call = hlodraw.instruction(5, "call", hlodraw.shape(2), called=[1])
    assert InstructionFingerprints(hlodraw.module(hlodraw.computation(1, call, 5))).of_program()


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"kind":"digest"}', '{"kind":"digest","version":0}', "\x00", "nul"])
def test_what_is_no_digest_is_told(text: str) -> None:
    with pytest.raises(ProblemError):
        Digest.from_json(text)


def test_a_digest_with_odd_entries_is_told() -> None:
    good = json.loads(loop("x/MatMul:MatMul[1,88]").to_json())
    for key, value in (("steps", []), ("ops", [{"name": 1}]), ("parts", 7), ("programs", [["a"]]), ("facts", None)):
        with pytest.raises(ProblemError):
            Digest.from_json(json.dumps(good | {key: value}))


def test_a_session_that_nothing_is_known_of_has_its_timeline_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []

    def counted(*given: Any) -> Any:
        made.append(given)
        return told(*given)

    told = device_timeline._cut_by_intervals
    monkeypatch.setattr(device_timeline, "_cut_by_intervals", counted)
    loop("x/MatMul:MatMul[1,88]")
    assert len(made) == 1


def test_works_that_begin_out_of_order_count_where_they_begin() -> None:
    """Against a search for each of them, of two devices one after the other; some begin before and after all steps."""
    rng = np.random.default_rng(0)
    edges = np.array([10, 20, 20, 35, 60], np.int64)
    begin = np.concatenate([np.sort(rng.integers(0, 70, 50)), rng.integers(0, 70, 50)])
    end, group = begin + rng.integers(1, 9, 100), rng.integers(0, 4, 100).astype(np.int32)
    placed = np.array([2, 0, 1, 2], np.int32)
    no_intervals = np.zeros(1, np.int64)
    activity = blame._Activity(no_intervals, begin, end, np.zeros(100, np.int8), np.zeros(100, np.int32))
    launches, total = blame._launches_by_step(edges, activity, group, placed, 3)
    expected = np.zeros((2, 4, 3), np.int64)
    for each, last, row in zip(begin, end, placed[group], strict=True):
        at = np.searchsorted(edges, each, "right") - 1
        if 0 <= at < 4:
            expected[:, at, row] += 1, last - each
    assert (launches == expected[0]).all() and (total == expected[1]).all()
