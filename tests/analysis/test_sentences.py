"""What users read of a diagnosis is plain: short, the subject first, one pair of figures, nothing glued together."""

import re
import string
from collections.abc import Iterator
from pathlib import Path

import figures
import pytest
from package_texts import Text, package_texts

import tb_profile_plugin
from tb_profile_plugin import tools
from tb_profile_plugin.analysis.diagnosis.catalogue import TEMPLATES, Sentence, joined
from tb_profile_plugin.analysis.diagnosis.causes import HOST_LATE
from tb_profile_plugin.analysis.diagnosis.remedies.remedy import remedy
from tb_profile_plugin.analysis.diagnosis.remedies.texts import REMEDIES
from tb_profile_plugin.tools.answers.tool import Tool

TESTS = Path(__file__).resolve().parent.parent
SHARED = TESTS.parent.parent / "shared"
WORDS = 20
"""No sentence has more; a name that the program gave counts as one."""
RIDDLES = re.compile(
    r"(?i)\b(?:at most won|goes into|about as much|of the rest|each time|in which no steps|that which|late peer|"
    r"goes on late|told apart|which the capture holds|nothing amiss|can be won|waits in a call|take .* out of)\b"
)
"""Phrases that readers did not understand, or that say more than is known."""
PRIVATE = re.compile(
    r"(?i)\b(?:told|tells?|beside|that which|the like|of them|h[eo]lds? up|h[eo]lds? (?:it|them|the \w+) up|"
    r"what (?:was|is) there|those (?:that|of)|goes on|goes into|held against|a peer|go over|blank where|not known|"
    r"is no \w+[.,:;]|is no such|at best|to blame|by turns|kept|alike|apart|the same of|asked|lived|stretch\w*|"
    r"st[ao]nds? (?:behind|above|below)|l(?:ies|ay) (?:here|there)|framework's work|at most won|can be won|"
    r"in which no steps|each time)\b"
)
"""Words and phrases that only those who wrote the program understood."""
FRAGMENT = re.compile(
    r"(?:Of|By|In|As|With|Without|When|That|Those|The same|The rest|The most|Its|For|While|After|Over|Until|Since|"
    r"Still|Also|It|They|These|There|Then|And)\b"
)
"""Beginnings of explanations whose subject the reader would have to guess."""
VERBS = (
    *(
        "Pass",
        "Answer",
        "Sum",
        "Turn",
        "Detach",
        "Suppress",
        "Regularize",
        "Augment",
        "Convert",
        "Convolve",
        "Do",
        "Pad",
        "Serve",
        "Set",
        "Take",
        "Loop",
        "Fetch",
        "Broadcast",
        "Gather",
        "Add",
        "Call",
        "Capture",
        "Change",
        "Check",
        "Compile",
        "Decode",
        "Compute",
        "Copy",
        "Donate",
        "Evaluate",
        "Find",
        "Fuse",
        "Give",
    ),
    *(
        "Ignore",
        "Install",
        "Keep",
        "Launch",
        "Let",
        "Load",
        "Look",
        "Make",
        "Move",
        "Multiply",
        "On Nvidia, add",
        "Open",
    ),
    *(
        "Overlap",
        "Prefetch",
        "Prepare",
        "Print",
        "Put",
        "Read",
        "Record",
        "Reduce",
        "Remove",
        "Replace",
        "Replay",
        "Request",
        "Reuse",
        "Run",
        "Save",
    ),
    *(
        "Send",
        "Shard",
        "Solve",
        "Sort",
        "Split",
        "Start",
        "Sum",
        "Detach",
        "Suppress",
        "Stop",
        "Then read",
        "Trace",
        "Update",
        "Use",
        "Wrap",
        "Write",
    ),
)
"""How remedies begin: they are imperatives."""


def captures() -> Iterator[Path]:
    """In the tree, and beside it where it stands among captures."""
    yield from sorted(path for path in (TESTS / "traces").iterdir() if path.is_dir())
    yield from sorted((TESTS / "planted" / "captured").glob("*/with*"))
    for folder in ("profiles", "profiles-kineto", "planted"):
        found = SHARED / folder
        yield from sorted(path for path in found.iterdir() if path.is_dir()) if found.is_dir() else ()


def sentences(text: str) -> list[str]:
    return re.split(r"(?<=[a-z)\]])[.:;] ", text)


def words(text: str, names: list[str]) -> int:
    """Of a text whose names count as one word each."""
    for name in sorted(names, key=len, reverse=True):
        text = text.replace(name, "X")
    return len(text.split())


@pytest.mark.parametrize("path", list(captures()), ids=lambda path: "-".join(path.parts[-2:]))
def test_a_headline_is_one_short_sentence(path: Path) -> None:
    why = tb_profile_plugin.open(path).answer("why")
    text = why["headline"]["text"]
    if why["headline"]["code"] == "":
        return  # of a damaged file: a problem and its remedy
    names = [str(name) for name in figures.column(why, "names", "name")]
    names += [name.removesuffix(" (host memory)") for name in names]
    assert words(text, names) <= WORDS, text
    assert re.match(r"[A-Z\d]", text) and text.endswith(".") and not RIDDLES.search(text)
    assert len(re.findall(r"\d of \d|\d+ of \d+", text)) <= 1, text
    assert not re.search(r"\{|\}|  | ,|\.\.|, \.|None", text), text


