"""Clients that hold a server up, and requests that are none."""

from __future__ import annotations

import socket
import time
from contextlib import ExitStack, suppress

from attack import PATIENCE_S, STANDALONE, Server, attack, check
from targets import LARGE, LARGE_BYTES

_READERS, _HEADS = 100, 100
_LOOKS = 10
_LET_GO_S = 80
"""Longer than any connection may wait for its client."""
_QUIET_S = 5.0
"""A reader that gets nothing for so long is still waited for."""
_GROWTH_MIB = 400
_CLIENTS = 24
"""More than the standalone server has threads for work."""


@attack("H4-readers", "Clients that do not read their answer keep no small answer waiting, and are let go.")
def dead_readers(server: Server) -> None:
    """Large answers that nobody reads, and half-sent heads beside them."""
    before = server.memory()
    path = server.path("/data", run=server.session(LARGE), tag="trace_viewer")
    with ExitStack() as stack:
        readers = [server.client(stack, f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n") for _ in range(_READERS)]
        for _ in range(_HEADS):
            server.client(stack, f"GET {path} HTTP/1.1\r\nHost: loc")
        for _ in range(_LOOKS):
            server.answers_others()
            time.sleep(0.3)
        if server.long:
            time.sleep(_LET_GO_S)
            waiting = sum(not _was_let_go(reader) for reader in readers)
            check(not waiting, f"the server still waits for {waiting} of {_READERS}")
            server.answers_others()
    if server.long and before:
        grown = (server.memory() - before) >> 20
        check(grown < _GROWTH_MIB, f"the server has {grown} MiB more in memory than before")


@attack("H4-heads", "Heads that are never sent whole time out, however slowly they grow.", STANDALONE, long=True)
def half_sent_heads(server: Server) -> None:
    """One letter a second is no sign of life."""
    with ExitStack() as stack:
        heads = [server.client(stack, "GET / HTTP/1.1\r\nHost: loc") for _ in range(_HEADS)]
        until = time.monotonic() + PATIENCE_S
        while heads and time.monotonic() < until:
            time.sleep(1)
            heads = [head for head in heads if _goes_on(head)]
    check(not heads, f"{len(heads)} of {_HEADS} are still open")


@attack("H4-work", "Work for many clients keeps no small answer waiting; whoever asked for it is answered in turn.")
def much_work(server: Server) -> None:
    """More searches at once than there are threads, all of them different."""
    run = server.session(LARGE)
    with ExitStack() as stack:
        clients = []
        for i in range(_CLIENTS):
            path = server.path("/timeline/search", run=run, text=f"(?:a?){{1000}}a{{1000}}{i}", regex=1)
            clients.append(server.client(stack, f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"))
        server.answers_others()
        for client in clients:
            client.settimeout(PATIENCE_S)
            head = client.recv(12)
            check(head.endswith((b" 200", b" 400")), f"a search is answered with {head!r}")


@attack(
    "requests", "Malformed, doubled, foreign and huge requests are refused; none is answered with a server's error."
)
def nonsense(server: Server) -> None:
    """What is no request, and paths that lead out of the logdir."""
    run = server.session()
    for text in (
        "GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx",
        "POST /capture/start HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
        "GET / HTTP/9.9\r\nHost: localhost\r\n\r\n",
        "GET\r\n\r\n",
        "\0" * 100 + "\r\n\r\n",
        f"GET {server.path('/runs')}?x={'a' * 100_000} HTTP/1.1\r\nHost: localhost\r\n\r\n",
        f"GET {server.path('/static/../../../../etc/passwd')} HTTP/1.1\r\nHost: localhost\r\n\r\n",
        f"GET {server.path('/static/%2e%2e/%2e%2e/etc/passwd')} HTTP/1.1\r\nHost: localhost\r\n\r\n",
        f"BREW {server.path('/runs')} HTTP/1.1\r\nHost: localhost\r\n\r\n",
    ):
        with ExitStack() as stack, suppress(OSError):
            answer = server.client(stack, text.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n", 1)).recv(1 << 16)
            check(b"root:" not in answer and b"Traceback" not in answer, f"{text[:60]!r} is answered with {answer!r}")
            own = server.kind == STANDALONE or server.prefix in text
            check(not (own and answer[9:12] == b"500"), f"{text[:60]!r} is answered with 500")
    for query in (
        {"run": "../.."},
        {"run": run, "host": "../secret"},
        {"run": run, "tag": "/etc/passwd"},
        {"run": "\0"},
    ):
        answered = server.get("/data", None, **{"tag": "overview_page", **query})
        check(answered.status in (400, 404), f"/data answers {query} with {answered.status}")
    server.answers_others()


@attack("H8-names", "Only requests that name this server are answered.", STANDALONE)
def forged_names(server: Server) -> None:
    """Hosts that begin or end like one of ours."""
    for name in (
        *(
            "[::1].evil.example",
            "localhost:80@evil.example",
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
        ),
        *(
            "evil.example#.localhost",
            "localhost, evil.example",
            "localhost/x",
            "[::1",
            "user@localhost",
            "2130706433",
            "",
        ),
    ):
        answer = server.get("/runs", {"Host": name})
        check(answer.status in (400, 403), f"{name!r} is answered with {answer.status}")
    for name in ("localhost", "LOCALHOST:80", "127.0.0.1", "[::1]:6007", "app.localhost."):
        check(server.get("/runs", {"Host": name}).status == 200, f"{name!r} is refused")


@attack(
    "H13-capture", "No page of another site can start a capture, nor frame the page that is served without TensorBoard."
)
def foreign_captures(server: Server) -> None:
    """POST as forms and scripts of other sites send it."""
    for headers in (
        {},
        {"Origin": "http://evil.example"},
        {"Origin": "null", "X-TB-Profile": "1"},
        {"Sec-Fetch-Site": "cross-site", "X-TB-Profile": "1"},
        {"Sec-Fetch-Site": "same-site", "X-TB-Profile": "1"},
    ):
        for path in ("/capture/start", "/capture_profile", "/capture/ping", "/capture/stop"):
            answer = server.get(path, headers, "POST", service_addr="127.0.0.1:1")
            check(answer.status == 403, f"POST {path} with {headers} is answered with {answer.status}")
            check(server.get(path).status == 405, f"GET {path} is taken")
    page = server.get("/")
    policy = page.headers.get("content-security-policy", "")
    check(page.status != 200 or "frame-ancestors 'self'" in policy, f"the page may be framed: {policy}")


def _goes_on(client: socket.socket) -> bool:
    try:
        client.sendall(b"x")
    except OSError:
        return False
    return True


def _was_let_go(reader: socket.socket) -> bool:
    """Whether the server hung up in the middle of the answer, or had refused it."""
    got = 0
    reader.settimeout(_QUIET_S)
    with suppress(ConnectionError):
        try:
            while piece := reader.recv(1 << 20):
                got += len(piece)
        except TimeoutError:
            return False
    return got < LARGE_BYTES
