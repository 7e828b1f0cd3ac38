"""Which worker of a job each host was, as its capture states it: rank 3 of 128."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from ..formats.columns import vocabulary
from ..runtime.records import NamedTuple
from .host import Host
from .per_host import per_host


class Rank(NamedTuple):
    """A worker's place in its job; None where the capture does not say."""

    number: int | None
    world_size: int | None
    """How many workers the job has."""


class MissingRanks(NamedTuple):
    """Ranks of a job that are not here."""

    missing: int
    """How many they are."""
    world_size: int
    """How many workers the job has."""
    lowest: list[int]
    """Their lowest numbers, three at most: a file may say that its job has any number of workers."""


@per_host(keep=True)
def rank(host: Host) -> Rank:
    """What PyTorch's ``distributedInfo`` says."""
    plane = host.space.plane(vocabulary.METADATA)
    facts = plane.facts() if plane else {}
    number, world_size = (facts.get(name) for name in (vocabulary.RANK, vocabulary.WORLD_SIZE))
    return Rank(number if isinstance(number, int) else None, world_size if isinstance(world_size, int) else None)


def labels(hosts: Sequence[Host]) -> dict[str, str]:
    """What people call each host, by its name: ``rank 3`` where the captures tell all ranks apart, else its name."""
    numbers = [rank(host).number for host in hosts]
    is_distributed = any((rank(host).world_size or len(hosts)) > 1 for host in hosts)
    are_distinct = is_distributed and None not in numbers and len(set(numbers)) == len(hosts)
    return {
        host.name: f"rank {number}" if are_distinct else host.name for host, number in zip(hosts, numbers, strict=True)
    }


def missing(hosts: Sequence[Host]) -> MissingRanks | None:
    """The ranks that are missing; None where none is, as far as is said."""
    ranks = [rank(host) for host in hosts]
    world_size = max((rank_of_host.world_size or 0 for rank_of_host in ranks), default=0)
    present = {rank_of_host.number for rank_of_host in ranks if rank_of_host.number is not None}
    if not 0 < len(present) < world_size:
        return None
    lowest = islice((number for number in range(world_size) if number not in present), 3)
    return MissingRanks(world_size - len(present), world_size, list(lowest))
