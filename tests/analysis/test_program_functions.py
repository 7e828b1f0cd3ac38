"""Which function of the program tells what Python does, where libraries do it for that function; times in µs."""

from collections.abc import Sequence

import pytest
import torchtrace

from tb_profile_plugin.analysis.diagnosis.diagnose import diagnose
from tb_profile_plugin.analysis.labels.program_functions import is_program_function

US = 10**6


def names(*calls: Sequence[str]) -> list[tuple[str, int, float]]:
    """Names of Python's time: steps of 10 ms on the CPU call a function for 8 ms, and that these one after the other.

    Each call is given by the frames within one another.
    """
    events = []
    for number in range(6):
        begin = 10_000 * number
        events += [torchtrace.mark(f"ProfilerStep#{number}", begin, 9990)]
        events += [torchtrace.frame("train.py(10): augment", begin + 10, 8000)]
        each = 7900 // len(calls)
        for row, frames in enumerate(calls):
            at = begin + 20 + row * each
            events += [torchtrace.frame(name, at + i, each - 5 - 2 * i) for i, name in enumerate(frames)]
        events += [torchtrace.op("aten::mm", begin + 8100, 1500)]
    found = diagnose([torchtrace.host(*events, deviceProperties=[])])
    (python,) = [cause for cause in found.causes if cause.id == "python"]
    return [(name, round(ps / US), count) for name, ps, count in python.names]


@pytest.mark.parametrize("library", ["PIL/Image.py(3019): rotate", "numpy/lib/stride_tricks.py(7): pad"])
def test_a_library_for_data_is_no_function_of_the_program(library: str) -> None:
    """It holds half of the time, and is further in than the program's function."""
    name, ps, count = names([library, "PIL/_util.py(9): helper"], ["colors.py(3): jitter"])[0]
    assert (name, ps, count) == ("augment (train.py:10)", 8000, 1)


def test_a_function_has_one_name_whether_a_library_keeps_what_it_calls_to_itself_or_not() -> None:
    """NumPy keeps one of two modules to itself."""
    found = names(["numpy/lib/_histograms_impl.py(685): histogram"], ["numpy/linalg/linalg.py(2300): norm"])
    assert [name for name, _, _ in found] == ["augment (train.py:10)"]
    assert found[0][1:] == (8000, 1)


@pytest.mark.parametrize(
    ("frame", "is_program"),
    [
        ("$scatter.py:95 _scatter_impl", False),
        ("$tensor_contractions.py:130 matmul", False),
        ("$prng.py:365 prngkeyarray_flatten", False),
        ("$function_base.py:27 linspace", False),
        ("$base.py:337 update", False),
        ("$update.py:40 apply_updates", False),
        ("$base.py:12 update_weights", True),
        ("$scatter_plots.py:12 draw", True),
        ("$loops.py:30 train", True),
        ("$linalg.py:8 solve", True),
    ],
)
def test_files_of_jax_and_numpy_without_a_folder_are_told_by_names_that_programs_hardly_have(
    frame: str, is_program: bool
) -> None:
    """Indexed updates, as of ``x.at[i].set(y)``, pass in functions that no program can put under ``jax.jit``."""
    assert is_program_function(frame) == is_program
