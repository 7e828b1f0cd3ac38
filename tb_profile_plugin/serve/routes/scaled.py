"""The route of the slider on the page Why: the typical step with one op faster or slower."""

from __future__ import annotations

from werkzeug.wrappers import Request, Response

from ...runtime.messages import Message
from .. import responses
from ..workspace import Workspace
from .query import parameter_error, required

PARAMETERS = ("run", "host", "op", "factor", "step_event", "steps")


def scaled(workspace: Workspace, request: Request) -> Response:
    """The typical step if the op took ``factor`` times as long: a replay, which takes a few hundredths of a second."""
    from ...analysis.diagnosis import scaled as replays
    from ...analysis.steps.step_choice import TYPICAL, checked

    session = workspace.session(required(request, "run"))
    op, factor_text = required(request, "op"), required(request, "factor")
    try:
        factor = float(factor_text)
    except ValueError:
        raise parameter_error("factor", Message("factor={factor} is not a number.", factor=repr(factor_text))) from None
    steps = checked(request.args.get("steps", "") or TYPICAL)
    hosts = session.select(request.args.get("host", ""), step_event=request.args.get("step_event", ""))
    replay = replays.scaled(hosts, op, factor, steps)
    return responses.data_json(request, replay.as_json())
