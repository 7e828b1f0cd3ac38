"""Work of XLA's programs that their caller can avoid: arithmetic in float64, outputs in memory of their own, a forward
pass that another program does, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence

import numpy as np

from ....formats.xspace.hlo.module import ELEMENTWISE, Module
from ....runtime.arrays import Array
from ....runtime.records import NamedTuple
from ....runtime.regex import regex
from .jax_scopes import GRADIENT, PRODUCTS, TURN
from .repeated_work import split_arguments

_FLOATS, _FLOAT64 = (10, 11, 12, 16), 12
"""Numbers of element types: float16, float32, float64, bfloat16; and of float64."""
_LARGE = 32 << 20
"""Bytes (32 MiB) from which on glibc asks the system for memory each time, which fills it with zeros, page by page: the
most that its M_MMAP_THRESHOLD grows to."""
_HEAVY = frozenset(("dot", "convolution", "custom-call", "while", "conditional", "sort", "fft"))
"""Opcodes beside which memory of outputs hardly counts."""
_RUN_COMPUTATIONS = frozenset(("while", "conditional", "call"))
"""Opcodes of what runs the instructions of other computations one by one."""
_OF_LINEAR_ALGEBRA = regex(r"/(?:triangular_solve|cholesky|lu|qr|eigh|svd)$|\bjit\(_?lu(?:_\w+)?\)/while$")
"""Ends of the paths of loops that XLA, or JAX, makes of one op of linear algebra."""
_TRIP_COUNT = '"known_trip_count"'
"""What XLA notes of a loop of which it knows how many turns it takes."""
_HESSIAN = regex(r"vmap\((?:jvp\((?:vmap\()?(?:jvp|transpose)|transpose\(jvp\(vmap\(transpose)\(")
"""Scopes of ops that ``jax.hessian``, and a Jacobian of a gradient, make: its derivative for all directions at once."""
_FORWARD = regex(r"vmap\(jvp\((?!(?:vmap\()?(?:jvp|transpose)\()")
"""Scopes of ops that ``jax.jacfwd`` makes: a derivative for all directions at once."""
_RUN_AGAIN = "rematted_computation"
"""Part of the paths of what ``jax.checkpoint`` runs again."""
_UPDATES = frozenset(("dynamic-update-slice", "scatter"))
"""Opcodes of what changes a part of an array, in its place where that is free."""
_BACKWARD = "vmap(transpose(jvp("
"""Scope of ops that ``jax.jacrev`` makes, and ``jax.vmap`` of a gradient."""
_DETERMINANT = regex(r"\bjit\((?:slog)?det\)")
"""Scope of ops of ``jax.numpy.linalg``."""
_MANY_DIRECTIONS = 16
"""So many directions are worth going backwards once, which takes as long as a few of them."""
_REDUCTIONS = ("all-reduce", "reduce-scatter")
_ALL_REDUCE, _DOT_GENERAL = regex(r"all-reduce(?:-start)?$"), "dot_general"
"""Opcodes of what gives each device the sum; end of the paths of JAX's products."""
_SUMS = ("/add", "/add_any")
"""Ends of the scopes of additions."""
_MOST_HOPS = 4
"""From a reduction over its end, and what picks its parts and their shards, to who adds these up."""
_LEAST_HESSIAN, _HESSIAN_FRACTION = 10, 5
"""So many instructions, and one in so many, are a notable part."""
_LEAST_COUNTS = 3
"""So many counts of parameters, all different, are no two kinds of calls."""
_FUSIBLE = (ELEMENTWISE - {"bitcast-convert", "copy"}) | {"reduce"}


def computes_in_float64(modules: Iterable[Module]) -> bool:
    """Whether most bytes of floating-point arrays in these programs are of float64."""
    float_bytes, float64_bytes = 0.0, 0.0
    for module in modules:
        kinds, sizes = module.shapes.type, module.shapes.bytes
        float_bytes += float(sizes[np.isin(kinds, _FLOATS)].sum())
        float64_bytes += float(sizes[kinds == _FLOAT64].sum())
    return 2 * float64_bytes > float_bytes > 0


