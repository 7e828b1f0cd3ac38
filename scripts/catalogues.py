"""Texts in use, and what the catalogues say for them; see `scripts/messages`."""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from tb_profile_plugin.analysis.activity.states import CATEGORIES
from tb_profile_plugin.analysis.diagnosis.catalogue import LABELS, TEMPLATES
from tb_profile_plugin.analysis.diagnosis.remedies.texts import REMEDIES
from tb_profile_plugin.runtime.messages import ENGLISH, FOLDER, LANGUAGES, Message, slots
from tb_profile_plugin.tools import all_tools
from tb_profile_plugin.tools.answers.answer import facts_with_baseline
from tb_profile_plugin.tools.answers.tool import Tool
from tb_profile_plugin.tools.columns import selection

_ROOT = Path(__file__).resolve().parent.parent
_PACKAGE = _ROOT / "tb_profile_plugin"
_PAGES = _ROOT / "frontend" / "src"
_OF_PAGES = re.compile(r"""\bt\(\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)')""")
CATALOGUES = tuple(f"{part}{language}" for part in ("", "pages.") for language in LANGUAGES if language != ENGLISH)


def texts_in_use(catalogue: str) -> frozenset[str]:
    """English texts that a catalogue is to hold."""
    return texts_of_pages() if catalogue.startswith("pages.") else texts_of_package()


@cache
def texts_of_pages() -> frozenset[str]:
    """What the pages' own code says."""
    found: set[str] = set()
    for path in sorted(_PAGES.rglob("*.ts*")):
        for double, single in _OF_PAGES.findall(path.read_text(encoding="utf-8")):
            found.add(json.loads(f'"{double}"') if double else single.replace("\\'", "'"))
    return frozenset(found)


@cache
def texts_of_package() -> frozenset[str]:
    """What the package says: its messages, what tools declare, and the sentences of the diagnosis."""
    found = {*TEMPLATES.values(), *REMEDIES.values(), *LABELS.values(), *_OF_ARGPARSE} | {
        category.label for category in CATEGORIES
    }
    # The table of a route, which no tool declares.
    found.update(text for column in selection.TABLE.columns for text in (column.label, column.doc))
    for path in sorted(_PACKAGE.rglob("*.py")):
        found.update(_messages(ast.parse(path.read_text(encoding="utf-8"))))
    for tool in all_tools().values():
        found.update(map(_template, _declared(tool)))
    return frozenset(found - {""})


_OF_ARGPARSE = (
    "usage: ",
    "positional arguments",
    "options",
    "show program's version number and exit",
    "%(prog)s: error: %(message)s\n",
    "argument %(argument_name)s: %(message)s",
    "unrecognized arguments: %s",
    "the following arguments are required: %s",
    "invalid choice: %(value)r (choose from %(choices)s)",
    "invalid %(type)s value: %(value)r",
    "expected one argument",
    "expected at least one argument",
    "expected %s argument",
    "expected %s arguments",
    "ignored explicit argument %r",
    "ambiguous option: %(option)s could match %(matches)s",
)
"""What it says of the command's parsers, which looks it up itself: see `translate_argparse`."""
_SLOTS: Mapping[str, tuple[int | str, ...]] = {
    "Message": (0,),
    "message": (0,),
    "localized": (0,),
    "sentences": (0, 1, 2, 3),
    "Problem": (1, 2, "message", "remedy"),
    "problem_error": (1, 2, "message", "remedy"),
    "Headline": (0, 3, "text", "doubt"),
    "FileKind": (0, 1),
    "Range": (2,),
    "_Outcome": ("answer", "evidence", "todo"),
    "table_lines": (0,),
    "titled_table": (0, 1),
    "_table": (0, 1),
    "bullets": (0,),
    "Limit": (2,),
    "Finding": (1, 2),
    "add_argument": ("help",),
    "add_parser": ("help", "epilog"),
    "Parser": ("description",),
    "Column": (1, "label", "doc"),
    "Table": (1, "label", "doc"),
}
"""Places and names of the arguments that hold texts for people, by what is called."""


