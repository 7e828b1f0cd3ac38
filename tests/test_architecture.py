"""The package's order: data flows one way, files stay small, nothing names a place that is not everybody's."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "tb_profile_plugin"
ORDER = [
    *("problems", "terminal", "settings", "protos", "arrays", "jit", "runtime"),
    *(
        "columns",
        "xspace",
        "kineto",
        "foreign",
        "formats",
        "capture",
        "store",
        "model",
        "analysis",
        "compare",
        "timeline",
        "export",
        "contract",
        "frames",
        "sql",
        "tools",
        "compat",
        "report",
        "gate",
        "serve",
    ),
]
ABOVE = {
    "__init__",
    "__main__",
    "api",
    "asking",
    "assisting",
    "checking",
    "cli",
    "completion",
    "handing",
    "judging",
    "mcp",
    "plugin",
}
"""Entrances to the package: they import from anywhere, and only `serve` and they may name `__version__`."""
MODULES = sorted(path for path in PACKAGE.rglob("*.py"))
SOURCES = [*MODULES, *sorted((ROOT / "tests").rglob("*.py")), *sorted((ROOT / "scripts").rglob("*.py"))]
"""The frontend's own test of this kind is frontend/test/architecture.test.ts."""


def part_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported_parts(path: Path) -> set[str]:
    """First parts, below the package, of everything that a module imports, also inside functions."""
    package = ["tb_profile_plugin", *path.relative_to(PACKAGE).parts[:-1]]
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            names = [*base, *(node.module.split(".") if node.module else [])]
            targets = [names] if len(names) > 1 or not node.level else [[*names, alias.name] for alias in node.names]
        elif isinstance(node, ast.Import):
            targets = [alias.name.split(".") for alias in node.names]
        else:
            continue
        found |= {target[1] for target in targets if target[0] == "tb_profile_plugin" and len(target) > 1}
    return found


def test_imports_point_one_way() -> None:
    wrong = {}
    for path in MODULES:
        part = part_of(path)
        if part not in ABOVE:
            wrong[str(path.relative_to(PACKAGE))] = imported_parts(path) - {
                *ORDER[: ORDER.index(part) + 1],
                "__version__",
            }
    assert {path: parts for path, parts in wrong.items() if parts} == {}


def test_no_file_is_too_long() -> None:
    lengths = {str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines()) for path in SOURCES}
    assert {name: length for name, length in lengths.items() if length > 400} == {}


def test_nothing_imports_tensorflow() -> None:
    frameworks = {"tensorflow", "xprof", "jax", "torch"}
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                assert not frameworks & {alias.name.split(".")[0] for alias in node.names}, path
            elif isinstance(node, ast.ImportFrom) and not node.level:
                assert (node.module or "").split(".")[0] not in frameworks, path


def test_no_property_shares_a_lock_with_those_of_other_objects() -> None:
    pattern = re.compile(r"^from functools import .*\bcached_property\b|@(?:functools\.)?cached_property", re.MULTILINE)
    assert [str(path) for path in MODULES if pattern.search(path.read_text(encoding="utf-8"))] == []


def test_environment_variables_are_named_in_one_place() -> None:
    found = [path.name for path in MODULES if "TB_PROFILE_" in path.read_text(encoding="utf-8")]
    assert found == ["settings.py"]


def test_every_folder_of_the_package_is_in_the_order() -> None:
    folders = {path.parent.relative_to(PACKAGE).parts[0] for path in MODULES if path.parent != PACKAGE}
    assert folders <= set(ORDER)


@pytest.mark.parametrize("path", sorted((ROOT / "tests/browser").glob("*.py")), ids=lambda path: path.name)
def test_a_page_is_awaited_by_what_it_shows(path: Path) -> None:
    """A fixed wait is too short where much else runs, and too long everywhere else."""
    assert re.findall(r"\b(?:wait_for_timeout|sleep)\(|networkidle", path.read_text(encoding="utf-8")) == []


def test_planes_and_lines_are_named_in_one_place() -> None:
    """But for redaction, which keeps names of any kind, and for what other formats call them."""
    pattern = re.compile(r"""["'](?:/(?:host|device):[A-Za-z:]*|XLA (?:Ops|Modules)|Task Environment)["']""")
    allowed = {"columns/vocabulary.py", "export/redact.py", "export/vocabulary.py", "export/share.py"}
    found = {str(path.relative_to(PACKAGE)) for path in MODULES if pattern.search(path.read_text(encoding="utf-8"))}
    assert found - allowed == set()
