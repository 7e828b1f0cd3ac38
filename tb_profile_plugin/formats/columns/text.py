"""Strings that stay bytes of the file until they are asked for."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...runtime.arrays import Array
from ...runtime.memo import lazy
from ...runtime.records import record

LONGEST_HEAD = 4096
"""Characters of a name that tell what it names: the longest that compilers make of templates come to some thousands.

Names themselves stay whole, as they are what ops and kernels are known, shown, searched and exported by.
"""


@record
class Text:
    """Strings as byte ranges of the file; damaged UTF-8 shows as replacement characters."""

    buffer: Array
    """uint8."""
    begin: Array
    """int64[n]."""
    end: Array
    """int64[n]."""

    @staticmethod
    def of(texts: Sequence[str]) -> Text:
        """A column of these."""
        encoded_texts = [text.encode() for text in texts]
        end = np.cumsum([len(encoded) for encoded in encoded_texts], dtype=np.int64)
        begin = end - np.array([len(encoded) for encoded in encoded_texts], np.int64)
        return Text(np.frombuffer(b"".join(encoded_texts), np.uint8), begin, end)

    def __getitem__(self, row: int) -> str:
        """One of them, decoded by itself."""
        return self.buffer[int(self.begin[row]) : int(self.end[row])].tobytes().decode("utf-8", "replace")

    @lazy
    def all(self) -> list[str]:
        """Every string, decoded once."""
        data = self.buffer.data
        text_of_bytes: dict[bytes, str] = {}
        answer = [""] * len(self.begin)
        rows = np.flatnonzero(self.end > self.begin)
        for row, begin, end in zip(rows.tolist(), self.begin[rows].tolist(), self.end[rows].tolist(), strict=True):
            encoded = bytes(data[begin:end])
            text = text_of_bytes.get(encoded)
            if text is None:
                text = text_of_bytes[encoded] = encoded.decode("utf-8", "replace")
            answer[row] = text
        return answer

    @lazy
    def heads(self) -> list[str]:
        """The first `LONGEST_HEAD` characters of each."""
        return [text if len(text) <= LONGEST_HEAD else text[:LONGEST_HEAD] for text in self.all]
