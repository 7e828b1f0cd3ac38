"""What is advised pays: programs that were captured and measured on a CPU before and after a remedy."""

from pathlib import Path
from statistics import median

import pytest
from figures import column
from planted.measured import Clock
from planted.remedies import REMEDIES

import tb_profile_plugin

REMEDIED = Path(__file__).parent / "remedied"
CARDS = 3
PAYS = 1.3
"""So many times as long a step took before."""


@pytest.mark.parametrize(("name", "remedy"), REMEDIES.items())
def test_a_remedy_is_given_where_it_pays_and_does_not_lead_afterwards(name: str, remedy: str) -> None:
    before, after = (Clock.read(REMEDIED / name / kind) for kind in ("with", "without"))
    assert median(before.period_ms) > PAYS * median(after.period_ms)
    said = {
        kind: column(tb_profile_plugin.open(REMEDIED / name / kind).answer("why"), "findings", "title")
        for kind in ("with", "without")
    }
    assert any(remedy in title for title in said["with"][:CARDS])
    assert remedy not in said["without"][0]
