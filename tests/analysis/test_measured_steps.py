"""Steps of our own captures against what their programs measured, and of public ones against their raw events."""

import json
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from protobuf import fields

from tb_profile_plugin.analysis.ops.host_ops import host_ops
from tb_profile_plugin.analysis.steps import step_coverage
from tb_profile_plugin.formats import xspace
from tb_profile_plugin.model.host import Host, HostWithSteps

ROOT = Path(__file__).resolve().parent.parent.parent
TRACES = ROOT / "tests" / "traces"
PUBLIC = ROOT.parent / "shared" / "profiles"


def opened(folder: Path) -> HostWithSteps:
    if not folder.exists():
        pytest.skip("the public captures are not here")
    (path,) = folder.rglob("*.xplane.pb")
    return Host(folder.name, xspace.decode(path.read_bytes(), folder.name)).with_steps()


@pytest.mark.parametrize(
    ("name", "source", "count"),
    [
        ("keras_lstm_marked", "markers", 4),
        ("keras_lstm_unmarked", "functions", 4),
        ("eager_loop", "markers", 4),
        ("prefetch_take", "markers", 6),
        ("jax_helpers", "functions", 6),
        ("jax_async_marked", "markers", 12),
        ("jax_async_unmarked", "functions", 12),
    ],
)
def test_steps_last_as_long_as_the_program_measured(name: str, source: str, count: int) -> None:
    """Within 5 %, which is more than what recording adds to the calls around the step."""
    host = opened(TRACES / name)
    measured = json.loads((TRACES / name / "measured.json").read_text())["step_ms"]
    times = (host.steps.end - host.steps.begin) / 1e9
    assert (host.steps.source, len(times)) == (source, count)
    assert times.mean() == pytest.approx(sum(measured) / len(measured), rel=0.05)


@pytest.mark.parametrize(
    ("name", "source", "count", "typical_ms", "work_inside"),
    [
        # One train_function each; with a device, on to the end of its work (F1, F3, D14).
        ("eager-2021", "functions", 1, 34.98, 1.0),
        ("prefetch-take-2021", "functions", 1, 25.84, 1.0),
        ("memory-2021", "functions", 1, 108.0, 1.0),
        ("tfdata-starved-2021", "functions", 1, 3150.6, 1.0),
        ("tfdata-windows-2023", "functions", 1, 52.68, 1.0),
        ("gpu-windows-2021", "functions", 1, 32.24, 1.0),
        # GPU:4 from 1917 to 1941 ms, GPU:6 from 2565 to 2590 (D2).
        ("gpu-v100-multi-worker", "functions", 2, 24.82, 0.99),
        # Launches lie on lines of the driver (F2).
        ("rocm-te-attention", "functions", 5, 2.46, 1.0),
        ("rocm-attention", "functions", 3, 3.54, 1.0),
        ("rocm-8gpu-conv", "functions", 5, 3.31, 1.0),
        # Of ten steps five have kernels.
        ("rocm-8gpu-legacy", "functions", 10, 3.32, 1.0),
        # The marks, not the time steps of the LSTM (F1).
        ("tf221-lstm", "markers", 6, 232.2, 1.0),
        ("jax-cpu", "markers", 20, 0.284, 1.0),
        ("tpu-v6e-inference", "device", 100, 784.1, 0.99),
    ],
)
def test_steps_of_public_captures(name: str, source: str, count: int, typical_ms: float, work_inside: float) -> None:
    host = opened(PUBLIC / name)
    found, steps = step_coverage.coverage(host), host.steps
    assert (steps.source, len(steps)) == (source, count)
    assert np.median((steps.end - steps.begin)[steps.complete]) / 1e9 == pytest.approx(typical_ms, rel=0.01)
    assert found.work_in_steps_ps >= (work_inside - 0.005) * found.work_ps


def test_coverage_and_candidates_of_a_loop_with_pauses() -> None:
    host = opened(TRACES / "jax_helpers")
    found, choices = step_coverage.coverage(host), step_coverage.candidates(host)
    steps = host.steps
    assert 0 < found.covered_ps <= steps.end[-1] - steps.begin[0] <= found.window_ps
    assert np.median(np.diff(steps.begin)) > np.median(steps.end - steps.begin) > 0
    assert choices[0].name == "PjitFunction(step)" and choices[0].count == 6
    assert len(host.with_steps(choices[0].name).steps) == 6
    assert all(each.work_ps <= choices[0].work_ps for each in choices)


@pytest.mark.parametrize("name", ["eager-2021", "prefetch-take-2021", "memory-2021", "gpu-windows-2021"])
def test_host_ops_are_those_of_tensorflows_own_output(name: str) -> None:
    """Every op's type, occurrences, total and self time, and whether it ran eagerly (F3)."""
    host = opened(PUBLIC / name)
    (path,) = (PUBLIC / name).glob("*.tensorflow_stats.pb")
    ops = host_ops(host).ops
    found = {(op.name, op.type): (op.occurrences, op.total_ps / 1e6, op.self_ps / 1e6, op.eager) for op in ops}
    stated = dict(theirs(path.read_bytes()))
    assert found.keys() == stated.keys()
    for key, figures in stated.items():
        assert found[key] == pytest.approx(figures), key


def theirs(data: bytes) -> Iterator[tuple[tuple[str, str], tuple[Any, ...]]]:
    """(name and type, figures) of each row of the host in a `TfStatsDatabase`, without idle time."""
    table = dict(fields(data))[5]
    for number, row in fields(table):
        record = dict(fields(row)) if number == 1 else {}
        if record.get(2) == b"Host":
            yield (
                (record[4].decode(), record[3].decode()),
                (record[5], double(record[6]), double(record[8]), bool(record.get(18, 0))),
            )


def double(value: bytes) -> float:
    (answer,) = struct.unpack("<d", value)
    return float(answer)
