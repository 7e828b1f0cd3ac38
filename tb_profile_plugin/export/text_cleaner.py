"""Texts for strangers: known words stay, all others become pseudonyms such as ``module3qzk``: see `Pseudonyms`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from ..model.names.demangle import identifiers
from ..runtime.regex import regex
from .pseudonyms import Pseudonyms
from .vocabulary import WORDS

_PATH = regex(r"(?<![\w.)\]}-])(?:[A-Za-z]:|~)?(?:[\\/]{1,8}[^\s\\/:,;\"'`<>|()\[\]{}=]+){2,}[\\/]?")
"""From the root, of files or behind the scheme of a URL; names of ops and devices do not look like that."""
_IPV4 = regex(r"\d{1,3}(?:\.\d{1,3}){3}|(?<!\d)\d{1,3}(?:-\d{1,3}){3}(?!\d)")
_COLON_HEX = regex(r"(?<![0-9A-Za-z:])(?:[0-9a-fA-F]{0,4}:){2,7}[0-9a-fA-F]{0,4}(?![0-9A-Za-z:])")
"""IPv6 and hardware addresses, and other things between colons."""

_WORD = regex(r"[^\x00-\x1f\x20-/:-@\[-`{-~]+")
"""Letters and digits, and all that is not ASCII, in a row: of several words, and numbers, that nothing separates."""
_TYPE_CODES = r"(?:bf|fp|tf|hf|sm|[fsui])\d{1,2}(?!\d)|e\dm\d|[HDPhdp]2[HDPhdp]|[rc]2[rc]|[1-4]D|V\d+"
"""Types of numbers, generations, directions of copies and transforms, dimensions and versions."""
_PIECE = regex(rf"{_TYPE_CODES}|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|.", re.DOTALL)
_HASH = regex(r"(?=.*[0-9])(?=.*[a-f])[0-9a-f]{8,}", re.IGNORECASE)

_TENSILE = regex(r"\bCijk_A[ijkl]{3}_B[ijkl]{3}_\w+")
_MANGLED = regex(r"\b_Z(?=[NKLI]*S?t?\d)[A-Za-z0-9_]+")
_LENGTH = regex(r"(?<![ST0-9])(?<!L[a-z])(?<!L[a-z]n)[1-9]\d*")
"""Names of Tensile's kernels, mangled names of C++, and in these the length before each word."""


