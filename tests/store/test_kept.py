"""Earlier results: found as long as nothing changed, never a nuisance."""

import errno
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tb_profile_plugin.runtime import memory
from tb_profile_plugin.store import StoredFile, StoredSession, cache, result_cache
from tb_profile_plugin.store.result_cache import LEGACY, NAMED, ResultCache, question_key

WHAT = question_key("overview_page", "", {}, NAMED)


@pytest.fixture
def stored(tmp_path: Path) -> StoredSession:
    return StoredSession("r1", tmp_path, (StoredFile("vm", tmp_path / "vm.xplane.pb", 5, 7),))


def entries() -> list[Path]:
    return sorted(cache.folder().glob("results-*"))


def test_what_was_kept_is_found(stored: StoredSession) -> None:
    assert ResultCache().get(stored, *WHAT) is None
    ResultCache().put(stored, b"body", *WHAT)
    assert ResultCache().get(stored, *WHAT) == b"body"
    assert ResultCache(False).get(stored, *WHAT) is None


@pytest.mark.parametrize("change", [{"size": 6}, {"mtime_ns": 8}, {"version": "etag"}, {"path": Path("elsewhere")}])
def test_a_changed_file_has_no_results(stored: StoredSession, change: dict[str, Any]) -> None:
    ResultCache().put(stored, b"body", *WHAT)
    changed = stored._replace(files=(stored.files[0]._replace(**change),))
    assert ResultCache().get(changed, *WHAT) is None


def test_other_questions_and_other_code_have_others(stored: StoredSession, monkeypatch: pytest.MonkeyPatch) -> None:
    ResultCache().put(stored, b"body", *WHAT)
    assert question_key("overview_page@^", "ALL_HOSTS", {}, NAMED) == WHAT
    for what in [
        question_key("pod_viewer", "", {}, NAMED),
        question_key("overview_page", "vm", {}, NAMED),
        question_key("overview_page", "", {"step_event": "x"}, NAMED),
        question_key("overview_page", "", {}, LEGACY),
    ]:
        assert ResultCache().get(stored, *what) is None
    monkeypatch.setattr(result_cache, "_code_digest", lambda: "another version")
    assert ResultCache().get(stored, *WHAT) is None


@pytest.mark.parametrize("damage", [b"", b"x", None])
def test_a_damaged_entry_is_none(stored: StoredSession, damage: bytes | None) -> None:
    ResultCache().put(stored, b"body", *WHAT)
    (entry,) = entries()
    entry.write_bytes(entry.read_bytes()[:-1] + b"?" if damage is None else damage)
    assert ResultCache().get(stored, *WHAT) is None
    ResultCache().put(stored, b"body", *WHAT)
    assert ResultCache().get(stored, *WHAT) == b"body"


def test_a_cache_that_cannot_be_written_does_not_matter(
    stored: StoredSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setenv("TB_PROFILE_CACHE_DIR", str(tmp_path / "file"))
    ResultCache().put(stored, b"body", *WHAT)
    assert ResultCache().get(stored, *WHAT) is None


def test_a_disk_that_fills_up_leaves_nothing(stored: StoredSession) -> None:
    def pieces() -> Iterator[bytes]:
        yield b"a part"
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    ResultCache().write(stored, pieces(), *WHAT)
    assert ResultCache().get(stored, *WHAT) is None
    assert not entries()


def test_the_least_recently_used_go_first(stored: StoredSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TB_PROFILE_CACHE_LIMIT", "12K")
    for number in range(3):
        ResultCache().put(stored, bytes(960), number)
        for age, entry in enumerate(sorted(entries(), key=os.path.getmtime, reverse=True)):
            os.utime(entry, (1000 - age, 1000 - age))
    assert ResultCache().get(stored, 0) is not None
    ResultCache().put(stored, bytes(960), 3)
    assert [number for number in range(4) if ResultCache().get(stored, number)] == [0, 2, 3]
    monkeypatch.setenv("TB_PROFILE_CACHE_LIMIT", "0")
    assert ResultCache().get(stored, 0) is None


def test_many_small_entries_are_bounded_by_what_they_take_of_the_disk(
    stored: StoredSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TB_PROFILE_CACHE_LIMIT", "100K")
    for number in range(60):
        ResultCache().put(stored, b"", number)
    assert len(entries()) == 25
    assert ResultCache().get(stored, 59) == b""


def test_entries_are_not_listed_for_each_that_is_written(
    stored: StoredSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TB_PROFILE_CACHE_LIMIT", "4M")
    listed: list[object] = []
    scandir = os.scandir
    monkeypatch.setattr(os, "scandir", lambda path: listed.append(path) or scandir(path))
    for number in range(320):
        ResultCache().put(stored, b"body", number)
    assert 0 < len(listed) < 320 / 10


def test_abandoned_drafts_are_deleted_and_young_ones_left(stored: StoredSession) -> None:
    ResultCache().put(stored, b"body", *WHAT)
    (entry,) = entries()
    old, young = (entry.with_name(f"{entry.name}.{age}.part") for age in ("_____old", "___young"))
    for draft in (old, young):
        draft.write_bytes(b"x")
    os.utime(old, (1, 1))
    assert cache.usage() == {"files": (0, 0), "results": (3, 38)}
    assert cache.clear() == 37
    assert entries() == [young]


def test_processes_may_write_and_delete_at_once(stored: StoredSession, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(f"""
from pathlib import Path
from tb_profile_plugin.runtime import memory
from tb_profile_plugin.store import StoredFile, StoredSession, cache
from tb_profile_plugin.store.result_cache import ResultCache
stored = StoredSession("r1", Path({str(tmp_path)!r}), ())
for turn in range(60):
    ResultCache().put(stored, bytes([turn % 5]) * 100_000, turn % 5)
    found = ResultCache().get(stored, (turn + 2) % 5)
    assert found is None or found == bytes([(turn + 2) % 5]) * 100_000
    if turn % 20 == 19:
        cache.clear()
""")
    environment = {**os.environ, "TB_PROFILE_CACHE_LIMIT": "250K"}
    running = [subprocess.Popen([sys.executable, str(program)], env=environment) for _ in range(3)]
    assert [process.wait(60) for process in running] == [0, 0, 0]
    assert cache.usage()["results"][1] <= 400_000


@pytest.mark.parametrize(("text", "size"), [("0", 0), ("10", 10), ("2K", 2048), ("1.5 GiB", 3 << 29), ("3gb", 3 << 30)])
def test_sizes(text: str, size: int) -> None:
    assert memory.size_of(text) == size


def test_no_size_leaves_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="not a size"):
        memory.size_of("much")
    monkeypatch.setenv("TB_PROFILE_CACHE_LIMIT", "much")
    assert cache.limit() == 10 << 30
