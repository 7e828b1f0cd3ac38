"""Texts in several languages: what is put in, what stays English, and that catalogues fit the texts in use."""

import json
import pickle

import pytest

from tb_profile_plugin.runtime import messages
from tb_profile_plugin.runtime.messages import (
    FOLDER,
    Message,
    localized,
    mark,
    matching,
    slots,
    speaking,
    translated,
)

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
    with speaking("ko"):
        assert translated(data) == {"label": "스텝", "rows": [["the step", "스텝", 3, None]]}
        assert localized("the step") == "스텝"
    assert translated(data) is data


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
    assert matching(["zh_CN.UTF-8", "ko"]) == "zh"
    assert matching(["de-DE", "ja-JP"]) == "ja"
    assert matching(["C", "POSIX", ""]) == "en"


def test_texts_of_pages_are_marked_as_the_pages_do_and_each_by_its_own() -> None:
    assert [mark(text) for text in ("", "Show all", "“{name}” · 日本語")] == ["811c9d", "4c83d", "34ac32"]
    texts = {text for path in FOLDER.glob("pages.*.json") for text in json.loads(path.read_text("utf-8"))}
    assert len({mark(text) for text in texts}) == len(texts)
