"""Parts of the scopes that JAX gives instructions; and what multiplies."""

from __future__ import annotations

GRADIENT, DIFFERENTIATED = "transpose(", "jvp("
"""What JAX writes around the scopes of gradients, and around those that it differentiates."""
TURN = "while/body/"
"""Scope of a loop's body."""
PRODUCTS = frozenset(("dot", "convolution", "custom-call"))
"""Opcodes of what multiplies matrices, or calls a library."""
