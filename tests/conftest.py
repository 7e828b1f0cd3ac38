"""What all tests share: a cache of their own, so that none finds what another or the user left."""

import pytest


@pytest.fixture(autouse=True)
def cache_directory(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TB_PROFILE_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
