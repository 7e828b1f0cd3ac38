"""Sixteen bytes at once: which of them are what is looked for, as bits of a whole number, the first byte's lowest.

Every processor compares so many in one step, which no compiler makes of a loop; `register_with_numba` says how.
"""

from __future__ import annotations

from typing import Any

from ..arrays import U8, Int

WIDTH = 16
"""Bytes that are looked at; so many must be there."""


def equal_mask(buf: U8, pos: Int, byte: int) -> Int:
    """int64: a bit for each of the bytes from ``pos`` on that is that one."""
    return sum(1 << i for i in range(WIDTH) if buf[pos + i] == byte)


def greater_mask(buf: U8, pos: Int, byte: int) -> Int:
    """int64: a bit for each of the bytes from ``pos`` on that is greater."""
    return sum(1 << i for i in range(WIDTH) if buf[pos + i] > byte)


def same_mask(buf: U8, pos: Int, other: U8, start: Int) -> Int:
    """int64: a bit for each of the bytes from ``pos`` on that equals its counterpart in ``other`` from ``start`` on."""
    return sum(1 << i for i in range(WIDTH) if buf[pos + i] == other[start + i])


def lowest_bit(bits: Int) -> Int:
    """int64: index of the lowest bit that is set; one must be."""
    return (int(bits) & -int(bits)).bit_length() - 1


def register_with_numba() -> None:
    """Have the functions above compiled to the processor's own, wherever kernels call them.

    An intrinsic says which types it takes and returns, and what writes its code; an overload returns the function that
    kernels call in place of the one above.
    """
    from numba.core import types
    from numba.extending import intrinsic, overload

    def comparison(operator: str) -> Any:
        def typed(typing_context: Any, buf: Any, pos: Any, byte: Any) -> Any:
            return types.int64(buf, types.int64, types.uint8), lambda *parts: _comparison_bits(operator, *parts)

        return intrinsic(typed)

    def typed_same(typing_context: Any, buf: Any, pos: Any, other: Any, start: Any) -> Any:
        return types.int64(buf, types.int64, other, types.int64), _equal_bits

    def typed_lowest(typing_context: Any, bits: Any) -> Any:
        return types.int64(types.int64), _lowest_bit

    equal, above = comparison("=="), comparison(">")
    same: Any = intrinsic(typed_same)
    lowest: Any = intrinsic(typed_lowest)

    overload(equal_mask)(lambda buf, pos, byte: lambda buf, pos, byte: equal(buf, pos, byte))
    overload(greater_mask)(lambda buf, pos, byte: lambda buf, pos, byte: above(buf, pos, byte))
    overload(same_mask)(lambda buf, pos, other, start: lambda buf, pos, other, start: same(buf, pos, other, start))
    overload(lowest_bit)(lambda bits: lambda bits: lowest(bits))


def _comparison_bits(operator: str, context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """LLVM's code for bits of the bytes for which the comparison with one byte holds."""
    from llvmlite import ir

    buf, pos, byte = arguments
    vector = ir.VectorType(ir.IntType(8), WIDTH)
    bytes_ = _load_vector(context, builder, signature.args[0], buf, pos)
    one = builder.insert_element(ir.Constant(vector, ir.Undefined), byte, ir.Constant(ir.IntType(32), 0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), WIDTH), [0] * WIDTH)
    every = builder.shuffle_vector(one, ir.Constant(vector, ir.Undefined), zeros)
    return _as_bits(builder, builder.icmp_unsigned(operator, bytes_, every))


def _equal_bits(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """LLVM's code for bits of the bytes that are equal."""
    buf, pos, other, start = arguments
    one = _load_vector(context, builder, signature.args[0], buf, pos)
    return _as_bits(
        builder, builder.icmp_unsigned("==", one, _load_vector(context, builder, signature.args[2], other, start))
    )


def _load_vector(context: Any, builder: Any, kind: Any, buf: Any, pos: Any) -> Any:
    """LLVM's code for sixteen bytes from a position on, which need not be aligned."""
    from llvmlite import ir

    vector = ir.VectorType(ir.IntType(8), WIDTH)
    address = builder.gep(context.make_array(kind)(context, builder, buf).data, [pos])
    bytes_ = builder.load(builder.bitcast(address, vector.as_pointer()))
    bytes_.align = 1
    return bytes_


def _as_bits(builder: Any, compared: Any) -> Any:
    """LLVM's code for bits of sixteen truths, the first lowest, on little-endian processors."""
    from llvmlite import ir

    return builder.zext(builder.bitcast(compared, ir.IntType(WIDTH)), ir.IntType(64))


def _lowest_bit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """LLVM's code for the number of zeros below the first bit."""
    from llvmlite import ir

    zero_is_undefined = ir.Constant(ir.IntType(1), 1)
    return builder.cttz(arguments[0], zero_is_undefined)
