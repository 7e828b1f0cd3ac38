"""Captures that are small and cost much, very many of them, and tables that a spreadsheet would run."""

from __future__ import annotations

import csv
import io
import os
import re
import subprocess
import threading
from pathlib import Path

import evil
import targets
from attack import (
    COMMAND,
    PATIENCE_S,
    STANDALONE,
    TENSORBOARD,
    Broken,
    Command,
    Server,
    Untried,
    attack,
    check,
)

_SECONDS, _MIB = 10, 500
"""Of the processor and of memory: what a capture of a few kilobytes may cost more than an ordinary one."""
_NAMES_S = 20
"""Of the processor: what four pages of a capture of 1 MB may cost; one quadratic pattern takes hours."""
_SESSIONS = 65_000
_SPACE = re.compile("[\\s\u00a0\u200b-\u200f\u2060\ufeff\x00]*")
_STARTS = tuple("=+-@|\uff1d\uff0b\uff0d\uff20")


@attack("H5-bombs", "A small compressed capture costs little more than an ordinary one, or is refused.", COMMAND)
def bombs(command: Command) -> None:
    """Empty planes, lines and events by the million."""
    ordinary = targets.put(command.folder / "logs", "ordinary", "host.xplane.pb", targets.small().SerializeToString())
    seconds, mib = _cost(command, "ordinary", str(ordinary))
    seen = []
    for i, (what, content) in enumerate(targets.bombs().items()):
        capture = targets.put(command.folder / "logs", f"bomb{i}", "host.xplane.pb.gz", content)
        more_seconds, more_mib = (
            a - b for a, b in zip(_cost(command, what, str(capture)), (seconds, mib), strict=True)
        )
        if more_seconds > _SECONDS or more_mib > _MIB:
            seen.append(f"{what} ({len(content):,} bytes) cost {more_seconds:.0f} s and {more_mib:.0f} MiB more")
    check(not seen, "; ".join(seen))


def _cost(command: Command, what: str, capture: str) -> tuple[float, float]:
    """Seconds of the processor, and MiB at most."""
    if not hasattr(os, "wait4"):
        raise Untried("costs are not known here")
    process = command.start("tool", "overview_page", capture, "--no-cache", out=subprocess.DEVNULL)
    watch = threading.Timer(PATIENCE_S, process.kill)
    watch.start()
    _, status, usage = os.wait4(process.pid, 0)
    watch.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    check(process.returncode >= 0, f"{what}: killed after {PATIENCE_S:.0f} s with {usage.ru_maxrss >> 10} MiB")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


@attack("H5-others", "Such a capture keeps nobody else from being answered.")
def bombs_beside_others(server: Server) -> None:
    """The pages of all of them asked for at once."""
    logdir = _logdir(server)
    runs = []
    for i, content in enumerate(targets.bombs().values()):
        runs.append(f"bombs/bomb{i}")
        targets.put(logdir / "bombs", f"bomb{i}", "host.xplane.pb.gz", content)
    server.lists(runs[-1])
    left = [threading.Thread(target=_ask, args=(server, run), daemon=True) for run in runs]
    for thread in left:
        thread.start()
    while any(thread.is_alive() for thread in left):
        server.answers_others()
        threading.Event().wait(0.5)


def _ask(server: Server, run: str) -> None:
    try:
        server.get("/session", run=run)
    except Broken:
        # Its own fault; that nobody else is harmed is what is tried.
        return


@attack("H5-names", "Names of 100 kB cost what their bytes cost, and keep nobody from being answered.")
def long_names(server: Server) -> None:
    """Captures full of them, of each class of letters, whose pages are asked for at once."""
    logdir = _logdir(server)
    runs = []
    for i, unit in enumerate(evil.LONG[:: 1 if server.long else 4]):
        runs.append(f"names/run{i}")
        targets.put(logdir / "names", f"run{i}", "host.xplane.pb", targets.long_names(unit))
        targets.put(logdir / "names", f"trace{i}", "host_1.1.pt.trace.json", targets.long_trace(unit))
        runs.append(f"names/trace{i}")
    server.lists(runs[-1])
    before = server.worked()
    left = [threading.Thread(target=_ask_all, args=(server, run), daemon=True) for run in runs]
    for thread in left:
        thread.start()
    while any(thread.is_alive() for thread in left):
        server.answers_others()
        spent = server.worked() - before
        check(spent < _NAMES_S * len(runs), f"{len(runs)} captures of 1 MB have taken {spent:.0f} s of the processor")
        threading.Event().wait(0.5)


def _ask_all(server: Server, run: str) -> None:
    for tool in ("why", "overview_page", "kernel_stats", "framework_op_stats"):
        answer = server.get("/data", run=run, tag=tool)
        check(answer.status < 500, f"{tool} is answered with {answer.status}")


@attack("H8-many", "Very many sessions keep nobody from being answered.", STANDALONE, TENSORBOARD, long=True)
def very_many_sessions(server: Server) -> None:
    """Each a folder with one file."""
    logdir = _logdir(server)
    for i in range(_SESSIONS):
        targets.put(logdir / "many", f"r{i}", "h.xplane.pb", b"")
    server.lists("many/r1")
    for path in ("/sessions", "/progress", "/session"):
        answer = server.get(path, run=targets.RUN)
        wanted = 2 * server.prompt_s if path == "/sessions" else server.prompt_s
        check(answer.seconds < wanted, f"{path} takes {answer.seconds:.1f} s")
    server.answers_others()


@attack("H8-csv", "Tables for spreadsheets hold no formulas, whatever stands before them.")
def formulas(server: Server) -> None:
    """Ops and kernels named like formulas, behind spaces and marks that cannot be seen."""
    if not server.logdir:
        raise Untried("it needs a capture of its own")
    tried = 0
    for tool in ("framework_op_stats", "kernel_stats", "overview_page"):
        answer = server.get("/data_csv", run=targets.RUN, tag=tool)
        if answer.status != 200:
            continue
        for row in csv.reader(io.StringIO(answer.body.decode("utf-8"), newline="")):
            for cell in row:
                tried += any(name.strip() in cell for name in targets.FORMULAS)
                runs = _SPACE.sub("", cell, count=1).startswith(_STARTS) and not re.fullmatch(r"-?\d[\d.e+-]*", cell)
                check(not runs, f"{tool} holds {cell!r}")
    check(tried > 0, "no table shows such a name")


def _logdir(server: Server) -> Path:
    if not server.logdir:
        raise Untried("the logdir is not ours")
    return server.logdir
