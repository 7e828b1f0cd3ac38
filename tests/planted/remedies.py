"""Programs before and after what a remedy says: `scripts/planted remedies OUT [NAME …]` measures them without a
profiler, then captures them.
"""

import gzip
import shutil
import sys
from pathlib import Path

from planted.capture import run
from planted.composer import has

REMEDIES = {
    "torch_dense_embedding": "sparse=True in nn.Embedding",
    "torch_attention": "scaled_dot_product_attention",
    "torch_anomaly_mode": "set_detect_anomaly",
    "torch_growing_cat": "allocated once",
    "torch_float64": "Compute in float32",
    "torch_optimizer": "fused=True",
    "torch_eager": "Compile the step (torch.compile)",
    "torch_loader": "Load batches in worker processes",
    "torch_loader_workers": "Start more DataLoader workers",
    "torch_loader_again": "persistent_workers=True",
    "torch_python_loop": "array operations",
    "torch_network": "Request the next data in a background thread",
    "torch_evaluation": "Evaluate less often",
    "torch_checkpoint": "Save less often",
    "torch_second_forward": "Reuse the forward pass",
    "torch_one_hot": "one_hot()",
    "torch_several_losses": "one gradient",
    "torch_sort": "Sort less",
    "torch_rows": "Load whole batches",
    "jax_debug_nans": "jax_debug_nans",
    "jax_eager": "under one jax.jit",
    "jax_chain": "under one jax.jit",
    "jax_float64": "Compute in float32",
    "jax_donation": "donate_argnums",
    "jax_dispatch": "lax.scan",
    "jax_sync": "Read results",
    "jax_new_shapes": "pad arrays",
    "jax_input": "Prepare the next batches in a background thread",
    "jax_callback": "Write the callback in jax.numpy",
    "jax_python_loop": "array operations",
    "jax_hessian": "Multiply by the Hessian",
    "jax_small_turns": "Give each turn",
    "jax_nested_lists": "np.asarray",
    "jax_growing_list": "Keep what grows",
    "keras_py_dataset": "PyDataset",
    "keras_check_numerics": "enable_check_numerics",
    "keras_dispatch": "steps_per_execution",
    "keras_validation": "validation_freq",
    "tensorflow_eager": "Wrap the step in tf.function",
    "tensorflow_input": "prefetch()",
    "tensorflow_cache": "Cache the output",
    "tensorflow_python_input": "generator",
    "tensorflow_retrace": "pass tensors instead of Python numbers",
    "tensorflow_executor": "jit_compile=True",
    "tensorflow_py_function": "tf.py_function",
    "tensorflow_checkpoint": "Save less often",
}
"""By program: what one of the first things to do must say, or the advice about its input."""
_FILES = {
    "pytorch": ("remedies_torch", ("torch_",)),
    "jax": ("remedies_jax", ("jax_",)),
    "keras": ("remedies_tensorflow", ("keras_", "tensorflow_")),
}
"""By module that the interpreter must have: the file of programs, and how the names of these begin."""


def main(python: str, out: Path, *wanted: str) -> None:
    """Capture these, or all, as the tests judge them: no more than the profile, without random names of folders."""
    for framework, (file, begins) in _FILES.items():
        names = [name for name in wanted or REMEDIES if name.startswith(begins)]
        if names and has(python, framework):
            for name in names:
                shutil.rmtree(out / name, ignore_errors=True)
            run(python, out, file, names)
            for profile in [path for name in names for path in (out / name).rglob("*.xplane.pb")]:
                folder = profile.parent.parent / "run"
                folder.mkdir()
                (folder / "vm.xplane.pb.gz").write_bytes(gzip.compress(profile.read_bytes(), mtime=0))
                shutil.rmtree(profile.parent)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]).resolve(), *sys.argv[3:])
