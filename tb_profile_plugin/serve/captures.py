"""Captures that the server's pages start: one at a time, into its logdir."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..runtime import settings
from ..runtime.messages import Message
from ..runtime.problems import problem_error
from ..store import Logdir, roots

if TYPE_CHECKING:
    from ..capture.address import Address
    from ..capture.job import Job
    from ..capture.options import Options

ADDRESS_PARAMETERS = ("service_addr", "is_tpu_name", "worker_list")
_OPTION_PARAMETERS = (
    *("duration", "delay", "num_retry"),
    *("host_tracer_level", "device_tracer_level", "python_tracer_level"),
)
PARAMETERS = (*ADDRESS_PARAMETERS, *_OPTION_PARAMETERS, "run")
"""What the routes that capture take; the existing plugin's scripts send them, too."""
OPTION_BY_PARAMETER = {"duration": "duration_ms", "delay": "delay_ms", "num_retry": "retries"}
"""Options of `capture.options` whose parameters have other names."""
_YES = frozenset({"1", "true", "yes", "on"})


class Captures:
    """Starts captures, and knows their options and how far the latest one is."""

    def __init__(self, logdir: Logdir, hidden: bool = False):
        """Where they are hidden, the routes refuse to capture."""
        self.hidden = hidden or settings.read(settings.HIDE_CAPTURE).lower() in _YES
        self._logdir = logdir
        self._lock = threading.Lock()
        self._job: Job | None = None
        self._start_count = 0
        """How many were started."""
        self._options_by_folder: dict[Path | str, Options] = {}

    def start(self, values: Mapping[str, str]) -> Job:
        """Begin a capture, given `PARAMETERS`; raises `ProblemError` for bad values, and (409) while another runs."""
        from ..capture.job import Job
        from ..capture.options import read as read_options

        folders = roots(self._logdir.spec)
        if not folders or "://" in folders[0].path:
            remedy = Message("Start the server with a logdir on this machine.")
            raise problem_error("no_logdir", "This server has no folder to write to.", remedy, status=409)
        options = read_options(
            {OPTION_BY_PARAMETER.get(name, name): values[name] for name in _OPTION_PARAMETERS if values.get(name)}
        )
        job = Job(addresses(values), options, folders[0].path, values.get("run", ""))
        with self._lock:
            if self._job and not self._job.is_over:
                remedy = Message("Wait until the capture ends, or stop it.")
                raise problem_error("capturing", "This server is already capturing.", remedy, status=409)
            self._job = job
            self._start_count += 1
            self._options_by_folder[job.target.folder] = options
            job.start()
        return job

    def stop(self) -> None:
        """End the running capture, which keeps what it has; does nothing where none runs."""
        with self._lock:
            job = self._job
        if job:
            job.stop()

    def state(self) -> dict[str, Any]:
        """The number and state of the latest capture, with its session once the logdir lists that."""
        with self._lock:
            job, number = self._job, self._start_count
        if job is None:
            return {"id": 0, "job": None}
        return {"id": number, "job": {**job.state(), "session": self._session(job)}}

    def options_of(self, folder: Path | str) -> Options | None:
        """The options of the capture into that folder; None where this server did not capture it."""
        return self._options_by_folder.get(folder)

    def _session(self, job: Job) -> str:
        if not job.is_over:
            return ""
        sessions = self._logdir.sessions()
        return next((stored.name for stored in sessions if job.target.folder in stored.folders), "")


def addresses(parameters: Mapping[str, str]) -> tuple[Address, ...]:
    """The workers that `ADDRESS_PARAMETERS` name; raises `ProblemError` for addresses that cannot be read."""
    from ..capture import address, tpu

    text = parameters.get("service_addr", "")
    if parameters.get("is_tpu_name", "").lower() in _YES:
        return tpu.resolve(text)
    # With a list of workers, the older plugin's address is that of a coordinator, which has nothing to record.
    return address.parse(parameters.get("worker_list") or text)
