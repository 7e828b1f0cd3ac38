"""PyTorch on the CPU: steps before and after what a remedy says; the clock runs while no profiler does."""

import os
import time

import numpy as np
import torch
from clock import main
from remote import Remote
from torch.profiler import ProfilerActivity, profile, record_function

STEPS = 6
torch.set_num_threads(1)
"""Others use the machine, too: threads that wait for each other would measure that."""


def loop(clock, step, steps=STEPS, **options):
    """Measured first, then captured."""
    for _ in range(2):
        step()
    for _ in range(steps):
        clock.begin()
        step()
        clock.end()
    clock.stop()
    with profile(activities=[ProfilerActivity.CPU], **options) as profiler:
        for number in range(steps):
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


def torch_attention(clock, cause):
    """Attention with a matrix of scores for each head."""
    heads, width, length = 4, 32, 1024
    inputs, outputs = torch.nn.Linear(heads * width, 3 * heads * width), torch.nn.Linear(heads * width, heads * width)
    batch = torch.randn(2, length, heads * width)
    optimizer = torch.optim.SGD([*inputs.parameters(), *outputs.parameters()], 1e-2)

    def attention(query, key, value):
        if not cause:
            return torch.nn.functional.scaled_dot_product_attention(query, key, value)
        return torch.softmax(query @ key.transpose(-2, -1) / width**0.5, -1) @ value

    def step():
        optimizer.zero_grad()
        parts = inputs(batch).view(2, length, 3, heads, width).permute(2, 0, 3, 1, 4)
        outputs(attention(*parts).transpose(1, 2).reshape(2, length, -1)).square().mean().backward()
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


def torch_float64(clock, cause):
    """Batches come from NumPy, whose numbers are float64."""
    layers = [layer for _ in range(6) for layer in (torch.nn.Linear(256, 256), torch.nn.ReLU())]
    net, batch = torch.nn.Sequential(*layers), torch.from_numpy(np.random.default_rng(0).normal(size=(256, 256)))
    net, batch = (net.double(), batch) if cause else (net, batch.float())
    loop(clock, lambda: net(batch).square().mean().backward(), record_shapes=True)


def torch_optimizer(clock, cause):
    """An optimizer updates many parameters one by one, or all at once."""
    layers = [torch.nn.Linear(32, 32) for _ in range(30)]
    net, batch = torch.nn.Sequential(*layers), torch.randn(16, 32)
    optimizer = torch.optim.AdamW(net.parameters(), 1e-4, fused=not cause)

    def step():
        optimizer.zero_grad()
        net(batch).square().mean().backward()
        optimizer.step()

    loop(clock, step)


def torch_eager(clock, cause):
    """Many small ops, or the code that a compiler makes of them."""

    def ops(x):
        for _ in range(150):
            x = torch.tanh(x * 0.9 + 0.1)
        return x.sum()

    run, batch = ops if cause else torch.compile(ops), torch.randn(16, 16)
    loop(clock, lambda: run(batch))


class Rows(torch.utils.data.Dataset):
    """Each row takes some milliseconds to make."""

    def __init__(self, count, seconds):
        self.count, self.seconds = count, seconds

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        time.sleep(self.seconds)
        return torch.randn(256)


def epochs(rows, **options):
    """Batches without end, from epoch to epoch."""
    loader = torch.utils.data.DataLoader(rows, batch_size=4, **options)
    while True:
        yield from loader


def train(clock, batches, steps=STEPS, **options):
    """Some milliseconds of work with each batch."""
    net = torch.nn.Sequential(torch.nn.Linear(256, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 256))

    def step():
        net(next(batches).repeat(100, 1)).square().mean().backward()

    loop(clock, step, steps, **options)


def torch_loader(clock, cause):
    """Rows are made by the loop itself, or by two workers."""
    train(clock, epochs(Rows(400, 0.004), num_workers=0 if cause else 2))


def torch_loader_workers(clock, cause):
    """One worker makes the rows, or four."""
    train(clock, epochs(Rows(400, 0.015), num_workers=1 if cause else 4))


def torch_loader_again(clock, cause):
    """Workers start with each epoch of four steps, or once."""
    train(clock, epochs(Rows(16, 0.0), num_workers=2, persistent_workers=not cause), 12)


def torch_python_loop(clock, cause):
    """Features are made of values one by one, or of all at once."""
    values = np.random.default_rng(0).normal(size=8_000)
    numbers, net = values.tolist(), torch.nn.Linear(1, 256)

    def features():
        if not cause:
            return np.where(values > 0, values * values, 0.5 * values)
        rows = []
        for number in numbers:
            if number > 0:
                rows.append(number * number)
            else:
                rows.append(0.5 * number)
        return np.array(rows)

    def step():
        batch = torch.from_numpy(features()).float()[:256, None]
        net(batch).square().mean().backward()

    loop(clock, step, with_stack=True)


