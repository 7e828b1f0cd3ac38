"""Traces of PyTorch's profiler (Kineto), and others in Chrome's JSON format: names of files, and bytes → columns.

See `formats` for what a format says of itself, and README.md beside this file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from ...runtime.regex import regex

if TYPE_CHECKING:
    from ..columns import XSpace

_FILE_NAME = regex(r"(?P<stem>.+?)(?:\.(?P<span>\d+))?(?P<kind>\.pt\.trace|\.trace)?\.json(?:\.gz)?", re.DOTALL)
"""``<worker>.<time>.pt.trace.json.gz``, as torch.profiler.tensorboard_trace_handler writes it, and whatever else."""
_RANK = regex(r"(?:rank|tp)[-_]?\d+", re.IGNORECASE)
_STATED_RANK = regex(rb'"distributedInfo"\s*:\s*\{[^{}\[\]]{0,400}?"rank"\s*:\s*(\d{1,9})\b')
_SAME_TIME_NS = 60 * 10**9
"""Workers that wrote within so long of each other profiled at the same time."""
_MILLISECONDS, _NANOSECONDS = 13, 19
"""Digits of the time in a file's name: ms since 1970 in old versions, ns now."""
_TRACE_MEMBER = regex(rb'"(?:traceEvents|schemaVersion|deviceProperties|distributedInfo|baseTimeNanoseconds)"\s*:')
_EVENT_LIST = regex(rb'\s*\[\s*\{[^{}]{0,400}"ph"\s*:')


def host_of(name: str) -> str | None:
    """The worker, e.g. ``node1_4711`` for ``node1_4711.1623143089861.pt.trace.json``; of other JSON the bare name."""
    match = _FILE_NAME.fullmatch(name)
    return match["stem"] if match else None


def is_certain(name: str) -> bool:
    """JSON may be anything; what calls itself a trace is one."""
    match = _FILE_NAME.fullmatch(name)
    return bool(match and match["kind"])


def is_by_product(name: str) -> bool:
    """TensorFlow and JAX write ``<host>.trace.json.gz`` beside ``<host>.xplane.pb``."""
    match = _FILE_NAME.fullmatch(name)
    return not (match and match["kind"] == ".pt.trace")


def sessions(names: Iterable[str], is_run: bool, head: Callable[[str], bytes]) -> Iterable[tuple[str, tuple[str, ...]]]:
    """A job's workers that profiled at the same time are one session; each span of time is another.

    Files whose names differ in nothing but a rank are workers of one job; a number in a name is a rank where the file
    states that rank. So are files that PyTorch's handler for TensorBoard names by host and process.
    """
    jobs: dict[str, dict[str, list[tuple[int, str]]]] = {}
    for name in sorted(names):
        match = _FILE_NAME.fullmatch(name)
        if match:
            stem, time, kind = match["stem"], int(match["span"] or 0), match["kind"]
            is_one_job = kind == ".pt.trace" or (is_run and kind)
            job = "" if is_one_job else stem
            rank_pattern = _RANK if _RANK.search(stem) else None if is_one_job else _stated_rank_pattern(head(name))
            if rank_pattern and rank_pattern.search(stem):
                job = rank_pattern.sub("", stem).strip("-_. ")
            jobs.setdefault(job, {}).setdefault(stem, []).append((time, name))
    for job, workers in jobs.items():
        spans = _files_by_time(workers)
        for i, files in enumerate(spans, 1):
            yield "/".join(part for part in (job, str(i) if len(spans) > 1 else "") if part), files


def _stated_rank_pattern(head: bytes) -> re.Pattern[str] | None:
    """What finds the rank that a file states at its begin in its name."""
    match = _STATED_RANK.search(head)
    return re.compile(rf"(?<!\d)0*{int(match[1])}(?!\d)") if match else None


def _files_by_time(workers: dict[str, list[tuple[int, str]]]) -> list[tuple[str, ...]]:
    """The files of each span of time: the n-th of every worker if all have as many, else those of about one time."""
    files_of_workers = [_distinct_files(files) for files in workers.values()]
    if len({len(files) for files in files_of_workers}) == 1:
        return [tuple(name for _, name in files) for files in zip(*files_of_workers, strict=True)]
    timed_files = sorted(
        (_time_ns(time), name) for files_of_worker in files_of_workers for time, name in files_of_worker
    )
    cuts = [i for i, (earlier, later) in enumerate(pairwise(timed_files), 1) if later[0] - earlier[0] > _SAME_TIME_NS]
    return [tuple(name for _, name in timed_files[low:high]) for low, high in pairwise([0, *cuts, len(timed_files)])]


def _distinct_files(files: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """The files in order of time; of a file that lies there plain and compressed only the plain one."""
    file_of_name = {name.removesuffix(".gz"): (span, name) for span, name in reversed(files)}
    return sorted(file_of_name.values())


def _time_ns(number: int) -> int:
    """The time in a file's name as ns; see `_MILLISECONDS`."""
    return number * 10**6 if len(str(number)) == _MILLISECONDS else number


STREAMED = True
"""It is read once."""


def reads(head: bytes) -> bool:
    """Whether it is JSON that holds a trace's members, or a list of events."""
    json = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    return bool(json[:1] == b"{" and _TRACE_MEMBER.search(json)) or bool(_EVENT_LIST.match(json))


def decode(
    content: Any, where: str = "", progress: Callable[[str, float], None] = lambda phase, fraction: None
) -> XSpace:
    """As `recognize.decode`, of a trace in JSON, a buffer or a `Stream`."""
    # Large, and not needed to find captures.
    from . import reader

    return reader.decode(content, where, progress)
