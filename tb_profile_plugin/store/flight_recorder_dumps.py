"""Dumps of PyTorch's flight recorder in a folder: which files, and of each rank the one that tells most."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from ..formats import flight_recorder, recognize
from ..formats.flight_recorder import Dump
from ..runtime.messages import Message
from ..runtime.problems import Problem, ProblemError, problem_error
from ..runtime.records import NamedTuple
from ..runtime.regex import regex
from ..runtime.units import memory
from .safe_read import head, load

_MOST_FILES = 100_000
_DIGITS = regex(r"\d+")
_REMEDY = Message("Set TORCH_FR_BUFFER_SIZE=2000 and TORCH_NCCL_DUMP_ON_TIMEOUT=1, and run again.")


class Dumps(NamedTuple):
    """What ranks left in a folder."""

    dumps: tuple[Dump, ...]
    """Sorted by rank, of each rank one."""
    problems: tuple[Problem, ...]
    """Problems of files that look like dumps and cannot be read."""


def read(folder: str) -> Dumps:
    """The dumps in a folder and in those within; raises `ProblemError` where there are none or none can be read."""
    if not os.path.isdir(folder):
        raise problem_error("no_logdir", "This folder does not exist.", "Name the folder of the dumps.", folder)
    dumps: dict[int, Dump] = {}
    problems: list[Problem] = []
    for rank, path in _files(folder):
        try:
            dump = _read_dump(path, rank)
        except ProblemError as error:
            problems.append(error.problem)
            continue
        if rank not in dumps or (dump.has_stacks, dump.where) > (dumps[rank].has_stacks, dumps[rank].where):
            dumps[rank] = dump
    if not dumps:
        message = (
            Message("No dump in this folder can be read.")
            if problems
            else Message("No dumps of PyTorch's flight recorder here.")
        )
        raise problem_error("no_dumps", message, str(problems[0]) if problems else _REMEDY, folder)
    return Dumps(tuple(dumps[rank] for rank in sorted(dumps)), tuple(problems))


def _files(folder: str) -> Iterator[tuple[int, Path]]:
    """(rank, path) of files that are dumps by their begin, and of others with such names, which may be damaged."""
    candidates = [(rank, path) for path in _paths(folder) if (rank := flight_recorder.rank_of(path.name)) is not None]
    are_dumps = {path: _is_dump(path) for _, path in candidates}
    patterns = {_name_pattern(path) for path, is_dump in are_dumps.items() if is_dump}
    yield from ((rank, path) for rank, path in candidates if are_dumps[path] or _name_pattern(path) in patterns)


def _paths(folder: str) -> Iterator[Path]:
    count = 0
    for path, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            count += 1
            if count > _MOST_FILES:
                message = Message("The folder holds more than {most} files.", most=_MOST_FILES)
                raise problem_error("too_large", message, "Name a folder with dumps only.", folder)
            yield Path(path, name)


def _is_dump(path: Path) -> bool:
    begin = head(path)
    return recognize.recognised(begin) is None and flight_recorder.may_be_dump(begin)


def _name_pattern(path: Path) -> tuple[str, str]:
    """(folder, name with all numbers as 0): the same for the dumps of all ranks."""
    return str(path.parent), _DIGITS.sub("0", path.name)


def _read_dump(path: Path, rank: int) -> Dump:
    where = str(path)
    try:
        size = path.stat().st_size
        if size > flight_recorder.MOST_BYTES:
            message = Message("This dump is larger than {size}.", size=memory(flight_recorder.MOST_BYTES))
            remedy = Message("Record fewer entries: TORCH_FR_BUFFER_SIZE=2000.")
            raise problem_error("too_large", message, remedy, where, status=422)
        content = bytes(memoryview(load(path)))
    except OSError as error:
        message = Message("The dump cannot be read: {reason}.", reason=error.strerror)
        raise problem_error("unreadable", message, "Change its permissions.", where) from error
    if not content:
        remedy = Message("Check whether the rank ended while writing.")
        raise problem_error("no_dump", "This dump is empty.", remedy, where, status=422)
    return flight_recorder.decode(content, rank, where)
