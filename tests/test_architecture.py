"""The package's order: data flows one way, files and folders are small, no name is of a place of one's own."""

import ast
import re
from collections.abc import Iterator, Mapping, Set
from functools import cache
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "tb_profile_plugin"
ORDER = {
    "": (
        *("runtime", "formats", "capture", "store", "model", "analysis", "timeline", "tools", "export", "compat"),
        *("budgets", "serve", "api", "__init__", "cli", "plugin", "__main__"),
    ),
    "formats": ("columns", "xspace", "kineto"),
    "model": ("names", "events", "steps", "devices"),
    "analysis": (
        *("xla", "ops", "activity", "labels", "steps", "workers", "tfdata", "diagnosis", "health", "digest"),
        *("compare", "hang"),
    ),
    "analysis/activity": ("devices", "replay"),
    "tools": ("answers", "columns"),
    "analysis/diagnosis": ("program", "remedies", "work"),
    "analysis/diagnosis/program": ("torch", "tensorflow"),
    "export": ("frames", "report", "sql"),
}
"""Of folders, and at the top of modules, too: each imports from those before it alone."""
ALONE = {
    **{"runtime": ("jit",), "formats/xspace": ("hlo",), "compat": ("step_account",), "serve": ("routes",)},
    "analysis/xla": ("avoidable",),
}
"""Folders that hold one other."""
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if not path.is_relative_to(PACKAGE / "compat/paths"))
SOURCES = [*MODULES, *sorted((ROOT / "tests").rglob("*.py")), *sorted((ROOT / "scripts").rglob("*.py"))]
"""The frontend's own test of this kind is frontend/test/architecture.test.ts."""
FOLDERS = sorted({path.parent for path in MODULES})

Module = tuple[str, ...]
"""Where it lies below the package, e.g. ``("model", "host")``; of a folder itself ``("store", "__init__")``."""


def module_of(path: Path) -> Module:
    return path.relative_to(PACKAGE).with_suffix("").parts


@cache
def imports() -> Mapping[Module, Set[Module]]:
    """What each module imports of the package, also inside functions and for types alone."""
    known = {module_of(path) for path in MODULES}
    return {module_of(path): frozenset(_imported(path, known)) for path in MODULES}


def _imported(path: Path, known: Set[Module]) -> Iterator[Module]:
    package = path.relative_to(PACKAGE).parts[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            below = tuple(node.module.split(".")) if node.module else ()
            if node.level:
                base = (*package[: len(package) - node.level + 1], *below)
            elif below[:1] == ("tb_profile_plugin",):
                base = below[1:]
            else:
                continue
            names = [(*base, alias.name) for alias in node.names]
        elif isinstance(node, ast.Import):
            split = [alias.name.split(".") for alias in node.names]
            names = [(*parts[1:], "") for parts in split if parts[0] == "tb_profile_plugin"]
        else:
            continue
        for name in names:
            found = next((each for each in (name, (*name, "__init__"), name[:-1]) if each in known), None)
            found = found or (*name[:-1], "__init__")
            if found != module_of(path):
                yield found


def circles(arrows: Mapping[Any, Set[Any]]) -> dict[Any, set[Any]]:
    """What imports each other, with what lies between them; empty where there is an order."""
    left = {each: set(others) & set(arrows) for each, others in arrows.items()}
    while first := {each for each, others in left.items() if not others}:
        left = {each: others - first for each, others in left.items() if each not in first}
    while last := left.keys() - set().union(*left.values()):
        left = {each: others for each, others in left.items() if each not in last}
    return left


def children(folder: Path) -> dict[str, set[str]]:
    """What lies in a folder, modules and folders, and what each imports of its neighbours."""
    where = folder.relative_to(PACKAGE).parts
    found: dict[str, set[str]] = {}
    for module, imported in imports().items():
        if module[: len(where)] == where:
            own = module[len(where)]
            others = {each[len(where)] for each in imported if each[: len(where)] == where}
            found.setdefault(own, set()).update(others - {own})
    return found


def test_modules_do_not_import_in_circles() -> None:
    assert circles(imports()) == {}


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: str(folder.relative_to(PACKAGE)))
def test_what_lies_in_a_folder_does_not_import_in_circles(folder: Path) -> None:
    """A folder within counts as one: what it imports and what imports it are never the same."""
    assert circles(children(folder)) == {}


