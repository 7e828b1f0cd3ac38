"""Whom the standalone server answers.

A page of another site can make a browser ask a server on the browser's own machine. Such a page cannot read the
answers, unless its own name suddenly leads to this machine (DNS rebinding): then the browser takes both for one site.
So requests must name this server as its visitors do. Inside TensorBoard, whatever answers for TensorBoard decides.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Collection

from werkzeug.wrappers import Request

from ..problems import Problem, ProblemError


class Gate:
    """Refuses requests that were not meant for this server."""

    def __init__(self, listening: str, allowed: Collection[str] = ()):
        """Listening for this machine alone, requests must name it; elsewhere any name will do unless some are given."""
        self._any = not is_loopback(listening) and not allowed
        self._allowed = {_plain(name) for name in (listening, *allowed)}

    def check(self, request: Request) -> None:
        """Raise `ProblemError` (403) for a name that is not ours, and for what a page of another site asks for."""
        named = request.headers.get("Host", "")
        name = _plain(named)
        if not (self._any or name in self._allowed or is_loopback(name)):
            remedy = "If this name is yours, start tb-profile serve with --allow-host and the name."
            raise ProblemError(Problem("foreign_host", f"This server is not known as {named!r}.", remedy), 403)
        site, mode = (request.headers.get(header, "") for header in ("Sec-Fetch-Site", "Sec-Fetch-Mode"))
        if site in ("cross-site", "same-site") and mode != "navigate":
            remedy = "Open the page from this server."
            raise ProblemError(Problem("foreign_origin", "Another site's page asks for this.", remedy), 403)


def is_loopback(name: str) -> bool:
    """Whether a name or address leads to this machine whoever resolves it."""
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name == "localhost" or name.endswith(".localhost")


def _plain(host: str) -> str:
    """The name in a Host header, without port, brackets and the root's dot."""
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    name = host if host.count(":") > 1 else host.partition(":")[0]
    return name.rstrip(".").lower()
