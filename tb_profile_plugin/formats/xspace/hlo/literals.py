"""Values of an XLA program's small constants, as XLA writes them; of large ones nothing is read.

Field numbers are those of XLA's ``LiteralProto`` (preds 2, u8s 3, s32s 4, s64s 5, u32s 6, u64s 7, f32s 8, f64s 9,
f16s 11, c64s 12, bf16s 13, s8s 15, u16s 16, s16s 17, c128s 18); packed, or bytes in little-endian order.
"""

from __future__ import annotations

import numpy as np

from .fields import Messages
from .shapes import Shapes, dtype

LITERAL = 8
"""Number of the field in an instruction."""
_MOST_ELEMENTS = 16
"""A constant of more elements is not written out."""
_INTEGER_FIELDS = {"pred": 2, "s32": 4, "s64": 5, "u32": 6, "u64": 7}
"""Fields of repeated integers, by type."""
_BYTE_FIELDS = {"u8": (3, "u1"), "f32": (8, "<f4"), "f64": (9, "<f8"), "f16": (11, "<f2"), "c64": (12, "<c8")} | {
    "bf16": (13, "<u2"),
    "s8": (15, "i1"),
    "u16": (16, "<u2"),
    "s16": (17, "<i2"),
    "c128": (18, "<c16"),
}
"""Fields of raw bytes and their layout for numpy, by type."""
_FIELDS = (*_INTEGER_FIELDS.values(), *(number for number, _ in _BYTE_FIELDS.values()))


class Literals:
    """Texts of constants by the row of their instruction."""

    def __init__(self, instructions: Messages, shapes: Shapes):
        self._types, self._elements, self._dimensions = shapes.type, shapes.elements, shapes.dimensions.counts
        self._messages = instructions.messages(LITERAL, _FIELDS)

    def __getitem__(self, row: int) -> str:
        """``0.01``, ``true``, ``{1, 2}``; ``{...}`` for one of many elements, or that cannot be read."""
        count, type_name = int(self._elements[row]), dtype(int(self._types[row]))
        values = self._values(row, type_name, count) if 0 < count <= _MOST_ELEMENTS else []
        if len(values) != count:
            return "{...}"
        texts = [_text(value, type_name) for value in values]
        return f"{{{', '.join(texts)}}}" if self._dimensions[row] else "".join(texts)

    @property
    def encoded(self) -> bytes:
        """All of them as the program holds them: equal where all constants of two programs are."""
        messages = self._messages
        spans = zip(messages.begin.tolist(), messages.end.tolist(), strict=True)
        return b"".join(messages.buffer[begin:end].tobytes() for begin, end in spans if end > begin)

    def _values(self, row: int, type_name: str, count: int) -> list[object]:
        message = Messages.read(
            self._messages.buffer, self._messages.begin[row : row + 1], self._messages.end[row : row + 1], _FIELDS
        )
        if type_name in _INTEGER_FIELDS:
            numbers = message.integer_lists(_INTEGER_FIELDS[type_name]).values
            return (numbers.view(np.uint64) if type_name[0] == "u" else numbers)[: count + 1].tolist()
        number, layout = _BYTE_FIELDS.get(type_name, (0, ""))
        begin, end = (int(bounds[0]) for bounds in message.spans(number))
        size = np.dtype(layout or "u1").itemsize
        if not number or end - begin != count * size:
            return []
        raw = np.frombuffer(self._messages.buffer[begin:end].tobytes(), layout)
        if type_name == "bf16":
            raw = (raw.astype(np.uint32) << 16).view(np.float32)
        return raw.tolist()


_DIGITS = {"bf16": (2, 4, "bf16"), "f16": (3, 5, "f2"), "f32": (6, 9, "f4"), "c64": (6, 9, "f4")}
"""Digits of a short and of a long text, and the layout, by type."""


def _text(value: object, type_name: str) -> str:
    """An element as XLA writes one of that type."""
    if type_name == "pred":
        return "true" if value else "false"
    if isinstance(value, complex):
        return f"({_real(value.real, type_name)}, {_real(value.imag, type_name)})"
    return _real(value, type_name) if isinstance(value, float) else str(value)


def _real(value: float, type_name: str) -> str:
    """A number in the shorter of the two lengths that XLA has, if that tells it from its neighbours,
    else the longer.
    """
    short_digits, long_digits, layout = _DIGITS.get(type_name, (15, 17, "f8"))
    short = f"{value:.{short_digits}g}"
    if layout == "bf16":
        is_exact = np.float32(short).view(np.uint32) + 0x8000 >> 16 == np.float32(value).view(np.uint32) >> 16
    else:
        is_exact = np.dtype(layout).type(short) == np.dtype(layout).type(value)
    return short if is_exact else f"{value:.{long_digits}g}"
