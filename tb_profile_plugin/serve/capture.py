"""Captures from the page: what may ask for one, and how far it is.

Captures write and connect to other machines, so a page of another site must not be able to start one: they take POST
with a header of our own, which browsers send to their own site only.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from werkzeug.exceptions import HTTPException
from werkzeug.wrappers import Request, Response

from ..problems import Problem, ProblemError
from ..store import Logdir, roots
from . import answers

if TYPE_CHECKING:
    from ..capture.address import Address
    from ..capture.job import Job
    from ..capture.options import Options
    from .desk import Desk

HIDE = "TB_PROFILE_HIDE_CAPTURE"
"""Environment variable that switches captures off, for TensorBoard, which knows no option of ours."""
HEADER = "X-TB-Profile"

PARAMETERS = (
    "service_addr",
    "is_tpu_name",
    "worker_list",
    "duration",
    "delay",
    "num_retry",
    "host_tracer_level",
    "device_tracer_level",
    "python_tracer_level",
    "run",
)
_OPTIONS = {"duration": "duration_ms", "delay": "delay_ms", "num_retry": "retries"}
"""The routes' names of options that are named otherwise inside."""
_FIELDS = {"addresses": "service_addr", **{name: field for field, name in _OPTIONS.items()}}
_MOST_BYTES = 64 << 10
_YES = frozenset({"1", "true", "yes", "on"})


class Captures:
    """The captures of one server: one at a time."""

    def __init__(self, logdir: Logdir, hidden: bool = False):
        """Hidden ones are refused."""
        self.hidden = hidden or os.environ.get(HIDE, "").lower() in _YES
        self._logdir = logdir
        self._lock = threading.Lock()
        self._job: Job | None = None
        self._number = 0
        self._asked: dict[Path | str, Options] = {}

    def start(self, values: Mapping[str, str]) -> Job:
        """Begin one; raises `ProblemError` for values that make none, and (409) while another runs."""
        from ..capture.job import Job
        from ..capture.options import read

        found = roots(self._logdir.spec)
        if not found or "://" in found[0].path:
            remedy = "Start it with a logdir on this machine."
            raise ProblemError(Problem("no_logdir", "This server has no folder to write to.", remedy), 409)
        names = {*PARAMETERS[3:-1]} & {name for name, value in values.items() if value}
        options = read({_OPTIONS.get(name, name): values[name] for name in names})
        job = Job(addresses(values), options, found[0].path, values.get("run", ""))
        with self._lock:
            if self._job and not self._job.wait(0):
                remedy = "Wait for its end, or stop it."
                raise ProblemError(Problem("capturing", "This server is capturing already.", remedy), 409)
            self._job = job
            self._number += 1
            self._asked[job.target.folder] = options
            job.start()
        return job

    def stop(self) -> None:
        """End the running one, which keeps what it has; nothing where none runs."""
        if self._job:
            self._job.stop()

    def state(self) -> dict[str, Any]:
        """The latest capture, its session named once the logdir shows it."""
        job = self._job
        if job is None:
            return {"id": 0, "job": None}
        return {"id": self._number, "job": {**job.state(), "session": self._session(job)}}

    def asked(self, folder: Path | str) -> Options | None:
        """What was asked for when the session in that folder was captured here."""
        return self._asked.get(folder)

    def _session(self, job: Job) -> str:
        if not job.wait(0):
            return ""
        sessions = self._logdir.sessions()
        return next((stored.name for stored in sessions if stored.folder == job.target.folder), "")


def addresses(values: Mapping[str, str]) -> tuple[Address, ...]:
    """The workers that are asked for; raises `ProblemError`."""
    from ..capture import address, tpu

    text = values.get("service_addr", "")
    if values.get("is_tpu_name", "").lower() in _YES:
        return tpu.resolve(text)
    # With a list of workers, the older plugin's address is that of a coordinator, which has nothing to record.
    return address.parse(values.get("worker_list") or text)


