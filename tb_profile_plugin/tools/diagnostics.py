"""Diagnostics: what the reader must know before trusting a page's figures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..analysis import between
from ..model.devices import host_device_type
from ..model.host import Host
from ..model.session import Session
from ..problems import Problem
from .base import Column, DataTable

_MARK_STEPS = (
    "Mark them: tf.profiler.experimental.Trace('train', step_num=n, _r=1), jax.profiler.StepTraceAnnotation, "
    "or Keras' TensorBoard(profile_batch=...)."
)


def diagnostics(session: Session, hosts: Sequence[Host], step_event: str = "") -> DataTable:
    """Severity (``INFO``, ``WARNING``, ``ERROR``) and message, remedy included, in that order of severity."""
    found = dict.fromkeys(
        [*session.problems(), *_of_steps(hosts, step_event), *_of_input(hosts, step_event), *_of_devices(hosts)]
    )
    order = {"info": 0, "warning": 1, "error": 2}
    rows = [[p.severity.upper(), str(p)] for p in sorted(found, key=lambda p: order.get(p.severity, 2))]
    return DataTable([Column("severity", "Severity", "string"), Column("message", "Message", "string")], rows)


def _of_steps(hosts: Sequence[Host], step_event: str) -> Iterator[Problem]:
    for host in hosts:
        steps = host.steps_named(step_event)
        if not len(steps):
            message = "No step was found, so figures cover the whole capture."
            yield Problem("no_steps", message, _MARK_STEPS, host.name, "warning")
        elif not steps.complete.all():
            count = int((~steps.complete).sum())
            message = f"{count} of {len(steps)} steps are cut by the capture's start or end and left out of averages."
            yield Problem("incomplete_steps", message, "", host.name, "warning")


def _of_input(hosts: Sequence[Host], step_event: str) -> Iterator[Problem]:
    waits = between.worst(hosts, step_event)
    if waits:
        message = (
            f"The loop waits {waits.average_ms:.3g} ms per step for its input outside the marks of its steps, "
            f"{100 * waits.share:.0f} % of its time: step times leave that out."
        )
        remedy = "Take the batch inside the mark: with Trace('train', step_num=n, _r=1): train(next(batches))."
        yield Problem("input_outside_steps", message, remedy, waits.host, "warning")


def _of_devices(hosts: Sequence[Host]) -> Iterator[Problem]:
    for host in hosts:
        if host.gpus and not host.devices:
            message = (
                f"The capture names a device ({host_device_type(host)}) but holds no event of it; steps are the host's."
            )
            remedy = "Look for a failed CUPTI among the errors, and capture again."
            yield Problem("no_device_events", message, remedy, host.name, "warning")
