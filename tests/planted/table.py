"""The planted programs: what each must be found to suffer from."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Planted:
    """What a diagnosis of the program with the cause must say."""

    file: str
    """Of programs/; the same name stands for a function in it."""
    about: str
    first: tuple[str, ...]
    """Ids of causes of which one must come first."""
    steps: str = "each"
    """Which steps have the cause: `each`, `some`, the `first`, or `none` where there is nothing to blame."""
    absent: tuple[str, ...] = ()
    """Causes that must stay below 5 % of the step."""
    listed: tuple[str, ...] = ()
    """Ids of causes that together are the planted one, where not all of `first` are."""
    gain: str = ""
    """Why the program does not win without the cause what that takes; nothing if it does."""
    left: str = ""
    """Why the program without the cause still has some of it; nothing if it has not."""
    stepless: str = ""
    """Why no steps can be found in it; nothing if they can."""
    marked: bool = True
    traced: bool = False
    """Whether Python frames are recorded."""


GENERATOR = "a generator of batches sleeps 20 ms"
OUTSIDE = ("between_steps", "input", "python", "unrecorded")
HOST = ("eager", "dispatch", "python", "launch", "latency")
PAUSE = ("pause", "unusual_steps", "between_steps", "evaluation")
BLAMELESS = ("input", "python", "between_steps", "sync", "callback", "compile", "pause")
CORES = "all that runs at once shares the cores"

PROGRAMS = {
    "jax_generator_inside": Planted("jax_input", f"{GENERATOR}, inside the mark", ("input",), traced=True),
    "jax_generator_inside_untraced": Planted(
        "jax_input", f"{GENERATOR}, inside the mark", ("input", "python", "unrecorded")
    ),
    "jax_generator_unmarked": Planted("jax_input", GENERATOR, OUTSIDE, marked=False, traced=True),
    "jax_generator_outside": Planted("jax_input", f"{GENERATOR}, between the marks", OUTSIDE, traced=True),
    "jax_generator_outside_untraced": Planted("jax_input", f"{GENERATOR}, between the marks", OUTSIDE),
    "jax_generator_prefetched": Planted(
        "jax_input", f"{GENERATOR} in a thread while steps of 30 ms go on", ("compute",), "none", BLAMELESS, traced=True
    ),
    "jax_prefetch_too_slow": Planted(
        "jax_input",
        "a generator of batches sleeps 60 ms in a thread while steps of 5 ms go on",
        ("input", "python"),
        traced=True,
    ),
    "jax_annotated": Planted("jax_input", "time.sleep and FFTs under names of their own", ("python",)),
    "jax_pure_callback": Planted("jax_callbacks", "pure_callback sleeps 30 ms", ("callback",), traced=True),
    "jax_pure_callback_untraced": Planted("jax_callbacks", "pure_callback sleeps 30 ms", ("callback",)),
    "jax_io_callback": Planted("jax_callbacks", "io_callback sleeps 20 ms", ("callback",), traced=True),
    "jax_tiny_jitted": Planted("jax_dispatch", "2,000 calls of a tiny jitted function", HOST, traced=True),
    "jax_tiny_jitted_untraced": Planted("jax_dispatch", "2,000 calls of a tiny jitted function", HOST),
    "jax_tiny_eager": Planted("jax_dispatch", "900 tiny ops without jit", HOST, traced=True),
    "jax_tiny_eager_untraced": Planted("jax_dispatch", "900 tiny ops without jit", HOST),
    "jax_wait_each": Planted(
        "jax_dispatch",
        "block_until_ready after each of 200 ops",
        ("sync", *HOST),
        gain="an op that begins on an idle core takes longer, too",
        left="200 small calls are still dispatched one by one",
        traced=True,
    ),
    "jax_new_shape": Planted("jax_dispatch", "a new shape each step", ("compile", "retrace"), traced=True),
    "jax_new_shape_untraced": Planted("jax_dispatch", "a new shape each step", ("compile", "retrace")),
    "jax_new_shape_each_fourth": Planted(
        "jax_dispatch", "a new shape in each fourth step", ("unusual_steps",), "some", traced=True
    ),
    "jax_new_function": Planted("jax_dispatch", "jit() inside the step", ("compile", "retrace"), traced=True),
    "jax_sleep_inside": Planted("jax_host", "time.sleep(0.02) in the step", ("python",), traced=True),
    "jax_sleep_inside_untraced": Planted("jax_host", "time.sleep(0.02) in the step", ("python", "unrecorded")),
    "jax_sleep_between": Planted("jax_host", "time.sleep(0.02) between the steps", OUTSIDE, traced=True),
    "jax_sleep_between_untraced": Planted("jax_host", "time.sleep(0.02) between the steps", OUTSIDE),
    "jax_numpy_inside": Planted("jax_host", "FFTs in numpy in the step", ("python",), traced=True),
    "jax_collecting_garbage": Planted(
        "jax_host", "gc.collect() in the step", ("python", "pause", "allocator"), traced=True
    ),
    "jax_checkpoint_between": Planted(
        "jax_host", "save_checkpoint() after each fifth step", PAUSE, "some", traced=True
    ),
    "jax_checkpoint_inside": Planted("jax_host", "save_checkpoint() in each fifth step", PAUSE, "some", traced=True),
    "jax_busy_thread": Planted(
        "jax_host",
        "another Python thread computes all the time",
        ("python", "sync", "dispatch"),
        gain=CORES,
        traced=True,
    ),
    "jax_two_causes": Planted(
        "jax_host", "time.sleep(0.025) in the step beside an input of 10 ms", ("python",), traced=True
    ),
    "jax_larger_op": Planted("jax_compute", "one op is twice as large", ("compute",), "none", BLAMELESS, traced=True),
    "jax_more_layers": Planted("jax_compute", "48 layers, not 24", ("compute",), "none", BLAMELESS, traced=True),
    "jax_more_layers_untraced": Planted("jax_compute", "48 layers, not 24", ("compute",), "none", BLAMELESS),
    "jax_more_layers_unmarked": Planted(
        "jax_compute", "48 layers, not 24", ("compute",), "none", BLAMELESS, marked=False, traced=True
    ),
    "jax_asynchronous": Planted(
        "jax_compute", "48 layers, not 24, nobody waits", ("compute",), "none", BLAMELESS, traced=True
    ),
    "jax_asynchronous_unmarked": Planted(
        "jax_compute", "48 layers, not 24, nobody waits", ("compute",), "none", BLAMELESS, marked=False, traced=True
    ),
    "jax_asynchronous_sleep": Planted(
        "jax_compute", "time.sleep(0.005) while the steps before compute", ("compute",), "none", BLAMELESS, traced=True
    ),
    "jax_every_tenth": Planted(
        "jax_compute", "each tenth step computes ten times as much", ("unusual_steps",), "some", traced=True
    ),
    "jax_warm_up": Planted(
        "jax_compute", "the first step compiles", ("warmup", "compute"), "first", listed=("warmup",), traced=True
    ),
    "tf_py_function": Planted("tf_input", "py_function in a map sleeps 30 ms", ("input",)),
    "tf_py_function_unmarked": Planted("tf_input", "py_function in a map sleeps 30 ms", ("input",), marked=False),
    "tf_py_function_outside": Planted(
        "tf_input", "py_function in a map sleeps 30 ms, between the marks", ("input", "between_steps")
    ),
    "tf_py_function_ahead": Planted(
        "tf_input", "py_function in a map sleeps 60 ms, partly while steps go on", ("input",)
    ),
    "tf_generator": Planted("tf_input", "from_generator sleeps 30 ms", ("input",)),
    "tf_py_function_prefetched": Planted(
        "tf_input", "py_function sleeps 30 ms while longer steps go on", ("compute",), "none", BLAMELESS
    ),
    "tf_map": Planted("tf_input", "much work in a map without parallel calls", ("input",)),
    "tf_map_prefetched": Planted(
        "tf_input", "some work in a prefetched map", ("compute",), "none", BLAMELESS, gain=CORES
    ),
    "tf_new_function": Planted("tf_dispatch", "tf.function() inside the step", ("retrace", "compile")),
    "tf_new_shape": Planted("tf_dispatch", "jit_compile and a new shape each step", ("compile", "retrace")),
    "tf_tiny_eager": Planted("tf_dispatch", "1,500 tiny ops without tf.function", HOST),
    "tf_tiny_eager_unmarked": Planted(
        "tf_dispatch",
        "1,500 tiny ops without tf.function",
        HOST,
        stepless="nothing but ops repeats, each of them many times in a step",
        marked=False,
    ),
    "tf_large_eager": Planted("tf_dispatch", "six large ops, not three", ("compute",), "none", BLAMELESS),
    "tf_more_layers": Planted("tf_dispatch", "48 layers, not 24", ("compute",), "none", BLAMELESS),
    "tf_more_layers_unmarked": Planted(
        "tf_dispatch", "48 layers, not 24", ("compute",), "none", BLAMELESS, marked=False
    ),
    "tf_callback": Planted("tf_dispatch", "numpy_function in the graph sleeps 20 ms", ("callback",)),
    "tf_callback_in_loop": Planted(
        "tf_dispatch", "numpy_function in the loop of a function sleeps 20 ms", ("callback",)
    ),
    "tf_small_loop": Planted("tf_dispatch", "2,000 turns of a loop of tiny ops in a function", HOST),
    "tf_printing": Planted("tf_dispatch", "tf.print in the function", ("pause",)),
    "tf_sleep_inside": Planted("tf_dispatch", "time.sleep(0.02) in the step", ("python", "unrecorded")),
    "tf_sleep_between": Planted("tf_dispatch", "time.sleep(0.02) between the steps", OUTSIDE),
    "keras_epochs": Planted("tf_keras", "a callback sleeps 200 ms after each sixth batch", PAUSE, "some"),
    "keras_slow_callback": Planted("tf_keras", "on_train_batch_end sleeps 20 ms", ("pause", "between_steps", "python")),
    "keras_checkpoint": Planted("tf_keras", "ModelCheckpoint after each fifth batch", PAUSE, "some"),
    "keras_evaluation": Planted("tf_keras", "evaluate() after each fourth batch", PAUSE, "some"),
    "keras_input": Planted("tf_keras", "a generator of batches sleeps 30 ms", ("input",)),
    "keras_run_eagerly": Planted("tf_keras", "run_eagerly=True", ("eager",)),
    "keras_validation": Planted("tf_keras", "epochs of four batches, each validated", ("evaluation",), "some"),
    "keras_more_layers": Planted("tf_keras", "24 layers, not 12", ("compute",), "none", BLAMELESS),
    "tf_late_worker": Planted(
        "tf_workers",
        "two workers; the second sleeps 50 ms in each step",
        ("late_peer", "exposed_collective", "collective_host", "peer", "python"),
    ),
}

LATE = (*HOST, "host", "between")
GPU = {
    "torch_loader": Planted("torch_host", "a Dataset whose rows take 3 ms each", ("input",)),
    "torch_loader_stacks": Planted("torch_host", "a Dataset whose rows take 3 ms each", ("input",), traced=True),
    "torch_loader_unmarked": Planted("torch_host", "a Dataset whose rows take 3 ms each", ("input",), marked=False),
    "torch_loader_workers": Planted("torch_host", "two workers, rows take 10 ms each", ("input",)),
    "torch_generator": Planted("torch_host", GENERATOR, ("python",)),
    "torch_sleep": Planted("torch_host", "time.sleep(0.02) in the step", ("python",)),
    "torch_sleep_stacks": Planted("torch_host", "time.sleep(0.02) in the step", ("python",), traced=True),
    "torch_sleep_unmarked": Planted("torch_host", "time.sleep(0.02) in the step", ("python",), marked=False),
    "torch_sleep_scheduled": Planted("torch_host", "time.sleep(0.02) in steps by profiler.step()", ("python",)),
    "torch_annotated": Planted("torch_host", "FFTs in numpy under a name of their own", ("python",)),
    "torch_evaluation": Planted("torch_host", "an evaluation after each fourth step", PAUSE, "some"),
    "torch_small_copies": Planted("torch_gpu", "300 small copies to the device", HOST, gain="one copy takes time, too"),
    "torch_synchronize_each": Planted(
        "torch_gpu",
        "synchronize() after each of 200 ops",
        ("sync", *HOST),
        gain="ops wait for nobody, but launches do",
        left="the first op of a step waits for its launch, and the profiler makes launches slow",
    ),
    "torch_python_each": Planted(
        "torch_host", "200 µs of Python before each op", ("python",), gain="much of it runs while the device works"
    ),
    "torch_item_each": Planted(
        "torch_gpu",
        ".item() after each of 300 ops",
        ("sync", *HOST),
        gain="ops that are not waited for are dispatched one by one, too",
        left="300 small ops are still dispatched one by one",
    ),
    "torch_tiny_ops": Planted(
        "torch_gpu",
        "2,000 small ops, not one CUDA graph",
        HOST,
        left="launching a graph of 2,000 nodes takes time, too",
    ),
    "torch_optimizer_loop": Planted("torch_gpu", "Adam over 300 parameters one by one, not fused", HOST),
    "torch_upload": Planted("torch_gpu", "256 MB of pageable memory are copied to the device", ("exposed_copy",)),
    "torch_upload_ahead": Planted(
        "torch_gpu", "24 layers, not 12, and copies of pinned memory beside them", ("compute",), "none", BLAMELESS
    ),
    "torch_fetch": Planted("torch_gpu", "256 MB are read back", ("exposed_copy",), listed=("exposed_copy", "python")),
    "torch_empty_cache": Planted("torch_gpu", "torch.cuda.empty_cache() in the step", ("allocator",)),
    "torch_host_metric": Planted("torch_host", "FFTs in numpy in the step", ("python",)),
    "torch_collecting_garbage": Planted("torch_host", "gc.collect() in the step", ("python",)),
    "torch_busy_thread": Planted(
        "torch_host", "another Python thread computes all the time", ("python", "dispatch"), listed=HOST
    ),
    "torch_checkpoint": Planted("torch_host", "torch.save() in each fifth step", PAUSE, "some"),
    "torch_every_tenth": Planted("torch_gpu", "each tenth step computes ten times as much", ("unusual_steps",), "some"),
    "torch_warm_up": Planted(
        "torch_gpu", "the first step loads libraries", ("warmup", *HOST), "first", listed=("warmup",)
    ),
    "torch_sampled_graph": Planted("torch_host", "a part of a graph is chosen by ops on the CPU", ("cpu_ops",)),
    "torch_new_shape": Planted("torch_gpu", "torch.compile() and a new shape each step", ("compile", "retrace")),
    "torch_more_layers": Planted("torch_gpu", "16 layers, not 8", ("compute",), "none", BLAMELESS),
    "torch_asynchronous": Planted("torch_gpu", "16 layers, not 8, nobody waits", ("compute",), "none", BLAMELESS),
    "torch_asynchronous_sleep": Planted(
        "torch_gpu", "time.sleep(0.001) while the device computes", ("compute",), "none", BLAMELESS
    ),
    "torch_prefetched": Planted("torch_host", "batches from a thread that is ahead", ("compute",), "none", BLAMELESS),
    "jax_gpu_layers": Planted("jax_gpu", "24 layers, not 12", ("compute",), "none", BLAMELESS, traced=True),
    "jax_gpu_sleep": Planted("jax_gpu", "time.sleep(0.02) in the step", ("python",), traced=True),
    "jax_gpu_sleep_unmarked": Planted("jax_gpu", "time.sleep(0.02) in the loop", OUTSIDE, marked=False, traced=True),
    "jax_gpu_asynchronous": Planted(
        "jax_gpu", "24 layers, not 12, nobody waits", ("compute",), "none", BLAMELESS, traced=True
    ),
    "jax_gpu_asynchronous_unmarked": Planted(
        "jax_gpu", "24 layers, not 12, nobody waits", ("compute",), "none", BLAMELESS, marked=False, traced=True
    ),
    "jax_gpu_asynchronous_sleep": Planted(
        "jax_gpu", "time.sleep(0.001) while the steps before compute", ("compute",), "none", BLAMELESS, traced=True
    ),
    "jax_gpu_future": Planted("jax_gpu", "a future's result() takes 20 ms", ("thread_wait",), traced=True),
    "jax_gpu_upload": Planted(
        "jax_gpu",
        "256 MB are copied to the device",
        ("transfer", "exposed_copy"),
        gain="the copy is prepared, then made: two causes, each with its own ceiling",
        traced=True,
    ),
    "jax_gpu_fetch": Planted(
        "jax_gpu",
        "256 MB are read back",
        ("sync", "transfer", "exposed_copy"),
        listed=("sync", "transfer", "exposed_copy", "allocator"),
        gain="memory for it is allocated, it is copied and copied again: several causes, each with its own ceiling",
        traced=True,
    ),
    "jax_gpu_small_kernels": Planted(
        "jax_gpu", "a loop of 2,000 small kernels, not one", LATE, gain="they compute, too", traced=True
    ),
    "jax_gpu_offload": Planted(
        "jax_gpu", "weights in the host's memory", ("host_offload", "exposed_copy"), traced=True
    ),
    "jax_gpu_scan": Planted(
        "jax_gpu", "a scan of 500 products with copies, not 250", ("compute", "exposed_copy"), "none", traced=True
    ),
    "jax_gpu_every_tenth": Planted(
        "jax_gpu", "each tenth step computes ten times as much", ("unusual_steps",), "some", traced=True
    ),
}
"""The same on a GPU; all of `PROGRAMS` that use JAX run there, too, but what computes is then no longer the CPU."""
