"""Traces in JSON: processes that answer the Overview beside the standard library's json, which only makes objects.

A compressed file is held against zlib, which only inflates it. Then the decoder alone, from bytes to columns.

usage: kineto.py [FILE]  (without one: 54 and 500 MB are made of a small real trace, and 2 GB, which the json module
has no memory for); kineto.py make MB prints where a trace of so many lies
"""

from __future__ import annotations

import gzip
import json
import os
import resource
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from measure import Cost, median, run, show

ROOT = Path(__file__).resolve().parents[2]
TRACE = ROOT / "tests/traces/torch_training"
ROUNDS = 3
MOST_OF_JSON = 600 << 20
"""The json module takes four times what a file has; larger ones it does not read."""
MOST_PACKED = 500
"""MB."""
RIVALS = {
    "json.load": "import json, sys; json.load(open(sys.argv[1]))",
    "zlib": "import gzip, sys; gzip.open(sys.argv[1]).read()",
}


def repeated(size: int) -> Iterator[bytes]:
    """A trace of about so many bytes, piece by piece: what a process holds before it starts another one counts as that
    one's peak. The events of the small one come again and again, each time later, laid out as PyTorch's profiler does.
    """
    (path,) = TRACE.glob("*.gz")
    whole = json.loads(gzip.decompress(path.read_bytes()))
    events = [event for event in whole.pop("traceEvents") if event.get("ph") in ("X", "i") and "ts" in event]
    low = min(event["ts"] for event in events)
    span = max(event["ts"] + event.get("dur", 0) for event in events) - low
    head = json.dumps(whole)[:-1] + ', "traceEvents": [\n'
    yield head.encode()
    written, number = len(head), 0
    while written < size:
        shifted = [event | {"ts": round(event["ts"] + number * span, 3)} for event in events]
        piece = b",\n".join(json.dumps(event, indent=2).encode() for event in shifted) + b",\n"
        yield piece
        written += len(piece)
        number += 1
    yield b"{}]}"


def show_processes(path: Path, rival: str = "") -> None:
    """Whole processes by turns."""
    costs: dict[str, list[Cost]] = {"ours": [], **({rival: []} if rival else {})}
    for _ in range(ROUNDS):
        ours = [sys.executable, "-m", "tb_profile_plugin", "tool", "overview_page", str(path), "--no-cache"]
        costs["ours"].append(run(ours)[0])
        if rival:
            costs[rival].append(run([sys.executable, "-c", RIVALS[rival], str(path)])[0])
    size = f"{path.stat().st_size / 1e6:.0f} MB of JSON{', compressed' if path.suffix == '.gz' else ''}"
    show(f"overview_page of {size}, whole processes", {name: median(each) for name, each in costs.items()})


def decoding(path: Path) -> str:
    """What one process takes from bytes to columns."""
    reader, writer = os.pipe()
    if not os.fork():
        os.close(reader)
        data = path.read_bytes()
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


def made(size: int) -> Path:
    """A trace of so many MB, and beside it, of up to `MOST_PACKED`, the same compressed."""
    path = ROOT / f"build/kineto/{size}.pt.trace.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        with path.open("wb") as plain:
            plain.writelines(repeated(size * 10**6))
        if size <= MOST_PACKED:
            with path.open("rb") as plain, gzip.open(f"{path}.gz", "wb", compresslevel=1) as packed:
                shutil.copyfileobj(plain, packed)
    return path


def main(*files: str) -> None:
    """Print rows for each file."""
    for path in map(Path, files) if files else map(made, (54, 500, 2000)):
        show_processes(path, "json.load" if path.stat().st_size < MOST_OF_JSON else "")
        packed = path.with_name(f"{path.name}.gz")
        if packed.exists():
            show_processes(packed, "zlib")
        print(f"decoding {path.name}: {decoding(path)}", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["make"]:
        print(made(int(sys.argv[2])))
    else:
        main(*sys.argv[1:])
