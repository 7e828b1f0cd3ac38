"""Which pseudonym stands for which word of a session, and the file by which who gave it away finds the words again."""

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
from ..runtime.problems import Problem, ProblemError, problem_error
from ..runtime.regex import regex
from .vocabulary import WORDS

_LETTERS = "bcdfghjklmnpqrstvwxz"
"""Of marks: without vowels they spell nothing."""
_DIGITS = 12
"""Of a number that is a hash: enough that a million words share none."""
_HOST = regex(r"host-\d+ \(.*\)", re.DOTALL)
_PSEUDONYM = regex(r"([A-Za-z][a-z]*)(\d{1,18})([A-Za-z][a-z]{2})")


class Names:
    """Pseudonyms of kind, number and mark: ``module3qzk`` is the third word that was seen as a module's.

    The mark is that of the session: it is no word that stays, ends the number, and tells ``module3`` of one session
    from that of another. Not safe to use from several threads while it is `open`.
    """

    def __init__(self, key: bytes):
        """`key` is what nobody knows who sees the pseudonyms, at most 64 bytes: with it, guesses could be tried."""
        self._key = key
        self._mark = _mark(key)
        self._names: dict[tuple[str, str], str] = {}
        self.in_use: set[str] = set()
        """Pseudonyms that are in use."""
        self._hosts: dict[str, str] = {}
        self._counts: Counter[str] = Counter()
        self.open = True
        """Whether new words are numbered in their order. Later ones have a hash as their number, so that it does not
        depend on which hosts of a session are given away."""

    def of(self, text: str, kind: str, cases: str = "xx") -> str:
        """The pseudonym of a text; ``cases`` are those of its first letter and of its mark's first one."""
        pseudonym = self._names.get((text, cases))
        if pseudonym:
            return pseudonym
        if not self.open:
            digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8, key=self._key).digest()
            return self._named("name", f"{int.from_bytes(digest, 'big') % 10**_DIGITS:0{_DIGITS}}", cases)
        self._counts[kind] += 1
        answer = self._names[text, cases] = self._named(kind, str(self._counts[kind]), cases)
        return answer

    def _named(self, kind: str, number: str, cases: str) -> str:
        """Not of the kind where the number is a hash: what is seen of a word first may differ from host to host."""
        first = kind.capitalize() if cases[0] == "X" else kind
        answer = f"{first}{number}{self._mark.capitalize() if cases[1] == 'X' else self._mark}"
        self.in_use.add(answer)
        return answer

    def take(self, file: Path) -> None:
        """Go on with the names of a key file, which need not exist yet; raises `ProblemError` for anything else."""
        try:
            entries = json.loads(file.read_bytes()) if file.exists() else {}
            pairs = [
                (_HOST.fullmatch(name), _PSEUDONYM.fullmatch(name), name, str(text)) for name, text in entries.items()
            ]
        except (OSError, ValueError, AttributeError, RecursionError) as error:
            raise _no_key(file) from error
        for host, parts, name, text in pairs:
            if host:
                self._hosts[name] = text
            elif parts:
                kind, number, self._mark = parts[1].lower(), int(parts[2]), parts[3].lower()
                cases = "".join("X" if part[0].isupper() else "x" for part in (parts[1], parts[3]))
                self._names[text, cases] = name
                self.in_use.add(name)
                self._counts[kind] = max(self._counts[kind], number)
            else:
                raise _no_key(file)

    def add_hosts(self, session: str, aliases: Mapping[str, str]) -> None:
        """What hosts of a session are called, which have a place of their own in each; see `Names.write`."""
        self._hosts |= {f"{alias} ({session})": name for name, alias in aliases.items()}

    def write(self, file: Path) -> None:
        """JSON of pseudonyms and what they stand for, for nobody but the user; raises `ProblemError`."""
        text_of = self._hosts | {name: text for (text, _), name in self._names.items()}
        try:
            # Its mode is 0600 from the beginning, whatever lay there before.
            descriptor, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
            with open(descriptor, "w", encoding="ascii") as out:
                json.dump(text_of, out, indent=0)
            os.replace(name, file)
        except OSError as error:
            problem = Problem(
                "unwritable",
                Message("The key cannot be written: {reason}.", reason=error.strerror),
                Message("Choose another file."),
                str(file),
            )
            raise ProblemError(problem) from error


def _no_key(file: Path) -> ProblemError:
    remedy = Message("Name a file that --key wrote, or a new file.")
    return problem_error("bad_config", "This file is not a key of pseudonyms.", remedy, str(file))


def _mark(key: bytes) -> str:
    """Three letters that are no word of names that stay."""
    number = int.from_bytes(hashlib.blake2b(b"mark", digest_size=8, key=key).digest(), "big")
    while True:
        letters = "".join(_LETTERS[number // len(_LETTERS) ** digit % len(_LETTERS)] for digit in range(3))
        if letters not in WORDS:
            return letters
        number += 1
