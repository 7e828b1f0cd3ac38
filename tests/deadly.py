"""Questions that harm whoever asks them, for workers to import."""

import os

from tb_profile_plugin.model.host import Host
from tb_profile_plugin.model.session import Session

VICTIM = "host-1"


def end(session: Session, host: Host) -> None:
    """Ends the process of a worker that gets the victim, as a lack of memory does."""
    if host.name == VICTIM:
        os._exit(1)


def fail(session: Session, host: Host) -> None:
    """Fails for the victim as faulty code does."""
    if host.name == VICTIM:
        raise ValueError("a fault")
