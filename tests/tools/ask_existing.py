"""What the existing plugin answers, for an interpreter that has it, as JSON: `ask_existing.py TOOL FILE…`.

It prints {file: answer}, null where the plugin gives none. Files are copied first, because it writes caches beside what
it reads.
"""

import json
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from tensorboard_plugin_profile.convert import raw_to_tool_data


def answer(tool: str, file: str) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copy(file, folder)
        host = Path(file).name.removesuffix(".xplane.pb")
        try:
            data, _ = raw_to_tool_data.xspace_to_tool_data([str(copy)], f"{tool}^", {"host": host, "tqx": ""})
        except Exception as error:
            # Whatever it cannot read is one capture of many.
            print(f"{file}: {error}", file=sys.stderr)
            return None
    return None if data is None else json.loads(data)


if __name__ == "__main__":
    json.dump({file: answer(sys.argv[1], file) for file in sys.argv[2:]}, sys.stdout)
