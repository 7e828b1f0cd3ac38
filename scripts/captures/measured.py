"""What a program measured itself, beside its capture."""

import json
from pathlib import Path


def write(folder, seconds):
    """The times of its steps: tests compare them with what the capture says."""
    Path(folder, "measured.json").write_text(json.dumps({"step_ms": [1000 * each for each in seconds]}) + "\n")
