"""Shapes of an XLA program as columns: dimensions, sizes, layouts, memory spaces, and their text.

Field numbers are those of XLA's ``ShapeProto`` (element_type 2, dimensions 3, tuple_shapes 4, layout 5) and
``LayoutProto`` (minor_to_major 1, tiles 6, element_size_in_bits 7, memory_space 8); numbers of types are those of its
``PrimitiveType``.
"""

from __future__ import annotations

import re

import numpy as np

from ....runtime.arrays import Array
from ....runtime.memo import lazy
from ....runtime.messages import Message
from ....runtime.records import record
from .fields import Messages, Ragged

TUPLE, OPAQUE, TOKEN, BUFFER = 13, 14, 17, 34
_TYPES = (
    "invalid pred s8 s16 s32 s64 u8 u16 u32 u64 f16 f32 f64 tuple opaque c64 bf16 token c128 f8e5m2 f8e4m3fn s4 u4 "
    "f8e4m3b11fnuz f8e5m2fnuz f8e4m3fnuz s2 u2 f8e4m3 f8e3m4 s1 u1 f4e2m1fn f8e8m0fnu buffer f6e3m2fn f6e2m3fn"
).split()
"""Names of elements by number of the type; the first number in a name is the element's bits."""
_BITS = np.zeros(256, np.int64)
for _number, _name in enumerate(_TYPES):
    _digits = re.search(r"\d+", _name)
    # Less than a byte is stored in one unless the layout packs it.
    _BITS[_number] = 8 if _name == "pred" else max(8, int(_digits[0])) if _digits else 0

_POINTER_BYTES = 8
"""Bytes of each element of a tuple, which is an index table."""
_MOST_COUNTED = 1e60
"""More elements count as so many: no such array exists, and products of these numbers stay finite."""
_MOST_DEPTH = 32
"""Tuples nested deeper are not read."""
_MOST_ELEMENTS = 64
"""Elements of a tuple, dimensions and tiles that a text shows."""
_MOST_CHARACTERS = 1000
"""Characters of a tuple's text."""


