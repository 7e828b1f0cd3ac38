"""Of many hosts, timelines and exports need memory for a few at a time."""

import gc
from collections.abc import Callable
from pathlib import Path
from typing import Any
from weakref import WeakSet

import draw
import pytest

from tb_profile_plugin.formats import recognize
from tb_profile_plugin.model.session import Session
from tb_profile_plugin.runtime.decoded_pool import DecodedPool
from tb_profile_plugin.runtime.problems import ProblemError
from tb_profile_plugin.serve.views import Views
from tb_profile_plugin.store.result_cache import ResultCache
from tb_profile_plugin.timeline import chrome, perfetto

HOSTS = 6
_FEW = 3
"""One that is shown, the one before it, and the newest in the pool."""


class Alive:
    """How many captures were in memory together."""

    def __init__(self, decode: Callable[..., Any]):
        self.decode, self.most = decode, 0
        self.spaces: WeakSet[Any] = WeakSet()

    def __call__(self, *given: Any, **named: Any) -> Any:
        gc.collect()
        space = self.decode(*given, **named)
        self.spaces.add(_Known(space))
        self.most = max(self.most, len(self.spaces))
        return space


class _Known:
    """Lives as long as a capture does, which cannot be hashed."""

    def __init__(self, space: Any):
        object.__setattr__(space, "_known", self)


@pytest.fixture
def alive(monkeypatch: pytest.MonkeyPatch) -> Alive:
    counter = Alive(recognize.decode)
    monkeypatch.setattr(recognize, "decode", counter)
    return counter


@pytest.fixture
def session(tmp_path: Path) -> Session:
    space = draw.space("/host:CPU\n  python | train[0,10]{_r=1, step_num=0} work[2,5]")
    stored = draw.session(tmp_path, **{f"h{i}": space for i in range(HOSTS)}).stored
    return Session(stored, DecodedPool(1))


def test_hosts_come_one_by_one(session: Session, alive: Alive) -> None:
    assert not session.fits
    assert [host.name for host in session.host_by_host()] == list(session.hosts)
    assert alive.most <= _FEW


@pytest.mark.parametrize("pieces", [chrome.pieces, perfetto.pieces])
def test_exports(session: Session, alive: Alive, pieces: Callable[..., Any]) -> None:
    written = [piece if isinstance(piece, bytes) else piece.encode() for piece in pieces(session.host_by_host())]
    assert all(b"h%d" % i in b"".join(written) for i in range(HOSTS))
    assert alive.most <= _FEW
    whole = [piece if isinstance(piece, bytes) else piece.encode() for piece in pieces(session.select())]
    assert b"".join(written) == b"".join(whole)


@pytest.mark.parametrize("cached", [True, False])
def test_timelines(
    session: Session, alive: Alive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cached: bool
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    views = Views(ResultCache(cached))
    shown = views.views_of(session, "")
    assert [view.host for view in shown] == list(session.hosts)
    assert alive.most <= _FEW
    assert [view.steps()["name"] for view in shown] == [["train 0"]] * HOSTS
    assert {len(view.timeline.rows) for view in shown} == {len(shown[0].timeline.rows)}
    assert len(views.views_of(session, "")) == HOSTS
    assert alive.most <= _FEW


def test_a_host_that_cannot_be_read_hides_no_other(session: Session, alive: Alive, tmp_path: Path) -> None:
    for file in session.stored.files[1:]:
        file.path.unlink()
    assert [host.name for host in session.host_by_host()] == ["h0"]
    assert [view.host for view in Views(ResultCache(False)).views_of(session, "")] == ["h0"]
    session.stored.files[0].path.unlink()
    gone = Session(session.stored, DecodedPool(1))
    for ask in (gone.host_by_host, lambda: Views(ResultCache(False)).views_of(gone, "")):
        with pytest.raises(ProblemError):
            ask()
