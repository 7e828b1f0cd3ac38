"""Which cause leads, and what stands behind it."""

import pytest

from tb_profile_plugin.analysis.diagnosis.catalogue import Sentence
from tb_profile_plugin.analysis.diagnosis.cause_order import by_cost, by_gain
from tb_profile_plugin.analysis.diagnosis.causes import Cause
from tb_profile_plugin.analysis.diagnosis.remedies.remedy import Remedy
from tb_profile_plugin.analysis.diagnosis.time_loss import TimeLoss

PERIOD_PS = 1000.0


def causes_of(losses: list[TimeLoss], gains: dict[str, int]) -> list[Cause]:
    sentence = Sentence("names.none")
    return [
        Cause(
            loss.id, round(loss.ps), loss.ps / PERIOD_PS, gains.get(loss.id), "high", "", sentence, Remedy(""), [], []
        )
        for loss in losses
    ]


def test_causes_behind_the_first_stand_by_what_each_saves() -> None:
    losses = [TimeLoss("python", 300), TimeLoss("sync", 100), TimeLoss("exposed_copy", 200), TimeLoss("compute", 350)]
    ranked = by_cost([*losses, TimeLoss("warmup", 900)], PERIOD_PS, False, [])
    assert [loss.id for loss in ranked] == ["python", "exposed_copy", "sync", "compute", "warmup"]
    gains = {"python": 90, "exposed_copy": 0, "sync": 250, "warmup": 800}
    by_gains = by_gain(ranked, causes_of(ranked, gains))
    assert [cause.id for cause in by_gains] == ["python", "sync", "exposed_copy", "compute", "warmup"]
    # What no replay tells counts by its time; without replays nothing changes.
    by_some = by_gain(ranked, causes_of(ranked, {"sync": 150}))
    assert [cause.id for cause in by_some] == ["python", "exposed_copy", "sync", "compute", "warmup"]
    assert [cause.id for cause in by_gain(ranked, causes_of(ranked, {}))] == [loss.id for loss in ranked]
    assert by_gain([], []) == []


@pytest.mark.parametrize(("most_ps", "leads"), [(None, "input"), (350.0, "input"), (60.0, "dispatch")])
def test_a_wait_for_input_leads_by_what_steps_without_it_are_shorter(most_ps: float | None, leads: str) -> None:
    """It takes 40 % of the step, and framework overhead 20 %."""
    wait = TimeLoss("input", 400, most_ps=most_ps)
    ranked = by_cost([wait, TimeLoss("dispatch", 200), TimeLoss("compute", 400)], PERIOD_PS, False, [])
    assert ranked[0].id == leads


@pytest.mark.parametrize(("of_framework", "leads"), [([], "dispatch"), (["dispatch"], "compute")])
def test_what_a_framework_costs_a_cpu_leads_over_no_work_of_twice_that(of_framework: list[str], leads: str) -> None:
    losses = [TimeLoss("dispatch", 300), TimeLoss("compute", 700)]
    assert by_cost(losses, PERIOD_PS, False, of_framework)[0].id == leads


@pytest.mark.parametrize(("eager_ps", "leads"), [(550, "eager"), (450, "compute")])
def test_eager_execution_of_a_cpu_leads_where_it_takes_more_than_compute(eager_ps: float, leads: str) -> None:
    losses = [TimeLoss("eager", eager_ps), TimeLoss("compute", 1000 - eager_ps)]
    assert by_cost(losses, PERIOD_PS, False, ["eager"])[0].id == leads
    assert by_cost(losses, PERIOD_PS, False, [])[0].id == "eager"


@pytest.mark.parametrize(
    ("most_ps", "is_wasteful", "leads"),
    [(None, False, "dispatch"), (None, True, "dispatch"), (400.0, True, "compute"), (200.0, True, "dispatch")],
    ids=["no waste", "half of it", "most of it", "less than the loss"],
)
def test_known_waste_leads_over_smaller_losses(most_ps: float | None, is_wasteful: bool, leads: str) -> None:
    """Of work of 45 % of the step beside framework overhead of 30 %."""
    work = TimeLoss("compute", 450, remedy=Remedy("Donate arrays.", most_ps=most_ps))
    losses = [TimeLoss("dispatch", 300), work, TimeLoss("sync", 10)]
    assert by_cost(losses, PERIOD_PS, is_wasteful, [])[0].id == leads
