"""The neighbourhood of an instruction as Graphviz reads it: https://graphviz.org/doc/info/lang.html, no style sheet."""

from __future__ import annotations

from ..analysis.xla.neighbourhood import Neighbourhood, VisibleInstruction
from ..formats.xspace.hlo.module import Module

_OPCODES_OF_COLOUR = {
    "#b71c1c": "convolution dot fft triangular-solve cholesky",
    "#1b5e20": "call conditional custom-call while",
    "#eeeeee": "domain fusion map get-dimension-size set-dimension-size",
    "#a5d6a7": "concatenate dynamic-slice reshape reverse transpose copy copy-start copy-done",
    "#ffb74d": "parameter",
    "#ce93d8": "reduce reduce-window scatter select-and-scatter gather",
    "#fff59d": "broadcast dynamic-update-slice",
    "#bcaaa4": "all-reduce all-gather all-to-all reduce-scatter collective-permute infeed outfeed send recv",
}
_COLOUR_OF_OPCODE = {opcode: colour for colour, opcodes in _OPCODES_OF_COLOUR.items() for opcode in opcodes.split()}
_DARK_COLOURS = {"#b71c1c", "#1b5e20"}


def dot(module: Module, neighbourhood: Neighbourhood, title: str) -> str:
    """A directed graph in the language DOT; instructions that are opened are clusters."""
    lines = ["digraph G {", "rankdir = TB;", "compound = true;", f"label = {_quoted(title)};", "labelloc = t;"]
    children: dict[int, list[int]] = {}
    for node_index, node in enumerate(neighbourhood.nodes):
        children.setdefault(node.parent, []).append(node_index)
    # Indices of nodes, and text as it is: the end of a cluster stands behind its nodes.
    to_write: list[int | str] = list(reversed(children.get(-1, [])))
    while to_write:
        index = to_write.pop()
        if isinstance(index, str):
            lines.append(index)
        elif neighbourhood.nodes[index].is_opened:
            name = _quoted(module.names[neighbourhood.nodes[index].row])
            lines.append(f"subgraph cluster_{index} {{ label = {name}; style = dashed;")
            to_write += ["}", *reversed(children.get(index, []))]
        else:
            lines.append(_node(module, index, neighbourhood.nodes[index]))
    for edge in neighbourhood.edges:
        shape = _quoted(module.shapes.text(edge.value))
        operand_label = f', headlabel="{edge.operand}", labeldistance=2' if edge.operand >= 0 else ""
        lines.append(f"n{edge.source} -> n{edge.target} [tooltip={shape}{operand_label}];")
    return "\n".join([*lines, "}", ""])


def _node(module: Module, index: int, node: VisibleInstruction) -> str:
    row, opcode = node.row, module.opcodes[node.row]
    colour = _COLOUR_OF_OPCODE.get(opcode, "white")
    omitted = [
        f"+{count} {noun}" for count, noun in ((node.more_operands, "operands"), (node.more_users, "users")) if count
    ]
    kind = [module.fusion_kinds[row]] if module.fusion_kinds[row] else []
    sharding = [f"sharding={module.shardings[row]}"] if module.shardings[row] else []
    label = "\n".join([module.names[row], ":".join([opcode, *kind]), module.shapes.text(row), *sharding, *omitted])
    frames = [str(frame) for frame in module.sources.stack(row)]
    tooltip = "\n".join([module.op_names[row], *frames])
    shape = "diamond" if opcode in ("convolution", "dot") else "rect"
    style = "filled,dashed" if opcode == "fusion" else "filled"
    border = ", penwidth=3" if node.distance == 0 and node.parent < 0 else ""
    font_colour = ', fontcolor="white"' if colour in _DARK_COLOURS else ""
    return (
        f"n{index} [label={_quoted(label)}, shape={shape}, tooltip={_quoted(tooltip)}, style={_quoted(style)}, "
        f"fillcolor={_quoted(colour)}{font_colour}{border}];"
    )


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{"".join(character if character.isprintable() else "?" for character in escaped)}"'
