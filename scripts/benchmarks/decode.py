"""Our decoder against protobuf (upb) objects turned into the same columns, each in processes of its own."""

import json
import resource
import statistics
import sys
import time
from pathlib import Path
from typing import Any

from measure import MB, Cost, last_json, median, run, show

ROUNDS = 5
TESTS = Path(__file__).resolve().parents[2] / "tests"


def main(path: str) -> None:
    """Print the medians; each round runs both, so that a busy machine slows both."""
    size = Path(path).stat().st_size / MB
    found: dict[str, list[dict[str, float]]] = {"ours": [], "protobuf": []}
    for number in range(ROUNDS):
        for kind, answers in found.items():
            if kind == "ours" or number < 3:
                _, output = run([sys.executable, __file__, kind, path])
                answers.append(last_json(output))
    ours = found["ours"][0]
    costs = {kind: median([Cost(a["user_s"], a["wall_s"], a["peak_mb"]) for a in each]) for kind, each in found.items()}
    show(f"decoding {size:.0f} MB, {ours['events']:,} events, {ours['stats']:,} stats", costs)
    start = statistics.median(answer["start_mb"] for answer in found["ours"])
    print(
        f"peak memory of ours: {costs['ours'].peak_mb / size:.2f} times the file, {start:.0f} MB of it before it reads"
    )


def measured(kind: str, path: str) -> dict[str, float]:
    """One decoding in this process."""
    sys.path.insert(0, str(TESTS))
    decode = ours if kind == "ours" else protobuf
    decode(TESTS / "traces" / "keras_one_batch/plugins/profile/run/host.xplane.pb")
    before = resource.getrusage(resource.RUSAGE_SELF)
    begin = time.perf_counter()
    planes = decode(Path(path))
    wall = time.perf_counter() - begin
    after = resource.getrusage(resource.RUSAGE_SELF)
    events, stats = (planes_events(planes), planes_stats(planes)) if kind == "ours" else (0, 0)
    return {
        "user_s": after.ru_utime - before.ru_utime,
        "wall_s": wall,
        "peak_mb": after.ru_maxrss * 1024 / MB,
        "start_mb": before.ru_maxrss * 1024 / MB,
        "events": events,
        "stats": stats,
    }


def ours(path: Path) -> Any:
    """As a server decodes: the file is mapped."""
    from tb_profile_plugin import store
    from tb_profile_plugin.formats import xspace

    (file,) = store.resolve(path).files
    return xspace.decode(store.read(file)).planes


def protobuf(path: Path) -> Any:
    """By way of protobuf's objects."""
    import upb

    return upb.planes(path.read_bytes())


def planes_events(planes: Any) -> int:
    """Over all planes."""
    return sum(len(plane.events) for plane in planes)


def planes_stats(planes: Any) -> int:
    """Over all planes' events."""
    return sum(len(plane.events.stats.name) for plane in planes)


if __name__ == "__main__":
    if len(sys.argv) == 2:
        main(sys.argv[1])
    else:
        print(json.dumps(measured(*sys.argv[1:])))
