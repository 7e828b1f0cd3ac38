"""Whom the server answers.

A page of another site can make a browser ask a server on the browser's own machine. Such a page cannot read the
answers, but it can have them worked out; browsers say so, and then only pages are answered, as whoever follows a link
expects (`refuse_strangers`).

Such a page can read the answers if its own name suddenly leads to this machine (DNS rebinding): then the browser takes
both for one site. So requests to the standalone server must name it as its visitors do (`Gate`). Inside TensorBoard,
whatever answers for TensorBoard decides about names.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Collection
from urllib.parse import urlsplit

from werkzeug.wrappers import Request

from ..runtime.messages import Message
from ..runtime.problems import problem_error
from ..runtime.regex import regex

HEADER = "X-TB-Profile"

PAGES = frozenset({"/", "/index.html"})
"""What other sites may link to."""

_HOST = regex(r"(?:\[(?P<address>[0-9a-f:.]+)\]|(?P<name>[a-z0-9_-]+(?:\.[a-z0-9_-]+)*)\.?)(?::\d{1,5})?")
"""A Host header in small letters; the root's dot may end a name."""


class Gate:
    """Refuses requests that were not meant for this server."""

    def __init__(self, listening: str, allowed: Collection[str] = ()):
        """Listening for this machine alone, requests must name it; elsewhere any name will do unless some are given."""
        self._any = not is_loopback(listening) and not allowed
        self._allowed = {_plain(name) or name.lower() for name in (listening, *allowed)} - {""}

    def check(self, request: Request) -> None:
        """Raise `ProblemError` (403) for a name that is not ours."""
        named = request.headers.get("Host", "")
        name = _plain(named)
        if not (self._any or name in self._allowed or is_loopback(name)):
            remedy = Message("If this name is yours, start tb-profile serve with --allow-host and the name.")
            raise problem_error(
                "foreign_host", Message("This server does not answer as {name}.", name=repr(named)), remedy, status=403
            )


def refuse_strangers(request: Request) -> None:
    """Raise `ProblemError` (403) for what another site's page asks for, unless somebody follows a link to our page.

    Nothing is known of browsers that do not tell; of those that do, none tells a server without TLS on another machine.
    """
    site, to = (request.headers.get(header, "") for header in ("Sec-Fetch-Site", "Sec-Fetch-Dest"))
    if site in ("cross-site", "same-site") and not (to == "document" and request.path in PAGES):
        remedy = Message("Open the page from this server.")
        raise problem_error("foreign_origin", "Another site's page sent this request.", remedy, status=403)


def refuse_others(request: Request) -> None:
    """Raise `ProblemError` (403) for what does not come from a page of ours, or a script that means us.

    For what is sent with POST: a header of our own tells, which browsers let pages send to their own site only.
    """
    site, origin = (request.headers.get(header, "") for header in ("Sec-Fetch-Site", "Origin"))
    # A proxy that rewrites the host says so; no other site's page can.
    hosts = {request.host, request.headers.get("X-Forwarded-Host", "")} - {""}
    foreign = site != "same-origin" if site else bool(origin) and urlsplit(origin).netloc not in hosts
    if foreign:
        remedy = Message("Open the page from this server.")
        raise problem_error("foreign_origin", "Only this server's own pages may send this request.", remedy, status=403)
    if HEADER not in request.headers:
        raise problem_error(
            "missing_header",
            Message("The request may come from another site."),
            Message("Send the header {header}: 1.", header=HEADER),
            status=403,
        )


def is_loopback(name: str) -> bool:
    """Whether a name or address leads to this machine whoever resolves it."""
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name == "localhost" or name.endswith(".localhost")


def _plain(host: str) -> str:
    """The name or address in a Host header, without port, brackets and the root's dot; empty where it is none."""
    match = _HOST.fullmatch(host.lower())
    return (match["address"] or match["name"]) if match else ""
