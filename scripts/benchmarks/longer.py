"""A capture that goes on: the events of each line come again, each time later. `longer.py FILE TIMES TARGET`."""

import sys
from pathlib import Path
from typing import Any

from tb_profile_plugin.formats.protobuf import message

TESTS = Path(__file__).resolve().parents[2] / "tests"
_LINES = 3
"""The number of a plane's field for lines."""


def main(path: str, times: str, target: str) -> None:
    """Write it line by line: all at once it would take 30 times its size as objects."""
    sys.path.insert(0, str(TESTS))
    from draw import XSpace

    space = XSpace.FromString(Path(path).read_bytes())
    span = max(
        event.offset_ps + event.duration_ps for plane in space.planes for line in plane.lines for event in line.events
    )
    rest = XSpace()
    rest.CopyFrom(space)
    del rest.planes[:]
    with open(target, "wb") as file:
        for plane in space.planes:
            lines = [repeated(line, int(times), span) for line in plane.lines]
            del plane.lines[:]
            content = [plane.SerializeToString(), *(message(_LINES, line) for line in lines)]
            file.write(message(1, b"".join(content)))
        file.write(rest.SerializeToString())


def repeated(line: Any, times: int, span: int) -> bytes:
    """A line's message with its events so many times, each time later by the span, ps."""
    content = bytearray(line.SerializeToString())
    only_events = type(line)(events=line.events)
    for _ in range(times - 1):
        for event in only_events.events:
            event.offset_ps += span
        content += only_events.SerializeToString()
    return bytes(content)


if __name__ == "__main__":
    main(*sys.argv[1:])
