"""Files that each step reads are to be read once, whatever else would help Python."""

import pytest
import torchtrace

from tb_profile_plugin.analysis.diagnosis.cause_kinds import kinds
from tb_profile_plugin.analysis.diagnosis.diagnose import diagnose
from tb_profile_plugin.analysis.steps.choice_names import ALL
from tb_profile_plugin.model.host import HostWithSteps

LOAD = "torch/serialization.py(1315): load"


def serving(name: str, every: int) -> HostWithSteps:
    """Twenty requests; each so many of them calls a function of the program, which calls that one, for long."""
    events, at = [], 0
    for request in range(20):
        length = 3000 * every if request % every == every - 1 else 10
        events.append(torchtrace.mark("request", at, length + 2400))
        events.append(torchtrace.op("aten::addmm", at + 10, 80))
        events.append(torchtrace.frame("serve.py(30): head_of", at + 100, length))
        events.append(torchtrace.frame(name, at + 102, length - 4))
        events.append(torchtrace.op("aten::addmm", at + length + 200, 2000))
        at += length + 2600
    return torchtrace.host(*events, deviceProperties=[])


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("head_of (serve.py:30), in load (torch/serialization.py:1315)", True),
        ("head_of (serve.py:30), in load", True),
        ("state (serve.py:30), in load (numpy/lib/_npyio_impl.py:305)", True),
        ("words (serve.py:30), in load (json/__init__.py:274)", True),
        ("tokens (serve.py:30), in from_pretrained (transformers/tokenization_utils_base.py:1800)", True),
        ("load_weights (keras/saving/saving_api.py:240)", True),
        ("words (serve.py:30), in loads (json/__init__.py:299)", False),
        ("target (train.py:30), in load_state_dict (torch/nn/modules/module.py:2530)", False),
        ("keep (train.py:30), in save (torch/serialization.py:940)", False),
        ("load (train.py:30)", False),
    ],
)
@pytest.mark.parametrize("cause", ["python", "between_steps", "unrecorded"])
def test_calls_that_read_files_are_a_kind(cause: str, name: str, told: bool) -> None:
    assert kinds(cause, [(name, 9.0)], 10.0) == ["reading"] * told


@pytest.mark.parametrize(
    ("name", "every", "told"), [(LOAD, 1, True), (LOAD, 10, False), ("model.py(4): tokens", 1, False)]
)
def test_files_that_each_step_reads_are_to_be_read_once(name: str, every: int, told: bool) -> None:
    causes = diagnose([serving(name, every)], ALL).causes
    (said,) = [cause.remedy.text for cause in causes if cause.id == "python"]
    assert ("Read files once" in said) == told
