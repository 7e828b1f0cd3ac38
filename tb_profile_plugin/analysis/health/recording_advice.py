"""How to record what a capture lacks, in the terms of the profiler that recorded it."""

from __future__ import annotations

from collections.abc import Sequence

from ...model.framework import PYTORCH, framework
from ...model.host import Host
from ..diagnosis.remedies import UNRECORDED_REMEDY

STEPS, DEVICES, KERNELS, GPUS, MEMORY, PYTHON, TF_DATA = (
    *("steps", "devices", "kernels", "gpus", "memory", "python", "tf_data"),
)

_PYTORCH = {
    STEPS: "Mark them: call step() of torch.profiler.profile after each step of the loop.",
    DEVICES: (
        "Profile with activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]; if you do, look for errors of CUPTI or "
        "roctracer in the program's log."
    ),
    KERNELS: (
        "Profile with activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], and let the GPU work meanwhile; then "
        "look for errors of CUPTI or roctracer in the program's log."
    ),
    GPUS: (
        "Capture a program that runs on a GPU, with ProfilerActivity.CUDA among the activities; on the CPU, Ops shows "
        "what takes the time."
    ),
    MEMORY: "Profile with profile_memory=True.",
    PYTHON: "Compare step times with a trace that was recorded with with_stack=False.",
    TF_DATA: "The program runs in PyTorch: Input shows what it waits for its DataLoader.",
}
"""Options of torch.profiler.profile."""
_OTHERS = {
    STEPS: (
        "Mark them: tf.profiler.experimental.Trace('train', step_num=n, _r=1), jax.profiler.StepTraceAnnotation, "
        "or Keras' TensorBoard(profile_batch=...)."
    ),
    DEVICES: UNRECORDED_REMEDY,
    KERNELS: "Let the GPU work while capturing, and look for errors of CUPTI or ROCm in the log.",
    GPUS: "Capture a program that runs on a GPU; on the CPU, Ops shows what takes the time.",
    MEMORY: (
        "Allocators of GPUs and TPUs report to the profiler (TensorFlow's BFC allocator, JAX's as well) while it runs "
        "at host_tracer_level 2 or higher; those of the CPU seldom do. Capture steps that run on a device."
    ),
    PYTHON: "Compare step times with a capture at python_tracer_level=0.",
    TF_DATA: "If it uses tf.data, capture longer, over several steps, with a host tracer level of at least 2.",
}


def remedy(hosts: Sequence[Host], lacks: str) -> str:
    """What to do so that the next capture has what this one lacks, in a sentence or two."""
    terms = _PYTORCH if any(framework(host) == PYTORCH for host in hosts) else _OTHERS
    return terms[lacks]
