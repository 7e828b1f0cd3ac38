"""TPUs by name: the addresses of their workers."""

from __future__ import annotations

import importlib
from collections.abc import Sequence

from ..runtime.messages import Message
from ..runtime.problems import problem_error
from .address import Address, parse

_PORT = 8466
"""Where the workers of a Cloud TPU are profiled."""


def resolve(names: str) -> tuple[Address, ...]:
    """The addresses of all workers of the TPUs in a comma list.

    Raises `ProblemError` where the package that knows them is missing or does not know one.
    """
    try:
        client = importlib.import_module("cloud_tpu_client")
    except ImportError as error:
        remedy = Message("Run `pip install cloud-tpu-client`, or give the workers' addresses, each with port 8466.")
        raise problem_error(
            "no_tpu_client", "TPU names need the package cloud-tpu-client.", remedy, "addresses", status=501
        ) from error
    addresses: list[str] = []
    for name in filter(None, (part.strip() for part in names.split(","))):
        try:
            endpoints: Sequence[dict[str, str]] = client.Client(tpu=name).network_endpoints()
        except Exception as error:
            raise problem_error(
                "unknown_tpu",
                Message("The TPU {name} cannot be looked up: {error}.", name=repr(name), error=str(error)),
                "Check the name, the zone and the credentials of this machine.",
                "addresses",
                status=502,
            ) from error
        addresses += [f"{endpoint['ipAddress']}:{_PORT}" for endpoint in endpoints]
    return parse(",".join(addresses))
