"""Captures drawn as text: a few lines give an XSpace, a `Host`, or a session on disk.

    /host:CPU {process_id=7}
      python   | train[0,900]{_r=1, step_num=7+s}  model/MatMul:MatMul[100,300]
               | Launch[110,5]{c=1}
    /device:GPU:0
      Stream #13(Compute) | gemm[120,80]{c=1, shape='(half[2])'}
    error: Failed to load libcupti

Unindented lines name planes with their own stats, indented ones lines of events ``name[begin,duration]{stats}`` in µs.
Everything is drawn once per step s = 0 … ``steps - 1``, shifted by ``every`` µs. Values of stats: ``7`` int64, ``7u``
uint64, ``7+s`` and ``10s+1`` int64 by step, ``7.5`` double, ``'text'`` or a bare word text, ``&text`` or ``&'text'`` a
reference.
``c=n`` stands for a correlation id that differs from step to step. A name ``?`` has no metadata.
"""

import re
from pathlib import Path
from typing import Any

import tb_profile_plugin
from tb_profile_plugin.api import Capture
from tb_profile_plugin.formats import xspace
from tb_profile_plugin.formats.protobuf import message as field
from tb_profile_plugin.model.host import Host, HostWithSteps
from tb_profile_plugin.runtime.protos import message

XSpace = message("tensorflow.profiler.XSpace")

_EVENT = re.compile(r"\s*(.+?)\[(-?[\d.]+),([\d.]+)\](?:\{(.*?)\})?(?=\s|$)")
_STAT = re.compile(r"\s*([^=,]+)=(&?'[^']*'|[^,]*)(?:,|$)")
_BY_STEP = re.compile(r"(\d*)s(?:\+(\d+))?$|(\d+)\+s$")
_FIRST_DERIVED = -559038737
_DERIVED = ["Steps", "Launch Stats", "TensorFlow Name Scope", "TensorFlow Ops", "XLA Modules", "XLA Ops"]

GPU = """
/host:CPU
  python | train[0,900]{_r=1, step_num=7+s}  MemoryAllocation[20,0]{allocator_name=bfc, bytes_allocated=64, addr=5}
         | Launch[110,5]{c=1}
/device:GPU:0
  Stream #13(Compute) | gemm[120,80]{c=1, kernel_details='regs:8 grid:1,1,1', tf_op=a:MatMul}
  Stream #14(MemcpyH2D) | MemcpyH2D[220,20]{memcpy_details='size:64'}
"""
"""A step with an allocation, a kernel and a copy."""


def space(text: str, steps: int = 1, every: float = 1000) -> Any:
    """The XSpace message that the text draws."""
    drawn = XSpace()
    pen: _Pen | None = None
    line = None
    for row in filter(str.strip, text.splitlines()):
        head, bar, events = row.partition("|")
        if bar:
            assert pen, "a line of events needs a plane above it"
            line = pen.line(head.strip()) if head.strip() else line
            pen.events(line, events, steps, every)
            continue
        kind, _, said = row.strip().partition(": ")
        if kind in ("error", "warning", "hostname"):
            getattr(drawn, kind + "s").append(said)
        else:
            name, _, facts = row.strip().partition(" {")
            pen = _Pen(drawn.planes.add(id=len(drawn.planes), name=name))
            pen.stats(pen.plane.stats, facts.rstrip("}"), 0)
    return drawn


def host(text: str, steps: int = 1, every: float = 1000, name: str = "host") -> HostWithSteps:
    """The drawn host, encoded and decoded again."""
    return decoded(space(text, steps, every), name)


def decoded(drawn: Any, name: str = "host") -> HostWithSteps:
    """The host of an XSpace message."""
    return Host(name, xspace.decode(drawn.SerializeToString(), name)).with_steps()


def session(folder: Path, **hosts: Any) -> Capture:
    """A session of these hosts (drawn spaces, or bytes) in files below the folder."""
    run = folder / "plugins" / "profile" / "run"
    run.mkdir(parents=True, exist_ok=True)
    for name, drawn in hosts.items():
        data = drawn if isinstance(drawn, bytes) else drawn.SerializeToString()
        (run / f"{name}.xplane.pb").write_bytes(data)
    return tb_profile_plugin.open(run)


