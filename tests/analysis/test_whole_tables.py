"""Gradients of whole embedding tables are to be sparse, where a step looks few of their rows up."""

from typing import Any

import pytest
import torchtrace

from tb_profile_plugin.analysis.diagnosis.diagnose import diagnose
from tb_profile_plugin.analysis.diagnosis.program.program_facts import program_facts
from tb_profile_plugin.model.host import HostWithSteps

ROWS, WIDTH, REDUCE = 50_000, 64, 500


def recommender(
    rows: int = ROWS,
    reduced: int = ROWS * WIDTH,
    reduce: int = REDUCE,
    add: int = 140,
    tied: bool = False,
    shapes: bool = True,
    bags: bool = False,
) -> HostWithSteps:
    """Five steps of 1 ms look 128 x 20 rows of a table up; its gradient is computed, reduced with others and added."""
    events = []
    for step in range(5):
        at = 1000 * step
        events.append(torchtrace.mark(f"ProfilerStep#{step}", at, 999))
        for name, length, inputs in (
            ("aten::embedding_bag", 20, [[rows, WIDTH], [2560], [128], []])
            if bags
            else ("aten::embedding", 20, [[rows, WIDTH], [128, 20], []]),
            ("aten::mm", 40, [[128, WIDTH], [rows, WIDTH] if tied else [WIDTH, WIDTH]]),
            ("aten::_embedding_bag_dense_backward", 40, [[128, WIDTH], [2560], [2560], [128], []])
            if bags
            else ("aten::embedding_dense_backward", 40, [[128, 20, WIDTH], [128, 20], []]),
            ("gloo:all_reduce", reduce, [[reduced]]),
            ("aten::add_", add, [[rows, WIDTH], [rows, WIDTH], []]),
        ):
            of_op: dict[str, Any] = {"Input Dims": inputs} if shapes else {}
            event = torchtrace.on_host("user_annotation" if ":all" in name else "cpu_op", name, at + 5, length, **of_op)
            events.append(event)
            at += length + 5
    return torchtrace.host(*events, deviceProperties=[])


@pytest.mark.parametrize("bags", [False, True])
def test_gradients_of_few_rows_are_to_be_sparse(bags: bool) -> None:
    host = recommender(reduced=ROWS * WIDTH + 66_112, bags=bags)
    assert {"dense_embedding", "reduces_tables"} <= program_facts(host)
    assert "sparse=True" in diagnose([host]).causes[0].remedy.text


def test_sparse_gradients_save_what_is_done_for_whole_tables() -> None:
    diagnosis = diagnose([recommender(reduce=50, add=600)], replays=True)
    compute = next(cause for cause in diagnosis.causes if cause.id == "compute")
    assert compute.gain_ps == (40 + 600) * 10**6
    assert ", on whole tables" in diagnosis.headline.sentence.text


def test_what_workers_reduce_may_be_something_else() -> None:
    facts = program_facts(recommender(reduced=10 * ROWS * WIDTH, reduce=300))
    assert not {"reduces_tables"} & facts


@pytest.mark.parametrize(
    "host",
    [
        recommender(rows=8000),
        recommender(tied=True),
        recommender(reduce=800, add=20),
        recommender(shapes=False),
    ],
    ids=["many rows", "an output layer takes it", "a wait for another worker", "no shapes"],
)
def test_other_gradients_are_as_they_should_be(host: HostWithSteps) -> None:
    assert not {"dense_embedding", "reduces_tables"} & program_facts(host)
