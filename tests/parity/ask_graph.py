"""xprof's documents of a program, for an interpreter that has it: `ask_graph.py FILE PROGRAM NODE`, {type: text}."""

import json
import shutil
import sys
import tempfile
from pathlib import Path

from xprof.convert import raw_to_tool_data


def main(file: str, program: str, node: str) -> None:
    """Ask for the program's text and for the node's neighbours."""
    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copy(file, Path(folder, Path(file).name))
        # Only asking for the tools' names writes what the graph viewer reads.
        raw_to_tool_data.xspace_to_tool_names([str(copy)])
        answers = {}
        for kind in ("short_txt", "long_txt", "adj_nodes"):
            options = {"type": kind, "module_name": program, "node_name": node, "graph_width": 1}
            data, _ = raw_to_tool_data.xspace_to_tool_data(
                [str(copy)],
                "graph_viewer",
                {
                    "host": Path(file).name.removesuffix(".xplane.pb"),
                    "module_name": program,
                    "graph_viewer_options": options,
                },
            )
            answers[kind] = data.decode() if isinstance(data, bytes) else data
        print(json.dumps(answers))


if __name__ == "__main__":
    main(*sys.argv[1:])
