"""The work that tools do stays what it was: more of it has to be meant, less of it is worth writing down."""

import json
import subprocess
import sys

from work import COUNTS
from work import __file__ as script


def test_the_work_is_what_was_written_down() -> None:
    told = subprocess.run([sys.executable, script, "--print"], stdout=subprocess.PIPE, check=True, text=True).stdout
    assert json.loads(told) == json.loads(COUNTS.read_text()), "run tests/work.py where the change is meant"


def test_each_tool_decodes_once_in_two_passes() -> None:
    found = json.loads(COUNTS.read_text())
    lines = {name: walked["bytes of lines"] for name, walked in found["walked"].items()}
    assert len(set(lines.values())) == 1
    assert max(lines.values()) <= 2 * found["bytes"]
