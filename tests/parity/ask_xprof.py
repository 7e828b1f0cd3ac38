"""What xprof answers, for an interpreter that has it, as JSON: `ask_xprof.py FILE… -- TOOL[?KEY=VALUE&…]…`.

It prints {tool: answer}, with what was asked as the tool.
The files are copied first, because xprof writes caches beside what it reads.
"""

import json
import shutil
import sys
import tempfile
from pathlib import Path

from xprof.convert import raw_to_tool_data


def main(*words: str) -> None:
    """Ask for each tool of all the files together."""
    split = words.index("--")
    with tempfile.TemporaryDirectory() as folder:
        copies = [shutil.copy(path, Path(folder, Path(path).name)) for path in words[:split]]
        host = Path(words[0]).name.removesuffix(".xplane.pb") if split == 1 else "ALL_HOSTS"
        answers = {}
        for tool in words[split + 1 :]:
            plain, _, given = tool.partition("?")
            options: dict[str, str] = dict(each.split("=", 1) for each in given.split("&") if each)
            if options:
                # What it is told about programs lies in files that the list of tools makes.
                raw_to_tool_data.xspace_to_tool_names([str(path) for path in copies])
            data, _ = raw_to_tool_data.xspace_to_tool_data(
                [str(path) for path in copies], plain, {"host": host, "tqx": ""} | options
            )
            # A deviation of one sample is printed as -nan, which no reader of JSON takes.
            answers[tool] = json.loads(data)
        print(json.dumps(answers))


if __name__ == "__main__":
    main(*sys.argv[1:])
