"""The one account of time: what a moment is spent on, as states, and the ten categories of them that pages show."""

from __future__ import annotations

from enum import IntEnum

from ...runtime.problems import DEVICE, HOST, INPUT
from ...runtime.records import NamedTuple


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
    """Python, by its frames or by a range that the program names."""
    UNRECORDED = 14
    """Nothing was recorded on the thread of the program's loop, where no tracer of Python ran, or for 1 ms and more."""
    LATENCY = 15
    """Launched on an empty queue, and not begun within the machine's usual time."""
    BETWEEN = 16
    """Launched before the gap, and begun within the usual time between one event and the next."""
    PEER = 17
    """It waits for another device."""
    STREAM = 18
    """It waits for an event or a function that is known, on this host."""
    BEFORE_CAPTURE = 19
    """What comes next was launched before the capture began."""
    UNEXPLAINED = 20


STATES = tuple(state.name.lower() for state in State)
"""Names of the states, in their order."""
WORK_STATES = tuple(State)[: State.COMPILE]
"""The states in which a device works."""
CAUSES = tuple(State)[State.COMPILE :]
"""The states in which a device is idle."""
HOST_CAUSES = tuple(State)[State.COMPILE : State.LATENCY]
"""Those that a thread of the host accounts for, strongest first."""

LABELS = {
    State.COMPUTE: "Compute",
    State.EXPOSED_COLLECTIVE: "Exposed communication",
    State.EXPOSED_COPY: "Exposed copies",
    State.COMPILE: "Compiling",
    State.INPUT: "Waiting for input",
    State.CALLBACK: "Host callbacks",
    State.PAUSE: "Pauses",
    State.SYNC: "Host synchronization",
    State.TRANSFER: "Staging transfers",
    State.COLLECTIVE_HOST: "Host-side communication",
    State.ALLOCATOR: "Memory allocation",
    State.LAUNCH: "Launching ops",
    State.DISPATCH: "Framework overhead",
    State.PYTHON: "Python",
    State.UNRECORDED: "Nothing recorded",
    State.LATENCY: "Launch delay",
    State.BETWEEN: "Gaps between ops",
    State.PEER: "Waiting for another device",
    State.STREAM: "Waiting in a stream",
    State.BEFORE_CAPTURE: "Work from before the capture",
    State.UNEXPLAINED: "Unexplained",
}
"""What each is called, on every page."""


class Category(NamedTuple):
    """States that pages draw as one, in one colour."""

    id: str
    label: str
    doc: str
    states: tuple[State, ...]
    depends: tuple[str, ...] = ()
    """What of a capture it rests on, see `problems`."""


CATEGORIES = (
    Category("compute", "Compute", "The device computes; without a device, the CPU.", (State.COMPUTE,), (DEVICE,)),
    Category(
        "communication",
        "Communication",
        "Collectives that no compute hides, and waiting for other devices and hosts.",
        (State.EXPOSED_COLLECTIVE, State.COLLECTIVE_HOST, State.PEER),
        (DEVICE, HOST),
    ),
    Category(
        "copies",
        "Copies",
        "Copies that no compute hides, and the host's work to stage them.",
        (State.EXPOSED_COPY, State.TRANSFER),
        (DEVICE, HOST),
    ),
    Category(
        "input",
        "Waiting for input",
        "The loop waits for its input while the device is idle.",
        (State.INPUT,),
        (HOST, INPUT),
    ),
    Category(
        "python",
        "Python",
        "Python runs while the device is idle: the loop's own code, callbacks, checkpoints, summaries.",
        (State.PYTHON, State.CALLBACK, State.PAUSE),
        (HOST,),
    ),
    Category(
        "framework", "Framework", "The framework's own work on the host while the device is idle.", (State.DISPATCH,),
        (HOST,),
    ),
    Category(
        "launch",
        "Launching",
        "Kernels are launched, or have been launched and not begun, while the device is idle.",
        (State.LAUNCH, State.LATENCY, State.BETWEEN),
        (HOST,),
    ),
    Category(
        "wait",
        "Host synchronization",
        "The host waits in a call of the framework or driver while the device is idle.",
        (State.SYNC, State.STREAM),
        (HOST,),
    ),
    Category(
        "compile",
        "Compiling, allocating",
        "Functions are compiled, or memory is allocated, while the device is idle.",
        (State.COMPILE, State.ALLOCATOR),
        (HOST,),
    ),
    Category(
        "unknown",
        "Not recorded, not explained",
        "The device is idle, and the reason was not recorded.",
        (State.UNRECORDED, State.BEFORE_CAPTURE, State.UNEXPLAINED),
    ),
)  # fmt: skip
"""Every state is in one of them, so that they sum to what their states sum to; work first, then what is lost."""

CATEGORY_OF_STATE = {state: index for index, category in enumerate(CATEGORIES) for state in category.states}
"""Place in `CATEGORIES` of each state."""
