"""Runs the programs beside this file, each in a process and a folder of its own, and files their captures."""

import getpass
import os
import socket
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TRACES = ROOT / "tests" / "traces"
LARGEST = 300_000
"""Bytes: captures lie in git."""


def main(*names: str) -> None:
    """Make the captures of these programs, or of all."""
    programs = [path.stem for path in sorted(HERE.glob("*.py")) if path.name not in ("make.py", "measured.py")]
    for name in names or programs:
        with tempfile.TemporaryDirectory() as folder:
            # The program runs from a copy, so that the capture names no folder of ours.
            for part in (f"{name}.py", "measured.py"):
                Path(folder, part).write_bytes((HERE / part).read_bytes())
            program = Path(folder, f"{name}.py")
            environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONDONTWRITEBYTECODE": "1"}
            subprocess.run([sys.executable, program, "out"], cwd=folder, env=environment, check=True)
            out = Path(folder, "out")
            kinds = [path for path in out.iterdir() if path.is_dir() and path.name.isalpha() and path.name != "plugins"]
            for kind in kinds or [out]:
                file_away(f"{name}_{kind.name}" if kinds else name, kind, folder)


def file_away(name: str, out: Path, folder: str) -> None:
    """Copy the captures to tests/traces, without what would tell whose machine made them."""
    if (out / "measured.json").exists():
        target = TRACES / name / "measured.json"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes((out / "measured.json").read_bytes())
    found = sorted(out.rglob("*.xplane.pb"))
    for number, path in enumerate(found):
        host = f"worker-{number}" if len(found) > 1 else "host"
        target = TRACES / name / "plugins" / "profile" / "run" / f"{host}.xplane.pb"
        target.parent.mkdir(parents=True, exist_ok=True)
        data = anonymous(path.read_bytes(), folder, host)
        if len(data) > LARGEST:
            sys.exit(f"{name}: {len(data):,} bytes are too many, at most {LARGEST:,}: profile fewer steps")
        target.write_bytes(data)
        print(f"{target.relative_to(ROOT)}: {len(data):,} bytes")


def anonymous(data: bytes, folder: str, host: str) -> bytes:
    """The capture with another host name, and with neutral folders of the same length."""
    from tensorflow.tsl.profiler.protobuf import xplane_pb2

    space = xplane_pb2.XSpace.FromString(data)
    del space.hostnames[:]
    space.hostnames.append(host)
    data = space.SerializeToString(deterministic=True)
    private_paths = [sysconfig.get_path("purelib"), sysconfig.get_path("stdlib"), folder, str(ROOT), str(Path.home())]
    for path_text in private_paths:
        data = data.replace(path_text.encode(), neutral(path_text))
    for word in (socket.gethostname(), getpass.getuser()):
        if len(word) > 3 and word.encode() in data:
            print(f"  look whether {word!r} in it tells anything", file=sys.stderr)
    return data


def neutral(path_text: str) -> bytes:
    """A path of the same length: lengths in the file stay true."""
    return ("/home/" + "u" * len(path_text))[: len(path_text)].encode()


if __name__ == "__main__":
    main(*sys.argv[1:])
