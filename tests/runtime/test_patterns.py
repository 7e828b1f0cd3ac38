"""No pattern of the package takes longer than a text is long: names of captures may be of any length."""

import re
import signal
from collections.abc import Callable
from types import FrameType
from typing import Any

import patterns
import pytest

LENGTH = 30_000
LIMIT_S = 0.06
"""Of the processor, for one text: linear work takes a tenth of that at most, quadratic work six times as much."""


class _Late(Exception):
    """The limit is over."""


@pytest.fixture
def grows(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[Any], Any], Any], bool]:
    """Whether a call with a text goes on beyond the limit, at which it is broken off."""
    if not hasattr(signal, "setitimer"):
        pytest.skip("needs a clock of the processor's time")

    def over(number: int, frame: FrameType | None) -> None:
        raise _Late

    def measured(call: Callable[[Any], Any], text: Any) -> bool:
        before = signal.signal(signal.SIGVTALRM, over)
        try:
            signal.setitimer(signal.ITIMER_VIRTUAL, LIMIT_S)
            call(text)
        except _Late:
            return True
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            signal.signal(signal.SIGVTALRM, before)
        return False

    return measured


def texts(pattern: Any, flags: int) -> list[Any]:
    """Long ones that a pattern could take long for."""
    told = pattern.decode("latin-1") if isinstance(pattern, bytes) else pattern
    made = [begin + part * (LENGTH // len(part)) + "\x01" for begin, part in sorted(patterns.parts(told, flags))]
    return [text.encode("latin-1", "replace") for text in made] if isinstance(pattern, bytes) else made


def test_each_pattern_takes_as_long_as_a_text_is_long(grows: Callable[[Callable[[Any], Any], Any], bool]) -> None:
    found = patterns.patterns()
    assert len(found) > 200
    slow = []
    for (pattern, flags), asked in sorted(found.items(), key=str):
        ask = getattr(re.compile(pattern, flags), patterns.way(asked))
        worst = next((text for text in texts(pattern, flags) if grows(ask, text)), None)
        if worst is not None:
            slow.append(f"{patterns.way(asked)} {pattern!r}: {worst[:60]!r} …")
    assert not slow, "\n".join(slow)


def test_quadratic_work_is_found(grows: Callable[[Callable[[Any], Any], Any], bool]) -> None:
    assert any(grows(re.compile(r"\w+:").search, text) for text in texts(r"\w+:", 0))
    assert any(grows(re.compile(r"a\w*b\w*c").match, text) for text in texts(r"a\w*b\w*c", 0))
    assert not any(grows(re.compile(r"\w+:").match, text) for text in texts(r"\w+:", 0))
