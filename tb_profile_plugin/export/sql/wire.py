"""The messages between the two processes: JSON behind its length; tables as such JSON, and their arrays behind it."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from typing import Any, BinaryIO

import numpy as np

from ...tools.answers.answer import Column, Table
from ..frames.batches import Values
from ..frames.frame import Frame

_LENGTH = struct.Struct("<Q")


def send(pipe: BinaryIO, data: Any) -> None:
    """Write JSON data."""
    body = json.dumps(data, allow_nan=False).encode()
    pipe.write(_LENGTH.pack(len(body)))
    pipe.write(body)
    pipe.flush()


def receive(pipe: BinaryIO, most_bytes: int) -> Any:
    """Read JSON data of at most so many bytes; raises EOFError where there is none, or more."""
    length = _LENGTH.unpack(_read_exactly(pipe, _LENGTH.size))[0]
    if length > most_bytes:
        raise EOFError
    return json.loads(_read_exactly(pipe, length))


def send_frame(pipe: BinaryIO, name: str, frame: Frame) -> None:
    """Write a table."""
    batches = [{field.id: batch[field.id] for field in frame.schema} for batch in frame.batches]
    fields = [[field.id, field.kind, field.dtype] for field in frame.schema]
    headers = [
        [len(next(iter(batch.values()))), [_column_header(column) for column in batch.values()]] for batch in batches
    ]
    send(pipe, {"name": name, "fields": fields, "batches": headers})
    for batch in batches:
        for column in batch.values():
            pipe.write(np.ascontiguousarray(column.data).data)
            if column.is_known is not None:
                pipe.write(np.ascontiguousarray(column.is_known).data)
    pipe.flush()


def receive_frame(pipe: BinaryIO, most_bytes: int) -> tuple[str, Frame] | None:
    """Read a table and its name; None where no more come."""
    header = receive(pipe, most_bytes)
    if header is None:
        return None
    fields = tuple(Column(id, id, kind, dtype=dtype) for id, kind, dtype in header["fields"])
    batches = [
        {field.id: column for field, column in zip(fields, _columns(pipe, length, columns), strict=True)}
        for length, columns in header["batches"]
    ]
    return header["name"], Frame(Table(header["name"], header["name"], fields), batches)


def _column_header(column: Values) -> dict[str, Any]:
    texts = None if column.texts is None else list(column.texts)
    return {"dtype": column.data.dtype.str, "texts": texts, "known": column.is_known is not None}


def _columns(pipe: BinaryIO, length: int, columns: list[dict[str, Any]]) -> Iterator[Values]:
    for header in columns:
        dtype = np.dtype(header["dtype"])
        data = np.frombuffer(_read_exactly(pipe, length * dtype.itemsize), dtype)
        is_known = np.frombuffer(_read_exactly(pipe, length), bool) if header["known"] else None
        yield Values(data, header["texts"], is_known)


def _read_exactly(pipe: BinaryIO, size: int) -> bytes:
    """So many bytes; raises EOFError where there are fewer."""
    block = pipe.read(size)
    if len(block) < size:
        raise EOFError
    return block
