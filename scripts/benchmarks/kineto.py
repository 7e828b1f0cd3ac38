"""Traces in JSON: time and memory from bytes to columns, beside the standard library's json, which only makes objects.

usage: kineto.py [FILE]  (without one: 54 MB and 1 GB are made of a small real trace)
"""

from __future__ import annotations

import gzip
import os
import resource
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TRACE = ROOT / "tests/traces/torch_training"


def repeated(size: int) -> bytes:
    """A trace of about so many bytes: the events of the small one again and again, each time later."""
    import json

    (path,) = TRACE.glob("*.gz")
    whole = json.loads(gzip.decompress(path.read_bytes()))
    events = [event for event in whole.pop("traceEvents") if event.get("ph") in ("X", "i") and "ts" in event]
    low = min(event["ts"] for event in events)
    span = max(event["ts"] + event.get("dur", 0) for event in events) - low
    head = json.dumps(whole)[:-1] + ', "traceEvents": [\n'
    pieces, written, number = [head.encode()], len(head), 0
    while written < size:
        shifted = [event | {"ts": round(event["ts"] + number * span, 3)} for event in events]
        pieces.append(b",\n".join(json.dumps(event).encode() for event in shifted) + b",\n")
        written += len(pieces[-1])
        number += 1
    return b"".join([*pieces, b"{}]}"])


def measured(what: str, path: Path) -> str:
    """A row: one process reads the file in one of two ways."""
    reader, writer = os.pipe()
    if not os.fork():
        os.close(reader)
        data = path.read_bytes()
        if what == "json":
            import json as way

            begin, before = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            way.loads(data)
        else:
            from tb_profile_plugin.formats import recognize

            recognize.decode(b'{"traceEvents": []}' + b" " * 99)
            begin, before = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            recognize.decode(data, str(path))
        seconds = time.process_time() - begin
        more = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
        os.write(
            writer, f"{seconds:.2f} s, {len(data) / 1e6 / seconds:.0f} MB/s, {more:.0f} MiB above the file".encode()
        )
        os._exit(0)
    os.close(writer)
    os.wait()
    return os.read(reader, 1000).decode()


def main(*files: str) -> None:
    """Print a row for each file and way."""
    paths = [Path(file) for file in files]
    for size in () if paths else (54, 1000):
        path = ROOT / f"build/kineto/{size}.pt.trace.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            path.write_bytes(repeated(size * 10**6))
        paths.append(path)
    for path in paths:
        for what in ("columns", "json") if path.stat().st_size < 200 << 20 else ("columns",):
            print(f"{path.name} ({path.stat().st_size / 1e6:.0f} MB) {what}: {measured(what, path)}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
