import importlib
import pkgutil
import re

import pytest

import tb_profile_plugin
from tb_profile_plugin.runtime.regex import _Late, regex


def _late(value):
    """The patterns among a module's values, in tables, too."""
    if isinstance(value, _Late):
        yield value
    elif isinstance(value, dict):
        yield from _late(tuple(value.values()))
    elif isinstance(value, (tuple, list)):
        for each in value:
            yield from _late(each)


def test_it_answers_as_the_compiled_pattern():
    late = regex(r"(a+)b", re.IGNORECASE)
    assert late.match("AAB")[1] == "AA"
    assert late.sub("-", "xab") == "x-"
    assert (late.pattern, late.groups) == (r"(a+)b", 1)


def test_nothing_is_compiled_before_it_is_asked():
    late = regex("(")
    with pytest.raises(re.error):
        late.search("")


def test_every_pattern_of_the_package_compiles():
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