def computes_gradients(module: Module) -> bool:
    """Whether a program of JAX computes a gradient."""
    return any(GRADIENT in op_name for op_name in module.op_names)


def light_programs(modules: Iterable[Module]) -> frozenset[str]:
    """Names of programs that work element by element, without heavy ops: XLA could fuse them with others."""
    light, heavy = set[str](), set[str]()
    for module in modules:
        opcodes = set(module.opcodes)
        if not opcodes.isdisjoint(_HEAVY):
            heavy.add(module.name)
        elif not opcodes.isdisjoint(_FUSIBLE):
            light.add(module.name)
    return frozenset(light - heavy)


class Repetition(NamedTuple):
    """Whether most of what is compiled is so again."""

    same_shapes: bool
    """In programs of one name, with the same instructions on arrays of one size."""
    same_values: bool
    """In such with the same constants, too."""


def repetition(modules: Sequence[Module]) -> Repetition:
    """How far programs are compiled again."""
    sizes = [len(module.opcodes) for module in modules]
    shapes = [
        (module.name, *module.opcodes, module.shapes.type.tobytes(), module.shapes.bytes.tobytes())
        for module in modules
    ]

    def are_mostly_repeated(keys: Iterable[Hashable]) -> bool:
        return 2 * sum(dict(zip(keys, sizes, strict=True)).values()) < sum(sizes)

    if not are_mostly_repeated(shapes):
        return Repetition(False, False)
    values = (module.literals.encoded for module in modules)
    return Repetition(True, are_mostly_repeated(zip(shapes, values, strict=True)))


def parameter_counts_vary(modules: Iterable[Module]) -> bool:
    """Whether several programs of one name differ by how many arrays they take, each from all others."""
    counts: dict[str, list[int]] = {}
    for module in modules:
        if module.entry >= 0:
            opcodes = [module.opcodes[row] for row in module.rows_in(module.entry)]
            counts.setdefault(module.name, []).append(opcodes.count("parameter"))
    return any(len(set(counts_of_name)) == len(counts_of_name) >= _LEAST_COUNTS for counts_of_name in counts.values())


class NamesInLoops(NamedTuple):
    """Names of the instructions that programs run in each turn of a loop."""

    in_counted_loops: frozenset[str]
    """Of those in no loop but such of which XLA knows how many turns they take."""
    in_conditional_loops: frozenset[str]
    """Of those in a loop that runs until a condition holds, and in loops within it."""


def names_in_loops(modules: Iterable[Module]) -> NamesInLoops:
    """Names of the instructions in loops, but for those of linear algebra."""
    counted, until_condition = set[str](), set[str]()
    for module in modules:
        paths = enumerate(zip(module.opcodes, module.op_names, strict=True))
        loops = [row for row, (opcode, path) in paths if opcode == "while" and not _OF_LINEAR_ALGEBRA.search(path)]
        uncounted = [row for row in loops if _TRIP_COUNT not in module.configs[row]]
        counted.update(module.names[row] for row in _rows_called(module, loops))
        until_condition.update(module.names[row] for row in _rows_called(module, uncounted))
    return NamesInLoops(frozenset(counted - until_condition), frozenset(until_condition))


def _rows_called(module: Module, rows: Iterable[int]) -> set[int]:
    """The instructions of computations that instructions call, and of those that these call, but not of fusions."""
    reached, pending = set[int](), [*rows]
    while pending:
        row = pending.pop()
        if module.opcodes[row] in _RUN_COMPUTATIONS:
            called = {inner for callee in module.callees[row] for inner in module.rows_in(int(callee))} - reached
            reached |= called
            pending.extend(called)
    return reached


def gradient_sums_in_loops(modules: Iterable[Module]) -> frozenset[str]:
    """Names of the instructions that reduce gradients over devices in each turn of a loop that then adds them up: of
    which the sum could be reduced once.
    """
    names = set[str]()
    for module in modules:
        for row, opcode in enumerate(module.opcodes):
            if opcode.startswith(_REDUCTIONS) and _reduces_gradients(module, row) and _is_added_up(module, row):
                names.add(module.names[row])
    return frozenset(names)


