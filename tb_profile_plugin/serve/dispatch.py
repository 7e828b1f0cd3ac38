"""The WSGI callable that answers requests by a list of routes; `app` has one with all of them."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from traceback import clear_frames
from typing import TYPE_CHECKING

from werkzeug.wrappers import Request, Response

from ..runtime import cancellation
from ..runtime.messages import Message, use_language
from ..runtime.problems import Problem, ProblemError, problem_error
from ..runtime.terminal import printable
from ..store import Logdir
from . import responses
from .access import HostGate, refuse_cross_site
from .client import Client
from .routes.query import LANGUAGE_PARAMETER
from .routes.table import ROUTES, Route
from .workspace import Workspace

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

    from ..model.session import Session

logger = logging.getLogger(__name__)

_CLIENT_GONE = Problem("abandoned", "The client disconnected before the answer was ready.", "Try again.")
"""The answer to a client that has gone: only a proxy's log shows it."""


class Dispatcher:
    """Answers routes for one logdir, below a prefix of the path."""

    routes: tuple[Route, ...] = ROUTES

    def __init__(
        self,
        logdir: Logdir,
        prefix: str = "",
        hide_capture: bool = False,
        gate: HostGate | None = None,
        keep: bool = True,
        executor: str = "",
    ):
        """The prefix begins with a slash and does not end with one, e.g. ``/data/plugin/profile``.

        Without a gate, whoever calls this application has decided which names are this server's.
        """
        self._logdir = logdir
        self._workspace = Workspace(logdir, hide_capture, keep, executor)
        self._prefix = prefix
        self._gate = gate

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer one request; whatever goes wrong is told as a problem in JSON."""
        if self._prefix:
            path = environ.get("PATH_INFO", "")
            script_name = environ.get("SCRIPT_NAME", "") + self._prefix
            environ = {**environ, "SCRIPT_NAME": script_name, "PATH_INFO": path.removeprefix(self._prefix)}
        # A request noted in the `environ` that it holds would be a cycle, and live until the garbage collector runs.
        request = Request(environ, populate_request=False)
        client = Client(environ)
        with use_language(request.args.get(LANGUAGE_PARAMETER, "")):
            try:
                with cancellation.wanted_while(client.is_waiting):
                    response = self._answer(request)
            except (Exception, cancellation.Cancelled) as error:
                response = _problem_response(request, error)
                # Others who wait for the same get this error object; its frames would keep their local values alive.
                clear_frames(error.__traceback__)
        return client.with_deadlines(response(environ, start_response))

    def session(self, run: str) -> Session:
        """The session of that name, as the routes know it; raises `ProblemError` (404) for an unknown one."""
        return self._workspace.session(run)

    def answer(self, path: str, query: Mapping[str, str]) -> bytes:
        """The body of the answer at a path, without a server; raises `ProblemError` where that is a problem."""
        # Only reports ask this way, and servers start without it.
        from werkzeug.test import EnvironBuilder

        environ = EnvironBuilder(path, query_string=query).get_environ()
        return self._answer(Request(environ, populate_request=False)).get_data()

    def find_sessions(self) -> None:
        """Look for sessions now, so that who asks later need not wait for it."""
        self._logdir.survey()

    def _answer(self, request: Request) -> Response:
        if self._gate:
            self._gate.check(request)
        refuse_cross_site(request)
        route = find_route(self.routes, request.path)
        if request.method not in (("GET", "HEAD") if route.method == "GET" else (route.method,)):
            remedy = Message("Send {method}.", method=route.method)
            raise problem_error(
                "method", Message("{method} is not allowed here.", method=request.method), remedy, status=405
            )
        return route.answer(self._workspace, request)


def _problem_response(request: Request, error: BaseException) -> Response:
    if isinstance(error, cancellation.Cancelled):
        return responses.problem(request, _CLIENT_GONE, 503)
    if isinstance(error, ProblemError):
        return responses.problem(request, error.problem, error.status)
    logger.error("No answer to %s", printable(request.full_path), exc_info=error)
    return responses.problem(request, Problem("internal", "The server failed.", "Check the server's log."), 500)


def find_route(routes: Sequence[Route], path: str) -> Route:
    """The route of a path; raises `ProblemError` (404) where there is none."""
    for route in routes:
        is_folder = route.path.endswith("/*")
        if path.startswith(route.path[:-1]) if is_folder else path == route.path:
            return route
    remedy = Message("There are: {routes}.", routes=", ".join(route.path for route in routes))
    raise problem_error("no_such_route", Message("Nothing exists at {path}.", path=repr(path)), remedy, status=404)
