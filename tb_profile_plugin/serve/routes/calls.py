"""The route of tables whose rows nest: as a tree of calls for a flame graph, or as a file for other tools."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from werkzeug.wrappers import Request, Response

from ...runtime.messages import Message
from ...runtime.problems import problem_error
from ...store import ALL_HOSTS
from ...store.result_cache import NAMED, unpack
from ..workspace import Workspace
from . import trees
from .query import required, table_request

if TYPE_CHECKING:
    from ...analysis.call_tree import CallTree
    from ...model.session import Session
    from ...tools.answers.answer import Table, Weight
    from ...tools.answers.tool import Tool

PARAMETERS = ("table", *trees.TREE_PARAMETERS)


class _TableQuestion(NamedTuple):
    """A tool's answer for a session, without a baseline."""

    session: Session
    tool: Tool
    host: str
    options: dict[str, str]

    def values(self, workspace: Workspace, table: str, **more: str) -> dict[str, list[Any]]:
        """Values of a table of the answer by column; ``more`` are further options."""
        packed = workspace.result(self.session, self.tool, self.host, self.options | more, NAMED)
        columns = json.loads(unpack(packed))["tables"][table]["columns"]
        return {column["id"]: column["values"] for column in columns}

    @property
    def step_count(self) -> float:
        """Number of steps that the capture holds."""
        from ...analysis.steps.step_evidence import captured_steps

        return captured_steps(self.tool.hosts(self.session, self.host, **self.options))


def calls(workspace: Workspace, request: Request) -> Response:
    """A table as a tree of calls, beside that of a baseline where the options name one that is comparable."""
    from ...export.call_trees import WeightedTree
    from ...runtime.messages import message
    from ...tools.answers.stacks import call_tree, recorded_weights

    session, tool, host, options = table_request(workspace, request, PARAMETERS)
    base_name = options.pop("base", "")
    question, table = _TableQuestion(session, tool, host, options), _table(tool, required(request, "table"))
    stacks, values = table.stacks, question.values(workspace, table.id)
    assert stacks, "_table returns no other"
    labels = [(weight.id, message(weight.label)) for weight in recorded_weights(stacks, values)]
    id = trees.selected_weight(request, labels)
    weight = next(weight for weight in stacks.weights if weight.id == id)
    unit = "ps" if stacks.unit == "us" else "bytes"
    weighted = WeightedTree(call_tree(stacks, values, weight), session.name, weight.label, unit)
    if request.args.get("format"):
        return trees.tree_file(request, weighted, f"{tool.name}_{table.id}_{id}")
    base = _baseline(workspace, question, base_name, table, weight) if base_name else None
    if base is not None:
        weighted = weighted._replace(tree=call_tree(stacks, values, weight, program_ids=False))
    return trees.tree_answer(request, weighted, base, id, labels)


def _table(tool: Tool, id: str) -> Table:
    """The table of that id; raises `ProblemError` (422) where its rows do not nest."""
    table = next((table for table in tool.tables if table.id == id and table.stacks), None)
    if table is None:
        names = ", ".join(table.id for table in tool.tables if table.stacks) or "–"
        message = Message("The table {table} is no tree of calls.", table=repr(id))
        raise problem_error("no_calls", message, Message("Tables: {tables}.", tables=names), status=422)
    return table


def _baseline(
    workspace: Workspace, question: _TableQuestion, name: str, table: Table, weight: Weight
) -> CallTree | None:
    """The baseline's tree, scaled to as many steps as the session has; None where the tables are not comparable."""
    from ...analysis.call_tree import scaled
    from ...tools.answers.stacks import call_tree

    joined = question.values(workspace, table.id, base=name)
    if not any(value is not None for id, values in joined.items() if id.startswith("delta_") for value in values):
        return None
    session = workspace.session(name)
    host = question.host if question.host in session.hosts else ALL_HOSTS
    base_question = question._replace(session=session, host=host)
    assert table.stacks, "_table returns no other"
    base = call_tree(table.stacks, base_question.values(workspace, table.id), weight, program_ids=False)
    return scaled(base, question.step_count / base_question.step_count) if table.stacks.per_step else base
