"""``python -m tb_profile_plugin`` is ``tb-profile``."""

import sys

from .cli.main import main

if __name__ == "__main__":
    sys.exit(main())
