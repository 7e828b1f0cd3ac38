"""With which options a capture was really made: the profiler notes them, whatever was asked for."""

from __future__ import annotations

from google.protobuf.message import DecodeError

from ..columns import vocabulary
from ..protos import message
from .host import Host
from .per_host import per_host

LEVELS = ("host_tracer_level", "device_tracer_level", "python_tracer_level")


@per_host(keep=True)
def levels(host: Host) -> dict[str, int]:
    """The tracer levels that were in effect on a host; empty where its capture does not say."""
    plane = host.space.plane(vocabulary.TASK_ENVIRONMENT)
    noted = plane.facts().get("profile_options") if plane else None
    if not isinstance(noted, bytes):
        return {}
    try:
        options = message("tensorflow.ProfileOptions").FromString(noted)
    except DecodeError:
        return {}
    return {name: getattr(options, name) for name in LEVELS}


def versions(host: Host) -> dict[str, str]:
    """Versions of the programs that recorded a host, as far as its capture names them (JAX does)."""
    plane = host.space.plane(vocabulary.METADATA)
    facts = plane.facts() if plane else {}
    named = {name.removesuffix("_version"): str(value) for name, value in facts.items() if name.endswith("_version")}
    return {name: value for name, value in sorted(named.items()) if name != value}
