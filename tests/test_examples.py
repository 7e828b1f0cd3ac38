"""The notebooks in examples/: they are clean, every cell runs, and each one shows what it promises."""

import ast
import json
import re
from typing import Any

import pytest
from checkout import ROOT

EXAMPLES = ROOT / "examples"
SHOWN = {
    "ask_in_sql": ["Iterator::Prefetch", "p99_ms"],
    "compare_runs": ["Faster by", "Waiting for input", "self_ms"],
    "first_look": ["Framework overhead takes", "framework_ps", "<table"],
    "hold_budgets": ['metric = "launches"', "2 budgets: 2 met.", "1 budget: 1 broken."],
    "pytorch_trace": ["Python takes", "aten::mm", "aten::mkldnn_convolution"],
}
"""What the cells of each notebook print and show."""


def cells(name: str) -> list[dict[str, Any]]:
    notebook = json.loads((EXAMPLES / f"{name}.ipynb").read_text(encoding="utf-8"))
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    found: list[dict[str, Any]] = notebook["cells"]
    return found


def test_each_notebook_is_here_and_listed() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.ipynb")} == SHOWN.keys()
    readme = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert set(re.findall(r"\((\w+)\.ipynb\)", readme)) == SHOWN.keys()


@pytest.mark.parametrize("name", SHOWN)
def test_notebooks_hold_no_output(name: str) -> None:
    found = cells(name)
    assert len({cell["id"] for cell in found}) == len(found)
    for cell in found:
        assert cell["cell_type"] == "markdown" or (cell["outputs"], cell["execution_count"]) == ([], None)
    links = re.findall(r"\]\((\.\./[^)]+)\)", "".join("".join(cell["source"]) for cell in found))
    assert all((EXAMPLES / link).exists() for link in links)


@pytest.mark.parametrize("name", SHOWN)
def test_every_cell_runs(name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    if name == "ask_in_sql" or name == "compare_runs":
        pytest.importorskip("duckdb")
    monkeypatch.chdir(EXAMPLES)
    variables: dict[str, Any] = {}
    shown = [displayed("".join(cell["source"]), variables) for cell in cells(name) if cell["cell_type"] == "code"]
    text = "\n".join([*shown, capsys.readouterr().out])
    assert not [promised for promised in SHOWN[name] if promised not in text]


def displayed(code: str, variables: dict[str, Any]) -> str:
    """Run a cell; what a notebook shows of its last line, as text and as HTML."""
    tree = ast.parse(code)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), variables)
    if not isinstance(last, ast.Expr):
        return ""
    value = eval(compile(ast.Expression(last.value), "cell", "eval"), variables)
    rich = [getattr(value, name)() for name in ("_repr_html_", "_repr_markdown_") if hasattr(value, name)]
    return "\n".join([repr(value), *map(str, rich)])
