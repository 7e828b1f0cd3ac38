"""From when to when a host was recorded."""

import draw
import pytest

US = 10**6


@pytest.mark.parametrize(("thread", "end"), [("  python | step[10,20]\n", 30), ("", 90)])
def test_counters_that_follow_the_program_are_no_part_of_it(thread: str, end: int) -> None:
    host = draw.host(
        f"/host:CPU\n{thread}  _counters_ | memory[{10 if not thread else 15},{end - 10 if not thread else 75}]"
    )
    assert host.window == (10 * US, end * US)
