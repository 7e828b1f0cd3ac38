"""The pseudonyms of a session's words, and the key file by which its owner finds the words again."""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from ..runtime.messages import Message
from ..runtime.problems import ProblemError, problem_error
from ..runtime.regex import regex
from .vocabulary import WORDS

_MARK_LETTERS = "bcdfghjklmnpqrstvwxz"
"""Without vowels they spell nothing."""
_HASH_DIGITS = 12
"""Digits of a number that is a hash: enough that a million words share none."""
_HOST = regex(r"host-\d+ \(.*\)", re.DOTALL)
_PSEUDONYM = regex(r"([A-Za-z][a-z]*)(\d{1,18})([A-Za-z][a-z]{2})")


class Pseudonyms:
    """Pseudonyms of kind, number and mark: ``module3qzk`` is the third word that was seen as a module's.

    The mark is that of the session: it is no word that stays, ends the number, and tells ``module3`` of one session
    from that of another. Not safe to use from several threads while it `is_open`.
    """

    def __init__(self, key: bytes):
        """The key, at most 64 bytes, must be secret: with it, one could test guesses of words."""
        self._key = key
        self._mark = _mark(key)
        self._pseudonym_of: dict[tuple[str, str], str] = {}
        self.in_use: set[str] = set()
        """Pseudonyms that are in use."""
        self._hosts: dict[str, str] = {}
        """Names of hosts by alias and session."""
        self._count_of_kind: Counter[str] = Counter()
        self.is_open = True
        """Whether new words are numbered in order. Else their number is a hash, so that it does not depend on which
        hosts of a session are given away."""

    def of(self, text: str, kind: str, cases: str = "xx") -> str:
        """The pseudonym of a text; ``cases``, ``x`` or ``X`` each, are those of its first letter and of its mark's."""
        if (text, cases) in self._pseudonym_of:
            return self._pseudonym_of[text, cases]
        if not self.is_open:
            digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8, key=self._key).digest()
            # Without the kind, which may be seen differently on another host.
            return self._new_pseudonym(
                "name", f"{int.from_bytes(digest, 'big') % 10**_HASH_DIGITS:0{_HASH_DIGITS}}", cases
            )
        self._count_of_kind[kind] += 1
        pseudonym = self._new_pseudonym(kind, str(self._count_of_kind[kind]), cases)
        self._pseudonym_of[text, cases] = pseudonym
        return pseudonym

    def _new_pseudonym(self, kind: str, number: str, cases: str) -> str:
        """Make a pseudonym and note that it is in use."""
        cased_kind = kind.capitalize() if cases[0] == "X" else kind
        pseudonym = f"{cased_kind}{number}{self._mark.capitalize() if cases[1] == 'X' else self._mark}"
        self.in_use.add(pseudonym)
        return pseudonym

    def read(self, file: Path) -> None:
        """Go on with the pseudonyms of a key file, which need not exist yet; raises `ProblemError` for another file."""
        try:
            entries = json.loads(file.read_bytes()) if file.exists() else {}
            parsed = [
                (_HOST.fullmatch(name), _PSEUDONYM.fullmatch(name), name, str(text)) for name, text in entries.items()
            ]
        except (OSError, ValueError, AttributeError, RecursionError) as error:
            raise _key_error(file) from error
        for host, parts, name, text in parsed:
            if host:
                self._hosts[name] = text
            elif parts:
                kind, number, self._mark = parts[1].lower(), int(parts[2]), parts[3].lower()
                cases = "".join("X" if part[0].isupper() else "x" for part in (parts[1], parts[3]))
                self._pseudonym_of[text, cases] = name
                self.in_use.add(name)
                self._count_of_kind[kind] = max(self._count_of_kind[kind], number)
            else:
                raise _key_error(file)

    def add_hosts(self, session: str, aliases: Mapping[str, str]) -> None:
        """Have `write` also write the aliases of a session's hosts, which are by name."""
        self._hosts |= {f"{alias} ({session})": name for name, alias in aliases.items()}

    def write(self, file: Path) -> None:
        """JSON of pseudonyms and what they stand for, for nobody but the user; raises `ProblemError`."""
        text_of = self._hosts | {name: text for (text, _), name in self._pseudonym_of.items()}
        try:
            # Its mode is 0600 from the beginning, whatever lay there before.
            descriptor, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
            with open(descriptor, "w", encoding="ascii") as out:
                json.dump(text_of, out, indent=0)
            os.replace(name, file)
        except OSError as error:
            message = Message("The key cannot be written: {reason}.", reason=error.strerror)
            raise problem_error("unwritable", message, "Choose another file.", str(file)) from error


def _key_error(file: Path) -> ProblemError:
    remedy = Message("Name a file that --key wrote, or a new file.")
    return problem_error("bad_config", "This file is not a key of pseudonyms.", remedy, str(file))


def _mark(key: bytes) -> str:
    """Three letters that are no word of names that stay."""
    number = int.from_bytes(hashlib.blake2b(b"mark", digest_size=8, key=key).digest(), "big")
    while True:
        base = len(_MARK_LETTERS)
        letters = "".join(_MARK_LETTERS[number // base**digit % base] for digit in range(3))
        if letters not in WORDS:
            return letters
        number += 1
