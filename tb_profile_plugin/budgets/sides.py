"""The sides of a comparison that the command line names: digests of sessions, read or from the cache."""

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
    """A share from 0 to below 1 on the command line, written ``0.01`` or ``1%``; raises `ArgumentTypeError`."""
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
    """A side for each sequence of names, with items per step; imports no decoder where all digests are cached."""
    from ..analysis.compare.load import cached_digest, source
    from ..analysis.compare.side import side_of_digests
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
    sources = [[one._replace(digest=cached_digest(one, cache)) for one in side_sources] for side_sources in sources]
    _expect_decoding([*chain(*sources)])
    digests = [[digest_of_source(one, cache, args.executor) for one in side_sources] for side_sources in sources]
    columns = zip(_labels(sources, named), digests, items or [1] * len(named), strict=True)
    return [
        side_of_digests(list(zip(labels, of_side, strict=True)), items_per_step)
        for labels, of_side, items_per_step in columns
    ]


def _expect_decoding(sources: Sequence[Source]) -> None:
    """Prepare for decoding the files of sources without a digest, see `settings.choose_kernels`."""
    files = [file for one in sources if one.stored and one.digest is None for file in one.stored.files]
    if files:
        choose_kernels(sum(file.size for file in files), any(file.path.suffix == ".gz" for file in files))


def digest_of_source(one: Source, cache: ResultCache, executor: str) -> Digest:
    """The digest of a source; the terminal shows what is being read."""
    from ..analysis.compare.load import load

    show_progress(Message("Reading {name} …", name=one.name))
    try:
        return load(one, cache, executor)
    finally:
        show_progress("")


def _labels(sources: Sequence[Sequence[Source]], named: Sequence[Sequence[str]]) -> list[list[str]]:
    """A label for each source: its session's name where all differ, else the name on the command line."""
    names = [one.name for names in sources for one in names]
    if len(set(names)) == len(names):
        return [[one.name for one in names] for names in sources]
    return [list(names) for names in named]
