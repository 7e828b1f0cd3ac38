"""Steps that are one on every worker: who is slow, and in what."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...model.host import HostWithSteps
from ...model.lanes import natural_key
from ...runtime.arrays import I64, Bool
from ...runtime.memo import lazy
from ...runtime.messages import Message, message
from ...runtime.records import NamedTuple, record
from ..activity.states import CATEGORIES, Category
from ..statistics import DEVIATIONS_PER_MEDIAN
from ..steps.choice_names import TYPICAL
from ..steps.device_account import device_steps
from ..steps.step_choice import choose
from ..steps.step_time import host_steps, largest_category
from .late_peers import peers

_LEAST_EXCESS = 0.05
"""A worker that takes so much longer than the median one may be slow …"""
_LEAST_DEVIATIONS = 3.0
"""… if that is more than so many robust standard deviations of the workers, too."""
_COMMUNICATION, _COMPILING = ([category.id for category in CATEGORIES].index(id) for id in ("communication", "compile"))
"""Their rows in `CATEGORIES`."""
_LEAST_DIFFERENCE = 0.03
"""Share of the step: workers that differ by less take equally long."""


class WorkerStep(NamedTuple):
    """One step on one worker; times in ps."""

    host: str
    device: str
    """Empty for a host as a whole; see `late_peers.peers`."""
    name: str
    """What people call it: its rank where captures tell that, else the host; with the device where there is one."""
    begin_ps: int
    """Since the worker's first event."""
    complete: bool
    category_ps: I64
    """int64[len(CATEGORIES)]: sums to the step."""

    @property
    def total_ps(self) -> int:
        """The whole step."""
        return int(self.category_ps.sum())

    @property
    def largest(self) -> Category:
        """What takes most of it."""
        return largest_category(self.category_ps)


@record
class PodStep:
    """One step on all workers that have it."""

    number: int
    name: str
    """As the first worker's program names it."""
    workers: Sequence[WorkerStep]
    """In the order of their names, numbers in these as numbers."""

    @property
    def complete(self) -> bool:
        """Whether no worker's capture cuts it."""
        return all(worker.complete for worker in self.workers)

    @lazy
    def category_ps(self) -> I64:
        """int64[workers, len(CATEGORIES)]."""
        return np.stack([worker.category_ps for worker in self.workers])

    @lazy
    def totals_ps(self) -> I64:
        """int64[workers]."""
        return self.category_ps.sum(axis=1)

    @property
    def median_ps(self) -> float:
        """Median of the workers' times."""
        return float(np.median(self.totals_ps))

    @property
    def own_ps(self) -> I64:
        """int64[workers]: without communication, in which those that come early wait for the others."""
        return own_ps(self.category_ps)

    @lazy
    def is_slow(self) -> Bool:
        """bool[workers]: far slower than the others in what is their own; of fewer than three workers none."""
        own_ps = self.own_ps
        if len(own_ps) < 3:
            return np.zeros(len(own_ps), bool)
        median = float(np.median(own_ps))
        deviation = DEVIATIONS_PER_MEDIAN * float(np.median(np.abs(own_ps - median)))
        return (own_ps > median + _LEAST_EXCESS * self.median_ps) & (own_ps > median + _LEAST_DEVIATIONS * deviation)

    def excess(self, worker: WorkerStep) -> tuple[Category, float]:
        """The category, but for communication, in which a worker exceeds the median one most, and by how many ps; one
        of two workers is compared with the other.
        """
        is_other = [len(self.workers) != 2 or other is not worker for other in self.workers]
        excess_ps = worker.category_ps - np.median(self.category_ps[is_other], axis=0)
        excess_ps[_COMMUNICATION] = -np.inf
        return largest_category(excess_ps), float(excess_ps.max())

    @property
    def longest_ps(self) -> int:
        """Time of the worker whose step lasts longest."""
        return int(self.totals_ps.max())

    @property
    def slowest(self) -> WorkerStep:
        """The one that takes longest for what is its own; the others wait for it where they communicate."""
        return self.workers[int(self.own_ps.argmax())]

    def sentence(self, some_missing: bool) -> Message:
        """Who is slow and in what; with workers missing, these may be who the others wait for."""
        step = Message("Step {number}", number=self.name) if self.name.isdigit() else self.name
        slowest = self.slowest
        if len(self.workers) == 1:
            return Message(
                "{step} takes {step_ps} on {worker}, mainly {part}.",
                step=step,
                step_ps=slowest.total_ps,
                worker=slowest.name,
                part=message(slowest.largest.label),
            )
        own_times_ps, most_ps = self.own_ps, int(self.own_ps.max())
        compared_ps = float(own_times_ps.min()) if len(self.workers) == 2 else float(np.median(own_times_ps))
        if most_ps - compared_ps < _LEAST_DIFFERENCE * self.median_ps:
            return self._even_sentence(step)
        category, excess = self.excess(slowest)
        waits = not some_missing and bool((self.totals_ps - own_times_ps).max() >= _LEAST_EXCESS * self.median_ps)
        return Message(
            "{step}: {worker} {way, select, works {works} other {takes}} {own_ps}, {more_ps} more than the "
            "{others, select, one {other} other {median}} worker, mainly {part} (+{excess_ps})"
            "{waits, select, yes {; {others, select, one {the other waits} other {the others wait}} for it} other {}}.",
            step=step,
            worker=slowest.name,
            # What it waits itself is not in it.
            way="works" if most_ps < slowest.total_ps else "takes",
            waits="yes" if waits else "no",
            own_ps=most_ps,
            more_ps=most_ps - compared_ps,
            others="one" if len(self.workers) == 2 else "several",
            part=message(category.label),
            excess_ps=excess,
        )

    def _even_sentence(self, step: str) -> Message:
        """That no worker takes notably longer for what is its own."""
        shortest_ps = int(self.totals_ps.min())
        if self.longest_ps - shortest_ps < _LEAST_DIFFERENCE * self.median_ps:
            largest_categories = np.unique(self.category_ps.argmax(axis=1)).tolist()
            if len(largest_categories) > 1:
                return Message("{step}: all workers take about {step_ps}.", step=step, step_ps=self.median_ps)
            return Message(
                "{step}: all workers take about {step_ps}, mainly {part}.",
                step=step,
                step_ps=self.median_ps,
                part=message(CATEGORIES[largest_categories[0]].label),
            )
        return Message(
            "{step}: workers take {shortest_ps} to {longest_ps} and differ mostly in communication.",
            step=step,
            shortest_ps=shortest_ps,
            longest_ps=self.longest_ps,
        )


