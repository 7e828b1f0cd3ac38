"""Program graph: an instruction of an XLA program with what feeds it, what uses its result and what is in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..analysis.xla.device_runs import OpMaker
from ..analysis.xla.neighbourhood import MOST_NODES, Edge, Flow, Neighbourhood, callers, neighbourhood
from ..analysis.xla.op import XlaOp, XlaOpTable
from ..analysis.xla.ops import xla_ops
from ..analysis.xla.roofline import bound_of, peaks_of
from ..analysis.xla.search import instruction_named, search, similar_names
from ..formats.xspace.hlo import program_text
from ..formats.xspace.hlo.module import Module
from ..model.host import Host
from ..model.session import Session
from ..runtime.messages import Message, listed, sentences
from ..runtime.problems import Problem, problem_error
from ..runtime.units import PS_PER_US
from .answers.answer import Answer, Headline, Table, by_column, by_id, flag, number, ratio, text
from .answers.tool import Param, tool
from .columns import xla

OpsByName = Mapping[tuple[int, str], XlaOp]
"""Ops that ran, by id of their program and name of their instruction."""
_MOST_HITS = 100
_MOST_HOPS = 9
_MOST_OPERANDS = 100
"""Operands of an instruction that are looked through for constants."""
_CONFIG_CHARACTERS = 4000
"""Length to which a backend's configuration is cut."""
_FIGURES_WITHOUT_RUN = frozenset({"flops", "bytes", "flop_per_byte", "cost", "dtype"})
"""Figures that are known of an instruction that did not run by itself, for one execution."""


def _unavailable(session: Session, hosts: Sequence[Host]) -> Problem | None:
    if any(xla_ops(host).program_count for host in hosts):
        return None
    return xla.no_ops_problem(session, has_programs=False)


_NODES = Table(
    "nodes",
    "Instructions",
    (
        text("name", "Instruction"),
        text("opcode", "Opcode"),
        text("category", "Category", "XLA's category of the instruction."),
        text("shape", "Result", "Shape of the result, as XLA writes it."),
        number("result_bytes", "Size of the result", "iB", "Bytes of the result's arrays, without padding."),
        number("distance", "Hops", doc="Number of hops from the instruction in the center."),
        number("inside", "Inside", doc="Row of the opened instruction that contains it; blank if none."),
        flag("opens", "Opens", "Whether its called computations can be shown inside it."),
        flag("opened", "Opened", "Whether its called computations are shown inside it."),
        number("more_operands", "More operands", doc="Number of operands that are not shown."),
        number("more_users", "More users", doc="Number of users that are not shown."),
        text("sharding", "Sharding", "Sharding over devices, as XLA writes it; blank if none."),
        text("constants", "Constants", "Operands that are scalar constants."),
        number("share", "Share", "share", "Share of the self time of all ops of the program."),
        *xla.FIGURES,
        *xla.ORIGIN,
        text("config", "Backend", "Configuration that the backend chose."),
    ),
    doc="Instructions, nearest first. Times cover all executions on this host; instructions inside fusions "
    "have only a cost per execution.",
)
_EDGES = Table(
    "edges",
    "Values",
    (
        number("source", "From", doc="Row of the source instruction."),
        number("target", "To", doc="Row of the target instruction."),
        number("operand", "Operand", doc="Position among the target's operands; blank if it has very many."),
        text("shape", "Shape"),
        number("bytes", "Size", "iB", "Bytes of the value, without padding."),
    ),
    doc="Values that flow from one instruction to another; tuples are skipped.",
)
_HIT_COLUMNS = (
    text("program", "Program", "Name and id of the program."),
    text("program_id", "Program id"),
    text("name", "Instruction"),
    text("opcode", "Opcode"),
    text("shape", "Result"),
    number("self_us", "Self time", "us", "Self time over all executions; blank if it is not timed by itself."),
    text("op_name", "Framework op", "Framework op that it comes from, with its scopes."),
    text("source", "Source", "Innermost source line outside of installed packages."),
)
_HITS = Table("found", "Found", _HIT_COLUMNS, doc=f"Instructions of all programs, at most {_MOST_HITS}.")
_PATH = Table(
    "path",
    "Path",
    (
        text("computation", "Computation"),
        text("name", "Called by", "Instruction that calls it; blank for the program's entry."),
    ),
    doc="Computations from the program's entry to the one shown.",
)
_PROGRAMS = Table(
    "programs",
    "Programs",
    (
        text("program", "Program", "Name and id of the program."),
        text("program_id", "Program id"),
        number("instructions", "Instructions", doc="Number of instructions, including those inside fusions."),
        number("self_us", "Self time", "us", "Self time of its ops; blank if none ran."),
    ),
)
_FACTS = (
    text("program", "Program", "Name and id of the program."),
    text("program_id", "Program id"),
    text("computation", "Computation"),
    text("node", "Instruction", "Instruction in the center."),
    number("shown", "Shown", doc=f"Number of instructions shown, at most {MOST_NODES}."),
    number("instructions", "Instructions", doc="Number of instructions of the program."),
)
_PARAMS = (
    Param("module_name", "", "Program: its id, name(id), or its name if unique."),
    Param("node_name", "", "Instruction or computation; by default, the op that takes most time."),
    Param("graph_width", "2", f"Hops from it, {_MOST_HOPS} at most.", kind="count"),
    Param("open", "", "Instructions to open, separated by commas; all opens every fusion."),
    Param("find", "", "Words to look for in names, opcodes, framework ops and source lines of all programs."),
)


