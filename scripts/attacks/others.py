"""What others give: profilers that answer for ever or too much, baselines, and the machine that a wheel is built on."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import profilers
import targets
from attack import COMMAND, Broken, Command, Server, Untried, attack, check

_MUCH = 600_000_000
_STOPPED_S = 15
_ROOT = Path(__file__).resolve().parents[2]
_CONFIG = """[tool.tb-profile.check]
baseline = "base"
[[tool.tb-profile.check.budget]]
metric = "step"
max-change = "+3%"
"""
_VALUES: tuple[Any, ...] = (None, -1, 2**70, 1e308, float("nan"), "x" * 100_000, [], {}, [[[]]] * 50, True)


@attack("H10-answer", "What a profiler sends that is no capture is not kept, however much it is.", COMMAND)
def no_capture(command: Command) -> None:
    """A few bytes; in the long form 600 MB, of which one half is kept, being a capture."""
    sent = [b"<html>", b"\x0a\xff\xff\xff\x7f", b"\x7fELF" * 1000]
    if command.long:
        sent += [b"\xff" * _MUCH, b"\x22\x80\xc2\xd7\x2f" + b"x" * 100_000_000]
    for content in sent:
        server = profilers.Fake(capture=content)
        listening = profilers.serve(server)
        logdir = command.folder / f"logs{len(content)}"
        try:
            code, _, error = command("capture", server.address, logdir, "--duration", "100ms", "--retries", "0")
        finally:
            listening.stop(None)
        files_left = [path for path in logdir.rglob("*") if path.is_file()]
        good = content[:1] == b"\x22"
        check(len(files_left) == good, f"{len(content):,} bytes of {content[:4]!r} are {'not ' if good else ''}kept")
        check(code == (0 if good else 1), f"{content[:4]!r} ends with {code}: {error.decode()[-200:]}")


@attack(
    "H10-hangs", "A capture from a profiler that never answers can be ended at any time, and leaves nothing.", COMMAND
)
def never_answers(command: Command) -> None:
    """Ctrl-C five seconds later, and again."""
    server = profilers.Fake()
    server.profile = lambda request, context: time.sleep(120) or b""  # type: ignore[method-assign, func-returns-value]
    listening = profilers.serve(server)
    logdir = command.folder / "logs"
    try:
        with command.start("capture", server.address, logdir, "--duration", "100ms") as process:
            time.sleep(5)
            check(process.poll() is None, f"it ends with {process.returncode} before the profiler answers")
            # Once ends the recording and waits for what there is; twice gives that up.
            process.send_signal(signal.SIGINT)
            time.sleep(1)
            process.send_signal(signal.SIGINT)
            try:
                _, error = process.communicate(timeout=_STOPPED_S)
            except subprocess.TimeoutExpired:
                process.kill()
                raise Broken(f"it goes on {_STOPPED_S} s after Ctrl-C") from None
        check(b"Traceback" not in error, f"it ends with a traceback: {error.decode()[-300:]}")
        check(not [path for path in logdir.rglob("*") if path.is_file()], "it leaves files")
    finally:
        listening.stop(None)


@attack("H10-baselines", "Baselines that somebody changed end in an answer or a problem, never in a fault.", COMMAND)
def hostile_baselines(command: Command) -> None:
    """A digest with each of its parts replaced, cut, nested deeply; pipes and links in its place."""
    run = targets.put(
        command.folder / "logs", "run", "host.xplane.pb", targets.small(steps=8).SerializeToString()
    ).parent
    config = command.folder / "check.toml"
    config.write_text(_CONFIG)
    base = command.folder / "base"
    code, _, error = command("check", run, "--config", config, "--update-baseline", "--missing-baseline", "pass")
    found = [path for path in base.rglob("*.json") if path.is_file()]
    check(len(found) == 1, f"no baseline is written ({code}): {error.decode()[-200:]}")
    good = found[0].read_text()
    for number, text in enumerate(_changed(good)):
        if number % 3 and not command.long:
            continue
        found[0].write_text(text)
        code, _, error = command("check", run, "--config", config)
        check(code in range(7), f"{text[:60]!r} … ends with {code}: {error.decode()[-200:]}")
    found[0].unlink()
    os.mkfifo(found[0])
    command("check", run, "--config", config)
    found[0].unlink()
    found[0].symlink_to("/dev/zero")
    command("check", run, "--config", config)


def _changed(good: str) -> Iterator[str]:
    yield good[: len(good) // 2]
    yield "[" * 100_000
    yield '{"version": ' + "9" * 5000 + "}"
    digest_data = json.loads(good)
    for name in digest_data:
        for value in _VALUES[hash(name) % 2 :: 2]:
            yield json.dumps({**digest_data, name: value})
    yield "{}"


@attack("H10-builds", "Two builds of one source make the same wheel, byte by byte.", COMMAND, long=True)
def two_builds(command: Command) -> None:
    """In two folders, one after the other."""
    if not shutil.which("npm"):
        raise Untried("there is no npm")
    made = []
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=_ROOT, stdout=subprocess.PIPE, check=True, text=True).stdout
    for name in ("first", "second"):
        folder = command.folder / name
        for path in filter(None, listed.split("\0")):
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(_ROOT / path, folder / path)
        build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", "dist"]
        done = subprocess.run(build, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600)
        check(done.returncode == 0, f"it does not build: {done.stdout.decode()[-300:]}")
        made.append({path.name: hashlib.sha256(path.read_bytes()).digest() for path in (folder / "dist").iterdir()})
    check(made[0] == made[1] and len(made[0]) > 0, f"the wheels differ: {', '.join(made[0])}")


@attack("H3-damaged", "A damaged capture is not given away as redacted.")
def damaged_share(server: Server) -> None:
    """Cut at places where what follows is still a text of it."""
    if not server.logdir:
        raise Untried("the logdir is not ours")
    space = targets.small()
    targets.add(space, "step", 700, argv="--token=SECRETARGV", source="/home/ann7q/SECRETSOURCE.py")
    content = space.SerializeToString()
    runs = []
    for i in range(6):
        cut = content[: len(content) - 1 - i * len(content) // 12]
        targets.put(server.logdir / "damaged", f"run{i}", "host.xplane.pb", cut)
        runs.append(f"damaged/run{i}")
    server.lists(runs[-1])
    for run in runs:
        answer = server.get("/share/capture", run=run)
        check(answer.status < 500, f"{run} is answered with {answer.status}")
        check(b"SECRET" not in answer.body and b"ann7q" not in answer.body, f"{run} tells a secret")
