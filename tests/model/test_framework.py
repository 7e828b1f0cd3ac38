"""Which framework ran the program, by what its events are called."""

import draw
import pytest

from tb_profile_plugin.model.framework import JAX, PYTORCH, TENSORFLOW, framework


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ("PjitFunction(step)[0,9]", JAX),
        ("PjitFunction(step)[0,9] Iterator::Prefetch[10,5]", JAX),
        ("FunctionRun[0,9]", TENSORFLOW),
        ("EagerExecute[0,9]", TENSORFLOW),
        ("ProfilerStep#3[0,9]", PYTORCH),
        ("work[0,9]", ""),
    ],
)
def test_events_tell_the_framework(events: str, expected: str) -> None:
    assert framework(draw.host(f"/host:CPU\n  thread | {events}")) == expected


def test_the_programs_of_a_device_tell_it_where_the_host_does_not() -> None:
    host = draw.host("/device:TPU:0\n  XLA Modules | jit_step(1)[0,9]\n  XLA Ops | fusion.1[0,9]")
    assert framework(host) == JAX
