"""Drawing captures in which a device waits for its host; times in µs."""

import draw

from tb_profile_plugin.model.host import HostWithSteps

US = 10**6
START = 100
"""What is drawn here begins then, so that something can be launched before."""

Span = tuple[float, float]


def kernels(*each: tuple[Span, Span | None], name: str = "gemm", stream: int = 7, first: int = 1) -> tuple[str, str]:
    """(launches, device events): each kernel from begin to end, and the call that launched it, or None."""
    calls, events = [], []
    for number, ((begin, end), call) in enumerate(each, first):
        events.append(f"{name}[{START + begin},{end - begin}]{{c={number}, kernel_details='regs:8'}}")
        if call:
            calls.append(f"cuLaunchKernel[{START + call[0]},{call[1] - call[0]}]{{c={number}}}")
    return " ".join(calls), f"  Stream #{stream}(Compute) | " + " ".join(events)


def events(name: str, *spans: Span) -> str:
    """Events of one name."""
    return " ".join(f"{name}[{START + begin},{end - begin}]" for begin, end in spans)


def captured(*threads: tuple[str, str], devices: list[list[str]]) -> HostWithSteps:
    """A host with these threads, and GPUs with these streams."""
    text = ["/host:CPU", *(f"  {name} | {row}" for name, row in threads if row)]
    for number, lines in enumerate(devices):
        text += [f"/device:GPU:{number}", *lines]
    return draw.host("\n".join(text))
