"""Verdicts are those of torchfrtrace, on drawn dumps and on those of gloo's ranks that really wait."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from frameworks import ENVIRONMENT, ROOT
from planted_hangs import PLANTED, planted

from tb_profile_plugin.analysis.hang.findings import MISSING, NO_PEER, NOT_BEGUN, NOT_COMPLETED, GroupFinding
from tb_profile_plugin.analysis.hang.mismatches import DTYPE, SIZE, TYPE
from tb_profile_plugin.analysis.hang.sentences import headline
from tb_profile_plugin.analysis.hang.verdict import judge
from tb_profile_plugin.store import flight_recorder_dumps

TORCH = os.environ.get("TORCH_PYTHON") or (sys.executable if find_spec("torch") else "")
"""An interpreter with PyTorch, which is large: nothing installs it for these tests."""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not TORCH, reason="PyTorch is not here; TORCH_PYTHON names one that has it"),
]

THEIRS = {
    TYPE: "COLLECTIVE_TYPE_MISMATCH",
    SIZE: "SIZE_OR_SYNTAX_MISMATCH",
    DTYPE: "COLLECTIVE_DTYPE_MISMATCH",
    NOT_BEGUN: "COLLECTIVE_STATE_MISMATCH",
    NOT_COMPLETED: "COLLECTIVE_STATE_MISMATCH",
}
RANKS = 4


def asked(folders: Iterable[Path]) -> list[dict[str, Any]]:
    """What torchfrtrace says of each folder, by group."""
    command = [TORCH, str(ROOT / "tests/hang/programs/ask_torch.py"), *map(str, folders)]
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    told: list[dict[str, Any]] = json.loads(done.stdout.rpartition("FOUND ")[2])
    return told


def found(folder: Path) -> dict[str, GroupFinding]:
    """The first finding of each group that torchfrtrace could have, by group."""
    causes = judge(flight_recorder_dumps.read(str(folder)).dumps).causes
    return {
        each.finding.group.label: each.finding
        for each in reversed(causes)
        if each.finding.sort in (*THEIRS, MISSING, NO_PEER)
    }


def agree(ours: dict[str, GroupFinding], theirs: dict[str, Any]) -> None:
    assert ours.keys() == theirs.keys()
    for group, finding in ours.items():
        other = theirs[group]
        if finding.sort in (MISSING, NO_PEER):
            assert other["missing"] == list(finding.culprits)
        else:
            assert {*other["mismatches"].values()} == {THEIRS[finding.sort]}
            # They take the first rank for right; we take most of them.
            named, culprits = {int(rank) for rank in other["mismatches"]}, {*finding.culprits}
            assert not culprits or named in (culprits, {*finding.others})
        if not finding.unit.is_p2p:
            assert other["sequence"] == finding.unit.sequence


def test_drawn_faults_are_those_that_torchfrtrace_finds(tmp_path: Path) -> None:
    jobs = [plant() for plant, *_ in PLANTED] + [planted(seed).job for seed in range(100)]
    folders = [job.write(tmp_path / str(number)) for number, job in enumerate(jobs)]
    for folder, theirs in zip(folders, asked(folders), strict=True):
        agree(found(folder), theirs)


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        ("none", "No divergence is found: all ranks called the same operations, and none waits."),
        ("missing", "Rank 3 never started all_reduce 5 of group default_pg; the other 3 ranks wait in it."),
        ("type", "Rank 3 called broadcast as operation 5 of group default_pg; the other 3 ranks called all_reduce."),
        ("order", "Ranks 0-1 wait for one another in groups 1 and default_pg."),
    ],
)
def test_ranks_of_gloo_that_wait_are_told(fault: str, sentence: str, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    dumps = tmp_path / "dumps"
    dumps.mkdir()
    program = [TORCH, str(ROOT / "tests/hang/programs/gloo_job.py"), fault, str(dumps), str(RANKS), str(port)]
    done = subprocess.run(program, env=ENVIRONMENT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]
    for suffix in ("", ".json"):
        only = tmp_path / f"only{suffix}"
        only.mkdir()
        for path in dumps.glob(f"comm_lib_trace_rank_?{suffix}"):
            (only / path.name).write_bytes(path.read_bytes())
        assert headline(judge(flight_recorder_dumps.read(str(only)).dumps)) == sentence
    (theirs,) = asked([tmp_path / "only"])
    agree(found(tmp_path / "only"), theirs)