@record
class Shapes:
    """Shapes with all shapes inside them; the first ones are the instructions' own, in their order."""

    type: Array
    """int64[n]: number of the element's type; 0 where it is not stated."""
    dimensions: Ragged
    """Sizes of the dimensions of each shape."""
    parent: Array
    """int64[n]: the tuple that it is in, -1 for none."""
    root: Array
    """int64[n]: the outermost shape."""
    children: Ragged
    """The shapes in each tuple."""
    layouts: Messages
    """``LayoutProto`` of each shape; an empty one where it has none."""
    bits: Array
    """int64[n]: of an element; 0 where it has none."""

    @staticmethod
    def read(owners: Messages, number: int) -> Shapes:
        """The shape in a field of each message."""
        levels = [owners.messages(number, (2, 3, 4, 5))]
        parents = [np.full(len(owners), -1, np.int64)]
        roots = [np.arange(len(owners))]
        start = 0
        while len(levels[-1]) and len(levels) < _MOST_DEPTH:
            parent_in_level, deeper = levels[-1].repeated_messages(4, (2, 3, 4, 5))
            parents.append(parent_in_level + start)
            roots.append(roots[-1][parent_in_level])
            start += len(levels[-1])
            levels.append(deeper)
        parent = np.concatenate(parents)
        order = np.argsort(parent, kind="stable")[np.count_nonzero(parent < 0) :]
        counts = np.bincount(parent[order], minlength=len(parent))
        dimensions = [level.integer_lists(3) for level in levels]
        layouts = [level.spans(5) for level in levels]
        begin, end = (np.concatenate([layout[i] for layout in layouts]) for i in (0, 1))
        layout = Messages.read(owners.buffer, begin, end, (1, 6, 7, 8))
        type_number = np.concatenate([level.integers(2) for level in levels])
        layout_bits = layout.integers(7)
        known_type = np.where((type_number >= 0) & (type_number < len(_BITS)), type_number, 0)
        return Shapes(
            type=type_number,
            dimensions=Ragged(
                np.append(0, np.cumsum(np.concatenate([dimension.counts for dimension in dimensions]))),
                np.concatenate([dimension.values for dimension in dimensions]),
            ),
            parent=parent,
            root=np.concatenate(roots),
            children=Ragged(np.append(0, np.cumsum(counts)), order),
            layouts=layout,
            bits=np.where((layout_bits > 0) & (_BITS[known_type] > 0), layout_bits, _BITS[known_type]),
        )

    def __len__(self) -> int:
        return len(self.type)

    @lazy
    def elements(self) -> Array:
        """float64[n]: product of the dimensions, bounds where they are dynamic; 0 for what is no array."""
        products = np.ones(len(self))
        sizes = np.maximum(self.dimensions.values, 0).astype(float)
        has_dimensions = self.dimensions.counts > 0
        if len(sizes):
            with np.errstate(over="ignore", invalid="ignore"):
                array_products = np.multiply.reduceat(sizes, self.dimensions.first[:-1][has_dimensions])
            products[has_dimensions] = np.nan_to_num(array_products, nan=_MOST_COUNTED, posinf=_MOST_COUNTED).clip(
                max=_MOST_COUNTED
            )
        return np.where(self.bits > 0, products, 0.0)

    @lazy
    def bytes(self) -> Array:
        """float64[n]: of an array its elements without padding, of a tuple its index table."""
        arrays = np.ceil(self.elements * self.bits / 8)
        return np.where(self.type == TUPLE, _POINTER_BYTES * self.children.counts, arrays)

    @lazy
    def leaf_bytes(self) -> Array:
        """float64[instructions]: of the arrays in a shape, however deep."""
        arrays = np.where(self.type == TUPLE, 0.0, self.bytes)
        return np.bincount(self.root, arrays, np.count_nonzero(self.parent < 0))

    @lazy
    def leaf_elements(self) -> Array:
        """float64[instructions]: of the arrays in a shape, however deep."""
        return np.bincount(self.root, self.elements, np.count_nonzero(self.parent < 0))

    @lazy
    def memory_space(self) -> Array:
        """int64[n]: as the layout says; 0 is the device's main memory."""
        return self.layouts.integers(8)

    @lazy
    def minor_to_major(self) -> Ragged:
        """The dimensions of each shape, the one that changes fastest first."""
        return self.layouts.integer_lists(1)

    @lazy
    def _element_bits(self) -> Array:
        """int64[n]: as the layout states them; 0 where it does not."""
        return self.layouts.integers(7)

    @lazy
    def _tiles(self) -> tuple[Array, Ragged]:
        owner, tiles = self.layouts.repeated_messages(6, (1,))
        return owner, tiles.integer_lists(1)

    def dtype(self, shape: int) -> str:
        """Name of the element's type, e.g. ``bf16``."""
        return dtype(int(self.type[shape]))

    def at(self, shape: int, path: list[int]) -> int:
        """The shape inside a shape; -1 where there is none."""
        for index in path:
            elements = self.children[shape]
            if not 0 <= index < len(elements):
                return -1
            shape = elements[index]
        return shape

    @lazy
    def _texts(self) -> dict[int, str]:
        return {}

    def text(self, shape: int) -> str:
        """As XLA writes it, e.g. ``f32[8,128]{1,0:T(8,128)S(5)}``; long ones are cut."""
        if shape not in self._texts:
            self._texts[shape] = self._format(shape)
        return self._texts[shape]

    def _format(self, shape: int) -> str:
        """`text`, worked out anew."""
        if self.type[shape] == TUPLE:
            elements = self.children[shape]
            omitted = [f"… {len(elements) - _MOST_ELEMENTS} more"] if len(elements) > _MOST_ELEMENTS else []
            text = f"({', '.join([*map(self.text, elements[:_MOST_ELEMENTS]), *omitted])})"
            return text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]}…)"
        dimensions = ",".join(map(str, self.dimensions[shape][:_MOST_ELEMENTS]))
        return f"{self.dtype(shape)}[{dimensions}]{self._layout(shape)}"

    def _layout(self, shape: int) -> str:
        order = ",".join(map(str, self.minor_to_major[shape][:_MOST_ELEMENTS]))
        owner, tiles = self._tiles
        low, high = np.searchsorted(owner, [shape, shape + 1]).tolist()
        tile_text = "".join(
            f"({','.join(map(str, tiles[tile][:_MOST_ELEMENTS]))})"
            for tile in range(low, min(high, low + _MOST_ELEMENTS))
        )
        size, space = int(self._element_bits[shape]), int(self.memory_space[shape])
        extra = (
            (f"T{tile_text}" if tile_text else "") + (f"E({size})" if size else "") + (f"S({space})" if space else "")
        )
        if not order and not extra:
            return ""
        return f"{{{order}{':' if extra else ''}{extra}}}"


_SPACES = {
    0: Message("main memory"),
    1: "VMEM",
    2: Message("sync flags"),
    3: "CMEM",
    4: "SMEM",
    5: Message("host memory"),
    6: "SparseCore",
}
"""Memories of a TPU, as its compiler numbers them."""


def space_name(space: int) -> str:
    """Name of a memory space by its number."""
    return _SPACES.get(space) or Message("memory {number}", number=str(space))


def dtype(number: int) -> str:
    """Name of a type by its number; ``invalid`` for one that is not known."""
    return _TYPES[number] if 0 <= number < len(_TYPES) else "invalid"
