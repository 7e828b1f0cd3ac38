"""The Summary: how long a step takes, where its time goes, and what to do first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..analysis.activity.states import CATEGORIES, WORK_STATES
from ..analysis.diagnosis.diagnose import NEEDS as DIAGNOSIS_NEEDS
from ..analysis.diagnosis.diagnose import diagnose
from ..analysis.diagnosis.findings import findings
from ..analysis.diagnosis.rules import kernel_times
from ..analysis.health import capture_health
from ..analysis.ops.device_ops import device_ops
from ..analysis.ops.host_ops import host_ops
from ..analysis.ops.op_costs import rates
from ..analysis.ops.op_table import OpTable, merged, uses_tf_data
from ..analysis.statistics import summary
from ..analysis.steps import step_coverage
from ..analysis.steps.choice_names import checked_choice
from ..analysis.steps.step_time import by_category
from ..analysis.steps.typical_times import Typical
from ..analysis.tfdata import iterator_calls
from ..analysis.workers.slowest_host import host_comparison, slowest_host_sentence
from ..model import clock
from ..model.devices import plausible
from ..model.devices.capabilities import gpu_capabilities
from ..model.devices.properties import GPU, device_count, device_type, hardware_type, host_device_type, host_facts
from ..model.framework import TENSORFLOW, framework, is_training
from ..model.host import Host, HostWithSteps, run_window
from ..model.profiler_options import is_unrecorded
from ..model.session import Session
from ..runtime.messages import Message
from ..runtime.problems import AVERAGE, CLOCKS, DEVICE, HOST, SPREAD
from ..runtime.units import PS_PER_MS
from .answers.answer import Answer, Column, Keyed, Table, by_field, flag, number, ratio, text
from .answers.tool import STEP_EVENT, tool
from .columns.findings import FINDINGS, finding_values
from .columns.op_costs import RATES, rate_values
from .columns.steps import (
    EXAMPLE_FACTS,
    STEP_CHOICES,
    STEP_FACTS,
    STEPS,
    STEPS_PARAM,
    example_values,
    headline,
    step_choice_columns,
    step_columns,
    step_facts,
)
from .columns.top_ops import TOP_OPS, TOP_SCOPES, top_ops, top_scopes


def _share_column(id: str, label: str, doc: str, *depends: str) -> Column:
    return number(id, label, "share", doc, *depends, compared=True)


_FACTS = (
    *STEP_FACTS,
    *EXAMPLE_FACTS,
    number(
        "parts_ms",
        "Sum of the parts",
        "ms",
        "Time from the start of the typical step to the next; without steps, from the first to the last work.",
        AVERAGE,
        compared=True,
    ),
    number("parts_in_step_ms", "In the step", "ms", "Part of that time within the step.", AVERAGE),
    text("parts_without", "Left out", "The straggler, whose time the step's parts do not hold; blank without one."),
    number(
        "window_ms",
        "Captured",
        "ms",
        "Time from the first to the last event, without the profiler's own start and stop.",
        CLOCKS,
    ),
    number("hosts", "Machines", doc="Number of machines in this session."),
    number("tasks", "Hosts", doc="Number of hosts in this session: machines or processes with a capture of their own."),
    text("hosts_shown", "Shown", "Hosts that these figures cover."),
    text("device_type", "Device", "Accelerator that the capture names; CPU if none."),
    flag(
        "device_recorded", "Device recorded", "Whether the capture holds events of its devices; blank if it names none."
    ),
    number("device_cores", "Device cores", doc="Number of accelerators of all hosts, including unrecorded ones."),
    flag("training", "Training", "Whether the capture's XLA programs hold gradient ops."),
    _share_column(
        "device_busy_share",
        "Device busy",
        "Share of the time from step to step in which anything runs on a device; of the recorded time without steps.",
        DEVICE,
    ),
    _share_column(
        "device_idle_share",
        "Device idle",
        "Share of the time from step to step in which nothing runs on any device; of the recorded time without steps.",
        DEVICE,
    ),
    _share_column("host_op_share", "Ops on the host", "Share of all op executions that ran on the host.", HOST),
    _share_column("device_op_share", "Ops on the device", "Share of all op executions that ran on a device.", DEVICE),
    _share_column(
        "host_eager_share",
        "Eager on the host",
        "Share of the host's op time in eager ops, outside of tf.function; blank without TensorFlow.",
        HOST,
    ),
    _share_column(
        "device_eager_share",
        "Eager on the device",
        "Share of the device's op time that eager ops launched; blank without TensorFlow.",
        DEVICE,
    ),
    _share_column("hbm_share", "HBM utilization", "Share of the memory bandwidth in use, as TPU captures state it."),
    *RATES,
    _share_column(
        "matrix_unit_share", "Matrix unit utilization", "Share of the matrix units in use, as TPU captures state it."
    ),
    _share_column(
        "compute_16_share",
        "16-bit compute",
        "Share of 16-bit work in device compute of known precision, from kernels' names and shapes.",
        DEVICE,
    ),
    _share_column(
        "compute_32_share",
        "32-bit compute",
        "Share of 32-bit work in device compute of known precision, from kernels' names and shapes.",
        DEVICE,
    ),
    _share_column(
        "compute_unknown_share", "Other compute", "Share of device compute with other or unknown precision.", DEVICE
    ),
    number("shared_steps", "Shared steps", doc="Number of steps that are complete on all hosts."),
    text("hosts_compared", "Hosts compared", "Which host was the slowest most often."),
)

_PARTS = Table(
    "parts",
    "Where the time goes",
    (
        text("part", "Part"),
        text("label", "Where the time goes", "Category of time; each moment has exactly one.", translated=True),
        number(
            "average_ms",
            "Average",
            "ms",
            "Time of this category from the start of the typical step to the next; rows sum to the period.",
            AVERAGE,
        ),
        number("step_ms", "In the step", "ms", "Part of that time within the step.", AVERAGE),
        number("between_ms", "Until the next", "ms", "Part of that time after the step.", AVERAGE),
        number("share", "Share", "share", "Share of the time from step to step."),
        number(
            "deviation_ms",
            "σ",
            "ms",
            "Sample standard deviation of the time in the step, over the typical steps.",
            SPREAD,
        ),
        number("minimum_ms", "Minimum", "ms", "Minimum of the time in the step, over the typical steps."),
        number("maximum_ms", "Maximum", "ms", "Maximum of the time in the step, over the typical steps."),
        text("doc", "Meaning", translated=True),
    ),
    doc="Categories of the time from step to step. Device work comes first; host work counts while devices are idle.",
    keyed=Keyed("part", "label", means=("average_ms",)),
)

_HINTS = Table("hints", "What to do next", FINDINGS, doc="What is worth doing, the largest first.")

_HOSTS = Table(
    "hosts",
    "Hosts",
    (
        text("host", "Host"),
        number("steps", "Steps", doc="Number of complete steps on this host."),
        number("average_ms", "Average step", "ms", "Mean time of the complete steps on this host.", AVERAGE),
        number("slowest", "Slowest", doc="Number of shared steps that took longest on this host, by more than 2 %."),
    ),
    doc="Hosts and their steps; a step lasts as long as on its slowest host.",
    keyed=Keyed("host", means=("average_ms",), only_largest=True),
)

_GUIDES = Table(
    "guides", "Other useful resources", (text("label", "Guide", translated=True), text("address", "Address"))
)
_GUIDE_ADDRESSES = {
    Message("Find tf.data bottlenecks with the profiler"): "https://www.tensorflow.org/guide/data_performance_analysis",
    Message("Build faster tf.data pipelines"): "https://www.tensorflow.org/guide/data_performance",
}


_NEEDS = (
    *(*DIAGNOSIS_NEEDS, *capture_health.NEEDS, host_ops, device_ops, kernel_times, iterator_calls.pipelines),
    *(host_device_type, host_facts, is_training, step_coverage.candidates, gpu_capabilities, run_window, rates),
)


@tool(
    "Summary",
    group="Summary",
    order=0,
    params=[STEP_EVENT, STEPS_PARAM],
    facts=_FACTS,
    tables=(STEPS, STEP_CHOICES, _PARTS, _HINTS, TOP_OPS, TOP_SCOPES, _HOSTS, _GUIDES),
    needs=_NEEDS,
)
def overview_page(session: Session, hosts: Sequence[HostWithSteps], steps: str) -> Answer:
    """Why is my step slow, and what do I do about it?"""
    diagnosis = diagnose(hosts, checked_choice(steps))
    step_times = diagnosis.typical.steps
    on_host, on_device = merged([host_ops(h) for h in hosts]), merged([device_ops(h) for h in hosts])
    tf_data = uses_tf_data(on_host)
    shared_steps, host_rows = host_comparison(hosts)
    device, notes = device_type(hosts), capture_health.findings(session, hosts)
    facts = {
        **step_facts(step_times, hosts, tf_data),
        **example_values(step_times),
        **_environment_facts(hosts, device),
        **_busy_facts(diagnosis.typical, on_device),
        **_placement_facts(on_host, on_device, hosts),
        **_precision_facts(diagnosis.typical),
        **rate_values(hosts),
        "parts_ms": diagnosis.typical.period_ps / PS_PER_MS,
        "parts_in_step_ms": float(diagnosis.typical.step_ps.sum()) / PS_PER_MS,
        "parts_without": _without_straggler(diagnosis.typical),
        "shared_steps": shared_steps if host_rows else None,
        "hosts_compared": slowest_host_sentence(shared_steps, host_rows) if host_rows else None,
    }
    tables: dict[str, dict[str, Sequence[Any]]] = {
        "steps": step_columns(step_times, hosts),
        "step_choices": step_choice_columns(hosts),
        "parts": _part_columns(diagnosis.typical),
        "top_ops": top_ops(on_host, on_device, is_gpu=hardware_type(device) == GPU),
        "top_scopes": top_scopes(on_host, on_device),
        "hints": finding_values(findings(diagnosis, hosts, on_device), diagnosis.typical.period_ps),
        "hosts": by_field(_HOSTS, host_rows),
        "guides": {"label": list(_GUIDE_ADDRESSES), "address": list(_GUIDE_ADDRESSES.values())},
    }
    return Answer(facts, tables, headline(diagnosis.headline, notes, "why"), notes)


def _environment_facts(hosts: Sequence[Host], device: str) -> dict[str, Any]:
    return {
        "window_ms": clock.duration(hosts, [run_window(host) for host in hosts]) / PS_PER_MS,
        "hosts": len({host.hostname for host in hosts}),
        "tasks": len(hosts),
        "hosts_shown": ", ".join(host.name for host in hosts),
        "device_type": device,
        "device_cores": sum(device_count(host) for host in hosts),
        "device_recorded": not any(map(is_unrecorded, hosts)) if any(map(device_count, hosts)) else None,
        "training": is_training(hosts[-1]),
    }


def _busy_facts(typical: Typical, on_device: OpTable) -> dict[str, float | None]:
    """Of the same time as the parts of the step; None where no device recorded anything."""
    busy = typical.share(*WORK_STATES) if on_device.busy_ps and typical.period_ps else None
    return {"device_busy_share": busy, "device_idle_share": None if busy is None else 1 - busy}


def _placement_facts(on_host: OpTable, on_device: OpTable, hosts: Sequence[Host]) -> dict[str, float | None]:
    op_count = on_host.occurrences + on_device.occurrences
    facts = [host_facts(host) for host in hosts]
    has_tensorflow = any(framework(host) == TENSORFLOW for host in hosts)
    return {
        "host_op_share": ratio(on_host.occurrences, op_count),
        "device_op_share": ratio(on_device.occurrences, op_count) if any(map(device_count, hosts)) else None,
        "host_eager_share": ratio(on_host.eager_ps, on_host.self_ps) if has_tensorflow else None,
        "device_eager_share": ratio(on_device.eager_ps, on_device.self_ps) if has_tensorflow else None,
        "hbm_share": _mean_stated_share(facts, "hbm_utilization_percent"),
        "matrix_unit_share": _mean_stated_share(facts, "matrix_unit_utilization_percent"),
    }


def _mean_stated_share(facts: Sequence[dict[str, Any]], name: str) -> float | None:
    """The mean over the hosts that state a plausible percentage under that name; None where none does."""
    percents = [plausible.percent(facts_of_host[name]) for facts_of_host in facts if name in facts_of_host]
    plausible_percents = [percent for percent in percents if percent is not None]
    return float(np.mean(plausible_percents)) / 100 if plausible_percents else None


def _precision_facts(typical: Typical) -> dict[str, float | None]:
    half_share, single_share, unknown_share = typical.precision_shares
    return {
        "compute_16_share": ratio(half_share, half_share + single_share),
        "compute_32_share": ratio(single_share, half_share + single_share),
        "compute_unknown_share": ratio(unknown_share, half_share + single_share + unknown_share),
    }


def _without_straggler(typical: Typical) -> Message | None:
    """Whose time the parts do not hold."""
    late = typical.late_peer
    return Message("The mean step is of the workers that wait for {host}.", host=late.host) if late else None


def _part_columns(typical: Typical) -> dict[str, Sequence[Any]]:
    step_ps, between_ps = by_category(typical.step_ps), by_category(typical.between_ps)
    samples = typical.steps.by_category()[typical.steps.counted] / PS_PER_MS
    spreads = [summary(times) for times in samples.T]
    return {
        "part": [category.id for category in CATEGORIES],
        "label": [category.label for category in CATEGORIES],
        "average_ms": ((step_ps + between_ps) / PS_PER_MS).tolist(),
        "step_ms": (step_ps / PS_PER_MS).tolist(),
        "between_ms": (between_ps / PS_PER_MS).tolist(),
        "share": [ratio(ps, typical.period_ps) for ps in (step_ps + between_ps).tolist()],
        "deviation_ms": [spread.deviation for spread in spreads],
        "minimum_ms": [spread.minimum for spread in spreads],
        "maximum_ms": [spread.maximum for spread in spreads],
        "doc": [category.doc for category in CATEGORIES],
    }
