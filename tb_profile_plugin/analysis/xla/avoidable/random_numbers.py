"""Instructions of XLA's programs that make random numbers."""

from __future__ import annotations

import numpy as np

from ....formats.xspace.hlo.module import ELEMENTWISE, Module
from ....runtime.regex import regex

_RANDOM = regex(
    r".*(?:jit\(_(?:uniform|randint|normal|normal_real|truncated_normal|bernoulli|gumbel|exponential|laplace|logistic"
    r"|gamma|beta|dirichlet|poisson|rademacher|categorical)\)|threefry|philox|random_bits|random_gamma|iota_2x32"
    r"|rng_bit_generator|rng_uniform)"
)
"""Scopes of what jax.random draws numbers with: its own functions, and primitives."""
_GENERATORS = frozenset(("rng", "rng-bit-generator"))


def random_draws(module: Module) -> frozenset[str]:
    """Names of the instructions that make random numbers: of fusions, those where this is most of what they compute."""
    random_scopes = {scope for scope in dict.fromkeys(module.op_names) if _RANDOM.match(scope)}
    if not random_scopes and _GENERATORS.isdisjoint(module.opcodes):
        return frozenset()
    opcodes_and_scopes = [*zip(module.opcodes, module.op_names, strict=True)]
    is_random = np.array(
        [opcode in _GENERATORS or scope in random_scopes for opcode, scope in opcodes_and_scopes], bool
    )
    is_elementwise = np.array([opcode in ELEMENTWISE for opcode, _ in opcodes_and_scopes], bool)
    elements = np.where(is_elementwise, module.shapes.elements[: len(module)], 0.0)
    computation_count = len(module.computation_names)
    all_elements = np.bincount(module.computation, elements, computation_count)
    random_elements = np.bincount(module.computation, elements * is_random, computation_count)
    rows = set(np.flatnonzero(is_random).tolist())
    for row, (opcode, _) in enumerate(opcodes_and_scopes):
        callees = [callee for callee in module.callees[row] if callee >= 0] if opcode in ("fusion", "while") else []
        if opcode == "while" and row in rows:
            rows.update(inner for callee in callees for inner in module.rows_in(callee))
        elif opcode == "fusion" and all_elements[callees].any():
            (rows.add if 2 * random_elements[callees].sum() > all_elements[callees].sum() else rows.discard)(row)
    return frozenset(module.names[row] for row in rows)
