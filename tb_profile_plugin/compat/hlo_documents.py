"""A program's graph and text as the existing plugin answers them: not JSON tables, but documents by type and format."""

from __future__ import annotations

import json
from collections.abc import Mapping
from html import escape

from ..analysis.xla import hlo_printer
from ..analysis.xla.neighbourhood import UNLIMITED_WIDTH, neighbourhood
from ..formats.xspace.hlo import config
from ..formats.xspace.hlo.module import Module
from ..model.host import Host
from ..runtime.problems import problem_error
from ..runtime.records import NamedTuple
from ..tools.graph_viewer import centre_instruction
from .dot import dot

_MOST_HOPS, _DEFAULT_HOPS = 9, "3"
_MOST_CHARACTERS = 200_000_000
"""Characters of a program's text."""
_MOST_NESTED = 32
"""Depth of nested tuples that is looked through."""
_TYPES = ("graph", "short_txt", "long_txt", "pb", "adj_nodes", "custom_call")
_FORMATS = ("url", "html", "dot")


class Document(NamedTuple):
    """An answer that is a file instead of JSON."""

    body: bytes
    suffix: str
    """End of the file's name: ``txt``, ``dot``, ``pb`` …"""


def graph_document(host: Host, options: Mapping[str, str]) -> Document:
    """The document that the existing plugin's options name.

    Raises `ProblemError` for a type, program or instruction that does not exist.
    """
    kind = _one_of("type", options["type"], _TYPES)
    if not host.modules:
        remedy = "Capture JAX, PyTorch/XLA, or TensorFlow with jit_compile=True."
        raise problem_error("no_xla_program", "This capture holds no XLA program.", remedy, status=404)
    name = options.get("node_name", "")
    module, row = centre_instruction(host, options.get("module_name") or options.get("program_id", ""), name)
    if kind == "graph":
        return _graph(module, row, options)
    if kind == "pb":
        return Document(module.blob.tobytes(), "pb")
    if kind in ("short_txt", "long_txt"):
        style = hlo_printer.SHORT if kind == "short_txt" else hlo_printer.LONG
        style = hlo_printer.Style(
            style.name_prefix, style.shows_types, style.is_complete, _number(options, "show_metadata", "0") != 0
        )
        return Document(_program_text(module, style), "txt")
    return Document((_neighbours(module, row) if kind == "adj_nodes" else _custom_call(module, row)).encode(), "txt")


def _graph(module: Module, row: int, options: Mapping[str, str]) -> Document:
    file_format = _one_of("format", options.get("format") or "dot", _FORMATS)
    hops = min(max(_number(options, "graph_width", _DEFAULT_HOPS), 0), _MOST_HOPS)
    node_name = options.get("node_name", "").removeprefix("%").lower()
    is_computation = bool(node_name) and node_name != module.names[row].lower()
    every_fusion = _number(options, "merge_fusion", "0") == 0
    subgraph = neighbourhood(module, row, UNLIMITED_WIDTH if is_computation else hops, every_fusion=every_fusion)
    title = f"Computation {module.computation_names[int(module.computation[row])]}"
    if not is_computation:
        title = f"Neighborhood of {hops} nodes around {module.names[row]}\n{title}"
    text = dot(module, subgraph, title)
    if file_format == "dot":
        return Document(text.encode(), "dot")
    title = escape(f"{module.names[row]} of {module.title}")
    body = f"<!doctype html><meta charset=utf-8><title>{title}</title><h1>{title}</h1><pre>{escape(text)}</pre>\n"
    return Document(body.encode(), "html")


def _program_text(module: Module, style: hlo_printer.Style) -> bytes:
    """The text of a program; raises `ProblemError` (413) for one that is longer than anybody can read."""
    lines, size = [], 0
    for line in hlo_printer.program_lines(module, style):
        lines.append(line.encode())
        size += len(line)
        if size > _MOST_CHARACTERS:
            message = f"The text of {module.title} would be longer than {_MOST_CHARACTERS // 10**6} MB."
            raise problem_error("too_large", message, "Ask for type=pb, or for parts with type=graph.", status=413)
    return b"".join(lines)


def _neighbours(module: Module, row: int) -> str:
    """Names of operands, in their order, and of users as JSON; ``get-tuple-element`` is skipped on the way."""

    def is_element(instruction: int) -> bool:
        return instruction >= 0 and module.opcodes[instruction] == "get-tuple-element"

    operands = []
    for operand in module.operands[row]:
        for _ in range(_MOST_NESTED):
            if is_element(operand):
                operand = (module.operands[operand] or [-1])[0]
        operands.append(operand)
    users: dict[int, None] = {}
    for user in module.users[row]:
        users |= dict.fromkeys(module.users[user] if is_element(user) else [user])
    names = {"consumer_names": users, "operand_names": operands}
    return json.dumps(
        {key: [module.names[instruction] for instruction in rows if instruction >= 0] for key, rows in names.items()}
    )


def _custom_call(module: Module, row: int) -> str:
    call_config = config.nested(config.parsed(module.configs[row]), "custom_call_config")
    if not call_config:
        message = f"{module.names[row]} says nothing about what it calls."
        raise problem_error("no_backend_config", message, "Ask for a custom call.", status=404)
    return json.dumps(call_config, indent=1)


def _one_of(name: str, value: str, choices: tuple[str, ...]) -> str:
    if value not in choices:
        raise problem_error("bad_option", f"{name}={value!r} is not answered.", f"Ask for {', '.join(choices)}.")
    return value


def _number(options: Mapping[str, str], name: str, default: str) -> int:
    value = options.get(name) or default
    if not (value.isascii() and value.isdecimal() and len(value) < 10):
        raise problem_error("bad_option", f"{name}={value!r} is no such number.", "Give 0 or more.")
    return int(value)
