"""Where profiler servers listen, as people write it."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass

from ..runtime.messages import Message
from ..runtime.problems import ProblemError, problem_error
from ..runtime.regex import regex

MOST_ADDRESSES = 256
"""The most workers of one capture: each holds its complete answer in memory until it is written."""

_LABEL = r"[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?"
_HOST_NAME = regex(rf"(?=.{{1,253}}$){_LABEL}(?:\.{_LABEL})*\.?")
_EXAMPLE = Message("Write host:port, e.g. localhost:6009 or [::1]:6009, and a comma between several.")


@dataclass(frozen=True)
class Address:
    """One profiler server; `host` is a name or an IP address without brackets."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def target(self) -> str:
        """The address for gRPC, with the scheme spelled out, so that no name is taken for one."""
        return f"ipv6:{self}" if ":" in self.host else f"dns:///{self}"

    @property
    def file_host(self) -> str:
        """The host of the capture's file, as servers that write it themselves name it, too."""
        return re.sub(r"[^\w.-]", "_", str(self))


def parse(text: str) -> tuple[Address, ...]:
    """The addresses in a comma list, each once, in order; raises `ProblemError` for the first that is none."""
    parts = [part.strip() for part in text.split(",")]
    addresses = dict.fromkeys(_address(part) for part in parts if part)
    if not addresses:
        raise _bad_address(Message("No address is given."), "no_address")
    if len(addresses) > MOST_ADDRESSES:
        message = Message(
            "{count} addresses are more than the {most} of one capture.", count=len(addresses), most=MOST_ADDRESSES
        )
        raise _bad_address(message, "too_many_addresses")
    return tuple(addresses)


def _address(part: str) -> Address:
    """One address; raises `ProblemError` where it is none."""
    bare_address = part.removeprefix("grpc://")
    if "://" in bare_address or bare_address.startswith("unix:"):
        raise _bad_address(
            Message(
                "{part} is not the address of a profiler server; only the prefix grpc:// is allowed.", part=repr(part)
            )
        )
    in_brackets = re.fullmatch(r"\[([^\]]*)\](?::(\d*))?", bare_address)
    if in_brackets:
        host, port = in_brackets[1], in_brackets[2]
    else:
        host, _, port = bare_address.rpartition(":")
        if not host:
            host, port = bare_address, ""
    if not port or not port.isascii() or not port.isdigit():
        raise _bad_address(Message("{part} names no port.", part=repr(part)))
    if not 1 <= int(port) <= 65535:
        raise _bad_address(
            Message("{part} names port {port}, but ports range from 1 to 65535.", part=repr(part), port=str(port))
        )
    if in_brackets or ":" in host:
        return Address(_ipv6(part, host, bool(in_brackets)), int(port))
    if not _HOST_NAME.fullmatch(host):
        raise _bad_address(Message("{part} names no host.", part=repr(part)))
    return Address(host, int(port))


def _ipv6(part: str, host: str, in_brackets: bool) -> str:
    """The host itself; raises `ProblemError` where it is no IPv6 address in brackets."""
    if not in_brackets:
        raise _bad_address(Message("{part} has several colons; put an IPv6 address in brackets.", part=repr(part)))
    try:
        ipaddress.IPv6Address(host)
    except ValueError:
        raise _bad_address(Message("{part} is not an IPv6 address.", part=repr(part))) from None
    return host


def _bad_address(message: str, code: str = "bad_address") -> ProblemError:
    return problem_error(code, message, _EXAMPLE, "addresses")
