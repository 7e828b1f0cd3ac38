"""PyTorch on a GPU: input, sleeps, Python and checkpoints that keep the device waiting, in a small training loop."""

import gc
import os
import queue
import tempfile
import threading
import time

import numpy as np
import torch
from clock import main
from torch.profiler import record_function
from torch.utils.data import DataLoader, Dataset
from torch_loop import SIZE, Model, loop, scheduled


class Slow(Dataset):
    """Rows whose reading sleeps."""

    def __init__(self, seconds, count=400):
        self.seconds, self.count = seconds, count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        if self.seconds:
            time.sleep(self.seconds)
        return torch.ones(SIZE, dtype=torch.bfloat16)


def loading(clock, seconds, workers, **how):
    """What counts is how long the loop waits for the loader."""
    model, batches = Model(), iter(DataLoader(Slow(seconds), batch_size=8, num_workers=workers))

    def work(number):
        with clock.planting():
            batch = next(batches)
        model.step(batch.cuda().expand(8, SIZE).repeat(SIZE // 64, 1))

    loop(clock, work, **how)


def torch_loader(clock, cause):
    loading(clock, 0.003 if cause else 0, 0)


def torch_loader_stacks(clock, cause):
    loading(clock, 0.003 if cause else 0, 0, stacks=True)


def torch_loader_unmarked(clock, cause):
    loading(clock, 0.003 if cause else 0, 0, marked=False)


def torch_loader_workers(clock, cause):
    loading(clock, 0.01 if cause else 0, 2)


def torch_generator(clock, cause):
    """No DataLoader: a plain generator, which PyTorch does not mark."""
    model = Model()

    def batches():
        while True:
            if cause:
                with clock.planting():
                    time.sleep(0.02)
            yield model.batch

    source = batches()
    loop(clock, lambda number: model.step(next(source)))


def sleeping(clock, cause, run=loop, **how):
    model = Model()

    def work(number):
        model.step()
        if cause:
            with clock.planting():
                time.sleep(0.02)

    run(clock, work, **how)


def torch_sleep(clock, cause):
    sleeping(clock, cause)


def torch_sleep_stacks(clock, cause):
    sleeping(clock, cause, stacks=True)


def torch_sleep_unmarked(clock, cause):
    sleeping(clock, cause, marked=False)


def torch_sleep_scheduled(clock, cause):
    sleeping(clock, cause, scheduled)


def torch_annotated(clock, cause):
    """What is slow has a name by record_function()."""
    model, values = Model(), np.random.rand(512, 1024)

    def work(number):
        if cause:
            with clock.planting():
                with record_function("augment"):
                    np.abs(np.fft.fft2(values)).sum()
        model.step()

    loop(clock, work)


def torch_evaluation(clock, cause):
    """An evaluation after each fourth step."""
    model = Model()

    def work(number):
        model.step()
        if cause and number % 4 == 3:
            with clock.planting():
                with torch.no_grad(), record_function("evaluate"):
                    for _ in range(10):
                        model.net(model.batch).float().square().mean().item()

    loop(clock, work, steps=16)


def torch_python_each(clock, cause):
    """200 µs of Python before each of 100 ops."""
    x = torch.ones(2048, 2048, device="cuda", dtype=torch.bfloat16)

    def work(number):
        value = x
        for _ in range(100):
            if cause:
                with clock.planting():
                    sum(range(8000))
            value = torch.mm(value, x)
        torch.cuda.synchronize()

    loop(clock, work)


def torch_host_metric(clock, cause):
    """A metric worked out by numpy on the host."""
    model, values = Model(), np.random.rand(512, 1024)

    def work(number):
        model.step()
        if cause:
            with clock.planting():
                np.abs(np.fft.fft2(values)).sum()

    loop(clock, work)


def torch_collecting_garbage(clock, cause):
    model, kept = Model(), [[number] for number in range(300_000)]

    def work(number):
        model.step()
        if cause:
            with clock.planting():
                gc.collect()

    loop(clock, work)
    del kept


def torch_busy_thread(clock, cause):
    """Another Python thread computes all the time, and many small ops need the interpreter."""
    over = threading.Event()

    def busy():
        while not over.is_set():
            sum(range(1000))

    thread = threading.Thread(target=busy)
    if cause:
        thread.start()
    model = Model()
    loop(clock, lambda number: model.step())
    over.set()
    if cause:
        thread.join()


def torch_checkpoint(clock, cause):
    """torch.save() in each fifth step."""
    model, weights = Model(), torch.ones(64 << 20, device="cuda")
    with tempfile.TemporaryDirectory() as folder:

        def work(number):
            model.step()
            if cause and number % 5 == 2:
                with clock.planting():
                    torch.save(weights, os.path.join(folder, "checkpoint.pt"))

        loop(clock, work, steps=15)


def torch_prefetched(clock, cause):
    """Nothing to blame: a thread sleeps 5 ms for each batch, and is ahead."""
    model, ready = Model(layers=24), queue.Queue(maxsize=2)

    def fill():
        while True:
            if cause:
                time.sleep(0.005)
            ready.put(model.batch)

    threading.Thread(target=fill, daemon=True).start()
    loop(clock, lambda number: model.step(ready.get()))


def torch_sampled_graph(clock, cause):
    """A graph network whose part of the graph is chosen by ops on the CPU in each step; without: the same part."""
    from torch_geometric.nn import GCNConv
    from torch_geometric.utils import k_hop_subgraph

    nodes_count = 200_000
    edges, features = torch.randint(0, nodes_count, (2, 2_000_000)), torch.randn(nodes_count, 128, device="cuda")
    layers = GCNConv(128, 256).cuda(), GCNConv(256, 64).cuda()
    optimizer = torch.optim.Adam([weight for layer in layers for weight in layer.parameters()], 1e-3)

    def part(number):
        chosen = torch.arange(number * 10, number * 10 + 1000)
        return k_hop_subgraph(chosen, 2, edges, relabel_nodes=True)[:2]

    ready = [each.cuda() for each in part(0)]

    def work(number):
        nodes, between = ready
        if cause:
            with clock.planting():
                found = part(number)
            nodes, between = (each.cuda() for each in found)
        optimizer.zero_grad()
        loss = layers[1](layers[0](features[nodes], between).relu(), between).square().mean()
        loss.backward()
        optimizer.step()
        loss.item()

    loop(clock, work, steps=6)


main(
    [
        torch_sampled_graph,
        torch_loader,
        torch_loader_stacks,
        torch_loader_unmarked,
        torch_loader_workers,
        torch_generator,
        torch_sleep,
        torch_sleep_stacks,
        torch_sleep_unmarked,
        torch_sleep_scheduled,
        torch_annotated,
        torch_evaluation,
        torch_python_each,
        torch_host_metric,
        torch_collecting_garbage,
        torch_busy_thread,
        torch_checkpoint,
        torch_prefetched,
    ]
)
