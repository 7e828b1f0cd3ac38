"""Which worker comes last to collectives, how regularly, and what it did meanwhile that the others did not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ...model.host import Host
from ...model.profiler_options import one_op_of
from ...runtime.messages import Message, message
from ...runtime.records import NamedTuple
from ..activity.states import CATEGORIES, CATEGORY_OF_STATE, STATES, State
from ..steps.host_account import host_account
from ..steps.typical_times import typical_late_peer
from .late_causes import Cause, Excess, largest_excess, spending
from .late_patterns import Pattern, regularity, responsible_workers
from .late_peers import LatePeers

_LEAST_EXPLAINED = 0.2
"""Share of what late workers make others wait, from which on a cause is told."""
_LEAST_NAME_SHARE = 0.5
"""A name that makes up so much of what a worker spends in a state stands for it."""


class Lateness(NamedTuple):
    """How often a worker came last to collectives, what that cost, and why; times in ps."""

    worker: str
    host: str
    device: str
    """Empty where the host has but one that communicates."""
    last_count: int
    """Collectives to which it came last."""
    collective_count: int
    """Collectives that it takes part in."""
    caused_ps: int
    """How long the worker that came first waited for this one, directly or through the late one's group."""
    waited_ps: int
    """How long this one waited itself."""
    excess: Excess | None
    """What it had spent most more on than the others, where it came last; None where it spent no more on anything."""
    name: str
    """What most of that state is on this worker, by name; empty where nothing is."""

    @property
    def cause(self) -> Cause | None:
        """Why it is late; None where nothing explains enough of the waits."""
        return self.excess.cause if self.excess and self.excess.ps >= _LEAST_EXPLAINED * self.caused_ps else None


class LatenessVerdict(NamedTuple):
    """Who comes late, how regularly, and with what."""

    pattern: Pattern
    worker: str | None
    """The worker, or the machine, that the others wait for; None where it is not always the same."""
    cause: Cause | None
    """None where nothing explains enough of the waits."""
    waited_ps: int
    """How long the worker that came first waited, over all collectives."""
    sentence: str


class LateWorkers(NamedTuple):
    """All workers' lateness."""

    workers: list[Lateness]
    """Who cost the others most first."""
    verdict: LatenessVerdict | None
    """What there is to say of all; None where workers hardly wait for one another."""


def late_workers(hosts: Sequence[Host], peers: LatePeers) -> LateWorkers:
    """Who comes last to collectives, and why."""
    collectives = _LateCollectives(hosts, peers)
    workers = [collectives.lateness([index], worker.name) for index, worker in enumerate(peers.workers)]
    workers.sort(key=lambda worker: (-worker.caused_ps, worker.worker))
    return LateWorkers(workers, collectives.verdict(workers))


class _LateCollectives:
    """All collectives, by who came last to them and whom the others waited for."""

    def __init__(self, hosts: Sequence[Host], peers: LatePeers):
        self._hosts, self._peers = hosts, peers
        self._responsible, self._spent = responsible_workers(peers), spending(hosts, peers)

    def lateness(self, indices: Sequence[int], name: str) -> Lateness:
        """The lateness of one worker, or of several together, by their indices."""
        peers = self._peers
        is_counted = np.isin(np.arange(len(peers.workers)), indices)
        is_last, is_blamed = is_counted[peers.late] & (peers.longest_ps > 0), is_counted[self._responsible]
        excess = largest_excess(self._spent, np.flatnonzero(is_last & is_blamed))
        first_worker = peers.workers[indices[0]]
        return Lateness(
            worker=name,
            host=self._hosts[first_worker.host].name,
            device=first_worker.device,
            last_count=int(is_last.sum()),
            collective_count=int(peers.is_member[:, indices].any(axis=1).sum()),
            caused_ps=int(peers.disjoint_longest_ps[is_blamed].sum()),
            waited_ps=int(peers.disjoint_waiting_ps[:, indices].sum()),
            excess=excess,
            name=_main_name(self._hosts[first_worker.host], excess.state) if excess else "",
        )

    def verdict(self, workers: Sequence[Lateness]) -> LatenessVerdict | None:
        """What there is to say of all workers, whose lateness these are."""
        hosts, peers = self._hosts, self._peers
        late_pattern, waited_ps = regularity(hosts, peers), int(peers.disjoint_longest_ps.sum())
        always_late = late_pattern.workers if late_pattern else ()
        straggler = typical_late_peer([host.with_steps() for host in hosts])
        is_confirmed = straggler and straggler.host in {hosts[peers.workers[index].host].name for index in always_late}
        if straggler and not is_confirmed:
            # Steps that do not count may hide who is late in those that do.
            for worker in workers:
                if worker.host == straggler.host and worker.last_count:
                    return _verdict_of_worker(worker, waited_ps)
        if late_pattern is None:
            return None
        if always_late:
            first = peers.workers[always_late[0]]
            lateness = self.lateness(always_late, first.name if len(always_late) == 1 else hosts[first.host].hostname)
            hardly_slows = not is_confirmed and len(hosts) > 1 and all(one_op_of(host) == 1 for host in hosts)
            return _verdict_of_worker(lateness, waited_ps, hardly_slows)
        excess = largest_excess(self._spent, np.flatnonzero(peers.longest_ps > 0))
        return _verdict_of_workers(late_pattern.pattern, excess, waited_ps, len(peers.late))


