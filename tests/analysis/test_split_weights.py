"""Weights of XLA's programs that are split over devices, of which each gets the whole batch."""

import draw
import pytest
from hlodraw import computation, instruction, planted, proto, shape, shapes

from tb_profile_plugin.analysis.diagnosis.program.jax_facts import jax_facts
from tb_profile_plugin.formats.protobuf import message as field
from tb_profile_plugin.formats.protobuf import number, numbers

REPLICATED, SPLIT = b"", number(1, 3) + numbers(3, [2])
FORWARD, BACKWARD = "jit(f)/jvp()/dot_general", "jit(f)/transpose(jvp())/dot_general"
CHANNEL = number(26, 1)
ROWS = 64


def program(weights: bytes = SPLIT, batch: bytes = REPLICATED, summed: str = FORWARD, rows: int = ROWS) -> bytes:
    """A product of a batch and weights, which are given back; what it and its gradient give is summed up."""
    table, given = shape(8, 8), shape(rows, 8)
    body = instruction(1, "parameter", table, rest=field(40, weights))
    body += instruction(2, "parameter", given, parameter=1, rest=field(40, batch))
    body += instruction(3, "dot", given, [2, 1], name="product")
    for at, scope in ((4, summed), (5, BACKWARD)):
        rest = field(7, field(2, scope.encode())) + CHANNEL
        body += instruction(at, "all-reduce", given, [3], name=f"sum.{at}", rest=rest)
    body += instruction(6, "tanh", given, [4], name="rest")
    body += instruction(9, "tuple", shapes(table), [1])
    on_devices = field(15, b"".join(field(3, numbers(1, [device])) for device in range(2)))
    return proto(computation(1, body, 9), on_devices, entry="c1")


def splits(blob: bytes, product_us: int = 200) -> bool:
    """Whether a capture of the program, a step of 1,000 µs on each of two devices, has the fact."""
    lines = ""
    for device in range(2):
        stats = f"hlo_module=m, program_id=7, run_id=s+1, device_ordinal={device}"
        ops = (("product", 10, product_us), ("rest", 700, 200), ("sum.4", 910, 20), ("sum.5", 940, 20))
        drawn = " ".join(f"{name}[{at},{us}]{{hlo_op={name}, {stats}}}" for name, at, us in ops)
        lines += f"  tf_XLAEigen/{device} | {drawn}\n"
    host = draw.decoded(planted(draw.space(f"/host:CPU\n  python | train[0,990]{{_r=1}}\n{lines}", 4), 7, blob))
    return "splits_weights" in jax_facts(host)


def test_weights_are_split_though_their_gradients_are_smaller_than_what_is_summed_up() -> None:
    assert splits(program())


@pytest.mark.parametrize(
    "blob",
    [
        program(batch=SPLIT),
        program(weights=REPLICATED),
        # Of a batch that is split somewhere else only gradients are sums.
        program(summed=BACKWARD),
        program(summed="jit(f)/jvp()/reduce_sum"),
        # Fewer rows than a layer is wide: all gradients would be more to exchange.
        program(rows=2),
    ],
)
def test_other_programs_on_several_devices(blob: bytes) -> None:
    assert not splits(blob)


def test_where_products_take_most_of_the_time_little_is_computed_for_all_rows() -> None:
    assert not splits(program(), product_us=600)
