"""Memory Profile as the existing plugin answers, with the named tables beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..analysis.ops.memory_peaks import reporting_memories
from ..model.host import Host
from ..tools.answers.answer import Json
from ..tools.answers.reader import AnswerReader
from .datatable import rendered_table, same_columns
from .memory_json import memory_json

_TABLES = {"timeline": "usage", "breakdown": "held", "steps": "steps", "growth": "growth"}
_FACTS = ("host", "memory_id", "moment_ms", "moment_event", "first_ms", "last_ms", "timeline_offset_ms")


def memory_profile(answer: AnswerReader, hosts: Sequence[Host], options: Mapping[str, str]) -> Json:
    """The existing plugin's JSON of allocations and memory over time, with our tables under ``tables``."""
    host = next(host for host in hosts if host.name == answer.fact_value("host"))
    memories = [memory for memory in reporting_memories(host) if options["memory_id"] in ("", memory.memory)]
    values = {name: answer.fact_value(name) for name in _FACTS}
    properties = {name: f"{value:.6f}" if isinstance(value, float) else str(value) for name, value in values.items()}
    docs = {name: answer.fact_doc(name) for name in _FACTS}
    tables = {
        "summary": rendered_table(
            answer, "memories", same_columns(answer, "memories", count_id="occurrences"), properties, docs
        )
    }
    tables |= {
        old: rendered_table(answer, name, same_columns(answer, name, count_id="occurrences"))
        for old, name in _TABLES.items()
    }
    return memory_json(host, memories) | {"tables": tables}
