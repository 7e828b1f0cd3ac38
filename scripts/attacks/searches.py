"""Searches that would never end."""

from __future__ import annotations

import socket
import threading
import time

import evil
from attack import PATIENCE_S, Broken, Server, attack, check
from targets import LARGE

_AT_ONCE = 4
_GONE = 24
_ENDED_S = 10
"""More than it takes to notice that a client has gone."""


@attack(
    "H1-search",
    "No expression that is searched for keeps others from being answered, nor takes for ever itself.",
)
def expressions(server: Server) -> None:
    """All of them, some at once; meanwhile somebody else asks."""
    run = server.session()
    left = list(evil.EXPRESSIONS)
    failed: list[str] = []

    def search() -> None:
        while left:
            text = left.pop()
            try:
                answer = server.get("/timeline/search", run=run, text=text, regex=1)
                check(answer.status in (200, 400), f"answered with {answer.status}")
            except Broken as error:
                failed.append(f"{text[:40]!r}: {error}")

    searches = [threading.Thread(target=search, daemon=True) for _ in range(_AT_ONCE)]
    for thread in searches:
        thread.start()
    while any(thread.is_alive() for thread in searches):
        server.answers_others()
        threading.Event().wait(0.2)
    check(not failed, "; ".join(failed))


@attack("H1-gone", "Searches end when their clients hang up.")
def hung_up(server: Server) -> None:
    """More of the costliest kind than there are threads, from clients that leave at once."""
    run = server.session(LARGE)
    for i in range(_GONE):
        with socket.create_connection((server.host, server.port), timeout=PATIENCE_S) as connection:
            path = server.path("/timeline/search", run=run, text=f"(?:a?){{1000}}a{{1000}}{i}", regex=1)
            connection.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    server.answers_others()
    time.sleep(_ENDED_S)
    before = server.worked()
    time.sleep(1)
    worked = server.worked() - before
    check(worked < 1, f"the server still works for them: {worked:.1f} s of the processor in one")
    server.answers_others()


@attack("H13-iframe", "A page of another site cannot have anything worked out by leading a frame or a window to it.")
def foreign_frames(server: Server) -> None:
    """Navigations and requests of other sites, to what takes work."""
    run = server.session()
    for site in ("cross-site", "same-site"):
        for mode, to in (("navigate", "iframe"), ("navigate", "document"), ("no-cors", "image"), ("cors", "empty")):
            headers = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": mode, "Sec-Fetch-Dest": to}
            for path, query in (
                ("/timeline/search", {"run": run, "text": "a", "regex": 1}),
                ("/data", {"run": run, "tag": "trace_viewer"}),
                ("/share/capture", {"run": run}),
                ("/session", {"run": run}),
            ):
                answer = server.get(path, headers, **query)
                check(answer.status == 403, f"{path} answers {site} {mode} {to} with {answer.status}")
    link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    check(server.get("/", link).status != 403, "a link to the page is refused, too")
