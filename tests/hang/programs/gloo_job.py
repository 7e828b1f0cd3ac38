"""Ranks on 127.0.0.1 that call gloo's collectives until one is planted wrong; each dumps its flight recorder then.

Called as ``python gloo_job.py FAULT FOLDER RANKS PORT``, with PyTorch.
"""

import os
import sys
import threading
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch._C._distributed_c10d import _dump_fr_trace, _dump_fr_trace_json
from torch.multiprocessing import spawn

STEPS = 4
WAIT_S = 20
"""How long all wait for the last to be stuck; they do not if all are done."""


def step(fault: str, rank: int, culprit: int, half: dist.ProcessGroup) -> None:
    """The last step: all but one rank call all_reduce of 16 floats. Other sizes end gloo's processes."""
    if fault == "order" and rank == 0:
        # The other ranks of its half call all_reduce first, in which it never joins them.
        dist.broadcast(torch.ones(3), 0, group=half)
    if rank != culprit or fault in ("none", "order"):
        dist.all_reduce(torch.ones(4, 4))
    elif fault == "type":
        dist.broadcast(torch.ones(4, 4), 0)
    elif fault == "missing":
        time.sleep(WAIT_S)


def work(rank: int, fault: str, folder: str, ranks: int, port: str) -> None:
    """What one rank does."""
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=port, TORCH_FR_BUFFER_SIZE="2000")
    dist.init_process_group("gloo", rank=rank, world_size=ranks, timeout=timedelta(seconds=WAIT_S))
    half = dist.new_group(list(range(ranks // 2)))
    for _ in range(STEPS):
        dist.all_reduce(torch.ones(4, 4))
        if rank < ranks // 2:
            dist.broadcast(torch.ones(3), 0, group=half)
    last = threading.Thread(target=step, args=(fault, rank, ranks - 1, half), daemon=True)
    last.start()
    last.join(3)
    # What is done is noted a little later, by another thread.
    time.sleep(1)
    for name, content in (("", _dump_fr_trace(True, True, False)), (".json", _dump_fr_trace_json(True, False))):
        with open(f"{folder}/comm_lib_trace_rank_{rank}{name}", "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())
    # The dumps of all are there before the first connection is closed.
    while len(os.listdir(folder)) < 2 * ranks:
        time.sleep(0.05)
    os._exit(0)


if __name__ == "__main__":
    FAULT, FOLDER, RANKS, PORT = sys.argv[1:]
    spawn(work, (FAULT, FOLDER, int(RANKS), PORT), nprocs=int(RANKS))
