import pytest

from tb_profile_plugin.capture.options import Options, milliseconds, read
from tb_profile_plugin.runtime.problems import ProblemError


def test_missing_options_are_at_their_defaults() -> None:
    assert read({}) == Options()
    assert read({"duration_ms": "2000", "python_tracer_level": " 1 "}) == Options(2000, python_tracer_level=1)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("duration_ms", "0"),
        ("duration_ms", "-1"),
        ("duration_ms", "1000000000"),
        ("duration_ms", "1e9"),
        ("duration_ms", ""),
        ("duration_ms", "9" * 5000),
        ("delay_ms", "-5"),
        ("host_tracer_level", "4"),
        ("host_tracer_level", "-1"),
        ("device_tracer_level", "2"),
        ("python_tracer_level", "on"),
        ("retries", "11"),
        ("nothing", "1"),
    ],
)
def test_what_is_out_of_range_names_its_option(name: str, text: str) -> None:
    with pytest.raises(ProblemError) as raised:
        read({name: text})
    assert raised.value.problem.where == name
    assert raised.value.problem.remedy


@pytest.mark.parametrize(
    ("text", "ms"), [("2s", 2000), ("0.5s", 500), ("500ms", 500), ("1500", 1500), ("-1", -1), ("5m", 300_000)]
)
def test_lengths_of_time(text: str, ms: int) -> None:
    assert milliseconds(text) == ms


@pytest.mark.parametrize("text", ["", "1e9", "2 minutes", "s", "1,5s"])
def test_what_is_no_length_of_time(text: str) -> None:
    with pytest.raises(ValueError, match="not a length of time"):
        milliseconds(text)
