"""What inflates gzip: ISA-L where it is installed, which takes a quarter of zlib's time, else zlib."""

from __future__ import annotations

import zlib
from typing import Any

from .safe_read import GZIP


def inflater() -> Any:
    """A `zlib.decompressobj` of gzip, or what has its methods."""
    return _library().decompressobj(wbits=GZIP)


def inflate_errors() -> tuple[type[Exception], ...]:
    """What an `inflater` raises of bytes that are no gzip."""
    return zlib.error, _library().error


def _library() -> Any:
    # Only compressed files need it, and some processors have none.
    try:
        from isal import isal_zlib
    except ImportError:
        return zlib
    return isal_zlib
