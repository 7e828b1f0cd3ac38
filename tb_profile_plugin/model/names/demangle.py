"""Names of C++ functions as compilers mangle them (Itanium C++ ABI, chapter 5.1), as far as kernels use it.

Scopes, templates, types and substitutions are read; parameters are not, and what is not understood stays mangled.
"""

from __future__ import annotations

from functools import lru_cache

LONGEST_NAME = 20_000
"""Letters of a name, and of what its substitutions make of it, which may double with each."""
_MOST_DEPTH = 120
"""Types and arguments within one another that are read."""
_BUILTIN = dict(
    zip(
        "vwbcahstijlmxynofdegz",
        (
            "void|wchar_t|bool|char|signed char|unsigned char|short|unsigned short|int|unsigned int|long|unsigned long"
            "|long long|unsigned long long|__int128|unsigned __int128|float|double|long double|__float128|..."
        ).split("|"),
        strict=True,
    )
)
_D_TYPES = {"Dh": "half", "Di": "char32_t", "Ds": "char16_t", "Du": "char8_t", "Dn": "nullptr_t", "Da": "auto"}
_STANDARD = {"t": "std", "a": "std::allocator", "s": "std::string", "b": "std::basic_string", "i": "std::istream"}
_TYPE_SUFFIX = {"P": "*", "R": "&", "O": "&&", "K": " const", "V": " volatile", "r": " restrict"}
_OPERATORS = {"cl": "operator()", "pl": "operator+", "mi": "operator-", "ml": "operator*", "dv": "operator/"}


@lru_cache(maxsize=65536)
def demangle(name: str) -> str:
    """The function with its template arguments, without its parameters; the name itself where it cannot be read."""
    read = _read(name.removesuffix(".kd"))
    return read[0] if read else name


def identifiers(name: str) -> tuple[list[tuple[int, int]], int]:
    """((begin of the length, end) of each word in a mangled name, position up to which the name was read).

    Digits before a letter may also be a value, which only reading tells: ``…ComparisonNameE5EEESF_``.
    """
    read = _read(name)
    return (read[1].words, read[1].at) if read else ([], 0)


def _read(name: str) -> tuple[str, _NameReader] | None:
    """The demangled name and its reader; None for what cannot be read."""
    if not name.startswith("_Z") or len(name) > LONGEST_NAME:
        return None
    reader = _NameReader(name)
    try:
        return reader.name(), reader
    except (_Unreadable, IndexError, ValueError):
        return None


class _Unreadable(Exception):
    """Not a name that this knows how to read."""


