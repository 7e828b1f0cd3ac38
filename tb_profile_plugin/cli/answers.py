"""The session at a path, and tools' answers about it: from the result cache, or worked out."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from contextlib import closing
from typing import TYPE_CHECKING, Any

from ..runtime.settings import choose_kernels

if TYPE_CHECKING:
    from ..store import StoredSession


def stored_session(session: str) -> StoredSession:
    """The session at a path; to be asked before the decoder is imported, since its size decides how kernels run."""
    from ..store import resolve

    stored = resolve(session)
    choose_kernels(stored.size, any(file.path.suffix == ".gz" for file in stored.files))
    return stored


def answer_data(
    stored: StoredSession, args: argparse.Namespace, tool_options: Mapping[str, Mapping[str, str]]
) -> dict[str, Any]:
    """Tools' answers by name, as plain data; see `answer_bodies`."""
    import json

    return {name: json.loads(body) for name, body in answer_bodies(stored, args, tool_options).items()}


def answer_bodies(
    stored: StoredSession, args: argparse.Namespace, tool_options: Mapping[str, Mapping[str, str]], legacy: bool = False
) -> dict[str, bytes]:
    """Tools' answers as JSON, from the cache or worked out; ``tool_options`` are the options by tool.

    Where all are in the cache, nothing that decodes is imported.
    """
    from ..store.result_cache import LEGACY, NAMED, ResultCache, pack, question_key, unpack

    cache = ResultCache(not args.no_cache)
    shape = LEGACY if legacy else NAMED
    keys = {name: question_key(name, args.host, options, shape) for name, options in tool_options.items()}
    bodies = {name: unpack(body) for name, cache_key in keys.items() if (body := cache.get(stored, *cache_key))}
    if len(bodies) == len(tool_options):
        return bodies
    from concurrent.futures import ThreadPoolExecutor

    from ..model.session import Session
    from ..runtime.executors import executor

    with closing(executor(args.executor)) as workers, ThreadPoolExecutor(1) as decoder:
        session = Session(stored, executor=workers)
        if len(stored.hosts) == 1:
            # Decoded while the analyses are imported; any problem is raised again where the host is used.
            decoder.submit(session.select)
        from .. import compat, tools

        for name, options in tool_options.items():
            if name not in bodies:
                tool = tools.get(name)
                bodies[name] = compat.answer_json(tool, session, args.host, options, shape)
                if cache.enabled and not (tool.streamed or session.unreadable):
                    cache.put(stored, pack(bodies[name]), *keys[name])
    return bodies
