"""Diagnostics: what the reader must know before trusting a page's figures, as a table."""

from __future__ import annotations

from collections.abc import Sequence

from ..analysis import health
from ..model.host import Host
from ..model.session import Session
from .base import Column, DataTable

_ORDER = ("warning", "error")


def diagnostics(session: Session, hosts: Sequence[Host], step_event: str = "") -> DataTable:
    """Severity (``WARNING``, ``ERROR``) and message, remedy included, in that order of severity."""
    found = [problem for problem in health.findings(session, hosts, step_event) if problem.severity in _ORDER]
    rows = [[p.severity.upper(), str(p)] for p in sorted(found, key=lambda p: _ORDER.index(p.severity))]
    return DataTable([Column("severity", "Severity", "string"), Column("message", "Message", "string")], rows)
