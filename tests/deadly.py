"""What harms whoever works it out, for workers to import."""

import os

from tb_profile_plugin.model.host import HostWithSteps
from tb_profile_plugin.model.per_host import per_host

VICTIM = "host-1"


@per_host(keep=True)
def end(host: HostWithSteps) -> None:
    """Ends the process of a worker that gets the victim, as a lack of memory does."""
    if host.name == VICTIM:
        os._exit(1)


@per_host(keep=True)
def fail(host: HostWithSteps) -> None:
    """Fails for the victim as faulty code does."""
    if host.name == VICTIM:
        raise ValueError("a fault")


def raise_unpicklable() -> None:
    """Raises what cannot travel."""

    class Unpicklable(Exception):
        pass

    raise Unpicklable("odd")
