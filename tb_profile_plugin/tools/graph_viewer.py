"""Program graph: what is around an instruction of an XLA program: what feeds it, what uses it, what is in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..analysis.xla.device_runs import OpMaker
from ..analysis.xla.neighbourhood import MOST_NODES, Edge, Flow, Neighbourhood, callers, neighbourhood
from ..analysis.xla.op import XlaOp, XlaOps
from ..analysis.xla.ops import xla_ops
from ..analysis.xla.roofline import bound, peaks_of
from ..analysis.xla.search import instruction_named, search, similar_names
from ..formats.xspace.hlo.module import Module
from ..model.host import Host
from ..model.session import Session
from ..runtime.messages import Message, listed, sentences
from ..runtime.problems import Problem, problem_error
from .answers.answer import Answer, Column, Headline, Table, by_column
from .answers.tool import Param, tool
from .columns import op_costs, xla

Ops = Mapping[tuple[int, str], XlaOp]
"""Those that ran, by program and name."""
_MOST_HITS = 100
_WIDEST = 9
_LONG = 4000
"""Characters of what a backend decided that are shown."""
_STATIC = frozenset({"flops", "bytes", "flop_per_byte", "cost", "dtype"})
"""Figures of an instruction that did not run by itself: for one execution."""


def _unavailable(session: Session, hosts: Sequence[Host]) -> Problem | None:
    return None if any(xla_ops(host).programs for host in hosts) else xla.nothing(session, programs=False)


_NODES = Table(
    "nodes",
    "Instructions",
    (
        Column("name", "Instruction", "string"),
        Column("opcode", "Opcode", "string"),
        Column("category", "Category", "string", doc="XLA's category of the instruction."),
        Column("shape", "Result", "string", doc="Shape of the result, as XLA writes it."),
        Column("result_bytes", "Size of the result", unit="iB", doc="Bytes of the result's arrays, without padding."),
        Column("distance", "Hops", doc="Number of hops from the instruction in the center."),
        Column("inside", "Inside", doc="Row of the opened instruction that contains it; blank if none."),
        Column("opens", "Opens", "boolean", doc="Whether its called computations can be shown inside it."),
        Column("opened", "Opened", "boolean", doc="Whether its called computations are shown inside it."),
        Column("more_operands", "More operands", doc="Number of operands that are not shown."),
        Column("more_users", "More users", doc="Number of users that are not shown."),
        Column("sharding", "Sharding", "string", doc="Sharding over devices, as XLA writes it; blank if none."),
        Column("constants", "Constants", "string", doc="Operands that are scalar constants."),
        Column("share", "Share", unit="share", doc="Share of the self time of all ops of the program."),
        *xla.FIGURES,
        *xla.ORIGIN,
        Column("config", "Backend", "string", doc="Configuration that the backend chose."),
    ),
    doc="Instructions, nearest first. Times cover all executions on this host; instructions inside fusions "
    "have only a cost per execution.",
)
_EDGES = Table(
    "edges",
    "Values",
    (
        Column("source", "From", doc="Row of the source instruction."),
        Column("target", "To", doc="Row of the target instruction."),
        Column("operand", "Operand", doc="Position among the target's operands; blank if it has very many."),
        Column("shape", "Shape", "string"),
        Column("bytes", "Size", unit="iB", doc="Bytes of the value, without padding."),
    ),
    doc="Values that flow from one instruction to another; tuples are skipped.",
)
_WHERE = (
    Column("program", "Program", "string", doc="Name and id of the program."),
    Column("program_id", "Program id", "string"),
    Column("name", "Instruction", "string"),
    Column("opcode", "Opcode", "string"),
    Column("shape", "Result", "string"),
    Column("self_us", "Self time", unit="us", doc="Self time over all executions; blank if it is not timed by itself."),
    Column("op_name", "Framework op", "string", doc="Framework op that it comes from, with its scopes."),
    Column("source", "Source", "string", doc="Innermost source line outside of installed packages."),
)
_SEARCHED = Table("found", "Found", _WHERE, doc=f"Instructions of all programs, at most {_MOST_HITS}.")
_PATH = Table(
    "path",
    "Path",
    (
        Column("computation", "Computation", "string"),
        Column("name", "Called by", "string", doc="Instruction that calls it; blank for the program's entry."),
    ),
    doc="Computations from the program's entry to the one shown.",
)
_PROGRAMS = Table(
    "programs",
    "Programs",
    (
        Column("program", "Program", "string", doc="Name and id of the program."),
        Column("program_id", "Program id", "string"),
        Column("instructions", "Instructions", doc="Number of instructions, including those inside fusions."),
        Column("self_us", "Self time", unit="us", doc="Self time of its ops; blank if none ran."),
    ),
)
_FACTS = (
    Column("program", "Program", "string", doc="Name and id of the program."),
    Column("program_id", "Program id", "string"),
    Column("computation", "Computation", "string"),
    Column("node", "Instruction", "string", doc="Instruction in the center."),
    Column("shown", "Shown", doc=f"Number of instructions shown, at most {MOST_NODES}."),
    Column("instructions", "Instructions", doc="Number of instructions of the program."),
)
_PARAMS = (
    Param("module_name", "", "Program: its id, name(id), or its name if unique."),
    Param("node_name", "", "Instruction or computation; by default, the op that takes most time."),
    Param("graph_width", "2", f"Hops from it, {_WIDEST} at most.", kind="count"),
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
    tables=(_NODES, _EDGES, _PATH, _SEARCHED, _PROGRAMS),
    needs=xla.NEEDS,
    precheck=xla.NEEDS[:1],
    unavailable=_unavailable,
)
def graph_viewer(
    session: Session, hosts: Sequence[Host], module_name: str, node_name: str, graph_width: int, open: str, find: str
) -> Answer:
    """Which instructions feed an XLA instruction, and which use its result?"""
    host = hosts[0]
    table = xla_ops(host)
    ops = {(op.program, op.name): op for op in table.ops}
    tables = {
        "programs": by_column(_PROGRAMS, _programs(host.modules, table)),
        "found": by_column(_SEARCHED, [_where(*hit, ops) for hit in search(host.modules.values(), find, _MOST_HITS)]),
    }
    if not host.modules:
        return Answer({}, tables, notes=[xla.nothing(session, programs=False)])
    module, row = centre(host, module_name, node_name)
    opened = [name.strip() for name in open.split(",")]
    subgraph = neighbourhood(module, row, min(graph_width, _WIDEST), opened, "all" in opened)
    tables |= {
        "nodes": by_column(_NODES, _nodes(host, module, subgraph, ops)),
        "edges": by_column(_EDGES, [_edge(module, edge) for edge in subgraph.edges]),
        "path": by_column(_PATH, _path(module, row)),
    }
    facts = {
        "program": module.title,
        "program_id": op_costs.program_text(module.program_id),
        "computation": module.computation_names[int(module.computation[row])],
        "node": module.names[row],
        "shown": len(subgraph.nodes),
        "instructions": len(module),
    }
    title = [module.title]
    notes = xla.unread(title * module.damaged, title * module.cut)
    return Answer(facts, tables, _headline(module, row, ops), notes)


def centre(host: Host, program: str, name: str) -> tuple[Module, int]:
    """The instruction that is asked for: in the program named, else in any; without a name see `_first`.

    Raises `ProblemError` (404) for a program or an instruction that does not exist. The host has a program.
    """
    if not name:
        return _first(host, program)
    modules = [xla.program_of(host.modules, program)] if program else list(host.modules.values())
    for module in modules:
        row = instruction_named(module, name)
        if row >= 0:
            return module, row
    near = [candidate for module in modules[:_MOST_HITS] for candidate in similar_names(module, name)][:3]
    remedy = (
        Message("There are: {names}.", names=listed(near)) if near else Message("Search for it with the option find.")
    )
    message = (
        Message("There is no instruction {name} in {program}.", name=repr(name), program=modules[0].title)
        if program
        else Message("There is no instruction {name}.", name=repr(name))
    )
    raise problem_error("no_such_op", message, remedy, status=404)


def _first(host: Host, program: str) -> tuple[Module, int]:
    """The op that takes most time; where none ran, the result of the largest program."""
    table, only = xla_ops(host), xla.program_of(host.modules, program) if program else None
    for op in table.ops:
        if op.program not in host.modules or (only is not None and op.program != only.program_id):
            continue
        row = host.modules[op.program].row(op.name)
        if row >= 0:
            return host.modules[op.program], row
    module = max(host.modules.values(), key=len) if only is None else only
    root = int(module.roots[module.entry]) if len(module.roots) else -1
    if root < 0:
        raise problem_error(
            "no_such_op",
            Message("{program} holds no instruction.", program=module.title),
            "Choose another program.",
            status=404,
        )
    return module, root


def _nodes(host: Host, module: Module, subgraph: Neighbourhood, ops: Ops) -> list[list[Any]]:
    op_maker, peaks = OpMaker(host), peaks_of(xla_ops(host).devices)
    total_ps = _program_ps(module, ops)
    rows = []
    for node in subgraph.nodes:
        row, name = node.row, module.names[node.row]
        ran = ops.get((module.program_id, name))
        op = ran or op_maker.op(module.program_id, module.name, name)
        figures = xla.figures(op, bound(op, peaks))
        if not ran:
            figures = [
                value if column.id in _STATIC else None for column, value in zip(xla.FIGURES, figures, strict=True)
            ]
        what = [
            name,
            module.opcodes[row],
            module.category(row),
            _shape(module, row),
            _bytes(module, row),
            node.distance,
        ]
        opens = any(computation >= 0 for computation in module.called[row])
        around = [node.inside if node.inside >= 0 else None, opens, node.opened, node.more_operands, node.more_users]
        share = op.self_ps / total_ps if ran and total_ps else None
        origin = [*xla.origin(op), module.configs[row][:_LONG]]
        rows.append([*what, *around, module.shardings[row], _constants(module, row), share, *figures, *origin])
    return rows


def _program_ps(module: Module, ops: Ops) -> int:
    return sum(op.self_ps for op in ops.values() if op.program == module.program_id)


def _shape(module: Module, row: int) -> str | None:
    """None in programs that are shared without their shapes."""
    return module.shapes.text(row) if module.shapes.type[row] else None


def _bytes(module: Module, row: int) -> float | None:
    return float(module.shapes.leaf_bytes[row]) if module.shapes.type[row] else None


def _constants(module: Module, row: int) -> str:
    flow = Flow(module)
    operands = [(index, operand) for index, operand in enumerate(module.operands[row][:_MOST_HITS]) if operand >= 0]
    one = [
        (index, operand) for index, operand in operands if flow.is_folded(operand) and module.shapes.elements[operand]
    ]
    return ", ".join(f"{index}: {module.literals[operand]}" for index, operand in one)


def _edge(module: Module, edge: Edge) -> list[Any]:
    operand = edge.operand if edge.operand >= 0 else None
    return [edge.source, edge.target, operand, _shape(module, edge.value), _bytes(module, edge.value)]


def _path(module: Module, row: int) -> list[list[str]]:
    calls = callers(module, row)
    names = [module.computation_names[int(module.computation[instruction])] for instruction in [*calls, row]]
    return [[name, caller] for name, caller in zip(names, ["", *(module.names[call] for call in calls)], strict=True)]


def _where(module: Module, row: int, ops: Ops) -> list[Any]:
    ran, telling = ops.get((module.program_id, module.names[row])), module.telling(row)
    what = [module.title, op_costs.program_text(module.program_id), module.names[row], module.opcodes[row]]
    origin = [module.op_names[telling], module.sources.line(telling)]
    return [*what, _shape(module, row), ran.self_ps / 1e6 if ran else None, *origin]


def _programs(modules: Mapping[int, Module], table: XlaOps) -> list[list[Any]]:
    times = table.program_self_ps
    ordered = sorted(modules.values(), key=lambda module: (-times.get(module.program_id, 0), module.title))
    return [
        [
            module.title,
            op_costs.program_text(module.program_id),
            len(module),
            times[module.program_id] / 1e6 if module.program_id in times else None,
        ]
        for module in ordered
    ]


def _headline(module: Module, row: int, ops: Ops) -> Headline:
    name, op = module.names[row] or Message("An unnamed instruction"), ops.get((module.program_id, module.names[row]))
    flow = Flow(module)
    (makers, more), (takers, others) = flow.producers(row), flow.consumers(row)
    fed, user_count = len({op_maker for _, op_maker, _ in makers}) + more, len(takers) + others
    around = Message(
        "It is fed by {fed, plural, one {# instruction} other {# instructions}} and used by {users}.",
        fed=fed,
        users=user_count,
    )
    about = {"op": name, "program": module.title}
    calls = callers(module, row)
    if op:
        text = Message(
            "{op} takes {share} of the time of {program}: {self_ps} in {runs, plural, one {# run} other {# runs}}.",
            **about,
            share=op.self_ps / (_program_ps(module, ops) or 1),
            self_ps=op.self_ps,
            runs=op.executions,
        )
    elif calls:
        text = Message(
            "{op} of {program} is inside {caller} and is not timed by itself.", **about, caller=module.names[calls[-1]]
        )
    else:
        text = Message("{op} of {program} did not run by itself in this capture.", **about)
    return Headline(sentences(text, around), "info", "hlo_stats")
