"""What the reader must know before trusting a capture's figures: what is missing, and how it was recorded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ... import store
from ...formats.columns import vocabulary
from ...formats.xspace.hlo import PROGRAMS
from ...model import clock
from ...model.devices.properties import host_device_type
from ...model.framework import TENSORFLOW
from ...model.host import Host, HostWithSteps, steps_of, window
from ...model.names import collectives
from ...model.names.host_events import are_frames
from ...model.per_host import per_host
from ...model.profiler_options import (
    counter_range_count,
    leaves_gpu_unused,
    levels,
    looks_for_cupti,
    one_op_of,
    versions,
)
from ...model.ranks import missing, rank
from ...model.session import Session
from ...model.session_facts import event_count
from ...model.steps import recorded_steps
from ...runtime.arrays import median
from ...runtime.messages import Message, listed, message, sentences, some_of
from ...runtime.problems import AVERAGE, CLOCKS, DEVICE, HOST, INPUT, SPREAD, Problem
from ...runtime.records import NamedTuple
from . import unmarked_input, unrecorded_devices
from .impossible_figures import impossible_figures
from .recording_advice import DEVICES, PYTHON, STEPS, remedy

_SOURCES_OF_SHARED_NUMBERS = ("chosen", "markers", "loops", "numbers", "profiler")
"""Sources of steps whose numbers mean the same step on every host."""
_MOST_OFFSET_SHARE = 0.5
"""Share of a step within which hosts that train together begin the same step."""
_MOST_HOSTS_NAMED = 3
"""Hosts that a finding names; of more it says how many."""
_HARMLESS = frozenset({"incomplete_steps", "no_steps"})
"""Warnings that figures and the verdict already reckon with."""

_ALL_FIGURES = (AVERAGE, SPREAD, HOST, DEVICE, INPUT)

AFFECTS: dict[str, tuple[str, ...]] = {
    "clocks_apart": (CLOCKS,),
    "clocks_free": (CLOCKS,),
    "clocks_unknown": (CLOCKS,),
    "counted": _ALL_FIGURES,
    "damaged_capture": _ALL_FIGURES,
    "devices_unrecorded": (AVERAGE, DEVICE),
    "gpu_unused": (),
    "hosts_missing": _ALL_FIGURES,
    "impossible_times": (*_ALL_FIGURES, CLOCKS),
    "incomplete_steps": (AVERAGE,),
    "input_outside_steps": (AVERAGE, INPUT),
    "no_device_events": (AVERAGE, DEVICE),
    "no_steps": (AVERAGE,),
    "one_step": (AVERAGE, SPREAD),
    "overhead": (AVERAGE,),
    "reported_by_profiler": (DEVICE,),
    "sampled": _ALL_FIGURES,
}
"""By code of a finding. What profilers report is about devices: a CUPTI that failed, events that were dropped."""


@per_host(keep=True)
def findings_of_host(host: HostWithSteps) -> list[Problem]:
    """What one host has to tell by itself."""
    return [
        *_step_findings(host),
        *_device_findings(host),
        *unrecorded_devices.findings(host),
        *_tracer_findings(host),
        *_sampling_findings(host),
        *_impossible_figure_findings(host),
        *_program_findings(host),
        *_recording_facts(host),
    ]


@per_host(keep=True)
def _communicates(host: Host) -> bool:
    """Whether the host recorded a collective, on a thread or on a device."""
    return any(map(collectives.is_any, host.trace.names))


NEEDS = (event_count, _communicates, findings_of_host, unmarked_input.waits, rank, steps_of, window)
"""Per-host functions that `findings` merges."""


def findings(session: Session, hosts: Sequence[HostWithSteps]) -> list[Problem]:
    """All findings about a session and the hosts that are shown, each once, with what it affects."""
    problems = [*session.problems(), *_missing_host_findings(session)]
    for host in hosts:
        problems += findings_of_host(host)
    return _merged_problems(
        [*problems, *_missing_rank_findings(session, hosts), *_input_findings(hosts), *_clock_findings(hosts)]
    )


def _merged_problems(problems: Sequence[Problem]) -> list[Problem]:
    """Each once: what several hosts have in common names them together."""
    where_by_problem: dict[Problem, list[str]] = {}
    for problem in problems:
        where_by_problem.setdefault(problem._replace(where=""), []).append(problem.where)
    return [
        problem._replace(
            where=_listed(list(dict.fromkeys(where))), affects=problem.affects or AFFECTS.get(problem.code, ())
        )
        for problem, where in where_by_problem.items()
    ]


def _listed(names: Sequence[str]) -> Message:
    return some_of(names, _MOST_HOSTS_NAMED)


def why_empty(session: Session, hosts: Sequence[HostWithSteps]) -> Problem | None:
    """Why the hosts hold no event at all: the damage, a tracer that was off; None where they hold some."""
    if any(event_count(host) for host in hosts):
        return None
    problems = findings(session, hosts)
    causes = [problem for problem in problems if problem.severity == "error"]
    causes += [problem for problem in problems if problem.code in ("tracer_off", "reported_by_profiler")]
    empty = Problem("no_events", "The capture holds no events.", "Capture again while the program works.", session.name)
    return next(iter(causes), empty)


def doubt(problems: Sequence[Problem]) -> str:
    """Why the figures may be wrong, in a sentence; empty where nothing speaks against them."""
    doubts = [problem for problem in problems if problem.severity == "error"]
    doubts += [problem for problem in problems if problem.severity == "warning" and problem.code not in _HARMLESS]
    if not doubts:
        return ""
    text = message(doubts[0].message)
    if len(doubts) == 1:
        return Message("Caution: {problem}", problem=text)
    return Message(
        "Caution: {problem} ({count} more in the notes on this capture.)", problem=text, count=len(doubts) - 1
    )


def _missing_host_findings(session: Session) -> Iterator[Problem]:
    if session.unreadable:
        names = _listed(sorted(session.unreadable))
        text = Message(
            "{unreadable} of {count} hosts cannot be read; figures leave out {names}.",
            unreadable=len(session.unreadable),
            count=len(session.hosts),
            names=names,
        )
        yield Problem("hosts_missing", text, "See the findings of these hosts for the reason.", session.name, "warning")
    if session.stored.parts:
        parts = _listed(session.stored.parts)
        text = Message("Captures written separately are shown as one: {parts}.", parts=parts)
        advice = Message("Split the session where sessions are chosen, or open one folder or file.")
        yield Problem("joined", text, advice, session.name, "info")
    without_capture = store.hosts_without_capture(session.stored)
    if without_capture:
        text = Message("These hosts have no capture here, only by-products: {names}.", names=_listed(without_capture))
        advice = Message("Copy their *.xplane.pb files into the same folder; figures leave these hosts out.")
        yield Problem("hosts_missing", text, advice, session.name, "warning")

    hosts_of_empty_files = tuple(file.host for file in session.stored.files if file.is_substitute)
    if hosts_of_empty_files:
        text = Message(
            "The *.xplane.pb is empty; the Chrome trace in the same folder is used: {names}.",
            names=_listed(hosts_of_empty_files),
        )
        advice = Message("Capture for a shorter time: profilers cannot write captures of more than 2 GiB.")
        yield Problem("empty_beside", text, advice, session.name, "warning")


def _missing_rank_findings(session: Session, hosts: Sequence[Host]) -> Iterator[Problem]:
    missing_ranks = missing(hosts) if len(hosts) == len(session.hosts) else None
    if missing_ranks:
        text = Message(
            "{count} of {world} ranks {count, plural, one {is} other {are}} missing: {ranks}. Lateness is judged in "
            "complete groups of ranks only.",
            count=missing_ranks.missing,
            world=missing_ranks.world_size,
            ranks=some_of([str(number) for number in missing_ranks.lowest], _MOST_HOSTS_NAMED, missing_ranks.missing),
        )
        advice = Message("Put the traces of all ranks into one folder.")
        yield Problem("ranks_missing", text, advice, "", "info")


def _step_findings(host: HostWithSteps) -> Iterator[Problem]:
    steps = host.steps
    if not event_count(host):
        return
    if not len(steps):
        text = Message("No step was found, so figures cover the whole capture.")
        yield Problem("no_steps", text, remedy([host], STEPS), host.name, "warning")
        return
    recorded_count = recorded_steps.recorded_count(host.trace, host.grouped_steps)
    if not steps.complete[:recorded_count].all():
        cut_count = int((~steps.complete[:recorded_count]).sum())
        text = Message(
            "{cut} of {count} steps are cut by the capture's start or end; averages leave them out.",
            cut=cut_count,
            count=len(steps),
        )
        yield Problem("incomplete_steps", text, "", host.name, "warning")
    if int(steps.complete.sum()) == 1:
        text = Message("Averages cover only one step, which may be unusual.")
        yield Problem("one_step", text, "Capture ten steps or more.", host.name, "info")


def _input_findings(hosts: Sequence[HostWithSteps]) -> Iterator[Problem]:
    waits = unmarked_input.longest_waits(hosts)
    if waits:
        text = Message(
            "The loop waits {wait_ps} per step for input outside of its step annotations ({share} of its time). "
            "Step times leave that out.",
            wait_ps=waits.average_ms * 1e9,
            share=waits.share,
        )
        advice = Message(
            "Call next(batches) inside the step annotation: "
            "with Trace('train', step_num=n, _r=1): train(next(batches))."
        )
        yield Problem("input_outside_steps", text, advice, waits.host, "warning")


def _device_findings(host: Host) -> Iterator[Problem]:
    if counter_range_count(host):
        text = Message(
            "CUPTI replayed each of {count} kernels to collect metrics, and the program waited. "
            "These are not usual times.",
            count=counter_range_count(host),
        )
        advice = Message("Capture again without CUPTI metrics (profiler_metrics) to see times.")
        yield Problem("counted", text, advice, host.name, "warning")
    elif leaves_gpu_unused(host):
        text = Message(
            "The capture names a GPU, but the program computes on the CPU: TensorFlow could not use the GPU."
        )
        # Few captures need these.
        from ..diagnosis.program.facts import LOOKS_FOR_CUPTI
        from ..diagnosis.remedies.remedy import remedy as remedy_of

        facts = frozenset({LOOKS_FOR_CUPTI} if looks_for_cupti(host) else ())
        yield Problem("gpu_unused", text, remedy_of(TENSORFLOW, "gpu_unused", facts=facts).text, host.name, "warning")
    elif host.gpus and not host.devices:
        text = Message(
            "The capture names a device ({device}) without any event of it: steps are judged by the host.",
            device=host_device_type(host),
        )
        advice = sentences(remedy([host], DEVICES), "Then capture again.")
        yield Problem("no_device_events", text, advice, host.name, "warning")


def _tracer_findings(host: Host) -> Iterator[Problem]:
    """Tracers that were off, and the one that slows what it watches."""
    tracer_levels = levels(host)
    for name, affects in (("host_tracer_level", HOST), ("device_tracer_level", DEVICE)):
        if tracer_levels.get(name, 1) == 0:
            text = Message(
                "{of, select, host {The host} other {Devices}} recorded nothing: {option} was 0.",
                of=affects,
                option=name,
            )
            advice = Message("Capture with {option}=1 or more.", option=name)
            yield Problem("tracer_off", text, advice, host.name, "warning", (affects,))
    calls = _python_calls(host)
    if calls:
        text = Message("The Python tracer was on ({count} calls), so host times are inflated.", count=calls)
        yield Problem("overhead", text, remedy([host], PYTHON), host.name, "info")


def _sampling_findings(host: Host) -> Iterator[Problem]:
    sampling = one_op_of(host)
    if sampling > 1:
        text = Message(
            "The trace is incomplete: it holds only about 1 in {count} ops. Sums, gaps and idle causes cover only "
            "those.",
            count=sampling,
        )
        yield Problem("sampled", text, "Open the original trace of the profiler.", host.name, "warning")


def _python_calls(host: Host) -> int:
    if not host.cpu:
        return 0
    counts = host.cpu.events.counts
    return int(counts[are_frames(host.cpu.names[: len(counts)])].sum())


def _impossible_figure_findings(host: Host) -> Iterator[Problem]:
    figures = impossible_figures(host)
    if figures:
        text = Message("The capture holds impossible values, which are left blank: {figures}.", figures=listed(figures))
        yield Problem("impossible_figures", text, "Upgrade the profiler.", host.name, "info")


def _program_findings(host: Host) -> Iterator[Problem]:
    plane = host.space.plane(vocabulary.METADATA)
    if plane and len(plane.metadata) > PROGRAMS and len(host.modules) == PROGRAMS:
        text = Message("Only the first {count} XLA programs of this capture were read.", count=PROGRAMS)
        yield Problem("many_programs", text, "Capture for a shorter time.", host.name, "warning")


def _recording_facts(host: Host) -> Iterator[Problem]:
    """With what and how it was recorded, as far as the capture says."""
    parts = [f"{name} {version}" for name, version in versions(host).items()]
    parts += [f"{name}={level}" for name, level in levels(host).items()]
    if parts:
        yield Problem("recorded", Message("Recorded with {parts}.", parts=listed(parts)), "", host.name, "info")


class _StepMarks(NamedTuple):
    """The numbered steps of a host, on the common clock."""

    host: str
    begin: dict[int, int]
    """ps by the number of the step."""
    typical_ps: float
    """Median length of a step."""


def _clock_findings(hosts: Sequence[HostWithSteps]) -> Iterator[Problem]:
    if len(hosts) < 2:
        return
    if not clock.comparable(hosts):
        text = Message("Host clocks disagree by weeks or are missing, so hosts are aligned by their starts.")
        yield Problem("clocks_unknown", text, "", "", "warning")
    host_marks = [_step_marks(host, shift) for host, shift in zip(hosts, clock.shifts(hosts), strict=True)]
    host_marks = [marks for marks in host_marks if marks.begin]
    offsets = {marks.host: _clock_offset(host_marks[0], marks) for marks in host_marks[1:]}
    offsets = {host: offset_ps for host, offset_ps in offsets.items() if offset_ps}
    if offsets:
        farthest = max(offsets, key=lambda host: abs(offsets[host]))
        offset_values = {
            "offset_ps": abs(offsets[farthest]),
            "way": "later" if offsets[farthest] > 0 else "earlier",
            "host": farthest,
            "first": host_marks[0].host,
        }
        yield _clock_problem(offset_values, _listed(list(offsets)), any(map(_communicates, hosts)))


def _clock_problem(offset_values: dict[str, Any], where: str, is_collective: bool) -> Problem:
    """What steps that begin at other times on other hosts mean: collectives, where any was captured, align them."""
    if not is_collective:
        text = Message(
            "Steps begin {offset_ps} {way, select, later {later} other {earlier}} on {host} than on {first}; no "
            "collective was captured that would align them.",
            **offset_values,
        )
        return Problem("clocks_free", text, Message("Compare times within a host only."), where, "info")
    text = Message(
        "Steps begin {offset_ps} {way, select, later {later} other {earlier}} on {host} than on {first}: the "
        "clocks or the hosts are out of sync.",
        **offset_values,
    )
    advice = Message(
        "Compare times within a host only, and synchronize the machines' clocks (NTP) before the next capture."
    )
    return Problem("clocks_apart", text, advice, where, "warning")


def _clock_offset(first: _StepMarks, other: _StepMarks) -> float:
    """ps by which the shared steps begin later on the other; 0 where that is no more than steps vary."""
    shared = sorted(first.begin.keys() & other.begin.keys())
    if len(shared) < 2:
        return 0.0
    offset = median(np.array([other.begin[number] - first.begin[number] for number in shared]))
    return offset if abs(offset) > _MOST_OFFSET_SHARE * max(first.typical_ps, other.typical_ps) else 0.0


def _step_marks(host: HostWithSteps, shift: int) -> _StepMarks:
    steps = host.steps
    if steps.source not in _SOURCES_OF_SHARED_NUMBERS:
        return _StepMarks(host.name, {}, 0.0)
    begin = dict(zip(steps.number.tolist(), (steps.begin + shift).tolist(), strict=True))
    return _StepMarks(host.name, begin, median(steps.length))