def own_ps(category_ps: I64) -> I64:
    """int64[…] ps: of times by category (int64[…, len(CATEGORIES)]), what is not communication."""
    return category_ps.sum(axis=-1) - category_ps[..., _COMMUNICATION]


def pod_steps(hosts: Sequence[HostWithSteps]) -> list[PodStep]:
    """The steps that any host has, by number, each on the workers that have it."""
    by_number: dict[int, tuple[str, list[WorkerStep]]] = {}
    for peer in sorted(peers(hosts), key=lambda peer: natural_key(peer.name)):
        host = hosts[peer.host]
        steps = host_steps(host)
        by_device = device_steps(host) if peer.device else {}
        times = by_device[peer.device].category_ps if by_device else steps.by_category()
        for i, (number, name) in enumerate(zip(steps.number.tolist(), steps.name, strict=True)):
            begin = int(steps.begin[i]) - host.window[0]
            worker = WorkerStep(host.name, peer.device, peer.name, begin, bool(steps.complete[i]), times[i])
            by_number.setdefault(number, (name, []))[1].append(worker)
    return [PodStep(number, *by_number[number]) for number in sorted(by_number)]


def left_out_reasons(steps: Sequence[PodStep]) -> list[str]:
    """For each step why averages leave it out, empty where they do not: `step_choice.choose` of the slowest workers."""
    if not steps:
        return []
    slowest_workers = [step.workers[int(step.totals_ps.argmax())] for step in steps]
    durations_ps = np.array([worker.total_ps for worker in slowest_workers])
    compiling_ps = np.array([worker.category_ps[_COMPILING] for worker in slowest_workers])
    complete, numbers = np.array([step.complete for step in steps]), np.array([step.number for step in steps])
    return choose(durations_ps, compiling_ps, complete, numbers, TYPICAL).reason


def median_step(steps: Sequence[PodStep], reasons: Sequence[str]) -> PodStep:
    """The step of median length among those that are not left out, else among all."""
    candidates = [step for step, reason in zip(steps, reasons, strict=True) if not reason] or list(steps)
    return sorted(candidates, key=lambda step: step.longest_ps)[(len(candidates) - 1) // 2]
