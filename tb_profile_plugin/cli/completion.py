"""What shells need to complete the command: its verbs, their options, and the paths that they take."""

from __future__ import annotations

import argparse
from importlib.util import find_spec
from typing import Any

from .output import open_output

SHELLS = ("bash", "zsh")
"""Shells for which shtab tells the options of verbs."""
_PATHS = frozenset({"DIR", "FILE", "LOGDIR", "LOGDIR|ADDRESS", "SESSION"})
"""How arguments that are paths are called in the help."""


def add(parser: argparse.ArgumentParser, verbs: Any) -> None:
    """Let a command with such verbs take ``--print-completion``."""
    parser.add_argument(
        "--print-completion",
        metavar="SHELL",
        choices=SHELLS,
        action=_PrintCompletion,
        dest=argparse.SUPPRESS,
        verbs=verbs,
        help="print completions for bash or zsh, and exit",
    )


class _PrintCompletion(argparse.Action):
    """Prints the script of a shell, and exits."""

    def __init__(self, verbs: Any, **settings: Any):
        super().__init__(**settings)
        self._verbs = verbs

    def __call__(self, parser: argparse.ArgumentParser, namespace: Any, shell: Any, option: str | None = None) -> None:
        if find_spec("shtab") is None:
            parser.exit(1, "tb-profile: shtab is not installed. pip install 'tb-profile-plugin[completion]'\n")
        import shtab

        for verb in self._verbs.choices.values():
            verb.declare()
            for action in verb._actions:
                if action.metavar in _PATHS:
                    action.complete = shtab.FILE
        with open_output(None) as file:
            file.write(f"{shtab.complete(parser, shell)}\n".encode())
        parser.exit()
