"""Prints what the changelog says of a release; ends with 1 where tag, version and changelog do not agree.

``scripts/release.py v0.2.0`` belongs to version 0.2.0. ``--docs URL`` names the folder that links of the text lead to.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CHANGELOG = ROOT / "tb_profile_plugin/docs/changelog.md"


def notes(tag: str, docs: str = "") -> str:
    """The newest section, without its heading; raises `SystemExit` where the tag is not that of this version."""
    sys.path.insert(0, str(ROOT))
    from tb_profile_plugin import __version__

    if tag != f"v{__version__}":
        sys.exit(f"The tag {tag} is not v{__version__}, the version in tb_profile_plugin/__init__.py.")
    _, newest, *_ = re.split(r"^## ", CHANGELOG.read_text(encoding="utf-8"), flags=re.MULTILINE)
    version, _, text = newest.partition("\n")
    if version != __version__:
        sys.exit(f"The changelog begins with {version}, not with {__version__}.")
    if docs:
        text = re.sub(r"\]\((?!https?:|#)", f"]({docs.rstrip('/')}/", text)
    return text.strip()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tag")
    parser.add_argument("--docs", default="", metavar="URL")
    asked = parser.parse_args()
    print(notes(asked.tag, asked.docs))
