"""Which sessions of a logdir are of one program."""

from __future__ import annotations

import digests

from tb_profile_plugin.analysis.compare.same_program import by_program, of_same_program, program_name
from tb_profile_plugin.analysis.digest.record import Digest

STEPS = [100] * 6


def program(**compute: int) -> Digest:
    ops = {f"compute/{name}": [ps] * 6 for name, ps in compute.items()}
    return digests.digest(STEPS, ops, {key: {"type": ""} for key in ops})


def names(entries: list[tuple[str, Digest]]) -> list[str]:
    return [name for name, _ in entries]


def test_sessions_of_other_ops_are_other_programs() -> None:
    history = [
        ("old", program(matmul=80, softmax=20)),
        ("other", program(conv=90, relu=10)),
        ("slower", program(matmul_7=60, softmax=10, sort=30)),
        ("blank", program()),
        ("new", program(matmul=85, softmax=15)),
    ]
    assert names(of_same_program(history, history[-1][1])) == ["old", "slower", "new"]
    assert names(of_same_program(history, history[1][1])) == ["other"]
    assert names(of_same_program(history, history[1][1], by_ops=False)) == names(history)
    assert [names(group) for group in by_program(history)] == [["old", "slower", "new"], ["blank"], ["other"]]
    assert [names(group) for group in by_program(history, by_ops=False)] == [names(history)]
    assert by_program([]) == []


def test_programs_of_xla_are_told_apart_by_their_names() -> None:
    """Kinds of fused ops are shared by all programs."""
    ops, told = {"compute/fusion.1": [100] * 6}, {"compute/fusion.1": {"type": "loop fusion"}}
    history = [
        (name, digests.digest(STEPS, ops, told, programs=[(each, "1") for each in programs.split()]))
        for name, programs in (("train", "jit_init jit_step"), ("serve", "jit_decode"), ("later", "jit_step"))
    ]
    assert [names(group) for group in by_program(history)] == [["train", "later"], ["serve"]]


def test_a_program_is_called_after_what_it_computes() -> None:
    assert program_name(program(matmul=80, softmax=15, add=4, mul=1)) == "matmul, softmax, add · GPU · train"
    assert program_name(digests.digest(STEPS, devices=4, step_kind="")) == "4 × GPU"
