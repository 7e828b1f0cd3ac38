"""Moved to `tools.answers.tool`."""

import sys

from tb_profile_plugin.tools.answers import tool

sys.modules[__name__] = tool
