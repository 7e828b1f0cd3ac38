"""Programs of many kinds for JAX on the CPU; prints for each its compiled HLO and what JAX says that it costs, in JSON.

``python xla_costs.py`` writes {name: {"hlo": base64 of an HloModuleProto, "cost": cost_analysis(), "buffers": base64 of
a BufferAssignmentProto, "memory": memory_analysis(), "shardings": text by instruction}}.
"""

import base64
import json
import os
import re
import sys
from collections.abc import Callable
from typing import Any

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"

import jax
import jax.numpy as jnp
from jax import lax
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

F32, BF16 = jnp.float32, jnp.bfloat16


def x(*shape: int, dtype: Any = F32) -> Any:
    """An argument of that shape."""
    return jax.ShapeDtypeStruct(shape, dtype)


def conv(strides: Any = (1, 1), padding: Any = "SAME", **more: Any) -> Callable[..., Any]:
    """A convolution over images."""
    dims = more.pop("dims", ("NHWC", "HWIO", "NHWC"))
    return lambda a, k: lax.conv_general_dilated(a, k, strides, padding, dimension_numbers=dims, **more)


def scan(turns: int) -> Callable[..., Any]:
    """A loop of products."""
    return lambda a: lax.scan(lambda c, _: (jnp.tanh(c @ a), None), a, None, length=turns)[0]


def nested(a: Any) -> Any:
    """A loop in a loop."""
    return lax.fori_loop(0, 4, lambda i, c: lax.fori_loop(0, 3, lambda j, d: d @ a, c), a)


def attention(q: Any, k: Any, v: Any) -> Any:
    """Softmax attention."""
    weights = jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k) / 8)
    return jnp.einsum("bhqk,bkhd->bqhd", weights, v)


def layernorm(a: Any, g: Any, b: Any) -> Any:
    """Over the last dimension."""
    mean, var = a.mean(-1, keepdims=True), a.var(-1, keepdims=True)
    return (a - mean) * lax.rsqrt(var + 1e-5) * g + b


def train(w1: Any, w2: Any, a: Any, y: Any) -> Any:
    """A step of gradient descent."""
    loss = lambda w1, w2: ((jax.nn.relu(a @ w1) @ w2 - y) ** 2).mean()  # noqa: E731
    g1, g2 = jax.grad(loss, (0, 1))(w1, w2)
    return w1 - 0.1 * g1, w2 - 0.1 * g2


