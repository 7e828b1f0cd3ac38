"""Answers in the shapes of the existing plugin, for scripts that were made for it; nothing else knows these shapes.

Each file renders one tool: a function of the tool's name from its named answer, the hosts shown and the options.
"""

from __future__ import annotations

import pkgutil
from importlib import import_module
from typing import TYPE_CHECKING

from ..analysis.steps.choice_names import ALL
from ..runtime.messages import translated
from ..store.result_cache import LEGACY, to_json
from ..tools.answers.reader import AnswerReader
from ..tools.answers.tool import BASELINE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..model.session import Session
    from ..tools.answers.answer import Json
    from ..tools.answers.tool import Tool
    from .hlo_documents import Document


NEW_NAMES = {"tensorflow_stats": "framework_op_stats"}
"""What tools are called now by the names that older scripts know."""

_FILES = frozenset(info.name for info in pkgutil.iter_modules(__path__) if not info.ispkg)


def wants_csv(tqx: str) -> bool:
    """Whether the parameter ``tqx`` asks for a table as CSV: ``out:csv``, beside whatever else it says."""
    return "out:csv" in tqx.replace(" ", "").split(";")


def graph_document(tool: Tool, session: Session, host: str, options: Mapping[str, str]) -> Document | None:
    """What the existing plugin answers a question for a program's graph or text with; None for all other questions.

    ``options`` are its own options. Raises `ProblemError` for values that it would not take either.
    """
    if tool.name != "graph_viewer" or not options.get("type"):
        return None
    from .hlo_documents import graph_document as render

    return render(tool.hosts(session, host)[0], options)


def answer_json(tool: Tool, session: Session, host: str, options: Mapping[str, str], shape: str) -> bytes:
    """The tool's answer as JSON: in its old shape where ``shape`` is `LEGACY`, else as it is, in the language in use.

    Raises `ProblemError` as `Tool.run` does.
    """
    if shape == LEGACY:
        return to_json(answer(tool, session, host, **options))
    return to_json(translated(tool.run(session, host, **options)))


def answer(tool: Tool, session: Session, host: str = "", /, **options: str) -> Json:
    """The tool's answer in its old shape; its named answer where it has no old one.

    Raises `ProblemError` as `Tool.run` does.
    """
    if any(param.name == "steps" for param in tool.params):
        # The existing plugin averages over all steps.
        options = {"steps": ALL} | options
    # The old shapes have no place for a baseline.
    options = {name: value for name, value in options.items() if BASELINE not in tool.params or name != BASELINE.name}
    named_answer = tool.run(session, host, **options)
    if tool.streamed or tool.name not in _FILES:
        return named_answer
    render = getattr(import_module(f"{__name__}.{tool.name}"), tool.name)
    return render(AnswerReader(named_answer), tool.hosts(session, host, **options), tool.options(options))
