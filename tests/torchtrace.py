"""Draws traces as PyTorch's profiler writes them: events in a few words, times in µs."""

import json
from typing import Any

from tb_profile_plugin.formats import recognize
from tb_profile_plugin.model.host import Host, HostWithSteps

BASE_NS = 1_751_410_836_000_000_000
MAIN, BACKWARD = 7, 8
V100 = {"id": 0, "name": "Tesla V100", "totalGlobalMem": 34 << 30, "computeMajor": 7, "computeMinor": 0, "numSms": 80}


def on_host(cat: str, name: str, begin: float, duration: float, tid: int = MAIN, **args: Any) -> dict[str, Any]:
    return {"ph": "X", "cat": cat, "name": name, "pid": 7, "tid": tid, "ts": begin, "dur": duration, "args": args}


def op(name: str, begin: float, duration: float, tid: int = MAIN, **args: Any) -> dict[str, Any]:
    return on_host("cpu_op", name, begin, duration, tid, **args)


def mark(name: str, begin: float, duration: float) -> dict[str, Any]:
    return on_host("user_annotation", name, begin, duration)


def frame(name: str, begin: float, duration: float, tid: int = MAIN) -> dict[str, Any]:
    return on_host("python_function", name, begin, duration, tid)


def launch(correlation: int, begin: float, duration: float = 1, tid: int = MAIN) -> dict[str, Any]:
    return on_host("cuda_runtime", "cudaLaunchKernel", begin, duration, tid, correlation=correlation)


def on_device(
    correlation: int, begin: float, duration: float, name: Any = "gemm", cat: Any = "kernel", **args: Any
) -> dict[str, Any]:
    stated = {"device": 0, "stream": 7, "correlation": correlation, **args}
    return {"ph": "X", "cat": cat, "name": name, "pid": 0, "tid": 7, "ts": begin, "dur": duration, "args": stated}


def memory(size: int, begin: float, address: int, total: int) -> dict[str, Any]:
    told = {"Bytes": size, "Addr": address, "Device Type": 1, "Device Id": 0, "Total Allocated": total}
    return {"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "pid": 7, "tid": MAIN, "ts": begin, "args": told}


def text(*events: dict[str, Any], **header: Any) -> str:
    whole = {"schemaVersion": 1, "deviceProperties": [V100], "baseTimeNanoseconds": BASE_NS, **header}
    return json.dumps(whole | {"traceEvents": list(events)})


def host(*events: dict[str, Any], **header: Any) -> HostWithSteps:
    """A worker that recorded these events."""
    return Host("worker", recognize.decode(text(*events, **header).encode(), "worker")).with_steps()
