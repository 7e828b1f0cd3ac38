"""Figures as tests compare them: whole microseconds by the names that pages show, nothing where there is nothing."""

from collections import Counter
from typing import Any

from tb_profile_plugin.analysis.activity.states import State
from tb_profile_plugin.analysis.ops.op_table import OpTable
from tb_profile_plugin.analysis.steps import step_time
from tb_profile_plugin.compat.step_account.bottlenecks import Bottleneck, bottlenecks
from tb_profile_plugin.compat.step_account.parts import COMMUNICATION, INPUT, Part
from tb_profile_plugin.compat.step_account.steps import parts_of
from tb_profile_plugin.model.host import HostWithSteps

OLD_PARTS = {
    "compile": (Part.COMPILE,),
    "input": INPUT,
    "output": (Part.OUTPUT,),
    "kernel_launch": (Part.KERNEL_LAUNCH,),
    "host_compute": (Part.HOST_COMPUTE,),
    "device_to_device": (Part.DEVICE_TO_DEVICE,),
    "host_offload": (Part.HOST_OFFLOAD,),
    "collectives": COMMUNICATION,
    "device_compute_16": (Part.COMPUTE_16,),
    "device_compute_32": (Part.COMPUTE_32,),
    "device_compute_other": (Part.COMPUTE_OTHER,),
    "unrecorded": (Part.UNRECORDED,),
    "waiting": (Part.WAITING,),
    "python": (Part.PYTHON,),
    "other": (Part.OTHER,),
}
"""The parts that the old shapes are sums of."""


def steps(*hosts: HostWithSteps, event: str = "") -> list[dict[str, Any]]:
    """Each step: its name, its time and its old parts in µs; parts of 0 are left out."""
    chosen_hosts = [host.with_steps(event) for host in hosts]
    times = step_time.slowest_steps(chosen_hosts)
    part_ps = parts_of(times, chosen_hosts)
    answer = []
    for i, name in enumerate(times.name):
        parts = {id: int(part_ps[i, list(parts)].sum()) / 1e6 for id, parts in OLD_PARTS.items()}
        row = {"name": name, "time": times.duration_ps[i] / 1e6}
        answer.append(row | {key: round(value, 6) for key, value in parts.items() if value})
    return answer


def names(host: HostWithSteps) -> list[str]:
    """Of the steps."""
    return host.steps.name


def ops(table: OpTable) -> dict[str, tuple[int, float, float]]:
    """By name: occurrences, total and self time in µs."""
    return {op.name: (op.occurrences, op.total_ps / 1e6, op.self_ps / 1e6) for op in table.ops}


def states(*hosts: HostWithSteps, event: str = "") -> list[dict[str, float]]:
    """Each step: the states that it consists of, by name, in µs; states of 0 are left out."""
    rows = step_time.slowest_steps(hosts, event).state_ps.tolist()
    return [{State(state).name: ps / 1e6 for state, ps in enumerate(row) if ps} for row in rows]


def judged(*hosts: HostWithSteps, uses_tf_data: bool = False) -> dict[str, Bottleneck]:
    """The old classification of their steps."""
    times = step_time.slowest_steps(hosts)
    return bottlenecks(parts_of(times, hosts)[times.counted], uses_tf_data)


def facts(answer: dict[str, Any]) -> dict[str, Any]:
    """Values of a named answer's facts."""
    return {name: fact["value"] for name, fact in answer["facts"].items()}


def column(answer: dict[str, Any], table: str, name: str) -> list[Any]:
    """Values of a column of a named answer's table."""
    return next(each["values"] for each in answer["tables"][table]["columns"] if each["id"] == name)


def rows(table: dict[str, Any], *columns: str) -> list[tuple[Any, ...]]:
    """Cells of a DataTable's JSON, of these columns or of all."""
    ids = [column["id"] for column in table["cols"]]
    places = [ids.index(column) for column in columns or ids]
    return [tuple(row["c"][place]["v"] for place in places) for row in table["rows"]]


def figures(answer: Any, found: Counter[Any]) -> None:
    """Numbers of a tool's answer, those of one row together."""
    if isinstance(answer, dict) and not any(isinstance(value, dict | list) for value in answer.values()):
        found[tuple(value for value in answer.values() if isinstance(value, int | float))] += 1
    elif isinstance(answer, dict | list):
        for value in answer.values() if isinstance(answer, dict) else answer:
            figures(value, found)
    elif isinstance(answer, int | float):
        found[answer] += 1
