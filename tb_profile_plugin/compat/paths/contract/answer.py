"""The former name of `tools.answers.answer`: see compat/README.md."""

import sys

from tb_profile_plugin.tools.answers import answer

sys.modules[__name__] = answer
