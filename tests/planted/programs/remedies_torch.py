"""PyTorch on the CPU: steps before and after what a remedy says; the clock runs while no profiler does."""

import os

import torch
from clock import main
from torch.profiler import ProfilerActivity, profile, record_function

STEPS = 6
torch.set_num_threads(1)
"""Others use the machine, too: threads that wait for each other would measure that."""


def loop(clock, step):
    """Measured first, then captured."""
    for _ in range(2):
        step()
    for _ in range(STEPS):
        clock.begin()
        step()
        clock.end()
    clock.stop()
    with profile(activities=[ProfilerActivity.CPU]) as profiler:
        for number in range(STEPS):
            with record_function(f"ProfilerStep#{number}"):
                step()
    os.makedirs(clock.folder, exist_ok=True)
    profiler.export_chrome_trace(f"{clock.folder}/worker.1.pt.trace.json.gz")


def torch_dense_embedding(clock, cause):
    """Gradients of a whole table, of which a step reads a few rows."""
    embedding = torch.nn.Embedding(400_000, 64, sparse=not cause)
    head = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.ReLU(), torch.nn.Linear(256, 1))
    optimizer = torch.optim.SGD([*embedding.parameters(), *head.parameters()], 1e-2)

    def step():
        optimizer.zero_grad()
        head(embedding(torch.randint(0, 400_000, (2048,)))).square().mean().backward()
        optimizer.step()

    loop(clock, step)


def torch_anomaly_mode(clock, cause):
    """Autograd looks for NaN in each gradient."""
    layers = [layer for _ in range(20) for layer in (torch.nn.Linear(64, 64), torch.nn.Tanh())]
    net, batch = torch.nn.Sequential(*layers), torch.randn(64, 64)
    optimizer = torch.optim.SGD(net.parameters(), 1e-2)

    def step():
        optimizer.zero_grad()
        net(batch).square().mean().backward()
        optimizer.step()

    with torch.autograd.set_detect_anomaly(cause):
        loop(clock, step)


def torch_growing_cat(clock, cause):
    """Each token is concatenated to all before it, or written into its place."""
    tokens, row = 200, torch.randn(64, 1, 512)

    def step():
        rows = torch.empty(64, 0 if cause else tokens, 512)
        for token in range(tokens):
            if cause:
                rows = torch.cat([rows, row], 1)
            else:
                rows[:, token : token + 1] = row

    loop(clock, step)


main([torch_dense_embedding, torch_anomaly_mode, torch_growing_cat])
