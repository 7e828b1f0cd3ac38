"""From what the command line names to sides of digests."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING

from ..runtime.messages import Message, localized, sentences
from ..runtime.settings import choose_kernels
from ..runtime.terminal import show_progress, warn

if TYPE_CHECKING:
    from ..analysis.compare.load import Source
    from ..analysis.compare.side import Side
    from ..analysis.digest.record import Digest
    from ..store.result_cache import ResultCache


def share(text: str) -> float:
    """A share as it is written on the command line."""
    try:
        share = float(text.rstrip("%")) / (100 if text.endswith("%") else 1)
    except ValueError as error:
        raise _not_a_share(text) from error
    if not 0 <= share < 1:
        raise _not_a_share(text)
    return share


def _not_a_share(text: str) -> argparse.ArgumentTypeError:
    return argparse.ArgumentTypeError(localized("{text} is not a share such as 1%", text=repr(text)))


def sides(args: argparse.Namespace, named: Sequence[Sequence[str]], items: Sequence[int] = ()) -> list[Side]:
    """The sides of these names; nothing that decodes is imported where all digests are known."""
    from ..analysis.compare.load import cached_digest, source
    from ..analysis.compare.side import side
    from ..store.result_cache import ResultCache

    cache = ResultCache(not args.no_cache)
    sources = [[source(name, args.step_event, args.steps or "typical") for name in names] for names in named]
    for name, one in zip(chain(*named), chain(*sources), strict=True):
        if one.older:
            newest = Message(
                "{folder} holds {count} sessions; only the newest, {session}, is used.",
                folder=name,
                count=one.older + 1,
                session=one.name,
            )
            warn(sentences(newest, "Name the run folders to use more."))
    cached = [[one._replace(digest=cached_digest(one, cache)) for one in names] for names in sources]
    _expect([one for names in cached for one in names])
    labels = _labels(cached, named)
    return [
        side([(label, loaded(one, cache, args.executor)) for label, one in zip(words, names, strict=True)], many)
        for words, names, many in zip(labels, cached, items or [1] * len(cached), strict=True)
    ]


def _expect(sources: Sequence[Source]) -> None:
    files = [file for one in sources if one.stored and one.digest is None for file in one.stored.files]
    if files:
        choose_kernels(sum(file.size for file in files), any(file.path.suffix == ".gz" for file in files))


def loaded(one: Source, cache: ResultCache, executor: str) -> Digest:
    """The digest, with a word on what is being read."""
    from ..analysis.compare.load import load

    show_progress(Message("Reading {name} …", name=one.name))
    try:
        return load(one, cache, executor)
    finally:
        show_progress("")


def _labels(sources: Sequence[Sequence[Source]], named: Sequence[Sequence[str]]) -> list[list[str]]:
    """Names of sessions where all differ, else what was asked for."""
    names = [one.name for names in sources for one in names]
    if len(set(names)) == len(names):
        return [[one.name for one in names] for names in sources]
    return [list(names) for names in named]
