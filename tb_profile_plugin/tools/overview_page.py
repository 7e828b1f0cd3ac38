"""The Summary: how long a step takes, where its time goes, and what to do first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..analysis.activity.states import CATEGORIES
from ..analysis.diagnosis import diagnose as diagnosis
from ..analysis.diagnosis.diagnose import diagnose
from ..analysis.diagnosis.findings import findings
from ..analysis.health import capture_health
from ..analysis.ops.device_ops import device_ops, is_training
from ..analysis.ops.host_ops import host_ops
from ..analysis.ops.op_costs import rates
from ..analysis.ops.op_table import OpTable, merged, uses_tf_data
from ..analysis.steps import step_evidence, step_time
from ..analysis.steps.step_choice import checked
from ..analysis.steps.step_time import by_category
from ..analysis.steps.typical_times import Typical
from ..analysis.tfdata import iterator_calls
from ..model import clock
from ..model.devices import plausible
from ..model.devices.capabilities import gpu_capabilities
from ..model.devices.properties import GPU, device_count, device_type, hardware_type, host_device_type, host_facts
from ..model.host import Host, HostWithSteps, run_window
from ..model.profiler_options import is_unrecorded
from ..model.session import Session
from ..runtime.messages import Message
from ..runtime.problems import AVERAGE, CLOCKS, DEVICE, HOST, SPREAD
from ..runtime.units import PS_PER_MS
from .answers.answer import Answer, Column, Keyed, Table, by_field
from .answers.tool import STEP_EVENT, tool
from .columns.findings import FINDINGS, finding_values
from .columns.op_costs import RATES, rate_values
from .columns.steps import (
    CHOICE,
    EXAMPLE_FACTS,
    STEP_CHOICES,
    STEP_FACTS,
    STEPS,
    example_values,
    headline,
    step_choices,
    step_facts,
    step_table,
)
from .columns.top_ops import TOP_OPS, TOP_SCOPES, top_ops, top_scopes


def _share(id: str, label: str, doc: str, *depends: str) -> Column:
    return Column(id, label, unit="share", doc=doc, depends=depends, compared=True)


_FACTS = (
    *STEP_FACTS,
    *EXAMPLE_FACTS,
    Column(
        "parts_ms",
        "Sum of the parts",
        unit="ms",
        doc="Time from the start of the typical step to the next; without steps, from the first to the last work.",
        depends=(AVERAGE,),
        compared=True,
    ),
    Column(
        "window_ms",
        "Captured",
        unit="ms",
        doc="Time from the first to the last event, without the profiler's own start and stop.",
        depends=(CLOCKS,),
    ),
    Column("hosts", "Hosts", doc="Number of machines in this session."),
    Column("tasks", "Tasks", doc="Number of captures in this session."),
    Column("hosts_shown", "Shown", "string", doc="Hosts that these figures cover."),
    Column("device_type", "Device", "string", doc="Accelerator that the capture names; CPU if none."),
    Column(
        "device_recorded",
        "Device recorded",
        "boolean",
        doc="Whether the capture holds events of its devices; blank if it names none.",
    ),
    Column(
        "device_cores",
        "Device cores",
        doc="Number of accelerators of all hosts, including unrecorded ones.",
    ),
    Column(
        "training",
        "Training",
        "boolean",
        doc="Whether the capture's XLA programs hold gradient ops.",
    ),
    _share(
        "device_busy_share",
        "Device busy",
        "Share of the capture in which anything runs on the device, as the union over its streams.",
        DEVICE,
    ),
    _share("device_idle_share", "Device idle", "Share of the capture in which nothing runs on the device.", DEVICE),
    _share("host_op_share", "Ops on the host", "Share of all op executions that ran on the host.", HOST),
    _share("device_op_share", "Ops on the device", "Share of all op executions that ran on a device.", DEVICE),
    _share(
        "host_eager_share",
        "Eager on the host",
        "Share of the host's op time in eager ops, outside of tf.function.",
        HOST,
    ),
    _share(
        "device_eager_share",
        "Eager on the device",
        "Share of the device's op time that eager ops launched.",
        DEVICE,
    ),
    _share("hbm_share", "HBM utilization", "Share of the memory bandwidth in use, as TPU captures state it."),
    *RATES,
    _share(
        "matrix_unit_share", "Matrix unit utilization", "Share of the matrix units in use, as TPU captures state it."
    ),
    _share(
        "compute_16_share",
        "16-bit compute",
        "Share of 16-bit work in device compute of known precision, from kernels' names and shapes.",
        DEVICE,
    ),
    _share(
        "compute_32_share",
        "32-bit compute",
        "Share of 32-bit work in device compute of known precision, from kernels' names and shapes.",
        DEVICE,
    ),
    _share(
        "compute_unknown_share",
        "Other compute",
        "Share of device compute with other or unknown precision.",
        DEVICE,
    ),
    Column("shared_steps", "Shared steps", doc="Number of steps that are complete on all hosts."),
    Column("hosts_compared", "Hosts compared", "string", doc="Which host was the slowest most often."),
)

_PARTS = Table(
    "parts",
    "Where the time goes",
    (
        Column("part", "Part", "string"),
        Column(
            "label", "Where the time goes", "string", texts=True, doc="Category of time; each moment has exactly one."
        ),
        Column(
            "average_ms",
            "Average",
            unit="ms",
            doc="Time of this category from the start of the typical step to the next; rows sum to the period.",
            depends=(AVERAGE,),
        ),
        Column("step_ms", "In the step", unit="ms", doc="Part of that time within the step.", depends=(AVERAGE,)),
        Column("between_ms", "Until the next", unit="ms", doc="Part of that time after the step.", depends=(AVERAGE,)),
        Column("share", "Share", unit="share", doc="Share of the time from step to step."),
        Column(
            "deviation_ms",
            "σ",
            unit="ms",
            doc="Sample standard deviation of the time in the step, over the typical steps.",
            depends=(SPREAD,),
        ),
        Column("minimum_ms", "Minimum", unit="ms", doc="Minimum of the time in the step, over the typical steps."),
        Column("maximum_ms", "Maximum", unit="ms", doc="Maximum of the time in the step, over the typical steps."),
        Column("doc", "Meaning", "string", texts=True),
    ),
    doc="Categories of the time from step to step. Device work comes first; host work counts while devices are idle.",
    keyed=Keyed("part", "label", means=("average_ms",)),
)

_HINTS = Table(
    "hints",
    "What to do next",
    FINDINGS,
    doc="What is worth doing, the largest first.",
)

_HOSTS = Table(
    "hosts",
    "Hosts",
    (
        Column("host", "Host", "string"),
        Column("steps", "Steps", doc="Number of complete steps on this host."),
        Column(
            "average_ms",
            "Average step",
            unit="ms",
            doc="Mean time of the complete steps on this host.",
            depends=(AVERAGE,),
        ),
        Column("slowest", "Slowest", doc="Number of shared steps that took longest on this host."),
    ),
    doc="Hosts and their steps; a step lasts as long as on its slowest host.",
    keyed=Keyed("host", means=("average_ms",), largest=True),
)

_GUIDES = Table(
    "guides",
    "Other useful resources",
    (Column("label", "Guide", "string", texts=True), Column("address", "Address", "string")),
)
_ADDRESSES = {
    Message("Find tf.data bottlenecks with the profiler"): "https://www.tensorflow.org/guide/data_performance_analysis",
    Message("Build faster tf.data pipelines"): "https://www.tensorflow.org/guide/data_performance",
}


_NEEDS = (
    *(*diagnosis.NEEDS, *capture_health.NEEDS, host_ops, device_ops, iterator_calls.pipelines),
    *(host_device_type, host_facts, is_training, step_evidence.candidates, gpu_capabilities, run_window, rates),
)


@tool(
    "Summary",
    group="Summary",
    order=0,
    params=[STEP_EVENT, CHOICE],
    facts=_FACTS,
    tables=(STEPS, STEP_CHOICES, _PARTS, _HINTS, TOP_OPS, TOP_SCOPES, _HOSTS, _GUIDES),
    needs=_NEEDS,
)
def overview_page(session: Session, hosts: Sequence[HostWithSteps], steps: str) -> Answer:
    """Why is my step slow, and what do I do about it?"""
    diagnosis = diagnose(hosts, checked(steps))
    times = diagnosis.typical.steps
    on_host, on_device = merged([host_ops(h) for h in hosts]), merged([device_ops(h) for h in hosts])
    tf_data = uses_tf_data(on_host)
    shared, host_rows = step_time.host_comparison(hosts)
    kind, notes = device_type(hosts), capture_health.findings(session, hosts)
    facts = {
        **step_facts(times, hosts, tf_data),
        **example_values(times),
        **_environment(hosts, kind),
        **_placement(on_host, on_device, hosts),
        **_precision(diagnosis.typical),
        **rate_values(hosts),
        "parts_ms": diagnosis.typical.period_ps / PS_PER_MS,
        "shared_steps": shared if host_rows else None,
        "hosts_compared": step_time.slowest_host_sentence(shared, host_rows) if host_rows else None,
    }
    tables: dict[str, dict[str, Sequence[Any]]] = {
        "steps": step_table(times, hosts),
        "step_choices": step_choices(hosts),
        "parts": _parts(diagnosis.typical),
        "top_ops": top_ops(on_host, on_device, hardware_type(kind) == GPU),
        "top_scopes": top_scopes(on_host, on_device),
        "hints": finding_values(findings(diagnosis, hosts, on_device)),
        "hosts": by_field(_HOSTS, host_rows),
        "guides": {"label": list(_ADDRESSES), "address": list(_ADDRESSES.values())},
    }
    return Answer(facts, tables, headline(diagnosis.headline, notes, "why"), notes)


def _environment(hosts: Sequence[Host], kind: str) -> dict[str, Any]:
    return {
        "window_ms": clock.duration(hosts, [run_window(host) for host in hosts]) / PS_PER_MS,
        "hosts": len({host.hostname for host in hosts}),
        "tasks": len(hosts),
        "hosts_shown": ", ".join(host.name for host in hosts),
        "device_type": kind,
        "device_cores": sum(device_count(host) for host in hosts),
        "device_recorded": not any(map(is_unrecorded, hosts)) if any(map(device_count, hosts)) else None,
        "training": is_training(hosts[-1]),
    }


def _placement(on_host: OpTable, on_device: OpTable, hosts: Sequence[Host]) -> dict[str, float | None]:
    both = on_host.occurrences + on_device.occurrences
    stated = [host_facts(host) for host in hosts]
    return {
        "device_busy_share": _of(on_device.busy_ps, on_device.window_ps),
        "device_idle_share": _of(on_device.idle_ps, on_device.window_ps),
        "host_op_share": _of(on_host.occurrences, both),
        "device_op_share": _of(on_device.occurrences, both) if any(map(device_count, hosts)) else None,
        "host_eager_share": _of(on_host.eager_ps, on_host.stated_ps),
        "device_eager_share": _of(on_device.eager_ps, on_device.stated_ps),
        "hbm_share": _stated(stated, "hbm_utilization_percent"),
        "matrix_unit_share": _stated(stated, "matrix_unit_utilization_percent"),
    }


def _stated(facts: Sequence[dict[str, Any]], name: str) -> float | None:
    """The mean over the hosts that state it, as far as it can be."""
    percents = [
        value
        for plane_facts in facts
        if name in plane_facts and (value := plausible.percent(plane_facts[name])) is not None
    ]
    return float(np.mean(percents)) / 100 if percents else None


def _precision(typical: Typical) -> dict[str, float | None]:
    half, single, rest = typical.precision_shares
    return {
        "compute_16_share": _of(half, half + single),
        "compute_32_share": _of(single, half + single),
        "compute_unknown_share": _of(rest, half + single + rest),
    }


def _of(part: float | None, total: float | None) -> float | None:
    return part / total if part is not None and total else None


def _parts(typical: Typical) -> dict[str, Sequence[Any]]:
    step, gap = by_category(typical.step_ps), by_category(typical.gap_ps)
    samples = typical.steps.by_category()[typical.steps.counted] / PS_PER_MS
    spreads = [step_time.summary(times) for times in samples.T]
    return {
        "part": [category.id for category in CATEGORIES],
        "label": [category.label for category in CATEGORIES],
        "average_ms": ((step + gap) / PS_PER_MS).tolist(),
        "step_ms": (step / PS_PER_MS).tolist(),
        "between_ms": (gap / PS_PER_MS).tolist(),
        "share": [_of(ps, typical.period_ps) for ps in (step + gap).tolist()],
        "deviation_ms": [spread.deviation for spread in spreads],
        "minimum_ms": [spread.minimum for spread in spreads],
        "maximum_ms": [spread.maximum for spread in spreads],
        "doc": [category.doc for category in CATEGORIES],
    }
