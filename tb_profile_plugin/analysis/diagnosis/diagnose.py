"""The diagnosis of a session: what the wall clock went into, why, and what would help."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from ...model.devices.properties import device_count, host_device_type
from ...model.framework import framework
from ...model.host import Host
from ...model.profiler_options import counted_kernels, is_unrecorded, leaves_gpu_unused, one_op_of
from ..activity.states import STATES
from ..steps import step_evidence, step_time
from ..steps.calls_between import called_between
from ..steps.dispatched_calls import calls_per_step, one_by_one_share
from ..steps.host_account import Stretch, figures
from ..steps.step_choice import TYPICAL
from ..steps.typical_times import Typical, typical_times
from .catalogue import Sentence
from .causes import HOST, NAMES, UNUSED, WORK, Calls, Cause, Confidence, Lost, lost_times, tell_pauses
from .gains import gain
from .headlines import BAD, LEADS, NOTABLE, Headline, device_word, has_devices, headline, passing
from .program_facts import program_facts
from .remedies import remedy
from .unusual_steps import UnusualStep, cause_of_unusual, cause_of_warm_up, early_share, unusual_steps

NEEDS = (
    *(*step_time.NEEDS, figures, step_evidence.coverage, calls_per_step, one_by_one_share, called_between),
    *(device_count, host_device_type, framework, is_unrecorded, leaves_gpu_unused, one_op_of, counted_kernels),
    *(program_facts, early_share),
)
"""Per-host functions that `diagnose` merges.

Gains rest on `analysis.steps.what_if.what_if`, too, which takes as much time and memory again.
"""

PROFILER = "profiler"
_EVIDENCE = 5
"""So many stretches are shown of each cause."""
_SHOWN, _NOTHING = 0.03, 0.005
"""Shares of the period: of a loss that is worth a line; and of a gain that is none."""
_ONE_OP, _ABOVE = 0.5, 3.0
"""An op that is so much of the step, and so many times the largest loss, leads over one that is no bottleneck."""
_TIED = 0.1
"""What several ways of being late take together leads another cause only where it is so much longer than that one."""


class Part(NamedTuple):
    """Time of a host's whole capture, ps."""

    host: str
    place: str
    """As `HostFigures.places` has them."""
    id: str
    """Of a state, see `analysis.activity.states`; ``profiler`` for the profiler's own time."""
    ps: int


class Device(NamedTuple):
    """What one device did between the profiler's start and its stop."""

    host: str
    device: str
    state: str
    """``worked``, or ``not_recorded`` where the capture names it and holds no event of it."""
    state_ps: dict[str, int]
    """By state; they sum to the time. Empty where nothing was recorded."""


class _Program(NamedTuple):
    """What was captured, as far as sentences and remedies differ by it."""

    framework: str
    device: str
    """As `device_word` has it."""
    facts: frozenset[str]
    """See `program_facts`."""


class Diagnosis(NamedTuple):
    """What a page, the command line and comparisons quote."""

    headline: Headline
    accounting: list[Part]
    """Per host it sums to the time from the first to the last event."""
    typical: Typical
    causes: list[Cause]
    """Ranked."""
    unusual: list[UnusualStep]
    devices: list[Device]


def diagnose(hosts: Sequence[Host], step_event: str = "", wanted: str = TYPICAL, replays: bool = False) -> Diagnosis:
    """The diagnosis over some hosts; ``wanted`` chooses the steps as `typical.choose` takes it.

    Only with ``replays`` causes have gains; nothing else differs.
    """
    typical = typical_times(hosts, step_event, wanted, replays)
    calls = Calls(*(max(of(host, step_event) for host in hosts) for of in (calls_per_step, one_by_one_share)))
    unrecorded = any(is_unrecorded(host) for host in hosts)
    lost = lost_times(
        typical, calls, unrecorded, next(filter(None, (called_between(host, step_event) for host in hosts)), "")
    )
    if any(leaves_gpu_unused(host) for host in hosts):
        for each in lost:
            each.id = UNUSED if each.id == WORK else each.id
    for each in lost:
        if each.id == "eager":
            each.arguments = {"count": round(calls.per_step)}
        if each.id == "sync":
            each.arguments = {"count": round(each.count)}
    if not has_devices(hosts):
        tell_pauses(lost)
    unusual = unusual_steps(hosts, typical, step_event)
    early = max(early_share(host, step_event) for host in hosts)
    lost += [each for each in (cause_of_unusual(typical, unusual), cause_of_warm_up(typical, early)) if each]
    counted = sum(counted_kernels(host) for host in hosts)
    ranked = [_counting(counted, typical)] if counted else _ranked(lost, typical)
    evidence = [stretch for host in hosts for stretch in figures(host, step_event).evidence]
    program = _Program(_framework(hosts), device_word(hosts), frozenset().union(*map(program_facts, hosts)))
    causes = [_cause(each, typical, program, evidence, ranked) for each in ranked]
    accounting = [part for host in hosts for part in _accounting(host, step_event)]
    devices = [device for host in hosts for device in _devices(host, step_event)]
    return Diagnosis(headline(ranked, typical, hosts), accounting, typical, causes, unusual, devices)


