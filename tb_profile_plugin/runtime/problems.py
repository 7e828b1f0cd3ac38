"""The one kind of trouble a user meets: what happened, where, and what to do about it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .messages import Message, message, message_of, messages_by_name, sentences, translated
from .records import NamedTuple

AVERAGE, SPREAD, HOST, DEVICE, INPUT, CLOCKS = "average", "spread", "host", "device", "input", "clocks"
"""What figures rest on, and findings affect: averages over steps, their spread, the host's record, the devices' record,
the time spent on input, and where hosts lie beside one another in time.
"""


class Problem(NamedTuple):
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
    affects: tuple[str, ...] = ()
    """What of a capture it makes doubtful, e.g. `AVERAGE`: pages mark the figures that rest on it."""

    def as_json(self) -> dict[str, Any]:
        """The problem as plain data, in the order of its fields; ``affects`` only where there are some, and what texts
        with arguments are made of.
        """
        texts = {"message": message(self.message), "remedy": message(self.remedy)}
        facts = self._asdict() | texts
        del facts["affects"]
        return facts | ({"affects": list(self.affects)} if self.affects else {}) | messages_by_name(texts)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Problem:
        """The problem of such data."""
        texts = {name: message_of(content) for name, content in data.get("messages", {}).items()}
        fields = {name: content for name, content in data.items() if name in cls._fields}
        return cls(**fields | texts | {"affects": tuple(data.get("affects", ()))})

    def __str__(self) -> str:
        text = message(self.message)
        if self.where:
            text = Message("{message} ({where})", message=text, where=self.where)
        return str(translated(sentences(text, self.remedy)))


class ProblemError(Exception):
    """Raised where nothing useful can be answered; carries the problem and a fitting HTTP status."""

    def __init__(self, problem: Problem, status: int = 400):
        # The arguments are what travels between processes.
        super().__init__(problem, status)
        self.problem = problem
        self.status = status

    def __str__(self) -> str:
        return str(self.problem)


def problem_error(code: str, message: str, remedy: str = "", where: str = "", status: int = 400) -> ProblemError:
    """What to raise for a problem of these fields; see `Problem`."""
    return ProblemError(Problem(code, message, remedy, where), status)
