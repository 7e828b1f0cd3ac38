"""Two sessions compared beside the Overviews of both; again, and a history of 200 sessions, from kept digests."""

import shutil
import sys
import tempfile
from pathlib import Path

from measure import Cost, median, run, show
from startup import SMALL

ROUNDS = 3
SESSIONS = 200
VERB = [sys.executable, "-m", "tb_profile_plugin"]


def copied(source: Path, logdir: Path, count: int) -> list[str]:
    """So many sessions of one capture in a logdir."""
    runs = [logdir / "plugins" / "profile" / f"r{number:03d}" for number in range(count)]
    for each in runs:
        each.mkdir(parents=True)
        shutil.copy(source, each / "host.xplane.pb")
    return [str(each) for each in runs]


def main(path: str) -> None:
    """Print what each takes."""
    with tempfile.TemporaryDirectory() as folder:
        own = {"TB_PROFILE_CACHE_DIR": f"{folder}/cache"}
        pair = copied(Path(path), Path(folder, "pair"), 2)
        costs: dict[str, list[Cost]] = {"compare": [], "overview, one": []}
        for _ in range(ROUNDS):
            costs["compare"].append(run([*VERB, "compare", "--no-cache", *pair])[0])
            costs["overview, one"].append(run([*VERB, "tool", "overview_page", "--no-cache", pair[0]])[0])
        size = Path(path).stat().st_size / 1e6
        show(
            f"compare two captures of {size:.0f} MB, and the Overview of one", {n: median(c) for n, c in costs.items()}
        )
        run([*VERB, "compare", *pair], **own)
        again = [run([*VERB, "compare", *pair], **own)[0] for _ in range(4 * ROUNDS)]
        bare = [run([*VERB, "--version"])[0] for _ in range(4 * ROUNDS)]
        show("compare kept digests, and the bare command", {"compare": median(again), "--version": median(bare)})
        copied(SMALL, Path(folder, "logs"), SESSIONS)
        history = [*VERB, "trend", f"{folder}/logs"]
        first = run(history, **own)[0]
        later = median([run(history, **own)[0] for _ in range(ROUNDS)])
        show(f"the trend of {SESSIONS} sessions, kept and first", {"kept": later, "first": first})


if __name__ == "__main__":
    main(sys.argv[1])