class _NameReader:
    """Reads one name from left to right."""

    def __init__(self, text: str):
        self.text, self.at, self.depth = text, 2, 0
        self.substitutions: list[str] = []
        self.words: list[tuple[int, int]] = []

    def _take(self, prefix: str) -> bool:
        """Whether this comes next; if so, it is passed over."""
        matches = self.text.startswith(prefix, self.at)
        self.at += len(prefix) if matches else 0
        return matches

    def _add_substitution(self, text: str) -> str:
        """The text itself, to which the name may refer from now on."""
        if len(text) > LONGEST_NAME:
            raise _Unreadable
        self.substitutions.append(text)
        return text

    def _number(self) -> int:
        start = self.at
        while self.text[self.at : self.at + 1].isdecimal():
            self.at += 1
        if start == self.at or self.at - start > 5:
            raise _Unreadable
        return int(self.text[start : self.at])

    def _source_name(self) -> str:
        """An identifier behind its length."""
        begin = self.at
        length = self._number()
        identifier = self.text[self.at : self.at + length]
        if len(identifier) < length:
            raise _Unreadable
        self.at += length
        self.words.append((begin, self.at))
        return "(anonymous namespace)" if identifier.startswith("_GLOBAL__N_") else identifier

    def name(self) -> str:
        """The name that comes next, with its template arguments."""
        if self._take("N"):
            return self._nested()
        if self._take("S"):
            name = f"std::{self._source_name()}" if self._take("t") else self._substitution()
        else:
            self._take("L")
            name = self._unqualified("")
        if self.text[self.at] != "I":
            return name
        if self.text[self.at - 1] != "_":
            self._add_substitution(name)
        return name + self._arguments()

    def _nested(self) -> str:
        while self.text[self.at] in "rVKRO":
            self.at += 1
        name = ""
        while not self._take("E"):
            if self._take("S"):
                name = "std" if self._take("t") else self._substitution()
                continue
            if self.text[self.at] == "I":
                name += self._arguments()
            elif self._take("T"):
                name = self._parameter()
            else:
                self._take("L")
                component = self._unqualified(name)
                name = f"{name}::{component}" if name else component
            if self.text[self.at] != "E":
                self._add_substitution(name)
        return name

    def _unqualified(self, scope: str) -> str:
        if self.text[self.at].isdecimal():
            return self._source_name()
        two_letters = self.text[self.at : self.at + 2]
        self.at += 2
        if two_letters[0] in "CD" and two_letters[1] in "0123456":
            return scope.rpartition("::")[2]
        if two_letters in _OPERATORS:
            return _OPERATORS[two_letters]
        if two_letters in ("Ut", "Ul"):
            return self._unnamed(two_letters)
        raise _Unreadable

    def _unnamed(self, kind: str) -> str:
        if kind == "Ul":
            while not self._take("E"):
                self._type()
        while not self._take("_"):
            self._number()
        return "{lambda}" if kind == "Ul" else "{unnamed}"

    def _substitution(self) -> str:
        letter = self.text[self.at]
        if letter in _STANDARD:
            self.at += 1
            return _STANDARD[letter]
        return self.substitutions[self._sequence(36)]

    def _parameter(self) -> str:
        return f"T{self._sequence(10)}"

    def _sequence(self, base: int) -> int:
        """A number that ends with ``_``; empty for 0, else one more than its digits say."""
        stop = self.text.index("_", self.at) if "_" in self.text[self.at : self.at + 6] else -1
        digits = self.text[self.at : stop]
        if stop < 0 or not all(digit.isdecimal() or (base == 36 and "A" <= digit <= "Z") for digit in digits):
            raise _Unreadable
        self.at = stop + 1
        return int(digits, base) + 1 if digits else 0

    def _arguments(self) -> str:
        if not self._take("I") and not self._take("J"):
            raise _Unreadable
        self.depth += 1
        if self.depth > _MOST_DEPTH:
            raise _Unreadable
        arguments = []
        while not self._take("E"):
            arguments.append(self._argument())
        self.depth -= 1
        return f"<{', '.join(filter(None, arguments))}>"

    def _argument(self) -> str:
        if self.text[self.at] == "J":
            return self._arguments()[1:-1]
        if self._take("L"):
            return self._literal()
        return self._type()

    def _literal(self) -> str:
        if self._take("_Z"):
            name = self.name()
            self.at = self.text.index("E", self.at) + 1
            return name
        kind = self._type()
        stop = self.text.index("E", self.at)
        value = self.text[self.at : stop].replace("n", "-")
        self.at = stop + 1
        if kind == "bool":
            return "true" if value == "1" else "false"
        return value if kind in _BUILTIN.values() else f"({kind}){value}"

    def _type(self) -> str:
        self.depth += 1
        if self.depth > _MOST_DEPTH:
            raise _Unreadable
        name = self._read_type()
        self.depth -= 1
        return name

    def _read_type(self) -> str:
        letter, two_letters = self.text[self.at], self.text[self.at : self.at + 2]
        if letter in _BUILTIN:
            self.at += 1
            return _BUILTIN[letter]
        if two_letters in _D_TYPES:
            self.at += 2
            return _D_TYPES[two_letters]
        if self._take("DF"):
            return self._float()
        if letter in _TYPE_SUFFIX:
            self.at += 1
            return self._add_substitution(self._type() + _TYPE_SUFFIX[letter])
        if self._take("Dp"):
            return self._add_substitution(self._type())
        if self._take("A"):
            size = "" if self.text[self.at] == "_" else str(self._number())
            self._take("_")
            return self._add_substitution(f"{self._type()} [{size}]")
        if self._take("F"):
            types = []
            while not self._take("E"):
                types.append(self._type())
            return self._add_substitution(f"{types[0]} ({', '.join(types[1:])})")
        if self._take("T"):
            return self._template(self._add_substitution(self._parameter()))
        if letter == "S" and self.text[self.at + 1] != "t":
            self.at += 1
            return self._template(self._substitution())
        return self._add_substitution(self.name())

    def _template(self, name: str) -> str:
        return self._add_substitution(name + self._arguments()) if self.text[self.at : self.at + 1] == "I" else name

    def _float(self) -> str:
        """The type behind ``DF``: ``DF16_`` and ``DF16b``."""
        bits = self._number()
        kind = self.text[self.at]
        self.at += 1
        return f"bfloat{bits}" if kind == "b" else f"float{bits}"
