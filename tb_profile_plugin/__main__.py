"""``python -m tb_profile_plugin`` is ``tb-profile``."""

from .cli.main import run

if __name__ == "__main__":
    run()
