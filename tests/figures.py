"""Figures as tests compare them: whole microseconds by the names that pages show, nothing where there is nothing."""

from collections import Counter
from typing import Any

from tb_profile_plugin.analysis import bottlenecks, steptime
from tb_profile_plugin.analysis.ops import OpTable
from tb_profile_plugin.model.host import Host


def steps(*hosts: Host, event: str = "") -> list[dict[str, Any]]:
    """Each step: its name, its time and its parts in µs; parts of 0 are left out."""
    times = steptime.slowest(hosts, event)
    answer = []
    for i, name in enumerate(times.name):
        parts = {share.id: float(times.ms(*share.parts)[i]) * 1000 for share in steptime.SHARES}
        row = {"name": name, "time": times.duration_ps[i] / 1e6}
        answer.append(row | {key: round(value, 6) for key, value in parts.items() if value})
    return answer


def names(host: Host) -> list[str]:
    """Of the steps."""
    return host.steps.name


def ops(table: OpTable) -> dict[str, tuple[int, float, float]]:
    """By name: occurrences, total and self time in µs."""
    return {op.name: (op.occurrences, op.total_ps / 1e6, op.self_ps / 1e6) for op in table.ops}


def judged(*hosts: Host) -> dict[str, bottlenecks.Bottleneck]:
    """The classification of their steps."""
    return bottlenecks.bottlenecks(steptime.slowest(hosts), uses_tf_data=False)


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
