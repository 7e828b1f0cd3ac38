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


def sides(args: argparse.Namespace, names_of_sides: Sequence[Sequence[str]], items: Sequence[int] = ()) -> list[Side]:
    """A side for each sequence of names, with items per step; imports no decoder where all digests are cached."""
    from ..analysis.compare import load
    from ..analysis.compare.side import side_of_digests
    from ..store.result_cache import ResultCache

    cache = ResultCache(not args.no_cache)
    steps = args.steps or "typical"
    sources = [[load.named_source(name, args.step_event, steps) for name in names] for names in names_of_sides]
    for name, source in zip(chain(*names_of_sides), chain(*sources), strict=True):
        if source.older:
            newest = Message(
                "{folder} holds {count} sessions; only the newest, {session}, is used.",
                folder=name,
                count=source.older + 1,
                session=source.name,
            )
            warn(sentences(newest, "Name the run folders to use more."))
    sources = [[source._replace(digest=load.cached_digest(source, cache)) for source in side] for side in sources]
    _expect_decoding([*chain(*sources)])
    digests = [[digest_of_source(source, cache, args.executor) for source in side] for side in sources]
    labels = _labels(sources, names_of_sides)
    return [
        side_of_digests(list(zip(*labels_and_digests, strict=True)), items_per_step)
        for *labels_and_digests, items_per_step in zip(labels, digests, items or [1] * len(sources), strict=True)
    ]


def _expect_decoding(sources: Sequence[Source]) -> None:
    """Prepare for decoding the files of sources without a digest, see `settings.choose_kernels`."""
    files = [file for source in sources if source.stored and source.digest is None for file in source.stored.files]
    if files:
        choose_kernels(sum(file.size for file in files), any(file.path.suffix == ".gz" for file in files))


def digest_of_source(source: Source, cache: ResultCache, executor: str) -> Digest:
    """The digest of a source; the terminal shows what is being read."""
    from ..analysis.compare.load import load

    show_progress(Message("Reading {name} …", name=source.name))
    try:
        return load(source, cache, executor)
    finally:
        show_progress("")


def _labels(sources: Sequence[Sequence[Source]], names_of_sides: Sequence[Sequence[str]]) -> list[list[str]]:
    """A label for each source: its session's name where all differ, else the name on the command line."""
    names = [source.name for names in sources for source in names]
    if len(set(names)) == len(names):
        return [[source.name for source in names] for names in sources]
    return [list(names) for names in names_of_sides]
