"""Composed programs with PyTorch on the CPU."""

import json
import os
import tempfile
import time
from contextlib import nullcontext
from itertools import count
from pathlib import Path

import composed
import torch
from torch import distributed, nn
from torch.profiler import ProfilerActivity, record_function
from torch.utils.data import DataLoader, Dataset

SIZE, ROWS = 512, 256
PER_BATCH = 8
NEW = count()
"""What was never there before."""


class Rows(Dataset):
    """Ready, unless reading them sleeps; of one short epoch or many batches."""

    def __init__(self, milliseconds, batches):
        self.seconds, self.count = milliseconds / 1000 / PER_BATCH, PER_BATCH * batches
        self.row = torch.ones(SIZE)

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        if self.seconds:
            time.sleep(self.seconds)
        return self.row


class Loop:
    """A loop that trains, in one of several shapes."""

    def __init__(self, variant):
        self.variant, self.kind = variant, variant.program["loop"]
        size = variant.size
        # Threads of OpenMP that wait for a core that others use would be what is measured.
        torch.set_num_threads(1)
        torch.manual_seed(0)
        dtype = torch.float64 if size("float64") else torch.float32
        layers = [nn.Sequential(nn.Linear(SIZE, SIZE), nn.Tanh()) for _ in range(2 + size("more_layers"))]
        self.net = nn.Sequential(*layers).to(dtype)
        self.batch = torch.ones(ROWS, SIZE, dtype=dtype)
        self.small = [nn.Parameter(torch.ones(16)) for _ in range(size("looped_optimizer"))]
        self.adam = torch.optim.Adam(self.small, 1e-4, foreach=False) if self.small else None
        self.embedding = nn.Embedding(size("dense_embedding") * 1000, 64) if size("dense_embedding") else None
        self.optimizer = torch.optim.SGD(self.parameters(), 1e-4)
        self.run = self.net
        if self.kind == "compiled":
            torch._dynamo.reset()
            self.run = torch.compile(self.net, dynamic=False)
        if self.kind == "ddp":
            self.run = nn.parallel.DistributedDataParallel(self.net)
        self.little, self.grown = torch.ones(8), torch.ones(1, 1 << 14)
        self.batches = iter(self.rows()) if self.kind == "loader" else None

    def parameters(self):
        yield from self.net.parameters()
        if self.embedding is not None:
            yield from self.embedding.parameters()

    def rows(self):
        """Batches for ever, in epochs that are short where that is the fault."""
        size = self.variant.size
        batches = size("restart_workers") or 1000
        workers = 2 if size("slow_workers") or size("restart_workers") else 0
        data = Rows(size("slow_rows") or size("slow_workers"), batches)
        loader = DataLoader(data, PER_BATCH, num_workers=workers, collate_fn=self.collate)
        while True:
            yield from loader

    def collate(self, rows):
        if milliseconds := self.variant.size("slow_collate"):
            self.variant.measured("slow_collate", lambda: time.sleep(milliseconds / 1000))
        return torch.stack(rows)

    def in_step(self, number):
        due = self.variant.due
        for _ in range(due("eager_ops", number)):
            self.little = self.little * 0.5 + 1.0
        for _ in range(due("item_each", number)):
            (self.little + 1.0).sum().item()
        if rows := due("copy_to_lists", number):
            torch.ones(rows, 1000).tolist()
        for _ in range(due("growing_cat", number)):
            self.grown = torch.cat([self.grown[-20:], self.grown[:1]])
        if due("larger_op", number):
            large = torch.ones(self.variant.size("larger_op") * 256, 2048)
            large @ large.T
        if self.adam:
            sum(parameter.sum() for parameter in self.small).backward()
            self.adam.step()
        if layers := due("anomaly_mode", number):
            x = torch.ones(8, requires_grad=True)
            with torch.autograd.detect_anomaly(check_nan=False):
                y = x
                for _ in range(layers):
                    y = torch.tanh(y * 1.5)
                y.sum().backward()

    def seldom(self, number):
        for _ in range(self.variant.due("evaluate_each", number)):
            self.evaluate()
        if self.variant.due("save_each", number):
            with tempfile.TemporaryFile() as file:
                torch.save(self.net.state_dict(), file)

    @torch.no_grad()
    def evaluate(self):
        return self.net(self.batch).square().mean().item()

    def step(self, number, batch):
        self.variant.strike("step", number)
        if self.variant.size("late_worker") and distributed.get_rank() == 1:
            time.sleep(self.variant.size("late_worker") / 1000)
        self.in_step(number)
        composed.decoy(self.variant, number, record_function)
        self.optimizer.zero_grad()
        if self.variant.size("new_shape"):
            batch = torch.ones(ROWS + next(NEW) % 1000 + 1, SIZE)
        pieces = self.variant.size("reduce_each") or 1
        for piece in batch.chunk(pieces):
            self.loss(piece).backward()
        self.optimizer.step()

    def loss(self, batch):
        loss = self.run(batch).square().mean()
        if self.embedding is not None:
            loss = loss + self.embedding(torch.zeros(8, dtype=torch.int64)).sum()
        return loss

    def turns(self, steps):
        marks = self.variant.program["marks"]
        for number in range(steps):
            self.variant.clock.begin()
            with self.mark(number, marks == "turn"):
                self.variant.strike("input", number)
                batch = self.batch
                if self.batches:
                    batch = next(self.batches).to(batch.dtype).repeat(ROWS // PER_BATCH, 1)
                with self.mark(number, marks == "step"):
                    self.step(number, batch)
                self.variant.strike("between", number)
                self.seldom(number)
            self.variant.clock.end()

    def mark(self, number, is_marked):
        return record_function(f"ProfilerStep#{number}") if is_marked else nullcontext()

    def profile(self, folder):
        traced = self.variant.program["traced"]
        name = f"worker{distributed.get_rank() if self.kind == 'ddp' else 0}.pt.trace.json.gz"

        def save(profiler):
            os.makedirs(folder, exist_ok=True)
            profiler.export_chrome_trace(os.path.join(folder, name))

        return torch.profiler.profile(activities=[ProfilerActivity.CPU], with_stack=traced, on_trace_ready=save)

    def close(self):
        self.batches = None


def work(rank, program, out, meeting, result):
    """One of two workers; the first one's clock counts, since all wait for each other."""
    distributed.init_process_group("gloo", init_method=f"file://{meeting}", rank=rank, world_size=2)
    periods, spent = {}, {}
    for name, faults in composed.variants(program):
        folder = out / name
        periods[name], own = _run(program, faults, folder, rank)
        spent = own if name == "all" else spent
    if rank == 0:
        result.write_text(json.dumps([periods, spent]))
    distributed.barrier()
    distributed.destroy_process_group()


def _run(program, faults, folder, rank):
    class Worker(Loop):
        def profile(self, _):
            return super().profile(folder)

    with tempfile.TemporaryDirectory() as other:
        return composed.run(Worker, program, faults, other if rank else folder)


def measured(make, program, out):
    """By two workers in processes of their own, where the loop is theirs."""
    if program["loop"] != "ddp":
        return composed.measured_alone(make, program, out)
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder, "result.json")
        torch.multiprocessing.spawn(work, (program, out, os.path.join(folder, "meeting"), result), nprocs=2)
        return json.loads(result.read_text())


if __name__ == "__main__":
    composed.main(Loop, measured)
