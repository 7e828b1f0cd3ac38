"""What work of XLA's programs is called: by the program and the origin of its source, rather than by an instruction."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ....model.host import HostWithSteps
from ...labels.xla_origins import XlaOrigin
from ...steps.host_account import host_account
from ...steps.typical_times import Typical, typical_windows
from ..catalogue import Sentence, joined
from ..cause_kinds import MOSTLY, NAMED_SHARE
from ..program.program_facts import ProgramFacts
from ..remedies.remedy import Remedy, remedy
from ..time_loss import WORK, TimeLoss

_MOST_PROGRAMS = 3
"""So many programs a sentence names."""
_COLLECTIVE = "exposed_collective"


def name_xla_work(loss: TimeLoss, hosts: Sequence[HostWithSteps], typical: Typical, program: ProgramFacts) -> None:
    """Name what devices do by the origins of the source that it comes from, where that is known of most of it; and say
    what else programs show of it: that there are several, that two do the same, that arrays change their sharding.
    """
    if loss.id not in (WORK, _COLLECTIVE):
        return
    late = typical.late_peer.host if typical.late_peer else None
    times = _times([host for host in hosts if host.name != late], typical, loss.id)
    total_ps = sum(times.values())
    if loss.other_causes_ps or total_ps < MOSTLY * loss.ps or total_ps > loss.ps * 1.001:
        return
    if sum(ps for origin, ps in times.items() if origin.instruction) < MOSTLY * total_ps:
        loss.origins = [*_sums(times, lambda origin: origin.label).items()]
        loss.has_library_names = sum(ps for origin, ps in times.items() if origin.is_library) > MOSTLY * total_ps
    if loss.id == WORK:
        programs = _sums(times, lambda origin: origin.program)
        if not loss.origins and _is_one_instruction(loss, programs):
            loss.origins = [*programs.items()]
        _tell_programs(loss, hosts, programs, program)
    else:
        purpose, purpose_ps = next(iter(_sums(times, lambda origin: origin.purpose).items()))
        if purpose and purpose_ps >= MOSTLY * loss.ps:
            loss.remedy = _remedy(purpose, program, purpose_ps)


def _is_one_instruction(loss: TimeLoss, programs: dict[str, float]) -> bool:
    """Whether the largest of several programs does little but one instruction, as ``jit_scatter`` does: then its name
    tells more.
    """
    largest_ps = max((ps for name, ps, _ in loss.by_name() if name), default=0.0)
    return len(programs) > 1 and MOSTLY * next(iter(programs.values())) <= largest_ps


def _times(hosts: Sequence[HostWithSteps], typical: Typical, state: str) -> dict[XlaOrigin, float]:
    """By origin what it takes of the typical step in one state, ps: means over hosts."""
    times: dict[XlaOrigin, float] = {}
    for host in hosts:
        work, windows = host_account(host).xla, typical_windows(host, typical.steps)
        means = sum(work.ps[rows].mean(axis=0) for rows in windows if len(rows))
        for origin, ps in zip(work.origins, means.tolist() if len(work.origins) else (), strict=True):
            if origin.state == state and ps:
                times[origin] = times.get(origin, 0.0) + ps / len(hosts)
    return times


def _sums(times: dict[XlaOrigin, float], name: Callable[[XlaOrigin], str]) -> dict[str, float]:
    """Times by name, the largest first."""
    sums: dict[str, float] = {}
    for origin, ps in times.items():
        sums[name(origin)] = sums.get(name(origin), 0.0) + ps
    return dict(sorted(sums.items(), key=lambda item: -item[1]))


def _tell_programs(
    loss: TimeLoss, hosts: Sequence[HostWithSteps], programs: dict[str, float], program: ProgramFacts
) -> None:
    """Say which programs compute, where several take much of it; and that one repeats what another one does."""
    large = [(name, ps) for name, ps in programs.items() if ps >= NAMED_SHARE * loss.ps][:_MOST_PROGRAMS]
    if len(large) < 2:
        return
    parts = [Sentence("names.share", {"name": name, "share": ps / loss.ps}) for name, ps in large]
    loss.arguments = {"programs": Sentence("programs.several", {"names": joined(parts)})}
    pairs = {pair for host in hosts for pair in host_account(host).xla.repeated}
    repeated = next(((name, other) for name, _ in large for other, _ in large if (name, other) in pairs), None)
    if repeated is not None:
        name, other = repeated
        loss.arguments = {
            "programs": Sentence("programs.repeated", {"names": joined(parts), "name": name, "second_name": other})
        }
        loss.remedy = _remedy("repeated_forward_pass", program, programs[name])


def _remedy(cause: str, program: ProgramFacts, most_ps: float) -> Remedy:
    """What helps, and saves so much at most."""
    return remedy(program.framework, cause, facts=program.facts)._replace(most_ps=most_ps)
