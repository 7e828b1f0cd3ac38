"""How to record what a capture lacks, in the terms of the profiler that recorded it."""

from __future__ import annotations

from collections.abc import Sequence

from ...model.devices.properties import AMD, NVIDIA, host_device_type
from ...model.framework import PYTORCH, framework
from ...model.host import Host
from ...runtime.messages import Message, message
from ..diagnosis.remedies.work_texts import UNRECORDED_AMD_REMEDY, UNRECORDED_NVIDIA_REMEDY, UNRECORDED_REMEDY

STEPS, DEVICES, KERNELS, GPUS = "steps", "devices", "kernels", "gpus"
MEMORY, PYTHON, TF_DATA = "memory", "python", "tf_data"
"""What a capture may lack."""

_PYTORCH_ADVICE = {
    STEPS: Message("Mark steps: call step() of torch.profiler.profile after every step of the loop."),
    DEVICES: Message(
        "Profile with activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], and check the "
        "program's log for CUPTI or roctracer errors."
    ),
    KERNELS: Message(
        "Profile with activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA] while the GPU works. "
        "Then check the program's log for CUPTI or roctracer errors."
    ),
    GPUS: Message("Capture a program that runs on a GPU, with ProfilerActivity.CUDA; on the CPU, open Ops."),
    MEMORY: Message("Profile with profile_memory=True."),
    PYTHON: Message("Record with with_stack=False to get true step times."),
    TF_DATA: Message("Open Input, which shows the waits for PyTorch's DataLoader."),
}
"""Options of torch.profiler.profile."""
_OTHER_ADVICE = {
    STEPS: Message(
        "Mark steps with tf.profiler.experimental.Trace('train', step_num=n, _r=1), "
        "jax.profiler.StepTraceAnnotation, or Keras' TensorBoard(profile_batch=...)."
    ),
    DEVICES: UNRECORDED_REMEDY,
    KERNELS: Message("Capture while the GPU works, and check the log for CUPTI or ROCm errors."),
    GPUS: Message("Capture a program that runs on a GPU; on the CPU, open Ops."),
    MEMORY: Message(
        "Capture steps that run on a GPU or TPU, at host_tracer_level 2 or higher. CPU allocators seldom report."
    ),
    PYTHON: Message("Capture at python_tracer_level=0 to get true step times."),
    TF_DATA: Message("If the program uses tf.data, capture several steps at host_tracer_level 2 or higher."),
}

_DEVICE_ADVICE = {NVIDIA: message(UNRECORDED_NVIDIA_REMEDY), AMD: message(UNRECORDED_AMD_REMEDY)}
"""How to record devices, by the vendor of all of them."""


def remedy(hosts: Sequence[Host], lacks: str) -> str:
    """What to do so that the next capture has what this one lacks, in a sentence or two."""
    if any(framework(host) == PYTORCH for host in hosts):
        return _PYTORCH_ADVICE[lacks]
    vendors = {host_device_type(host).partition(" ")[0] for host in hosts}
    if lacks == DEVICES and len(vendors) == 1:
        return _DEVICE_ADVICE.get(vendors.pop(), _OTHER_ADVICE[DEVICES])
    return _OTHER_ADVICE[lacks]
