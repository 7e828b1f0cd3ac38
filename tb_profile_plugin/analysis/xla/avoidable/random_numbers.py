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
    kinds = [*zip(module.opcodes, module.op_names, strict=True)]
    is_random = np.array([opcode in _GENERATORS or scope in random_scopes for opcode, scope in kinds], bool)
    is_elementwise = np.array([opcode in ELEMENTWISE for opcode, _ in kinds], bool)
    elements = np.where(is_elementwise, module.shapes.elements[: len(module)], 0.0)
    size = len(module.computation_names)
    computed = np.bincount(module.computation, elements, size)
    drawn = np.bincount(module.computation, elements * is_random, size)
    rows = set(np.flatnonzero(is_random).tolist())
    for row, (opcode, _) in enumerate(kinds):
        inside = [number for number in module.called[row] if number >= 0] if opcode in ("fusion", "while") else []
        if opcode == "while" and row in rows:
            rows.update(turn for number in inside for turn in module.rows_in(number))
        elif opcode == "fusion" and computed[inside].any():
            (rows.add if 2 * drawn[inside].sum() > computed[inside].sum() else rows.discard)(row)
    return frozenset(module.names[row] for row in rows)
