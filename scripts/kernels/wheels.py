"""From the wheel for any platform to one for a certain platform: with the library, and without need of numba."""

from __future__ import annotations

import base64
import hashlib
import re
import zipfile
from pathlib import Path

from tb_profile_plugin.runtime.jit.library import SEAL, seal

_FOLDER = "tb_profile_plugin/compiled/"


def with_library(plain: Path, tag: str, name: str, library: bytes) -> Path:
    """The wheel, beside the plain one; the same bytes for the same input."""
    with zipfile.ZipFile(plain) as source:
        files = {info: source.read(info) for info in source.infolist()}
    record = next(info for info in files if info.filename.endswith(".dist-info/RECORD"))
    del files[record]
    files[_like(record, _FOLDER + name)] = library
    files[_like(record, _FOLDER + name + SEAL)] = seal(library).encode()
    for info, content in files.items():
        if info.filename.endswith(".dist-info/METADATA"):
            files[info] = _changed(content, r"^Requires-Dist: numba[^;\n]*\n", "")
        elif info.filename.endswith(".dist-info/WHEEL"):
            tags = "".join(f"Tag: py3-none-{each}\n" for each in tag.split("."))
            content = _changed(content, r"^Root-Is-Purelib: true$", "Root-Is-Purelib: false")
            files[info] = _changed(content, r"^Tag: py3-none-any\n", tags)
    lines = [f"{info.filename},sha256={_digest(content)},{len(content)}\n" for info, content in files.items()]
    files[record] = "".join([*lines, f"{record.filename},,\n"]).encode()
    target = plain.with_name(plain.name.replace("-any.whl", f"-{tag}.whl"))
    with zipfile.ZipFile(target, "w") as wheel:
        for info, content in files.items():
            wheel.writestr(info, content, zipfile.ZIP_DEFLATED)
    return target


def _like(info: zipfile.ZipInfo, name: str) -> zipfile.ZipInfo:
    made = zipfile.ZipInfo(name, info.date_time)
    made.external_attr = info.external_attr
    return made


def _changed(content: bytes, pattern: str, new: str) -> bytes:
    text, count = re.subn(pattern, new, content.decode(), flags=re.MULTILINE)
    if count != 1:
        raise SystemExit(f"The wheel for any platform has {count} lines like {pattern!r} instead of one.")
    return text.encode()


def _digest(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
