"""The command line: names that write to the terminal, and places that cannot be written to."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import targets
from attack import COMMAND, Command, attack, check

import tb_profile_plugin

_NAMES = (
    "run\nFAKE  99 sessions are fine",
    "run\x1b[2J\x1b[31mred",
    "run\x1b]0;title\x07",
    "run\u202etxt.exe",
    "run\u2066x\u2069",
    "run\rFAKE",
    "run\x9b31m",
    "run\u2028FAKE",
    "run\x08\x08\x08gone",
)
_CONTROLS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""What a terminal obeys, ends of lines apart."""


@attack("H7-terminal", "Names of files and folders are shown as text: none writes to the terminal by itself.", COMMAND)
def terminal_escapes(command: Command) -> None:
    """Every verb that names sessions, hosts or files, for folders and files of such names."""
    capture = targets.small().SerializeToString()
    logdir = command.folder / "logs"
    for name in _NAMES:
        targets.put(logdir, name, f"{name}.xplane.pb", capture)
    targets.put(logdir, "cut", "\x1b[31m\nFAKE host.xplane.pb", capture[: len(capture) // 2])
    bad = logdir / "plugins" / "profile" / _NAMES[1]
    for arguments in (
        ("sessions", logdir),
        ("sessions", logdir / "\x1b[31mnone\nFAKE"),
        ("doctor", logdir),
        ("doctor", "\x1b[31mnone\nFAKE:1"),
        ("tools", bad),
        ("tool", "overview_page", logdir / "plugins" / "profile" / "cut"),
        ("tool", "overview_page", bad, "--host", "\x1b[31m\nFAKE"),
        ("tool", "\x1b[31m\nFAKE", bad),
        ("export", logdir / "\x1b[31mnone\nFAKE"),
    ):
        _, out, error = command(*arguments)
        for text in (out.decode("utf-8", "replace"), error.decode("utf-8", "replace")):
            found = _CONTROLS.search(text)
            check(not found, f"{arguments[0]} writes {found and found[0]!r}")
            forged = [line for line in text.splitlines() if line.startswith("FAKE")]
            check(not forged, f"{arguments[0]} shows the forged line {forged[:1]}")


@attack(
    "H6-unwritable", "Where neither the package nor the home can be written to, everything works.", COMMAND, long=True
)
def unwritable(command: Command) -> None:
    """No folder is the home, and files lie where Python and numba would keep what they compiled."""
    package = command.folder / "package" / "tb_profile_plugin"
    shutil.copytree(Path(tb_profile_plugin.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    for folder in (package, *(path for path in package.rglob("*") if path.is_dir())):
        (folder / "__pycache__").write_bytes(b"")
    run = targets.put(command.folder / "logs", "run", "host.xplane.pb", targets.small().SerializeToString()).parent
    nowhere = dict.fromkeys(("HOME", "XDG_CACHE_HOME", "NUMBA_CACHE_DIR", "TB_PROFILE_CACHE_DIR"), "/dev/null/none")
    code, out, error = command("tool", "overview_page", run, PYTHONPATH=str(package.parent), **nowhere)
    check(code == 0 and out.startswith(b"["), f"it ends with {code}: {error.decode()[-300:]}")
