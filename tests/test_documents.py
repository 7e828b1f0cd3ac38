"""The site of the documents: each tool has a page with all that it answers, and what Python offers is explained."""

import importlib
import importlib.util
from types import ModuleType

import pytest
from checkout import ROOT

from tb_profile_plugin import tools


@pytest.fixture(scope="module")
def documents() -> ModuleType:
    spec = importlib.util.spec_from_file_location("documents", ROOT / "scripts/documents.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", tools.find())
def test_the_page_of_a_tool_tells_all_that_it_answers(documents: ModuleType, name: str) -> None:
    tool = tools.get(name)
    text = documents.tool_page(tool, True)
    assert text.startswith(f"# {tool.title}\n\n**{tool.doc.split()[0]} ")
    assert f"pictures/{name}.png" in text and f"tb-profile tool {name} logs" in text
    ids = [column.id for column in tool.facts] + [column.id for table in tool.tables for column in table.columns]
    assert [line.split("`")[1] for line in text.splitlines() if line.startswith("| `")] == [
        *(param.name for param in tool.params),
        *ids,
    ]


def test_what_python_offers_is_there_and_explained(documents: ModuleType) -> None:
    for path, members in documents.PYTHON.items():
        module, _, name = path.rpartition(".")
        owner = getattr(importlib.import_module(module), name) if name[0].isupper() else importlib.import_module(path)
        assert owner.__doc__
        for member in members:
            assert getattr(owner, member).__doc__, member
    assert {"why", "compare", "sql", "steps"} <= set(documents.PYTHON["tb_profile_plugin.api.Capture"])
    assert "::: tb_profile_plugin.api.Capture" in documents.api_page()
