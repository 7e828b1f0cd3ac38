"""What is advised pays: programs that were captured and measured on a CPU before and after a remedy."""

from pathlib import Path
from statistics import mean

import pytest
from figures import column
from planted.measured import Clock
from planted.remedies import REMEDIES

import tb_profile_plugin
from tb_profile_plugin.api import Capture

REMEDIED = Path(__file__).parent / "remedied"
CARDS = 3
PAYS = 1.25
"""So many times as long a step took before."""


@pytest.mark.parametrize(("name", "remedy"), REMEDIES.items())
def test_a_remedy_is_given_where_it_pays_and_no_longer_leads_afterwards(name: str, remedy: str) -> None:
    before, after = (Clock.read(REMEDIED / name / kind) for kind in ("with", "without"))
    assert mean(before.period_ms) > PAYS * mean(after.period_ms)
    captures = [tb_profile_plugin.open(REMEDIED / name / kind) for kind in ("with", "without")]
    first, first_after = gains(captures[0])[:CARDS], gains(captures[1])[:1]
    assert any(remedy in title for title, _ in [*first, *of_input(captures[0], name)])
    # What is done less often may still be the most that there is to win, but less than before.
    before_ms = max(gain or 0.0 for _, gain in first)
    assert all(remedy not in title or 2 * (gain or 0.0) < before_ms for title, gain in first_after)


@pytest.mark.parametrize("name", [name for name in REMEDIES if name.startswith("torch_")])
def test_ops_that_a_call_computes_itself_are_not_waited_for(name: str) -> None:
    """PyTorch computes on the CPU within its calls: reading results less often saves nothing."""
    for kind in ("with", "without"):
        assert not any("Read results" in title for title, _ in gains(tb_profile_plugin.open(REMEDIED / name / kind)))


def gains(capture: Capture) -> list[tuple[str, float | None]]:
    """What to do, and the milliseconds that it saves of a step; as ranked."""
    answer = capture.answer("why")
    return list(zip(column(answer, "findings", "title"), column(answer, "findings", "gain_ms"), strict=True))


def of_input(capture: Capture, name: str) -> list[tuple[str, float | None]]:
    """What to do about an input of tf.data: also what only helps if the data allow it."""
    if not name.startswith("tensorflow_"):
        return []
    return [(title, None) for title in column(capture.answer("tf_data_bottleneck_analysis"), "advice", "title")]