def pooled(a: Any) -> Any:
    """The largest of each 2×2."""
    return lax.reduce_window(a, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


IMAGE, KERNEL = x(1, 32, 32, 16), x(3, 3, 16, 32)
PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "matmul": (lambda a, b: a @ b, (x(256, 512), x(512, 128))),
    "matmul_bf16": (lambda a, b: a @ b, (x(256, 512, dtype=BF16), x(512, 128, dtype=BF16))),
    "matmul_f64_int": (lambda a, b: a @ b, (x(64, 64, dtype=jnp.int32), x(64, 64, dtype=jnp.int32))),
    "matmul_int8": (
        lambda a, b: lax.dot(a, b, preferred_element_type=jnp.int32),
        (x(256, 512, dtype=jnp.int8), x(512, 128, dtype=jnp.int8)),
    ),
    "matmul_fp8": (
        lambda a, b: lax.dot(a, b, preferred_element_type=F32),
        (x(64, 64, dtype=jnp.float8_e4m3fn), x(64, 64, dtype=jnp.float8_e4m3fn)),
    ),
    "matmul_complex": (lambda a, b: a @ b, (x(32, 64, dtype=jnp.complex64), x(64, 32, dtype=jnp.complex64))),
    "matvec": (lambda a, b: a @ b, (x(256, 512), x(512))),
    "outer": (jnp.outer, (x(100), x(200))),
    "batched": (lambda a, b: jnp.einsum("bij,bjk->bik", a, b), (x(8, 32, 64), x(8, 64, 16))),
    "two_sums": (lambda a, b: jnp.einsum("ijk,jkl->il", a, b), (x(10, 5, 5), x(5, 5, 30))),
    "matmul_tanh": (lambda a, b: jnp.tanh(a @ b), (x(128, 64), x(64, 64))),
    "add": (lambda a, b: a + b, (x(1000), x(1000))),
    "mixed_dtypes": (lambda a, b: a + b, (x(1000, dtype=BF16), x(1000))),
    "integers": (lambda a, b: (a * b) ^ (a >> 2), (x(1000, dtype=jnp.int32), x(1000, dtype=jnp.int32))),
    "tanh": (jnp.tanh, (x(1000),)),
    "many_functions": (lambda a: jnp.exp(a) + jnp.log(a) * jnp.sin(a) / jnp.sqrt(a), (x(1000),)),
    "erf_power": (lambda a, b: lax.erf(a) + a**b, (x(1000), x(1000))),
    "logistic": (jax.nn.sigmoid, (x(1000),)),
    "gelu": (jax.nn.gelu, (x(64, 256),)),
    "cbrt_log1p": (lambda a: jnp.cbrt(a) + jnp.log1p(a) + jnp.expm1(a), (x(1000),)),
    "select": (lambda a: jnp.where(a > 0, a, 0.1 * a), (x(1000),)),
    "clamp": (lambda a: jnp.clip(a, 0, 1), (x(1000),)),
    "sum": (jnp.sum, (x(1000),)),
    "sum_rows": (lambda a: a.sum(1), (x(100, 64),)),
    "sum_columns": (lambda a: a.sum(0), (x(100, 64),)),
    "max": (jnp.max, (x(1000),)),
    "argmax": (lambda a: jnp.argmax(a, 1), (x(100, 64),)),
    "mean_var": (lambda a: (a.mean(0), a.var(0)), (x(100, 64),)),
    "logsumexp": (lambda a: jax.nn.logsumexp(a, -1), (x(64, 128),)),
    "cumsum": (lambda a: jnp.cumsum(a, 1), (x(16, 128),)),
    "cummax": (lambda a: lax.cummax(a, 1), (x(16, 128),)),
    "softmax": (jax.nn.softmax, (x(128, 256),)),
    "layernorm": (layernorm, (x(64, 256), x(256), x(256))),
    "attention": (attention, (x(2, 128, 4, 32),) * 3),
    "conv_same": (conv(), (IMAGE, KERNEL)),
    "conv_valid": (conv(padding="VALID"), (IMAGE, KERNEL)),
    "conv_strides": (conv((2, 2)), (IMAGE, KERNEL)),
    "conv_dilated": (conv(rhs_dilation=(2, 2)), (IMAGE, KERNEL)),
    "conv_transposed": (conv(padding=((2, 2), (2, 2)), lhs_dilation=(2, 2)), (IMAGE, KERNEL)),
    "conv_both": (conv((2, 3), ((3, 1), (0, 5)), lhs_dilation=(3, 2), rhs_dilation=(2, 1)), (IMAGE, KERNEL)),
    "conv_groups": (conv(feature_group_count=4), (IMAGE, x(3, 3, 4, 32))),
    "conv_depthwise": (conv(feature_group_count=16), (IMAGE, x(3, 3, 1, 16))),
    "conv_nchw": (conv(dims=("NCHW", "OIHW", "NCHW")), (x(2, 16, 20, 20), x(8, 16, 3, 3))),
    "conv_1d": (
        lambda a, k: lax.conv_general_dilated(a, k, (1,), "SAME", dimension_numbers=("NWC", "WIO", "NWC")),
        (x(4, 100, 8), x(5, 8, 16)),
    ),
    "conv_3d": (
        lambda a, k: lax.conv_general_dilated(a, k, (1,) * 3, "SAME", dimension_numbers=("NDHWC", "DHWIO", "NDHWC")),
        (x(1, 8, 8, 8, 4), x(3, 3, 3, 4, 8)),
    ),
    "conv_grad": (jax.grad(lambda a, k: conv()(a, k).sum(), (0, 1)), (IMAGE, KERNEL)),
    "conv_bf16": (conv(), (x(1, 16, 16, 8, dtype=BF16), x(3, 3, 8, 8, dtype=BF16))),
    "maxpool": (pooled, (IMAGE,)),
    "maxpool_grad": (jax.grad(lambda a: pooled(a).sum()), (IMAGE,)),
    "avgpool": (lambda a: lax.reduce_window(a, 0.0, lax.add, (1, 3, 3, 1), (1, 1, 1, 1), "SAME"), (IMAGE,)),
    "grad": (jax.grad(lambda w, a: jnp.tanh(a @ w).sum()), (x(256, 256), x(128, 256))),
    "train": (train, (x(64, 128), x(128, 8), x(32, 64), x(32, 8))),
    "remat": (jax.grad(lambda a: jax.checkpoint(lambda b: jnp.sin(jnp.sin(b)))(a).sum()), (x(1000),)),
    "scan_10": (scan(10), (x(64, 64),)),
    "scan_1000": (scan(1000), (x(16, 16),)),
    "scan_outputs": (lambda a: lax.scan(lambda c, r: (c + r, c * r), jnp.zeros(64), a), (x(20, 64),)),
    "nested_loops": (nested, (x(32, 32),)),
    "while": (lambda a: lax.while_loop(lambda c: c.sum() < 1e6, lambda c: c * 2, a), (x(100),)),
    "cond": (lambda p, a: lax.cond(p, lambda b: b @ b, lambda b: b, a), (x(dtype=jnp.bool_), x(64, 64))),
    "switch": (
        lambda i, a: lax.switch(i, [jnp.sin, lambda b: b @ b, lambda b: b + 1], a),
        (x(dtype=jnp.int32), x(64, 64)),
    ),
    "gather": (lambda a, i: a[i], (x(1000, 64), x(10, dtype=jnp.int32))),
    "gather_columns": (lambda a, i: a[:, i], (x(100, 640), x(10, dtype=jnp.int32))),
    "take_along": (lambda a, i: jnp.take_along_axis(a, i, 1), (x(100, 64), x(100, 1, dtype=jnp.int32))),
    "scatter_add": (lambda a, i, u: a.at[i].add(u), (x(1000, 64), x(10, dtype=jnp.int32), x(10, 64))),
    "scatter_set": (lambda a, i, u: a.at[i].set(u), (x(1000, 64), x(10, dtype=jnp.int32), x(10, 64))),
    "segment_sum": (lambda a, i: jax.ops.segment_sum(a, i, 10), (x(1000), x(1000, dtype=jnp.int32))),
    "slice": (lambda a: a[10:20], (x(1000, 64),)),
    "slice_strided": (lambda a: a[::2, ::3] + 1, (x(100, 64),)),
    "dynamic_slice": (lambda a, i: lax.dynamic_slice(a, (i, 0), (10, 64)), (x(1000, 64), x(dtype=jnp.int32))),
    "dynamic_slice_add": (lambda a, i: lax.dynamic_slice(a, (i, 0), (10, 64)) * 2, (x(1000, 64), x(dtype=jnp.int32))),
    "dynamic_update": (
        lambda a, u, i: lax.dynamic_update_slice(a, u, (i, 0)),
        (x(1000, 64), x(10, 64), x(dtype=jnp.int32)),
    ),
    "concatenate": (lambda a, b: jnp.concatenate((a, b * 2)), (x(100, 64), x(50, 64))),
    "pad": (lambda a: jnp.pad(a, 3), (x(100, 64),)),
    "reverse": (
        lambda a: a[::-1],
        (
            x(
                1000,
            ),
        ),
    ),
    "transpose": (lambda a: a.T, (x(100, 64),)),
    "reshape": (lambda a: a.reshape(64, 100), (x(100, 64),)),
    "broadcast": (lambda a: jnp.broadcast_to(a, (100, 64)) * 1.5, (x(64),)),
    "iota": (lambda a: a + jnp.arange(1000), (x(1000),)),
    "constant": (lambda a: a + jnp.array([1.0, 2.0, 4.0, 8.0]), (x(4),)),
    "sort": (jnp.sort, (x(1000),)),
    "argsort": (jnp.argsort, (x(64, 100),)),
    "top_k": (lambda a: lax.top_k(a, 5), (x(16, 100),)),
    "fft": (jnp.fft.fft, (x(1024, dtype=jnp.complex64),)),
    "rfft2": (jnp.fft.rfft2, (x(32, 64),)),
    "cholesky": (jnp.linalg.cholesky, (x(64, 64),)),
    "solve": (lambda a, b: jax.scipy.linalg.solve_triangular(a, b, lower=True), (x(64, 64), x(64, 8))),
    "qr": (jnp.linalg.qr, (x(32, 16),)),
    "random_normal": (lambda k: jax.random.normal(k, (1000,)), (x(2, dtype=jnp.uint32),)),
    "random_bits": (lambda k: jax.random.uniform(k, (64, 64)), (x(2, dtype=jnp.uint32),)),
    "dropout": (
        lambda k, a: jnp.where(jax.random.bernoulli(k, 0.5, a.shape), a, 0),
        (x(2, dtype=jnp.uint32), x(64, 64)),
    ),
    "one_hot": (lambda i: jax.nn.one_hot(i, 100), (x(64, dtype=jnp.int32),)),
    "embedding_loss": (
        lambda e, i: -jax.nn.log_softmax(e[i] @ e.T)[:, 0].mean(),
        (x(100, 32), x(16, dtype=jnp.int32)),
    ),
    "vmap": (jax.vmap(lambda a, b: a @ b), (x(8, 32, 32), x(8, 32))),
    "polynomial": (lambda a: jnp.polyval(jnp.ones(6), a), (x(1000),)),
    "bits": (lambda a: lax.population_count(a) + lax.clz(a), (x(1000, dtype=jnp.uint32),)),
    "complex": (lambda a: jnp.abs(jnp.conj(a) * a), (x(1000, dtype=jnp.complex64),)),
    "nothing": (lambda a: a, (x(10),)),
}


