"""What would help against work that need not be, and where work was not recorded."""

from __future__ import annotations

from ....model.framework import JAX, PYTORCH, TENSORFLOW
from ..program import facts

UNRECORDED_REMEDY = (
    "Record the device: on Nvidia, add CUDA's extras/CUPTI/lib64 to LD_LIBRARY_PATH (Windows: PATH); on AMD, install "
    "rocprofiler. "
    "Then read the errors in the notes on this capture."
)
"""What lets a device be recorded that was there but left no event."""
UNRECORDED_NVIDIA_REMEDY = (
    "Record the device: add CUDA's extras/CUPTI/lib64 to LD_LIBRARY_PATH (Windows: PATH). "
    "Then read the errors in the notes on this capture."
)
UNRECORDED_AMD_REMEDY = "Record the device: install rocprofiler. Then read the errors in the notes on this capture."

FLOAT32_TORCH = "Compute in float32: most ops take float64 tensors, as from_numpy makes them."
FLOAT32_TENSORFLOW = "Compute in float32: most results are float64, as set_floatx('float64') and NumPy make them."
FEWER_HOOKS_TORCH = "Run hooks of layers (register_forward_hook) every N steps, or remove them."
NO_BF16_TORCH = (
    "Compute in float32, unless the CPU has instructions for bfloat16 (AMX, AVX512-BF16): others emulate it."
)
NO_HALF_TORCH = "Compute in float32 on the CPU: PyTorch has no fast kernels for float16 there."
WHOLE_SEQUENCES_TORCH = (
    "Run nn.GRU or nn.LSTM over whole sequences where inputs are known, instead of cells step by step."
)
USE_FORWARD_TORCH = "Reuse the forward pass: backward() needs nothing of a second one (or run that under no_grad())."
ONE_GRADIENT = "Compute one gradient of the summed losses: each backward pass runs again for each loss."
LOOK_UP_TORCH = "Replace products with one_hot() by lookups: F.embedding, or table[indices]."
LOOK_UP_TENSORFLOW = "Replace products with tf.one_hot by lookups: tf.gather, or an Embedding layer."
FEWER_PRINTS_TORCH = "Print tensors every N steps: f-strings format them even where the log level is off."
METRICS_TENSORFLOW = (
    "Compute metrics such as AUC in validation only, or with evenly spaced thresholds, as num_thresholds makes them."
)
LOOK_UP_IN_VARIABLE = (
    "Look rows up in the tf.Variable itself, as tf.gather(layer.embeddings.value, ids): Keras' Embedding copies the "
    "whole table first."
)
UPDATE_ROWS_TENSORFLOW = (
    "Give embedding tables an optimizer that changes only the rows looked up, as plain SGD does; most others "
    "change all rows."
)
NO_PYTHON_TENSORFLOW = "Move tf.py_function out of the step, so that XLA can fuse its ops (jit_compile=True)."
LARGER_TURNS_TENSORFLOW = (
    "Compute a loop's turns at once where none needs the one before; else take larger batches, or shorter sequences."
)
PAD_LESS_TENSORFLOW = (
    "Pad batches to their longest row, or bucket rows by length, where lengths differ: padded_batch pads all to one."
)
REGULARIZE_ROWS_TENSORFLOW = (
    "Regularize only the embeddings looked up, and change only these rows, as plain SGD does: a regularizer of tables "
    "reads all rows."
)
WEIGHTS_ONCE_TORCH = (
    "Wrap the loop in torch.nn.utils.parametrize.cached(), or compute the weight once before it, not for each use."
)
LARGEST_OPS = "Start with the largest ops; the Ops page lists them."
FEWER_PENALTIES_TORCH = "Compute gradients of gradients, such as a gradient penalty, every N steps."
COPY_IN_PLACE_TORCH = (
    "Update copies of weights in place (torch._foreach_lerp_, copy_()), instead of deepcopy() or load_state_dict()."
)
TENSORS_TORCH = "Send tensors instead of objects, which are pickled (all_gather_object and its like), or less often."
SPLIT_BATCH_JAX = (
    "Split the batch, not the weights, if these fit one device: each computes the rest of the layers for all rows."
)
KEEP_SHARDING_JAX = "Keep arrays in the sharding that the next program takes: changing it goes through the host."
FEWER_ROWS_TORCH = (
    "Compute the output layer and its loss only for rows whose labels count, if some are masked or padding."
)
FUSE_UPDATES_TORCH = "Use a fused optimizer (fused=True), then compile the rest of the step."
SPARSE_TORCH = "Use sparse gradients: sparse=True in nn.Embedding or EmbeddingBag, with SGD, Adagrad or SparseAdam."
ALLOCATE_ONCE_TORCH = "Write into a tensor that is allocated once, instead of concatenating again."

