"""The route of tables whose rows nest: as a tree of calls for a flame graph, or as a file for other tools."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from werkzeug.wrappers import Request, Response

from ...runtime.messages import Message
from ...runtime.problems import problem_error
from ...store import ALL_HOSTS
from ...store.result_cache import NAMED, unpack
from ..workspace import ToolQuestion, Workspace
from . import trees
from .query import required, table_request

if TYPE_CHECKING:
    from ...analysis.call_tree import CallTree
    from ...tools.answers.answer import Table, Weight
    from ...tools.answers.tool import Tool

PARAMETERS = ("table", *trees.TREE_PARAMETERS)


def calls(workspace: Workspace, request: Request) -> Response:
    """A table as a tree of calls, beside that of a baseline where the options name one that is comparable."""
    from ...export.call_trees import WeightedTree
    from ...runtime.messages import message
    from ...tools.answers.stacks import call_tree, recorded_weights

    tool_question = table_request(workspace, request, PARAMETERS)
    base_name = tool_question.options.get("base", "")
    tool_question = tool_question._replace(
        options={name: value for name, value in tool_question.options.items() if name != "base"}
    )
    table = _nested_table(tool_question.tool, required(request, "table"))
    stacks, values = table.stacks, _values(workspace, tool_question, table)
    assert stacks, "_table returns no other"
    labels = {weight.id: message(weight.label) for weight in recorded_weights(stacks, values)}
    weight_id = trees.selected_weight(request, labels)
    weight = next(weight for weight in stacks.weights if weight.id == weight_id)
    unit = "ps" if stacks.unit == "us" else "bytes"
    weighted = WeightedTree(call_tree(stacks, values, weight), tool_question.session.name, weight.label, unit)
    if request.args.get("format"):
        return trees.tree_file(request, weighted, f"{tool_question.tool.name}_{table.id}_{weight_id}")
    base = _base_tree(workspace, tool_question, base_name, table, weight) if base_name else None
    if base is not None:
        weighted = weighted._replace(tree=call_tree(stacks, values, weight, program_ids=False))
    return trees.tree_answer(request, weighted, base, weight_id, labels)


def _nested_table(tool: Tool, id: str) -> Table:
    """The table of that id; raises `ProblemError` (422) where its rows do not nest."""
    table = next((table for table in tool.tables if table.id == id and table.stacks), None)
    if table is None:
        names = ", ".join(table.id for table in tool.tables if table.stacks) or "–"
        message = Message("The table {table} is no tree of calls.", table=repr(id))
        raise problem_error("no_calls", message, Message("Tables: {tables}.", tables=names), status=422)
    return table


def _values(workspace: Workspace, tool_question: ToolQuestion, table: Table, base: str = "") -> dict[str, list[Any]]:
    """Values of a table of the answer by column, beside those of a baseline where one is named."""
    options = {**tool_question.options, "base": base} if base else tool_question.options
    packed = workspace.result(tool_question._replace(options=options), NAMED)
    columns = json.loads(unpack(packed))["tables"][table.id]["columns"]
    return {column["id"]: column["values"] for column in columns}


def _step_count(tool_question: ToolQuestion) -> float:
    """Number of steps that the capture holds."""
    from ...analysis.steps.step_coverage import captured_steps

    return captured_steps(tool_question.tool.hosts(tool_question.session, tool_question.host, **tool_question.options))


def _base_tree(
    workspace: Workspace, tool_question: ToolQuestion, name: str, table: Table, weight: Weight
) -> CallTree | None:
    """The baseline's tree, scaled to as many steps as the session has; None where the tables are not comparable."""
    from ...analysis.call_tree import scaled
    from ...tools.answers.stacks import call_tree

    columns = _values(workspace, tool_question, table, base=name)
    if not any(value is not None for id, values in columns.items() if id.startswith("delta_") for value in values):
        return None
    session = workspace.session(name)
    host = tool_question.host if tool_question.host in session.hosts else ALL_HOSTS
    base_question = tool_question._replace(session=session, host=host)
    assert table.stacks, "_table returns no other"
    base = call_tree(table.stacks, _values(workspace, base_question, table), weight, program_ids=False)
    return scaled(base, _step_count(tool_question) / _step_count(base_question)) if table.stacks.per_step else base
