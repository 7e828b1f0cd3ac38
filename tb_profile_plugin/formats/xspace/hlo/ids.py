"""Ids of XLA programs: 64 bits that writers take as a signed number or as an unsigned one."""

from ....runtime.regex import regex

_PROGRAM = regex(r"\((\d{1,20})\)$")


def id_in(name: str) -> int | None:
    """The program id in a name like ``jit_step(6)``, as the bits of an int64; None where there is none."""
    match = _PROGRAM.search(name)
    return signed(int(match[1])) if match else None


def signed(program_id: int) -> int:
    """A program id as the bits of an int64: writers differ in how they take the highest bit."""
    return (program_id + (1 << 63)) % (1 << 64) - (1 << 63)
