"""Convolutions of XLA's programs in which each channel has a filter of its own."""

import pytest
from hlodraw import computation, instruction, module, shape

from tb_profile_plugin.analysis.xla.avoidable.depthwise_convolutions import depthwise_convolutions
from tb_profile_plugin.formats.protobuf import message as field
from tb_profile_plugin.formats.protobuf import number
from tb_profile_plugin.formats.xspace.hlo.module import Module


def convolved(groups: int, *taps: int, opcode: str = "convolution", feature: int = 2) -> Module:
    """8 rows of 64 positions with 32 channels, through filters of these sizes, channels last."""
    windows = field(15, b"".join(field(1, number(1, size)) for size in taps))
    rest = windows + field(16, number(7, 0) + number(8, feature)) + number(50, groups)
    body = instruction(1, "parameter", shape(8, 64, 32)) + instruction(2, "parameter", shape(*taps, 32 // groups, 32))
    body += instruction(3, opcode, shape(8, 64, 32), [1, 2], name="filtered", rest=rest)
    return module(computation(1, body, 3), entry="c1")


@pytest.mark.parametrize(
    "program", [convolved(32, 4), convolved(32, 3, 3), convolved(32, 4, opcode="custom-call"), convolved(32, 16)]
)
def test_each_channel_has_a_filter_of_few_taps(program: Module) -> None:
    assert depthwise_convolutions(program) == {"filtered"}


@pytest.mark.parametrize(
    "program", [convolved(1, 4), convolved(8, 4), convolved(32, 31), convolved(32, 5, 5), convolved(32, 4, feature=7)]
)
def test_other_convolutions(program: Module) -> None:
    """Of all channels, of groups of some, and of many taps."""
    assert not depthwise_convolutions(program)
