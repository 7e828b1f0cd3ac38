"""What a moment of a device is spent on."""

from __future__ import annotations

from enum import IntEnum


class State(IntEnum):
    """What a device does at a moment, or why it is idle; where it does several things at once the first has it.

    From `COMPILE` to `PYTHON` stronger causes come first: where a thread does several things within one another, the
    first of them is why the device is idle.
    """

    COMPUTE = 0
    EXPOSED_COLLECTIVE = 1
    EXPOSED_COPY = 2
    COMPILE = 3
    """The host traces, lowers, compiles or tunes."""
    INPUT = 4
    """The thread that would launch the next work waits for its input."""
    CALLBACK = 5
    """A program of the device, or the runtime, waits for a function of the host."""
    PAUSE = 6
    """A named interruption of the loop: a checkpoint, an evaluation, a summary, a Keras callback."""
    SYNC = 7
    """The host waited for the device, which has finished, and is not yet back."""
    TRANSFER = 8
    """The host stages, converts or serialises what it copies."""
    COLLECTIVE_HOST = 9
    """Communication between hosts by the host."""
    ALLOCATOR = 10
    """Allocating or freeing memory."""
    LAUNCH = 11
    """The call that launched the next work, or one that launched other work."""
    DISPATCH = 12
    """C++ work of the framework."""
    PYTHON = 13
    """Python, or nothing recorded on the thread of the program's loop."""
    LATENCY = 14
    """Launched on an empty queue, and not begun within the machine's usual time."""
    BETWEEN = 15
    """Launched before the gap, and begun within the usual time between one event and the next."""
    PEER = 16
    """It waits for another device."""
    STREAM = 17
    """It waits for an event or a function that is known, on this host."""
    BEFORE_CAPTURE = 18
    """What comes next was launched before the capture began."""
    UNEXPLAINED = 19


CAUSES = tuple(State)[State.COMPILE :]
"""The states in which a device is idle."""
HOST_CAUSES = tuple(State)[State.COMPILE : State.LATENCY]
"""Those that a thread of the host accounts for, strongest first."""

LABELS = {
    State.COMPUTE: "Compute",
    State.EXPOSED_COLLECTIVE: "Communication that nothing overlaps",
    State.EXPOSED_COPY: "Copies that nothing overlaps",
    State.COMPILE: "Compiling",
    State.INPUT: "Waiting for input",
    State.CALLBACK: "Host callbacks",
    State.PAUSE: "Interruptions",
    State.SYNC: "Waiting in a call",
    State.TRANSFER: "Staging transfers",
    State.COLLECTIVE_HOST: "Communication of hosts",
    State.ALLOCATOR: "Memory allocation",
    State.LAUNCH: "Launching",
    State.DISPATCH: "Framework's work",
    State.PYTHON: "Python",
    State.LATENCY: "Launch latency",
    State.BETWEEN: "Between kernels",
    State.PEER: "Waiting for another device",
    State.STREAM: "Waiting in a stream",
    State.BEFORE_CAPTURE: "Launched before the capture",
    State.UNEXPLAINED: "Unexplained",
}
"""What each is called, on every page."""