@tool(
    "Program graph",
    group="Ops",
    order=32,
    all_hosts=False,
    params=_PARAMS,
    facts=_FACTS,
    tables=(_NODES, _EDGES, _PATH, _HITS, _PROGRAMS),
    needs=xla.NEEDS,
    precheck=xla.NEEDS[:1],
    unavailable=_unavailable,
)
def graph_viewer(
    session: Session, hosts: Sequence[Host], module_name: str, node_name: str, graph_width: int, open: str, find: str
) -> Answer:
    """Which instructions feed an XLA instruction, and which use its result?"""
    host = hosts[0]
    op_table = xla_ops(host)
    ops = {(op.program, op.name): op for op in op_table.ops}
    tables = {
        "programs": by_id(_PROGRAMS, _program_rows(host.modules, op_table)),
        "found": by_id(_HITS, [_search_hit_row(*hit, ops) for hit in search(host.modules.values(), find, _MOST_HITS)]),
    }
    if not host.modules:
        return Answer({}, tables, notes=[xla.no_ops_problem(session, has_programs=False)])
    module, row = centre_instruction(host, module_name, node_name)
    names_to_open = [name.strip() for name in open.split(",")]
    subgraph = neighbourhood(module, row, min(graph_width, _MOST_HOPS), names_to_open, "all" in names_to_open)
    tables |= {
        "nodes": by_id(_NODES, _node_rows(host, module, subgraph, ops)),
        "edges": by_id(_EDGES, [_edge_row(module, edge) for edge in subgraph.edges]),
        "path": by_column(_PATH, _path_rows(module, row)),
    }
    facts = {
        "program": module.title,
        "program_id": program_text(module.program_id),
        "computation": module.computation_names[int(module.computation[row])],
        "node": module.names[row],
        "shown": len(subgraph.nodes),
        "instructions": len(module),
    }
    notes = xla.unread_problems([module.title] if module.damaged else [], [module.title] if module.cut else [])
    program_name, program_ps = xla.name_in_sentences(module, host.modules.values()), op_table.program_self_ps
    headline = _headline(module, row, ops, program_name, program_ps.get(module.program_id, 0))
    return Answer(facts, tables, headline, notes)


def centre_instruction(host: Host, program: str, name: str) -> tuple[Module, int]:
    """The program and the row in it of the instruction asked for, in that program or any; without a name the default.

    Raises `ProblemError` (404) for a program or an instruction that does not exist. The host must have a program.
    """
    if not name:
        return _default_instruction(host, program)
    modules = [xla.program_of(host.modules, program)] if program else list(host.modules.values())
    for module in modules:
        row = instruction_named(module, name)
        if row >= 0:
            return module, row
    similar = [candidate for module in modules[:_MOST_HITS] for candidate in similar_names(module, name)][:3]
    remedy = (
        Message("There are: {names}.", names=listed(similar))
        if similar
        else Message("Search for it with the option find.")
    )
    message = (
        Message("There is no instruction {name} in {program}.", name=repr(name), program=modules[0].title)
        if program
        else Message("There is no instruction {name}.", name=repr(name))
    )
    raise problem_error("no_such_op", message, remedy, status=404)


def _default_instruction(host: Host, program: str) -> tuple[Module, int]:
    """The op that takes most time; where none ran, the result of the largest program."""
    only_module = xla.program_of(host.modules, program) if program else None
    modules = host.modules if only_module is None else {only_module.program_id: only_module}
    for op in xla_ops(host).ops:
        row = modules[op.program].row(op.name) if op.program in modules else -1
        if row >= 0:
            return modules[op.program], row
    module = max(modules.values(), key=len)
    root = int(module.roots[module.entry]) if len(module.roots) else -1
    if root < 0:
        raise problem_error(
            "no_such_op",
            Message("{program} holds no instruction.", program=module.title),
            "Choose another program.",
            status=404,
        )
    return module, root


