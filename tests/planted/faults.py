"""What may be wrong with a composed program: a catalogue of faults with sizes, and of decoys that cost nothing."""

from dataclasses import dataclass

JAX, TENSORFLOW, PYTORCH = "jax", "tensorflow", "pytorch"
LOOPS = {
    JAX: ("jit", "scan", "asynchronous", "sharded"),
    TENSORFLOW: ("keras", "custom"),
    PYTORCH: ("plain", "loader", "compiled", "ddp"),
}
"""Kinds of loops, by framework."""
SPOTS = ("input", "step", "between")
"""Where a host's fault strikes: while the next batch is made, within the step, after it."""

_OWN = ("python", "unrecorded")
_OUTSIDE = ("between_steps", "input")
_PAUSES = ("pause", "between_steps", "evaluation", "unusual_steps")
_LATE = ("eager", "dispatch", "launch", "latency", "between")
_BY_HOST = frozenset(("python", "sync", *_LATE))
"""What lies outside of steps where no mark tells these, or where Keras' callbacks do it."""


@dataclass(frozen=True)
class Fault:
    """One row of the catalogue; a function of its name in `programs/` does it."""

    name: str
    about: str
    sizes: tuple[int, ...]
    """Milliseconds of a host's fault, else how many or how large."""
    causes: tuple[str, ...]
    """Ids of causes that are right for it."""
    frameworks: tuple[str, ...] = (JAX, TENSORFLOW, PYTORCH)
    loops: tuple[str, ...] = ()
    """The loops that can have it; empty for all of its frameworks'."""
    every: tuple[int, ...] = (1,)
    """It strikes each so manieth step."""
    most_steps: int = 40
    """Of programs that have it: where each takes very long."""
    is_host: bool = False
    """Whether it strikes at one of `SPOTS`, in any framework."""


def _host(name: str, about: str, *causes: str) -> Fault:
    return Fault(name, about, (4, 10, 25), (*_OWN, *causes), every=(1, 1, 1, 4, 5), is_host=True)


def _jax(name: str, about: str, sizes: tuple[int, ...], causes: tuple[str, ...], **more: tuple[int, ...]) -> Fault:
    return Fault(name, about, sizes, causes, (JAX,), **more)  # type: ignore[arg-type]


def _tf(name: str, about: str, sizes: tuple[int, ...], causes: tuple[str, ...], *loops: str, every: int = 1) -> Fault:
    return Fault(name, about, sizes, causes, (TENSORFLOW,), loops, (every,))


def _torch(
    name: str, about: str, sizes: tuple[int, ...], causes: tuple[str, ...], *loops: str, every: int = 1, most: int = 40
) -> Fault:
    return Fault(name, about, sizes, causes, (PYTORCH,), loops, (every,), most)


_COMPUTE = ("compute",)
_COMPILE = ("compile", "retrace")
_SEPARATE = ("jit", "scan", "sharded")

