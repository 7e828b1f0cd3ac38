"""Where the guide to reading figures lies, which people and assistants get."""

from pathlib import Path

GUIDE = Path(__file__).parent.with_name("docs") / "guide.md"
