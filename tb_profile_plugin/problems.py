"""The one kind of trouble a user meets: what happened, where, and what to do about it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Problem:
    """A finding that a page, the command line or a notebook shows as it is."""

    code: str
    """Stable identifier for scripts, e.g. ``truncated``."""
    message: str
    """What happened, in one sentence."""
    remedy: str = ""
    """What the user can do, in one sentence; empty where nothing helps."""
    where: str = ""
    """File, host or byte offset that the finding is about."""
    severity: str = "error"
    """``error``, ``warning`` or ``info``."""
    figures: tuple[str, ...] = ()
    """Properties and columns of tools that it makes doubtful; pages mark them."""

    def as_json(self) -> dict[str, Any]:
        """The problem as plain data, in the order of its fields; ``figures`` only where there are some."""
        return {name: value for name, value in asdict(self).items() if value or name != "figures"}

    def __str__(self) -> str:
        where = f" ({self.where})" if self.where else ""
        remedy = f" {self.remedy}" if self.remedy else ""
        return f"{self.message}{where}{remedy}"


class ProblemError(Exception):
    """Raised where nothing useful can be answered; carries the problem and a fitting HTTP status."""

    def __init__(self, problem: Problem, status: int = 400):
        # The arguments are what travels between processes.
        super().__init__(problem, status)
        self.problem = problem
        self.status = status

    def __str__(self) -> str:
        return str(self.problem)
