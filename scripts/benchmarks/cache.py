"""The Overview of a capture from the command line: worked out, then from the cache."""

import sys
import tempfile
from pathlib import Path

from measure import Cost, median, run, show

ROUNDS = 3


def main(path: str) -> None:
    """Print the medians and the later as a share of the first."""
    ask = [sys.executable, "-m", "tb_profile_plugin", "tool", "overview_page", path]
    run([*ask, "--no-cache"])
    costs: dict[str, list[Cost]] = {name: [] for name in ("first", "again")}
    for _ in range(ROUNDS):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("first", "again"):
                costs[name].append(run(ask, TB_PROFILE_CACHE_DIR=folder)[0])
    medians = {name: median(each) for name, each in costs.items()}
    size = Path(path).stat().st_size / 1e6
    show(f"overview_page of {size:.0f} MB from the cache, whole processes", {n: medians[n] for n in ("again", "first")})
    share = medians["again"].wall_s / medians["first"].wall_s
    print(f"from the cache: {share:.1%} of the first's wall time")


if __name__ == "__main__":
    main(sys.argv[1])