def _reduces_gradients(module: Module, row: int) -> bool:
    """Whether a reduction is one of gradients, which XLA adds to them, or takes some, as where the program calls it."""
    takes = (module.op_names[operand] for operand in module.operands[row] if operand >= 0)
    return any(map(_is_gradient_of_turn, (module.op_names[row], *takes)))


def _is_added_up(module: Module, row: int) -> bool:
    """Whether an addition of the loop's own, beyond the gradient, takes what an instruction returns."""
    reached = {row}
    for _ in range(_MOST_HOPS):
        reached = {int(user) for instruction in reached for user in module.users[instruction]}
        scopes = [module.op_names[user] for user in reached]
        if any(TURN in scope and scope.endswith(_SUMS) and GRADIENT not in scope for scope in scopes):
            return True
    return False


def _is_gradient_of_turn(scope: str) -> bool:
    """Whether each turn of a loop computes the gradient anew that a scope is of, rather than the loop being a part."""
    outer_scope, turn, inner_scope = scope.partition(TURN)
    return bool(turn) and GRADIENT not in outer_scope and GRADIENT in inner_scope


def build_hessians(modules: Iterable[Module]) -> bool:
    """Whether a notable part of a large program's instructions are of gradients of gradients in each direction."""
    for module in modules:
        hessian_count = sum(_HESSIAN.search(name) is not None for name in module.op_names)
        if hessian_count >= _LEAST_HESSIAN and _HESSIAN_FRACTION * hessian_count >= len(module):
            return True
    return False


def forward_gradient(module: Module) -> frozenset[str]:
    """Names of the instructions of a program that compute a gradient in forward mode: the derivative of one number by
    each of many inputs. None where functions return more than a number.
    """
    rows = [row for row, path in enumerate(module.op_names) if _FORWARD.search(path)]
    if not rows:
        return frozenset()
    lengths = {(count,) for count in _direction_counts(module)}
    own, dimensions = set(rows), module.shapes.dimensions
    gradients = [row for row in rows if tuple(dimensions[row]) in lengths]
    if not any(int(user) not in own for row in gradients for user in module.users[row]):
        return frozenset()
    return frozenset(module.names[row] for row in rows)


def reverse_jacobian(module: Module) -> frozenset[str]:
    """Names of the instructions of a program that compute a Jacobian in reverse mode, for each of many outputs."""
    names = frozenset(name for name, path in zip(module.names, module.op_names, strict=True) if _BACKWARD in path)
    return names if names and _direction_counts(module) else frozenset()


def takes_determinant(module: Module) -> bool:
    """Whether a program computes determinants, or their logarithms, by ``jax.numpy.linalg``."""
    return any(map(_DETERMINANT.search, module.op_names))


def _direction_counts(module: Module) -> set[int]:
    """Of how many inputs, or outputs, derivatives are computed at once: by unit matrices, with which JAX begins."""
    dimensions = module.shapes.dimensions
    iotas = [dimensions[row] for row, opcode in enumerate(module.opcodes) if opcode == "iota"]
    return {shape[0] for shape in iotas if len(shape) == 2 and shape[0] == shape[1] >= _MANY_DIRECTIONS}


def copies_its_state(module: Module) -> bool:
    """Whether most bytes of a program's outputs have the shapes of its parameters though it donates none; only of
    programs without heavy ops, and of outputs of 32 MiB and more together.
    """
    if module.donates_parameters or not len(module) or _HEAVY.intersection(module.opcodes) or module.entry < 0:
        return False
    root = int(module.roots[module.entry])
    if root < 0 or module.shapes.leaf_bytes[root] < _LARGE:
        return False
    parameters = [row for row in module.rows_in(module.entry) if module.opcodes[row] == "parameter"]
    parameter_arrays = {array for row in parameters for array in _arrays(module, row)}
    replaced_bytes = sum(array.bytes for array in _arrays(module, root) if array in parameter_arrays)
    return 2 * replaced_bytes >= float(module.shapes.leaf_bytes[root])