FAULTS = (
    _host("sleep", "time.sleep()"),
    _host("transform", "FFTs in NumPy"),
    _host("python_loop", "a loop over numbers in Python"),
    _host("parse_json", "json.loads() of a record"),
    _host("parse_table", "csv.reader() over lines"),
    _host("match_text", "regular expressions over a text"),
    _host("sort_rows", "sorted() with a key"),
    _host("collect_garbage", "gc.collect()", "pause", "allocator"),
    _host("decompress", "zlib.decompress() of records"),
    _host("checksum", "hashlib over a buffer"),
    _host("write_file", "a file is written and flushed", "pause"),
    _host("read_file", "a file is read"),
    _host("pickle_state", "pickle.dumps() of a state", "pause"),
    _host("receive", "a socket's recv()", "event_wait"),
    _host("wait_lock", "a lock that another thread has", "thread_wait"),
    _host("wait_future", "a future's result()", "thread_wait"),
    _host("run_command", "subprocess.run()", "event_wait"),
    _host("format_log", "log lines are formatted", "pause"),
    _host("copy_rows", "copy.deepcopy() of rows"),
    _host("draw_random", "random numbers in NumPy"),
    _host("decode_text", "base64 and decode()"),
    _host("count_words", "a Counter over words"),
    _host("list_folder", "os.walk() over a folder"),
    _jax("eager_ops", "small ops without jit", (40, 150), _LATE),
    _jax("small_programs", "a chain of small jitted calls", (100, 400), (*_LATE, "compute")),
    _jax("read_each", "float() of small results", (20, 80), ("sync", *_LATE)),
    _jax("new_shape", "a new shape each step", (1,), _COMPILE),
    _jax("new_function", "jit() within the step", (1,), _COMPILE),
    _jax("static_value", "a static argument with a new value", (1,), _COMPILE),
    _jax("pure_callback", "jax.pure_callback() to slow Python", (5, 20), ("callback",)),
    _jax("io_callback", "io_callback() to slow Python", (5, 20), ("callback",)),
    _jax("convert_input", "float64 batches of NumPy are put on the device", (4, 16), ("transfer", "exposed_copy")),
    _jax(
        "read_back", "large arrays are read and copied in NumPy", (8, 32), ("python", "sync", "transfer", "unrecorded")
    ),
    _jax("float64", "arrays are float64", (1,), _COMPUTE),
    _jax("more_layers", "more layers", (6, 12), _COMPUTE),
    _jax("larger_op", "one much larger product", (2, 4), _COMPUTE),
    _jax("evaluate_each", "an evaluation each few steps", (4, 8), _PAUSES, every=(4, 5)),
    _jax("save_each", "np.savez() of the weights each few steps", (2, 8), (*_PAUSES, "python"), every=(4, 5)),
    _tf("eager_ops", "small ops without tf.function", (60, 200), _LATE),
    _tf("new_function", "tf.function() within the step", (1,), _COMPILE),
    _tf("python_argument", "a Python number as an argument", (1,), _COMPILE),
    _tf("numpy_function", "tf.numpy_function() to slow Python", (5, 20), ("callback",), "custom"),
    _tf("py_function", "tf.py_function() to slow Python", (5, 20), ("callback",), "custom"),
    _tf("print_in_graph", "tf.print() of many rows", (50, 200), ("pause", "callback"), "custom"),
    _tf("small_loop", "tf.while_loop() of tiny ops", (300, 1500), _LATE, "custom"),
    _tf("slow_map", "tf.data: a slow map, not parallel", (2, 4), ("input",)),
    _tf("python_map", "tf.data: a map in Python", (5, 20), ("input",)),
    _tf("generator", "tf.data: from_generator()", (5, 20), ("input",)),
    _tf("more_layers", "more layers", (6, 12), _COMPUTE),
    _tf("larger_op", "one much larger product", (2, 4), _COMPUTE, "custom"),
    _tf("read_each", "numpy() of small results", (20, 80), ("sync", *_LATE)),
    _tf("float64", "tensors are float64", (1,), _COMPUTE, "custom"),
    _tf("run_eagerly", "run_eagerly=True", (1,), (*_LATE, "python"), "keras"),
    _tf("validation", "validation_data with each short epoch", (4, 8), _PAUSES, "keras", every=5),
    _tf("predict_each", "predict() in a callback", (4, 8), _PAUSES, "keras", every=4),
    _tf("save_each", "save_weights() each few steps", (1,), (*_PAUSES, "python"), every=4),
    _tf("summary_each", "tf.summary.histogram() in each step", (2, 8), ("pause", "python", *_LATE, *_OUTSIDE)),
    _torch("slow_rows", "a Dataset with slow rows", (5, 20), ("input",), "loader"),
    _torch("slow_workers", "workers of a DataLoader with slow rows", (20, 40), ("input",), "loader"),
    _torch("slow_collate", "a slow collate_fn", (5, 20), ("input",), "loader"),
    _torch("restart_workers", "workers start with each short epoch", (4,), ("input", *_PAUSES), "loader", every=4),
    _torch("eager_ops", "small ops", (300, 1000), (*_LATE, "compute")),
    _torch("item_each", "item() of small results", (50, 300), (*_LATE, "sync", "compute")),
    _torch("looped_optimizer", "Adam over many parameters one by one", (60, 200), _LATE),
    _torch("anomaly_mode", "autograd's anomaly mode", (40, 120), (*_LATE, "python")),
    _torch("float64", "tensors are float64", (1,), _COMPUTE),
    _torch("dense_embedding", "an embedding with dense gradients", (20, 60), _COMPUTE),
    _torch("growing_cat", "torch.cat() onto a growing tensor", (20, 60), _COMPUTE),
    _torch("more_layers", "more layers", (6, 12), _COMPUTE),
    _torch("larger_op", "one much larger product", (2, 4), _COMPUTE),
    _torch("evaluate_each", "an evaluation each few steps", (4, 8), _PAUSES, every=4),
    _torch("save_each", "torch.save() each few steps", (1,), (*_PAUSES, "python"), every=4),
    _torch("new_shape", "torch.compile() with a new shape in each step", (1,), _COMPILE, "compiled", most=3),
    _torch("copy_to_lists", "tolist() of results", (100, 400), ("python", "eager", "unrecorded")),
    _torch("late_worker", "one worker sleeps", (5, 20), ("late_peer", "exposed_collective"), "ddp"),
    _torch(
        "reduce_each", "gradients are reduced after each micro-batch", (3,), ("exposed_collective", "compute"), "ddp"
    ),
)
DECOYS = {
    "prefetch_thread": "a thread makes batches ahead, and sleeps meanwhile",
    "sleeping_thread": "a thread named slow_fetch sleeps all the time",
    "save_checkpoint": "a function of that name that does nothing",
    "small_print": "one line is formatted",
    "free_lock": "a lock that nobody else wants",
    "short_sleep": "20 µs of sleep",
    "empty_queue": "get_nowait() of an empty queue",
    "large_array": "memory that nobody uses",
    "marked_region": "a range named evaluate around nothing",
}
"""They look like faults and cost nothing."""


def accepted(name: str, framework: str, spot: str, every: int, is_outside: bool) -> frozenset[str]:
    """Ids of causes by which the fault may be told where it strikes; ``is_outside`` where no mark tells steps."""
    fault = next(each for each in FAULTS if each.name == name and framework in each.frameworks)
    causes = set(fault.causes)
    if (fault.is_host and spot != "step") or (is_outside and not _BY_HOST.isdisjoint(causes)):
        causes |= set(_OUTSIDE)
    if "python" in causes:
        causes |= set(_OWN)
    if every > 1:
        causes |= set(_PAUSES)
    if fault.is_host and (spot == "between" or is_outside):
        causes.add("pause")
    return frozenset(causes)
