"""Names of events as readers know them, and what is said beside a name."""

from __future__ import annotations

from collections.abc import Callable

from ...model.names import hlo_text
from ...runtime.messages import Message
from .event_names import display_name

HOST_MEMORY, ON_CPU, STARTING = " (host memory)", " (on the CPU)", " (starts up)"
OF_THREAD, OF_EVENTS = " (waits for a thread)", " (waits for events)"
OF_LOOP, OF_COPIES, OF_PYTHON = ", in many short calls", " (copies)", " (dispatches nothing)"
"""Ends of names: of copies in which the host's memory takes part, of ops that launch nothing, of what the driver and
libraries do first of all, of waits for other threads or processes of the program, or for sockets and timers, of loops
over values in Python, of ops that spend their time on copies of tensors, and of functions without the framework."""
WITHIN = ", in "
"""Between a function and what it calls that takes its time."""
_WITH_ENDING: dict[str, Callable[[str], Message]] = {
    HOST_MEMORY: lambda name: Message("{name} (host memory)", name=name),
    ON_CPU: lambda name: Message("{name} (on the CPU)", name=name),
    STARTING: lambda name: Message("{name} (starts up)", name=name),
    OF_THREAD: lambda name: Message("{name} (waits for a thread)", name=name),
    OF_EVENTS: lambda name: Message("{name} (waits for events)", name=name),
    OF_LOOP: lambda name: Message("{name}, in many short calls", name=name),
    OF_COPIES: lambda name: Message("{name} (copies)", name=name),
    OF_PYTHON: lambda name: Message("{name} (dispatches nothing)", name=name),
}


def event_label(name: str) -> str:
    """As a reader knows it; of a copy by XLA, whether the host's memory takes part."""
    instruction = hlo_text.parse(name)
    host_memory = instruction is not None and (instruction.reads_host or instruction.writes_host)
    return display_name(name) + HOST_MEMORY if host_memory else display_name(name)


def label_text(label: str) -> str:
    """A label as a text, whose words about the name can be said in another language."""
    ending = next((ending for ending in _WITH_ENDING if label.endswith(ending)), "")
    if ending:
        return _WITH_ENDING[ending](label_text(label.removesuffix(ending)))
    name, within, callee = label.partition(WITHIN)
    return Message("{name}, in {callee}", name=name, callee=callee) if within else label


def without_ending(label: str, ending: str) -> str:
    """The label as it would be without the ending, if it has it."""
    return label_text(label.removesuffix(ending)) if ending and label.endswith(ending) else label
