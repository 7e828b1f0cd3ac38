"""The memory viewer as the existing plugin answers: PreprocessResult as proto3 JSON, without defaults."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

from ..analysis.xla.device_runs import frames
from ..analysis.xla.heap import CONSTANT, OUTPUT, PARAMETER, TEMPORARY, Block, Heap
from ..analysis.xla.memory import LiveBuffer, MemoryDetail, detail, most_scoped_vmem
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
    program = choose(hosts[0], str(options["module_name"]), str(options["memory_space"]))
    if program is None:
        return {}
    module = hosts[0].modules[program.program]
    details = detail(module, program.color)
    heap, parts = details.heap, _Parts(module)
    in_order = sorted(details.live_buffers, key=lambda buffer: (buffer.kind == TEMPORARY, buffer.begin))
    large = [buffer for buffer in in_order if buffer.size >= _SMALL]
    small = sum(buffer.size for buffer in in_order if buffer.size < _SMALL)
    objects = [_heap_object(parts, i, buffer) for i, buffer in enumerate(large)]
    objects += [_rest(len(objects), small)] if small else []
    by_size = sorted(range(len(large)), key=lambda i: -large[i].size) + ([len(large)] if small else [])
    scoped_size, scoped_by = most_scoped_vmem(module) if program.color == _VMEM else (0, "")
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
        "nonReusableMib": parts.fixed_to_one(program.color) / _MIB,
        "maybeLiveOutMib": heap.bytes_of(OUTPUT) / _MIB,
        "indefiniteLifetimes": [_lifetime(parts, fixed.allocation, fixed.size) for fixed in heap.fixed],
        "totalBufferAllocationMib": heap.total / _MIB,
        "indefiniteBufferAllocationMib": heap.fixed_bytes / _MIB,
        "hloInstructionNames": heap.instructions,
        "maxScopedVmemAllocationMib": scoped_size / _MIB,
        "maxScopedVmemInstructionName": scoped_by,
        "bufferBlocks": _blocks(parts, details),
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
        shape_bytes = float(self.module.shapes.bytes[shape]) if shape >= 0 else size
        return int(shape_bytes) if shape_bytes <= size else size

    def origin(self, buffer: int) -> dict[str, Any]:
        """The framework op and the source line that it comes from."""
        row = int(self.buffers.instruction[buffer])
        if row < 0:
            return {}
        telling = self.module.telling(row)
        file, _, line = self.module.sources.line(telling).rpartition(":")
        source = {"fileName": file, "lineNumber": int(line) if line.isdecimal() else 0}
        source["stackFrame"] = "\n".join(frames(self.module, telling))
        return {"tfOpName": self.module.op_names[telling], "sourceInfo": _without_defaults(source)}

    def fixed_to_one(self, color: int) -> int:
        """Bytes of allocations that no other value can use: index tables, and those of called computations."""
        allocations = self.allocations
        return int(
            allocations.size[(allocations.thread_local | allocations.tuple) & (allocations.color == color)].sum()
        )


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


def _heap_object(parts: _Parts, number: int, heap_object: LiveBuffer) -> Json:
    if heap_object.buffer < 0:
        return {"numbered": number} | _without_defaults(
            {"logicalBufferSizeMib": heap_object.size / _MIB, "groupName": _GROUPS[heap_object.kind]}
        )
    row, origin = int(parts.buffers.instruction[heap_object.buffer]), parts.origin(heap_object.buffer)
    return {"numbered": number} | _without_defaults(
        {
            "label": f"{heap_object.name}: {parts.shape(heap_object.buffer)} # {heap_object.op_name}",
            "logicalBufferId": int(parts.buffers.id[heap_object.buffer]),
            "logicalBufferSizeMib": heap_object.size / _MIB,
            "unpaddedShapeMib": (heap_object.size if heap_object.unpadded is None else heap_object.unpadded) / _MIB,
            "instructionName": parts.name(heap_object.buffer),
            "shapeString": parts.shape(heap_object.buffer),
            "tfOpName": heap_object.op_name,
            "groupName": _GROUPS[heap_object.kind],
            "opCode": parts.module.opcodes[row] if row >= 0 else "",
            "sourceInfo": origin.get("sourceInfo"),
        }
    )


def _rest(number: int, size: int) -> Json:
    label = f"small (<{_SMALL} bytes)"
    return {"numbered": number, "label": label, "logicalBufferId": -1, "logicalBufferSizeMib": size / _MIB}


def _lifetime(parts: _Parts, allocation: int, size: int) -> Json:
    allocations = parts.allocations
    reusable = not (allocations.thread_local[allocation] or allocations.tuple[allocation])
    flags = {
        "entry computation parameter": allocations.parameter[allocation],
        "may-be live out": allocations.live_out[allocation],
        "constant": allocations.constant[allocation],
        "reusable": reusable,
    }
    buffers = [buffer for buffer in allocations.buffers[allocation] if buffer >= 0]
    shapes = {parts.shape(buffer) for buffer in buffers}
    return _without_defaults(
        {
            "id": str(allocations.index[allocation]) if allocations.index[allocation] else "",
            "sizeMib": size / _MIB,
            "attributes": [name for name, is_so in flags.items() if is_so],
            "logicalBuffers": [_logical(parts, buffer) for buffer in buffers],
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


def _blocks(parts: _Parts, details: MemoryDetail) -> list[Json]:
    """The memory of temporaries, and what lies in it when and where."""
    if not details.heap.blocks:
        return []
    temporary_bytes = details.heap.total - details.heap.fixed_bytes
    around = {
        "logicalBufferId": -1,
        "name": "Temporary",
        "size": temporary_bytes,
        "endStep": len(details.heap.curve) - 1,
    }
    blocks = [_block(parts, i, block) for i, block in enumerate(details.heap.blocks)]
    return [around | {"category": "Temporary", "color": "#ffffff"}, *blocks]


def _block(parts: _Parts, index: int, block: Block) -> Json:
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
            "color": _COLORS[index % len(_COLORS)],
        }
    )
