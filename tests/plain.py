"""Tools that answer plain data, for tests that only pass them on."""

from collections.abc import Callable
from typing import Any

from tb_profile_plugin.tools.answers.tool import Tool, tool


class Plain(Tool):
    """A tool whose function answers plain data."""

    def run(self, session: Any, host: str = "", /, **options: str) -> Any:
        return self.function(session, self.hosts(session, host, **options), **self.options(options))


def plain(title: str, **more: Any) -> Callable[[Callable[..., Any]], Tool]:
    return lambda function: Plain(**vars(tool(title, **more)(function)))
