"""The former name of `budgets.pytest_plugin`: see compat/README.md."""

import sys

from tb_profile_plugin.budgets import pytest_plugin

sys.modules[__name__] = pytest_plugin
