"""What a digest holds, and its canonical JSON: integers and names only, so that it is the same wherever it is made.

Times are ps; a variance is that of a mean over the kept steps, by Yuen's winsorised form, in ps squared.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from ...problems import Problem, ProblemError
from ...runtime.memo import lazy
from ..typical import EXTREME, KEPT, UNUSUAL

VERSION = 1
KIND = "digest"

OTHER_KIND = "other_kind"
"""Why a step is left out that is of another kind, such as evaluation, than those that took most time."""
OTHERS = "(others)"
"""Name of the ops of a part that are not told apart."""
NOTHING = "(nothing recorded)"
"""Name of what no event tells."""


@dataclass(frozen=True)
class Steps:
    """The steps in order of number and time; a sample lasts from a step's begin to the next one's."""

    number: list[int]
    ps: list[int]
    """From begin to begin."""
    step_ps: list[int]
    """The step itself."""
    reason: list[str]
    """Why it does not count; empty where it does: see `analysis.typical`."""
    launches: list[int]
    """Ops and kernels that began then."""
    compiles: list[int]
    device_ps: list[int]
    """What of `ps` a device computes, communicates or copies."""

    @property
    def kept(self) -> list[int]:
        """Places of the steps that count."""
        return [i for i, reason in enumerate(self.reason) if reason == KEPT]

    @property
    def warm(self) -> list[int]:
        """Those and the extreme ones: what tells how much steps vary."""
        return [i for i, reason in enumerate(self.reason) if reason in (KEPT, EXTREME, UNUSUAL)]


@dataclass(frozen=True)
class Part:
    """Time of the kept steps in one state."""

    id: str
    sum_ps: int
    variance: int | None


@dataclass(frozen=True)
class DigestOp:
    """An op within one part, over the kept steps; its identity as `identity.Identity` has it."""

    part: str
    side: str
    name: str
    type: str
    module: str
    origin: str
    shape: str
    operands: str
    body: str
    source: str
    sum_ps: int
    """Moments that belong to it; those of all ops of a part sum to the part."""
    variance: int | None
    launches: int
    total_ps: int
    """How long its executions last over all streams, hidden or not: this does not sum."""


@dataclass(frozen=True)
class DigestKernel:
    """A kernel over the whole capture."""

    name: str
    """Short, see `model.kernelnames`."""
    op: str
    launches: int
    total_ps: int
    tensor_core: bool | None


@dataclass(frozen=True)
class Memory:
    """What one allocator reported, the largest over the hosts."""

    allocator: str
    peak_bytes: int
    growth_bytes: int
    """In use at the end of the capture beyond its begin."""


@dataclass(frozen=True)
class DigestCause:
    """A cause of the diagnosis."""

    id: str
    per_step_ps: int
    names: list[tuple[str, int]]
    """What most of it is, with ps per step."""


@dataclass(frozen=True)
class Digest:
    """See the module."""

    facts: dict[str, Any]
    """Of the recording: ``device``, ``devices``, ``hosts``, ``framework``, ``step_rule``, ``step_kind``, ``levels``,
    ``versions``, ``problems`` …"""
    steps: Steps
    parts: list[Part]
    ops: list[DigestOp]
    kernels: list[DigestKernel]
    memory: list[Memory]
    programs: list[tuple[str, str]]
    """Name and fingerprint."""
    causes: list[DigestCause]

    @lazy
    def id(self) -> str:
        """Of the content: 16 hexadecimal digits."""
        return hashlib.sha256(self.to_json().encode("utf-8", "surrogatepass")).hexdigest()[:16]

    def to_json(self) -> str:
        """Canonical JSON: sorted keys, one entry of each list per line, so that versions can be compared by eye."""
        data: dict[str, Any] = {"version": VERSION, "kind": KIND, "facts": self.facts, "steps": vars(self.steps)}
        data |= {name: [vars(each) for each in getattr(self, name)] for name in _LISTS}
        data["programs"] = self.programs
        return "{\n" + ",\n".join(f"{json.dumps(key)}: {_lines(data[key])}" for key in sorted(data)) + "\n}\n"

    @staticmethod
    def from_json(text: str | bytes, where: str = "") -> Digest:
        """The digest again; raises `ProblemError` for what is none, or of another version."""
        try:
            data = json.loads(text)
            if data["kind"] != KIND or data["version"] != VERSION:
                remedy = "Make it again of the session, with this version."
                raise ProblemError(Problem("bad_digest", "This is no digest of this version.", remedy, where))
            return Digest(
                dict(data["facts"]),
                Steps(**data["steps"]),
                [Part(**each) for each in data["parts"]],
                [DigestOp(**each) for each in data["ops"]],
                [DigestKernel(**each) for each in data["kernels"]],
                [Memory(**each) for each in data["memory"]],
                [(str(name), str(print)) for name, print in data["programs"]],
                [DigestCause(each["id"], each["per_step_ps"], each["names"]) for each in data["causes"]],
            )
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            remedy = "Make it again of the session."
            raise ProblemError(Problem("bad_digest", "This is no digest.", remedy, where)) from error


_LISTS = ("parts", "ops", "kernels", "memory", "causes")


def _lines(value: Any) -> str:
    if isinstance(value, list) and value:
        return "[\n" + ",\n".join(_plain(each) for each in value) + "\n]"
    return _plain(value)


def _plain(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