def sharded() -> dict[str, Any]:
    """Programs over eight devices, with collectives."""
    mesh = Mesh(jax.devices(), ("d",))
    rows, columns, whole = (NamedSharding(mesh, spec) for spec in (P("d", None), P(None, "d"), P()))

    def over(function: Any, given: tuple[Any, ...], out: Any, *args: Any) -> Any:
        return jax.jit(function, in_shardings=given, out_shardings=out).lower(*args)

    def each(function: Any, given: Any, out: Any) -> Any:
        return jax.shard_map(function, mesh=mesh, in_specs=given, out_specs=out)

    def ring(a: Any) -> Any:
        return lax.ppermute(a, "d", [(i, (i + 1) % 8) for i in range(8)])

    return {
        "all_reduce": over(lambda a, b: a @ b, (columns, rows), whole, x(64, 128), x(128, 64)),
        "all_gather": over(lambda a: a + 1, (rows,), whole, x(64, 128)),
        "reduce_scatter": jax.jit(
            each(lambda a: lax.psum_scatter(a, "d", tiled=True), P(None, "d"), P("d", None))
        ).lower(x(64, 128)),
        "all_to_all": jax.jit(each(lambda a: lax.all_to_all(a, "d", 1, 0), P("d", None), P("d", None))).lower(x(8, 8)),
        "permute": jax.jit(each(ring, P("d"), P("d"))).lower(x(64)),
        "psum_of_two": jax.jit(each(lambda a: lax.psum((a, a.sum()), "d"), P("d"), (P(), P()))).lower(x(64)),
        "data_parallel": over(train, (whole, whole, rows, rows), (whole, whole), *PROGRAMS["train"][1]),
    }


