"""What a digest holds, and its canonical JSON: integers and names only, so that it is the same wherever it is made.

Times are ps; a variance is that of a mean over the kept steps, by Yuen's winsorised form, in ps squared.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import Any

from ...runtime.memo import lazy
from ...runtime.messages import Message
from ...runtime.problems import problem_error
from ..diagnosis.catalogue import LABELS
from ..steps.choice_names import EXTREME, SELECTED, UNUSUAL

VERSION = 2
KIND = "digest"

OTHER_KIND = "other_kind"
"""Why a step is left out that is of another kind, such as evaluation, than those that took most time."""
LATE_PEER = "late_peer"
"""The cause whose names are labels of hosts, see `digest.host_labels`."""
OTHERS = "(others)"
"""Name of the sum of a part's smaller ops."""
NOTHING = Message("(nothing recorded)")
"""Name of moments of which no event tells what ran."""

_MOST_ENTRIES = 4_000
"""Entries of any list but those of steps, so that a forged digest costs no time: ours have far fewer."""
_LARGEST_INT = 2**128
"""Beyond any variance, ps squared."""
_SIGNED_FIELDS = frozenset({"number", "growth_bytes", "origin_ns"})
"""What may be below 0."""
_FACT_TYPES: dict[str, str] = (
    dict.fromkeys(("device", "framework", "step_rule", "steps_are", "step_kind", "step_event", "chosen"), "str")
    | dict.fromkeys(("devices", "hosts", "origin_ns"), "int")
    | {"levels": "dict[str, int]", "versions": "dict[str, str]", "problems": "list[str]", "errors": "list[str]"}
)
"""What every digest states, and of which type; it may state more."""


@dataclass(frozen=True)
class DigestSteps:
    """The steps in order of number and time; a sample lasts from a step's begin to the next one's."""

    number: list[int]
    ps: list[int]
    """From begin to begin."""
    step_ps: list[int]
    """The step itself."""
    reason: list[str]
    """Why it does not count, see `steps.choice_names`; `SELECTED`, which is empty, where it does."""
    launches: list[int]
    """Ops and kernels that began then."""
    compiles: list[int]
    device_ps: list[int]
    """What of `ps` a device computes, communicates or copies."""
    spread_ps: list[int]
    """How much longer `ps` is than on the host that took shortest."""

    @property
    def selected(self) -> list[int]:
        """Indices of the steps that count."""
        return [i for i, reason in enumerate(self.reason) if reason == SELECTED]

    @property
    def usual_launches(self) -> int | None:
        """The count that most steps that count have; None without any."""
        counts = [self.launches[i] for i in self.selected]
        return Counter(sorted(counts)).most_common(1)[0][0] if counts else None

    @property
    def warm(self) -> list[int]:
        """Indices of the steps that tell how much steps vary: those that count, the extreme, and the unusual ones."""
        return [i for i, reason in enumerate(self.reason) if reason in (SELECTED, EXTREME, UNUSUAL)]


@dataclass(frozen=True)
class StateTime:
    """Time of the steps that count in one state."""

    id: str
    """One of `activity.states.STATES`."""
    sum_ps: int
    variance: int | None
    """Variance of the mean; None where steps are too few."""


@dataclass(frozen=True)
class Identity:
    """What tells an op from others; a text is empty where nothing tells it."""

    side: str
    """Whose event it is: `identity.DEVICE` or `identity.HOST`."""
    name: str
    type: str = ""
    """Type of the framework's op, or the category of XLA's."""
    module: str = ""
    """The XLA program without numbers."""
    origin: str = ""
    """The framework op with its scopes that an instruction of XLA comes from."""
    shape: str = ""
    """Types and sizes of its result, e.g. ``f32[8,128]``."""
    operands: str = ""
    """Shapes of its operands, by commas."""
    body: str = ""
    """Fingerprint of what it calculates, see `bodies`."""
    source: str = ""
    """``folder/file.py:12``."""


@dataclass(frozen=True, kw_only=True)
class DigestOp(Identity):
    """An op within one part, over the steps that count."""

    part: str
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
    """Its family, see `model.names.short_kernel_names`."""
    op: str
    launches: int
    total_ps: int
    tensor_core: bool | None


@dataclass(frozen=True)
class AllocatorMemory:
    """What one allocator reported, on one host or the largest over all hosts."""

    allocator: str
    peak_bytes: int
    growth_bytes: int
    """In use at the end of the capture beyond its begin."""
    fragmentation_ppm: int
    """The most of its free memory that was in pieces, in millionths."""


@dataclass(frozen=True)
class DigestCause:
    """A cause of the diagnosis."""

    id: str
    per_step_ps: int
    names: list[tuple[str, int]]
    """What most of it is, with ps per step; of a late peer the host's label, and how much later it is."""


