"""A job of 1,024 ranks, one of which is late: what each rank's summary takes, merging them, and the pages' answers.

``workers.py [RANKS [KERNELS [EXECUTOR]]]`` writes traces of PyTorch, the same for all ranks but for who is late and for
the clocks of their machines; with 10 kernels before each collective, or so many, and worked out by an executor.
"""

import gzip
import json
import pickle
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from measure import MB

from tb_profile_plugin import store
from tb_profile_plugin.model.session import Session
from tb_profile_plugin.runtime.executors import executor
from tb_profile_plugin.tools.communication import communication
from tb_profile_plugin.tools.pod_viewer import pod_viewer

RANKS, STEPS, LAYERS, KERNELS = 1024, 10, 10, 10
LAYER_US = 750.0
STEP_US, LATE_US = 20_000.0, 900.0
REDUCE = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
BASE_NS = 1_751_410_836_000_000_000


def main(ranks: int, kernels: int, spec: str) -> None:
    """Write the ranks, work each out, merge."""
    with tempfile.TemporaryDirectory() as folder:
        late = ranks // 3
        for rank in range(ranks):
            path = Path(folder) / f"rank{rank}.{BASE_NS}.pt.trace.json.gz"
            text = trace(rank, ranks, late, kernels)
            path.write_bytes(gzip.compress(text.encode(), 1))
        print(f"{ranks} ranks of {len(text) / MB:.2f} MB each")
        session = Session(store.resolve(Path(folder)), executor=executor(spec))
        for tool in (communication, pod_viewer):
            begin = time.perf_counter()
            hosts = tool.hosts(session)
            worked_out = time.perf_counter()
            answer = tool.run(session)
            merged = time.perf_counter()
            text = json.dumps(answer)
            print(f"{tool.title}: {len(hosts)} ranks worked out in {worked_out - begin:.1f} s")
            print(f"  merged and answered in {merged - worked_out:.2f} s, {len(text) / MB:.2f} MB of JSON")
            print(f"  {answer['headline']['text']}")
        sizes = [len(pickle.dumps(session.host(name).summary())) for name in list(session.hosts)[:50]]
        print(f"a rank's summary takes up to {max(sizes) / 1e3:.0f} kB")
        print(f"peak {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / MB:.0f} MB")


def trace(rank: int, ranks: int, late: int, kernels: int) -> str:
    """What PyTorch's profiler would write on a rank; clocks of machines are milliseconds apart."""
    header = {
        "schemaVersion": 1,
        "deviceProperties": [{"id": 0, "name": "NVIDIA H100", "computeMajor": 9, "computeMinor": 0, "numSms": 132}],
        "baseTimeNanoseconds": BASE_NS + rank // 8 * 1_700_000,
        "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": ranks},
        "host_name": f"node{rank // 8}",
    }
    return json.dumps(header | {"traceEvents": events(rank, ranks, LATE_US * (rank == late), kernels)})


def events(rank: int, ranks: int, late_us: float, kernels: int) -> list[dict[str, Any]]:
    """Steps of layers, each followed by an all-reduce that is over everywhere at once."""
    rows: list[dict[str, Any]] = []
    number, each = 0, LAYER_US / kernels
    for step in range(STEPS):
        begin = STEP_US * step
        rows.append(host("user_annotation", f"ProfilerStep#{step}", begin, STEP_US - 50))
        rows.append(host("user_annotation", "enumerate(DataLoader)#_next", begin + 5, 100 + late_us))
        at = begin + 110 + late_us
        for layer in range(LAYERS):
            for kernel in range(kernels):
                number += 1
                rows.append(host("cuda_runtime", "cudaLaunchKernel", at, 5, correlation=number))
                name, us = f"gemm_{kernel % KERNELS}", (60 + rank % 7) / 75 * each
                rows.append(device(number, at + 8, us, name, grid=[128, 1, 1]))
                at += each
            number += 1
            ends = begin + 2400 + LATE_US + 1750 * layer
            rows.append(host("cuda_runtime", "cudaLaunchKernel", at, 5, correlation=number))
            stated = {"Process Group Name": "0", "Group size": ranks, "Seq": LAYERS * step + layer}
            stated |= {"In msg nelems": 1 << 20, "Out msg nelems": 1 << 20, "dtype": "BFloat16"}
            rows.append(device(number, at + 8, ends - at - 8, REDUCE, **stated))
            at = ends + 5
    return rows


def host(cat: str, name: str, begin: float, us: float, **args: Any) -> dict[str, Any]:
    """An event of the host's only thread."""
    return {"ph": "X", "cat": cat, "name": name, "pid": 7, "tid": 7, "ts": begin, "dur": us, "args": args}


def device(correlation: int, begin: float, us: float, name: str, **args: Any) -> dict[str, Any]:
    """An event of the device's only stream."""
    stated = {"device": 0, "stream": 7, "correlation": correlation, **args}
    return {"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": begin, "dur": us, "args": stated}


if __name__ == "__main__":
    ranks, kernels, spec = (*sys.argv[1:], *(str(RANKS), str(KERNELS), "threads")[len(sys.argv) - 1 :])
    main(int(ranks), int(kernels), spec)
