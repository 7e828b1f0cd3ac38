"""Whom the server answers.

A page of another site can make a browser send requests to a server on the browser's own machine. Such a page cannot
read the answers, but the server would work for it. Browsers tell of such requests; then only our pages are answered,
which others may link to (`refuse_cross_site`), and nothing is changed (`require_own_page`).

Such a page can read the answers if its own name suddenly leads to this machine (DNS rebinding): then the browser takes
both for one site. So requests to the standalone server must name it as its visitors do (`HostGate`). Inside
TensorBoard, whatever answers for TensorBoard decides about names.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Collection
from urllib.parse import urlsplit

from werkzeug.wrappers import Request

from ..runtime.messages import Message
from ..runtime.problems import problem_error
from ..runtime.regex import regex

OWN_PAGE_HEADER = "X-TB-Profile"

LINKABLE_PATHS = frozenset({"/", "/index.html"})
"""What other sites may link to."""

_HOST = regex(r"(?:\[(?P<address>[0-9a-f:.]+)\]|(?P<name>[a-z0-9_-]+(?:\.[a-z0-9_-]+)*)\.?)(?::\d{1,5})?")
"""A Host header in small letters; the root's dot may end a name."""


class HostGate:
    """Refuses requests whose Host header names another server."""

    def __init__(self, address: str, names: Collection[str] = ()):
        """``address`` is the address that the server listens at, ``names`` are further names of it.

        At a loopback address any loopback name will do; at another, any name, unless some are allowed.
        """
        self._allows_any_name = not is_loopback(address) and not names
        self._names = {_host_name(name) or name.lower() for name in (address, *names)} - {""}

    def check(self, request: Request) -> None:
        """Raise `ProblemError` (403) for a name that is not this server's."""
        header = request.headers.get("Host", "")
        name = _host_name(header)
        if not (self._allows_any_name or name in self._names or is_loopback(name)):
            remedy = Message("If this name is yours, start tb-profile serve with --allow-host and the name.")
            raise problem_error(
                "foreign_host", Message("This server does not answer as {name}.", name=repr(header)), remedy, status=403
            )


def refuse_cross_site(request: Request) -> None:
    """Raise `ProblemError` (403) for a request by another site's page, unless somebody follows a link to our page.

    Requests without the headers that tell are let through: of old browsers, and of any browser to a server without TLS
    on another machine.
    """
    site, destination = (request.headers.get(header, "") for header in ("Sec-Fetch-Site", "Sec-Fetch-Dest"))
    if site in ("cross-site", "same-site") and not (destination == "document" and request.path in LINKABLE_PATHS):
        remedy = Message("Open the page from this server.")
        raise problem_error("foreign_origin", "Another site's page sent this request.", remedy, status=403)


def require_own_page(request: Request) -> None:
    """Raise `ProblemError` (403) for a POST that neither a page of this server nor a script written for it sends.

    These send a header of ours, `OWN_PAGE_HEADER`, which browsers let pages send to their own site only.
    """
    site, origin = (request.headers.get(header, "") for header in ("Sec-Fetch-Site", "Origin"))
    # A proxy that rewrites the host adds this header; another site's page cannot.
    hosts = {request.host, request.headers.get("X-Forwarded-Host", "")} - {""}
    is_foreign = site != "same-origin" if site else bool(origin) and urlsplit(origin).netloc not in hosts
    if is_foreign:
        remedy = Message("Open the page from this server.")
        raise problem_error("foreign_origin", "Only this server's own pages may send this request.", remedy, status=403)
    if OWN_PAGE_HEADER not in request.headers:
        raise problem_error(
            "missing_header",
            Message("The request may come from another site."),
            Message("Send the header {header}: 1.", header=OWN_PAGE_HEADER),
            status=403,
        )


def is_loopback(name: str) -> bool:
    """Whether a name or address leads to the same machine, whichever machine resolves it."""
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name == "localhost" or name.endswith(".localhost")


def _host_name(host: str) -> str:
    """The name or address in a Host header, without port, brackets and the root's dot; empty for anything else."""
    match = _HOST.fullmatch(host.lower())
    return (match["address"] or match["name"]) if match else ""