@dataclass(frozen=True)
class Digest:
    """One session, or one of its hosts."""

    facts: dict[str, Any]
    """What is known of the recording: ``device``, ``devices``, ``hosts``, ``framework``, ``step_rule``, ``step_kind``,
    ``levels``, ``versions``, ``problems`` …"""
    steps: DigestSteps
    parts: list[StateTime]
    ops: list[DigestOp]
    kernels: list[DigestKernel]
    memory: list[AllocatorMemory]
    programs: list[tuple[str, str]]
    """Name and fingerprint."""
    causes: list[DigestCause]

    @property
    def origin_ns(self) -> int:
        """When the recording began, ns since 1970."""
        return int(self.facts["origin_ns"])

    @lazy
    def id(self) -> str:
        """Hash of the content: 16 hexadecimal digits."""
        return hashlib.sha256(self.to_json().encode("utf-8", "surrogatepass")).hexdigest()[:16]

    def to_json(self) -> str:
        """Canonical JSON: sorted keys, one entry of each list per line, so that versions can be compared by eye."""
        data: dict[str, Any] = {"version": VERSION, "kind": KIND, "facts": self.facts, "steps": vars(self.steps)}
        data |= {name: [vars(entry) for entry in getattr(self, name)] for name in _ENTRY_TYPES}
        data["programs"] = self.programs
        return "{\n" + ",\n".join(f"{json.dumps(key)}: {_json_lines(data[key])}" for key in sorted(data)) + "\n}\n"

    @staticmethod
    def from_json(text: str | bytes, where: str = "") -> Digest:
        """The digest again, whoever wrote it; raises `ProblemError` for what is none, or of another version."""
        return Digest.all_from_json(text, [where])[0]

    @staticmethod
    def all_from_json(text: str | bytes, where: Sequence[str]) -> list[Digest]:
        """One digest, or from a list as many as names in ``where``, which tell in errors what could not be read."""
        with _errors_as_problem(" and ".join(where)):
            data = json.loads(text)
            contents = [data] if len(where) == 1 else data
            _require(isinstance(contents, list) and len(contents) == len(where))
        return [_read(content, name) for content, name in zip(contents, where, strict=True)]


_ENTRY_TYPES = {
    "parts": StateTime,
    "ops": DigestOp,
    "kernels": DigestKernel,
    "memory": AllocatorMemory,
    "causes": DigestCause,
}


def _json_lines(value: Any) -> str:
    if isinstance(value, list) and value:
        return "[\n" + ",\n".join(_json(entry) for entry in value) + "\n]"
    return _json(value)


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


@contextmanager
def _errors_as_problem(where: str) -> Iterator[None]:
    """Raise what Python raises for data that are no digest as a `ProblemError`."""
    try:
        yield
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        remedy = Message("Create it again from the session.")
        raise problem_error("bad_digest", "This is not a digest.", remedy, where) from error


def _read(data: Any, where: str) -> Digest:
    with _errors_as_problem(where):
        if data["kind"] != KIND or data["version"] != VERSION:
            remedy = Message("Create it again from the session, with this version.")
            raise problem_error("bad_digest", "This digest is from another version.", remedy, where)
        return _digest_of(data)


def _digest_of(data: dict[str, Any]) -> Digest:
    """The digest of plain data; raises ValueError, TypeError or KeyError where these are none."""
    facts = dict(data["facts"])
    _require(all(_is_of_type(type_name, name, facts[name]) for name, type_name in _FACT_TYPES.items()))
    steps = _entry(DigestSteps, data["steps"])
    _require(len({len(column) for column in vars(steps).values()}) == 1 and len(steps.selected) > 0)
    lists = {name: [_entry(type_name, entry) for entry in data[name]] for name, type_name in _ENTRY_TYPES.items()}
    programs = [(str(name), str(fingerprint)) for name, fingerprint in data["programs"]]
    _require(max(map(len, (programs, *lists.values()))) <= _MOST_ENTRIES)
    states = [*(op.part for op in lists["ops"]), *(entry.id for name in ("parts", "causes") for entry in lists[name])]
    _require(LABELS.keys() >= set(states))
    return Digest(facts, steps, programs=programs, **lists)


def _entry(entry_type: Any, values: dict[str, Any]) -> Any:
    """A dataclass of that kind, if the values are of the types that its fields are declared as."""
    _require(all(_is_of_type(str(field.type), field.name, values[field.name]) for field in fields(entry_type)))
    return entry_type(**values)


def _require(condition: bool) -> None:
    if not condition:
        raise ValueError


def _is_of_type(type_name: str, name: str, value: Any) -> bool:
    """Whether a field's value is plain data of that type, as annotations write it; few fields may be below 0."""
    if type_name.endswith(" | None"):
        return value is None or _is_of_type(type_name.removesuffix(" | None"), name, value)
    return _TYPE_CHECKS[type_name](name, value)


def _is_int(name: str, value: Any) -> bool:
    return type(value) is int and (-_LARGEST_INT if name in _SIGNED_FIELDS else 0) <= value < _LARGEST_INT


def _is_str(name: str, value: Any) -> bool:
    return type(value) is str


_TYPE_CHECKS: dict[str, Callable[[str, Any], bool]] = {
    "int": _is_int,
    "str": _is_str,
    "bool": lambda name, value: type(value) is bool,
    "list[int]": lambda name, value: type(value) is list and all(_is_int(name, number) for number in value),
    "list[str]": lambda name, value: type(value) is list and all(_is_str(name, text) for text in value),
    "list[tuple[str, int]]": lambda name, value: (
        type(value) is list and all(_is_str(name, text) and _is_int(name, ps) for text, ps in value)
    ),
    "dict[str, int]": lambda name, value: type(value) is dict and all(_is_int(name, n) for n in value.values()),
    "dict[str, str]": lambda name, value: type(value) is dict and all(_is_str(name, text) for text in value.values()),
}
"""By type, whether a field of that name may have a value."""
