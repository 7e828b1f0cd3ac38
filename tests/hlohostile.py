"""XLA programs that make no sense, or that are made to take long: what tools must answer all the same.

Each is an HloProto; `capture` puts it into a capture whose events say that its instructions ran.
"""

from collections.abc import Callable, Iterator
from typing import Any

import draw
import hlodraw
from hlodraw import computation, instruction, shape, shapes

from tb_profile_plugin.formats.protobuf import message, number, varint

HUGE, LAST = 1 << 62, (1 << 64) - 1
RAN = ("add.1", "fusion.2", "nowhere", "")
"""The instructions that events name."""


def circles() -> bytes:
    """Computations that call one another and themselves, operands and stack frames in circles."""
    first = instruction(1, "add", shape(4), [1, 2], called=[2]) + instruction(2, "fusion", shape(4), [1], called=[2])
    second = instruction(3, "fusion", shape(4), [3], called=[1]) + instruction(4, "while", shape(4), [4], called=[2, 2])
    third = instruction(5, "call", shape(4), [5], called=[3]) + instruction(6, "get-tuple-element", shape(4), [6])
    frames = (
        message(3, number(1, 1)) + message(4, number(1, 1) + number(2, 2)) + message(4, number(1, 1) + number(2, 1))
    )
    parts = [computation(i, body, root=1) for i, body in enumerate((first, second, third), start=1)]
    return hlodraw.proto(*parts, message(17, message(1, b"a.py") + frames), entry="c3")


def huge_shapes() -> bytes:
    """Dimensions whose product is no number any more, and a tuple of tuples of tuples."""
    nested = shape(*[HUGE] * 30)
    for _ in range(100):
        nested = shapes(nested, shape(HUGE, LAST))
    body = instruction(1, "add", shape(*[1 << 40] * 60), [1, 1]) + instruction(2, "fusion", nested, [1], called=[1])
    return hlodraw.proto(computation(1, body, 2))


def wrong_operands() -> bytes:
    """Operands, computations, results and schedules that do not exist, and ids that several instructions have."""
    body = b"".join(
        instruction(1 if i % 2 else i, opcode, shape(4, 4), [77, LAST, 1], called=[9, HUGE], name=f"{opcode}.{i}")
        for i, opcode in enumerate(
            "add fusion dot convolution reduce gather scatter sort fft while conditional custom-call tuple "
            "get-tuple-element dynamic-slice dynamic-update-slice all-reduce constant copy-start".split(),
            start=1,
        )
    )
    schedule = message(7, message(1, number(1, 1) + message(2, message(1, varint(LAST) + varint(1) * 3))))
    return hlodraw.proto(computation(1, body, root=99), schedule, entry="nobody")


def wrong_layouts() -> bytes:
    """Layouts of dimensions that there are not, tiles of nothing, elements of any size, spaces of any number."""
    said = message(1, varint(9) + varint(LAST) + varint(HUGE)) + number(7, HUGE) + number(8, LAST)
    layout = said + message(6, message(1, varint(0) + varint(LAST))) * 50 + message(6, b"")
    bodies = [
        shape(8, 8) + message(5, layout),
        shape(dtype=255) + message(5, layout),
        shape(LAST, dtype=LAST),
        b"\x10\x0d",
    ]
    body = b"".join(
        instruction(i, "add" if i == 1 else "fusion", each, [1], called=[1]) for i, each in enumerate(bodies, start=1)
    )
    return hlodraw.proto(computation(1, body))


def lost_buffers() -> bytes:
    """Buffers of instructions and allocations of buffers that there are not, a heap that makes no sense."""
    buffers = b"".join(
        message(
            1, number(1, i) + number(2, size) + message(3, number(4, at) + message(3, varint(LAST))) + number(4, color)
        )
        for i, (size, at, color) in enumerate([(HUGE, 1, 0), (LAST, 99, 0), (8, 2, 1 << 40), (0, 0, LAST)], start=1)
    )
    assigned = b"".join(message(9, number(1, i) + number(2, HUGE) + number(3, LAST)) for i in (1, 2, 77))
    kinds = [
        number(1, i) + number(2, HUGE) + number(8, i % 3) + number(field, 1) + assigned
        for i, field in enumerate((3, 5, 7, 12, 11, 99), start=1)
    ]
    events = b"".join(
        message(1, number(1, kind) + number(2, buffer) + number(5, shared))
        for kind, buffer, shared in [
            (1, 1, 0),
            (2, 1, 1),
            (0, 77, 0),
            (0, 1, 0),
            (2, 2, 1),
            (2, 1, 2),
            (9, 1, 1),
            (1, 2, 0),
        ]
    )
    peaks = message(5, number(1, LAST) + message(2, varint(77)))
    plan = buffers + b"".join(message(3, each) for each in kinds) + message(4, events + number(3, LAST)) * 2 + peaks
    body = instruction(1, "add", shape(4), [1, 1]) + instruction(2, "fusion", shape(4), [1], called=[1])
    return hlodraw.proto(computation(1, body), rest=message(3, plan))


def many_spaces() -> bytes:
    """Each allocation in a memory of its own, and as many heaps."""
    plan = b"".join(message(3, number(1, i) + number(2, 8) + number(8, i)) + message(4, b"") for i in range(30_000))
    return hlodraw.proto(computation(1, instruction(1, "add", shape(4), [1, 1])), rest=message(3, plan))


def long_names() -> bytes:
    """Names of a megabyte that many instructions take as operands."""
    body = instruction(1, "add", shape(4), [1, 1], name="a" * 1_000_000)
    body += b"".join(instruction(i, "tuple", shape(4), [1] * 400) for i in range(2, 400))
    return hlodraw.proto(computation(1, body))


def wrong_types() -> bytes:
    """Fields that are numbers where messages are asked for, and the other way round; texts that are no UTF-8."""
    parts = b"".join(number(field, HUGE) for field in range(1, 100)) + b"".join(
        message(f, b"\xff\xc3(") for f in range(1, 100)
    )
    body = message(2, parts) + message(2, parts[::-1]) + instruction(1, "add", shape(4), [1, 1], rest=parts)
    module = message(1, message(1, b"\xff") + message(3, body + parts) + parts)
    return module + parts


def many(computations: int) -> bytes:
    """Computations that each call the next."""
    first = computation(1, instruction(1, "add", shape(8), [1, 1]))
    return hlodraw.proto(
        first,
        *(computation(i, instruction(i, "fusion", shape(8), [i + 1], called=[i + 1])) for i in range(2, computations)),
    )


def truncated() -> Iterator[bytes]:
    """A sound program, cut at many places."""
    whole = hlodraw.train()
    yield from (whole[:size] for size in range(0, len(whole), 61))


PROGRAMS: dict[str, Callable[[], bytes]] = {
    **{
        each.__name__: each
        for each in (
            circles,
            huge_shapes,
            wrong_operands,
            wrong_layouts,
            lost_buffers,
            many_spaces,
            long_names,
            wrong_types,
        )
    },
    "many": lambda: many(20_000),
    "nothing": bytes,
    "zeros": lambda: bytes(100),
    "empty instructions": lambda: hlodraw.proto(message(3, message(2, b"") * 20_000)),
}

_CPU = "\n  t | " + " ".join(
    f"op{i}[{10 * i},9]{{hlo_op='{name}', hlo_module=m, program_id=7, run_id=1, device_ordinal=0}}"
    for i, name in enumerate(RAN)
)


def capture(proto: bytes) -> Any:
    """A space in which it ran on the CPU."""
    return hlodraw.planted(draw.space(f"/host:CPU{_CPU}"), 7, proto)
