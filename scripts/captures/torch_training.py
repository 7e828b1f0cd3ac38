"""A small model trained with PyTorch on the CPU, profiled with all that its profiler records; then by two workers."""

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from torch import distributed, nn
from torch.profiler import ProfilerActivity, profile, schedule, tensorboard_trace_handler
from torch.utils.data import DataLoader


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3)
        self.head = nn.Linear(8 * 14 * 14, 10)

    def forward(self, images: Any) -> Any:
        return self.head(torch.relu(self.conv(images)).flatten(1))


def batches(count: int) -> Iterator[Any]:
    data = [(torch.randn(3, 16, 16), i % 10) for i in range(8 * count)]
    return iter(DataLoader(data, batch_size=8))


def train(model: Any, folder: str, worker: str, **options: bool) -> None:
    optimizer, loss = torch.optim.SGD(model.parameters(), 0.1), nn.CrossEntropyLoss()
    with profile(
        activities=[ProfilerActivity.CPU],
        schedule=schedule(wait=0, warmup=1, active=3),
        on_trace_ready=tensorboard_trace_handler(folder, worker, use_gzip=True),
        **options,
    ) as profiler:
        for images, labels in batches(4):
            optimizer.zero_grad()
            loss(model(images), labels).backward()
            optimizer.step()
            profiler.step()


def work(rank: int, folder: str, meeting: str) -> None:
    distributed.init_process_group("gloo", init_method=f"file://{meeting}", rank=rank, world_size=2)
    torch.manual_seed(0)
    train(nn.parallel.DistributedDataParallel(Net()), folder, f"rank{rank}", record_shapes=True)
    distributed.destroy_process_group()


def main(traces: Path) -> None:
    torch.manual_seed(0)
    torch.set_num_threads(1)
    whole = {"record_shapes": True, "profile_memory": True, "with_stack": True, "with_modules": True}
    train(Net(), str(traces / "torch_training"), "worker", **whole)
    with tempfile.TemporaryDirectory() as folder:
        arguments = str(traces / "torch_workers"), os.path.join(folder, "meeting")
        torch.multiprocessing.spawn(work, arguments, nprocs=2)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
