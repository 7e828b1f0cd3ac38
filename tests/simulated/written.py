"""What profilers would have written of a simulated program: PyTorch's, JAX's and TensorFlow's."""

import random
from typing import Any

import draw
import torchtrace
from simulated.machine import Event
from simulated.programs import OTHER, Program

from tb_profile_plugin.model.host import HostWithSteps

_START = 1000.0
"""When it begins, µs."""
_WAITS = ("cudaEventRecord", "cudaStreamWaitEvent")
_CALLS = {
    "cudaLaunchKernel": "cuLaunchKernel",
    "cudaGraphLaunch": "cuGraphLaunch",
    "cudaMemcpyAsync": "cuMemcpyAsync",
    "cudaDeviceSynchronize": "cuCtxSynchronize",
    "cudaStreamWaitEvent": "cuStreamWaitEvent",
    "cudaEventRecord": "cuEventRecord",
}
_COPIES = {"HtoD": "MemcpyH2D", "DtoH": "MemcpyD2H"}


def torch(program: Program, events: list[Event], states_waits: bool = True) -> HostWithSteps:
    """As PyTorch's profiler does; with ``states_waits`` it says which stream waited for which."""
    return torchtrace.host(*torch_events(program, events, states_waits))


_THREADS = {1: torchtrace.MAIN, 2: torchtrace.BACKWARD}


def torch_events(program: Program, events: list[Event], states_waits: bool = True) -> list[dict[str, Any]]:
    """What stands in a trace of PyTorch's profiler."""
    answer = []
    for event in events:
        at, time = round(_START + event.begin, 3), round(event.time, 3)
        call = {"correlation": event.correlation, "External id": event.correlation}
        if event.kind == "python":
            answer.append(torchtrace.frame(event.name, at, time, _THREADS[event.thread]))
        elif event.kind == "call" and (program.records_waits or event.name not in _WAITS):
            answer.append(torchtrace.on_host("cuda_runtime", event.name, at, time, _THREADS[event.thread], **call))
        elif event.kind == "op":
            answer.append(
                torchtrace.op(event.name, at, time, _THREADS[event.thread], **{"External id": event.correlation})
            )
        elif event.kind in ("kernel", "copy", "read"):
            device, stream = divmod(event.stream, OTHER)
            kind = "kernel" if event.kind == "kernel" else "gpu_memcpy"
            stated: dict[str, Any] = {"grid": [128, 1, 1]} if kind == "kernel" else {"bytes": 4096}
            stated |= {"device": device, "stream": stream}
            work = torchtrace.on_device(event.correlation, at, time, event.name, kind, **stated)
            answer.append(work | {"pid": device, "tid": stream})
        elif event.kind == "wait" and states_waits and program.records_waits:
            device, stream = divmod(event.stream, OTHER)
            stated = {"device": device, "stream": stream, "wait_on_stream": event.other % OTHER}
            work = torchtrace.on_device(event.correlation, at, 0, event.name, "cuda_sync", **stated)
            answer.append(work | {"pid": device, "tid": stream})
        elif event.kind == "step":
            answer.append(torchtrace.mark(event.name, at, time))
    return answer


def jax(program: Program, events: list[Event]) -> HostWithSteps:
    """As JAX does on GPUs: calls of the driver within a dispatch, and steps that ``StepTraceAnnotation`` marks."""
    return draw.host(_drawn(program, events, "python", "tf_backward/2"))


def tensorflow(program: Program, events: list[Event]) -> HostWithSteps:
    """As TensorFlow does on GPUs: executors launch what the loop's thread calls."""
    return draw.host(_drawn(program, events, "python", "tf_Compute/2"))


def _drawn(program: Program, events: list[Event], *threads: str) -> str:
    rows: dict[str, list[str]] = {}
    ops = {"aten::mm": "PjitFunction(train_step)", "aten::copy_": "DevicePut"}
    for event in events:
        at, time = f"{_START + event.begin:.6f}", f"{event.time:.6f}"
        linked = f"{{correlation_id={event.correlation}}}"
        thread = f"/host:CPU\n  {threads[event.thread - 1]}"
        if event.kind == "python":
            rows.setdefault(thread, []).append(
                f"${event.name.replace('(40): ', ':40 ').replace('(77): ', ':77 ')}[{at},{time}]"
            )
        elif event.kind == "op":
            rows.setdefault(thread, []).append(f"{ops.get(event.name, 'PjRtBuffer::ToLiteral')}[{at},{time}]")
        elif event.kind == "call" and (program.records_waits or event.name not in _WAITS):
            rows.setdefault(thread, []).append(f"{_CALLS[event.name]}[{at},{time}]{linked}")
        elif event.kind in ("kernel", "copy", "read"):
            device, stream = divmod(event.stream, OTHER)
            copy = next((name for part, name in _COPIES.items() if part in event.name), "")
            name, does = copy or event.name.partition("(")[0], copy or "Compute"
            stats = linked if copy else linked.replace("}", ", kernel_details='regs:8'}")
            line = f"/device:GPU:{device}\n  Stream #{stream}({does})"
            if event.kind == "read":
                line = f"/device:GPU:{device}\n  Stream #{stream}(Compute)"
            rows.setdefault(line, []).append(f"{name}[{at},{time}]{stats}")
        elif event.kind == "step":
            number = event.name.rpartition("#")[2]
            rows.setdefault(thread.replace(threads[event.thread - 1], threads[0]), []).append(
                f"train[{at},{time}]{{_r=1, step_num={number}}}"
            )
    planes: dict[str, list[str]] = {}
    for key, row in rows.items():
        plane, _, line = key.partition("\n")
        planes.setdefault(plane, []).append(f"{line} | {' '.join(row)}")
    return "\n".join("\n".join([plane, *lines]) for plane, lines in planes.items())


def states_waits(seed: int) -> bool:
    """Whether the profiler of a program's number says which streams waited."""
    return random.Random(f"{seed} stated").random() < 0.5
