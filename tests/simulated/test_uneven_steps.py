"""What is said of programs whose steps differ, as two frameworks write them; costs are measured without the cause."""

from typing import Any

import pytest
from simulated import written
from simulated.programs import OTHER, Launch
from simulated.uneven import Uneven, uneven

from tb_profile_plugin.analysis.diagnosis.diagnose import Diagnosis, diagnose
from tb_profile_plugin.analysis.diagnosis.findings import findings
from tb_profile_plugin.analysis.ops.device_ops import device_ops
from tb_profile_plugin.model.host import HostWithSteps

SEEDS = range(4)
WRITERS = {"torch": written.torch, "jax": written.jax}


def host_of(made: Uneven, writer: str) -> HostWithSteps:
    _, events = made.run()
    host: HostWithSteps = WRITERS[writer](made.program, events)
    return host


def judged(shape: str, seed: int, writer: str) -> tuple[Diagnosis, float, int]:
    """(the diagnosis, what a step takes more on average by its cause in ps, every how many steps)."""
    made = uneven(shape, seed)
    faulty, clean = made.run()[0], made.run(faulty=False)[0]
    every = int(made.program.shape.partition(" ")[2])
    return diagnose([host_of(made, writer)], replays=True), (faulty - clean) * 1e6, every


every_program = pytest.mark.parametrize(("seed", "writer"), [(seed, writer) for seed in SEEDS for writer in WRITERS])


@every_program
def test_what_comes_every_few_steps_leads_with_its_period_from_the_first_step_on(seed: int, writer: str) -> None:
    found, cost, every = judged("saves", seed, writer)
    assert found.headline.sentence.text.startswith(f"One step in {every} takes")
    assert found.causes[0].gain_ps == pytest.approx(cost, rel=0.05)
    assert not any(cause.id == "warmup" for cause in found.causes if cause.share > 0.01)


@every_program
def test_few_gaps_that_hold_the_time_are_counted(seed: int, writer: str) -> None:
    found, _, every = judged("saves_between", seed, writer)
    text = found.headline.sentence.text
    assert found.causes[0].id == "pause"
    long = found.typical.long_pauses
    assert long is not None and long.count == sum(1 for step in range(0, len(found.typical.steps) - 1, every))
    assert f", once in {every} steps." in text


@every_program
def test_what_devices_do_in_few_gaps_is_no_work_of_the_steps(seed: int, writer: str) -> None:
    found, cost, _ = judged("evaluates", seed, writer)
    cause, function = found.causes[0], uneven("evaluates", seed).between
    assert cause.id == "between_steps" and cause.gain_ps == pytest.approx(cost, rel=0.25)
    assert [name for name, _, _ in cause.names] == [f"{function} (train.py:77)"]
    verb = "Evaluate" if function == "evaluate" else "Run this work"
    assert cause.remedy.text.startswith(f"{verb} less often, or on fewer batches")


@every_program
def test_devices_that_take_turns_wait_for_one_another(seed: int, writer: str) -> None:
    found, _, _ = judged("turns", seed, writer)
    made = uneven("turns", seed)
    inside, _ = made.step(0, True)
    work = [0.0, 0.0]
    for thing in inside:
        if isinstance(thing, Launch):
            work[thing.stream // OTHER] += thing.us
    assert found.headline.sentence.text.startswith("Waiting for other devices takes")
    # Nothing tells what the first device waits for at the end of the last step.
    assert found.causes[0].per_step_ps == pytest.approx(min(work) * 1e6, rel=0.12)
    assert [cause.id for cause in found.causes] == ["peer", "compute"], "what takes less than 3 % is no cause"


@every_program
def test_devices_that_work_at_once_do_not_wait(seed: int, writer: str) -> None:
    made = uneven("turns", seed)
    _, events = made.run(faulty=False)
    assert diagnose([WRITERS[writer](made.program, events)]).causes[0].id == "compute"


@pytest.mark.parametrize("shape", ["throttled", "growing"])
@every_program
def test_steps_that_get_slower_are_a_finding(shape: str, seed: int, writer: str) -> None:
    made = uneven(shape, seed)
    for faulty in (True, False):
        _, events = made.run(faulty)
        host: Any = WRITERS[writer](made.program, events)
        ids = [finding.id for finding in findings(diagnose([host]), [host], device_ops(host))]
        assert ("slower_steps" in ids) == faulty
