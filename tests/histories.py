"""Sessions of one program on consecutive days, drawn: steps of a GPU that take as long as is asked for."""

import random
from collections.abc import Sequence
from pathlib import Path

import draw

_DAY_NS = 86_400 * 10**9
_BEGIN_NS = 1_760_000_000 * 10**9


def write(logdir: Path, factors: Sequence[float], names: Sequence[str] = (), steps: int = 8) -> list[str]:
    """A session for each factor that its steps of about 900 µs are longer by; returns the names, the oldest first."""
    rng = random.Random(4)
    names = list(names) or [f"night-{day:02}" for day in range(len(factors))]
    for day, (name, factor) in enumerate(zip(names, factors, strict=True)):
        marks, launches, kernels, at = [], [], [], 0.0
        for step in range(steps):
            length = 900 * factor * (1 + rng.gauss(0, 0.004))
            marks.append(f"train[{at:.1f},{length:.1f}]{{_r=1, step_num={step}}}")
            launches.append(f"Launch[{at + 10:.1f},5]{{c={step + 1}}}")
            kernels.append(f"gemm[{at + 100:.1f},{500 * factor:.1f}]{{c={step + 1}, tf_op='a:MatMul'}}")
            at += length + 5
        text = f"""
/host:CPU
  python | {" ".join(marks)}
         | {" ".join(launches)}
/device:GPU:0
  Stream #13(Compute) | {" ".join(kernels)}
Task Environment {{profile_start_time={_BEGIN_NS + day * _DAY_NS}u}}
"""
        run = logdir / "plugins" / "profile" / name
        run.mkdir(parents=True)
        (run / "vm.xplane.pb").write_bytes(draw.space(text).SerializeToString())
    return list(names)
