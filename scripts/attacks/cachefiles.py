"""The cache: other people's files in it, and other people's entries."""

from __future__ import annotations

import os
import time
from pathlib import Path

import targets
from attack import COMMAND, Command, Untried, attack, check

_OLD_S = 30 * 24 * 3600


@attack("H2-cache", "No verb deletes or changes a file in the cache's folder that the cache did not write.", COMMAND)
def foreign_files(command: Command) -> None:
    """A folder of experiments as the cache, with the names that the cache uses, too full, one of them a link."""
    captures = [_session(command, f"run{i}") for i in range(2)]
    folder, elsewhere = command.folder / "exp", command.folder / "elsewhere"
    foreign = [
        *(folder / "results" / name for name in ("model.ckpt", "notes.txt", "x.part", "0" * 40, ".hidden")),
        *(folder / "files" / name for name in ("data.npz", "y.part", "f" * 40 + ".gz")),
        *(folder / name for name in ("top.txt", "sub/deep.txt", "results/sub/deep.txt")),
        *(elsewhere / name for name in ("a.ckpt", "0" * 40, "b.part")),
    ]
    _fill(foreign)
    linked = command.folder / "linked"
    linked.mkdir()
    for kind in ("results", "files"):
        (linked / kind).symlink_to(elsewhere, target_is_directory=True)
    before = {path: path.read_bytes() for path in foreign}
    for cache in (folder, linked):
        settings = {"TB_PROFILE_CACHE_DIR": str(cache), "TB_PROFILE_CACHE_LIMIT": "8K"}
        for capture in captures:
            command("tool", "overview_page", capture, **settings)
        for verb in (("cache", "show"), ("sessions", command.folder / "logs"), ("cache", "clear")):
            command(*verb, **settings)
    lost = [str(path.relative_to(command.folder)) for path in foreign if not path.is_file()]
    check(not lost, f"deleted: {', '.join(lost)}")
    changed = [str(path.relative_to(command.folder)) for path in foreign if path.read_bytes() != before[path]]
    check(not changed, f"changed: {', '.join(changed)}")


@attack("H8-pipe", "A cache entry that is no file is none: nothing waits for it.", COMMAND)
def pipes_as_entries(command: Command) -> None:
    """Each entry replaced by a pipe."""
    if not hasattr(os, "mkfifo"):
        raise Untried("there are no named pipes here")
    capture = _session(command, "run")
    _, wanted, _ = command("tool", "overview_page", capture)
    for entry in _entries(command):
        entry.unlink()
        os.mkfifo(entry)
    code, answer, error = command("tool", "overview_page", capture)
    check((code, answer) == (0, wanted), f"it ends with {code}: {error.decode()[-200:]}")
    command("cache", "clear")


@attack("H8-poison", "Entries that somebody else could have written are not believed.", COMMAND)
def poisoned_entries(command: Command) -> None:
    """A folder that everybody may write to, where one capture's entry is put in the place of another's."""
    if os.name == "nt":
        raise Untried("folders have no such permissions here")
    first, second = _session(command, "first"), _session(command, "second", steps=5)
    command("tool", "overview_page", first)
    mine = set(_entries(command))
    _, wanted, _ = command("tool", "overview_page", second)
    theirs = next(iter(set(_entries(command)) - mine), None)
    if theirs is None or len(mine) != 1:
        raise Untried("nothing was kept")
    theirs.write_bytes(mine.pop().read_bytes())
    for folder in (command.folder / "cache", *(command.folder / "cache").rglob("*")):
        if folder.is_dir():
            folder.chmod(0o777)
    _, answer, _ = command("tool", "overview_page", second)
    check(answer == wanted, "another capture's answer is shown, which anybody could have put there")


def _session(command: Command, name: str, steps: int = 3) -> Path:
    space = targets.small(steps).SerializeToString()
    return targets.put(command.folder / "logs", name, "host.xplane.pb", space).parent


def _fill(paths: list[Path]) -> None:
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"mine " * 20_000)
        os.utime(path, (time.time() - _OLD_S,) * 2)


def _entries(command: Command) -> list[Path]:
    """Files of the cache that hold answers; what marks its folder as its own is smaller."""
    return [path for path in (command.folder / "cache").rglob("*") if path.is_file() and path.stat().st_size > 300]
