"""Workers of PyTorch, which sum by gloo."""

import time

import torch
import torch.distributed as dist
from late_workers import SLEEP_S, STEPS, WARM_STEPS
from torch.profiler import ProfilerActivity, profile
from torch.utils.data import DataLoader, Dataset

SIZE = 256


class Rows(Dataset):
    """Ready, unless reading them sleeps."""

    def __init__(self, worker):
        self.worker = worker

    def __len__(self):
        return STEPS + WARM_STEPS

    def __getitem__(self, index):
        if self.worker.fault == "input":
            time.sleep(SLEEP_S)
        return torch.ones(self.worker.rows, SIZE)


def work(worker):
    """Train, with one sum of the gradient in each step."""
    torch.set_num_threads(1)
    meeting = f"tcp://127.0.0.1:{worker.ports[0]}"
    dist.init_process_group("gloo", init_method=meeting, rank=worker.rank, world_size=worker.count)
    weight = torch.eye(SIZE)
    batches = iter(DataLoader(Rows(worker), batch_size=None))

    def step():
        x = next(batches)
        worker.prepare()
        for _ in range(worker.layers):
            x = torch.tanh(x @ weight)
        gradient = x.mean(0)
        worker.meet()
        dist.all_reduce(gradient)

    for _ in range(WARM_STEPS):
        step()
    worker.folder.mkdir(parents=True, exist_ok=True)
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as profiler:
        for _ in range(STEPS):
            step()
            profiler.step()
    profiler.export_chrome_trace(str(worker.folder / "worker.pt.trace.json"))
    dist.barrier()
    dist.destroy_process_group()
