"""The cache touches what it made itself and nothing else, and believes only what its user wrote."""

import hashlib
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from werkzeug.test import Client

from tb_profile_plugin.cli import main
from tb_profile_plugin.serve import App
from tb_profile_plugin.store import Logdir, StoredFile, StoredSession, cache
from tb_profile_plugin.store.result_cache import ResultCache

TRACES = Path(__file__).resolve().parent.parent / "traces"
CAPTURE = next(TRACES.glob("jax_steps/**/*.xplane.pb*"))
DIGITS = "0123456789abcdef0123456789abcdef01234567"
ODD = ["a b", "-rf", "line\nbreak", "*", "\udcff", "ü", ".hidden", "x" * 200]
NEARLY_OURS = [
    f"results-{DIGITS}.ckpt",
    f"results-{DIGITS[:-1]}",
    f"RESULTS-{DIGITS}",
    f"results-{DIGITS.upper()}",
    f"results-{DIGITS}\n",
    f"files-{DIGITS}-vm.xplane.pb",
    f"results-{DIGITS}.part",
    f"results-{DIGITS}.12345678.part.part",
    "tmp12345678.part",
    DIGITS,
]

posix = pytest.mark.skipif(sys.platform == "win32", reason="links, pipes and modes of POSIX")


@pytest.fixture
def stored(tmp_path: Path) -> StoredSession:
    return StoredSession("r1", tmp_path, (StoredFile("vm", tmp_path / "vm.xplane.pb", 5, 7),))


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that a person named as the cache directory; other things lie there, too."""
    monkeypatch.setenv("TB_PROFILE_CACHE_DIR", str(tmp_path / "exp"))
    return tmp_path / "exp"


def put(path: Path, age_s: float = 1e6) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(bytes(5000))
    os.utime(path, (time.time() - age_s,) * 2)


def everything(*folders: Path) -> dict[str, object]:
    """What lies below, links not followed: by path its content, its target or its kind."""

    def content(path: Path) -> object:
        if path.is_symlink():
            return os.readlink(path)
        return hashlib.sha256(path.read_bytes()).digest() if path.is_file() else path.lstat().st_mode

    return {str(path): content(path) for folder in folders for path in folder.rglob("*")}


def every_verb() -> None:
    """All that writes, reads and deletes; the limit holds next to nothing."""
    assert main.main(["tool", "overview_page", str(CAPTURE), "--out", os.devnull]) == 0
    assert main.main(["tool", "overview_page", str(CAPTURE), "--out", os.devnull]) == 0
    client = Client(App(Logdir(str(TRACES / "jax_steps"))))
    run = client.get("/runs").get_json()[0]
    for path in ("/sessions", f"/session?run={run}", f"/tools?run={run}", "/sessions"):
        assert client.get(path).status_code == 200
    for number in range(40):
        ResultCache().put(StoredSession("r", Path("r"), ()), bytes(500), number)
    assert main.main(["cache", "show"]) == 0
    assert main.main(["cache", "clear"]) == 0


@posix
def test_what_others_put_below_a_cache_directory_stays(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TB_PROFILE_CACHE_LIMIT", "60K")
    own, elsewhere = cache.folder(), tmp_path / "elsewhere"
    every_verb()
    for folder in (base, base / "results", base / "files", own, own / "deeper", own / "results", elsewhere):
        for name in [*ODD, *NEARLY_OURS, "model.ckpt", "notes.md"]:
            put(folder / name)
    (base / "link").symlink_to(elsewhere)
    (own / "files").symlink_to(elsewhere)
    (own / f"results-{DIGITS}").symlink_to(elsewhere / "notes.md")
    put(own / f"files-{DIGITS}" / "notes.md")
    os.mkfifo(own / f"files-{DIGITS}.gz")
    before = everything(base, elsewhere)
    every_verb()
    after = everything(base, elsewhere)
    assert {path: after.get(path) for path in before} == before
    assert after.keys() == before.keys()


@posix
@pytest.mark.parametrize("kind", ["folder", "link", "file"])
def test_a_folder_of_our_name_that_is_not_ours_is_left_alone(
    base: Path, tmp_path: Path, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    own, elsewhere = cache.folder(), tmp_path / "elsewhere"
    for name in (f"results-{DIGITS}", f"files-{DIGITS}.gz", f"results-{DIGITS}.12345678.part"):
        put(elsewhere / name)
    base.mkdir()
    if kind == "folder":
        elsewhere.rename(own)
    elif kind == "link":
        (elsewhere / "CACHEDIR.TAG").write_bytes(cache._SIGNATURE)
        own.symlink_to(elsewhere)
    else:
        own.write_bytes(b"mine")
    before = everything(base, elsewhere)
    every_verb()
    assert everything(base, elsewhere) == before
    assert [record.getMessage() for record in caplog.records if str(own) in record.getMessage()] != []
    assert len(caplog.records) == 1, "said once"


def test_a_tag_of_another_program_is_none_of_ours(base: Path) -> None:
    put(cache.folder() / f"results-{DIGITS}")
    (cache.folder() / "CACHEDIR.TAG").write_bytes(b"Signature: 8a477f597d28d172789f06886806bc55\n# by another\n")
    before = everything(base)
    every_verb()
    assert everything(base) == before


def test_a_folder_is_ours_from_its_first_moment_and_made_again(base: Path, stored: StoredSession) -> None:
    for remove in (lambda: None, lambda: [path.unlink() for path in cache.folder().iterdir()]):
        remove()
        ResultCache().put(stored, b"body", 1)
        assert ResultCache().get(stored, 1) == b"body"
        assert (cache.folder() / "CACHEDIR.TAG").read_bytes().startswith(b"Signature: 8a477f597d28d172789f06886806bc55")
        assert list(base.iterdir()) == [cache.folder()]
    if os.name == "posix":
        assert cache.folder().stat().st_mode & 0o777 == 0o700


@posix
@pytest.mark.parametrize("who", ["others", "group", "owner", "entry"])
def test_what_others_may_write_is_not_believed(
    base: Path, stored: StoredSession, who: str, caplog: pytest.LogCaptureFixture
) -> None:
    ResultCache().put(stored, b"poison", 1)
    (entry,) = cache.folder().glob("results-*")
    if who == "owner":
        if os.geteuid():
            pytest.skip("only root gives folders away")
        os.chown(cache.folder(), 65534, 65534)
    else:
        place, mode = {"others": (cache.folder(), 0o777), "group": (cache.folder(), 0o770), "entry": (entry, 0o666)}[
            who
        ]
        place.chmod(mode)
    assert ResultCache().get(stored, 1) is None and ResultCache().map(stored, 1) is None
    before = everything(base)
    ResultCache().put(stored, b"secret", 2)
    assert (ResultCache().get(stored, 2) is None) == (who != "entry")
    if who != "entry":
        assert everything(base) == before
        assert "others may write to it" in caplog.text
        assert cache.usage()["results"] == (0, 0) and cache.clear() == 0


@posix
@pytest.mark.parametrize("kind", ["pipe", "folder", "device", "link"])
def test_what_is_no_file_is_no_entry(base: Path, tmp_path: Path, stored: StoredSession, kind: str) -> None:
    ResultCache().put(stored, b"body", 1)
    (entry,) = cache.folder().glob("results-*")
    copy = entry.rename(tmp_path / "copy")
    make: dict[str, Callable[[], object]] = {
        "pipe": lambda: os.mkfifo(entry),
        "folder": entry.mkdir,
        "device": lambda: entry.symlink_to("/dev/zero"),
        "link": lambda: entry.symlink_to(copy),
    }
    make[kind]()
    assert ResultCache().get(stored, 1) is None and ResultCache().map(stored, 1) is None
    ResultCache().put(stored, b"body", 1)
    assert ResultCache().get(stored, 1) == (None if kind == "folder" else b"body")
    assert copy.exists()


def test_who_is_killed_leaves_a_draft_that_counts_and_goes(
    base: Path, stored: StoredSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "program.py"
    program.write_text("""
import sys, time
from pathlib import Path
from tb_profile_plugin.store import StoredSession
from tb_profile_plugin.store.result_cache import ResultCache
def pieces():
    yield bytes(60_000)
    print("half", flush=True)
    time.sleep(600)
ResultCache().write(StoredSession("r", Path("r"), ()), pieces(), 1)
""")
    with subprocess.Popen([sys.executable, str(program)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout and process.stdout.readline() == "half\n"
        process.kill()
    (draft,) = cache.folder().glob("*.part")
    monkeypatch.setenv("TB_PROFILE_CACHE_LIMIT", "100K")
    for number in range(20):
        ResultCache().put(stored, bytes(10_000), number)
    assert draft.exists(), "somebody may be writing it"
    assert sum(size for _, size in cache.usage().values()) <= 104 << 10
    os.utime(draft, (1, 1))
    for number in range(20):
        ResultCache().put(stored, bytes(10_000), number)
    assert not draft.exists()
    assert sum(size for _, size in cache.usage().values()) <= 104 << 10
