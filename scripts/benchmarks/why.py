"""What the diagnosis costs: Why beside the Overview, whole processes, of a capture and of a million launched kernels;
and how long the slider of one op takes to answer.

The Overview has the headline, without paths and replays: Why may cost as much again.
"""

import statistics
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from gpu import COUNT, INT, events, plane
from measure import Cost, median, run, show

ROUNDS = 3
QUESTIONS = 20
TOOLS = ("why", "overview_page")


def main(path: str) -> None:
    """Print medians."""
    with tempfile.TemporaryDirectory() as folder:
        drawn = Path(folder, "kernels.xplane.pb")
        drawn.write_bytes(launched())
        for about, capture_path in (
            (f"{Path(path).stat().st_size / 1e6:.0f} MB", path),
            (f"{COUNT:,} kernels", str(drawn)),
        ):
            costs: dict[str, list[Cost]] = {tool: [] for tool in TOOLS}
            for _ in range(ROUNDS):
                for tool, costs_of_tool in costs.items():
                    costs_of_tool.append(run([sys.executable, __file__, tool, capture_path])[0])
            show(
                f"Why and the Overview of {about}",
                {tool: median(costs_of_tool) for tool, costs_of_tool in costs.items()},
            )
            print(run([sys.executable, __file__, "slider", capture_path])[1].strip(), flush=True)


def launched() -> bytes:
    """Kernels of 200 names on one stream in 50 steps, each launched by a call of its own a little before."""
    begin, name = np.arange(COUNT) * 1_000_000, np.arange(COUNT) % 200
    number = [(1, INT, np.arange(COUNT) + 1)]
    steps, length = np.arange(50), COUNT // 50 * 1_000_000
    marks = [(2, INT, np.ones(50, np.int64)), (3, INT, steps)]
    loop = events(np.full(50, 1), steps * length, length - 100_000, marks)
    calls = events(np.full(COUNT, 2), begin + 100_000, 200_000, number)
    host = plane("/host:CPU", ["train", "cuLaunchKernel"], ["correlation_id", "_r", "step_num"], [loop + calls])
    stream = events(name + 1, begin + 500_000, 400_000, number)
    answer: bytes = host + plane("/device:GPU:0", [f"gemm_{i}" for i in range(200)], ["correlation_id"], [stream])
    return answer


def slider(path: str) -> None:
    """How long the replay of the op that takes most takes, when everything else is known."""
    import tb_profile_plugin

    capture = tb_profile_plugin.open(path)
    names = {column["id"]: column["values"] for column in capture.answer("why")["tables"]["names"]["columns"]}
    op = next(name for cause, name in zip(names["cause"], names["name"], strict=True) if cause == "compute")
    times = []
    for number in range(QUESTIONS + 1):
        begin = time.process_time()
        capture.scaled(op, number / QUESTIONS)
        times.append(time.process_time() - begin)
    events_ = sum(len(host.trace) for host in capture.select())
    print(
        f"the slider over {events_:,} events: {1000 * statistics.median(times[1:]):.0f} ms of processor time a question"
    )


if __name__ == "__main__":
    if sys.argv[1] == "slider":
        slider(sys.argv[2])
    elif sys.argv[1] in TOOLS:
        import tb_profile_plugin

        tb_profile_plugin.open(sys.argv[2]).answer(sys.argv[1])
    else:
        main(sys.argv[1])
