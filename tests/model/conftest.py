"""What tests of the model share."""

from pathlib import Path
from typing import Any

import pytest

from tb_profile_plugin.formats import xspace
from tb_profile_plugin.formats.columns import XSpace


@pytest.fixture
def decoded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the files that were decoded in this process, as they are."""
    names: list[str] = []
    decode = xspace.decode

    def noted(content: Any, where: str = "", *more: Any) -> XSpace:
        names.append(Path(where).name)
        return decode(content, where, *more)

    monkeypatch.setattr(xspace, "decode", noted)
    return names
