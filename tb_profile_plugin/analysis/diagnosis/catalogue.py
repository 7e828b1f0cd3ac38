"""Every sentence of the diagnosis: a code with named arguments, and its English words in one place.

What an argument is shows in its name, see `runtime.messages`; a `Sentence` among the arguments is put in as its words.
A template that is put into others begins with the comma or the space that joins it to what stands before. Codes are put
together where sentences are made: of a kind, the id of a cause or fact, and a variant.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

from ...runtime.messages import Message
from ...runtime.records import record
from ..activity.states import LABELS as STATE_LABELS


@record
class Sentence:
    """What is said, before it has words."""

    code: str
    """Key of `TEMPLATES`."""
    arguments: Mapping[str, Any] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """The code without what only tells ways to put the same thing apart, e.g. ``headline.launch``."""
        return ".".join(self.code.split(".")[:2])

    @property
    def text(self) -> Message:
        """Its words, to be translated."""
        arguments = {
            name: value.text if isinstance(value, Sentence) else value for name, value in self.arguments.items()
        }
        return Message(TEMPLATES[self.code], **arguments)


def joined(names: Sequence[str | Sentence]) -> Sentence:
    """One to three names as a list; raises ValueError for more."""
    arguments = ("name", "second_name", "third_name")[: len(names)]
    return Sentence(f"list.{len(names)}", dict(zip(arguments, names, strict=True)))


# In these, as in all templates that begin with f, doubled braces stay as arguments of the sentence.
_PART = "{share} of {span} ({spent_pair})"
_TAKES = f"takes {_PART}{{names}}."
_TAKE = f"take {_PART}{{names}}."

_DEVICE_UNKNOWN = "; what the {device} does meanwhile was not recorded.{names}"
"""End of a cause where nothing tells whether the device waits for it."""
_IDLE_INPUT = f"Waiting for input takes {_PART}; steps without it last as long."

LABELS = {state.name.lower(): label for state, label in STATE_LABELS.items()} | {
    "retrace": "Retracing",
    "eager": "Eager execution",
    "cpu_ops": "CPU ops",
    "thread_wait": "Waiting for a thread",
    "event_wait": "Waiting for events",
    "start_up": "Initialization",
    "between_steps": "Between steps",
    "profiler": "Profiler start and stop",
    "evaluation": "Evaluation",
    "warmup": "Warm-up",
    "unusual_steps": "Unusual steps",
    "late_peer": "Straggler",
    "host_offload": "Copies with host memory",
    "not_recorded": "Device not recorded",
    "counted": "Kernel metrics, not times",
    "pauses": "Pauses between ops",
    "gpu_unused": "GPU not used",
    "host": "All host overhead",
}
"""Names of parts of time and causes, by id."""
_PROPER = ("Python", "CPU ops", "GPU not used")

TEMPLATES: dict[str, str] = {
    # What shares are shares of.
    "span.step": "the step",
    "span.step.all": "the average step",
    "span.step.range": "the chosen steps",
    "span.period": "the step-to-step time",
    "span.capture": "the recorded time",
    # What takes most of it, after a headline.
    "mostly.none": "",
    # What need not be of the work, by the fact that its remedy is for: this says more than names.
    "mostly.bf16_on_cpu": ", in bfloat16",
    "mostly.broadcasts_pairs": ", on arrays of all pairs",
    "mostly.builds_hessian": ", for gradients of gradients",
    "mostly.builds_jacobian": ", for a whole Jacobian",
    "mostly.computes_all_experts": ", for all experts",
    "mostly.copies_tables": ", on whole tables",
    "mostly.copies_updated": ", copying whole arrays",
    "mostly.dense_embedding": ", on whole tables",
    "mostly.determinant_of_jacobian": ", for a whole Jacobian",
    "mostly.discards_gradients": ", with unused gradients",
    "mostly.drops_out": ", with dropout in inference",
    "mostly.float64": ", in float64",
    "mostly.forward_gradient": ", for a forward-mode gradient",
    "mostly.gathers_in_loop": ", on whole tables",
    "mostly.gathers_turns": ", repeated on each device",
    "mostly.growing_input": ", recomputing earlier positions",
    "mostly.half_on_cpu": ", in float16",
    "mostly.multiplies_adjacency": ", on adjacency matrices",
    "mostly.multiplies_one_hot": ", with products by one-hot vectors",
    "mostly.new_input": ", building new pipelines",
    "mostly.recomputes": ", recomputing forward passes",
    "mostly.recomputes_weights": ", recomputing weights",
    "mostly.regularizes_tables": ", on whole tables",
    "mostly.repeated_backward": ", repeating gradients",
    "mostly.repeats_work": ", repeated on each device",
    "mostly.replicates": ", repeated on each device",
    "mostly.runs_hooks": ", with hooks of layers",
    "mostly.runs_graph_twice": ", repeating gradients",
    "mostly.pads_turns": ", in turns of a loop",
    "mostly.second_order": ", for gradients of gradients",
    "mostly.splits_weights": ", repeated on each device",
    "mostly.takes_turns": ", in turns of a loop",
    "mostly.unused_forward": ", with an unused forward pass",
    "mostly.updates_tables": ", on whole tables",
    "mostly.part": "{names} for {time_ps}",
    "mostly.some": ", mostly {names}",
    "mostly.from": ", mostly {name} in {line}",
    "mostly.led": ", led by {name}",
    "mostly.in": ", in {label}",
    "mostly.unrecorded": ", mostly not recorded",
    "mostly.once": ", mostly in one gap",
    "mostly.seldom": ", mostly in {count} gaps",
    "mostly.every": ", once in {every} steps",
    "mostly.not_recorded": ". The {device} was not recorded",
    # Names of what takes the time of a cause.
    "names.none": "",
    "names.some": " Mostly {names}.",
    "names.largest": " Largest: {names}.",
    "names.each": "{name} ({each_ps} per step)",
    "names.once": "{name} ({each_ps})",
    "names.seldom": "{name} ({each_ps}, in {share} of the steps)",
    "names.calls": "{name} ({step_ps} in {count} calls)",
    "names.calls_of_step": "{name} ({step_ps} per step, in {count} calls)",
    "names.share": "{name} ({share})",
    "names.with_before": "{name} ({each_ps} with what comes before it, in {share} of the steps)",
    "names.few": "{names}{few}",
    "names.many_calls": "{names} Recording so many calls took part of this time.",
    "names.many_ops": "{names} Recording so many ops took part of this time.",
    "names.with_ops": "{names} The ops themselves take {time_ps} of it.",
    "names.with_python": "{names} Python between them takes {time_ps} of it.",
    "names.unrecorded": " Nothing was recorded in {share} of it.",
    "names.with_line": "{names} Most of {name} comes from {line}.",
    "names.with_op": "{names} Largest op: {name} ({share}).",
    "names.with_kernel": "{names} Largest kernel: {name} ({share}).",
    # Programs of XLA that compute.
    "devices.one": "",
    "devices.several": (
        " This is the time in which at least one of {count} devices computes. "
        "Each computes for {share} of the step on average."
    ),
    "programs.none": "",
    "programs.several": " Programs: {names}.",
    "programs.repeated": " Programs: {names}. {name} repeats the forward pass of {second_name}.",
    # Ranks of a job that are not here.
    "ranks.none_missing": "",
    "ranks.missing": " With {count} of {ranks_count} ranks captured, waits for slower ranks cannot be distinguished "
    "from transfers.",
    # Headlines, by cause.
    "headline.compute": f"Compute on the {{device}} {_TAKES}",
    "headline.cpu_compute": f"Compute on the CPU {_TAKES}",
    "headline.host": f"The {{device}} waits {_PART}, mostly {{parts}}.",
    "headline.host.cpu": f"Host overhead takes {_PART}, mostly {{parts}}.",
    "headline.input": f"Waiting for input {_TAKES}",
    "headline.input.stage": f"Waiting for input takes {_PART}; the slowest stage is {{stage}}.",
    "headline.input.ready": f"Waiting for input takes {_PART}, though elements were ready.",
    "headline.input.idle": _IDLE_INPUT,
    "headline.input.timeout": f"Waits for input until timeouts {_TAKE}",
    "headline.input.python": f"Waiting for input from Python {_TAKES}",
    "headline.compile": f"Compiling functions {_TAKES}",
    "headline.retrace": f"Retracing functions {_TAKES}",
    "headline.eager": f"Eager execution takes {_PART}: {{count}} ops are dispatched one by one.",
    "headline.eager.function": f"Eager execution takes {_PART}: {{name}} dispatches {{count}} of {{all_count}} ops.",
    "headline.cpu_ops": f"CPU ops {_TAKE}",
    "headline.start_up": f"Initialization {_TAKES}",
    "headline.thread_wait": f"Waiting for another thread {_TAKES}",
    "headline.thread_wait.timeout": f"Waiting until a timeout {_TAKES}",
    "headline.event_wait": f"Waiting for events {_TAKES}",
    "headline.sync": f"Host synchronization {_TAKES}",
    "headline.sync.several": f"Host synchronization takes {_PART} in {{count}} waits{{names}}.",
    "headline.transfer": f"Staging transfers on the host {_TAKES}",
    "headline.callback": f"Host callbacks {_TAKE}",
    "headline.pause": f"Pauses for {{parts}} {_TAKE}",
    "headline.pause.other": f"Pauses of the loop {_TAKE}",
    "headline.allocator": f"Memory allocation {_TAKES}",
    "headline.collective_host": f"Host-side communication {_TAKES}",
    "headline.dispatch": f"Framework overhead {_TAKES}",
    "headline.python": f"Python {_TAKES}",
    "headline.unrecorded": f"Nothing computes for {_PART}; the reason was not recorded.",
    "headline.launch": f"Launching ops {_TAKES}",
    "headline.latency": f"Launch delay {_TAKES}",
    "headline.between": f"Gaps between ops {_TAKE}",
    "headline.pauses": f"Pauses between long ops take {_PART}: CPU threads did not run.",
    "headline.peer": f"Waiting for other devices {_TAKES}",
    "headline.stream": f"Waiting in a stream {_TAKES}",
    "headline.before_capture": f"Work from before the capture {_TAKES}",
    "headline.unexplained": f"Nothing explains {_PART}, in which the {{device}} is idle.",
    "headline.sampled": f"Nothing explains {_PART}, since only 1 in {{count}} ops was recorded.",
    "headline.between_steps": f"Code between steps {_TAKES}",
    "headline.between_steps.unrecorded": f"No step runs for {_PART}{{names}}.",
    "headline.evaluation": f"Evaluation or prediction {_TAKES}",
    "headline.warmup": "Warm-up takes {time_ps} more per step, over all steps.",
    "headline.unusual_steps": "{count} of {steps} steps take {factor} times as long as the others{names}.",
    "headline.unusual_steps.one": "1 of {steps} steps takes {factor} times as long as the others{names}.",
    "headline.unusual_steps.every": "One step in {every} takes {factor} times as long as the others{names}.",
    "headline.exposed_collective": f"Exposed communication {_TAKES}",
    "headline.exposed_copy": f"Exposed copies {_TAKE}",
    "headline.late_peer": f"Straggler {{host}} delays others by {_PART}, mostly in {{label}}.",
    "headline.late_peer.every": f"Straggler {{host}} costs {_PART}, every {{every}} steps{{names}}.",
    "headline.host_offload": f"Copies with host memory {_TAKE}",
    "headline.not_recorded": f"The {{device}} was not recorded; the host waits for it {_PART}.",
    "headline.not_recorded.works": f"The {{device}} was not recorded; the host works {_PART}, mostly {{label}}.",
    "headline.counted": "CUPTI replayed each of {count} kernels to collect metrics, so their times are not real.",
    "headline.gpu_unused": f"The GPU is unused: CPU compute {_TAKES}",
    "headline.nothing": "The capture holds no events, so there is nothing to judge.",
    # About the input alone.
    "input.none": "Nothing waits for input.",
    "input.little": f"Waiting for input takes {_PART}.",
    "input.idle": _IDLE_INPUT,
    # Causes, as rows of a table.
    "cause.compute": "The {device} computes.{devices}{names}{programs}",
    "cause.input": "The loop waits for its next input.{names}",
    "cause.input.stage": "The loop waits for its next input; the slowest stage is {stage}.{names}",
    "cause.input.idle": "The loop waits for its next input, but steps that do not wait last as long.{names}",
    "cause.input.ready": "Elements were ready, but the loop's thread was delayed.{names}",
    "cause.input.timeout": "The loop waits for its next input until a timeout ends the wait.{names}",
    "cause.input.python": "The loop waits for input that Python code makes within tf.data.{names}",
    "cause.compile": "Functions are traced or compiled during the steps.{names}",
    "cause.retrace": "Functions are traced again during the steps.{names}",
    "cause.eager": "The host dispatches {count} ops one by one in each step.{names}",
    "cause.eager.slow": (
        "The host dispatches {count} ops one by one in each step; that takes longer than the ops.{names}"
    ),
    "cause.eager.short": "The host dispatches {count} short ops one by one in each step.{names}",
    "cause.eager.function.short": "{name} dispatches {count} of {all_count} short ops one by one in each step.{names}",
    "cause.eager.function": "{name} dispatches {count} of {all_count} ops one by one in each step.{names}",
    "cause.eager.function.slow": (
        "{name} dispatches {count} of {all_count} ops one by one in each step; that takes longer than the ops.{names}"
    ),
    "cause.cpu_ops": "Ops run on the CPU, in the thread that launches the device's work.{names}",
    "cause.start_up": "First calls create the driver's context and load libraries.{names}",
    "cause.thread_wait": "The loop waits for another thread or process of the program.{names}",
    "cause.thread_wait.timeout": "The loop waits for another thread until a timeout ends the wait.{names}",
    "cause.event_wait": "The loop waits for events: the network, timers or other processes.{names}",
    "cause.sync": "The host is blocked in a call while nothing computes.{names}",
    "cause.sync.several": "The host is blocked in {count} calls per step while nothing computes.{names}",
    "cause.transfer": "The host stages or converts data for a copy.{names}",
    "cause.callback": "The device waits for a function of the host.{names}",
    "cause.pause": "The loop pauses for {parts}.{few}{names}",
    "cause.pause.other": "The loop pauses.{few}{names}",
    "cause.allocator": "The host allocates or frees memory.{names}",
    "cause.collective_host": "Hosts communicate, and nothing computes meanwhile.{names}{ranks}",
    "cause.dispatch": "The framework's own code runs, and nothing computes meanwhile.{names}",
    "cause.python": "Python runs, and nothing computes meanwhile.{names}",
    "cause.unrecorded": "Nothing computes; the reason was not recorded.{before}",
    "cause.launch": "The host launches work, and nothing computes meanwhile.{names}",
    "cause.latency": "Work was launched to an idle {device} but has not begun.{names}",
    "cause.between": "The {device} idles between one piece of launched work and the next.{names}",
    "cause.pauses": "Ops are long, yet the threads that run them pause between them.{names}",
    "cause.peer": "A device waits for another device.{names}",
    "cause.stream": "A stream waits for an event whose work was not recorded.{names}",
    "cause.before_capture": "The device waits for work that was launched before the capture.{names}",
    "cause.unexplained": "The {device} is idle; the reason was not recorded.{names}",
    "cause.between_steps": "Time between the end of a step and the start of the next.{few}{names}",
    "cause.evaluation": "The loop evaluates or predicts between steps.{few}{names}",
    "cause.warmup": "Slow first steps: {count}. Time and share are means over all steps.{names}",
    "cause.unusual_steps": "Steps that take {factor} times as long as the others: {count} of {steps}{period}. "
    "Time and share are means over all steps.{names}",
    "cause.exposed_collective": "Workers communicate, and compute nothing meanwhile.{names}{ranks}",
    "cause.exposed_copy": "Devices copy data, and compute nothing meanwhile.{names}",
    "cause.late_peer.every": "{host} is {more_ps} slower per step, and the other workers wait for it every {every} "
    "steps, mostly in {label}.{names}",
    "cause.late_peer": "The other workers wait for {host}, mainly since its {label} takes {more_ps} longer per step."
    "{names}",
    "cause.host_offload": "Arrays are copied to or from host memory, and nothing computes meanwhile.{names}",
    "cause.gpu_unused": "The program computes on the CPU, though the capture names a GPU.{names}",
    "cause.not_recorded": "The capture names a {device} but holds no event of it.{names}",
    "cause.counted": "CUPTI replayed each of {count} kernels to collect metrics; these are not their usual times.",
    "cause.collective_host.unrecorded": f"Hosts communicate{_DEVICE_UNKNOWN}{{ranks}}",
    "cause.dispatch.unrecorded": f"The framework's own code runs{_DEVICE_UNKNOWN}",
    "cause.python.unrecorded": f"Python runs{_DEVICE_UNKNOWN}",
    "cause.launch.unrecorded": f"The host launches work{_DEVICE_UNKNOWN}",
    "cause.callback.unrecorded": f"A function of the host runs{_DEVICE_UNKNOWN}",
    "pause.checkpoint": "checkpoints",
    "pause.evaluation": "evaluation",
    "pause.summary": "summaries",
    "pause.printing": "printing",
    "pause.hook": "callbacks",
    "before.none": "",
    "before.some": " Most of it comes before {name}.",
    "few.none": "",
    "few.some": " {share} of it lies in {count} of {gaps_count} such gaps{period}.",
    "few.steps": " {share} of it lies in {count} of {steps_count} steps.",
    "period.none": "",
    "period.every": ", every {count} steps",
    # Kernels of which other ones take less time.
    "kernels.channels_last": "Kernels only convert between NCHW and NHWC around convolutions: {count} per step, which "
    "take {time_ps}.",
    "kernels.alignment": "Matrix products load one or two numbers at a time (align1, align2): {count} per step, which "
    "take {time_ps}.",
    "kernels.algorithm": "cuDNN's general algorithms compute convolutions: {count} kernels per step, which take "
    "{time_ps}.",
    "ddp_copies": "DistributedDataParallel copies buffers and gradients on the host for {time_ps} per step.",
    # What a step would last if an op took another time.
    "scaled.shorter": "{name} at {factor} times its {op_ps}: the step takes at least {time_ps}, not {step_ps} "
    "({share} less).",
    "scaled.longer": "{name} at {factor} times its {op_ps}: the step takes {time_ps}, not {step_ps} ({share} more).",
    "scaled.same": "{name} at {factor} times its {op_ps}: the step still takes {time_ps}, since other work is the "
    "limit.",
    # Of what next to nothing can be won.
    "won.host": "{names} Removing only this hardly helps: the host is the limit.",
    "won.others": "{names} Removing only this hardly helps: the step waits for other work meanwhile.",
    "won.together": "{names} Removing only this saves little: the host is late in other ways, too.",
    "won.pace": "{names} Nearly every step waits for it, so faster compute alone saves nothing.",
    "won.ahead": "{names} Nearly every step waits for it, though it is made ahead of the step.",
    "won.shared": "{names} Work that is shared equally saves {share} of the wait.",
    "won.more": "{names} Removing it saves more, since other waits end, too.",
    # Why a step is not like the others.
    "unusual.longer": "{name} takes {more_ps} more than in the typical step",
    "unusual.unknown": "no single event explains it",
    "unusual.shorter": "{name} takes {more_ps} less than in the typical step",
    "unusual.new": "{name}, which the typical step lacks, takes {more_ps}",
    # Lists of several things.
    "list.1": "{name}",
    "list.2": "{name} and {second_name}",
    "list.3": "{name}, {second_name} and {third_name}",
    # Names of parts of time and causes within a sentence.
    **{f"label.{id}": label if label in _PROPER else label[0].lower() + label[1:] for id, label in LABELS.items()},
    "label.unrecorded": "unrecorded code",
}
