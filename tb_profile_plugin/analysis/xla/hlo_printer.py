"""HLO instructions as text, in the way that XLA prints them: name, shape, opcode, operands and what matters beyond."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...formats.xspace.hlo.module import Module
from ...runtime import cancellation
from ...runtime.records import NamedTuple
from ...runtime.regex import regex

_MOST_OPERANDS = 40
"""Operands that are written out at most."""
_MOST_IN_PROGRAM = 10_000
"""Operands that are written out at most in the text of a program."""
_CALL_ATTRIBUTES = {
    "fusion": ("calls",),
    "while": ("condition", "body"),
    "conditional": (),
    "select-and-scatter": ("select", "scatter"),
}
"""How the computations that an opcode calls are called; those of others are applied."""
_LAYOUT = regex(r"\{[^{}]*\}")
"""What a shape says of its layout."""


class Style(NamedTuple):
    """How an instruction is written."""

    name_prefix: str = "%"
    """Before names."""
    shows_types: bool = True
    """Whether operands have their shapes before them."""
    is_complete: bool = False
    """Whether all operands are written, and what the backend decided."""
    shows_metadata: bool = False
    """Whether where it comes from is written, too."""


_LINE = Style()
SHORT, LONG = Style(name_prefix="", shows_types=False, is_complete=True), Style(shows_types=False, is_complete=True)
"""Styles of whole programs, as XLA prints them."""


def instruction_text(module: Module, row: int, style: Style = _LINE) -> str:
    """``%dot.1 = f32[8,8]{1,0} dot(f32[8,4]{1,0} %a, f32[4,8]{1,0} %b), lhs_contracting_dims={1}, …``."""
    opcode = module.opcodes[row]
    operands = _operands(module, row, opcode, style)
    definition = f"{style.name_prefix}{module.names[row]} = {module.shapes.text(row)} {opcode}({operands})"
    return ", ".join([definition, *_attributes(module, row, opcode, style)])


def program_lines(module: Module, style: Style) -> Iterator[str]:
    """The lines of a program: its computations, the one it begins with last, each in the order in which it runs."""
    entry = module.entry
    parameters, result = _signature(module, entry)
    layout = f"{{({', '.join(shape for _, shape in parameters)})->{result}}}"
    scheduled = ", is_scheduled=true" if module.schedule else ""
    yield f"HloModule {module.name}{scheduled}, entry_computation_layout={layout}\n\n"
    for computation in [*(i for i in range(len(module.computation_names)) if i != entry), entry]:
        if computation < 0:
            continue
        cancellation.check()
        yield _computation_heading(module, computation, style, "ENTRY " if computation == entry else "")
        root = int(module.roots[computation])
        rows = module.rows_in(computation)
        for row in module.schedule.get(computation, rows):
            if row in rows:
                yield f"  {'ROOT ' if row == root else ''}{instruction_text(module, row, style)}\n"
        yield "}\n\n"


def _signature(module: Module, computation: int) -> tuple[list[tuple[str, str]], str]:
    """Names and shapes of a computation's parameters, and the shape of its result."""
    parameters = [row for row in module.rows_in(computation) if module.opcodes[row] == "parameter"]
    parameters.sort(key=lambda row: int(module.parameter_numbers[row]))
    root = int(module.roots[computation]) if computation >= 0 else -1
    shapes = [(module.names[row], module.shapes.text(row)) for row in parameters]
    return shapes, module.shapes.text(root) if root >= 0 else "()"


def _computation_heading(module: Module, computation: int, style: Style, entry: str) -> str:
    name = f"{entry}{style.name_prefix}{module.computation_names[computation]}"
    if not style.name_prefix:
        return f"{name} {{\n"
    parameters, result = _signature(module, computation)
    arguments = ", ".join(f"{parameter}: {_LAYOUT.sub('', shape)}" for parameter, shape in parameters)
    return f"{name} ({arguments}) -> {_LAYOUT.sub('', result)} {{\n"


def _operands(module: Module, row: int, opcode: str, style: Style) -> str:
    """What stands in an instruction's parentheses: its operands, or the number or value that it is instead."""
    if opcode == "parameter":
        return str(module.parameter_numbers[row])
    if opcode == "constant":
        return module.literals[row]
    operands = module.operands[row]
    visible = operands[: _MOST_IN_PROGRAM if style.is_complete else _MOST_OPERANDS]
    texts = [
        f"{f'{module.shapes.text(operand)} ' if style.shows_types else ''}{style.name_prefix}{module.names[operand]}"
        if operand >= 0
        else "?"
        for operand in visible
    ]
    return ", ".join(texts + ([f"… {len(operands) - len(visible)} more"] if len(operands) > len(visible) else []))