def _node_rows(host: Host, module: Module, subgraph: Neighbourhood, ops: OpsByName) -> list[dict[str, Any]]:
    op_maker, peaks = OpMaker(host), peaks_of(xla_ops(host).devices)
    total_ps = xla_ops(host).program_self_ps.get(module.program_id, 0)
    rows = []
    for node in subgraph.nodes:
        row, name = node.row, module.names[node.row]
        recorded_op = ops.get((module.program_id, name))
        op = recorded_op or op_maker.op(module.program_id, module.name, name)
        figures = xla.figures(op, bound_of(op, peaks))
        if not recorded_op:
            figures = {id: value if id in _FIGURES_WITHOUT_RUN else None for id, value in figures.items()}
        rows.append(
            {
                "name": name,
                "opcode": module.opcodes[row],
                "category": module.category(row),
                "shape": _shape_text(module, row),
                "result_bytes": _result_bytes(module, row),
                "distance": node.distance,
                "inside": node.parent if node.parent >= 0 else None,
                "opens": any(computation >= 0 for computation in module.callees[row]),
                "opened": node.is_opened,
                "more_operands": node.more_operands,
                "more_users": node.more_users,
                "sharding": module.shardings[row],
                "constants": _constants(module, row),
                "share": ratio(op.self_ps, total_ps) if recorded_op else None,
                **figures,
                **xla.origin(op),
                "config": module.configs[row][:_CONFIG_CHARACTERS],
            }
        )
    return rows


def _shape_text(module: Module, row: int) -> str | None:
    """None in programs that are shared without their shapes."""
    return module.shapes.text(row) if module.shapes.type[row] else None


def _result_bytes(module: Module, row: int) -> float | None:
    """Without padding; None in programs that are shared without their shapes."""
    return float(module.shapes.leaf_bytes[row]) if module.shapes.type[row] else None


def _constants(module: Module, row: int) -> str:
    flow = Flow(module)
    return ", ".join(
        f"{position}: {module.literals[operand]}"
        for position, operand in enumerate(module.operands[row][:_MOST_OPERANDS])
        if operand >= 0 and flow.is_folded(operand) and module.shapes.elements[operand]
    )


def _edge_row(module: Module, edge: Edge) -> dict[str, Any]:
    return {
        "source": edge.source,
        "target": edge.target,
        "operand": edge.operand if edge.operand >= 0 else None,
        "shape": _shape_text(module, edge.value),
        "bytes": _result_bytes(module, edge.value),
    }


def _path_rows(module: Module, row: int) -> list[list[str]]:
    calls = callers(module, row)
    names = [module.computation_names[int(module.computation[instruction])] for instruction in [*calls, row]]
    return [[name, caller] for name, caller in zip(names, ["", *(module.names[call] for call in calls)], strict=True)]


def _search_hit_row(module: Module, row: int, ops: OpsByName) -> dict[str, Any]:
    op, origin_row = ops.get((module.program_id, module.names[row])), module.origin_row(row)
    return {
        "program": module.title,
        "program_id": program_text(module.program_id),
        "name": module.names[row],
        "opcode": module.opcodes[row],
        "shape": _shape_text(module, row),
        "self_us": op.self_ps / PS_PER_US if op else None,
        "op_name": module.op_names[origin_row],
        "source": module.sources.location_text(origin_row),
    }


def _program_rows(modules: Mapping[int, Module], table: XlaOpTable) -> list[dict[str, Any]]:
    self_ps = table.program_self_ps
    modules_by_time = sorted(modules.values(), key=lambda module: (-self_ps.get(module.program_id, 0), module.title))
    return [
        {
            "program": module.title,
            "program_id": program_text(module.program_id),
            "instructions": len(module),
            "self_us": self_ps[module.program_id] / PS_PER_US if module.program_id in self_ps else None,
        }
        for module in modules_by_time
    ]


def _headline(module: Module, row: int, ops: OpsByName, program: str, program_ps: int) -> Headline:
    name, op = module.names[row] or Message("An unnamed instruction"), ops.get((module.program_id, module.names[row]))
    flow = Flow(module)
    (producers, more_producers), (consumers, more_consumers) = flow.inputs(row), flow.consumers(row)
    neighbours = Message(
        "It is fed by {fed, plural, one {# instruction} other {# instructions}} and used by {users}.",
        fed=len({producer for _, producer, _ in producers}) + more_producers,
        users=len(consumers) + more_consumers,
    )
    names = {"op": name, "program": program}
    calls = callers(module, row)
    if op:
        sentence = Message(
            "{op} takes {share} of the time of {program}: {self_ps} in {runs, plural, one {# run} other {# runs}}.",
            **names,
            share=op.self_ps / (program_ps or 1),
            self_ps=op.self_ps,
            runs=op.executions,
        )
    elif calls:
        sentence = Message(
            "{op} of {program} is inside {caller} and is not timed by itself.", **names, caller=module.names[calls[-1]]
        )
    else:
        sentence = Message("{op} of {program} did not run by itself in this capture.", **names)
    return Headline(sentences(sentence, neighbours), "info", "hlo_stats")
