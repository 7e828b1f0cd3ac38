"""Texts for people, in their language: a text in English with named arguments, which catalogues translate.

English is the key: `messages/LANGUAGE.json` holds what each text says in another language. A text that a catalogue
lacks stays English. Arguments stand as ``{name}``; what depends on a number or a choice stands as
``{count, plural, one {# step} other {# steps}}`` or ``{side, select, host {…} other {…}}``: a subset of ICU's
MessageFormat, which translators' tools know. What an argument is shows in its name: ``…_ps`` is a time, ``…_pair`` a
time and what it is a part of, ``…share`` a share of 1, ``…percent`` one with more digits; whole numbers get their
thousands marked; texts are put in as they are, and messages among them are translated.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache, partial, reduce
from pathlib import Path
from typing import Any

from .records import NamedTuple
from .units import duration, figure_and_total, percent

LANGUAGES = {"en": "English", "ko": "한국어", "ja": "日本語", "zh": "简体中文"}
"""Codes of the languages, and what each calls itself."""
ENGLISH = "en"
FOLDER = Path(__file__).resolve().parent.parent / "messages"
"""Where the catalogues are: ``LANGUAGE.json`` for texts of Python, ``pages.LANGUAGE.json`` for those of the pages."""

_language: ContextVar[str] = ContextVar("language", default=ENGLISH)


class Message(str):
    """A text in English that knows what it was made of, so that it can be said in another language later.

    It is a plain text to everything that knows nothing of languages. Put into an f-string or joined with another text
    it becomes one: such texts are messages of their own, with the parts as arguments.
    """

    template: str
    """With its arguments' names in braces; the key in the catalogues."""
    arguments: Mapping[str, Any]

    def __new__(cls, template: str, /, **arguments: Any) -> Message:
        """The template with its arguments; without arguments, it is taken as it stands."""
        self = super().__new__(cls, _filled(template, arguments, ENGLISH))
        self.template, self.arguments = template, arguments
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(Message, self.template, **self.arguments), ()

    def in_language(self, language: str) -> str:
        """The text in a language; in English where its catalogue lacks it."""
        translation = _catalogue(language).get(self.template) if language != ENGLISH else None
        return str(self) if translation is None else _filled(translation, self.arguments, language)


def message(text: str) -> Message:
    """A text without arguments as a message, unless it is one."""
    return text if isinstance(text, Message) else Message(text)


def message_data(text: object) -> dict[str, Any] | None:
    """A message with arguments as plain data: its template, and its arguments by name, in which messages are such
    data, too; None for any other text, which says by itself all that there is.
    """
    return _as_data(text) if isinstance(text, Message) and text.arguments else None


def _as_data(value: Any) -> Any:
    if isinstance(value, Message):
        return {
            "template": value.template,
            "arguments": {name: _as_data(content) for name, content in value.arguments.items()},
        }
    if isinstance(value, list | tuple):
        return [_as_data(content) for content in value]
    return value.item() if hasattr(value, "item") else value


def message_of(data: Any) -> Any:
    """The message or other value that `message_data` made this data of."""
    if isinstance(data, dict):
        return Message(data["template"], **{name: message_of(value) for name, value in data["arguments"].items()})
    return [message_of(value) for value in data] if isinstance(data, list) else data


def messages_by_name(texts: Mapping[str, str]) -> dict[str, Any]:
    """The member ``messages`` of plain data that holds these texts; empty where none of them has arguments."""
    data_by_name = {name: data for name, text in texts.items() if (data := message_data(text))}
    return {"messages": data_by_name} if data_by_name else {}


def sentences(*texts: str) -> Message:
    """Sentences one after another; what is empty is left out."""
    first, *rest = filter(None, map(message, texts))
    return Message("{first} {rest}", first=first, rest=sentences(*rest)) if rest else first


