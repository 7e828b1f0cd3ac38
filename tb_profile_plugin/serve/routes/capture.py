"""Routes that capture programs that run now, and tell how far that is.

Captures write files and connect to other machines, so pages of other sites must not start one (`require_own_page`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from werkzeug.exceptions import HTTPException
from werkzeug.wrappers import Request, Response

from ...runtime.messages import Message
from ...runtime.problems import Problem, ProblemError, problem_error
from .. import responses
from ..access import require_own_page
from ..captures import OPTION_BY_PARAMETER, PARAMETERS, addresses
from ..workspace import Workspace

_PARAMETER_BY_OPTION = {"addresses": "service_addr", **{option: name for name, option in OPTION_BY_PARAMETER.items()}}
_MOST_BODY_BYTES = 64 << 10


def _parameters(workspace: Workspace, request: Request) -> dict[str, str]:
    """The parameters of a request to capture, from the query, a form or JSON.

    Raises `ProblemError` where captures are hidden, for a request of another site's page, and for a bad body.
    """
    if workspace.captures.hidden:
        remedy = Message("Use tb-profile capture, or ask who runs the server.")
        raise problem_error("capture_hidden", "Captures are switched off on this server.", remedy, status=403)
    require_own_page(request)
    request.max_content_length = request.max_form_memory_size = _MOST_BODY_BYTES
    try:
        body = json.loads(request.get_data()) if request.is_json else request.form.to_dict()
        values = {**request.args.to_dict(), **body}
    except HTTPException as error:
        raise problem_error("too_large", "The request is too large.", "Send a smaller request.", status=413) from error
    except (ValueError, TypeError, RecursionError) as error:
        raise problem_error("bad_body", "The body is not a JSON object.", "Send an object or a form.") from error
    unknown = sorted(set(values) - set(PARAMETERS))
    if unknown:
        remedy = Message("There are: {parameters}.", parameters=", ".join(PARAMETERS))
        raise problem_error(
            "unknown_option", Message("There is no parameter {name}.", name=repr(unknown[0])), remedy, unknown[0]
        )
    return {name: str(value) for name, value in values.items()}


def _with_parameter_name(error: ProblemError) -> ProblemError:
    """The error with the routes' parameter in its `where` instead of the option of `capture`."""
    option = error.problem.where
    return ProblemError(error.problem._replace(where=_PARAMETER_BY_OPTION.get(option, option)), error.status)


def start(workspace: Workspace, request: Request) -> Response:
    """Begin a capture and say how far it is."""
    values = _parameters(workspace, request)
    try:
        workspace.captures.start(values)
    except ProblemError as error:
        raise _with_parameter_name(error) from error
    return responses.data_json(request, workspace.captures.state())


def state(workspace: Workspace, request: Request) -> Response:
    """How far the latest capture is."""
    return responses.data_json(request, workspace.captures.state())


def stop(workspace: Workspace, request: Request) -> Response:
    """End the running capture."""
    _parameters(workspace, request)
    workspace.captures.stop()
    return responses.data_json(request, workspace.captures.state())


def ping(workspace: Workspace, request: Request) -> Response:
    """Whether profilers answer."""
    from ...capture.job import ping as ask

    values = _parameters(workspace, request)
    try:
        targets = addresses(values)
    except ProblemError as error:
        raise _with_parameter_name(error) from error
    problems = zip(targets, ask(targets), strict=True)
    workers = [{"address": str(target), "problem": problem and problem.as_json()} for target, problem in problems]
    return responses.data_json(request, {"workers": workers})


def capture_profile(workspace: Workspace, request: Request) -> Response:
    """Capture, and answer at its end as the older plugin does."""
    values = _parameters(workspace, request)
    try:
        job = workspace.captures.start(values)
        job.wait()
        if job.problem:
            raise ProblemError(job.problem, 500)
    except ProblemError as error:
        problem = _with_parameter_name(error).problem
        return responses.data_json(request, {**problem.as_json(), "error": str(problem)}, error.status)
    result = "Capture profile successfully. Please refresh."
    return responses.data_json(request, {"result": result, "run": job.target.run, "workers": job.state()["workers"]})


def ignored_options(
    workspace: Workspace, folder: Path | str, levels_by_host: Mapping[str, Mapping[str, int]]
) -> list[Problem]:
    """Notes on tracer levels in effect that differ from those that a capture made by this server asked for."""
    options = workspace.captures.options_of(folder)
    problems = []
    for host, levels in levels_by_host.items() if options else ():
        for name, level in levels.items():
            chosen_level = getattr(options, name)
            if level != chosen_level:
                message = Message(
                    "The {name} was {level} instead of {wanted}.",
                    name=name.replace("_", " "),
                    level=level,
                    wanted=chosen_level,
                )
                remedy = Message("Upgrade the program's framework; its profiler sets the level.")
                problems.append(Problem("not_as_asked", message, remedy, host, "warning"))
    return problems


def doctor(workspace: Workspace, request: Request) -> Response:
    """The findings about this machine and the logdir."""
    from ...capture import doctor as checks

    survey = workspace.logdir.survey()
    problems = [
        *checks.machine_findings(),
        *checks.logdir_findings(survey.searched, survey.captures, survey.event_files, survey.near_misses),
    ]
    return responses.data_json(request, [problem.as_json() for problem in problems])