def rematerialized(module: Module) -> frozenset[str]:
    """Names of the instructions that ``jax.checkpoint`` runs again for gradients."""
    if not any(_RUN_AGAIN in path for path in module.op_names):
        return frozenset()
    return frozenset(
        name for row, name in enumerate(module.names) if _RUN_AGAIN in module.op_names[module.origin_row(row)]
    )


def copies_of_updated(module: Module) -> frozenset[str]:
    """Names of the instructions that copy an argument of a program, so that a part of the copy can be updated."""
    if module.entry < 0:
        return frozenset()
    copies = [
        row for row in module.rows_in(module.entry) if module.opcodes[row] == "copy" and module.only_argument(row) >= 0
    ]
    return frozenset(
        module.names[row] for row in copies if any(_updates_part(module, user) for user in module.users[row])
    )


def _updates_part(module: Module, row: int) -> bool:
    return not _UPDATES.isdisjoint(module.opcodes[fused] for fused in module.fused_rows(row))


class SplitWeights(NamedTuple):
    """Weights that are split over devices, of which each gets the whole batch."""

    bytes: float
    """Of what one device would have without the split."""
    sums: dict[str, float]
    """By name of instruction the bytes that it sums up over devices, of what products give or of their gradients."""


def split_weights(module: Module) -> SplitWeights:
    """Those of a program that returns all that it is given in parts; else none. It sums up products of forward and
    backward passes over devices.
    """
    devices = module.device_assignment.size
    paths = [*zip(module.opcodes, module.op_names, strict=True)] if devices > 1 and module.entry >= 0 else []
    sums = [
        row for row, (opcode, path) in enumerate(paths) if _ALL_REDUCE.match(opcode) and path.endswith(_DOT_GENERAL)
    ]
    if len({GRADIENT in module.op_names[row] for row in sums}) < 2:
        return SplitWeights(0, {})
    replaced = set(_arrays(module, int(module.roots[module.entry])))
    split = split_arguments(module)
    if not all(replaced.issuperset(_arrays(module, row)) for row in split):
        return SplitWeights(0, {})
    sizes = module.shapes.leaf_bytes
    return SplitWeights(devices * float(sizes[split].sum()), {module.names[row]: float(sizes[row]) for row in sums})


class _ArrayShape(NamedTuple):
    """An array in the shape of an instruction."""

    bytes: float
    type: int
    dimensions: tuple[int, ...]


def _arrays(module: Module, row: int) -> list[_ArrayShape]:
    """The arrays in an instruction's shape, but for those without elements."""
    shapes = module.shapes
    indices: Array = np.flatnonzero((shapes.root == row) & (shapes.elements > 0))
    return [
        _ArrayShape(float(shapes.bytes[shape]), int(shapes.type[shape]), tuple(shapes.dimensions[shape]))
        for shape in indices.tolist()
    ]


def repeated_forward_passes(modules: Sequence[Module]) -> list[tuple[Module, Module]]:
    """Programs without gradients whose products are all among those of which another one, the second of the pair, has
    gradients: from the same lines and scopes, and of the same shapes.
    """
    has_gradients = [any(GRADIENT in name for name in module.op_names) for module in modules]
    if all(has_gradients) or not any(has_gradients):
        return []
    products = [Counter(_forward_products(module)) for module in modules]
    programs = [*zip(modules, has_gradients, products, strict=True)]
    return [
        (module, other)
        for module, differentiates, own_products in programs
        for other, is_differentiated, other_products in programs
        if own_products and not differentiates and is_differentiated and own_products <= other_products
    ]


def _forward_products(module: Module) -> list[tuple[str, ...]]:
    """Opcode, last part of the path, source line and sizes of each product that is no part of a gradient."""
    return [
        (
            module.opcodes[row],
            module.op_names[row].rpartition("/")[2],
            module.sources.location_text(row),
            *sorted(map(str, module.shapes.dimensions[row])),
        )
        for row in range(len(module))
        if module.opcodes[row] in PRODUCTS
        and module.sources.location_text(row)
        and GRADIENT not in module.op_names[row]
    ]
