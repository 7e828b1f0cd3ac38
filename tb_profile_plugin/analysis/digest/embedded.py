"""A digest within a page of HTML: a report holds that of its session, so that it can be compared and checked."""

from __future__ import annotations

import re
from pathlib import Path

from ...runtime.messages import Message
from ...runtime.problems import problem_error
from ...runtime.regex import regex
from .record import Digest

_START_TAG = '<script type="application/json" id="digest">'
_ELEMENT = regex(re.escape(_START_TAG).encode() + rb"([^<]*)</script>")
_ESCAPES = {ord(letter): f"\\u{ord(letter):04x}" for letter in "<>&\u2028\u2029"}
"""Characters that could end the element, or a line of it, as escapes of JSON."""
_MOST_BYTES = 256 << 20
"""A report is far smaller: a larger page is not read into memory."""


def element(digest: Digest) -> str:
    """The HTML element that holds a digest; no name in the digest can end it early."""
    return f"{_START_TAG}{digest.to_json().translate(_ESCAPES)}</script>"


def read(page: Path) -> Digest:
    """The digest in a page; raises `ProblemError` where there is none, several, or one that cannot be read."""
    if page.stat().st_size > _MOST_BYTES:
        remedy = Message("Name the session, or a smaller report.")
        raise problem_error("bad_report", "This file is too large for a report.", remedy, str(page))
    contents = _ELEMENT.findall(page.read_bytes())
    if len(contents) != 1:
        message = Message("This page holds several digests.") if contents else Message("This page holds no digest.")
        remedy = Message("Write the report of the session again, with tb-profile report.")
        raise problem_error("bad_report", message, remedy, str(page))
    return Digest.from_json(contents[0], str(page))
