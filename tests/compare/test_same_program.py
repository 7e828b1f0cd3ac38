"""Which sessions of a logdir are of one program."""

from __future__ import annotations

import digests

from tb_profile_plugin.analysis.compare.same_program import of_same_program
from tb_profile_plugin.analysis.digest.record import Digest

STEPS = [100] * 6


def program(**compute: int) -> Digest:
    ops = {f"compute/{name}": [ps] * 6 for name, ps in compute.items()}
    return digests.digest(STEPS, ops, {key: {"type": ""} for key in ops})


def test_sessions_of_other_ops_are_other_programs() -> None:
    history = [
        ("old", program(matmul=80, softmax=20)),
        ("other", program(conv=90, relu=10)),
        ("slower", program(matmul_7=60, softmax=10, sort=30)),
        ("blank", program()),
        ("new", program(matmul=85, softmax=15)),
    ]
    related = ["old", "slower", "blank", "new"]
    assert [name for name, _ in of_same_program(history)] == related
    assert [name for name, _ in of_same_program(history, history[1][1])] == ["other", "blank"]
    assert [name for name, _ in of_same_program(history, by_ops=False)] == [name for name, _ in history]
    assert of_same_program([]) == []
