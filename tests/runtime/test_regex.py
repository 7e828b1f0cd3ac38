import importlib
import pkgutil
import re
from collections.abc import Iterator
from typing import Any

import pytest

import tb_profile_plugin
from tb_profile_plugin.runtime.regex import _LazyPattern, regex


def _late(value: Any) -> Iterator[_LazyPattern]:
    """The patterns among a module's values, in tables, too."""
    if isinstance(value, _LazyPattern):
        yield value
    elif isinstance(value, dict):
        yield from _late(tuple(value.values()))
    elif isinstance(value, (tuple, list)):
        for each in value:
            yield from _late(each)


def test_it_answers_as_the_compiled_pattern() -> None:
    late = regex(r"(a+)b", re.IGNORECASE)
    found = late.match("AAB")
    assert found and found[1] == "AA"
    assert late.sub("-", "xab") == "x-"
    assert (late.pattern, late.groups) == (r"(a+)b", 1)


def test_nothing_is_compiled_before_it_is_asked() -> None:
    late = regex("(")
    with pytest.raises(re.error):
        late.search("")


def test_every_pattern_of_the_package_compiles() -> None:
    found = 0
    for module in pkgutil.walk_packages(tb_profile_plugin.__path__, "tb_profile_plugin."):
        try:
            held = vars(importlib.import_module(module.name))
        except ImportError:
            continue  # An extra that is not installed here.
        for late in _late(tuple(held.values())):
            assert late.pattern is not None
            found += 1
    assert found > 100
