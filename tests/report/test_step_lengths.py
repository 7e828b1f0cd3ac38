"""How long steps are, in words: most steps take about what is said of each."""

from pathlib import Path

import draw
import pytest

from tb_profile_plugin.export.report import why


@pytest.mark.parametrize(
    ("durations_us", "words"),
    [
        ((90, 100, 110), "All 3 steps: 100 µs each"),
        ((90, 100, 110, 60, 140, 100), "All 6 steps: 100 µs each"),
        (
            (78, 80, 82, 112, 114, 116),
            "All 6 steps: 78.0 µs to 116 µs, median 97.0 µs; 1.00 ms from step to step on average.",
        ),
        ((60, 100, 170), "All 3 steps: 60.0 µs to 170 µs, median 100 µs; 1.03 ms from step to step on average."),
    ],
)
def test_uneven_steps_are_told_by_range_and_median(tmp_path: Path, durations_us: tuple[int, ...], words: str) -> None:
    steps = " ".join(f"train[{1000 * i},{us}]{{_r=1, step_num={i}}}" for i, us in enumerate(durations_us))
    drawn = draw.space(f"/host:CPU\n  python | {steps}")
    assert words in why.text(draw.session(tmp_path, host=drawn).answer("why", steps="all"))
