"""Frames behind Arrow's C interface (https://arrow.apache.org/docs/format/CDataInterface), by nanoarrow.

Numbers and the codes of texts are handed on where they stand; made anew are booleans, and where values are unknown,
because Arrow wants them as bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...runtime.arrays import Array
from ...runtime.problems import problem_error
from ...tools.answers.answer import Column
from .batches import Batches, Values


def schema(frame: Batches) -> Any:
    """nanoarrow's schema of a frame; units and explanations are the fields' metadata."""
    na = _nanoarrow()
    return na.c_schema(na.struct([_field_schema(field) for field in frame.schema], nullable=False))


def stream(frame: Batches) -> Any:
    """nanoarrow's stream of a frame, which is read once."""
    na = _nanoarrow()
    from nanoarrow.c_array_stream import CArrayStream

    batches = []
    for batch in frame.batches:
        children = [_array(field, batch[field.id]) for field in frame.schema]
        length = len(next(iter(batch.values())))
        batches.append(na.c_array_from_buffers(schema(frame), length, [None], children=children, move=True))
    return CArrayStream.from_c_arrays(batches, schema(frame), move=True, validate=False)


def _nanoarrow() -> Any:
    try:
        import nanoarrow
    except ImportError as error:
        remedy = "pip install 'tb-profile-plugin[frames]'"
        raise problem_error("no_nanoarrow", "Arrow's interface needs nanoarrow.", remedy) from error
    return nanoarrow


def _field_schema(field: Column) -> Any:
    descriptions = {"unit": field.unit, "doc": field.doc}
    metadata = {key: value.encode() for key, value in descriptions.items() if value}
    return _nanoarrow().c_schema(_type(field)).modify(name=field.id, metadata=metadata)


def _type(field: Column) -> Any:
    na = _nanoarrow()
    if field.kind == "string":
        return na.dictionary(na.int32(), na.string())
    return na.bool_() if field.kind == "boolean" else getattr(na, field.dtype)()


def _array(field: Column, values: Values) -> Any:
    validity = None if values.is_known is None else _bits(values.is_known)
    if values.texts is not None:
        return _dictionary_array(field, values, validity)
    data = _bits(values.data) if field.kind == "boolean" else np.ascontiguousarray(values.data)
    return _nanoarrow().c_array_from_buffers(_type(field), len(values), [validity, data])


def _dictionary_array(field: Column, values: Values, validity: Array | None) -> Any:
    from nanoarrow.c_array import CArrayBuilder
    from nanoarrow.device import cpu

    codes = values.data if values.is_known is None else np.where(values.is_known, values.data, np.int32(0))
    builder = CArrayBuilder.allocate()
    builder.init_from_schema(_nanoarrow().c_schema(_type(field)))
    for position, buffer in enumerate((validity, codes)):
        if buffer is not None:
            builder.set_buffer(position, _nanoarrow().c_buffer(np.ascontiguousarray(buffer)))
    builder.set_length(len(values))
    builder.set_null_count(0 if values.is_known is None else int(len(values) - values.is_known.sum()))
    # Checked without its texts: nanoarrow makes room for them, which is filled afterwards.
    array = builder.finish("none")
    texts = CArrayBuilder(array.dictionary, cpu())
    texts.start_appending()
    texts.append_strings([text.encode("utf-8", "replace").decode() for text in values.texts or ()])
    texts.finish()
    return array


def _bits(values: Array) -> Array:
    return np.packbits(values, bitorder="little")