NEW_ROWS_TORCH = "Compute only what is new in each pass, as a KV cache allows: matrix products grow from pass to pass."
NO_GRAPH_TORCH = (
    "Run inference under torch.inference_mode(): steps record a graph for gradients that they never compute."
)
OTHER_AXIS_JAX = (
    "Split another axis over devices than the one that lax.scan goes over: else all devices need what one has, turn by "
    "turn."
)
PAIRS_TORCH = (
    "Compute distances or products of pairs by torch.cdist or a @ b.T: broadcasting makes arrays of all pairs."
)
SHARED_GRAPH_TORCH = (
    "Detach what a loss does not train (fake.detach()), or add losses up: backward runs through the same graph twice."
)
GRADIENTS_OFF_TORCH = (
    "Turn gradients off that no optimizer uses: detach(), no_grad() or requires_grad_(False) for what a loss does not "
    "train."
)
ADJACENCY_TORCH = "Sum over edges (index_add_, torch.sparse.mm): a dense adjacency matrix is mostly zeros."

WORK_REMEDIES: dict[tuple[str, str, str], str] = {
    # PyTorch
    **{(cause, PYTORCH, facts.FLOAT64): FLOAT32_TORCH for cause in ("compute", "tensor_copies", "elementwise")},
    ("compute", PYTORCH, facts.CONCATENATES): ALLOCATE_ONCE_TORCH,
    ("concatenation", PYTORCH, ""): ALLOCATE_ONCE_TORCH,
    ("compute", PYTORCH, facts.PREFILLS_AMONG_DECODES): (
        "Compute fewer tokens of prompts per iteration (vLLM's max_num_batched_tokens, SGLang's chunked_prefill_size), "
        "if decoding must not wait."
    ),
    ("compute", PYTORCH, facts.DECODES_FEW): (
        "Serve more requests at once, or quantize weights: each iteration reads all weights for few tokens."
    ),
    ("tensor_copies", PYTORCH, facts.CHANGES_LAYOUT): (
        "Keep one order in memory: most copies follow permute(), transpose() or another memory format."
    ),
    ("tensor_copies", PYTORCH, facts.COPIES_EXPANDED): (
        "Broadcast instead of copying what expand() repeats, or use scaled_dot_product_attention's enable_gqa=True."
    ),
    ("tensor_copies", PYTORCH, facts.COPIES_TO_CHANGE): (
        "Change tensors in place, as masked_fill_() and scatter_() do: the other form copies the whole tensor first."
    ),
    ("tensor_copies", PYTORCH, ""): "Copy whole tensors once, ahead of the loop, as contiguous(), clone() and to() do.",
    ("attention", PYTORCH, facts.UNFUSED_ATTENTION): (
        "Use fused attention: F.scaled_dot_product_attention, or attn_implementation='sdpa' in Transformers."
    ),
    ("elementwise", PYTORCH, ""): (
        "Fuse elementwise ops: compile the model (torch.compile), use a fused optimizer (fused=True), or functions "
        "such as F.layer_norm."
    ),
    ("elementwise", PYTORCH, facts.INFERS_ON_CPU): (
        "Do once what stays the same for all requests (normalizing, converting weights); let torch.compile fuse the "
        "rest."
    ),
    ("conversions", PYTORCH, ""): (
        "Convert what stays the same, such as quantized weights, once, not in each request; then compile the model "
        "(torch.compile)."
    ),
    **{(cause, PYTORCH, facts.BROADCASTS_PAIRS): PAIRS_TORCH for cause in ("compute", "elementwise")},
    **{(cause, PYTORCH, facts.RUNS_GRAPH_TWICE): SHARED_GRAPH_TORCH for cause in ("compute", "elementwise")},
    ("compute", PYTORCH, facts.DISCARDS_GRADIENTS): GRADIENTS_OFF_TORCH,
    **{(cause, PYTORCH, facts.MULTIPLIES_ADJACENCY): ADJACENCY_TORCH for cause in ("compute", "elementwise")},
    ("elementwise", PYTORCH, facts.UPDATES): FUSE_UPDATES_TORCH,
    ("compute", PYTORCH, facts.RECOMPUTES): (
        "Checkpoint fewer layers if memory allows: backward runs their forward pass again (torch.utils.checkpoint)."
    ),
    **{(cause, PYTORCH, facts.MULTIPLIES_ONE_HOT): LOOK_UP_TORCH for cause in ("compute", "eager")},
    **{(cause, PYTORCH, facts.FORMATS_TENSORS): FEWER_PRINTS_TORCH for cause in ("python", "eager", "printing")},
    **{(cause, PYTORCH, facts.RECOMPUTES_WEIGHTS): WEIGHTS_ONCE_TORCH for cause in ("compute", "eager")},
    **{(cause, PYTORCH, facts.COMPUTES_ALL_ROWS): FEWER_ROWS_TORCH for cause in ("compute", "classes")},
    **{(cause, PYTORCH, facts.UNUSED_FORWARD): USE_FORWARD_TORCH for cause in ("compute", "eager")},
    **{(cause, PYTORCH, facts.DENSE_EMBEDDING): SPARSE_TORCH for cause in ("compute", "elementwise")},
    **{(cause, PYTORCH, facts.REDUCES_TABLES): SPARSE_TORCH for cause in ("exposed_collective", "few_collectives")},
    **{(cause, PYTORCH, facts.GROWING_INPUT): NEW_ROWS_TORCH for cause in ("compute", "concatenation")},
    **{(cause, PYTORCH, facts.BF16_ON_CPU): NO_BF16_TORCH for cause in ("compute", "elementwise", "tensor_copies")},
    **{(cause, PYTORCH, facts.HALF_ON_CPU): NO_HALF_TORCH for cause in ("compute", "elementwise")},
    ("compute", PYTORCH, facts.LONG_KERNELS): (
        "Convolve by FFT (torch.fft.rfft): kernels of hundreds of taps cost their length for each sample."
    ),
    **{(cause, PYTORCH, facts.STEPS_CELLS): WHOLE_SEQUENCES_TORCH for cause in ("compute", "eager")},
    **{(cause, PYTORCH, facts.RUNS_HOOKS): FEWER_HOOKS_TORCH for cause in ("compute", "eager", "python")},
    ("compute", PYTORCH, facts.DROPS_OUT): "Call model.eval() for inference: dropout runs though nothing trains.",
    **{(cause, PYTORCH, facts.UNUSED_GRAPH): NO_GRAPH_TORCH for cause in ("compute", "unused_graph")},
    ("compute", PYTORCH, facts.SINGLE_ROWS): (
        "Run several requests in one batch: most matrix products take a single row."
    ),
    ("index_gradient", PYTORCH, ""): (
        "Take rows with F.embedding or torch.gather instead of x[index]: where indices repeat, its gradient adds row "
        "after row."
    ),
    ("coalescing", PYTORCH, ""): (
        "Make sparse tensors that stay the same, such as a graph's adjacency, once ahead of the loop: coalesce() sorts."
    ),
    ("sorting", PYTORCH, facts.SORTS_MORE): (
        "Sort what steps collect, such as predictions for a metric, once at the end of an epoch: each step sorts more "
        "than the one before."
    ),
    **{(cause, PYTORCH, facts.SECOND_ORDER): FEWER_PENALTIES_TORCH for cause in ("compute", "eager")},
    **{
        (cause, PYTORCH, facts.COPIES_MODEL): COPY_IN_PLACE_TORCH
        for cause in ("eager", "python", "dispatch", "tensor_copies")
    },
    **{(cause, PYTORCH, facts.CLONES_WEIGHTS): COPY_IN_PLACE_TORCH for cause in ("compute", "elementwise")},
    **{(cause, PYTORCH, facts.EXCHANGES_OBJECTS): TENSORS_TORCH for cause in ("python", "gather", "collective_host")},
    ("float32", PYTORCH, facts.NO_BF16): "Use mixed precision for matmuls and convolutions: float16 with a GradScaler.",
    ("float32", PYTORCH, ""): "Use mixed precision (BF16) for matmuls and convolutions, or TF32 on Ampere and newer.",
    # TensorFlow
    ("elementwise_types", TENSORFLOW, ""): (
        "Let XLA fuse elementwise ops (jit_compile=True): each reads and writes whole arrays."
    ),
    ("compute", TENSORFLOW, facts.MULTIPLIES_ONE_HOT): LOOK_UP_TENSORFLOW,
    ("images", TENSORFLOW, ""): (
        "Decode images ahead of the step, and no larger than needed (ratio of tf.io.decode_jpeg)."
    ),
    ("augmentation", TENSORFLOW, ""): (
        "Augment images ahead of the step, in the input pipeline (dataset.map), rather than in the model."
    ),
    ("text", TENSORFLOW, ""): "Prepare text ahead of the step: in the input pipeline (dataset.map), or once, offline.",
    ("concatenation", TENSORFLOW, ""): (
        "Write into a variable in place (scatter_nd_update), instead of concatenating all of it again."
    ),
    ("compute", TENSORFLOW, facts.BUILDS_JACOBIAN): (
        "Take tape.gradient instead of tape.jacobian where each output depends on its own input: it runs backward once."
    ),
    ("compute", TENSORFLOW, facts.COMPARES_THRESHOLDS): METRICS_TENSORFLOW,
    ("compute", TENSORFLOW, facts.COPIES_TABLES): LOOK_UP_IN_VARIABLE,
    **{(cause, TENSORFLOW, facts.FLOAT64): FLOAT32_TENSORFLOW for cause in ("compute", "elementwise_types")},
    ("compute", TENSORFLOW, facts.SORTS_ROWS): (
        "Take the largest few (tf.math.top_k with a small k): tf.sort and tf.argsort sort whole rows."
    ),
    ("compute", TENSORFLOW, facts.GATHERS_IN_LOOP): (
        "Look up rows before the loop (tf.gather): in each turn, the gradient fills the whole table."
    ),
    ("compute", TENSORFLOW, facts.PADS_TO_LENGTH): PAD_LESS_TENSORFLOW,
    **{(cause, TENSORFLOW, facts.PADS_TURNS): PAD_LESS_TENSORFLOW for cause in ("dispatch", "executor")},
    **{(cause, TENSORFLOW, facts.TAKES_TURNS): LARGER_TURNS_TENSORFLOW for cause in ("dispatch", "executor")},
    ("elementwise_types", TENSORFLOW, facts.CALLS_PYTHON): NO_PYTHON_TENSORFLOW,
    ("compute", TENSORFLOW, facts.REGULARIZES_TABLES): REGULARIZE_ROWS_TENSORFLOW,
    ("compute", TENSORFLOW, facts.UPDATES_TABLES): UPDATE_ROWS_TENSORFLOW,
    ("float32", TENSORFLOW, ""): "Use mixed precision; in Keras, call mixed_precision.set_global_policy.",
    ("gpu_unused", TENSORFLOW, ""): "Install TensorFlow with CUDA or ROCm, and check that it lists the GPU.",
    ("gpu_unused", TENSORFLOW, facts.LOOKS_FOR_CUPTI): (
        "Let TensorFlow load CUDA's libraries: its log names what it could not find. Check that it lists the GPU."
    ),
    # JAX
    ("compute", JAX, facts.MULTIPLIES_ONE_HOT): (
        "Replace products with jax.nn.one_hot by lookups: table[indices], or jnp.take."
    ),
    ("compute", JAX, facts.COMPUTES_ALL_EXPERTS): (
        "Send each token only to its expert (sort or gather, jax.lax.ragged_dot): all experts compute all tokens."
    ),
    ("compute", JAX, facts.DEPTHWISE_CONVOLUTIONS): (
        "Write depthwise convolutions of few taps as sums of products: each tap's weight by the input, shifted."
    ),
    ("compute", JAX, facts.CONVERTS_WEIGHTS): (
        "Make weights float32 once, when they are loaded, if memory allows: each call converts them again."
    ),
    ("compute", JAX, facts.FLOAT64): (
        "Compute in float32: most arrays are float64, as jax_enable_x64 and NumPy make them."
    ),
    ("compute", JAX, facts.MANY_PROGRAMS): "Put the many programs of a step under one jax.jit, so that XLA fuses them.",
    ("compute", JAX, facts.NOT_DONATED): "Donate the arrays that the outputs replace: jax.jit(step, donate_argnums=0).",
    ("repeated_forward_pass", JAX, ""): (
        "Use jax.value_and_grad, which returns the loss with its gradients, where both programs take the same weights "
        "and batch."
    ),
    ("compute", JAX, facts.REPLICATES): (
        "Split the batch over the devices (jax.device_put with a NamedSharding): each computes all of it."
    ),
    ("compute", JAX, facts.REPEATS_WORK): (
        "Split over the devices what each computes in full: constrain its sharding; in a loss over a gathered batch, "
        "compute each device's own rows."
    ),
    ("compute", JAX, facts.GATHERS_TURNS): OTHER_AXIS_JAX,
    **{(cause, JAX, facts.SPLITS_WEIGHTS): SPLIT_BATCH_JAX for cause in ("compute", "exposed_collective")},
    **{(cause, JAX, facts.RESHARDS): KEEP_SHARDING_JAX for cause in ("transfer", "between_steps", "sync", "python")},
    ("compute", JAX, facts.USES_RANDOM): "Make fewer random numbers (jax.random), which take much of the compute.",
    ("compute", JAX, facts.INDEPENDENT_PRODUCTS): (
        "Move products that need no carried value out of the loop (lax.scan): compute them for all turns at once."
    ),
    ("compute", JAX, facts.BUILDS_HESSIAN): (
        "Multiply by the Hessian, or take its diagonal, by jax.jvp of jax.grad, instead of building all of it."
    ),
    ("compute", JAX, facts.RECOMPUTES): (
        "Checkpoint less (jax.checkpoint, nn.remat) if memory allows, or save products by a policy: gradients run "
        "forward passes again."
    ),
    ("compute", JAX, facts.COPIES_UPDATED): (
        "Update arrays within jax.jit, and donate them (donate_argnums): each call copies the whole array."
    ),
    ("compute", JAX, facts.DENSE_EMBEDDING): (
        "Take gradients of the rows that a batch reads, and update only those (table.at[rows].add)."
    ),
    ("compute", JAX, facts.BUILDS_JACOBIAN): (
        "Multiply by the Jacobian (jax.vjp), or use jax.grad of the loss: jacrev runs backward once for each output."
    ),
    ("compute", JAX, facts.DETERMINANT_OF_JACOBIAN): (
        "Add up the log-determinants that each layer knows (coupling layers), instead of that of a whole Jacobian."
    ),
    ("compute", JAX, facts.FORWARD_GRADIENT): (
        "Use jax.grad, or jax.jacrev for few outputs: jacfwd runs the function once for each of many inputs."
    ),
    # Of any framework, or of several
    **{
        (cause, framework, facts.REPEATED_BACKWARD): ONE_GRADIENT
        for cause in ("compute", "eager")
        for framework in (PYTORCH, TENSORFLOW)
    },
    ("classes", "", ""): (
        "Compute the loss over fewer classes (sampled softmax) or tokens (masked ones), or fuse it with the output "
        "layer."
    ),
    ("random", "", ""): "Make fewer random numbers, as for dropout, noise and augmentation.",
    ("sorting", "", ""): (
        "Sort less: take the largest few (top_k), sample values for quantiles and random choices, or compute metrics "
        "once an epoch."
    ),
    ("suppression", "", ""): (
        "Suppress boxes only where losses or evaluations need them, and drop low scores first (score_threshold, top_k)."
    ),
    ("decomposition", "", ""): (
        "Compute svd, eigh or qr of fewer or smaller matrices, or every N steps; where few values count, by power "
        "iteration."
    ),
    ("factorization", "", ""): (
        "Solve instead of inverting, and factorize a matrix once while it stays the same (lu_factor, cho_factor)."
    ),
    ("compute", "", ""): LARGEST_OPS,
    ("float32", "", ""): "Use 16-bit floats where the model allows it.",
    ("gpu_unused", "", ""): "Install a build of the framework with CUDA or ROCm, and check that it lists the GPU.",
    ("not_recorded", "", ""): UNRECORDED_REMEDY,
    ("not_recorded", "", facts.UNRECORDED_NVIDIA): UNRECORDED_NVIDIA_REMEDY,
    ("not_recorded", "", facts.UNRECORDED_AMD): UNRECORDED_AMD_REMEDY,
    ("before_capture", "", ""): "Capture longer, so that the work it waits for is recorded.",
    ("counted", "", ""): "Capture again without CUPTI metrics (profiler_metrics) to see times.",
}
"""By cause or kind of work, framework and fact, of which "" is any, as `texts.REMEDIES`."""
