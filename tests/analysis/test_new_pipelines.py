"""Pipelines that each step builds anew: what that takes is no fault of their stages."""

import draw

from tb_profile_plugin.analysis.diagnosis.diagnose import diagnose
from tb_profile_plugin.analysis.tfdata.pipeline_diagnosis import diagnoses

HOST = draw.host(
    """
/host:CPU
  python | train[0,1000]{_r=1, step_num=s} MakeIterator[10,600] IteratorGetNext:IteratorGetNext[620,60]
         | Iterator::Root[622,56]{id=1} Iterator::Root::Map[624,50]{id=2, parent_id=1} x/MatMul:MatMul[700,290]
""",
    6,
    1000,
)


def test_the_headline_says_that_pipelines_are_built() -> None:
    assert diagnose([HOST]).headline.sentence.text.endswith(", building new pipelines.")


def test_stages_cost_no_more_than_is_waited_for_them() -> None:
    (diagnosis,) = diagnoses(HOST)
    assert diagnosis.cost.waited_ps == 660e6
    assert 50e6 <= diagnosis.waited_ps <= 60e6
    assert all(finding.gain_ps is None or finding.gain_ps <= 60e6 for finding in diagnosis.findings)
