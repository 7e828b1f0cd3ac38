"""Baselines: digests in a folder, for a repository or an artefact; the last ten of each program on each machine."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

from ..analysis.compare.same_program import machine_key
from ..analysis.digest.record import Digest
from ..runtime.messages import Message
from ..runtime.problems import problem_error
from ..runtime.regex import regex

_MOST_BASELINES = 10
"""Baselines of one program on one machine: enough to tell how runs differ."""
_FILE = regex(r"[0-9a-f]{8}-\d{4}-[0-9a-f]{16}\.json")
"""Key of machine and program, running number, id of the digest."""
_NAME = regex(r"[\w.-]{1,80}")


def folder(root: Path, name: str) -> Path:
    """Where the baselines of a name lie; raises `ProblemError` for a name that is no folder's."""
    if not _NAME.fullmatch(name) or name.strip(".") == "":
        raise problem_error(
            "bad_config",
            Message("{name} is not a valid baseline name.", name=repr(name)),
            Message("Use letters and digits only."),
        )
    return root / name


def read(folder: Path, digest: Digest) -> list[tuple[str, Digest]]:
    """The digests there of the same machine and program, the oldest first."""
    return [(path.stem, Digest.from_json(path.read_bytes(), str(path))) for path in _files(folder, machine_key(digest))]


def has_baselines(folder: Path) -> bool:
    """Whether there are any, of whichever machine and program."""
    return bool(_files(folder, ""))


def _files(folder: Path, key: str) -> list[Path]:
    """The files of baselines whose names begin with a key, by number; none where there is no folder."""
    if not folder.is_dir():
        return []
    paths_with_key = [path for path in folder.iterdir() if _FILE.fullmatch(path.name) and path.name.startswith(key)]
    # A pipe, or a link to a device, would be waited for, or read, for ever.
    files = [path for path in paths_with_key if path.is_file()]
    return sorted(files, key=lambda path: path.name)


def write(folder: Path, digests: list[Digest]) -> list[Path]:
    """Add digests that are not there yet, and delete the oldest of the same key; returns the new files."""
    folder.mkdir(parents=True, exist_ok=True)
    new_paths = []
    for digest in digests:
        earlier_files = _files(folder, machine_key(digest))
        if any(path.stem.endswith(digest.id) for path in earlier_files):
            continue
        number = int(earlier_files[-1].name.split("-")[1]) + 1 if earlier_files else 1
        path = folder / f"{machine_key(digest)}-{number:04d}-{digest.id}.json"
        path.write_text(digest.to_json(), encoding="utf-8")
        new_paths.append(path)
        for old in [*earlier_files, path][:-_MOST_BASELINES]:
            old.unlink()
    return new_paths


def without_names(digest: Digest) -> Digest:
    """The digest with hashes for names of ops, files and programs, which still match those of the same name."""

    def hash_of(text: str) -> str:
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12] if text else ""

    def path_hash(text: str) -> str:
        return "/".join(hash_of(part) for part in text.split("/"))

    ops = [
        replace(
            op,
            # Names such as (others) are ours.
            name=op.name if op.name.startswith("(") else path_hash(op.name),
            origin=path_hash(op.origin),
            module=hash_of(op.module),
            source="",
        )
        for op in digest.ops
    ]
    kernels = [replace(kernel, op=path_hash(kernel.op)) for kernel in digest.kernels]
    causes = [replace(cause, names=[]) for cause in digest.causes]
    programs = [(hash_of(name), fingerprint) for name, fingerprint in digest.programs]
    return replace(digest, ops=ops, kernels=kernels, causes=causes, programs=programs)
