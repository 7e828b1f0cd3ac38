"""Source lines of a program's instructions: stated, or by the table of stack frames that newer programs have.

Field numbers are those of XLA's ``OpMetadata`` (source_file 3, source_line 4, stack_frame_id 15) and
``StackFrameIndexProto`` (file_names 1, function_names 2, file_locations 3, stack_frames 4), with its ``FileLocation``
(file_name_id 1, function_name_id 2, line 3, column 4) and ``StackFrame`` (file_location_id 1, parent_frame_id 2); ids
count from 1.
"""

from __future__ import annotations

from ....runtime.arrays import Array
from ....runtime.records import NamedTuple
from ....runtime.regex import regex
from .fields import Messages

_MOST_FRAMES = 64
"""The most frames of a stack that are read."""
_FILE_LOCATION, _STACK_FRAME = (1, 2, 3, 4), (1, 2)
"""Fields of these messages, in the order above."""
_PLACEHOLDER = "dummy_file_name"
"""What TensorFlow's bridge to XLA states where it knows no file."""
_LIBRARY = regex(r"[\\/](site|dist)-packages[\\/]")


class SourceFrame(NamedTuple):
    """A place in source code."""

    file: str
    line: int
    function: str = ""
    column: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file

    @property
    def with_column(self) -> str:
        """With the column where that is known."""
        return f"{self}:{self.column}" if self.column else str(self)


class Sources(NamedTuple):
    """Where each instruction comes from."""

    files: list[str]
    """Stated files by instruction."""
    lines: Array
    """int64[n]: stated line; 0 for none."""
    frames: Array
    """int64[n]: stack frame of each instruction; 0 for none."""
    frame_locations: list[SourceFrame]
    """Where each stack frame is."""
    parents: list[int]
    """By stack frame the one that called it, from 1; 0 for none."""

    @staticmethod
    def read(metadata: Messages, index: Messages) -> Sources:
        """The sources in instructions' metadata and the module's table of stack frames."""
        file_names, function_names = index.all_short_texts(1), index.all_short_texts(2)
        _, file_locations = index.repeated_messages(3, _FILE_LOCATION)
        call_sites = [
            SourceFrame(_text_at(file_names, file_id), line, _text_at(function_names, function_id), column)
            for file_id, function_id, line, column in zip(
                *(file_locations.integers(field).tolist() for field in _FILE_LOCATION), strict=True
            )
        ]
        _, stack_frames = index.repeated_messages(4, _STACK_FRAME)
        location_ids, parents = (stack_frames.integers(field).tolist() for field in _STACK_FRAME)
        nowhere = SourceFrame("", 0)
        frame_locations = [
            call_sites[location_id - 1] if 0 < location_id <= len(call_sites) else nowhere
            for location_id in location_ids
        ]
        files = ["" if name == _PLACEHOLDER else name for name in metadata.short_texts(3)]
        return Sources(files, metadata.integers(4), metadata.integers(15), frame_locations, parents)

    def stack(self, row: int) -> list[SourceFrame]:
        """The frames of an instruction, innermost first."""
        stack: list[SourceFrame] = []
        frame = int(self.frames[row])
        while 0 < frame <= len(self.frame_locations) and len(stack) < _MOST_FRAMES:
            stack.append(self.frame_locations[frame - 1])
            frame = self.parents[frame - 1]
        return stack

    def location_text(self, row: int) -> str:
        """``file:line`` as stated, else of the innermost frame outside of installed packages; empty if unknown."""
        if self.files[row]:
            return str(SourceFrame(self.files[row], int(self.lines[row])))
        stack = [frame for frame in self.stack(row) if frame.file]
        program_frames = [frame for frame in stack if not _LIBRARY.search(frame.file)]
        return str((program_frames or stack)[0]) if stack else ""


def _text_at(texts: list[str], number: int) -> str:
    """The text of a number that counts from 1; empty where there is none."""
    return texts[number - 1] if 0 < number <= len(texts) else ""