def metadata(drawn: Any, display_name: str, stats: str) -> Any:
    """Say what all events of an XLA instruction share; their name is its text: ``%display_name = …``."""
    for plane in drawn.planes:
        for entry in plane.event_metadata.values():
            if entry.name.startswith(f"%{display_name} ="):
                entry.display_name = display_name
                _Pen(plane).stats(entry.stats, stats, 0)
    return drawn


class _Pen:
    """Draws into one plane."""

    def __init__(self, plane: Any):
        self.plane = plane
        self.event_ids: dict[str, int] = {entry.name: key for key, entry in plane.event_metadata.items()}
        self.stat_ids: dict[str, int] = {entry.name: key for key, entry in plane.stat_metadata.items()}

    def line(self, name: str) -> Any:
        number = re.search(r"#(\d+)", name)
        line_id = int(number[1]) if number else len(self.plane.lines) + 1
        if name in _DERIVED and self.plane.name.startswith("/device:GPU"):
            line_id = _FIRST_DERIVED + _DERIVED.index(name)
        return self.plane.lines.add(id=line_id, name=name)

    def events(self, line: Any, text: str, steps: int, every: float) -> None:
        rest = text.strip()
        found = list(_EVENT.finditer(rest))
        assert "".join(match[0] for match in found).strip() == rest, f"cannot read {text!r}"
        for step in range(steps):
            for name, begin, duration, stats in (match.groups() for match in found):
                event = line.events.add(metadata_id=self._name(name), duration_ps=round(float(duration) * 1e6))
                event.offset_ps = round((float(begin) + step * every) * 1e6)
                self.stats(event.stats, stats or "", step)

    def _name(self, name: str) -> int:
        if name == "?":
            return 999_999
        if name not in self.event_ids:
            self.event_ids[name] = len(self.event_ids) + 1
            self.plane.event_metadata[self.event_ids[name]].id = self.event_ids[name]
            self.plane.event_metadata[self.event_ids[name]].name = name
        return self.event_ids[name]

    def _stat_id(self, name: str) -> int:
        if name not in self.stat_ids:
            self.stat_ids[name] = len(self.stat_ids) + 1
            self.plane.stat_metadata[self.stat_ids[name]].id = self.stat_ids[name]
            self.plane.stat_metadata[self.stat_ids[name]].name = name
        return self.stat_ids[name]

    def stats(self, stats: Any, text: str, step: int) -> None:
        for name, value in _STAT.findall(text):
            if name == "c":
                stats.add(metadata_id=self._stat_id("correlation_id"), int64_value=1000 * (step + 1) + int(value))
                continue
            stat = stats.add(metadata_id=self._stat_id(name.strip()))
            by_step = _BY_STEP.match(value)
            if by_step:
                factor, more, start = by_step.groups()
                stat.int64_value = int(start) + step if start else int(factor or 1) * step + int(more or 0)
            elif re.fullmatch(r"-?\d+", value):
                stat.int64_value = int(value)
            elif re.fullmatch(r"\d+u", value):
                stat.uint64_value = int(value[:-1])
            elif re.fullmatch(r"-?\d+\.\d+", value):
                stat.double_value = float(value)
            elif value.startswith("&"):
                stat.ref_value = self._stat_id(value[1:].strip("'"))
            else:
                stat.str_value = value.strip("'")


def program(drawn: Any, program_id: int, name: str, **instructions: str) -> Any:
    """Add an XLA program to a drawn space; instructions are told as ``f="fusion/kLoop a/Relu:Relu"``."""
    body = b""
    for instruction, said in instructions.items():
        opcode, _, op = said.partition(" ")
        opcode, _, fusion = opcode.partition("/")
        op_name, _, op_type = op.partition(":")
        metadata = field(1, op_type.encode()) + field(2, op_name.encode())
        parts = field(1, instruction.encode()) + field(2, opcode.encode()) + field(7, metadata)
        body += field(2, parts + field(11, fusion.encode()))
    found = [plane for plane in drawn.planes if plane.name == "/host:metadata"]
    plane = found[0] if found else drawn.planes.add(id=len(drawn.planes), name="/host:metadata")
    plane.stat_metadata[1].name = "Hlo Proto"
    entry = plane.event_metadata[program_id]
    entry.name = f"{name}({program_id})"
    entry.stats.add(metadata_id=1, bytes_value=field(1, field(1, name.encode()) + field(3, body)))
    return drawn