class TextCleaner:
    """Cleans the texts of one session; texts that differ, differ afterwards."""

    def __init__(self, pseudonyms: Pseudonyms, hosts: Mapping[str, str]):
        """``hosts`` are aliases of hosts by name; names are replaced in any case."""
        self._pseudonyms = pseudonyms
        self._alias_of = {name.lower(): alias for name, alias in hosts.items() if not _is_harmless(name)}
        parts = "|".join(re.escape(name) for name in sorted(self._alias_of, key=len, reverse=True))
        self._host_pattern = re.compile(rf"(?<![^\W_])(?:{parts})(?![^\W_])", re.IGNORECASE) if parts else None
        self._cleaned_words: dict[str, str] = {}

    def name(self, text: str, kind: str) -> str:
        """The pseudonym of a whole text of a kind."""
        return self._pseudonyms.of(text, kind)

    def knows(self, name: str) -> bool:
        """Whether it is one identifier of known words."""
        return bool(re.fullmatch(r"\w+", name)) and self.clean(name) == name

    def clean(self, text: str, kind: str = "name") -> str:
        """The text with its known words, numbers and ASCII punctuation; paths, addresses and other words replaced.

        Pseudonyms begin with the ``kind`` of word, such as ``op``, unless what stands around it tells a better one.
        """
        if self._host_pattern:
            text = self._host_pattern.sub(lambda match: self._alias_of[match[0].lower()], text)
        text = _PATH.sub(lambda match: self.name(match[0], "path"), text)
        text = _IPV4.sub(lambda match: self.name(match[0], "address"), text)
        text = _COLON_HEX.sub(lambda match: self.name(match[0], "address") if _is_address(match[0]) else match[0], text)
        parts, end = [], 0
        for symbol in re.finditer(f"{_TENSILE.pattern}|{_MANGLED.pattern}", text):
            parts += [self._clean_words(text[end : symbol.start()], kind), self._clean_symbol(symbol[0])]
            end = symbol.end()
        return "".join([*parts, self._clean_words(text[end:], kind)])

    def _clean_words(self, text: str, kind: str) -> str:
        return _WORD.sub(lambda match: self._cleaned_words.get(match[0]) or self._clean_word(match, kind), text)

    def _clean_word(self, match: re.Match[str], kind: str) -> str:
        kind_of_word = _kind_from_context(match.string, match.start(), match.end()) or kind
        self._cleaned_words[match[0]] = cleaned = "".join(self._cleaned_pieces(match[0], kind_of_word))
        return cleaned

    def _cleaned_pieces(self, word: str, kind: str) -> Iterator[str]:
        """The known words of letters and digits in a row, and pseudonyms for what stands between them."""
        if (word.isdecimal() and word.isascii()) or word.lower() in WORDS or word in self._pseudonyms.in_use:
            yield word
            return
        pieces = _PIECE.findall(word)
        letters = sum(piece.isalpha() and len(piece) == 1 and piece != "x" for piece in pieces)
        if _HASH.fullmatch(word) or (letters > 1 and not word.isalpha()):
            yield self._pseudonym(word, kind)
            return
        unknown = ""
        for piece in pieces:
            if _is_known(piece):
                yield self._pseudonym(unknown, kind) + piece if unknown else piece
                unknown = ""
            else:
                unknown += piece
        if unknown:
            yield self._pseudonym(unknown, kind)

    def _pseudonym(self, word: str, kind: str) -> str:
        """A pseudonym with the word's upper and lower case: op types begin in upper case, JAX's have none."""
        cases = "Xx" if word[0].isupper() else "xx" if word.islower() else "xX"
        return self._pseudonyms.of(word, kind, cases) + ("" if word.isascii() else "~")

    def _clean_symbol(self, symbol: str) -> str:
        """Names of Tensile, which have no words, as they are; in mangled names each word cleaned, behind its length."""
        if not symbol.startswith("_Z"):
            return symbol
        words, at = identifiers(symbol)
        cleaned_pieces, last = [], 0
        for begin, end in [*words, *_length_spans(symbol, at)]:
            cleaned = self._clean_words(symbol[begin:end].lstrip("0123456789"), "function")
            cleaned_pieces.append(f"{self._clean_type_codes(symbol[last:begin])}{len(cleaned)}{cleaned}")
            last = end
        return "".join([*cleaned_pieces, self._clean_type_codes(symbol[last:])])

    def _clean_type_codes(self, code: str) -> str:
        """Codes of types stay: few letters, or repeating ones. Longer words are no codes, and are cleaned."""
        return re.sub(
            r"[a-z]{5,}",
            lambda match: match[0] if len(set(match[0])) < 4 else self._clean_words(match[0], "type"),
            code,
        )


def _length_spans(symbol: str, start: int) -> Iterator[tuple[int, int]]:
    """(begin, end) of each number with as many letters behind it, in a symbol that is not parsed from ``start`` on."""
    while length := _LENGTH.search(symbol, start):
        end = length.end() + int(length[0][:4])
        if end <= len(symbol) and re.fullmatch(r"[A-Za-z_]\w*", symbol[length.end() : end]):
            yield length.start(), end
            start = end
        else:
            start = length.end()


def _kind_from_context(text: str, begin: int, end: int) -> str:
    """The kind of a word by what stands around its identifier; empty where that tells nothing."""
    for _ in range(_IDENTIFIER_REACH):
        begin -= begin > 0 and _is_of_identifier(text[begin - 1])
        end += end < len(text) and _is_of_identifier(text[end])
    left, right = text[max(begin - 2, 0) : begin], text[end : end + 3]
    if right == ".py":
        return "file"
    if left.endswith("(") or text.startswith("$"):
        return "function"
    if right.startswith("/") or left.endswith("/"):
        return "module"
    return "op" if left.endswith(":") or right.startswith("::") else ""


_IDENTIFIER_REACH = 64
"""Characters of an identifier that are looked at on either side of a word."""


def _is_of_identifier(letter: str) -> bool:
    return letter == "_" or letter.isalnum()


def _is_known(piece: str) -> bool:
    return piece.isascii() and (len(piece) == 1 or not piece.isalpha() or piece.lower() in WORDS)


def _is_address(text: str) -> bool:
    if text.rstrip(":").lower() in WORDS:
        return False
    return ("::" in text or text.count(":") >= 5) and any(letter.isdecimal() for letter in text)


def _is_harmless(name: str) -> bool:
    """Whether a host's name could be any word, so that it is not replaced as a host."""
    return not name or (_is_known(name) and (len(name) == 1 or name.isalpha() or name.isdecimal()))