def shardings(text: str) -> dict[str, str]:
    """What XLA writes of how values are split, by instruction."""
    lines = [line.strip().removeprefix("ROOT ").partition(" = ") for line in text.splitlines() if "sharding={" in line]
    after = {name.removeprefix("%"): rest.partition(", sharding=")[2] for name, _, rest in lines}
    return {name: re.split(", [a-z_]+=", rest)[0] for name, rest in after.items() if rest}


def main() -> None:
    """See the module."""
    answers: dict[str, Any] = {}
    lowered = {name: jax.jit(function).lower(*args) for name, (function, args) in PROGRAMS.items()}
    for name, each in (lowered | sharded()).items():
        compiled = each.compile()
        module = compiled.runtime_executable().hlo_modules()[0]
        memory = compiled.memory_analysis()
        answers[name] = {
            "hlo": base64.b64encode(module.as_serialized_hlo_module_proto()).decode(),
            "cost": compiled.cost_analysis(),
            "buffers": base64.b64encode(memory.serialized_buffer_assignment_proto).decode(),
            "shardings": shardings(compiled.as_text()),
            "memory": {key: getattr(memory, f"{key}_size_in_bytes") for key in ("argument", "output", "temp", "alias")},
        }
    json.dump(answers, sys.stdout)


if __name__ == "__main__":
    main()
