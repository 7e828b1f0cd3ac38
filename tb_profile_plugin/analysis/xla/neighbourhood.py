"""What lies around an instruction of an XLA program: what feeds it, what takes its result, and what it calls, opened.

Tuples and the picking of their elements are passed through, so that a value leads from who makes it to who uses it;
constants of one element belong to who uses them. Everything is bounded, whatever the program looks like.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...formats.xspace.hlo.fields import Ragged
from ...formats.xspace.hlo.module import Module

MOST = 150
"""Instructions that are shown: more take too long to lay out, and nobody reads them."""
_EDGES = 400
_FAN, _WIDE = 24, 60
"""Operands and users of an instruction, and of the one in the middle, that are followed."""
_STEPS = 64
"""Tuples that are passed through for one operand."""
_DEEP = 6
"""Computations that are opened inside each other."""
_OPENED = 8
"""Computations of one instruction that are opened."""
_ELEMENTS = 1000
"""Elements of a tuple among which a value is looked for."""
_PASSED = frozenset({"tuple", "get-tuple-element"})
EVERYWHERE = 1 << 30
"""A width that reaches all of a computation."""


@dataclass
class Node:
    """An instruction that is shown."""

    row: int
    distance: int
    """Hops from the one in the middle, or from the result of the computation that it is in."""
    inside: int
    """Index of the node that is opened around it; -1 for none."""
    opened: bool = False
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

    nodes: list[Node]
    edges: list[Edge]


def neighbourhood(
    module: Module, center: int, width: int, opened: Collection[str] = (), every: bool = False, most: int = MOST
) -> Neighbourhood:
    """At most ``most`` instructions around one, nearest first, up to ``width`` hops; those named are opened in place.

    With ``every``, all fusions are.
    """
    drawing = _Drawing(module, frozenset(opened), every, most)
    drawing.add_nodes(drawing.flow.around(center, width, most), -1, 0)
    return Neighbourhood(drawing.nodes, drawing.edges())


class Flow:
    """Where the values of a program come from and go to, tuples passed through."""

    def __init__(self, module: Module):
        self._module = module

    def makers(self, row: int, fan: int = _FAN) -> tuple[list[tuple[int, int, int]], int]:
        """(operand, instruction that makes it, instruction whose result it is), and how many there are besides."""
        operands = self._module.operands
        inputs = [
            (number, maker, value)
            for number, operand in enumerate(_first(operands, row, fan))
            for maker, value in self._makers_of(row, operand)
        ]
        return inputs[:fan], max(int(operands.counts[row]) - fan, 0) + max(len(inputs) - fan, 0)

    def takers(self, row: int, fan: int = _FAN) -> tuple[list[int], int]:
        """The instructions that use what one makes, and how many there are besides."""
        users = self._module.users
        values = users.values[users.first[row] : users.first[row + 1]]
        # They ascend; who takes it several times counts once.
        unique_users = values[np.append(True, np.diff(values) != 0)] if len(values) else values
        takers = dict.fromkeys(taker for user in unique_users[:fan].tolist() for taker in self._takers_of(row, user))
        return list(takers)[:fan], max(len(unique_users) - fan, 0) + max(len(takers) - fan, 0)

    def around(self, center: int, width: int, most: int) -> dict[int, int]:
        """Hops to each instruction, nearest first; a larger width only adds some."""
        hops = {center: 0}
        waiting = deque([center])
        while waiting:
            row = waiting.popleft()
            if hops[row] >= width:
                break
            fan = _WIDE if row == center else _FAN
            near = [maker for _, maker, _ in self.makers(row, fan)[0]] + self.takers(row, fan)[0]
            for other in near:
                if len(hops) >= most:
                    return hops
                if other not in hops:
                    hops[other] = hops[row] + 1
                    waiting.append(other)
        return hops

    def _makers_of(self, row: int, operand: int) -> Iterator[tuple[int, int]]:
        """Who makes an operand, and whose result it is; each element of a tuple has a maker of its own."""
        module, home = self._module, self._home(row)
        waiting: list[tuple[int, tuple[int, ...], int]] = [(operand, (), operand)]
        for _ in range(_STEPS):
            if not waiting:
                return
            at, picks, value = waiting.pop()
            if at < 0 or self._home(at) != home:
                continue
            if not self._passed(at):
                if not self.folded(at):
                    yield at, value
            elif module.opcodes[at] == "get-tuple-element":
                operands = _first(module.operands, at, 1)
                waiting += [(source, (int(module.tuple_indices[at]), *picks), at) for source in operands]
            elif picks:
                picked = module.operands[at][picks[0] : picks[0] + 1] if picks[0] >= 0 else []
                waiting += [(source, picks[1:], source) for source in picked]
            else:
                waiting += [(source, (), source) for source in reversed(_first(module.operands, at, _STEPS))]

    def _takers_of(self, row: int, user: int) -> Iterator[int]:
        """Who uses a value that an instruction takes; of a tuple only those that pick the element that it is."""
        module, home = self._module, self._home(row)
        waiting: list[tuple[int, int, frozenset[int]]] = [(row, user, frozenset())]
        for _ in range(_STEPS):
            if not waiting:
                return
            before, at, elements = waiting.pop()
            if self._home(at) != home:
                continue
            if not self._passed(at):
                yield at
            elif module.opcodes[at] == "tuple":
                operands = enumerate(_first(module.operands, at, _ELEMENTS))
                within = frozenset(element for element, operand in operands if operand == before)
                waiting += [(at, taker, within) for taker in reversed(_first(module.users, at, _STEPS))]
            elif not elements or int(module.tuple_indices[at]) in elements:
                waiting += [(at, taker, frozenset()) for taker in reversed(_first(module.users, at, _STEPS))]

    def folded(self, row: int) -> bool:
        """Whether it is a constant that belongs to who uses it."""
        return self._module.opcodes[row] == "constant" and self._module.shapes.elements[row] <= 1

    def _passed(self, row: int) -> bool:
        return self._module.opcodes[row] in _PASSED and int(self._module.roots[self._home(row)]) != row

    def _home(self, row: int) -> int:
        return int(self._module.computation[row])


def _first(lists: Ragged, row: int, most: int) -> list[int]:
    """The first of an instruction's operands or users."""
    begin = int(lists.first[row])
    rows: list[int] = lists.values[begin : min(begin + most, int(lists.first[row + 1]))].tolist()
    return rows


