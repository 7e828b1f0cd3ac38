"""The verbs ``guide`` and ``skill``: the guide to reading figures, printed, or installed for assistants."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..runtime.messages import Message
from ..runtime.problems import problem_error
from ..runtime.terminal import say
from .output import open_output

GUIDE = Path(__file__).parent.with_name("docs") / "guide.md"
"""The guide to reading figures, for people and assistants."""
_SKILL_HEAD = """\
---
name: tb-profile
description: Says why training or inference steps of TensorFlow, JAX or PyTorch are slow, what would help, and \
whether a change made them faster, from profiler captures (*.xplane.pb, *.pt.trace.json). Use it where such captures, \
a TensorBoard logdir with profiles, or slow steps are spoken of.
---

"""
"""What assistants read before they choose the skill; the rest of it is the guide."""


def declare_guide(verb: argparse.ArgumentParser) -> None:
    """Declare what ``guide`` takes: nothing."""
    verb.set_defaults(verb=_guide)


def declare_skill(verb: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``skill``."""
    verb.add_argument("action", choices=("install", "show"))
    verb.add_argument(
        "folder",
        metavar="DIR",
        nargs="?",
        type=Path,
        default=Path(".claude", "skills"),
        help="folder of the assistant's skills (default: %(default)s)",
    )
    verb.set_defaults(verb=_skill)


def _guide(args: argparse.Namespace) -> None:
    with open_output(None) as file:
        file.write(GUIDE.read_bytes())


def _skill(args: argparse.Namespace) -> None:
    text = _SKILL_HEAD.encode() + GUIDE.read_bytes()
    if args.action == "show":
        with open_output(None) as file:
            file.write(text)
        return
    path = args.folder / "tb-profile" / "SKILL.md"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise problem_error(
            "unwritable",
            Message("The folder cannot be created: {reason}.", reason=error.strerror),
            Message("Choose another folder."),
            str(path.parent),
        ) from error
    with open_output(path) as file:
        file.write(text)
    say(Message("Wrote {path}", path=path))
