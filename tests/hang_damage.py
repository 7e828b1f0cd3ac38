"""Hostile dumps of PyTorch's flight recorder: damaged bytes, and plain values where none of their kind belong."""

from __future__ import annotations

import json
import pickle
import random
from contextlib import suppress
from copy import deepcopy
from typing import Any

from planted_hangs import planted

from tb_profile_plugin.analysis.hang.verdict import judge
from tb_profile_plugin.export.report import hang, hang_page
from tb_profile_plugin.formats import flight_recorder
from tb_profile_plugin.runtime.problems import Problem, ProblemError

_VALUES: tuple[Any, ...] = (
    *(None, True, -1, 0, 1, 2**31, 2**63, -(2**63), 10**40, 0.5, float("nan"), float("inf")),
    *("", "nccl:", "nccl:send 0->1", "nccl:recv 9<-8", "started", "\ud800", "<script>", "\x1b[2J", "9" * 5000),
    *([], [[]], [[1, 2**40]], ["0", "default_pg"], {}, {"0": []}, [None] * 50),
)
_PROTOCOLS = (2, 4, 5)


class DamagedDumps:
    """Jobs of a seed, of which some ranks' dumps are damaged."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)

    def __call__(self) -> list[bytes]:
        """The dumps of all ranks of a job with a planted hang."""
        chance = self._chance
        job = planted(chance.randrange(1000)).job
        contents = [job.dump(rank) for rank in sorted(job.entries)]
        for _ in range(chance.randrange(1, 6)):
            self._replaced(chance.choice(contents))
        dumps = [self._bytes(content) for content in contents]
        if chance.random() < 0.5:
            rank = chance.randrange(len(dumps))
            dumps[rank] = self._damaged(dumps[rank])
        return dumps

    def _bytes(self, content: dict[str, Any]) -> bytes:
        if self._chance.random() < 0.3:
            return json.dumps(content).encode("utf-8", "surrogatepass")
        return pickle.dumps(content, self._chance.choice(_PROTOCOLS))

    def _replaced(self, content: dict[str, Any]) -> None:
        """One value anywhere in it becomes another."""
        chance, at = self._chance, content
        inside: Any = content
        while chance.random() < 0.85:
            keys = list(inside) if isinstance(inside, dict) else list(range(len(inside)))
            if not keys:
                break
            key = chance.choice(keys)
            if not isinstance(inside[key], dict | list) or chance.random() < 0.1:
                inside[key] = self._value()
                return
            inside = inside[key]
        at[chance.choice(list(at))] = self._value()

    def _value(self) -> Any:
        """A copy, since later values may be put within it."""
        return deepcopy(self._chance.choice(_VALUES))

    def _damaged(self, data: bytes) -> bytes:
        damaged, chance = bytearray(data), self._chance
        for _ in range(chance.randrange(1, 6)):
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        return bytes(damaged[: chance.randrange(1, len(damaged))] if chance.random() < 0.2 else damaged)


def look(files: list[bytes]) -> None:
    """Read, judge and report; what cannot be read is a problem, and everything else is no error."""
    dumps: list[Any] = []
    problems: list[Any] = []
    for rank, data in enumerate(files):
        read = _read(data, rank)
        (dumps if isinstance(read, flight_recorder.Dump) else problems).append(read)
    analysis = hang.HangAnalysis("dumps", judge(dumps, not problems), dumps, problems, [])
    json.dumps(hang.as_json(analysis), allow_nan=False)
    for report in (hang.text, hang.markdown, hang_page.page):
        # Files are written so that what no file can hold stands there as a question mark.
        assert report(analysis).encode("utf-8", "replace")
    with suppress(ProblemError):
        flight_recorder.decode(b"".join(files[:2]), 0, "two in one")


def _read(data: bytes, rank: int) -> flight_recorder.Dump | Problem:
    try:
        return flight_recorder.decode(data, rank, f"rank {rank}")
    except ProblemError as error:
        assert error.problem.remedy
        return error.problem
