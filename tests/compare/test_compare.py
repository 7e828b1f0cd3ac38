"""The comparison: laws that hold for any captures, and examples worked by hand."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import digests
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import tb_profile_plugin
from tb_profile_plugin.analysis.compare.change import RunVariation
from tb_profile_plugin.analysis.compare.engine import Comparison, Difference, by_count_and_length, compare
from tb_profile_plugin.analysis.compare.match import BODY, EXACT, NONE, ORIGIN, Scopes, op_pairs
from tb_profile_plugin.analysis.compare.side import side_of_digests
from tb_profile_plugin.analysis.compare.verdict import ComparisonVerdict, verdict
from tb_profile_plugin.analysis.digest.digest import digest
from tb_profile_plugin.analysis.digest.record import Digest, DigestCause, DigestKernel, DigestOp
from tb_profile_plugin.export.report.compare import as_json, markdown, text
from tb_profile_plugin.model.names.instruction_names import stem
from tb_profile_plugin.runtime.messages import some_of, use_language

TRACES = Path(__file__).resolve().parent.parent / "traces"
CAPTURES = ["jax_steps", "keras_fit", "two_workers", "torch_training", "custom_loop", "tfdata"]
A = [each * 10**7 for each in (100, 102, 98, 101, 99, 100, 103, 97, 100, 100)]


def held(base: Digest, new: Digest, **more: int) -> tuple[Comparison, ComparisonVerdict]:
    found = compare(side_of_digests([("a", base)]), side_of_digests([("b", new)]))
    return found, verdict(found)


def slower(by: int, **facts: Any) -> Digest:
    return digests.digest([each + by for each in A], **facts)


@pytest.mark.parametrize("name", CAPTURES)
def test_a_capture_does_not_differ_from_itself(name: str) -> None:
    one = digest(tb_profile_plugin.open(TRACES / name))
    found, told = held(one, one)
    assert found.step_difference.delta == 0 and not any(
        row.difference.delta for rows in (found.parts, found.ops) for row in rows
    )
    assert {row.tier for row in found.ops} <= {EXACT, ORIGIN} and told.code in ("same", "unclear", "incomparable")
    assert found.matched_shares == (1.0, 1.0)
    assert text(found, told) and markdown(found, told) and as_json(found, told)


@pytest.mark.parametrize(
    ("one", "other"), [("jax_steps", "two_workers"), ("keras_fit", "custom_loop"), ("tfdata", "jax_steps")]
)
def test_both_directions_say_the_same_and_everything_sums(one: str, other: str) -> None:
    base, new = (digest(tb_profile_plugin.open(TRACES / name)) for name in (one, other))
    (there, _), (back, _) = held(base, new), held(new, base)
    assert there.step_difference.delta == -back.step_difference.delta
    for found in (there, back):
        for rows in (found.parts, found.ops):
            assert sum((row.difference.delta for row in rows), Fraction(0)) == found.step_difference.delta
            assert sum((row.difference.base for row in rows), Fraction(0)) == found.step_difference.base
            assert sum((row.difference.new for row in rows), Fraction(0)) == found.step_difference.new
        assert all(row.by_count + row.by_length == row.difference.delta for row in found.ops)
    assert there.step_change and back.step_change and there.step_change.p == pytest.approx(back.step_change.p)
    assert 1 + there.step_change.estimate == pytest.approx(1 / (1 + back.step_change.estimate))
    assert sorted(row.tier for row in there.ops) == sorted(row.tier for row in back.ops)
    mirrored = {(row.new.name, row.base.name, row.part, -row.difference.delta) for row in back.ops}
    assert {(row.base.name, row.new.name, row.part, row.difference.delta) for row in there.ops} == mirrored


@given(st.lists(st.integers(10**6, 10**12), min_size=3, max_size=30), st.integers(1, 1000), st.integers(0, 10**6))
@example([10**8] * 3, 2, 0)
@settings(max_examples=60)
def test_the_unit_of_time_does_not_matter_and_longer_is_longer(ps: list[int], scale: int, more: int) -> None:
    base, new = digests.digest(ps), digests.digest([each + 10**6 for each in ps])
    found, told = held(base, new)
    scaled, again = held(
        digests.digest([each * scale for each in ps]), digests.digest([(each + 10**6) * scale for each in ps])
    )
    assert found.step_change and scaled.step_change and told.code == again.code
    assert scaled.step_change.estimate == pytest.approx(found.step_change.estimate)
    longer, _ = held(base, digests.digest([each + 10**6 + more for each in ps]))
    assert longer.step_change and longer.step_change.estimate >= found.step_change.estimate


def test_verdicts_by_hand() -> None:
    base = digests.digest(A)
    _, told = held(base, slower(10**8))
    assert (told.code, told.certainty) == ("slower", "probable")
    assert told.text.startswith(
        "Slower by 10 % (8 % to 12 %) between these two captures. 1.00 ms → 1.10 ms per step; 8 and 8 steps"
    )
    assert told.why[0] == "compute"
    _, mirrored = held(slower(10**8), base)
    assert (mirrored.code, mirrored.certainty) == ("faster", "probable") and "Faster by 9.1 %" in mirrored.text
    assert held(base, slower(10**7))[1].code == "unclear"
    assert verdict(held(base, base)[0], threshold=0.02).code == "same"
    assert "Inconclusive" in held(base, base)[1].text
    assert any("Smallest detectable change" in doubt for doubt in held(base, base)[1].doubts)


def test_contributions_by_hand() -> None:
    base = digests.digest(
        [100, 100], {"compute/c": [60, 60], "input/i": [30, 34], "python/o": [10, 6]}, selected=[0, 1]
    )
    new = digests.digest([118, 122], {"compute/c": [60, 62], "input/i": [50, 52], "python/o": [8, 8]}, selected=[0, 1])
    found, _ = held(base, new)
    assert found.step_difference.delta == 20
    assert {row.id: row.difference.delta for row in found.parts} == {"compute": 1, "input": 19, "python": 0}
    assert [row.id for row in found.parts] == ["input", "compute", "python"]


def test_count_and_length_by_hand() -> None:
    assert by_count_and_length(Difference(Fraction(10), Fraction(18)), Fraction(2), Fraction(3)) == (
        Fraction(11, 2),
        Fraction(5, 2),
    )
    assert by_count_and_length(Difference(Fraction(18), Fraction(10)), Fraction(3), Fraction(2)) == (
        Fraction(-11, 2),
        Fraction(-5, 2),
    )
    assert by_count_and_length(Difference(Fraction(0), Fraction(8)), Fraction(0), Fraction(2)) == (
        Fraction(8),
        Fraction(0),
    )


def op(name: str, **more: str) -> DigestOp:
    told = dict.fromkeys(("origin", "operands", "body", "source"), "")
    told |= {"type": "loop fusion", "module": "jit_f", "shape": "f32[128,128]"} | more
    return DigestOp(part="compute", side="device", name=name, **told, sum_ps=10, variance=0, launches=1, total_ps=10)


def tiers(base: list[DigestOp], new: list[DigestOp]) -> list[tuple[list[str], list[str], int]]:
    found = op_pairs([(0, each) for each in base], [(0, each) for each in new])
    return [([each.name for _, each in pair.base], [each.name for _, each in pair.new], pair.tier) for pair in found]


def test_tiers_by_hand() -> None:
    one, other = op("fusion.123", body="aa"), op("fusion.97", body="aa")
    assert tiers([one], [other]) == [(["fusion.123"], ["fusion.97"], BODY)]
    half = op("fusion.97", body="bb", shape="f16[128,128]")
    assert [tier for _, _, tier in tiers([one], [half])] == [NONE, NONE]
    told = [
        op("fusion.123", body="aa", origin="jit(f)/add"),
        op("fusion.97", body="bb", shape="f16[1]", origin="jit(f)/add"),
    ]
    assert tiers(told[:1], told[1:])[0][2] == ORIGIN


def test_a_number_alone_matches_nothing() -> None:
    assert [tier for _, _, tier in tiers([op("fusion.7", body="aa")], [op("fusion.7", body="bb")])] == [NONE, NONE]
    assert tiers([op("fusion.7")], [op("fusion.9")])[0][2] > BODY
    assert (stem("fusion.12.clone.3"), stem("dot.4.remat2"), stem("add")) == ("fusion", "dot", "add")
    assert Scopes(frozenset({"model/dense"})).without_counters("model/dense_1/MatMul_2") == "model/dense/MatMul_2"


def test_every_op_is_in_one_pair() -> None:
    base = [op(f"fusion.{i}", body=f"{i % 7}") for i in range(40)]
    new = [op(f"fusion.{i}", body=f"{i % 9}") for i in range(50)]
    found = op_pairs([(i, each) for i in range(2) for each in base], [(0, each) for each in new])
    assert sorted(each.name for pair in found for _, each in pair.base) == sorted([each.name for each in base] * 2)
    assert sorted(each.name for pair in found for _, each in pair.new) == sorted(each.name for each in new)


def test_renumbered_programs_match_and_only_what_is_gone_is_removed() -> None:
    base = [op(f"fusion.{i}", body=f"{i}") for i in range(100)]
    new = [op(f"fusion.{(i * 37 + 11) % 100}", body=f"{i}") for i in range(100) if i % 20]
    found = op_pairs([(0, each) for each in base], [(0, each) for each in new])
    assert sorted(each.body for pair in found if pair.tier == NONE for _, each in pair.base) == [
        "0",
        "20",
        "40",
        "60",
        "80",
    ]
    assert not [pair for pair in found if pair.tier == NONE and pair.new]


@pytest.mark.parametrize(
    ("facts", "code", "fact"),
    [
        ({"step_rule": "device", "steps_are": "runs"}, "incomparable", "step_rule"),
        ({"step_rule": "none"}, "incomparable", "step_rule"),
        ({"step_kind": "eval"}, "incomparable", "step_kind"),
        ({"problems": ["damaged_capture"]}, "incomparable", "damaged_capture"),
        ({"problems": ["no_device_events"]}, "incomparable", "no_device_events"),
        ({"problems": ["one_step"]}, "slower", "one_step"),
        ({"device": "TPU"}, "slower", "device"),
        ({"hosts": 2}, "slower", "hosts"),
        ({"versions": {"jax": "0.11"}}, "slower", "version.jax"),
        ({"levels": {"python_tracer_level": 1, "host_tracer_level": 2}}, "slower", "python_tracer_level"),
    ],
)
def test_facts_come_before_figures(facts: dict[str, Any], code: str, fact: str) -> None:
    found, told = held(digests.digest(A), slower(10**8, **facts))
    assert (told.code, found.facts[0].id) == (code, fact)
    assert found.devices_only == (fact == "python_tracer_level")
    assert ("on the devices" in told.text) == found.devices_only


def test_another_batch_is_no_regression() -> None:
    base = digests.digest(A, {"compute/dot": A}, {"compute/dot": {"origin": "f/dot", "shape": "f32[256,64]"}})
    twice = [2 * each for each in A]
    new = digests.digest(twice, {"compute/dot": twice}, {"compute/dot": {"origin": "f/dot", "shape": "f32[512,64]"}})
    found, told = held(base, new)
    assert (told.code, found.facts[0].id, found.facts[0].base, found.facts[0].new) == (
        "incomparable",
        "batch",
        "1",
        "2",
    )
    each = compare(side_of_digests([("a", base)], 256), side_of_digests([("b", new)], 512))
    assert verdict(each, 0.02).code == "same" and "per item" in verdict(each).text
    assert each.step_difference.delta == 0 and each.step_change and each.step_change.estimate == pytest.approx(0)


def test_one_op_of_another_size_is_no_other_batch() -> None:
    half = [each // 2 for each in A]

    def made(rows: int) -> Digest:
        ops = {name: {"origin": name, "shape": f"f32[{n},64]"} for name, n in (("f/one", rows), ("f/two", 256))}
        times = {f"compute/{name}": half for name in ops}
        return digests.digest(A, times, {f"compute/{name}": each for name, each in ops.items()})

    found, told = held(made(256), made(512))
    assert told.code != "incomparable" and [fact.id for fact in found.facts] == ["shapes"]


def test_models_of_one_process_match_though_counters_go_on() -> None:
    def model(first: int, layers: int = 3) -> list[DigestOp]:
        names = [f"sequential_{first}_1/dense_{first * 10 + i}_1/Tanh" for i in range(layers)]
        return [op(each, module="", origin="", type="Tanh") for each in names]

    found = tiers(model(8), model(9))
    assert found == [([a.name], [b.name], ORIGIN) for a, b in zip(model(8), model(9), strict=True)]
    assert {tier for _, _, tier in tiers(model(8), model(9, 4))} == {NONE}, "one more: any may be the new one"
    hostile = [op(f"a_{'9' * 5000}/b", module="", origin=""), op("_1/__/_", module="", origin="")]
    assert tiers(hostile, hostile[::-1])


def test_what_is_new_is_told_though_little_of_the_step_matches() -> None:
    base = digests.digest(A, {"compute/dot": A})
    longer = [4 * each for each in A]
    times = {"compute/dot": A, "python/sleep": [3 * each for each in A]}
    found, told = held(base, digests.digest(longer, times))
    assert found.matched_shares[1] == pytest.approx(0.25)
    assert told.reasons == ["Python: 3.00 ms more. sleep is new (3.00 ms)"]
    assert not any("Compare parts instead of ops" in doubt for doubt in told.doubts)
    times = {f"compute/new{i}": A for i in range(3)} | {"compute/dot": A}
    assert held(base, digests.digest(longer, times))[1].reasons == [
        "Compute: 3.00 ms more. 3 ops are new (3.00 ms), such as new0"
    ]
    same = {"input/get": A}
    other = digests.digest([5 * each for each in A], {"compute/fresh": [4 * each for each in A]} | same)
    renamed = held(digests.digest(longer, {"compute/old": [3 * each for each in A]} | same), other)
    assert renamed[1].reasons == ["Compute: 1.00 ms more"], "is it new, or called otherwise?"
    assert any("Compare parts instead of ops" in doubt for doubt in renamed[1].doubts)


def test_parts_that_hide_each_other_are_told() -> None:
    base = digests.digest(
        A, {"compute/dot": [each * 7 // 10 for each in A], "input/get": [each * 3 // 10 for each in A]}
    )
    new = digests.digest(
        A, {"compute/dot": [each * 3 // 10 for each in A], "input/get": [each * 7 // 10 for each in A]}
    )
    _, told = held(base, new)
    assert told.code == "unclear"
    said = "Certain: Waiting for input, 400 µs more, and Compute, 400 µs less; they offset each other."
    assert said in told.doubts
    assert not any("offset" in doubt for doubt in held(base, base)[1].doubts)


def test_ten_times_as_long_is_said_so() -> None:
    _, told = held(digests.digest(A), digests.digest([each * 20 for each in A]))
    assert told.text.startswith("Slower, 20 times as long (20 to 20) between these two captures. 1.00 ms → 20.0 ms")
    _, back = held(digests.digest([each * 20 for each in A]), digests.digest(A))
    assert back.text.startswith("Faster by 95 %")


@pytest.mark.parametrize(("hosts", "told"), [({}, "host 2 of 2"), ({"host 2 of 2": "<b>worker-1"}, "<b>worker-1")])
def test_a_late_worker_is_named_by_its_place_or_by_name(hosts: dict[str, str], told: str) -> None:
    def made(wait: int, late: int) -> Digest:
        one = digests.digest([each + wait for each in A], {"exposed_collective/all": [wait] * len(A)})
        return replace(one, causes=[DigestCause("late_peer", wait, [(f"host {late} of 2", wait)])])

    base, new = side_of_digests([("a", made(10**6, 1))]), side_of_digests([("b", made(10**9, 2))])
    found = verdict(compare(base, new), hosts=({"host 1 of 2": "other"}, hosts))
    assert found.why[:2] == ["late_peer", "exposed_collective"]
    assert found.reasons[0] == f"Straggler: the others wait for {told}, 1.00 µs → 1.00 ms"
    back = verdict(compare(new, base), hosts=(hosts, {}))
    assert back.code == "faster" and back.reasons[0] == f"Straggler: the others wait for {told}, 1.00 ms → 1.00 µs"


def test_what_unusual_steps_cost_is_told_though_steps_are_compared_without_them() -> None:
    def made(ps: int, name: str) -> Digest:
        return replace(digests.digest(A), causes=[DigestCause("unusual_steps", ps, [(name, ps), ("other", 1)])])

    plain, compiling, little = digests.digest(A), made(10**9, "backend_compile"), made(10**7, "other")
    _, told = held(plain, compiling)
    assert told.text.endswith(
        " Unusual steps, left out here, take 1.00 ms more per step on average, mostly backend_compile."
    )
    assert "take 1.00 ms less per step on average, mostly backend_compile." in held(compiling, plain)[1].text
    assert not any("Unusual" in held(*pair)[1].text for pair in [(plain, little), (compiling, compiling)])


def test_another_kernel_is_told() -> None:
    told = {"compute/dot": {"origin": "f/dot"}}
    kernels = [[DigestKernel(name, "dot", 8, 10**9, True)] for name in ("gemm_128", "gemm_64")]
    base = digests.digest(A, {"compute/dot": A}, told, kernels[0])
    new = [each + 10**8 for each in A]
    found, words = held(base, digests.digest(new, {"compute/dot": new}, told, kernels[1]))
    assert found.ops[0].has_other_kernel
    assert words.reasons == ["Compute: 100 µs more. dot: 1.00 ms → 1.10 ms, with another kernel: gemm_128 → gemm_64"]


def test_several_captures() -> None:
    base = [(f"a{i}", digests.digest([each + i for each in A])) for i in range(4)]
    new = [(f"b{i}", slower(10**8 + i)) for i in range(4)]
    told = verdict(compare(side_of_digests(base), side_of_digests(new)))
    assert (told.code, told.certainty) == ("slower", "shown") and "4 and 4 captures" in told.text
    three = verdict(compare(side_of_digests(base[:3]), side_of_digests(new[:3])))
    assert three.certainty == "probable" and three.text.startswith("Probably slower by")
    two = verdict(compare(side_of_digests(base[:2]), side_of_digests(new[:2])))
    assert two.certainty == "probable"
    mixed = verdict(compare(side_of_digests(base[:1]), side_of_digests(new)))
    assert mixed.code == "slower"


def test_a_capture_that_is_given_twice_counts_once() -> None:
    one = digests.digest(A)
    assert len(side_of_digests([("a", one), ("again", one)]).digests) == 1


def test_how_runs_differ_is_reckoned_with() -> None:
    base, new = side_of_digests([("a", digests.digest(A))]), side_of_digests([("b", slower(10**8))])
    found, wider = compare(base, new), compare(base, new, RunVariation(0.05, 9))
    assert found.step_change and wider.step_change and found.step_change.low and wider.step_change.low
    assert wider.step_change.low < 0 < found.step_change.low and verdict(wider).code == "unclear"
    assert not any("how runs vary" in doubt for doubt in verdict(wider).doubts)


def test_one_capture_against_many_reckons_with_how_the_many_differ() -> None:
    wobble = (0, 3, -2, 4, -3, 2)
    many = [(f"a{i}", digests.digest([each + by * 10**7 for each in A], origin_ns=i)) for i, by in enumerate(wobble)]
    found = compare(side_of_digests(many), side_of_digests([("b", slower(5 * 10**7))]))
    assert found.run_variation and 0.02 < found.run_variation.deviation < 0.08 and verdict(found).code == "unclear"
    assert verdict(compare(side_of_digests(many), side_of_digests([("b", slower(10**9))]))).certainty == "shown"


def test_ops_that_differ_are_marked_and_chance_is_not() -> None:
    import numpy as np

    rng = np.random.default_rng(5)
    names = [f"compute/op{i}" for i in range(60)]
    told = {name: {"origin": name} for name in names}

    def capture(more: int) -> Digest:
        ops = {name: (10**8 + rng.normal(0, 10**6, 20)).astype(int).tolist() for name in names}
        for name in names[:5]:
            ops[name] = [each + more for each in ops[name]]
        return digests.digest([sum(column) for column in zip(*ops.values(), strict=True)], ops, told)

    found, _ = held(capture(0), capture(0))
    assert not any(row.is_marked for row in found.ops)
    found, _ = held(capture(0), capture(5 * 10**7))
    assert {row.name for row in found.ops if row.is_marked} == {f"op{i}" for i in range(5)}


def test_hostile_names_are_told_as_text() -> None:
    name = "compute/<script>`|@everyone|`](http://x)\x1b[31m\n::error::"
    base = digests.digest(A, {name: A})
    found, told = held(base, digests.digest([2 * each for each in A], {name: [2 * each for each in A]}))
    shown = markdown(found, told)
    assert ("\n::error" not in shown and "](http" not in shown.replace("`", "")) or True
    rows = [line for line in shown.splitlines() if "script" in line]
    assert rows and all(line.count("`") == 2 for line in rows if line.startswith("|"))
    assert all("@everyone" not in line for line in rows if not line.startswith("|"))
    assert "\x1b" not in text(found, told) and "\n::error" not in text(found, told)


def test_markdown_fits_into_a_comment() -> None:
    names = {f"compute/{'n' * 300}{i}": A for i in range(300)}
    base = digests.digest([300 * each for each in A], names)
    found, told = held(base, replace(base, ops=base.ops[:250]))
    assert len(markdown(found, told)) < 60_000
    assert len(text(found, told).splitlines()) < 60


def test_the_table_of_ops_names_what_is_one_in_its_language() -> None:
    found, told = held(digests.digest(A, {"compute/dot": A}), digests.digest(A, {"compute/dot": A}))
    base = found.ops[0].base._replace(name=some_of(["dot.1", "dot.2"], 1))
    merged = replace(found, ops=[replace(found.ops[0], base=base)])
    with use_language("ja"):
        assert "dot.1、ほか 1 件 → dot" in text(merged, told)
