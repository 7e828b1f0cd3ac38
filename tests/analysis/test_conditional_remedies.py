"""Remedies that are given only where a capture shows their condition."""

import pytest
import torchtrace

from tb_profile_plugin.analysis.diagnosis.diagnose import diagnose
from tb_profile_plugin.analysis.diagnosis.remedies.remedy import remedy


@pytest.mark.parametrize(
    ("fact", "cause", "framework", "said"),
    [
        ("float64", "compute", "jax", "float32"),
        ("float64", "compute", "pytorch", "float32"),
        ("float64", "compute", "tensorflow", "float32"),
        ("infers", "dispatch", "jax", "more items"),
        ("on_cpu", "slower_steps", "jax", "other programs on the machine"),
        ("not_donated", "compute", "jax", "donate_argnums"),
        ("many_programs", "compute", "jax", "one jax.jit"),
        ("compiles_again", "compile", "jax", "jax.jit once"),
        ("compiles_values", "compile", "jax", "each value is compiled anew"),
        ("growing_arguments", "compile", "jax", "what grows"),
        ("unused_forward", "compute", "pytorch", "no_grad()"),
        ("multiplies_one_hot", "compute", "tensorflow", "tf.gather"),
        ("computes_all_rows", "compute", "pytorch", "rows whose labels count"),
        ("multiplies_one_hot", "compute", "jax", "table[indices]"),
        ("computes_all_experts", "compute", "jax", "ragged_dot"),
        ("converts_weights", "compute", "jax", "when they are loaded"),
        ("depthwise_convolutions", "compute", "jax", "sums of products"),
        ("recomputes_weights", "compute", "pytorch", "parametrize.cached()"),
        ("multiplies_one_hot", "compute", "pytorch", "F.embedding"),
        ("formats_tensors", "eager", "pytorch", "Print tensors every N steps"),
        ("loads_rows", "input", "pytorch", "whole batches"),
        ("repeated_backward", "compute", "tensorflow", "one gradient"),
        ("repeated_backward", "compute", "pytorch", "one gradient"),
        ("small_turns", "between", "jax", "jax.vmap"),
        ("until_condition", "compute", "jax", "looser tolerances"),
        ("uses_random", "compute", "jax", "random numbers"),
        ("independent_products", "compute", "jax", "all turns at once"),
        ("replicates", "compute", "jax", "Split the batch"),
        ("repeats_work", "compute", "jax", "each computes in full"),
        ("gathers_turns", "compute", "jax", "lax.scan goes over"),
        ("splits_weights", "compute", "jax", "not the weights"),
        ("reshards", "transfer", "jax", "goes through the host"),
        ("copies_arguments", "arguments", "jax", "on the mesh"),
        ("awaits_arguments", "exposed_collective", "jax", "on the mesh"),
        ("reduces_in_loop", "exposed_collective", "jax", "reduce them once"),
        ("one_program", "launch", "jax", "several steps per call"),
        ("starts_workers", "input", "pytorch", "keep iter(loader)"),
        ("worker_processes", "input", "pytorch", "more DataLoader workers"),
        ("worker_processes", "input", "jax", "more DataLoader workers"),
        ("uses_dataloader", "input", "jax", "whole batches at once"),
        ("queries_rows", "python", "pytorch", "in one query"),
        ("exchanges_messages", "python", "pytorch", "fewer, larger messages"),
        ("compares_thresholds", "compute", "tensorflow", "in validation only"),
        ("copies_tables", "compute", "tensorflow", "in the tf.Variable itself"),
        ("updates_tables", "compute", "tensorflow", "plain SGD"),
        ("amd_unrecorded", "not_recorded", "tensorflow", "device: install rocprofiler"),
        ("nvidia_unrecorded", "executor", "tensorflow", "device: add CUDA"),
        ("looks_for_cupti", "gpu_unused", "tensorflow", "load CUDA's libraries"),
        ("maps_in_loop", "executor", "tensorflow", "tf.vectorized_map"),
        ("makes_tables", "compute", "tensorflow", "lookup tables once"),
        ("reduces_tables", "exposed_collective", "pytorch", "sparse=True"),
        ("copies_weights", "copied_weights", "tensorflow", "get_weights()"),
        ("copies_to_change", "tensor_copies", "pytorch", "in place"),
        ("copies_expanded", "tensor_copies", "pytorch", "enable_gqa"),
        ("shards_layers", "gather", "pytorch", "whole blocks"),
        ("gathers_each_pass", "gather", "pytorch", "reshard_after_forward=False"),
        ("applies_adapters", "eager", "pytorch", "merge_and_unload()"),
        ("fsdp", "few_collectives", "pytorch", "larger batches"),
        ("fsdp", "gather", "pytorch", "FSDP2"),
        ("infers", "dispatch", "tensorflow", "several requests"),
        ("exchanges_objects", "python", "pytorch", "Send tensors"),
        ("takes_single_requests", "eager", "pytorch", "one batch"),
        ("sorts_rows", "compute", "tensorflow", "tf.math.top_k"),
        ("infers_on_cpu", "elementwise", "pytorch", "stays the same for all requests"),
        ("micro_batches", "point_to_point", "pytorch", "more micro-batches"),
        ("infers", "dispatch", "pytorch", "few calls are left"),
        ("checks_numerics", "compute", "tensorflow", "enable_check_numerics"),
        ("changes_layout", "tensor_copies", "pytorch", "one order in memory"),
        ("accumulates", "exposed_collective", "pytorch", "no_sync()"),
        ("own_reductions", "exposed_collective", "pytorch", "calls of your own"),
        ("broadcasts_batches", "late_input", "pytorch", "its own part of the data"),
        ("recomputes", "compute", "jax", "nn.remat"),
        ("runs_hooks", "eager", "pytorch", "register_forward_hook"),
        ("builds_jacobian", "compute", "jax", "jax.vjp"),
        ("bf16_on_cpu", "compute", "pytorch", "AVX512-BF16"),
        ("reduces_each_pass", "few_collectives", "pytorch", "once per optimizer step"),
        ("drops_out", "compute", "pytorch", "model.eval()"),
        ("clones_weights", "elementwise", "pytorch", "copies of weights in place"),
        ("long_kernels", "compute", "pytorch", "by FFT"),
        ("discards_gradients", "compute", "pytorch", "requires_grad_(False)"),
        ("pads_to_length", "compute", "tensorflow", "longest row"),
        ("pads_turns", "executor", "tensorflow", "longest row"),
        ("takes_turns", "executor", "tensorflow", "shorter sequences"),
        ("calls_functions", "eager", "tensorflow", "outside the tf.function"),
        ("calls_python", "executor", "tensorflow", "tf.py_function"),
        ("calls_python", "elementwise_types", "tensorflow", "tf.py_function"),
        ("reads_one_by_one", "eager", "pytorch", "tolist()"),
        ("runs_graph_twice", "compute", "pytorch", "fake.detach()"),
        ("regularizes_tables", "compute", "tensorflow", "Regularize only"),
        ("multiplies_adjacency", "compute", "pytorch", "Sum over edges"),
        ("half_on_cpu", "elementwise", "pytorch", "float16"),
        ("steps_cells", "eager", "pytorch", "whole sequence"),
        ("forward_gradient", "compute", "jax", "jax.jacrev"),
        ("determinant_of_jacobian", "compute", "jax", "log-determinants"),
        ("copies_updated", "compute", "jax", "donate them"),
        ("dense_embedding", "compute", "jax", "table.at[rows].add"),
        ("gathers_in_loop", "compute", "tensorflow", "before the loop"),
        ("slices_attention", "eager", "pytorch", "instead of slice by slice"),
        ("sorts_more", "sorting", "pytorch", "end of an epoch"),
        ("single_rows", "compute", "pytorch", "several requests"),
        ("on_cpu", "input", "pytorch", "num_workers"),
        ("", "workers_again", "pytorch", "persistent_workers"),
    ],
)
def test_a_remedy_that_has_a_condition_is_given_under_it(fact: str, cause: str, framework: str, said: str) -> None:
    assert said in remedy(framework, cause, facts=frozenset({fact})).text
    if fact and fact != "on_cpu":
        assert said not in remedy(framework, cause).text


@pytest.mark.parametrize(("waits", "remedy_text"), [(True, "read results every N steps"), (False, "CUDA graph")])
def test_devices_that_run_dry_wait_for_launches_unless_the_host_waits_for_them(waits: bool, remedy_text: str) -> None:
    """Each kernel begins 40 µs after its launch ends, and lasts 20 µs."""
    events = []
    for step in range(4):
        begin = 1000 * step
        events.append(torchtrace.mark(f"ProfilerStep#{step}", begin, 990))
        for number in range(10):
            at, kernel = begin + 90 * number, 10 * step + number + 1
            events += [torchtrace.launch(kernel, at), torchtrace.on_device(kernel, at + 50, 20)]
            if waits:
                events.append(torchtrace.on_host("cuda_runtime", "cudaStreamSynchronize", at + 45, 40))
    found = diagnose([torchtrace.host(*events)])
    latency = next(cause for cause in found.causes if cause.id == "latency")
    assert remedy_text in latency.remedy.text
