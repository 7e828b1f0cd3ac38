"""Ops of XLA programs as a tree: by program, category, scope of their names, or line of source code."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field

from ...runtime.messages import Message
from ...runtime.records import mutable_record
from .op import XlaOp
from .roofline import Bound, OpSums

PROGRAM, CATEGORY, PROVENANCE, SOURCE = "program", "category", "provenance", "source"
_NO_SOURCE = "(unknown source)"
_NO_SCOPE = "(no name)"
_MOST_SCOPES = 24
"""Scopes of a name beyond so many are one."""
MOST_CHILDREN = 200
"""Children beyond so many are one node."""


@mutable_record
class ProfileNode:
    """A group of ops, or one op."""

    name: str
    sums: OpSums = field(default_factory=OpSums)
    children: dict[str, ProfileNode] = field(default_factory=dict)
    op: XlaOp | None = None
    """The op of a leaf, or the largest of copies of one op."""
    bound: Bound | None = None
    has_copies: bool = False
    """Whether its children are copies of one op."""

    def sorted_children(self) -> list[ProfileNode]:
        """The children by self time; the smallest of very many as one."""
        ordered = sorted(self.children.values(), key=lambda node: (-node.sums.self_ps, node.name))
        if len(ordered) <= MOST_CHILDREN + 1:
            return ordered
        smallest = ordered[MOST_CHILDREN:]
        rest = ProfileNode(Message("{count} more", count=len(smallest)))
        for node in smallest:
            rest.sums.merge(node.sums)
        return [*ordered[:MOST_CHILDREN], rest]


def tree(ops: Sequence[XlaOp], bounds: Sequence[Bound], group_by: str) -> ProfileNode:
    """All ops under one root, whose sums are the same for every grouping."""
    root = ProfileNode(f"by_{group_by}")
    path = _PATHS[group_by]
    for op, bound in zip(ops, bounds, strict=True):
        node = root
        node.sums.add(op, bound)
        for name in path(op):
            node = node.children.setdefault(name, ProfileNode(name))
            node.sums.add(op, bound)
        if group_by in (PROGRAM, CATEGORY):
            original = op.original_name or op.name
            node = node.children.setdefault(f"{op.program}/{original}", ProfileNode(original, has_copies=True))
            node.sums.add(op, bound)
        leaf = node.children.setdefault(f"{op.program}/{op.module}/{op.name}", ProfileNode(op.name))
        leaf.sums.add(op, bound)
        leaf.op, leaf.bound = op, bound
    _name_copies(root)
    return root


def _name_copies(root: ProfileNode) -> None:
    """Groups of copies with one member are that member; larger ones are named after the largest."""
    pending = [root]
    while pending:
        node = pending.pop()
        for key, child in list(node.children.items()):
            members = child.sorted_children()
            if child.has_copies and len(members) == 1:
                node.children[key] = members[0]
            elif child.has_copies:
                child.op = members[0].op
                child.name = Message("{name} and its duplicate(s)", name=members[0].name)
        pending.extend(node.children.values())


def _by_scope(op: XlaOp) -> list[str]:
    scopes = [scope for scope in op.op_name.split("/") if scope]
    innermost = ["/".join(scopes[_MOST_SCOPES:])] if len(scopes) > _MOST_SCOPES else []
    return [*scopes[:_MOST_SCOPES], *innermost] or [_NO_SCOPE]


def _by_source(op: XlaOp) -> list[str]:
    file = op.source.rpartition(":")[0] or op.source
    return [file, op.source] if file else [_NO_SOURCE]


def program_name(op: XlaOp) -> str:
    """Name and id, as the existing plugin writes them; the name alone where no id is known."""
    return op.module if op.program == -1 else f"{op.module}({op.program % (1 << 64)})"


_PATHS: dict[str, Callable[[XlaOp], list[str]]] = {
    PROGRAM: lambda op: [program_name(op), op.category or op.opcode or Message("unknown")],
    CATEGORY: lambda op: [op.category or op.opcode or Message("unknown")],
    PROVENANCE: _by_scope,
    SOURCE: _by_source,
}
GROUPINGS = tuple(_PATHS)
