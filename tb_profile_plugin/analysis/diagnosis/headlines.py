"""The largest fact about a capture in one sentence, of at most twenty words."""

from __future__ import annotations

from collections.abc import Sequence

from ...model.devices.properties import device_count
from ...model.host import Host, HostWithSteps
from ...model.profiler_options import is_unrecorded, one_op_of
from ...runtime.records import NamedTuple
from ..activity.states import State
from ..finding import HeadlineLevel
from ..labels.event_names import short_name
from ..steps.choice_names import ALL, TYPICAL
from ..steps.typical_times import Typical, is_gap_notable
from .catalogue import TEMPLATES, Sentence, joined
from .causes import HOST_LATE
from .input_stage import name_input_stage
from .program.facts import NOT_FINE
from .program.program_facts import device_word, program_facts
from .time_loss import WORK, TimeLoss

_LITTLE_INPUT, _NO_INPUT = 0.05, 0.001
"""Shares of the period below which waiting for input is little, what any pipeline costs (by TensorFlow's profiler), and
is none to speak of.
"""
LEADS = 0.15
"""Share of the period from which on a loss is the headline; below it the work that is done is."""
BAD = 0.20
"""Share from which on a loss is a bottleneck, and several ways in which the host is late lead together."""
_FINE = 0.80
"""Share of compute from which on little can be gained elsewhere."""
NOTABLE = 0.02
"""Share from which on a time is worth a clause."""
_MOST_OF_HOST = 0.6
"""One way of being late that makes up so much of all of them is named alone."""
_SECOND = 0.15
"""Share of all ways of being late from which on the second one is named, too."""
HOST_OVERHEAD = "headline.host"
"""Id of the sentence where several ways in which the host is late lead together."""
_HOST_WORKS = tuple(id for id in HOST_LATE if id != "unrecorded")
"""Those in which the host is known to do something."""
_ALL = 0.9
"""Share of the work from which on what a remedy makes less is all of it."""
_MOST_WORDS = 20
"""A headline has no more; of what takes the time it says as many names as that leaves room for."""


class DiagnosisHeadline(NamedTuple):
    """The largest fact in one sentence."""

    sentence: Sentence
    level: HeadlineLevel


def has_devices(hosts: Sequence[Host]) -> bool:
    """Whether a host has an accelerator."""
    return any(device_count(host) for host in hosts)


def passing(losses: Sequence[TimeLoss]) -> tuple[str, ...]:
    """Causes that say nothing of the steps to come: a single step may be unusual by chance, and so may several that
    neither come again and again nor have anything in common.
    """
    return (
        ("warmup",)
        if any(loss.id == "unusual_steps" and loss.recurs for loss in losses)
        else ("unusual_steps", "warmup")
    )


def headline(ranked: Sequence[TimeLoss], typical: Typical, hosts: Sequence[Host], fact: str = "") -> DiagnosisHeadline:
    """By the first of the ranked causes, or by all ways in which the host is late where these lead only together.

    ``fact`` is what the first one's remedy is for (`Remedy.fact`): of work a headline says that, not its names.
    """
    period_ps = typical.period_ps
    if not ranked or not period_ps:
        return DiagnosisHeadline(Sentence("headline.nothing"), "unknown")
    lead = ranked[0]
    if lead.id == WORK:
        code = "headline.compute" if has_devices(hosts) else "headline.cpu_compute"
        level: HeadlineLevel = "ok" if _is_fine(ranked, period_ps, hosts) else "info"
        if f"mostly.{fact}" in TEMPLATES:
            return DiagnosisHeadline(_sentence_of_waste(code, lead, typical, hosts, fact), level)
        return DiagnosisHeadline(_sentence(code, lead, typical, hosts), level)
    late = [loss for loss in ranked if loss.id in HOST_LATE]
    late_ps = sum(loss.ps for loss in late)
    if lead.id in _HOST_WORKS and any(map(is_unrecorded, hosts)):
        return _beside_unrecorded([loss for loss in late if loss.id in _HOST_WORKS], typical, hosts)
    others = [loss for loss in ranked if loss.id not in (*HOST_LATE, WORK, *passing(ranked)) and not loss.costs_nothing]
    other_ps = max((loss.winnable_ps for loss in others), default=0.0)
    if lead.id in HOST_LATE and lead.ps < max(_MOST_OF_HOST * late_ps, other_ps) and late_ps > other_ps:
        return DiagnosisHeadline(_host_sentence(late, late_ps, typical, hosts), _level(late_ps / period_ps))
    return DiagnosisHeadline(_sentence(_code(lead, hosts), lead, typical, hosts, fact), _level(lead.ps / period_ps))


def _beside_unrecorded(late: Sequence[TimeLoss], typical: Typical, hosts: Sequence[Host]) -> DiagnosisHeadline:
    """What the host does, where nothing tells whether the device waits for that."""
    late_ps = sum(loss.ps for loss in late)
    arguments = _arguments(TimeLoss("host", late_ps), typical, hosts)
    arguments["label"] = Sentence(f"label.{late[0].id}")
    return DiagnosisHeadline(Sentence("headline.not_recorded.works", arguments), _level(late_ps / typical.period_ps))