def _counting(kernels: int, typical: Typical) -> Lost:
    """All of the time, where the profiler counted in kernels: what the program did by itself cannot be told from it."""
    return Lost("counted", typical.period_ps, arguments={"count": kernels})


def _framework(hosts: Sequence[Host]) -> str:
    """Of most hosts."""
    return Counter(framework(host) for host in hosts).most_common(1)[0][0]


def _accounting(host: Host, step_event: str) -> list[Part]:
    found = figures(host, step_event)
    times: dict[tuple[str, str], int] = {}
    for place in dict.fromkeys(found.places.tolist()):
        for state, ps in zip(STATES, found.state_ps[found.places == place].sum(axis=0).tolist(), strict=True):
            key = (place, PROFILER if place == PROFILER else state)
            times[key] = times.get(key, 0) + ps
    return [Part(host.name, *key, ps) for key, ps in times.items() if ps]


def _devices(host: Host, step_event: str) -> list[Device]:
    found = figures(host, step_event)
    worked = [
        Device(host.name, name, "worked", dict(zip(STATES, row, strict=True)))
        for name, row in zip(found.devices, found.device_ps.tolist(), strict=True)
    ]
    return worked + [Device(host.name, name, "not_recorded", {}) for name in found.silent]


def _ranked(lost: list[Lost], typical: Typical) -> list[Lost]:
    """The causes in the order of what they cost. Work comes first where no loss leads, else after all losses; warming
    up is last, since it passes, and so is the one step of a few that is unlike the others. Ways in which the host is
    late lead together.
    """
    whole = typical.period_ps
    last = passing(lost)
    losses = sorted((each for each in lost if each.id not in (WORK, *last)), key=lambda each: -each.ps)
    losses = [each for each in losses if each.ps >= _SHOWN * whole] or losses[:1]
    late = [each for each in losses if each.id in HOST]
    together = sum(each.ps for each in late)
    others = max((each.ps for each in losses if each.id not in HOST), default=0.0)
    before = late and together > (1 + _TIED) * others
    led = [late[0], *(each for each in losses if each is not late[0])] if before else losses
    work = [each for each in lost if each.id == WORK]
    passes = [each for id in last for each in lost if each.id == id]
    leads = led and (led[0].ps >= LEADS * whole or (led[0] in late and together >= BAD * whole))
    loss = max(together, led[0].ps) if led else 0.0
    leads = leads and not (loss < BAD * whole and _is_one_op(work, loss, whole))
    ranked = [*led, *work, *passes] if leads else [*work, *losses, *passes]
    # That the GPU is not used is said before anything else.
    return sorted(ranked, key=lambda each: each.id != UNUSED)


def _is_one_op(work: Sequence[Lost], loss_ps: float, whole: float) -> bool:
    """Whether one op is most of the step, and so much more than the largest loss that it is what to look at first."""
    longest = max((ps for each in work for _, ps, _ in each.by_name()), default=0.0)
    return longest >= max(_ONE_OP * whole, _ABOVE * loss_ps)


def _limit(lost: Lost, typical: Typical) -> dict[str, Sentence]:
    """Why nothing can be won by a cause, which the step waits for something else beside; or more than its own time."""
    won, whole = gain(lost, typical), typical.period_ps
    if won is None or typical.replayed is None or lost.ps < _NOTHING * whole:
        return {}
    names = lost.named()
    if won - lost.ps >= max(NOTABLE * whole, _TIED * lost.ps):
        return {"names": Sentence("won.more", {"names": names})}
    if won >= _NOTHING * whole:
        return {}
    by_host = typical.replayed.get("host")
    bound = by_host is not None and by_host.gain_ps >= NOTABLE * whole and lost.id not in HOST
    return {"names": Sentence("won.host" if bound else "won.others", {"names": names})}


def _sentence(lost: Lost, typical: Typical, device: str) -> Sentence:
    """What the cause is, with the names of what takes the time."""
    facts = {"names": lost.named(), "device": device, **(lost.arguments or {})}
    return Sentence(f"cause.{lost.id}{lost.variant}", facts | _limit(lost, typical))


def _cause(
    lost: Lost, typical: Typical, program: _Program, evidence: Sequence[Stretch], ranked: Sequence[Lost]
) -> Cause:
    whole = typical.period_ps
    unexplained = sum(each.ps for each in ranked if each.id == "unexplained") / whole
    confidence: Confidence = "high" if unexplained < 0.05 else "medium" if unexplained < 0.15 else "low"
    if not typical.counted:
        confidence = "low"
    return Cause(
        lost.id,
        round(lost.ps),
        lost.ps / (lost.of_ps or whole),
        gain(lost, typical),
        confidence,
        max((each for each in ranked if each is not lost), key=lambda each: each.ps, default=Lost("")).id,
        _sentence(lost, typical, program.device),
        remedy(program.framework, *lost.remedied, facts=program.facts),
        [(name, round(ps), count) for name, ps, count in lost.by_name()[:NAMES] if name],
        lost.stretches(evidence)[:_EVIDENCE],
    )
