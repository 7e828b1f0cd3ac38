"""Every file in this folder that holds a `Tool` is a tool: its presence gives the route, the verb and the page.

Other distributions add theirs by an entry point, see `runtime.extensions`.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from typing import TYPE_CHECKING

from ..runtime.messages import Message

if TYPE_CHECKING:
    from ..model.per_host import Need
    from .answers.tool import PerHost, Tool

# What imports answers imports this file first: it brings nothing along until it is asked for tools.
_FILES = tuple(info.name for info in pkgutil.iter_modules(__path__) if not info.ispkg)


@cache
def all_tools() -> dict[str, Tool]:
    """All tools by name, in the order of their pages."""
    from ..runtime import extensions
    from .answers.tool import Tool

    modules = [importlib.import_module(f"{__name__}.{name}") for name in _FILES]
    own_tools = [value for module in modules for value in vars(module).values() if isinstance(value, Tool)]
    extension_tools = [value for value in extensions.tools() if isinstance(value, Tool)]
    # Ours come last: another distribution cannot take the place of one.
    tools = {tool.name: tool for tool in (*extension_tools, *own_tools)}
    return dict(sorted(tools.items(), key=lambda item: (item[1].order, item[0])))


def get(name: str) -> Tool:
    """The tool of that name; raises `ProblemError` (404) for an unknown one."""
    from ..runtime.problems import problem_error
    from .answers.tool import Tool

    tool_name = name.rstrip("@^")
    if tool_name in _FILES:
        # One answer does not wait for the imports of all the other tools.
        tool = getattr(importlib.import_module(f"{__name__}.{tool_name}"), tool_name, None)
        if isinstance(tool, Tool):
            return tool
    tools = all_tools()
    if tool_name not in tools:
        raise problem_error(
            "unknown_tool",
            Message("There is no tool named {name}.", name=repr(name)),
            Message("Tools: {tools}.", tools=", ".join(tools)),
            status=404,
        )
    return tools[tool_name]


def precheck() -> list[Need]:
    """What is asked of each host before a tool is chosen: how sound it is, and which tools have something to show."""
    from ..analysis.health import capture_health
    from ..model.per_host import need
    from ..model.profiler_options import levels

    functions: list[PerHost] = [
        levels,
        *capture_health.NEEDS,
        *(function for tool in all_tools().values() for function in tool.precheck),
    ]
    return [need(function) for function in dict.fromkeys(functions)]