def torch_network(clock, cause):
    """Each batch is requested when it is needed, or while the step before it runs."""
    net = torch.nn.Sequential(torch.nn.Linear(256, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 256))
    with Remote(0.008) as remote:

        def step():
            batch = torch.full((400, 256), float(remote.request() if cause else remote.next_ahead()))
            net(batch).square().mean().backward()

        loop(clock, step, with_stack=True)


def torch_evaluation(clock, cause):
    """The model is evaluated after each second step, or after each sixth."""
    net, batch = torch.nn.Sequential(*[torch.nn.Linear(256, 256) for _ in range(8)]), torch.randn(64, 256)
    done = 0

    def evaluate():
        with torch.no_grad():
            for _ in range(20):
                net(batch)

    def step():
        nonlocal done
        net(batch).square().mean().backward()
        done += 1
        if done % (2 if cause else 6) == 0:
            evaluate()

    loop(clock, step, 12, with_stack=True)


def torch_checkpoint(clock, cause):
    """The weights are saved after each second step, or after each sixth."""
    net, batch = torch.nn.Sequential(*[torch.nn.Linear(1024, 1024) for _ in range(6)]), torch.randn(32, 1024)
    done = 0

    def step():
        nonlocal done
        net(batch).square().mean().backward()
        done += 1
        if done % (2 if cause else 6) == 0:
            torch.save(net.state_dict(), f"{clock.folder}.pt")

    os.makedirs(os.path.dirname(clock.folder), exist_ok=True)
    loop(clock, step, 12, with_stack=True)
    os.remove(f"{clock.folder}.pt")


def torch_second_forward(clock, cause):
    """A metric runs the model a second time, or takes the outputs of the first."""
    net = torch.nn.Sequential(torch.nn.Linear(256, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 64))
    optimizer, batch = torch.optim.SGD(net.parameters(), 1e-2), torch.randn(512, 256)

    def step():
        optimizer.zero_grad()
        outputs = net(batch)
        outputs.square().mean().backward()
        (net(batch) if cause else outputs.detach()).argmax(-1).float().mean()
        optimizer.step()

    loop(clock, step)


def torch_one_hot(clock, cause):
    """Rows of a table by products with one-hot vectors, or by a lookup."""
    table, rows = torch.nn.Parameter(torch.randn(4000, 64)), torch.randint(0, 4000, (512,))
    optimizer = torch.optim.SGD([table], 1e-2)

    def step():
        optimizer.zero_grad()
        one_hot = torch.nn.functional.one_hot(rows, 4000).float() if cause else None
        (one_hot @ table if cause else torch.nn.functional.embedding(rows, table)).square().mean().backward()
        optimizer.step()

    loop(clock, step)


def torch_several_losses(clock, cause):
    """A gradient of each of five losses, or one of their sum."""
    net = torch.nn.Sequential(torch.nn.Conv2d(3, 16, 3), torch.nn.ReLU(), torch.nn.Conv2d(16, 5, 3))
    optimizer, batch = torch.optim.SGD(net.parameters(), 1e-2), torch.randn(16, 3, 48, 48)

    def step():
        optimizer.zero_grad()
        losses = net(batch).square().mean((0, 2, 3)).unbind()
        for loss in losses if cause else [sum(losses)]:
            loss.backward(retain_graph=True)
        optimizer.step()

    loop(clock, step)


def torch_sort(clock, cause):
    """The largest few values of a sort of all, or of topk."""
    weight, batch = torch.randn(64, 50_000), torch.randn(16, 64)

    def step():
        scores = batch @ weight
        return scores.sort(descending=True).values[:, :50] if cause else scores.topk(50).values

    loop(clock, step)


def torch_rows(clock, cause):
    """A loader takes rows of tensors one by one, or whole batches."""
    data = torch.utils.data.TensorDataset(torch.randn(8192, 32), torch.randn(8192, 1))
    sampler = torch.utils.data.BatchSampler(torch.utils.data.RandomSampler(data), 512, False)
    options = {"batch_size": 512, "shuffle": True} if cause else {"sampler": sampler, "batch_size": None}
    batches = iter(torch.utils.data.DataLoader(data, **options))
    net = torch.nn.Linear(32, 1)

    def step():
        inputs, labels = next(batches)
        (net(inputs) - labels).square().mean().backward()

    loop(clock, step)


main(
    [
        torch_dense_embedding,
        torch_attention,
        torch_anomaly_mode,
        torch_growing_cat,
        torch_float64,
        torch_optimizer,
        torch_eager,
        torch_loader,
        torch_loader_workers,
        torch_loader_again,
        torch_python_loop,
        torch_network,
        torch_evaluation,
        torch_checkpoint,
        torch_second_forward,
        torch_one_hot,
        torch_several_losses,
        torch_sort,
        torch_rows,
    ]
)
