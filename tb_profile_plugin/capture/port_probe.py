"""Who answers at a port where no profiler does: named, so that a mistyped port is recognised."""

from __future__ import annotations

import socket
import ssl

from ..runtime.messages import Message
from .address import Address

_TIMEOUT_S = 2.0


def server_kind(address: Address) -> Message | None:
    """What kind of server answers there; None if it does not show that."""
    reply = _reply(address, b"GET / HTTP/1.0\r\n\r\n")
    if reply.startswith(b"SSH-"):
        return Message("An SSH server")
    if _speaks_tls(address):
        return Message("A server behind TLS")
    if reply.startswith(b"HTTP/"):
        return Message("A web server")
    return Message("Something else") if reply else None


def _reply(address: Address, request: bytes) -> bytes:
    """The first 64 bytes of what a server says or answers to these words; empty if it says nothing."""
    try:
        with socket.create_connection((address.host, address.port), _TIMEOUT_S) as peer:
            peer.sendall(request)
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
