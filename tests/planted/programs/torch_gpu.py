"""PyTorch on a GPU: launches, waits, copies and memory that keep the device waiting; and what only computes."""

import time

import torch
from clock import main
from torch_loop import Model, loop


def torch_small_copies(clock, cause):
    """300 small tensors are copied to the device one by one; without: one that holds them all."""
    model, rows = Model(), [torch.ones(64, 64) for _ in range(300)]

    def work(number):
        if cause:
            with clock.planting():
                for row in rows:
                    row.cuda()
        else:
            torch.stack(rows).cuda()
        model.step()

    loop(clock, work)


def torch_synchronize_each(clock, cause):
    """synchronize() after each of 200 ops that take 60 µs."""
    x = torch.ones(2048, 2048, device="cuda", dtype=torch.bfloat16)

    def work(number):
        value = x
        for _ in range(200):
            value = torch.mm(value, x)
            if cause:
                torch.cuda.synchronize()
        torch.cuda.synchronize()

    loop(clock, work)


def torch_item_each(clock, cause):
    """.item() after each of 300 small ops."""
    x = torch.eye(256, device="cuda")

    def work(number):
        value = x
        for _ in range(300):
            value = torch.tanh(value @ x)
            if cause:
                value[0, 0].item()
        torch.cuda.synchronize()

    loop(clock, work)


def torch_tiny_ops(clock, cause):
    """2,000 small ops launched one by one; without: the same as one CUDA graph."""
    x = torch.ones(64, 64, device="cuda")

    def body():
        value = x
        for _ in range(1000):
            value = torch.tanh(value * 0.5)
        return value

    body()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        body()

    def work(number):
        if cause:
            body()
        else:
            graph.replay()
        torch.cuda.synchronize()

    loop(clock, work)


def torch_optimizer_loop(clock, cause):
    """Adam over 300 parameters one by one; without: all in one kernel."""
    weights = [torch.nn.Parameter(torch.ones(64, 64, device="cuda")) for _ in range(300)]
    kind = {"foreach": False, "fused": False} if cause else {"fused": True}
    optimizer, model = torch.optim.Adam(weights, 1e-4, **kind), Model()
    for weight in weights:
        weight.grad = torch.ones_like(weight)

    def work(number):
        optimizer.step()
        model.step()

    loop(clock, work)


def torch_upload(clock, cause):
    """256 MB of pageable memory are copied to the device in each step."""
    model, images = Model(), torch.ones(64 << 20)

    def work(number):
        if cause:
            with clock.planting():
                images.cuda()
                torch.cuda.synchronize()
        model.step()

    loop(clock, work)


def torch_upload_ahead(clock, cause):
    """Nothing to blame: pinned memory is copied on another stream while longer steps compute."""
    model, images = Model(layers=24 if cause else 12), torch.ones(16 << 20).pin_memory()
    stream = torch.cuda.Stream()

    def work(number):
        with torch.cuda.stream(stream):
            images.to("cuda", non_blocking=True)
        model.step()

    loop(clock, work)


def torch_fetch(clock, cause):
    """256 MB are read back in each step."""
    model, images = Model(), torch.ones(64 << 20, device="cuda")

    def work(number):
        model.step()
        if cause:
            with clock.planting():
                images.cpu()

    loop(clock, work)


def torch_empty_cache(clock, cause):
    """The allocator's cache is emptied in each step."""
    model = Model()

    def work(number):
        large = [torch.empty(32 << 20, device="cuda") for _ in range(40)]
        del large
        model.step()
        if cause:
            torch.cuda.empty_cache()

    loop(clock, work)


def torch_every_tenth(clock, cause):
    """Each tenth step computes ten times as much."""
    model = Model()

    def work(number):
        for _ in range(10 if cause and number % 10 == 4 else 1):
            model.dispatch()
        torch.cuda.synchronize()

    loop(clock, work, steps=30)


def torch_warm_up(clock, cause):
    """The first step is the first of all: libraries and kernels are loaded."""
    model = Model(layers=4, size=1024 if cause else 1088)

    def work(number):
        if cause and number == 0:
            with clock.planting():
                torch.linalg.svd(torch.rand(700, 700, device="cuda"))
                torch.fft.fft(torch.rand(700, 700, device="cuda")).sum().item()
        model.step()

    loop(clock, work, warm=0 if cause else 3)


def torch_new_shape(clock, cause):
    """torch.compile() with a new shape each step."""

    @torch.compile(dynamic=False)
    def step(x):
        return torch.tanh(x * 2 + 1).sum()

    torch._dynamo.config.cache_size_limit = 64
    inputs = [torch.ones(1000 + 8 * number if cause else 1000, 512, device="cuda") for number in range(9)]
    step(inputs[-1])
    loop(clock, lambda number: step(inputs[number]).item(), steps=6, warm=0)


def torch_more_layers(clock, cause):
    """Nothing to blame: more layers take longer."""
    model = Model(layers=16 if cause else 8)
    loop(clock, lambda number: model.step())


def torch_asynchronous(clock, cause):
    """Nothing to blame: nobody waits for the loss."""
    model = Model(layers=16 if cause else 8)
    loop(clock, lambda number: model.dispatch(), waits=False)


def torch_asynchronous_sleep(clock, cause):
    """Nothing to blame: a sleep while the device still computes what was launched."""
    model = Model(layers=16)

    def work(number):
        model.dispatch()
        if cause:
            time.sleep(0.001)

    loop(clock, work, waits=False)


main(
    [
        torch_small_copies,
        torch_synchronize_each,
        torch_item_each,
        torch_tiny_ops,
        torch_optimizer_loop,
        torch_upload,
        torch_upload_ahead,
        torch_fetch,
        torch_empty_cache,
        torch_every_tenth,
        torch_warm_up,
        torch_new_shape,
        torch_more_layers,
        torch_asynchronous,
        torch_asynchronous_sleep,
    ]
)
