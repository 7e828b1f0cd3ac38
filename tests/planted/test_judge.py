"""The judge of diagnoses: it says what is wrong, and nothing about what is right."""

from dataclasses import replace

from planted.judge import Answer, judge, judge_without
from planted.measured import Clock
from planted.table import Planted

SLEEPING = Planted("nowhere", "sleeps 20 ms of 25", ("input",), absent=("compile",))
LATE = Planted("nowhere", "runs small ops for 20 ms of 25", ("eager", "python"))
HOST_MS = 19.0
"""Won without any delay by the host."""
RUN = Clock([25.0] * 4, [25.1] * 4, [20.0] * 4)
OTHER = Clock([5.0] * 4, [5.1] * 4, None)


def answer(period: float, *causes: tuple[str, float, float | None]) -> Answer:
    """What `why` says: from step to step, and id, time and ceiling of each cause, in milliseconds."""
    columns = {
        "id": [id for id, _, _ in causes],
        "per_step_ps": [ms * 1e9 for _, ms, _ in causes],
        "gain_ps": [None if gain is None else gain * 1e9 for _, _, gain in causes],
    }
    tables = {"causes": columns, "scenarios": {"id": ["host"], "gain_ps": [HOST_MS * 1e9]}}
    facts = {"period_ps": period * 1e9, "steps_count": 4}
    return {
        "facts": {name: {"value": value} for name, value in facts.items()},
        "tables": {
            name: {"columns": [{"id": id, "values": values} for id, values in table.items()]}
            for name, table in tables.items()
        },
    }


def wrong(period: float, *causes: tuple[str, float, float | None], program: Planted = SLEEPING) -> list[str]:
    said = answer(period, *causes)
    return judge(program, RUN, OTHER, said, said)


def test_what_is_right_passes() -> None:
    assert wrong(25.1, ("input", 19.8, 20.5), ("compute", 5.0, None)) == []


def test_what_is_wrong_is_told() -> None:
    assert wrong(25.1, ("compute", 20.0, None), ("input", 20.0, 20.0)) == ["compute comes first, not input"]
    assert wrong(25.1, ("input", 12.0, 20.0)) == ["input 12.00 ms in each step, measured 20.00 ms"]
    assert wrong(25.1, ("input", 20.0, 10.0)) == ["at most 10.00 ms won, measured 20.00 ms"]
    assert wrong(25.1, ("input", 20.0, None)) == ["no ceiling"]
    assert wrong(30.0, ("input", 20.0, 20.0)) == ["from step to step 30.00 ms, by the clock 25.10 ms"]
    assert wrong(25.1, ("input", 20.0, 20.0), ("compile", 4.0, 4.0)) == [
        "compile 4.00 ms of 25.10 ms, though there is none"
    ]


def test_ways_of_being_late_are_one() -> None:
    assert wrong(25.1, ("eager", 12.0, 11.0), ("python", 8.0, 7.0), program=LATE) == []


def test_a_ceiling_is_not_judged_where_the_program_says_why() -> None:
    assert wrong(25.1, ("input", 20.0, 10.0), program=replace(SLEEPING, gain="it computes less, too")) == []


def test_without_the_cause_it_is_gone() -> None:
    fine, blamed = answer(5.1, ("compute", 4.8, None)), answer(5.1, ("input", 4.5, None))
    assert judge_without(SLEEPING, RUN, OTHER, fine, fine) == []
    assert judge_without(SLEEPING, RUN, OTHER, blamed, blamed) == ["input 4.50 ms of 5.10 ms without the cause"]
