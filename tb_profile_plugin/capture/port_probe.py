"""Who answers at a port where no profiler does: named, so that a mistyped port is recognised."""

from __future__ import annotations

import socket
import ssl

from ..runtime.messages import Message
from .address import Address

_TIMEOUT_S = 2.0


def name(address: Address) -> Message | None:
    """What kind of server answers there; None if it does not show that."""
    greeting = _talk(address, b"GET / HTTP/1.0\r\n\r\n")
    if greeting.startswith(b"SSH-"):
        return Message("An SSH server")
    if _speaks_tls(address):
        return Message("A server behind TLS")
    if greeting.startswith(b"HTTP/"):
        return Message("A web server")
    return Message("Something else") if greeting else None


def _talk(address: Address, words: bytes) -> bytes:
    """The first 64 bytes of what a server says or answers to these words; empty if it says nothing."""
    try:
        with socket.create_connection((address.host, address.port), _TIMEOUT_S) as peer:
            peer.sendall(words)
            return peer.recv(64)
    except OSError:
        return b""


def _speaks_tls(address: Address) -> bool:
    """Whether a TLS handshake succeeds there, whatever the certificate."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    try:
        with socket.create_connection((address.host, address.port), _TIMEOUT_S) as peer:
            peer.settimeout(_TIMEOUT_S)
            with context.wrap_socket(peer):
                return True
    except OSError:
        return False
