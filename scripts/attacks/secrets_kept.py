"""What is left of secrets in a redacted capture."""

from __future__ import annotations

import gzip
import json
import zlib
from pathlib import Path
from typing import Any

import draw
import targets
from attack import COMMAND, STANDALONE, TENSORBOARD, Command, Server, Untried, attack, check

_HOSTS = ("gpu-box-17.corp.example", "gpu-box-18")
_USERS = tuple(
    f"{name}7q" for name in "ann bob cid dan eva fay gus hal ida jürgen kim leo mia ned ola pat ray sue".split()
)
_PATHS_OF_USERS = (
    "/home/{}/train.py",
    "/Users/{}/x",
    "C:\\Users\\{}\\x",
    "c:\\users\\{}\\x",
    "/mnt/users/{}/data",
    "/homes/{}/data",
    "/scratch/{}/data",
    "\\\\srv\\Users\\{}\\x",
    "home%2F{}%2Fx",
    "USER={}",
    "/home/{} smith/x",
    "/home/{}+x/y",
    "/home/{}/ü",
    "/home/{}/z",
    "~{}/x",
    "file:///home/{}/x",
    "/data/home/{}/x",
    "LOGNAME={}",
)
_TEXTS = {
    "argv": "--token=SECRETARGV",
    "cmdline": "python SECRETCMDLINE.py",
    "environment": "KEY=SECRETENVIRONMENT",
    "hlo": "HloModule SECRETHLO",
    "traceback": "File SECRETTRACEBACK line 1",
    "code": "def SECRETCODE(): pass",
    "source": "SECRETSOURCE.py:17",
    "stack_trace": "SECRETSTACK.py:3",
    "v6": "connect 2001:db8:17:18::99 done",
    "v4": "It is 198.51.100.77.",
    "upper": "AT GPU-BOX-17.CORP.EXAMPLE NOW",
    "other": "from gpu-box-18:8470",
}
_WANTED = (
    *_USERS,
    *("SECRETARGV", "SECRETCMDLINE", "SECRETENVIRONMENT", "SECRETHLO", "SECRETTRACEBACK", "SECRETCODE", "SECRETSOURCE"),
    *(
        "SECRETSTACK",
        "SECRETDESCRIPTION",
        "SECRETPLANE",
        "SECRETREFERENCE",
        "SECRETHOSTPLANE",
        "2001:db8:17",
        "198.51.100.77",
    ),
    *("gpu-box-17", "gpu-box-18", "corp.example"),
)


def _session(folder: Path) -> Path:
    """A session of two hosts with a secret in each kind of text."""
    space = targets.small()
    texts = dict(_TEXTS) | {
        f"note{i}": path.format(user) for i, (path, user) in enumerate(zip(_PATHS_OF_USERS, _USERS, strict=True))
    }
    targets.add(space, "step", 700, **texts)
    _by_reference(space.planes[0])
    space.planes[0].event_metadata[700].metadata = b"SECRETDESCRIPTION"
    space.planes[0].stat_metadata[950].description = "SECRETDESCRIPTION"
    space.planes.add(name="/device:CUSTOM:SECRETPLANE")
    space.planes.add(name="/host:SECRETHOSTPLANE")
    space.hostnames.append(_HOSTS[0])
    space.errors.append("cannot open /home/ann7q/x at 198.51.100.77")
    draw.session(folder, **{_HOSTS[0]: space, _HOSTS[1]: targets.small()})
    return folder / "plugins" / "profile" / "run"


def _by_reference(plane: Any) -> None:
    """A stat of source code whose text is another stat's name."""
    for key, name in ((950, "source"), (951, "SECRETREFERENCE.py:9")):
        plane.stat_metadata[key].id, plane.stat_metadata[key].name = key, name
    plane.lines[0].events[0].stats.add(metadata_id=950, ref_value=951)


def _left(content: bytes) -> list[str]:
    """Secrets in the bytes, or in what they hold compressed."""
    plain = content
    if content[:2] == b"\x1f\x8b":
        plain += gzip.decompress(content)
    at = content.find(b"\x78\x9c")
    while at >= 0:
        try:
            plain += zlib.decompressobj().decompress(content[at:])
        except zlib.error:
            pass
        at = content.find(b"\x78\x9c", at + 1)
    folded = plain.lower()
    found = []
    for secret in _WANTED:
        written = (secret.encode(), json.dumps(secret)[1:-1].encode())
        if any(secret.lower() in folded for secret in written):
            found.append(secret)
    return found


@attack("H3-redact", "A redacted capture tells no host, user, address or source code, in whatever format.", COMMAND)
def secrets(command: Command) -> None:
    """A secret in every kind of text, as each format that can be redacted."""
    run = _session(command.folder / "logs")
    seen = []
    for kind in ("xplane", "chrome", "perfetto"):
        code, out, error = command("export", run, "--format", kind, "--redact", "--host", _HOSTS[0])
        check(code == 0 and len(out) > 100, f"{kind} ends with {code}: {error.decode()[-200:]}")
        left = _left(out)
        if left:
            seen.append(f"{kind}: {', '.join(left)}")
    check(not seen, "; ".join(seen))


@attack("H3-share", "What the page saves redacted tells no more.", STANDALONE, TENSORBOARD)
def shared_secrets(server: Server) -> None:
    """The same by the server."""
    if not server.logdir:
        raise Untried("it needs a capture of its own")
    _session(server.logdir / "secret")
    server.lists("secret/run")
    answer = server.get("/share/capture", run="secret/run", host=_HOSTS[0])
    check(answer.status == 200, f"it is answered with {answer.status}")
    left = _left(answer.body) + _left(str(answer.headers).encode())
    check(not left, ", ".join(left))
