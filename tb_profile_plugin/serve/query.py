"""What a request's query says."""

from __future__ import annotations

from werkzeug.wrappers import Request

from ..problems import Problem, ProblemError


def required(request: Request, name: str) -> str:
    """The parameter of that name; raises `ProblemError` where it is missing or empty."""
    value = request.args.get(name, "")
    if not value:
        raise ProblemError(Problem("missing_parameter", f"The parameter {name!r} is missing.", f"Add {name}=…"))
    return value