def _is_fine(ranked: Sequence[TimeLoss], period_ps: float, hosts: Sequence[Host]) -> bool:
    """Whether the first of the ranked causes, the work that is done, leaves little to gain."""
    work = ranked[0]
    losses_ps = sum(loss.ps for loss in ranked[1:] if loss.id not in passing(ranked))
    if work.ps < _FINE * period_ps or losses_ps >= LEADS * period_ps or work.remedy is not None:
        return False
    return all(NOT_FINE.isdisjoint(program_facts(host)) for host in hosts)


def _host_sentence(late: Sequence[TimeLoss], late_ps: float, typical: Typical, hosts: Sequence[Host]) -> Sentence:
    """The headline where the host is late in several ways, with the largest of them."""
    arguments = _arguments(TimeLoss("host", late_ps), typical, hosts)
    large = [loss for loss in late if loss.ps >= _SECOND * late_ps or loss is late[0]][:2]
    arguments["parts"] = joined([Sentence(f"label.{loss.id}") for loss in large])
    return Sentence(HOST_OVERHEAD if has_devices(hosts) else f"{HOST_OVERHEAD}.cpu", arguments)


def _code(lead: TimeLoss, hosts: Sequence[Host]) -> str:
    code = f"headline.{lead.id}"
    if lead.id == "between_steps" and lead.is_unrecorded:
        return f"{code}.unrecorded"
    if lead.variant:
        return code + lead.variant
    if lead.id == "unusual_steps":
        facts = lead.arguments or {}
        return f"{code}.every" if facts.get("every") else f"{code}.one" if facts.get("count") == 1 else code
    return "headline.sampled" if lead.id == "unexplained" and max(map(one_op_of, hosts)) > 1 else code


def _sentence(code: str, loss: TimeLoss, typical: Typical, hosts: Sequence[Host], fact: str = "") -> Sentence:
    """The headline of that code, with as many names of what takes the time as twenty words leave room for; without any
    it says what the remedy is for.
    """
    arguments = _arguments(loss, typical, hosts)
    if any(map(is_unrecorded, hosts)):
        return Sentence(code, arguments | {"names": Sentence("mostly.not_recorded", {"device": arguments["device"]})})
    names = loss.headline_names()
    if not names[0].text and f"mostly.{fact}" in TEMPLATES:
        names = [Sentence(f"mostly.{fact}")]
    return _first_short([Sentence(code, arguments | {"names": name}) for name in names])


def _first_short(sentences: Sequence[Sentence]) -> Sentence:
    """The first that has no more than `_MOST_WORDS`, else the last."""
    return next((sentence for sentence in sentences if len(sentence.text.split()) <= _MOST_WORDS), sentences[-1])


def _sentence_of_waste(code: str, work: TimeLoss, typical: Typical, hosts: Sequence[Host], fact: str) -> Sentence:
    """The headline of work that a remedy for ``fact`` makes less, and how much of it that is, where it is not all."""
    waste, arguments = Sentence(f"mostly.{fact}"), _arguments(work, typical, hosts)
    most_ps = work.remedy.most_ps if work.remedy is not None else None
    is_part = most_ps is not None and 0 < most_ps < _ALL * work.ps
    part = [Sentence("mostly.part", {"names": waste, "time_ps": most_ps})] if is_part else []
    return _first_short([Sentence(code, arguments | {"names": names}) for names in (*part, waste)])


def _arguments(loss: TimeLoss, typical: Typical, hosts: Sequence[Host]) -> dict[str, object]:
    """Arguments of a headline, but for the names of what takes the time."""
    period_ps = typical.period_ps
    suffix = {TYPICAL: "", ALL: ".all"}.get(typical.steps.wanted, ".range")
    span = "span.period" if is_gap_notable(float(typical.between_ps.sum()), period_ps) else f"span.step{suffix}"
    arguments: dict[str, object] = {
        "share": loss.ps / (loss.base_ps or period_ps),
        "time_ps": round(loss.ps),
        "spent_pair": (round(loss.ps), round(loss.base_ps or period_ps)),
        "span": Sentence(span if typical.has_steps else "span.capture"),
        "device": device_word(hosts),
    }
    if loss.id == "unexplained":
        arguments["count"] = max(map(one_op_of, hosts))
    named = {name: short_name(value) for name, value in (loss.arguments or {}).items() if isinstance(value, str)}
    return arguments | dict(loss.arguments or {}) | named


def input_headline(typical: Typical, hosts: Sequence[HostWithSteps]) -> DiagnosisHeadline:
    """What waiting for input costs the typical step, however little."""
    share, ps = typical.share(State.INPUT), float(typical.state_ps[State.INPUT])
    if not typical.period_ps:
        return DiagnosisHeadline(Sentence("headline.nothing"), "unknown")
    loss = TimeLoss("input", ps, [time for time in typical.names if time.state == "input"])
    name_input_stage(loss, hosts)
    if share < _LITTLE_INPUT:
        code = "input.little" if share >= _NO_INPUT else "input.none"
        return DiagnosisHeadline(_sentence(code, loss, typical, hosts), "ok" if typical.has_steps else "unknown")
    if loss.costs_nothing:
        return DiagnosisHeadline(_sentence("input.idle", loss, typical, hosts), "info")
    return DiagnosisHeadline(_sentence(f"headline.input{loss.variant}", loss, typical, hosts), _level(share))


def _level(share: float) -> HeadlineLevel:
    return "bad" if share >= BAD else "warn"