class _Drawing:
    """Nodes as they are placed; each instruction is placed once, and each computation opened once."""

    def __init__(self, module: Module, opened: frozenset[str], every: bool, most: int):
        self.module, self.flow = module, Flow(module)
        self.nodes: list[Node] = []
        self._opened, self._every, self._most = opened, every, most
        self._index_of: dict[int, int] = {}
        self._visible: set[int] = set()

    def add_nodes(self, rows: dict[int, int], inside: int, depth: int) -> None:
        """Add instructions, and what is inside those that are opened."""
        if depth == 0 and rows:
            self._visible.add(int(self.module.computation[next(iter(rows))]))
        fresh = [row for row in rows if row not in self._index_of]
        for row in fresh:
            self._index_of[row] = len(self.nodes)
            self.nodes.append(Node(row, rows[row], inside))
        for row in fresh if depth < _DEEP else []:
            if self.module.names[row] in self._opened or (self._every and self.module.opcodes[row] == "fusion"):
                self._open(row, depth)

    def _open(self, row: int, depth: int) -> None:
        index = self._index_of[row]
        for computation in list(dict.fromkeys(self.module.called[row]))[:_OPENED]:
            room = self._most - len(self.nodes)
            root = int(self.module.roots[computation]) if computation >= 0 else -1
            if root < 0 or room <= 0 or computation in self._visible:
                continue
            self._visible.add(computation)
            self.nodes[index].opened = True
            self.add_nodes(self.flow.around(root, EVERYWHERE, room), index, depth + 1)

    def edges(self) -> list[Edge]:
        """Between the nodes; counts what each has besides."""
        edges: dict[tuple[int, int, int], Edge] = {}
        pairs: set[tuple[int, int]] = set()

        def add(source: int, target: int, operand: int, value: int) -> bool:
            if len(edges) < _EDGES:
                edges.setdefault((source, target, operand), Edge(source, target, operand, value))
                pairs.add((source, target))
            return (source, target, operand) in edges

        for node in self.nodes:
            makers, node.more_operands = self.flow.makers(node.row, _WIDE)
            for operand, maker, value in makers:
                sources, targets = self._exits(maker), self._entrances(node.row, operand)
                drawn = [add(source, target, operand, value) for source in sources for target in targets]
                node.more_operands += not any(drawn)
        for node in self.nodes:
            takers, node.more_users = self.flow.takers(node.row, _WIDE)
            for taker in takers:
                ends = [(source, target) for source in self._exits(node.row) for target in self._entrances(taker, None)]
                if not any(end in pairs for end in ends):
                    node.more_users += not any(add(source, target, -1, node.row) for source, target in ends[:1])
        return list(edges.values())

    def _exits(self, row: int) -> list[int]:
        """Nodes where an instruction's result comes from: itself, or the results of what is opened in it."""
        index = self._index_of.get(row, -1)
        if index < 0 or not self.nodes[index].opened:
            return [index] if index >= 0 else []
        roots = [int(self.module.roots[computation]) for computation in self._computations(row)]
        return [exit_index for root in roots if root != row for exit_index in self._exits(root)]

    def _entrances(self, row: int, operand: int | None) -> list[int]:
        """Nodes that an operand, or any, leads to: the instruction, or the parameters of what is opened in it."""
        index = self._index_of.get(row, -1)
        if index < 0 or not self.nodes[index].opened:
            return [index] if index >= 0 else []
        opcode, called = self.module.opcodes[row], self._computations(row)
        if operand is not None and opcode == "while":
            operand = 0
        if operand is not None and opcode == "conditional":
            called, operand = called[operand - 1 : operand] if operand > 0 else [], 0
        return [parameter for computation in called for parameter in self._parameters(computation, operand)]

    def _computations(self, row: int) -> list[int]:
        return [
            computation
            for computation in list(dict.fromkeys(self.module.called[row]))[:_OPENED]
            if computation in self._visible
        ]

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
    values, owner = module.called.values, module.called.owner
    answer: list[int] = []
    home = int(module.computation[row])
    seen = {home}
    while len(answer) < 2 * _DEEP:
        calls = (values == home).nonzero()[0]
        if not len(calls):
            break
        answer.append(int(owner[calls[0]]))
        home = int(module.computation[answer[-1]])
        if home in seen:
            break
        seen.add(home)
    return answer[::-1]
