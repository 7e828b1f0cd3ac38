"""Texts in several languages: what is put in, what stays English, and who hears which."""

import json
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from tb_profile_plugin.cli import main
from tb_profile_plugin.runtime import messages
from tb_profile_plugin.runtime.messages import (
    FOLDER,
    Message,
    best_language,
    catalogue_key,
    localized,
    message_data,
    message_of,
    slots,
    some_of,
    translated,
    use_language,
)
from tb_profile_plugin.runtime.problems import Problem

SPEND = "{name} takes {share} of {span} ({spent_pair})."


@pytest.fixture
def catalogue(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = {
        SPEND: "{span}의 {share}({spent_pair}): {name}",
        "the step": "스텝",
        "{figure} of {total}": "{total} 중 {figure}",
    }
    monkeypatch.setattr(messages, "_catalogue", {"ko": texts, "ja": {}}.__getitem__)


def spend() -> Message:
    return Message(SPEND, name="MatMul", share=0.4, span=Message("the step"), spent_pair=(2e9, 5e9))


def test_a_message_is_its_english_text() -> None:
    assert spend() == "MatMul takes 40 % of the step (2.00 of 5.00 ms)."
    assert json.dumps([spend()]) == '["MatMul takes 40 % of the step (2.00 of 5.00 ms)."]'


@pytest.mark.usefixtures("catalogue")
def test_a_message_knows_its_arguments_in_another_language_and_process() -> None:
    sent = pickle.loads(pickle.dumps(spend()))
    assert sent.in_language("ko") == "스텝의 40%(5.00 ms 중 2.00): MatMul"
    assert sent.in_language("ja") == spend(), "what a catalogue lacks is English as a whole"


@pytest.mark.usefixtures("catalogue")
def test_messages_within_data_are_translated_and_names_are_not() -> None:
    data = {"label": Message("the step"), "rows": [["the step", Message("the step"), 3, None]]}
    with use_language("ko"):
        assert translated(data) == {"label": "스텝", "rows": [["the step", "스텝", 3, None]]}
        assert localized("the step") == "스텝"
    assert translated(data) is data


@pytest.mark.usefixtures("catalogue")
def test_a_name_that_reads_as_a_message_stays_a_name_among_names() -> None:
    with use_language("ko"):
        assert translated(some_of(["the step"], 1)) == "the step"
        assert translated(some_of([Message("the step")], 1)) == "스텝"


@pytest.mark.usefixtures("catalogue")
def test_a_message_as_plain_data_is_the_same_in_every_language() -> None:
    with use_language("ko"):
        data = json.loads(json.dumps(translated({"text": spend(), "messages": message_data(spend())})))
    assert data["text"] == "스텝의 40%(5.00 ms 중 2.00): MatMul"
    assert data["messages"] == {
        "template": SPEND,
        "arguments": {
            "name": "MatMul",
            "share": 0.4,
            "span": {"template": "the step", "arguments": {}},
            "spent_pair": [2e9, 5e9],
        },
    }
    assert message_of(data["messages"]).in_language("ko") == data["text"]
    assert message_data("MatMul") is message_data(Message("the step")) is None


@pytest.mark.usefixtures("catalogue")
def test_a_problem_comes_back_from_its_plain_data() -> None:
    problem = Problem("slow", spend(), "Try again.", "a.xplane.pb", "info", ("average",))
    with use_language("ko"):
        kept = json.loads(json.dumps(translated(problem.as_json())))
    restored = Problem.from_json(kept)
    assert (restored.message, restored.remedy, restored.affects) == (spend(), "Try again.", ("average",))
    assert restored.as_json() == problem.as_json()


def test_a_number_chooses_the_form_and_a_choice_the_text() -> None:
    steps = "{count, plural, one {# step} other {# steps}} {side, select, host {on the host} other {elsewhere}}"
    assert Message(steps, count=1, side="host") == "1 step on the host"
    assert Message(steps, count=1234, side="gpu") == "1,234 steps elsewhere"
    assert slots(steps) == {"count", "side"}


def test_a_text_without_arguments_is_taken_as_it_stands() -> None:
    assert Message("a {brace") == "a {brace"
    with pytest.raises(ValueError, match="brace"):
        Message("a {brace", brace=1)


def test_the_first_wanted_language_that_is_there_counts() -> None:
    assert best_language(["zh_CN.UTF-8", "ko"]) == "zh"
    assert best_language(["de-DE", "ja-JP"]) == "ja"
    assert best_language(["C", "POSIX", ""]) == "en"


def test_texts_of_pages_are_marked_as_the_pages_do_and_each_by_its_own() -> None:
    assert [catalogue_key(text) for text in ("", "Show all", "“{name}” · 日本語")] == ["811c9d", "4c83d", "34ac32"]
    texts = {text for path in FOLDER.glob("pages.*.json") for text in json.loads(path.read_text("utf-8"))}
    assert len({catalogue_key(text) for text in texts}) == len(texts)


TRACE = str(Path(__file__).resolve().parent.parent / "traces/jax_steps")


def test_no_answer_of_one_language_is_given_in_another(capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever the result cache holds of it."""
    said: dict[str, str] = {}
    for language in ("en", "zh", "en", "zh", "ko"):
        assert main.main(["summary", TRACE, "--lang", language]) == 0
        answer = capsys.readouterr().out
        assert said.setdefault(language, answer) == answer
    assert len(set(said.values())) == 3
    assert "Causes and remedies" in said["en"] and "Causes and remedies" not in said["zh"]


def test_programs_hear_english_unless_they_ask(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    main.main(["why", TRACE])
    assert "Host synchronization" in capsys.readouterr().out, "standard output is no terminal"
    monkeypatch.setenv("TB_PROFILE_LANG", "zh")
    main.main(["why", TRACE])
    assert "主机同步" in capsys.readouterr().out
    main.main(["tool", "why", TRACE])
    assert "主机同步" not in capsys.readouterr().out, "JSON is for programs"


def test_no_catalogue_is_read_for_english() -> None:
    program = (
        "from tb_profile_plugin.cli.main import main; from tb_profile_plugin.runtime import messages;"
        f"main(['tool', 'overview_page', {TRACE!r}]); print(messages._catalogue.cache_info().currsize)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "0"


@pytest.mark.parametrize(("code", "text"), [("en", "37.1 %"), ("ko", "37.1%"), ("ja", "37.1%"), ("zh", "37.1%")])
def test_a_percent_sign_stands_as_the_language_sets_it(code: str, text: str) -> None:
    with use_language(code):
        assert messages.with_percent("37.1") == text


@pytest.mark.parametrize(
    ("template", "name", "text"),
    [
        ("これは {name}です。", "テキスト", "これはテキストです。"),
        ("これは{name}です。", "JSON", "これは JSON です。"),
        ("{name} は", "ほかのランク", "ほかのランクは"),
        ("{name} は", "rank 3", "rank 3 は"),
        ("共 {name}，", "12 个", "共 12 个，"),
        ("{name} (x)", "86%", "86% (x)"),
        ("{name} JSON", "終わりです。", "終わりです。JSON"),
    ],
)
def test_spaces_stand_between_letters_of_two_scripts_only(
    template: str, name: str, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(messages, "_catalogue", lambda _: {"{name}": template})
    assert Message("{name}", name=name).in_language("ja") == text
