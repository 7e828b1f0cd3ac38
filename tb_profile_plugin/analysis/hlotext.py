"""HLO instructions as text, in the way that XLA prints them: name, shape, opcode, operands and what matters beyond."""

from __future__ import annotations

from ..xspace.hlo import Module

_OPERANDS = 40
"""Operands that are written out."""
_CALLS = {
    "fusion": ("calls",),
    "while": ("condition", "body"),
    "conditional": (),
    "select-and-scatter": ("select", "scatter"),
}
"""How the computations that an opcode calls are called; those of others are applied."""


def text(module: Module, row: int) -> str:
    """``%dot.1 = f32[8,8]{1,0} dot(f32[8,4]{1,0} %a, f32[4,8]{1,0} %b), lhs_contracting_dims={1}, …``."""
    operands = module.operands[row]
    given = [
        f"{module.shapes.text(operand)} %{module.names[operand]}" if operand >= 0 else "?"
        for operand in operands[:_OPERANDS]
    ]
    more = [f"… {len(operands) - _OPERANDS} more"] if len(operands) > _OPERANDS else []
    opcode = module.opcodes[row]
    inside = str(module.parameter_numbers[row]) if opcode == "parameter" else ", ".join(given + more)
    head = f"%{module.names[row]} = {module.shapes.text(row)} {opcode}({inside})"
    return ", ".join([head, *_attributes(module, row, opcode)])


def _attributes(module: Module, row: int, opcode: str) -> list[str]:
    found = []
    if opcode == "get-tuple-element":
        found.append(f"index={module.tuple_indices[row]}")
    if module.fusion_kinds[row]:
        found.append(f"kind={module.fusion_kinds[row]}")
    if module.targets[row]:
        found.append(f'custom_call_target="{module.targets[row]}"')
    dots = module.contractions
    for name, lists in (
        ("lhs_batch_dims", dots.lhs_batch),
        ("lhs_contracting_dims", dots.lhs),
        ("rhs_batch_dims", dots.rhs_batch),
        ("rhs_contracting_dims", dots.rhs),
    ):
        if lists[row]:
            found.append(f"{name}={{{','.join(map(str, lists[row]))}}}")
    windows = module.windows[row]
    if windows:
        found.append(f"window={{{_window(windows)}}}")
    called = [module.computation_names[each] if each >= 0 else "?" for each in module.called[row]]
    names = _CALLS.get(opcode, ("to_apply",))
    if opcode == "conditional" and called:
        found.append(f"branch_computations={{{', '.join('%' + each for each in called)}}}")
    order = reversed(called) if opcode == "while" else called
    return found + [f"{name}=%{each}" for name, each in zip(names, order, strict=False)]


def _window(windows: list[list[int]]) -> str:
    """``size=3x3 stride=2x2 pad=1_1x1_1``, without what is as always."""
    sizes, strides, lows, highs, dilations, bases = zip(*windows, strict=True)
    pads = [f"{low}_{high}" for low, high in zip(lows, highs, strict=True)]
    said = [("size", sizes, None), ("stride", strides, 1), ("pad", pads, "0_0"), ("lhs_dilate", bases, 1)]
    return " ".join(
        f"{name}={'x'.join(map(str, values))}"
        for name, values, usual in [*said, ("rhs_dilate", dilations, 1)]
        if any(value != usual for value in values)
    )
