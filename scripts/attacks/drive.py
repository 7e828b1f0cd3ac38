"""Tries the attacks and says what held; run by scripts/attack, one by one by tests/test_attacks.py."""

from __future__ import annotations

import argparse
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

# Importing them registers their attacks.
import cachefiles  # noqa: F401
import commands  # noqa: F401
import costly  # noqa: F401
import hostile_clients  # noqa: F401
import others  # noqa: F401
import searches  # noqa: F401
import secrets_kept  # noqa: F401
import together  # noqa: F401
from attack import ATTACKS, COMMAND, STANDALONE, TENSORBOARD, Attack, Broken, Command, Server, Untried, running, started


def selected_attacks(place: str, long: bool, names: list[str]) -> list[Attack]:
    """The attacks for a place, by their ids or what stands before the hyphen."""
    some = [candidate for candidate in ATTACKS if place in candidate.places and (long or not candidate.long)]
    return [
        candidate
        for candidate in some
        if not names or any(name in (candidate.id, candidate.id.partition("-")[0]) for name in names)
    ]


def attempt(attack: Attack, target: Server | Command) -> str:
    """What became of an attack; empty where the promise held. Raises `Untried`."""
    try:
        attack.run(target)
    except (Broken, OSError) as error:
        return str(error) or type(error).__name__
    return ""


def main() -> int:
    """Try them all; 1 where something did not hold."""
    parser = argparse.ArgumentParser(prog="scripts/attack")
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--on", choices=(STANDALONE, TENSORBOARD, COMMAND), action="append", default=[])
    parser.add_argument("--address", default="")
    parser.add_argument("ids", nargs="*", metavar="ID")
    arguments = parser.parse_args()
    broken = 0
    for place in ["address"] if arguments.address else arguments.on or [STANDALONE, TENSORBOARD, COMMAND]:
        with ExitStack() as stack:
            server: Server | None = None
            if place == "address":
                try:
                    server = running(arguments.address, arguments.long)
                except (ValueError, Broken) as error:
                    print(f"{error}.", file=sys.stderr)
                    return 2
                place = server.kind
            attacks = selected_attacks(place, arguments.long, arguments.ids)
            if attacks and place != COMMAND:
                server = server or stack.enter_context(started(place, arguments.long))
            for attack in attacks:
                folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
                try:
                    seen = attempt(attack, server or Command(folder, arguments.long))
                    broken += bool(seen)
                    mark = "BROKEN" if seen else "held"
                except Untried as error:
                    seen, mark = str(error), "not tried"
                print(f"{mark:9}  {place:11}  {attack.id:12}  {attack.promise}", flush=True)
                if seen:
                    print(f"{'':37}{seen}", flush=True)
    return int(bool(broken))


if __name__ == "__main__":
    sys.exit(main())