@pytest.mark.parametrize("place", ORDER)
def test_imports_point_one_way(place: str) -> None:
    order = ORDER[place]
    found = children(PACKAGE / place)
    wrong = {each: found[each] & {*order[order.index(each) :]} for each in order if each in found}
    assert {each: names for each, names in wrong.items() if names} == {}


def test_every_folder_is_in_an_order() -> None:
    found = {str(path.relative_to(PACKAGE)) for path in FOLDERS if path != PACKAGE}
    listed = {f"{place}/{name}".lstrip("/") for place, names in (ORDER | ALONE).items() for name in names}
    assert found <= listed
    assert {path.stem for path in PACKAGE.glob("*.py")} <= set(ORDER[""])


def test_no_file_is_too_long() -> None:
    lengths = {str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines()) for path in SOURCES}
    assert {name: length for name, length in lengths.items() if length > 400} == {}


def test_no_folder_holds_too_much() -> None:
    """Twenty modules; at the top fifteen names, besides those that Python wants."""
    counts = {str(path.relative_to(ROOT)): len(list(path.glob("*.py"))) for path in FOLDERS}
    assert {name: count for name, count in counts.items() if count > 20} == {}
    assert len({module_of(path)[0] for path in MODULES} - {"__init__", "__main__"}) <= 15


@pytest.mark.parametrize("folder", FOLDERS[1:], ids=lambda folder: str(folder.relative_to(PACKAGE)))
def test_a_folder_says_what_its_modules_are(folder: Path) -> None:
    """In its README, which those of three modules and more have; no module that it names is gone."""
    modules = {path.stem for path in folder.glob("*.py")} - {"__init__"}
    readme = folder / "README.md"
    if not readme.exists():
        assert len(modules) < 3
        return
    text = readme.read_text(encoding="utf-8")
    assert {name for name in modules if not re.search(rf"`{name}(\.py)?`", text)} == set()
    assert set(re.findall(r"`(\w+)\.py`", text)) <= modules | {"__init__"}


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


def test_named_tuples_are_those_that_load_fast() -> None:
    pattern = re.compile(r"^from typing import .*\bNamedTuple\b|@dataclass\(eq=False, repr=False\)", re.MULTILINE)
    assert [str(path) for path in MODULES if pattern.search(path.read_text(encoding="utf-8"))] == []


def test_environment_variables_are_named_in_one_place() -> None:
    found = [path.name for path in MODULES if "TB_PROFILE_" in path.read_text(encoding="utf-8")]
    assert found == ["settings.py"]


@pytest.mark.parametrize("path", sorted((ROOT / "tests/browser").glob("*.py")), ids=lambda path: path.name)
def test_a_page_is_awaited_by_what_it_shows(path: Path) -> None:
    """A fixed wait is too short where much else runs, and too long everywhere else."""
    assert re.findall(r"\b(?:wait_for_timeout|sleep)\(|networkidle", path.read_text(encoding="utf-8")) == []


def test_planes_and_lines_are_named_in_one_place() -> None:
    """But for redaction, which keeps names of any kind, and for what other formats call them."""
    pattern = re.compile(r"""["'](?:/(?:host|device):[A-Za-z:]*|XLA (?:Ops|Modules)|Task Environment)["']""")
    allowed = {"formats/columns/vocabulary.py", "export/redact.py", "export/vocabulary.py", "export/share.py"}
    found = {str(path.relative_to(PACKAGE)) for path in MODULES if pattern.search(path.read_text(encoding="utf-8"))}
    assert found - allowed == set()
