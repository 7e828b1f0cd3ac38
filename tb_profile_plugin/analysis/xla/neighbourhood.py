"""What lies around an instruction of an XLA program: what feeds it, what takes its result, and what it calls, opened.

Tuples and the picking of their elements are passed through, so that a value leads from who makes it to who uses it;
constants of one element belong to who uses them. Everything is bounded, whatever the program looks like.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator

import numpy as np

from ...formats.xspace.hlo.fields import Ragged
from ...formats.xspace.hlo.module import Module
from ...runtime.records import NamedTuple, mutable_record

MOST_NODES = 150
"""Instructions that are shown: more take too long to lay out, and nobody reads them."""
_MOST_EDGES = 400
_MOST_NEIGHBOURS, _MOST_OF_CENTER = 24, 60
"""Operands and users of an instruction, and of the one in the middle, that are followed."""
_MOST_TUPLES = 64
"""So many are passed through for one operand."""
_MOST_DEPTH = 6
"""Computations that are opened inside each other."""
_MOST_OPENED = 8
"""Computations of one instruction that are opened."""
_MOST_ELEMENTS = 1000
"""Elements of a tuple among which a value is looked for."""
_TUPLE_OPCODES = frozenset({"tuple", "get-tuple-element"})
UNLIMITED_WIDTH = 1 << 30
"""A width that reaches all of a computation."""


@mutable_record
class VisibleInstruction:
    """An instruction that is shown."""

    row: int
    distance: int
    """Hops from the one in the middle, or from the result of the computation that it is in."""
    parent: int
    """Index of the node that is opened around it; -1 for none."""
    is_opened: bool = False
    more_operands: int = 0
    more_users: int = 0
    """Neighbours that are not shown."""


class Edge(NamedTuple):
    """A value that leads from one node to another, by their indices."""

    source: int
    target: int
    operand: int
    """Which operand of the target; -1 where it is one of very many."""
    value: int
    """The instruction whose result it is, which may pick it from a tuple."""


class Neighbourhood(NamedTuple):
    """Nodes, those around others before what is in them, and edges between nodes that nothing is opened in."""

    nodes: list[VisibleInstruction]
    edges: list[Edge]


def neighbourhood(
    module: Module, center: int, width: int, opened: Collection[str] = (), every_fusion: bool = False
) -> Neighbourhood:
    """At most `MOST_NODES` instructions around one, nearest first, up to ``width`` hops; those named are opened.

    With ``every_fusion``, all fusions are.
    """
    drawing = _Drawing(module, frozenset(opened), every_fusion)
    drawing.add_nodes(drawing.flow.hops_around(center, width, MOST_NODES), -1, 0)
    return Neighbourhood(drawing.nodes, drawing.edges())


class Input(NamedTuple):
    """A value that an instruction takes."""

    operand: int
    """Which of its operands."""
    producer: int
    """The instruction that makes it."""
    value: int
    """The instruction whose result it is, which may pick it from a tuple."""


class Flow:
    """Where the values of a program come from and go to, tuples passed through."""

    def __init__(self, module: Module):
        self._module = module

    def inputs(self, row: int, limit: int = _MOST_NEIGHBOURS) -> tuple[list[Input], int]:
        """What an instruction takes, and how many there are besides."""
        operands = self._module.operands
        inputs = [
            Input(number, producer, value)
            for number, operand in enumerate(_first(operands, row, limit))
            for producer, value in self._producers_of(row, operand)
        ]
        return inputs[:limit], max(int(operands.counts[row]) - limit, 0) + max(len(inputs) - limit, 0)

    def consumers(self, row: int, limit: int = _MOST_NEIGHBOURS) -> tuple[list[int], int]:
        """The instructions that use what one makes, and how many there are besides."""
        users = self._module.users
        values = users.values[users.first[row] : users.first[row + 1]]
        # They ascend; who takes it several times counts once.
        unique_users = values[np.append(True, np.diff(values) != 0)] if len(values) else values
        consumers = dict.fromkeys(
            consumer for user in unique_users[:limit].tolist() for consumer in self._consumers_of(row, user)
        )
        return list(consumers)[:limit], max(len(unique_users) - limit, 0) + max(len(consumers) - limit, 0)

    def hops_around(self, center: int, width: int, most_nodes: int) -> dict[int, int]:
        """Hops to each instruction, nearest first; a larger width only adds some."""
        hops = {center: 0}
        pending = deque([center])
        while pending:
            row = pending.popleft()
            if hops[row] >= width:
                break
            limit = _MOST_OF_CENTER if row == center else _MOST_NEIGHBOURS
            neighbours = [value.producer for value in self.inputs(row, limit)[0]] + self.consumers(row, limit)[0]
            for neighbour in neighbours:
                if len(hops) >= most_nodes:
                    return hops
                if neighbour not in hops:
                    hops[neighbour] = hops[row] + 1
                    pending.append(neighbour)
        return hops

    def _producers_of(self, row: int, operand: int) -> Iterator[tuple[int, int]]:
        """(producer of an operand, instruction whose result it is); of a tuple one for each element."""
        module, computation = self._module, self._computation_of(row)
        pending: list[tuple[int, tuple[int, ...], int]] = [(operand, (), operand)]
        for _ in range(_MOST_TUPLES):
            if not pending:
                return
            producer, path, value = pending.pop()
            if producer < 0 or self._computation_of(producer) != computation:
                continue
            if not self._is_passed_through(producer):
                if not self.is_folded(producer):
                    yield producer, value
            elif module.opcodes[producer] == "get-tuple-element":
                operands = _first(module.operands, producer, 1)
                pending += [(source, (int(module.tuple_indices[producer]), *path), producer) for source in operands]
            elif path:
                elements = module.operands[producer][path[0] : path[0] + 1] if path[0] >= 0 else []
                pending += [(source, path[1:], source) for source in elements]
            else:
                pending += [
                    (source, (), source) for source in reversed(_first(module.operands, producer, _MOST_TUPLES))
                ]

    def _consumers_of(self, row: int, user: int) -> Iterator[int]:
        """Who uses a value that an instruction takes; of a tuple only those that pick the element that it is."""
        module, computation = self._module, self._computation_of(row)
        pending: list[tuple[int, int, frozenset[int]]] = [(row, user, frozenset())]
        for _ in range(_MOST_TUPLES):
            if not pending:
                return
            maker, current, elements = pending.pop()
            if self._computation_of(current) != computation:
                continue
            if not self._is_passed_through(current):
                yield current
                continue
            positions: frozenset[int] = frozenset()
            if module.opcodes[current] == "tuple":
                operands = enumerate(_first(module.operands, current, _MOST_ELEMENTS))
                positions = frozenset(element for element, operand in operands if operand == maker)
            elif elements and int(module.tuple_indices[current]) not in elements:
                continue
            pending += [
                (current, consumer, positions) for consumer in reversed(_first(module.users, current, _MOST_TUPLES))
            ]

    def is_folded(self, row: int) -> bool:
        """Whether it is a constant that belongs to who uses it."""
        return self._module.opcodes[row] == "constant" and self._module.shapes.elements[row] <= 1

    def _is_passed_through(self, row: int) -> bool:
        return self._module.opcodes[row] in _TUPLE_OPCODES and int(self._module.roots[self._computation_of(row)]) != row

    def _computation_of(self, row: int) -> int:
        return int(self._module.computation[row])


def _first(lists: Ragged, row: int, limit: int) -> list[int]:
    """The first of an instruction's operands or users."""
    begin = int(lists.first[row])
    return lists.values[begin : min(begin + limit, int(lists.first[row + 1]))].tolist()


