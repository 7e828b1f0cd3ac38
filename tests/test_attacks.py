"""The short form of scripts/attack, attack by attack."""

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any

import pytest

sys.path.append(str(Path(__file__).resolve().parent.parent / "scripts" / "attacks"))

import attack
import drive

DOCS = Path(__file__).resolve().parent.parent / "tb_profile_plugin" / "docs" / "trust.md"


SERVERS = (attack.STANDALONE, attack.TENSORBOARD)
SLOW = {"H4-work", "H5-bombs", "H9-evict"}
SLOW_TWICE = {"H1-gone", "H4-many", "H5-names", "H5-others"}
"""What takes long, but is the same code on both servers: the standalone one is attacked in each run."""


def tried(kind: str) -> list[Any]:
    """The attacks on a server, or with the command line; those that take long are slow."""
    slow = SLOW | SLOW_TWICE if kind == attack.TENSORBOARD else SLOW
    return [
        pytest.param(each, marks=[pytest.mark.slow] * (each.id in slow), id=each.id)
        for each in drive.selected_attacks(kind, False, [])
    ]


@pytest.fixture(scope="module")
def server() -> Iterator[Callable[[str], Any]]:
    """The server of a kind: one for all attacks."""
    with ExitStack() as running:
        yield cache(lambda kind: running.enter_context(attack.started(kind, long=False)))


@pytest.mark.parametrize(
    ("kind", "each"),
    [
        pytest.param(kind, *param.values, marks=param.marks, id=f"{kind}-{param.id}")
        for kind in SERVERS
        for param in tried(kind)
    ],
)
def test_servers_hold(server: Callable[[str], Any], kind: str, each: Any) -> None:
    assert not drive.attempt(each, server(kind)), each.promise


@pytest.mark.parametrize("each", tried(attack.COMMAND))
def test_the_command_line_holds(each: Any, tmp_path: Path) -> None:
    try:
        assert not drive.attempt(each, attack.Command(tmp_path, long=False)), each.promise
    except attack.Untried as reason:
        pytest.skip(str(reason))


def test_the_documentation_promises_what_is_tried() -> None:
    promised = DOCS.read_text(encoding="utf-8")
    for each in attack.ATTACKS:
        assert f"| {each.id} | {each.promise}" in promised, each.id


@pytest.mark.parametrize("address", ["http://192.0.2.1/", "http://example.org:6006/", "http://localhost.example.org/"])
def test_only_this_machine_is_attacked(address: str) -> None:
    with pytest.raises(ValueError):
        attack.running(address, long=False)
