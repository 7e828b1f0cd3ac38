"""How often captures of one program are said to differ: `scripts/alike OUT PROCESSES CAPTURES`.

Each process captures the same program that often; OUT keeps them.
"""

import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from planted.capture import ENVIRONMENT, HERE

from tb_profile_plugin.analysis.compare.change import RunVariation, run_variation
from tb_profile_plugin.analysis.compare.engine import compare
from tb_profile_plugin.analysis.compare.estimate import step_estimate
from tb_profile_plugin.analysis.compare.load import load, named_source
from tb_profile_plugin.analysis.compare.side import side_of_digests
from tb_profile_plugin.analysis.compare.verdict import verdict
from tb_profile_plugin.analysis.digest.record import Digest
from tb_profile_plugin.store.result_cache import ResultCache

_SPLITS = 200


def captured(python: str, out: Path, processes: int, count: int) -> list[list[Digest]]:
    """Digests by process, in order of time."""
    for number in range(processes):
        folder = out / f"{number:03d}"
        if not folder.exists():
            command = [python, str(HERE / "programs" / "jax_again.py"), str(folder), str(count)]
            subprocess.run(command, env=ENVIRONMENT, check=True, capture_output=True)
    return [
        [load(named_source(str(item)), ResultCache(True)) for item in sorted(folder.iterdir())]
        for folder in sorted(out.iterdir())
    ]


def code(base: Sequence[Digest], new: Sequence[Digest], runs: RunVariation | None = None) -> str:
    """The verdict, with ``!`` where it is shown."""
    sides = [side_of_digests([(str(i), item) for i, item in enumerate(captures)]) for captures in (base, new)]
    outcome = verdict(compare(sides[0], sides[1], runs))
    return outcome.code + ("!" if outcome.certainty == "shown" else "")


def row(name: str, codes: Iterable[str]) -> None:
    """Print how often each verdict was given."""
    outcomes = list(codes)
    differ = [item for item in outcomes if item[:6] in ("slower", "faster")]
    certain = sum(item.endswith("!") for item in differ)
    share, same = f"{len(differ) / len(outcomes):.1%}", outcomes.count("same") / len(outcomes)
    print(
        f"| {name} | {len(outcomes)} | {share} | {certain / len(outcomes):.1%} | {same:.1%} |",
        flush=True,
    )


def main(python: str, out: Path, processes: int, count: int) -> None:
    """Print the table."""
    print(f"Load {os.getloadavg()[0]:.1f} before.")
    outcomes = captured(python, out, processes, count)
    all_captures = [item for captures in outcomes for item in captures]
    runs_deviation = run_variation(
        [step_estimate(item) for captures in outcomes[: max(2, processes // 5)] for item in captures]
    )
    print(
        f"{len(all_captures)} captures; between runs {runs_deviation.deviation if runs_deviation else 0:.1%}; "
        f"load {os.getloadavg()[0]:.1f} after."
    )
    neighbours = [(captures[i], captures[i + 1]) for captures in outcomes for i in range(0, len(captures) - 1, 2)]
    rng = np.random.default_rng(1)
    others = [tuple(rng.choice(len(all_captures), 2, replace=False).tolist()) for _ in range(_SPLITS)]
    print("| captures of one program | pairs | slower or faster | of these shown | same |\n|---|---|---|---|---|")
    row("neighbours, one each", (code([a], [b]) for a, b in neighbours))
    row("neighbours, one each, with what is known of runs", (code([a], [b], runs_deviation) for a, b in neighbours))
    row("any two, one each", (code([all_captures[a]], [all_captures[b]]) for a, b in others))
    row(
        "any two, with what is known of runs",
        (code([all_captures[a]], [all_captures[b]], runs_deviation) for a, b in others),
    )
    row("4 and 4 by turns", (code(item[:8:2], item[1:8:2]) for item in _windows(all_captures, 8)))
    row("4 and 4, one after the other", (code(item[:4], item[4:]) for item in _windows(all_captures, 8)))
    splits = [rng.permutation(len(all_captures))[:8] for _ in range(_SPLITS)]
    row(
        "4 and 4 at random",
        (code([all_captures[i] for i in item[:4]], [all_captures[i] for i in item[4:]]) for item in splits),
    )
    row("1 against 8 before it", (code(item[:8], item[8:]) for item in _windows(all_captures, 9)))


def _windows(all_captures: Sequence[Digest], size: int) -> Iterable[Sequence[Digest]]:
    return (all_captures[at : at + size] for at in range(0, len(all_captures) - size + 1, 2))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]).resolve(), int(sys.argv[3]), int(sys.argv[4]))
