"""Expressions that take for ever, or very much memory, where they are tried one way after the other; and long names."""

from typing import Any

import draw
import torchtrace

TEXT = "a" * 30 + " model/layer b " * 12 + "\u0434\u0416" * 20
"""What they are tried on: some 260 letters."""

EXPRESSIONS = (
    r"(?x)(\w+) +\x00",
    r"(\w+)(?#)+\x00",
    "(?x)(a+)#c\n+b",
    "a?" * 40 + "a" * 40,
    "[a-z ]+" * 4 + "!",
    ".*" * 4 + r"\x00",
    "(a+)+$b",
    "(a|a)*b",
    "(?:(?:a*)*)*b",
    r"(x+x+)+y",
    r"(?:\w+\s?)+\x00",
    r"(?:a?){1000}a{1000}",
    "((a{100}){100}){100}",
    "[^a]{0,1000}b",
    r"\pL{1,100}",
    ".{1000}",
    "(?i)" + "|".join(f"name{i}" for i in range(140)),
    "(" * 400 + "a" + ")*" * 400,
    "a" * 10_000,
    "\u0434?" * 300,
    r"(a)\1+b",
    "(?=a+)a+b",
)

LONG = ("a", "0", "_", " ", "/", "a/", "a:", "_0", "(", "a<", "::a", "$a", "%a.0 = f32[0]{0} ", "_ZN1a", "é", "\n")
"""What names of any length may repeat: each class of letters, and beginnings of what patterns look for."""


_SPACE = """
/host:CPU
  python | train[0,900]{_r=1, step_num=s} IteratorGetNext[10,20]{x=a} model/MatMul:MatMul[100,300] Launch[110,5]{c=1}
  pool   | ThreadpoolListener::StartRegion[5,0]{_ct=15, _c=9u} Iterator::Root::Map[6,3]{id=4} $file.py:3 call[20,2]
/device:GPU:0 {device_vendor=Nvidia, compute_cap_major=7}
  Stream #13(Compute) | gemm[120,80]{c=1, tf_op='model/MatMul:MatMul', kernel_details='regs:32 grid:1,1,1'} %copy[210,9]
"""


def long_name(unit: str, length: int) -> str:
    """A name of that many letters."""
    return unit * (length // len(unit))


def with_long_names(unit: str, length: int) -> Any:
    """A capture in which every second name goes on for so long behind what it says, and the others say nothing else."""
    space = draw.space(_SPACE, steps=2)
    more = long_name(unit, length)
    for plane in space.planes:
        for number, each in enumerate(plane.event_metadata.values()):
            each.name = f"{each.name if number % 2 else ''}{more}{number}"
        for number, line in enumerate(plane.lines):
            line.name = f"{line.name}{more}{number}"
        for stat in (stat for line in plane.lines for event in line.events for stat in event.stats):
            if stat.HasField("str_value"):
                stat.str_value += more
    return space


def trace_with_long_names(unit: str, length: int) -> str:
    """The same as PyTorch's profiler writes it."""
    more = long_name(unit, length)
    marks = [torchtrace.mark(f"ProfilerStep#{n}", 100 * n, 90) for n in range(3)]
    ops = [torchtrace.op(head + more, 10, 20) for head in ("aten::mm", "autograd::engine::evaluate_function: ", "")]
    launches = [torchtrace.launch(n, 12 + n) for n in range(3)]
    kernels = [torchtrace.on_device(n, 40 + 9 * n, 9, head + more) for n, head in enumerate(("gemm", "_Z", "nccl"))]
    frame = torchtrace.frame(f"{more}.py(3): {more}", 5, 60)
    return torchtrace.text(*marks, *ops, *launches, *kernels, frame)
