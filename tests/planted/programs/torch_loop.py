"""A loop that trains with PyTorch on a GPU under its profiler."""

import os
from contextlib import nullcontext

import torch
from torch.profiler import ProfilerActivity, profile, record_function, schedule

SIZE = 4096


class Model:
    """Its steps wait for their loss, as loops do that print it."""

    def __init__(self, layers=8, size=SIZE):
        torch.manual_seed(0)
        blocks = [torch.nn.Sequential(torch.nn.Linear(size, size), torch.nn.Tanh()) for _ in range(layers)]
        self.net = torch.nn.Sequential(*blocks).cuda().bfloat16()
        self.optimizer = torch.optim.SGD(self.net.parameters(), 1e-4)
        self.batch = torch.randn(size, size, device="cuda", dtype=torch.bfloat16)

    def dispatch(self, batch=None):
        self.optimizer.zero_grad()
        loss = self.net(self.batch if batch is None else batch).float().square().mean()
        loss.backward()
        self.optimizer.step()
        return loss

    def step(self, batch=None):
        return self.dispatch(batch).item()


def loop(clock, work, steps=12, marked=True, stacks=False, warm=3, waits=True):
    """Steps; all their work is done when the clock stops. Without ``waits`` they only dispatch theirs."""
    for number in range(warm):
        work(number)
    torch.cuda.synchronize()
    activities = [ProfilerActivity.CPU, ProfilerActivity.CUDA]
    with profile(activities=activities, with_stack=stacks) as profiler:
        for number in range(steps):
            clock.begin()
            with record_function(f"ProfilerStep#{number}") if marked else nullcontext():
                work(number)
            if waits:
                clock.end()
        torch.cuda.synchronize()
        clock.stop()
    save(clock, profiler)


def scheduled(clock, work, steps=10):
    """As PyTorch's guide has it: some steps are skipped, one warms the profiler up, the others are recorded."""
    activities = [ProfilerActivity.CPU, ProfilerActivity.CUDA]
    ready = []
    with profile(
        activities=activities, schedule=schedule(wait=2, warmup=1, active=steps, repeat=1), on_trace_ready=ready.append
    ) as profiler:
        for number in range(3 + steps):
            if number >= 3:
                clock.begin()
            work(number)
            if number == 2 + steps:
                clock.stop()
            profiler.step()
    save(clock, ready[0])


def save(clock, profiler):
    """Under a name by which it is found."""
    os.makedirs(clock.folder, exist_ok=True)
    profiler.export_chrome_trace(f"{clock.folder}/worker.1.pt.trace.json.gz")
