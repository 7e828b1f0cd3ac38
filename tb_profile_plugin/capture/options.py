"""What to record, and for how long."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from ..runtime.messages import Message, localized, sentences
from ..runtime.problems import ProblemError, problem_error
from ..runtime.records import NamedTuple


class Range(NamedTuple):
    """The whole numbers that an option takes."""

    least: int
    most: int
    doc: str
    """A sentence: what the option is, with its unit or the meaning of its levels."""


RANGES: Mapping[str, Range] = {
    "duration_ms": Range(1, 600_000, "Length of the capture in milliseconds."),
    "delay_ms": Range(0, 3_600_000, "Wait before the capture in milliseconds."),
    "host_tracer_level": Range(0, 3, "Level of host events: 0 none, 1 critical, 2 info, 3 all."),
    "device_tracer_level": Range(0, 1, "Level of device events: 0 none, 1 all."),
    "python_tracer_level": Range(0, 1, "Level of Python calls: 0 none, 1 all."),
    "retries": Range(0, 10, "Number of retries for a worker that failed or recorded nothing."),
}
"""The fields of `Options`, by name."""


@dataclass(frozen=True)
class Options:
    """The options of one capture; defaults are those of TensorFlow's own client."""

    duration_ms: int = 1000
    delay_ms: int = 0
    host_tracer_level: int = 2
    device_tracer_level: int = 1
    python_tracer_level: int = 0
    retries: int = 3

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            limits = RANGES[name]
            if not limits.least <= value <= limits.most:
                remedy = Message("Use {least} to {most}.", least=str(limits.least), most=str(limits.most))
                raise _bad_option(name, str(value), remedy)


def read(values: Mapping[str, str]) -> Options:
    """Options from text, the missing ones at their defaults; raises `ProblemError`, its `where` naming the option."""
    numbers = {}
    for name, text in values.items():
        if name not in RANGES:
            remedy = Message("Use one of: {ranges}.", ranges=", ".join(RANGES))
            raise problem_error(
                "unknown_option", Message("There is no option named {name}.", name=repr(name)), remedy, name
            )
        if not re.fullmatch(r"[+-]?[0-9]{1,18}", text.strip()):
            raise _bad_option(name, repr(text), Message("Give a whole number."))
        numbers[name] = int(text)
    return Options(**numbers)


def milliseconds(text: str) -> int:
    """A length of time as written on a command line: ``2s``, ``500ms``, ``5m``, or plain milliseconds.

    Raises ValueError for anything else.
    """
    match = re.fullmatch(r"(-?[0-9]+(?:\.[0-9]+)?)(ms|s|m|min|)", text.strip())
    if not match:
        raise ValueError(localized("{text} is not a length of time such as 2s, 500ms, 5m or 1500", text=repr(text)))
    return round(float(match[1]) * {"s": 1000, "m": 60_000, "min": 60_000}.get(match[2], 1))


def _bad_option(name: str, value: str, remedy: Message) -> ProblemError:
    """The error for a value that an option does not take; its remedy ends with what the option is."""
    message = Message("{name} cannot be {value}.", name=_label(name), value=value)
    return problem_error("bad_option", message, sentences(remedy, RANGES[name].doc), name)


def _label(name: str) -> str:
    """What a person calls an option: ``Duration`` for ``duration_ms``."""
    return name.replace("_ms", "").replace("_", " ").capitalize()
