"""Moved to `budgets.pytest_plugin`."""

import sys

from tb_profile_plugin.budgets import pytest_plugin

sys.modules[__name__] = pytest_plugin