@pytest.mark.parametrize("code", list(TEMPLATES))
def test_a_template_is_short(code: str) -> None:
    template = TEMPLATES[code]
    assert not RIDDLES.search(template)
    for each in sentences(template):
        # A share and a pair of figures are two words and four; labels, lists and names at most five.
        more = {"share": 1, "spent_pair": 3, "span": 1, "time_ps": 1, "step_ps": 1, "op_ps": 1, "more_ps": 1}
        fields = [field for _, field, _, _ in string.Formatter().parse(each) if field]
        assert len(each.split()) + sum(more.get(field, 0) for field in fields) <= WORDS, each


@pytest.mark.parametrize("code", [code for code in TEMPLATES if code.startswith(("headline.", "input."))])
def test_a_headline_is_short_with_its_longest_arguments(code: str) -> None:
    kind = "pause." if code == "headline.pause" else "label."
    ids = [id for id in TEMPLATES if id.startswith(kind) and (kind == "pause." or id.removeprefix(kind) in HOST_LATE)]
    *_, second, longest = sorted(map(Sentence, ids), key=lambda part: len(part.text.split()))
    arguments = {
        **{"share": 0.86, "spent_pair": (9_618 * 10**6, 46_900 * 10**6), "span": Sentence("span.period")},
        **{"device": "GPU", "host": "worker-12", "stage": "ParallelMap", "time_ps": 9_618 * 10**6},
        **{"count": 1_228, "all_count": 12_280, "steps": 2_000, "every": 50, "factor": "8.4"},
        **{"parts": joined([second, longest]), "label": longest, "name": "update (train.py:20)"},
    }
    for rest in (
        Sentence("mostly.some", {"names": joined(["first_kernel", "second_kernel"])}),
        Sentence("mostly.led", {"name": "first_kernel"}),
        Sentence("mostly.once"),
        Sentence("mostly.seldom", {"count": 3}),
        Sentence("mostly.every", {"every": 50}),
        Sentence("mostly.unrecorded"),
        Sentence("mostly.not_recorded", {"device": "GPU"}),
    ):
        text = Sentence(code, arguments | {"names": rest}).text
        assert all(len(sentence.split()) <= WORDS for sentence in sentences(text)), text


@pytest.mark.parametrize("key", list(REMEDIES), ids="-".join)
def test_a_remedy_is_an_imperative(key: tuple[str, str, str]) -> None:
    text = REMEDIES[key]
    assert text.startswith(VERBS) and text.endswith(".") and not RIDDLES.search(text)
    assert all(len(each.split()) <= WORDS for each in sentences(text)), text


@pytest.mark.parametrize("framework", ["pytorch", "jax", "tensorflow"])
def test_no_remedy_speaks_of_a_gpu_where_there_is_none(framework: str) -> None:
    causes = {key[0] for key in REMEDIES} - {"cpu_ops", "gpu_unused", "not_recorded", "counted", "freed"}
    of_devices = {"transfer", "copy_pageable", "copy_within", "copy_back", "exposed_copy", "host_offload", "float32"}
    for cause in causes - of_devices:
        found = remedy(framework, cause, facts=frozenset({"on_cpu"}))
        assert not re.search(r"(?i)cuda|gpu|pinned|kernel", found.text), found.text


@pytest.mark.parametrize("tool", list(tools.all_tools().values()), ids=lambda tool: tool.name)
def test_explanations_name_their_subject_in_short_sentences(tool: Tool) -> None:
    columns = [*tool.facts, *(column for table in tool.tables for column in table.columns)]
    docs = {each.id: each.doc for each in columns} | {f"table {table.id}": table.doc for table in tool.tables}
    docs |= {f"option {option.name}": option.doc for option in tool.params} | {"question": tool.doc}
    assert not {id: doc for id, doc in docs.items() if any(len(each.split()) > WORDS for each in sentences(doc))}
    assert not {
        id: doc for id, doc in docs.items() if PRIVATE.search(doc) or (id != "question" and FRAGMENT.match(doc))
    }


def test_texts_for_users_are_plain() -> None:
    texts = list(package_texts())
    assert len(texts) > 2000, "most texts were not found"
    assert not [text for text in texts if PRIVATE.search(text.words)]
    assert not [text for text in texts if any(len(each.split()) > WORDS for each in sentences(text.words))]


@pytest.mark.parametrize("words", ["The capture tells nothing.", "Blank where not known", "What holds the step up"])
def test_private_words_are_found(words: str) -> None:
    assert PRIVATE.search(Text("", words).words)


def test_a_figure_and_its_whole_have_one_unit() -> None:
    def pair(part: int, whole: int) -> str:
        return Sentence("input.little", {"share": 0.1, "span": Sentence("span.step"), "spent_pair": (part, whole)}).text

    assert "(0.53 of 1.29 ms)" in pair(529 * 10**6, 1_290 * 10**6)
    assert "(9.62 of 46.9 ms)" in pair(9_618 * 10**6, 46_900 * 10**6)
    assert "(81.1 µs of 648 ms)" in pair(811 * 10**5, 648_000 * 10**6)