def shortened(text: str, most: int) -> str:
    """The text, or as much of it as fits into so many characters with a … at the end."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def listed(texts: Sequence[str]) -> Message:
    """Texts with commas between them."""
    if not texts:
        return Message("")
    first, *rest = map(message, texts)
    return Message("{first}, {rest}", first=first, rest=listed(rest)) if rest else first


def some_of(names: Sequence[str], most: int, count: int = 0) -> Message:
    """The first names, at most so many, and how many more there are; a name stays, though it read as a message does.

    ``count`` is how many there are where not all are given.
    """
    count = count or len(names)
    first = listed([name if isinstance(name, Message) else Message("{name}", name=name) for name in names[:most]])
    return Message("{names} and {count} more", names=first, count=count - most) if count > most else first


def all_of(names: Sequence[str]) -> Message:
    """Names as a list that ends in the last "and"."""
    *most, last = names
    return Message("{names} and {last}", names=listed(most), last=last) if most else message(last)


def localized(template: str, /, **arguments: Any) -> str:
    """What is said right now, in the language of whoever asked."""
    return Message(template, **arguments).in_language(_language.get())


def translated(value: Any) -> Any:
    """Plain data with each message in it in the language of whoever asked; other texts, such as names, stay."""
    language = _language.get()
    return value if language == ENGLISH else _translated(value, language)


def _translated(value: Any, language: str) -> Any:
    if isinstance(value, Message):
        return value.in_language(language)
    if isinstance(value, dict):
        return {key: _translated(content, language) for key, content in value.items()}
    if isinstance(value, list | tuple):
        return [_translated(content, language) for content in value]
    return value


def language() -> str:
    """Code of the language of whoever asked."""
    return _language.get()


@contextmanager
def use_language(code: str) -> Iterator[None]:
    """A context: what this thread says in it is in that language; in English where there is no such one."""
    token = _language.set(code if code in LANGUAGES else ENGLISH)
    try:
        yield
    finally:
        _language.reset(token)


def best_language(wanted: Sequence[str]) -> str:
    """The code of the first of these locales, e.g. ``ko_KR.UTF-8`` or ``zh-CN``, that `LANGUAGES` has; else English."""
    codes = (name.replace("_", "-").partition("-")[0].partition(".")[0].lower() for name in wanted)
    return next((code for code in codes if code in LANGUAGES), ENGLISH)


def pages_catalogue() -> Mapping[str, str]:
    """What the texts of the pages say in the language of whoever asked, by `catalogue_key` of the English ones."""
    return _by_key(_language.get())


@lru_cache
def _by_key(language: str) -> Mapping[str, str]:
    return {catalogue_key(text): translation for text, translation in _catalogue(f"pages.{language}").items()}


def catalogue_key(text: str) -> str:
    """FNV-1a of an English text, by which pages find its translation: a catalogue without its keys is half as large."""
    value = 0x811C9DC5
    for letter in text:
        value = (value ^ ord(letter)) * 0x01000193 & 0xFFFFFFFF
    return f"{value >> 8:x}"


@lru_cache
def _catalogue(name: str) -> Mapping[str, str]:
    import json

    try:
        return json.loads((FOLDER / f"{name}.json").read_text("utf-8"))
    except FileNotFoundError:
        return {}


class _Slot(NamedTuple):
    """A place in a template where an argument is put in."""

    name: str
    kind: str
    """Empty, ``plural`` or ``select``."""
    forms: Mapping[str, str]


def slots(template: str) -> frozenset[str]:
    """Names of the arguments that a template takes; raises ValueError for braces that do not match."""
    names: set[str] = set()
    for part in _parts(template):
        if isinstance(part, _Slot):
            names |= {part.name}.union(*map(slots, part.forms.values()))
    return frozenset(names)


@lru_cache(8192)
def _parts(template: str) -> tuple[str | _Slot, ...]:
    """Texts and slots by turns; raises ValueError for braces that do not match."""
    parts: list[str | _Slot] = []
    at = 0
    while (begin := template.find("{", at)) >= 0:
        end = _closing(template, begin)
        name, _, rest = template[begin + 1 : end].partition(",")
        kind, _, forms = rest.partition(",")
        parts += [template[at:begin], _Slot(name.strip(), kind.strip(), _forms(forms))]
        at = end + 1
    return (*parts, template[at:])


def _closing(template: str, begin: int) -> int:
    depth = 0
    for at in range(begin, len(template)):
        depth += (template[at] == "{") - (template[at] == "}")
        if not depth:
            return at
    raise ValueError(f"{template!r} has a brace that is not closed")


def _forms(text: str) -> dict[str, str]:
    forms: dict[str, str] = {}
    while (begin := text.find("{")) >= 0:
        end = _closing(text, begin)
        forms[text[:begin].strip()] = text[begin + 1 : end]
        text = text[end + 1 :]
    return forms


def _filled(template: str, arguments: Mapping[str, Any], language: str) -> str:
    if not arguments:
        return template
    parts = (part if isinstance(part, str) else _filled_slot(part, arguments, language) for part in _parts(template))
    return reduce(_with_space, parts) if language in _WITHOUT_SPACES else "".join(parts)


_WITHOUT_SPACES = frozenset({"ja", "zh"})
"""Languages that put no spaces between words, only beside Latin letters."""


def _with_space(left: str, right: str) -> str:
    """Two parts of a text in Japanese or Chinese: a space stands between their letters and Latin ones or digits,
    none between their own or beside their marks.
    """
    before, after = left.rstrip(" "), right.lstrip(" ")
    ends = before[-1:], after[:1]
    wide = [unicodedata.east_asian_width(end or " ") in "WF" for end in ends]
    if all(wide) or any(is_wide and not end.isalnum() for is_wide, end in zip(wide, ends, strict=True)):
        return before + after
    return f"{before} {after}" if any(wide) and all(end.isalnum() for end in ends) else left + right


def _filled_slot(slot: _Slot, arguments: Mapping[str, Any], language: str) -> str:
    value = arguments[slot.name]
    if not slot.kind:
        return _argument_text(slot.name, value, language)
    # English alone has two forms.
    form = ("one" if value == 1 and language == ENGLISH else "other") if slot.kind == "plural" else str(value)
    text = slot.forms.get(form, slot.forms.get("other", ""))
    if slot.kind == "plural":
        text = text.replace("#", _argument_text(slot.name, value, language))
    return _filled(text, arguments, language)


def with_percent(figure: str) -> str:
    """The figure with a percent sign, as the language of this request sets it."""
    return _with_percent(figure, language())


def _with_percent(figure: str, language: str) -> str:
    # English alone sets the sign apart.
    return f"{figure} %" if language == ENGLISH else f"{figure}%"


def _argument_text(name: str, value: Any, language: str) -> str:
    if isinstance(value, Message):
        return value.in_language(language)
    if isinstance(value, str):
        return value
    if name.endswith("_ps"):
        return duration(value)
    if name.endswith("_pair"):
        figure, total = figure_and_total(*value)
        return Message("{figure} of {total}", figure=figure, total=total).in_language(language)
    if name.endswith("percent"):
        return _with_percent(percent(value).removesuffix(" %"), language)
    if name.endswith("share"):
        if 0 < value < 0.01:
            return Message("less than {percent}", percent=_with_percent("1", language)).in_language(language)
        return _with_percent(f"{100 * value:.0f}", language)
    return f"{value:,}" if isinstance(value, int) else str(value)
