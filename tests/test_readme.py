"""What README shows and counts is so; tests/test_packaging.py holds it to the size of a wheel."""

import re
from pathlib import Path

import pytest

from tb_profile_plugin.cli import main

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def row(work: str, against: str) -> tuple[float, ...]:
    """Ours of a benchmark: (wall s, times as fast by user time, share of the other's memory)."""
    page = (ROOT / "tb_profile_plugin/docs/benchmarks.md").read_text(encoding="utf-8")
    rows = (line.strip("| ").split(" | ") for line in page.splitlines() if line.startswith("| "))
    (found,) = (cells for cells in rows if cells[0] == f"{work}, whole processes" and cells[4] == against)
    return float(found[1]), float(found[9]), float(found[10])


def test_figures_are_those_of_the_benchmarks() -> None:
    sentence = (
        r"118 MB are answered in 1/(\d+) of xprof 2.24's user time and 1/(\d+) of its memory, "
        r"64 hosts in 1/(\d+) and 1/(\d+),"
        r" a small capture in (0.\d) s"
    )
    told = re.search(sentence, " ".join(README.split()))
    assert told
    large, hosts = row("overview_page of 118 MB", "xprof"), row("overview_page of 64 hosts of 5.0 MB", "xprof")
    small = row("overview_page of 0.221 MB", "before")
    figures = [round(large[1]), round(1 / large[2]), round(hosts[1]), round(1 / hosts[2])]
    assert [int(each) for each in told.groups()[:4]] == figures
    assert float(told[5]) == round(small[0], 1)


def test_the_output_that_it_opens_with_is_what_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    command, shown = re.findall(r"^```\n\$ tb-profile (.*?)\n(.*?)^```", README, re.MULTILINE | re.DOTALL)[0]
    assert main.main([str(ROOT / each) if "/" in each else each for each in command.split()]) == 0
    said = capsys.readouterr().out
    for part in shown.split("…\n"):
        assert part in said
