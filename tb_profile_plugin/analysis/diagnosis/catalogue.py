"""Every sentence of the diagnosis: a code with named arguments, and its English words in one place.

Another language is another `TEMPLATES`. What an argument is shows in its name: ``…_ps`` is a time, ``…share`` a share
of 1, ``count`` and the like are whole numbers; a `Sentence` among the arguments is put in as its words.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ...runtime.units import duration
from ..activity.states import LABELS as STATE_LABELS


@dataclass(frozen=True)
class Sentence:
    """What is said, before it has words."""

    code: str
    """Key of `TEMPLATES`."""
    arguments: Mapping[str, Any] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """In English."""
        return TEMPLATES[self.code].format_map({name: _shown(name, value) for name, value in self.arguments.items()})


def _shown(name: str, value: Any) -> str:
    if isinstance(value, Sentence):
        return value.text
    if name.endswith("_ps"):
        return duration(value)
    if name.endswith("share"):
        return f"{100 * value:.0f} %" if value >= 0.01 or not value else "less than 1 %"
    return f"{value:,}" if isinstance(value, int) else str(value)


_PART = "{share} of {span} ({time_ps} of {step_ps})"

TEMPLATES: dict[str, str] = {
    # What shares are shares of.
    "span.step": "the typical step",
    "span.step.all": "the average step",
    "span.step.range": "the average step of those chosen",
    "span.period": "the time from step to step",
    "span.capture": "the time from the first to the last work, in which no steps were found,",
    # Names of what takes the time.
    "names.none": "",
    "names.some": " Most of it: {names}.",
    "names.largest": " Largest: {names}.",
    "names.each": "{name} ({each_ps} each time)",
    "names.seldom": "{name} ({each_ps}, in {share} of the steps)",
    "names.calls": "{name} ({step_ps} in {count} calls)",
    "names.share": "{name} ({share})",
    "names.not_recorded": "{names} The device was not recorded, so what it did meanwhile is not known.",
    "names.tied": "{names} About as much is lost to: {parts}.",
    "names.unrecorded": " In {share} of it nothing was recorded: code that was not traced, or a sleep.",
    # Headlines, by cause.
    "headline.compute": "Device-bound: " + _PART + " is compute on the device.{names}{rest}",
    "headline.cpu_compute": "Compute-bound on the CPU: " + _PART + " is compute.{names}{rest}",
    "headline.host": "Host-bound: in "
    + _PART
    + " nothing computes, since the host launches work too late: {parts}.{names}",
    "headline.input": "Input-bound: " + _PART + " waits for input.{names}",
    "headline.compile": "Compiling: " + _PART + " compiles functions.{names}",
    "headline.retrace": "Retracing: " + _PART + " traces functions anew.{names}",
    "headline.eager": "Op by op: " + _PART + " goes into dispatching single ops, {count} in each step.{names}",
    "headline.cpu_ops": "Ops on the CPU: "
    + _PART
    + " computes on the CPU, in the thread that launches the work.{names}",
    "headline.start_up": "Starting up: "
    + _PART
    + " goes into first calls, in which the driver makes its context and libraries load code.{names}",
    "headline.thread_wait": "Waiting for a thread: in "
    + _PART
    + " the program waits for another thread or process of its own while no device works.{names}",
    "headline.sync": "Waiting: in "
    + _PART
    + " the program waits in a call while no device works: for what was not recorded, or it goes on late.{names}",
    "headline.transfer": "Transfers on the host: " + _PART + " stages copies on the host.{names}",
    "headline.callback": "Host callbacks: " + _PART + " waits for callbacks into Python.{names}",
    "headline.pause": "Interrupted: " + _PART + " goes into what interrupts the loop: {parts}.{names}",
    "headline.allocator": "Memory allocation: " + _PART + " allocates or frees memory.{names}",
    "headline.collective_host": "Communication-bound: "
    + _PART
    + " waits for collective communication of the hosts.{names}",
    "headline.dispatch": "Host-bound: " + _PART + " goes into the framework's own work on the host.{names}",
    "headline.python": "Python: " + _PART + " is spent in Python while nothing computes.{names}",
    "headline.unrecorded": "Host-bound: in "
    + _PART
    + " no work is launched, and what the program does instead was not traced: Python, or a sleep.",
    "headline.launch": "Kernel-launch-bound: " + _PART + " goes into launching kernels.{names}",
    "headline.latency": "Launch latency: "
    + _PART
    + " passes between launching work and its begin on an empty device.{names}",
    "headline.between": "Many short kernels: " + _PART + " passes between one kernel and the next.{names}",
    "headline.pauses": "Pauses between ops: "
    + _PART
    + " passes between one op and the next, though ops are not short: threads that run them did not.{names}",
    "headline.peer": "Waiting for another device: " + _PART + " waits for work of other devices.{names}",
    "headline.stream": "Waiting in a stream: " + _PART + " waits for work that was not recorded.{names}",
    "headline.before_capture": "The capture began in the middle: "
    + _PART
    + " waits for work that was launched before it.{names}",
    "headline.unexplained": "Unexplained: in " + _PART + " nothing was recorded that tells why no work is done.{names}",
    "headline.sampled": "Recorded in part: in "
    + _PART
    + " nothing was recorded that tells why no work is done, for the trace holds only about one of {count} ops.",
    "headline.between_steps": "Between steps: in {share} of the time no step runs ({time_ps} of {step_ps} from step to "
    "step){few}.{names}",
    "headline.warmup": "Warming up: the first {count} take {time_ps} more per step, over all steps.{names}",
    "headline.unusual_steps": "Unusual steps: {share} of the average step ({time_ps}) comes from {count} of {steps} "
    "steps{period}, {factor} times as long as the typical one.{names}",
    "headline.exposed_collective": "Communication-bound: "
    + _PART
    + " is communication that no compute overlaps.{names}",
    "headline.exposed_copy": "Copy-bound: " + _PART + " copies data while the device computes nothing.{names}",
    "headline.late_peer": "A late peer: " + _PART + " waits for {host}, which takes {more_ps} longer ({label}).{names}",
    "headline.host_offload": "Host memory: " + _PART + " copies arrays between the device and host memory.{names}",
    "headline.not_recorded": "The device was not recorded: in "
    + _PART
    + " the program waits for a device of which the capture holds no event.",
    "headline.counted": "Kernels were counted, not timed: CUPTI ran each of {count} kernels several times, "
    "so that nothing tells what the program waits for by itself.",
    "headline.gpu_unused": "The GPU is not used: " + _PART + " is compute on the CPU.{names}",
    "headline.nothing": "The capture holds no events, so there is nothing to judge.",
    # About the input alone.
    "input.little": "Not input-bound: " + _PART + " waits for input.",
    "input.idle": "Not input-bound: " + _PART + " waits for input, and steps that did not wait lasted as long.",
    "input.some": "Moderately input-bound: " + _PART + " waits for input.{names}",
    # Causes, as rows of a table.
    "cause.compute": "The device computes.{names}",
    "cause.input": "The thread that launches the work waits for its input.{names}",
    "cause.compile": "Functions are traced, lowered or compiled within the steps.{names}",
    "cause.retrace": "Functions are traced anew, mostly because their arguments' shapes or values change.{names}",
    "cause.eager": "Ops are dispatched one by one, {count} in each step, and the dispatching takes longer than they do."
    "{names}",
    "cause.cpu_ops": "Ops compute on the CPU, in the thread that launches the work, and the device waits.{names}",
    "cause.start_up": "First calls, in which the driver makes its context and libraries load code.{names}",
    "cause.thread_wait": "The program waits for another thread or process of its own while no device works.{names}",
    "cause.sync": "The program waits in a call while no device works: for what was not recorded, or it goes on late."
    "{names}",
    "cause.transfer": "The host stages or converts data for a copy.{names}",
    "cause.callback": "The device waits for a function of the host.{names}",
    "cause.pause": "The loop is interrupted: {parts}.{names}",
    "cause.allocator": "The host allocates or frees memory.{names}",
    "cause.collective_host": "Hosts communicate while the device waits.{names}",
    "cause.dispatch": "The framework's own work on the launching thread.{names}",
    "cause.python": "Python runs, and nothing is launched.{names}",
    "cause.unrecorded": "No work is launched, and what the program does instead was not traced: Python, or a sleep.",
    "cause.launch": "Calls that launch work take longer than the work that waits for them.{names}",
    "cause.latency": "Work was launched on an empty device and has not yet begun.{names}",
    "cause.between": "The device goes from one kernel to the next.{names}",
    "cause.pauses": "Between one op and the next threads that run them did not, though ops are not short.{names}",
    "cause.peer": "A device waits for another.{names}",
    "cause.stream": "A stream waits for an event of which the work was not recorded.{names}",
    "cause.before_capture": "What the device waits for was launched before the capture began.{names}",
    "cause.unexplained": "Nothing was recorded that tells why.{names}",
    "cause.between_steps": "Between one step and the next other code runs, or nothing that was recorded{few}.{names}",
    "cause.warmup": "First steps that are slower than the others: {count}.{names}",
    "cause.unusual_steps": "Steps that are far slower than the others: {count}{period}.{names}",
    "cause.exposed_collective": "Devices communicate while they compute nothing.{names}",
    "cause.exposed_copy": "Devices copy data while they compute nothing.{names}",
    "cause.late_peer": "The others wait for {host}, which takes {more_ps} longer: {label}.{names}",
    "cause.host_offload": "Arrays are read from or written to host memory.{names}",
    "cause.gpu_unused": "The program computes on the CPU, though the capture names a GPU.{names}",
    "cause.not_recorded": "The capture names a device and holds no event of it: what it did is not known.{names}",
    "cause.counted": "CUPTI ran each of {count} kernels several times to count in it: times are those of counting.",
    "pause.checkpoint": "checkpoints",
    "pause.evaluation": "evaluation",
    "pause.summary": "summaries",
    "pause.printing": "printing",
    "pause.hook": "callbacks of the training loop",
    "few.none": "",
    "few.some": "; {share} of that in {count} of {gaps_count} gaps{period}",
    "period.none": "",
    "period.every": ", every {count} steps",
    # What a step would last if an op took another time.
    "scaled.shorter": "With {name} at {factor} times its {op_ps} a step takes {time_ps} instead of {step_ps}, at most "
    "{share} less.",
    "scaled.longer": "With {name} at {factor} times its {op_ps} a step takes {time_ps} instead of {step_ps}, {share} "
    "more.",
    "scaled.same": "With {name} at {factor} times its {op_ps} a step still takes {time_ps}: others wait for something "
    "else meanwhile.",
    # Of what nothing can be won.
    "won.host": "{names} Nothing can be won by that alone: the host is the limit.",
    "won.others": "{names} Nothing can be won by that alone: the step waits for other work meanwhile.",
    "won.more": "{names} More than that can be won: the host then runs ahead, and other waits end, too.",
    "rest.none": "",
    "rest.some": " Of the rest most is lost to: {parts}.",
    # Parts of what is lost.
    "parts.one": "{name} {share}",
    # Why a step is not like the others.
    "unusual.longer": "{name} takes {more_ps} more than in the typical step",
    "unusual.unknown": "no single name explains it",
    "unusual.shorter": "{name} takes {more_ps} less than in the typical step",
    "unusual.new": "{name}, which the typical step lacks, takes {more_ps}",
}

LABELS = {state.name.lower(): label for state, label in STATE_LABELS.items()} | {
    "retrace": "Retracing",
    "eager": "Op by op",
    "cpu_ops": "Ops on the CPU",
    "thread_wait": "Waiting for a thread",
    "start_up": "Starting up",
    "between_steps": "Between steps",
    "profiler": "The profiler's own start and stop",
    "warmup": "Warming up",
    "unusual_steps": "Unusual steps",
    "late_peer": "A late peer",
    "host_offload": "Copies with host memory",
    "not_recorded": "Device not recorded",
    "counted": "Kernels counted, not timed",
    "pauses": "Pauses between ops",
    "gpu_unused": "GPU not used",
    "host": "Any delay by the host",
}
"""Names of parts of time and causes, by id."""
TEMPLATES.update({f"label.{id}": label[0].lower() + label[1:] for id, label in LABELS.items()})