def _values(desk: Desk, request: Request) -> dict[str, str]:
    """The parameters of a request that may capture: from the query, a form or JSON; raises `ProblemError`."""
    if desk.captures.hidden:
        remedy = "Whoever runs the server can allow it, or capture with tb-profile capture."
        raise ProblemError(Problem("capture_hidden", "Captures are switched off on this server.", remedy), 403)
    _refuse_strangers(request)
    request.max_content_length = request.max_form_memory_size = _MOST_BYTES
    try:
        body = json.loads(request.get_data()) if request.is_json else request.form.to_dict()
        values = {**request.args.to_dict(), **body}
    except HTTPException as error:
        raise ProblemError(Problem("too_large", "The request is too large.", "Send less."), 413) from error
    except (ValueError, TypeError, RecursionError) as error:
        raise ProblemError(Problem("bad_body", "The body is no JSON object.", "Send an object or a form.")) from error
    unknown = sorted(set(values) - set(PARAMETERS))
    if unknown:
        remedy = f"There are: {', '.join(PARAMETERS)}."
        raise ProblemError(Problem("unknown_option", f"There is no parameter {unknown[0]!r}.", remedy, unknown[0]))
    return {name: str(value) for name, value in values.items()}


def _refuse_strangers(request: Request) -> None:
    site = request.headers.get("Sec-Fetch-Site", "")
    origin = request.headers.get("Origin", "")
    # A proxy that rewrites the host says so; no other site's page can.
    hosts = {request.host, request.headers.get("X-Forwarded-Host", "")} - {""}
    foreign = site != "same-origin" if site else bool(origin) and urlsplit(origin).netloc not in hosts
    if foreign:
        remedy = "Open the page from this server."
        raise ProblemError(Problem("foreign_origin", "Captures are started from this server's pages.", remedy), 403)
    if HEADER not in request.headers:
        raise ProblemError(
            Problem("missing_header", "The request could come from any site.", f"Send the header {HEADER}: 1."), 403
        )


def _named(error: ProblemError) -> ProblemError:
    """The same, its `where` naming the parameter as the routes do."""
    where = error.problem.where
    return ProblemError(replace(error.problem, where=_FIELDS.get(where, where)), error.status)


def start(desk: Desk, request: Request) -> Response:
    """Begin a capture and say how far it is."""
    values = _values(desk, request)
    try:
        desk.captures.start(values)
    except ProblemError as error:
        raise _named(error) from error
    return answers.data_json(request, desk.captures.state())


def state(desk: Desk, request: Request) -> Response:
    """How far the latest capture is."""
    return answers.data_json(request, desk.captures.state())


def stop(desk: Desk, request: Request) -> Response:
    """End the running capture."""
    _values(desk, request)
    desk.captures.stop()
    return answers.data_json(request, desk.captures.state())


def ping(desk: Desk, request: Request) -> Response:
    """Whether profilers answer."""
    from ..capture.job import ping as ask

    values = _values(desk, request)
    try:
        asked = addresses(values)
    except ProblemError as error:
        raise _named(error) from error
    found = zip(asked, ask(asked), strict=True)
    workers = [{"address": str(each), "problem": problem and problem.as_json()} for each, problem in found]
    return answers.data_json(request, {"workers": workers})


def capture_profile(desk: Desk, request: Request) -> Response:
    """Capture, and answer at its end as the older plugin does."""
    values = _values(desk, request)
    try:
        job = desk.captures.start(values)
        job.wait()
        if job.problem:
            raise ProblemError(job.problem, 500)
    except ProblemError as error:
        problem = _named(error).problem
        return answers.data_json(request, {**problem.as_json(), "error": str(problem)}, error.status)
    result = "Capture profile successfully. Please refresh."
    return answers.data_json(request, {"result": result, "run": job.target.run, "workers": job.state()["workers"]})


def differences(desk: Desk, folder: Path | str, recorded: Mapping[str, Mapping[str, int]]) -> list[Problem]:
    """Where a capture made here was not made as asked for; `recorded` are the levels in effect by host."""
    asked = desk.captures.asked(folder)
    found = []
    for host, levels in recorded.items() if asked else ():
        ignored = {name: level for name, level in levels.items() if level != getattr(asked, name)}
        for name, level in ignored.items():
            message = f"The {name.replace('_', ' ')} was {level}, though {getattr(asked, name)} was asked for."
            remedy = "The program's profiler decides; a newer version of its framework may take it."
            found.append(Problem("not_as_asked", message, remedy, host, "warning"))
    return found


def doctor(desk: Desk, request: Request) -> Response:
    """The findings about this machine and the logdir."""
    from ..capture import doctor as checks

    survey = desk.logdir.survey()
    captures = sum(len(stored.files) for stored in survey.sessions)
    found = [*checks.machine(), *checks.logdir(survey.searched, captures, survey.near_misses)]
    return answers.data_json(request, [problem.as_json() for problem in found])
