"""Programs before and after what a remedy says: `scripts/planted remedies OUT` measures them without a profiler, then
captures them.
"""

import gzip
import shutil
import sys
from pathlib import Path

from planted.capture import run
from planted.composer import has

REMEDIES = {
    "torch_dense_embedding": "nn.Embedding(sparse=True)",
    "torch_anomaly_mode": "set_detect_anomaly",
    "torch_growing_cat": "allocated once",
    "jax_debug_nans": "jax_debug_nans",
    "keras_py_dataset": "PyDataset",
    "keras_check_numerics": "enable_check_numerics",
}
"""By program: what one of the first things to do must say."""
_FILES = {"pytorch": "remedies_torch", "jax": "remedies_jax", "keras": "remedies_tensorflow"}


def main(python: str, out: Path) -> None:
    """Capture them as the tests judge them: no more than the profile, without random names of folders."""
    for framework, file in _FILES.items():
        if has(python, framework):
            names = [name for name in REMEDIES if name.startswith(framework.removeprefix("py"))]
            run(python, out, file, names)
            for profile in [path for name in names for path in (out / name).rglob("*.xplane.pb")]:
                folder = profile.parent.parent / "run"
                folder.mkdir()
                (folder / "vm.xplane.pb.gz").write_bytes(gzip.compress(profile.read_bytes(), mtime=0))
                shutil.rmtree(profile.parent)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]).resolve())
