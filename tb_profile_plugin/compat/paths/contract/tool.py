"""The former name of `tools.answers.tool`: see compat/README.md."""

import sys

from tb_profile_plugin.tools.answers import tool

sys.modules[__name__] = tool
