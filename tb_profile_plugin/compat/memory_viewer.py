"""The memory viewer as the existing plugin answers: PreprocessResult as proto3 JSON, without defaults."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

from ..analysis.xla.executed import stack
from ..analysis.xla.heap import CONSTANT, OUTPUT, PARAMETER, TEMPORARY, Block, Heap
from ..analysis.xla.memory import Detail, Held, detail, scoped
from ..formats.xspace.hlo.module import Module
from ..model.host import Host
from ..tools.answers.answer import Json
from ..tools.answers.named import Named
from ..tools.memory_viewer import choose

_MIB = 2**20
_SMALL = 16384
"""Smaller ones are shown as one."""
_GROUPS = {PARAMETER: "Parameter", OUTPUT: "Output", CONSTANT: "Constant", TEMPORARY: "Temporary"}
_COLORS = ("#2196f3", "#4dd0e1", "#26a69a", "#9ccc65", "#ffca28", "#ff7043", "#ec407a", "#7e57c2")
_VMEM = 1


def memory_viewer(answer: Named, hosts: Sequence[Host], options: Mapping[str, str]) -> Json:
    """See the module."""
    chosen = choose(hosts[0], str(options["module_name"]), str(options["memory_space"]))
    if chosen is None:
        return {}
    module = hosts[0].modules[chosen.program]
    found = detail(module, chosen.color)
    heap, parts = found.heap, _Parts(module)
    in_order = sorted(found.held, key=lambda each: (each.kind == TEMPORARY, each.begin))
    shown = [each for each in in_order if each.size >= _SMALL]
    small = sum(each.size for each in in_order if each.size < _SMALL)
    objects = [_heap_object(parts, i, each) for i, each in enumerate(shown)]
    objects += [_rest(len(objects), small)] if small else []
    by_size = sorted(range(len(shown)), key=lambda i: -shown[i].size) + ([len(shown)] if small else [])
    scoped_size, scoped_by = scoped(module) if chosen.color == _VMEM else (0, "")
    unpadded = _unpadded(heap, parts)
    everything: dict[str, Any] = {
        "heapSizes": [size / _MIB for size in heap.curve],
        "unpaddedHeapSizes": [size / _MIB for size in unpadded],
        "maxHeap": objects,
        "maxHeapBySize": [objects[i] for i in by_size],
        "logicalBufferSpans": {
            str(module.assignment.buffers.id[block.buffer]): _without_defaults(
                {"start": block.begin, "limit": block.end}
            )
            for block in heap.blocks
        },
        "maxHeapToBySize": sorted(range(len(by_size)), key=by_size.__getitem__),
        "bySizeToMaxHeap": by_size,
        "moduleName": module.name,
        "entryComputationName": module.computation_names[module.entry] if module.computation_names else "",
        "peakHeapMib": heap.peak_bytes / _MIB,
        "peakUnpaddedHeapMib": unpadded[heap.peak] / _MIB if unpadded else 0,
        "peakHeapSizePosition": max(heap.peak - 1, 0),
        "entryComputationParametersMib": heap.bytes_of(PARAMETER) / _MIB,
        "nonReusableMib": parts.fixed_to_one(chosen.color) / _MIB,
        "maybeLiveOutMib": heap.bytes_of(OUTPUT) / _MIB,
        "indefiniteLifetimes": [_lifetime(parts, each.allocation, each.size) for each in heap.fixed],
        "totalBufferAllocationMib": heap.total / _MIB,
        "indefiniteBufferAllocationMib": heap.fixed_bytes / _MIB,
        "hloInstructionNames": heap.instructions,
        "maxScopedVmemAllocationMib": scoped_size / _MIB,
        "maxScopedVmemInstructionName": scoped_by,
        "bufferBlocks": _blocks(parts, found),
    }
    return _without_defaults(everything)


class _Parts:
    """What a program says of its buffers, in the words of the older answer."""

    def __init__(self, module: Module):
        self.module, self.buffers, self.allocations = module, module.assignment.buffers, module.assignment.allocations

    def name(self, buffer: int) -> str:
        """``copy-start{0}``: the instruction, and which part of its result."""
        row, path = int(self.buffers.instruction[buffer]), self.buffers.path[buffer]
        return self.module.names[row] + (f"{{{','.join(map(str, path))}}}" if path else "") if row >= 0 else ""

    def shape(self, buffer: int) -> str:
        """As XLA writes it."""
        shape = int(self.buffers.shape[buffer])
        return self.module.shapes.text(shape) if shape >= 0 else ""

    def unpadded(self, buffer: int) -> int:
        """Bytes that its shape takes; its size where that is not known."""
        shape, size = int(self.buffers.shape[buffer]), int(self.buffers.size[buffer])
        taken = float(self.module.shapes.bytes[shape]) if shape >= 0 else size
        return int(taken) if taken <= size else size

    def origin(self, buffer: int) -> dict[str, Any]:
        """The framework op and the source line that it comes from."""
        row = int(self.buffers.instruction[buffer])
        if row < 0:
            return {}
        telling = self.module.telling(row)
        file, _, line = self.module.sources.line(telling).rpartition(":")
        source = {"fileName": file, "lineNumber": int(line) if line.isdecimal() else 0}
        source["stackFrame"] = "\n".join(stack(self.module, telling))
        return {"tfOpName": self.module.op_names[telling], "sourceInfo": _without_defaults(source)}

    def fixed_to_one(self, color: int) -> int:
        """Bytes of allocations that no other value can use: index tables, and those of called computations."""
        found = self.allocations
        return int(found.size[(found.thread_local | found.tuple) & (found.color == color)].sum())


def _without_defaults(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value not in (0, 0.0, "", [], {}, None)}


def _unpadded(heap: Heap, parts: _Parts) -> list[int]:
    """The curve without the padding of temporaries."""
    changes = [0] * (len(heap.curve) + 1)
    for block in heap.blocks:
        padding = block.size - parts.unpadded(block.buffer)
        changes[min(block.begin + 1, len(heap.curve))] += padding
        changes[min(block.end + 1, len(heap.curve))] -= padding
    return [size - padding for size, padding in zip(heap.curve, accumulate(changes), strict=False)]


def _heap_object(parts: _Parts, number: int, each: Held) -> Json:
    if each.buffer < 0:
        return {"numbered": number} | _without_defaults(
            {"logicalBufferSizeMib": each.size / _MIB, "groupName": _GROUPS[each.kind]}
        )
    row, origin = int(parts.buffers.instruction[each.buffer]), parts.origin(each.buffer)
    return {"numbered": number} | _without_defaults(
        {
            "label": f"{each.name}: {parts.shape(each.buffer)} # {each.op_name}",
            "logicalBufferId": int(parts.buffers.id[each.buffer]),
            "logicalBufferSizeMib": each.size / _MIB,
            "unpaddedShapeMib": (each.size if each.unpadded is None else each.unpadded) / _MIB,
            "instructionName": parts.name(each.buffer),
            "shapeString": parts.shape(each.buffer),
            "tfOpName": each.op_name,
            "groupName": _GROUPS[each.kind],
            "opCode": parts.module.opcodes[row] if row >= 0 else "",
            "sourceInfo": origin.get("sourceInfo"),
        }
    )


def _rest(number: int, size: int) -> Json:
    label = f"small (<{_SMALL} bytes)"
    return {"numbered": number, "label": label, "logicalBufferId": -1, "logicalBufferSizeMib": size / _MIB}


def _lifetime(parts: _Parts, allocation: int, size: int) -> Json:
    found = parts.allocations
    reusable = not (found.thread_local[allocation] or found.tuple[allocation])
    flags = {
        "entry computation parameter": found.parameter[allocation],
        "may-be live out": found.live_out[allocation],
        "constant": found.constant[allocation],
        "reusable": reusable,
    }
    held = [buffer for buffer in found.buffers[allocation] if buffer >= 0]
    shapes = {parts.shape(buffer) for buffer in held}
    return _without_defaults(
        {
            "id": str(found.index[allocation]) if found.index[allocation] else "",
            "sizeMib": size / _MIB,
            "attributes": [name for name, is_so in flags.items() if is_so],
            "logicalBuffers": [_logical(parts, buffer) for buffer in held],
            "commonShape": shapes.pop() if len(shapes) == 1 else "",
        }
    )


def _logical(parts: _Parts, buffer: int) -> Json:
    row = int(parts.buffers.instruction[buffer])
    return _without_defaults(
        {
            "id": str(parts.buffers.id[buffer]),
            "shape": parts.shape(buffer),
            "sizeMib": float(parts.buffers.size[buffer]) / _MIB,
            "hloName": parts.module.names[row] if row >= 0 else "",
            "shapeIndex": [str(step) for step in parts.buffers.path[buffer]],
        }
    )


def _blocks(parts: _Parts, found: Detail) -> list[Json]:
    """The memory of temporaries, and what lies in it when and where."""
    if not found.heap.blocks:
        return []
    whole = found.heap.total - found.heap.fixed_bytes
    around = {"logicalBufferId": -1, "name": "Temporary", "size": whole, "endStep": len(found.heap.curve) - 1}
    blocks = [_block(parts, i, block) for i, block in enumerate(found.heap.blocks)]
    return [around | {"category": "Temporary", "color": "#ffffff"}, *blocks]


def _block(parts: _Parts, place: int, block: Block) -> Json:
    return _without_defaults(
        {
            "logicalBufferId": int(parts.buffers.id[block.buffer]),
            "name": parts.name(block.buffer),
            "offset": block.offset,
            "size": block.size,
            "startStep": block.begin,
            "endStep": block.end,
            **parts.origin(block.buffer),
            "category": "Temporary",
            "shapeString": parts.shape(block.buffer),
            "unpaddedSize": parts.unpadded(block.buffer),
            "color": _COLORS[place % len(_COLORS)],
        }
    )
