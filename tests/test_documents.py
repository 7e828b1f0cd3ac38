"""The documents: their sentences are short, and on their site each tool has a page with all that it answers, and what
Python offers is explained.
"""

import importlib
import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from checkout import ROOT

from tb_profile_plugin import tools

MOST_WORDS = 40
PACKAGE = ROOT / "tb_profile_plugin"
FOLDERS = [PACKAGE, ROOT / "examples", ROOT / "frontend"]
READMES = [readme for folder in FOLDERS for readme in folder.glob("**/README.md") if "node_modules" not in readme.parts]
PAGES = [
    page for page in sorted([*ROOT.glob("*.md"), *PACKAGE.glob("docs/*.md"), *READMES]) if page.name != "changelog.md"
]


def sentences(markdown: str) -> Iterator[str]:
    """What a document says in sentences: neither code nor tables nor headings; of a link its text alone."""
    prose = re.sub(r"^ *```.*?^ *```", "", markdown, flags=re.DOTALL | re.MULTILINE)
    prose = re.sub(r"^ *[|#].*$", "", prose, flags=re.MULTILINE)
    prose = re.sub(r"\]\([^)]*\)", "]", prose)
    for paragraph in re.split(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.)\s)", prose):
        # What goes on in small letters, as after "e.g.", is the same sentence.
        yield from re.split(r"(?<=[.!?:;])\s+(?=[^a-z])", " ".join(paragraph.split()))


@pytest.mark.parametrize("page", [pytest.param(page, id=str(page.relative_to(ROOT))) for page in PAGES])
def test_no_sentence_is_long(page: Path) -> None:
    long = [sentence for sentence in sentences(page.read_text(encoding="utf-8")) if len(sentence.split()) > MOST_WORDS]
    assert not long, f"{page.relative_to(ROOT)}: more than {MOST_WORDS} words: {long}"


def test_sentences_are_told_apart() -> None:
    markdown = "# Head\n\nOne [two](x.md). Three,\ne.g. four:\n\n- five\n- six\n\n| a | b |\n\n```sh\nseven\n```\n"
    assert list(filter(None, sentences(markdown))) == ["One [two].", "Three, e.g. four:", "- five", "- six"]


@pytest.fixture(scope="module")
def documents() -> ModuleType:
    spec = importlib.util.spec_from_file_location("documents", ROOT / "scripts/documents.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", tools.all_tools())
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