def _attributes(module: Module, row: int, opcode: str, style: Style) -> Iterator[str]:
    yield from _dimensions(module, row, opcode)
    if opcode == "get-tuple-element":
        yield f"index={module.tuple_indices[row]}"
    if module.channels[row]:
        yield f"channel_id={module.channels[row]}"
    if module.directions[row]:
        yield f"direction={module.directions[row]}"
    dots = module.contractions
    for name, lists in (
        ("lhs_batch_dims", dots.lhs_batch),
        ("lhs_contracting_dims", dots.lhs),
        ("rhs_batch_dims", dots.rhs_batch),
        ("rhs_contracting_dims", dots.rhs),
    ):
        if lists[row]:
            yield f"{name}={{{_comma_separated(lists[row])}}}"
    if module.windows[row]:
        yield f"window={{{_window(module.windows[row])}}}"
    yield from _convolution(module, row, opcode)
    if module.fusion_kinds[row]:
        yield f"kind={module.fusion_kinds[row]}"
    yield from _calls(module, row, opcode, style)
    if module.targets[row]:
        yield f'custom_call_target="{module.targets[row]}"'
    if sharding := module.shardings[row]:
        yield f"sharding={sharding}"
    if style.shows_metadata:
        yield from _metadata(module, row)
    if style.is_complete and module.configs[row]:
        yield f"backend_config={module.configs[row]}"


def _comma_separated(numbers: Sequence[int]) -> str:
    return ",".join(map(str, numbers))


def _dimensions(module: Module, row: int, opcode: str) -> Iterator[str]:
    dimensions = module.dimensions[row]
    if opcode == "iota":
        yield f"iota_dimension={(dimensions or [0])[0]}"
    elif dimensions or opcode in ("broadcast", "reduce", "transpose"):
        yield f"dimensions={{{_comma_separated(dimensions)}}}"
    slices = module.slices[row]
    if slices:
        texts = [f"[{begin}:{end}{f':{step}' if step != 1 else ''}]" for begin, end, step in slices]
        yield f"slice={{{', '.join(texts)}}}"
    if module.slice_sizes[row]:
        yield f"dynamic_slice_sizes={{{_comma_separated(module.slice_sizes[row])}}}"
    if module.fft_lengths[row]:
        yield f"fft_length={{{_comma_separated(module.fft_lengths[row])}}}"


def _convolution(module: Module, row: int, opcode: str) -> Iterator[str]:
    convolutions = module.convolutions
    spatial = (convolutions.kernel_spatial[row], convolutions.input_spatial[row], convolutions.output_spatial[row])
    if not (opcode == "convolution" or spatial[0]):
        return
    kernel_in, kernel_out, batch, feature, out_batch, out_feature = convolutions.dimensions[:, row].tolist()
    input_labels = _labels({batch: "b", feature: "f"}, spatial[1])
    kernel_labels = _labels({kernel_in: "i", kernel_out: "o"}, spatial[0])
    yield f"dim_labels={input_labels}_{kernel_labels}->{_labels({out_batch: 'b', out_feature: 'f'}, spatial[2])}"
    for name, groups in zip(("feature", "batch"), module.convolution_groups, strict=True):
        if groups[row] > 1:
            yield f"{name}_group_count={groups[row]}"


def _labels(letter_of_dimension: dict[int, str], spatial: Sequence[int]) -> str:
    """Which dimension is what: ``bf01``."""
    letters = letter_of_dimension | {dimension: str(i) for i, dimension in enumerate(spatial)}
    return "".join(letters[dimension] for dimension in sorted(letters))


def _calls(module: Module, row: int, opcode: str, style: Style) -> list[str]:
    callees = [
        f"{style.name_prefix}{module.computation_names[computation]}" if computation >= 0 else "?"
        for computation in module.callees[row]
    ]
    if opcode == "conditional":
        return [f"branch_computations={{{', '.join(callees)}}}"] if callees else []
    order = reversed(callees) if opcode == "while" else callees
    return [
        f"{name}={callee}" for name, callee in zip(_CALL_ATTRIBUTES.get(opcode, ("to_apply",)), order, strict=False)
    ]


def _metadata(module: Module, row: int) -> Iterator[str]:
    metadata = {
        "op_type": module.op_types[row],
        "op_name": module.op_names[row],
        "source": module.sources.location_text(row),
    }
    pairs = " ".join(f'{name}="{value}"' for name, value in metadata.items() if value)
    if pairs:
        yield f"metadata={{{pairs}}}"


def _window(windows: list[list[int]]) -> str:
    """``size=3x3 stride=2x2 pad=1_1x1_1``, without what is as always."""
    sizes, strides, lows, highs, dilations, bases = zip(*windows, strict=True)
    pads = [f"{low}_{high}" for low, high in zip(lows, highs, strict=True)]
    columns = {"size": sizes, "stride": strides, "pad": pads, "lhs_dilate": bases, "rhs_dilate": dilations}
    defaults = {"stride": 1, "pad": "0_0", "lhs_dilate": 1, "rhs_dilate": 1}
    return " ".join(
        f"{name}={'x'.join(map(str, values))}"
        for name, values in columns.items()
        if any(value != defaults.get(name) for value in values)
    )