def _messages(tree: ast.AST) -> Iterator[str]:
    """Of literals that calls turn into messages."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        slots_of_call = _SLOTS.get(name, ())
        for argument in (
            *(value for at, value in enumerate(node.args) if at in slots_of_call),
            *(item.value for item in node.keywords if item.arg in slots_of_call),
        ):
            yield from _literals(argument)


def _literals(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        # Heads over numbers are marked.
        yield node.value.removeprefix("#") if node.value[1:2].isalnum() else node.value
    elif isinstance(node, ast.Tuple):
        for element in node.elts:
            yield from _literals(element)
    elif isinstance(node, ast.IfExp):
        yield from _literals(node.body)
        yield from _literals(node.orelse)


def _declared(tool: Tool) -> Iterator[str]:
    yield from (tool.title, tool.doc, tool.group)
    yield from (param.doc for param in tool.params)
    for fact in facts_with_baseline(tool.facts):
        yield from (fact.label, fact.doc)
    for table in tool.tables:
        yield from (weight.label for weight in (table.stacks.weights if table.stacks else ()))
        for one in (table, table.with_baseline):
            yield from (one.label, one.doc)
            for column in one.columns:
                yield from (column.label, column.doc)


def _template(text: str) -> str:
    return text.template if isinstance(text, Message) else text


def read(catalogue: str) -> dict[str, str]:
    """Translations by English text."""
    path = FOLDER / f"{catalogue}.json"
    content: dict[str, str] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return content


def write(catalogue: str, translations: dict[str, str]) -> None:
    """As JSON with a line for each text, sorted."""
    content = json.dumps(dict(sorted(translations.items())), ensure_ascii=False, indent=1)
    (FOLDER / f"{catalogue}.json").write_text(content + "\n", encoding="utf-8")


def faults(english: str, translation: str) -> list[str]:
    """What is wrong with a translation as far as its form goes: other arguments, or none of the text's braces."""
    try:
        wanted, found = _placeholders(english), _placeholders(translation)
    except ValueError as error:
        return [str(error)]
    return [f"lacks {name}" for name in sorted(wanted - found)] + [f"has {name}" for name in sorted(found - wanted)]


def _placeholders(text: str) -> set[str]:
    """Where arguments are put in, of messages and of `argparse`."""
    return {f"{{{name}}}" for name in slots(text)} | {*re.findall(r"%(?:\(\w+\))?[sr%]", text)}


def main(arguments: list[str]) -> int:
    """One command; returns the exit code."""
    match arguments:
        case []:
            for catalogue in CATALOGUES:
                texts, translations = texts_in_use(catalogue), read(catalogue)
                wrong = sum(bool(faults(*pair)) for pair in translations.items())
                missing, unused = len(texts - {*translations}), len({*translations} - texts)
                print(f"{catalogue}: {len(texts)} texts, {missing} missing, {unused} unused, {wrong} wrong")
        case ["missing", catalogue, *window]:
            missing_texts = sorted(texts_in_use(catalogue) - {*read(catalogue)})
            first, count = map(int, window or (0, len(missing_texts)))
            print(json.dumps(dict.fromkeys(missing_texts[first : first + count], ""), ensure_ascii=False, indent=1))
        case ["add", catalogue, file]:
            more: dict[str, str] = json.loads(Path(file).read_text(encoding="utf-8"))
            wrong_pairs = [
                (english, found) for english, text in more.items() if (found := faults(english, text or english))
            ]
            for english, found in wrong_pairs:
                print(f"{english!r}: {', '.join(found)}", file=sys.stderr)
            wrong_texts = {english for english, _ in wrong_pairs}
            good = {english: text for english, text in more.items() if text and english not in wrong_texts}
            write(catalogue, read(catalogue) | good)
            return 1 if wrong_pairs else 0
        case ["tidy"]:
            for catalogue in CATALOGUES:
                texts = texts_in_use(catalogue)
                write(catalogue, {english: text for english, text in read(catalogue).items() if english in texts})
        case ["rename", old, new]:
            for catalogue in CATALOGUES:
                translations = read(catalogue)
                if old in translations:
                    translations[new] = translations.pop(old)
                    write(catalogue, translations)
        case _:
            print(
                "usage: scripts/messages [missing CATALOGUE [FIRST COUNT] | add CATALOGUE FILE | tidy | rename OLD NEW]"
            )
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