class _Drawing:
    """Nodes as they are placed; each instruction is placed once, and each computation opened once."""

    def __init__(self, module: Module, opened: frozenset[str], every_fusion: bool):
        self.module, self.flow = module, Flow(module)
        self.nodes: list[VisibleInstruction] = []
        self._opened, self._every_fusion = opened, every_fusion
        self._index_of: dict[int, int] = {}
        self._visible: set[int] = set()

    def add_nodes(self, rows: dict[int, int], parent: int, depth: int) -> None:
        """Add instructions, and what is inside those that are opened."""
        if depth == 0 and rows:
            self._visible.add(int(self.module.computation[next(iter(rows))]))
        new_rows = [row for row in rows if row not in self._index_of]
        for row in new_rows:
            self._index_of[row] = len(self.nodes)
            self.nodes.append(VisibleInstruction(row, rows[row], parent))
        for row in new_rows if depth < _MOST_DEPTH else []:
            if self.module.names[row] in self._opened or (self._every_fusion and self.module.opcodes[row] == "fusion"):
                self._open(row, depth)

    def _open(self, row: int, depth: int) -> None:
        index = self._index_of[row]
        for computation in list(dict.fromkeys(self.module.callees[row]))[:_MOST_OPENED]:
            room = MOST_NODES - len(self.nodes)
            root = int(self.module.roots[computation]) if computation >= 0 else -1
            if root < 0 or room <= 0 or computation in self._visible:
                continue
            self._visible.add(computation)
            self.nodes[index].is_opened = True
            self.add_nodes(self.flow.hops_around(root, UNLIMITED_WIDTH, room), index, depth + 1)

    def edges(self) -> list[Edge]:
        """Between the nodes; counts what each has besides."""
        edges: dict[tuple[int, int, int], Edge] = {}
        connected: set[tuple[int, int]] = set()

        def add(source: int, target: int, operand: int, value: int) -> bool:
            if len(edges) < _MOST_EDGES:
                edges.setdefault((source, target, operand), Edge(source, target, operand, value))
                connected.add((source, target))
            return (source, target, operand) in edges

        for node in self.nodes:
            inputs, node.more_operands = self.flow.inputs(node.row, _MOST_OF_CENTER)
            for operand, producer, value in inputs:
                sources, targets = self._result_nodes(producer), self._operand_nodes(node.row, operand)
                are_drawn = [add(source, target, operand, value) for source in sources for target in targets]
                node.more_operands += not any(are_drawn)
        for node in self.nodes:
            consumers, node.more_users = self.flow.consumers(node.row, _MOST_OF_CENTER)
            for consumer in consumers:
                ends = [
                    (source, target)
                    for source in self._result_nodes(node.row)
                    for target in self._operand_nodes(consumer, None)
                ]
                if not any(end in connected for end in ends):
                    node.more_users += not any(add(source, target, -1, node.row) for source, target in ends[:1])
        return list(edges.values())

    def _result_nodes(self, row: int) -> list[int]:
        """Nodes where an instruction's result comes from: itself, or the results of what is opened in it."""
        if not self._is_opened(row):
            return [self._index_of[row]] if row in self._index_of else []
        roots = [int(self.module.roots[computation]) for computation in self._computations(row)]
        return [index for root in roots if root != row for index in self._result_nodes(root)]

    def _operand_nodes(self, row: int, operand: int | None) -> list[int]:
        """Nodes that an operand, or any, leads to: the instruction, or the parameters of what is opened in it."""
        if not self._is_opened(row):
            return [self._index_of[row]] if row in self._index_of else []
        opcode, computations = self.module.opcodes[row], self._computations(row)
        if operand is not None and opcode == "while":
            operand = 0
        if operand is not None and opcode == "conditional":
            computations, operand = computations[operand - 1 : operand] if operand > 0 else [], 0
        return [parameter for computation in computations for parameter in self._parameters(computation, operand)]

    def _is_opened(self, row: int) -> bool:
        return row in self._index_of and self.nodes[self._index_of[row]].is_opened

    def _computations(self, row: int) -> list[int]:
        first_called = list(dict.fromkeys(self.module.callees[row]))[:_MOST_OPENED]
        return [computation for computation in first_called if computation in self._visible]

    def _parameters(self, computation: int, number: int | None) -> list[int]:
        module = self.module
        return [
            index
            for index, node in enumerate(self.nodes)
            if module.opcodes[node.row] == "parameter"
            and int(module.computation[node.row]) == computation
            and number in (None, int(module.parameter_numbers[node.row]))
        ]


def callers(module: Module, row: int) -> list[int]:
    """The instructions that the computation of one is called by, the program's own first; each by its first caller."""
    values, owner = module.callees.values, module.callees.owner
    call_rows: list[int] = []
    computation = int(module.computation[row])
    seen = {computation}
    while len(call_rows) < 2 * _MOST_DEPTH:
        calls = (values == computation).nonzero()[0]
        if not len(calls):
            break
        call_rows.append(int(owner[calls[0]]))
        computation = int(module.computation[call_rows[-1]])
        if computation in seen:
            break
        seen.add(computation)
    return call_rows[::-1]
