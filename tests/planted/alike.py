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
from tb_profile_plugin.analysis.compare.load import load, source
from tb_profile_plugin.analysis.compare.side import side
from tb_profile_plugin.analysis.compare.verdict import verdict
from tb_profile_plugin.analysis.digest.record import Digest
from tb_profile_plugin.store.result_cache import ResultCache

_SPLITS = 200


def captured(python: str, out: Path, processes: int, count: int) -> list[list[Digest]]:
    """Digests by process, in order of time."""
    for number in range(processes):
        place = out / f"{number:03d}"
        if not place.exists():
            command = [python, str(HERE / "programs" / "jax_again.py"), str(place), str(count)]
            subprocess.run(command, env=ENVIRONMENT, check=True, capture_output=True)
    return [
        [load(source(str(each)), ResultCache(True)) for each in sorted(place.iterdir())]
        for place in sorted(out.iterdir())
    ]


def code(base: Sequence[Digest], new: Sequence[Digest], runs: RunVariation | None = None) -> str:
    """The verdict, with ``!`` where it is shown."""
    sides = [side([(str(i), each) for i, each in enumerate(own)]) for own in (base, new)]
    told = verdict(compare(sides[0], sides[1], runs))
    return told.code + ("!" if told.certainty == "shown" else "")


def row(name: str, codes: Iterable[str]) -> None:
    """Print how often each verdict was given."""
    found = list(codes)
    differ = [each for each in found if each[:6] in ("slower", "faster")]
    shown = sum(each.endswith("!") for each in differ)
    share = f"{len(differ) / len(found):.1%}"
    print(
        f"| {name} | {len(found)} | {share} | {shown / len(found):.1%} | {found.count('same') / len(found):.1%} |",
        flush=True,
    )


def main(python: str, out: Path, processes: int, count: int) -> None:
    """Print the table."""
    print(f"Load {os.getloadavg()[0]:.1f} before.")
    found = captured(python, out, processes, count)
    every = [each for own in found for each in own]
    known = run_variation([step_estimate(each) for own in found[: max(2, processes // 5)] for each in own])
    print(
        f"{len(every)} captures; between runs {known.deviation if known else 0:.1%}; "
        f"load {os.getloadavg()[0]:.1f} after."
    )
    neighbours = [(own[i], own[i + 1]) for own in found for i in range(0, len(own) - 1, 2)]
    rng = np.random.default_rng(1)
    others = [tuple(rng.choice(len(every), 2, replace=False).tolist()) for _ in range(_SPLITS)]
    print("| captures of one program | pairs | slower or faster | of these shown | same |\n|---|---|---|---|---|")
    row("neighbours, one each", (code([a], [b]) for a, b in neighbours))
    row("neighbours, one each, with what is known of runs", (code([a], [b], known) for a, b in neighbours))
    row("any two, one each", (code([every[a]], [every[b]]) for a, b in others))
    row("any two, with what is known of runs", (code([every[a]], [every[b]], known) for a, b in others))
    row("4 and 4 by turns", (code(each[:8:2], each[1:8:2]) for each in _windows(every, 8)))
    row("4 and 4, one after the other", (code(each[:4], each[4:]) for each in _windows(every, 8)))
    splits = [rng.permutation(len(every))[:8] for _ in range(_SPLITS)]
    row("4 and 4 at random", (code([every[i] for i in each[:4]], [every[i] for i in each[4:]]) for each in splits))
    row("1 against 8 before it", (code(each[:8], each[8:]) for each in _windows(every, 9)))


def _windows(every: Sequence[Digest], size: int) -> Iterable[Sequence[Digest]]:
    return (every[at : at + size] for at in range(0, len(every) - size + 1, 2))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]).resolve(), int(sys.argv[3]), int(sys.argv[4]))
