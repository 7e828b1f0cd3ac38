"""The route of tables whose rows lie within each other: merged into a tree of calls, or as a file for other tools."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from werkzeug.wrappers import Request, Response

from ...runtime.messages import Message
from ...runtime.problems import problem_error
from ...store.result_cache import NAMED, unpack
from ..workspace import Workspace
from . import trees
from .query import ALL_HOSTS, required, table_request

if TYPE_CHECKING:
    from ...analysis.call_tree import CallTree
    from ...model.session import Session
    from ...tools.answers.answer import Table, Weight
    from ...tools.answers.tool import Tool

PARAMETERS = ("table", *trees.TREE)


class _Question(NamedTuple):
    """What is question of a session, but for a baseline."""

    session: Session
    tool: Tool
    host: str
    options: dict[str, str]

    def values(self, workspace: Workspace, table: str, **more: str) -> dict[str, list[Any]]:
        """Of a table of the answer, by column."""
        packed = workspace.result(self.session, self.tool, self.host, self.options | more, NAMED)
        columns = json.loads(unpack(packed))["tables"][table]["columns"]
        return {column["id"]: column["values"] for column in columns}

    @property
    def steps(self) -> float:
        """How many the capture holds."""
        from ...analysis.steps.step_evidence import captured

        return captured(self.tool.hosts(self.session, self.host, **self.options))


def calls(workspace: Workspace, request: Request) -> Response:
    """A table as a tree of calls: against a baseline where the options name one that it is comparable with."""
    from ...export.call_trees import WeightedTree
    from ...runtime.messages import message
    from ...tools.answers.stacks import recorded_weights, tree

    session, tool, host, options = table_request(workspace, request, PARAMETERS)
    base_name = options.pop("base", "")
    question, table = _Question(session, tool, host, options), _table(tool, required(request, "table"))
    stacks, values = table.stacks, question.values(workspace, table.id)
    assert stacks, "only tables that have some are found"
    labels = [(weight.id, message(weight.label)) for weight in recorded_weights(stacks, values)]
    id = trees.selected_weight(request, labels)
    weight = next(weight for weight in stacks.weights if weight.id == id)
    weighed = WeightedTree(
        tree(stacks, values, weight), session.name, weight.label, "ps" if stacks.unit == "us" else "bytes"
    )
    if request.args.get("format"):
        return trees.file(request, weighed, f"{tool.name}_{table.id}_{id}")
    base = _baseline(workspace, question, base_name, table, weight) if base_name else None
    if base is not None:
        weighed = weighed._replace(tree=tree(stacks, values, weight, numbered=False))
    return trees.drawn(request, weighed, base, id, labels)


def _table(tool: Tool, id: str) -> Table:
    """The table of that name; raises `ProblemError` (422) where its rows do not lie within each other."""
    table = next((table for table in tool.tables if table.id == id and table.stacks), None)
    if table is None:
        names = ", ".join(table.id for table in tool.tables if table.stacks) or "–"
        message = Message("The table {table} is no tree of calls.", table=repr(id))
        raise problem_error("no_calls", message, Message("Tables: {tables}.", tables=names), status=422)
    return table


def _baseline(workspace: Workspace, question: _Question, name: str, table: Table, weight: Weight) -> CallTree | None:
    """The baseline's tree, of as many steps as are here; None where the tables are not comparable."""
    from ...analysis.call_tree import scaled
    from ...tools.answers.stacks import tree

    joined = question.values(workspace, table.id, base=name)
    if not any(value is not None for id, values in joined.items() if id.startswith("delta_") for value in values):
        return None
    other = workspace.session(name)
    there = question._replace(session=other, host=question.host if question.host in other.hosts else ALL_HOSTS)
    assert table.stacks, "only tables that have some have a baseline"
    base = tree(table.stacks, there.values(workspace, table.id), weight, numbered=False)
    return scaled(base, question.steps / there.steps) if table.stacks.per_step else base
