"""Names of 100 kB cost what their bytes cost, in captures of both kinds: by every tool, timeline and exports."""

import os
import signal
from collections.abc import Iterator
from types import FrameType

import evil
import pytest
from everything import ask_every_tool

from tb_profile_plugin.formats import recognize
from tb_profile_plugin.formats.columns.text import LONGEST_HEAD

LIMIT_S = 30
"""Of the processor, for all tools: linear work takes a second, quadratic work in a single pattern a minute and more."""
LENGTH = 100_000


@pytest.fixture
def limited() -> Iterator[None]:
    """Ends what takes longer."""
    if not hasattr(signal, "setitimer") or os.environ.get("TB_PROFILE_KERNELS") != "native":
        pytest.skip("needs compiled kernels and a clock of the processor's time")

    def over(number: int, frame: FrameType | None) -> None:
        raise AssertionError(f"it takes more than {LIMIT_S} s")

    before = signal.signal(signal.SIGVTALRM, over)
    signal.setitimer(signal.ITIMER_VIRTUAL, LIMIT_S)
    yield
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    signal.signal(signal.SIGVTALRM, before)


def xspace(unit: str, length: int = LENGTH) -> bytes:
    """Every name and text of a capture that goes on for so long."""
    content: bytes = evil.with_long_names(unit, length).SerializeToString()
    return content


def trace(unit: str) -> bytes:
    """The same as PyTorch writes it."""
    return evil.trace_with_long_names(unit, LENGTH).encode()


@pytest.mark.parametrize("unit", evil.LONG)
def test_a_long_name_costs_what_its_bytes_cost(unit: str, limited: None) -> None:
    for data in (xspace(unit), trace(unit)):
        ask_every_tool(recognize.decode(data, "long"))


def test_names_stay_whole_where_they_are_shown() -> None:
    space = recognize.decode(xspace("ab", 3 * LONGEST_HEAD), "long")
    plane = space.planes[0]
    assert max(map(len, plane.names)) > 3 * LONGEST_HEAD == 3 * max(map(len, plane.heads))
    assert max(map(len, plane.display_names)) > 3 * LONGEST_HEAD
