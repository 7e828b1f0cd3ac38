"""What is kept per host is kept under a name of its own: two things of one name would be taken for each other."""

import re
from collections import Counter
from pathlib import Path

import tb_profile_plugin

ONCE = re.compile(r"\.once\(\s*\(?\s*(\"[^\"]+\")")


def test_names_of_kept_things_are_used_once() -> None:
    sources = Path(tb_profile_plugin.__file__).parent.rglob("*.py")
    found = Counter(name for source in sources for name in ONCE.findall(source.read_text("utf-8")))
    assert len(found) > 5
    assert [name for name, many in found.items() if many > 1] == []
