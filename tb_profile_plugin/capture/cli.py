"""The verb ``tb-profile capture``."""

from __future__ import annotations

import argparse
import os
import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..runtime.messages import Message, listed, message, translated
from ..runtime.problems import ProblemError, problem_error
from ..runtime.terminal import say, show_progress, warn
from .demo import FRAMEWORKS, installed_framework, torch_trace, training
from .options import RANGES, Options, milliseconds

if TYPE_CHECKING:
    from .address import Address

_BAR_WIDTH = 24
_LEVELS = ("host_tracer_level", "device_tracer_level", "python_tracer_level")
_MARKS = {"done": "✓", "failed": "✗", "stopped": "–"}


def declare(verb: argparse.ArgumentParser) -> None:
    """Declare the verb's options."""
    metavar = "ADDRESS… LOGDIR"
    verb.add_argument(
        "addresses_and_logdir",
        metavar=metavar,
        nargs="*",
        help="profiler servers as host:port, separated by spaces or commas, and the logdir to write to",
    )
    defaults = Options()
    verb.add_argument(
        "--duration",
        type=_milliseconds,
        default=defaults.duration_ms,
        help="length of the capture, e.g. 2s, 500ms or 5m (default: 1s)",
    )
    verb.add_argument(
        "--delay", type=_milliseconds, default=defaults.delay_ms, help="wait before the capture begins (default: 0)"
    )
    for name in (*_LEVELS, "retries"):
        limits = RANGES[name]
        flag = "--" + name.replace("_", "-")
        text = Message("{doc} (default: %(default)s)", doc=message(limits.doc))
        verb.add_argument(flag, type=int, default=getattr(defaults, name), help=text)
    verb.add_argument("--run", default="", help="name of the session (default: date and time)")
    verb.add_argument("--tpu", action="store_true", help="treat ADDRESS as the name of a Cloud TPU")
    verb.add_argument(
        "--recorder",
        choices=("start", "snapshot", "stop"),
        help="start the flight recorder, write its last seconds, or stop it",
    )
    verb.add_argument("--demo", action="store_true", help="start a small training and capture it")
    verb.add_argument(
        "--framework", choices=FRAMEWORKS, default="", help="framework of the demo (default: an installed one)"
    )
    verb.set_defaults(verb=capture)


def _milliseconds(text: str) -> int:
    try:
        return milliseconds(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def capture(args: argparse.Namespace) -> None:
    """Run the verb; raises `ProblemError` where no session came of it, or where a worker is missing from it."""
    levels = {name: getattr(args, name) for name in _LEVELS}
    options = Options(args.duration, args.delay, **levels, retries=args.retries)
    if args.demo:
        _demo(args, options)
        return
    if args.recorder in ("start", "stop"):
        from . import recorder

        servers = _servers(args, args.addresses_and_logdir)
        names = ", ".join(map(str, servers))
        if args.recorder == "start":
            recorder.start(servers, options)
            say(Message("The flight recorder runs: {servers}", servers=names))
        else:
            recorder.stop(servers)
            say(Message("The flight recorder is off: {servers}", servers=names))
        return
    *addresses, logdir = args.addresses_and_logdir or [""]
    servers = _servers(args, addresses or [logdir])
    if not addresses or _is_address(logdir):
        raise _usage(Message("A LOGDIR is missing."))
    if args.recorder == "snapshot":
        from . import recorder

        _say_folder(logdir, recorder.snapshot(servers, logdir, args.run))
    else:
        _capture(servers, options, logdir, args.run)


def _demo(args: argparse.Namespace, options: Options) -> None:
    from .address import parse
    from .write import Target

    logdir = args.addresses_and_logdir[0] if args.addresses_and_logdir else "tb-profile-demo"
    framework = installed_framework(args.framework)
    if framework == "torch":
        target = Target(logdir, args.run)
        warn(Message("Training a few steps in PyTorch, which profiles itself …"))
        say(f"✓ {_size(torch_trace(target.folder).stat().st_size)}")
        _say_folder(logdir, target.folder)
        return
    warn(Message("Starting a small training …"))
    with training(framework) as address:
        _capture(parse(address), options, logdir, args.run)


def _servers(args: argparse.Namespace, addresses: Sequence[str]) -> Sequence[Address]:
    if not any(addresses):
        raise _usage(Message("An ADDRESS is missing."))
    if args.tpu:
        if len(addresses) > 1:
            raise _usage(Message("Only one TPU can be captured at a time."))
        from .tpu import resolve

        return resolve(addresses[0])
    from .address import parse

    return parse(",".join(addresses))


def _is_address(text: str) -> bool:
    """Whether it was meant as another profiler server: no such folder is there, and it names a port."""
    return not os.path.exists(text) and re.fullmatch(r"[^/\\]*:\d{1,5}", text) is not None


def _capture(servers: Sequence[Address], options: Options, logdir: str, run: str) -> None:
    from .job import Job

    job = Job(servers, options, logdir, run)
    job.start()
    try:
        _show_until_end(job)
    except KeyboardInterrupt:
        try:
            show_progress("")
            warn(Message("Stopping; the recording so far is saved. Press Ctrl+C again to discard it."))
            job.stop()
            _show_until_end(job)
        except KeyboardInterrupt:
            # The interpreter waits for the threads that wait for the profiler.
            job.give_up()
            raise
    state = job.state()
    for worker in state["workers"]:
        outcome = _size(worker["size"]) if worker["state"] == "done" else translated(worker["problem"]["message"])
        say(f"{_MARKS[worker['state']]} {worker['address']}  {outcome}")
    if job.problem:
        raise ProblemError(job.problem)
    _say_folder(logdir, job.target.folder)
    missing = [worker["address"] for worker in state["workers"] if worker["state"] != "done"]
    if missing:
        remedy = Message("Open the captures of the others, which were written.")
        raise problem_error(
            "incomplete", Message("No capture came from {missing}.", missing=", ".join(missing)), remedy
        )


def _show_until_end(job: Any) -> None:
    """A line about how far it is, rewritten in place on a terminal; nothing elsewhere."""
    begin = time.monotonic()
    while not job.wait(0.2):
        show_progress(_progress_line(job.state(), time.monotonic() - begin))
    show_progress("")


def _progress_line(state: dict[str, Any], seconds: float) -> str:
    length_s = (state["options"]["duration_ms"] + state["options"]["delay_ms"]) / 1000
    filled = min(_BAR_WIDTH, round(_BAR_WIDTH * seconds / length_s))
    states = [worker["state"] for worker in state["workers"]]
    counts = [
        Message(
            "{count} {state, select, connecting {connecting} waiting {waiting} capturing {capturing} "
            "collecting {collecting} done {done} failed {failed} other {stopped}}",
            count=states.count(name),
            state=name,
        )
        for name in dict.fromkeys(states)
    ]
    return f"[{'#' * filled}{'.' * (_BAR_WIDTH - filled)}] {seconds:5.1f} s  {translated(listed(counts))}"


def _say_folder(logdir: str, folder: Path) -> None:
    say(folder)
    say(Message("Open it: tb-profile serve {logdir}   or   tensorboard --logdir {logdir}", logdir=logdir))


def _size(count: int) -> str:
    return f"{count / 1e6:.2f} MB"


def _usage(text: str) -> ProblemError:
    return problem_error("usage", text, "Run tb-profile capture localhost:6009 logs, or try tb-profile capture --demo.")