def _verdict_of_worker(lateness: Lateness, waited_ps: int, hardly_slows: bool = False) -> LatenessVerdict:
    """``hardly_slows`` where typical steps are no longer for it, so that the diagnosis does not name it."""
    lead = Message(
        "{worker} is last in {last} of {of} collectives; others wait {caused_ps}.",
        worker=lateness.worker,
        last=lateness.last_count,
        of=lateness.collective_count,
        caused_ps=lateness.caused_ps,
    )
    reason: Message | str = ""
    if lateness.excess and lateness.cause:
        reason = _reason(_REASONS_OF_WORKER, lateness.excess, name=f" ({lateness.name})" if lateness.name else "")
    if hardly_slows:
        lead = _sentence(lead, Message("In typical steps these waits are short or irregular."))
    return LatenessVerdict("persistent", lateness.worker, lateness.cause, waited_ps, _sentence(lead, reason))


def _verdict_of_workers(pattern: Pattern, excess: Excess | None, waited_ps: int, count: int) -> LatenessVerdict:
    figures_of_all = {"waited_ps": waited_ps, "count": count}
    if pattern == "rotating":
        lead = Message(
            "Workers are late in turn; they wait {waited_ps} for one another in {count} collectives.", **figures_of_all
        )
    else:
        lead = Message(
            "No worker is late more often than others; they wait {waited_ps} in {count} collectives.", **figures_of_all
        )
    if excess is None or excess.ps < _LEAST_EXPLAINED * waited_ps:
        return LatenessVerdict(pattern, None, None, waited_ps, lead)
    return LatenessVerdict(
        pattern, None, excess.cause, waited_ps, _sentence(lead, _reason(_REASONS_OF_WORKERS, excess))
    )


_REASONS_OF_WORKER = {
    "slower": Message("Its device needs {more_ps} more for the same work."),
    "larger": Message("It computes {more_ps} longer, with the same operations on more data."),
    "other_work": Message("It computes {more_ps} longer, with other operations than others."),
    "unrecorded": Message("It spends {more_ps} more than others in host code that was not recorded."),
    "state": Message("It spends {more_ps} more than others in {label}{name}."),
}
_REASONS_OF_WORKERS = {
    "slower": Message("Devices of late workers need {more_ps} more for the same work."),
    "larger": Message("Late workers compute {more_ps} longer, with the same operations on more data."),
    "other_work": Message("Late workers compute {more_ps} longer, with other operations than others."),
    "unrecorded": Message("Late workers spend {more_ps} more than others in host code that was not recorded."),
    "state": Message("Late workers spend {more_ps} more than others in {label}."),
}
"""What one late worker, and those that are late in turn, spend more on: templates by cause, else by state."""


def _reason(reasons: Mapping[str, Message], excess: Excess, **name: str) -> Message:
    """What late workers spend more on, as a sentence."""
    template = reasons.get("unrecorded" if excess.state == State.UNRECORDED else excess.cause)
    if template:
        return Message(template, more_ps=excess.ps)
    return Message(reasons["state"], more_ps=excess.ps, label=message(category_label(excess.state)), **name)


def _sentence(lead: Message, reason: Message | str) -> Message:
    return Message("{lead} {reason}", lead=lead, reason=reason) if reason else lead


def _main_name(host: Host, state: State) -> str:
    """What most of a state is by name, over the whole capture of a host."""
    account = host_account(host.with_steps())
    name_ps = account.name_ps.sum(axis=0).tolist()
    names_and_ps = zip(account.names, name_ps, strict=True)
    state_names = [(ps, name) for (name_state, name), ps in names_and_ps if name_state == STATES[state]]
    ps, name = max(state_names, default=(0, ""))
    return name if ps > _LEAST_NAME_SHARE * sum(ps for ps, _ in state_names) else ""


def category_label(state: State) -> str:
    """What the pages call the state's category."""
    return CATEGORIES[CATEGORY_OF_STATE[state]].label
