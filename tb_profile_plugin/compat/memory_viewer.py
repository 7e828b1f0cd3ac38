"""The memory viewer as the existing plugin answers: the message PreprocessResult as proto3 JSON, without defaults."""

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
from ..tools.answers.reader import AnswerReader
from ..tools.memory_viewer import selected_program

_MIB = 2**20
_SMALL_BYTES = 16384
"""Smaller buffers are shown as one."""
_GROUP_NAMES = {PARAMETER: "Parameter", OUTPUT: "Output", CONSTANT: "Constant", TEMPORARY: "Temporary"}
_BLOCK_COLORS = ("#2196f3", "#4dd0e1", "#26a69a", "#9ccc65", "#ffca28", "#ff7043", "#ec407a", "#7e57c2")
_VMEM_COLOR = 1
"""Number of the memory space that TPUs call VMEM."""


def memory_viewer(answer: AnswerReader, hosts: Sequence[Host], options: Mapping[str, str]) -> Json:
    """The message PreprocessResult of the selected program; empty where there is none."""
    program = selected_program(hosts[0], str(options["module_name"]), str(options["memory_space"]))
    if program is None:
        return {}
    module = hosts[0].modules[program.program]
    details = detail(module, program.color)
    heap, program_buffers = details.heap, _ProgramBuffers(module)
    live = sorted(details.live_buffers, key=lambda buffer: (buffer.kind == TEMPORARY, buffer.begin))
    large = [buffer for buffer in live if buffer.size >= _SMALL_BYTES]
    small_bytes = sum(buffer.size for buffer in live if buffer.size < _SMALL_BYTES)
    objects = [_heap_object(program_buffers, i, buffer) for i, buffer in enumerate(large)]
    objects += [_small_object(len(objects), small_bytes)] if small_bytes else []
    by_size = sorted(range(len(large)), key=lambda i: -large[i].size) + ([len(large)] if small_bytes else [])
    scoped_bytes, scoped_instruction = most_scoped_vmem(module) if program.color == _VMEM_COLOR else (0, "")
    unpadded_curve = _curve_without_padding(heap, program_buffers)
    result: dict[str, Any] = {
        "heapSizes": [size / _MIB for size in heap.curve],
        "unpaddedHeapSizes": [size / _MIB for size in unpadded_curve],
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
        "peakUnpaddedHeapMib": unpadded_curve[heap.peak] / _MIB if unpadded_curve else 0,
        "peakHeapSizePosition": max(heap.peak - 1, 0),
        "entryComputationParametersMib": heap.bytes_of(PARAMETER) / _MIB,
        "nonReusableMib": program_buffers.unshareable_bytes(program.color) / _MIB,
        "maybeLiveOutMib": heap.bytes_of(OUTPUT) / _MIB,
        "indefiniteLifetimes": [
            _fixed_allocation(program_buffers, fixed.allocation, fixed.size) for fixed in heap.fixed_allocations
        ],
        "totalBufferAllocationMib": heap.total / _MIB,
        "indefiniteBufferAllocationMib": heap.fixed_bytes / _MIB,
        "hloInstructionNames": heap.instructions,
        "maxScopedVmemAllocationMib": scoped_bytes / _MIB,
        "maxScopedVmemInstructionName": scoped_instruction,
        "bufferBlocks": _block_entries(program_buffers, details),
    }
    return _without_defaults(result)


class _ProgramBuffers:
    """A program's buffers, told by their index, as the existing plugin describes them."""

    def __init__(self, module: Module):
        self.module, self.buffers, self.allocations = module, module.assignment.buffers, module.assignment.allocations

    def name(self, buffer: int) -> str:
        """The instruction, and which part of its result the buffer is: ``copy-start{0}``."""
        row, path = int(self.buffers.instruction[buffer]), self.buffers.path[buffer]
        return self.module.names[row] + (f"{{{','.join(map(str, path))}}}" if path else "") if row >= 0 else ""

    def shape(self, buffer: int) -> str:
        """As XLA writes it."""
        shape = int(self.buffers.shape[buffer])
        return self.module.shapes.text(shape) if shape >= 0 else ""

    def unpadded(self, buffer: int) -> int:
        """Bytes of its shape without padding; its size where that is unknown."""
        shape, size = int(self.buffers.shape[buffer]), int(self.buffers.size[buffer])
        shape_bytes = float(self.module.shapes.bytes[shape]) if shape >= 0 else size
        return int(shape_bytes) if shape_bytes <= size else size

    def source_fields(self, buffer: int) -> dict[str, Any]:
        """The framework op and the source line that it comes from."""
        row = int(self.buffers.instruction[buffer])
        if row < 0:
            return {}
        origin_row = self.module.origin_row(row)
        file, _, line = self.module.sources.location_text(origin_row).rpartition(":")
        source = {"fileName": file, "lineNumber": int(line) if line.isdecimal() else 0}
        source["stackFrame"] = "\n".join(frames(self.module, origin_row))
        return {"tfOpName": self.module.op_names[origin_row], "sourceInfo": _without_defaults(source)}

    def unshareable_bytes(self, color: int) -> int:
        """Bytes of allocations that no other value can use: index tables, and those of called computations."""
        allocations = self.allocations
        is_fixed = (allocations.thread_local | allocations.tuple) & (allocations.color == color)
        return int(allocations.size[is_fixed].sum())


def _without_defaults(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value not in (0, 0.0, "", [], {}, None)}


def _curve_without_padding(heap: Heap, program_buffers: _ProgramBuffers) -> list[int]:
    """The heap's curve without the padding of temporaries, in bytes."""
    changes = [0] * (len(heap.curve) + 1)
    for block in heap.blocks:
        padding = block.size - program_buffers.unpadded(block.buffer)
        changes[min(block.begin + 1, len(heap.curve))] += padding
        changes[min(block.end + 1, len(heap.curve))] -= padding
    return [size - padding for size, padding in zip(heap.curve, accumulate(changes), strict=False)]


def _heap_object(program_buffers: _ProgramBuffers, number: int, live: LiveBuffer) -> Json:
    if live.buffer < 0:
        return {"numbered": number} | _without_defaults(
            {"logicalBufferSizeMib": live.size / _MIB, "groupName": _GROUP_NAMES[live.kind]}
        )
    row = int(program_buffers.buffers.instruction[live.buffer])
    source = program_buffers.source_fields(live.buffer)
    return {"numbered": number} | _without_defaults(
        {
            "label": f"{live.name}: {program_buffers.shape(live.buffer)} # {live.op_name}",
            "logicalBufferId": int(program_buffers.buffers.id[live.buffer]),
            "logicalBufferSizeMib": live.size / _MIB,
            "unpaddedShapeMib": (live.size if live.unpadded is None else live.unpadded) / _MIB,
            "instructionName": program_buffers.name(live.buffer),
            "shapeString": program_buffers.shape(live.buffer),
            "tfOpName": live.op_name,
            "groupName": _GROUP_NAMES[live.kind],
            "opCode": program_buffers.module.opcodes[row] if row >= 0 else "",
            "sourceInfo": source.get("sourceInfo"),
        }
    )


def _small_object(number: int, size: int) -> Json:
    label = f"small (<{_SMALL_BYTES} bytes)"
    return {"numbered": number, "label": label, "logicalBufferId": -1, "logicalBufferSizeMib": size / _MIB}


def _fixed_allocation(program_buffers: _ProgramBuffers, allocation: int, size: int) -> Json:
    allocations = program_buffers.allocations
    reusable = not (allocations.thread_local[allocation] or allocations.tuple[allocation])
    flags = {
        "entry computation parameter": allocations.parameter[allocation],
        "may-be live out": allocations.live_out[allocation],
        "constant": allocations.constant[allocation],
        "reusable": reusable,
    }
    buffers = [buffer for buffer in allocations.buffers[allocation] if buffer >= 0]
    shapes = {program_buffers.shape(buffer) for buffer in buffers}
    return _without_defaults(
        {
            "id": str(allocations.index[allocation]) if allocations.index[allocation] else "",
            "sizeMib": size / _MIB,
            "attributes": [name for name, is_so in flags.items() if is_so],
            "logicalBuffers": [_logical_buffer(program_buffers, buffer) for buffer in buffers],
            "commonShape": shapes.pop() if len(shapes) == 1 else "",
        }
    )


def _logical_buffer(program_buffers: _ProgramBuffers, buffer: int) -> Json:
    row = int(program_buffers.buffers.instruction[buffer])
    return _without_defaults(
        {
            "id": str(program_buffers.buffers.id[buffer]),
            "shape": program_buffers.shape(buffer),
            "sizeMib": float(program_buffers.buffers.size[buffer]) / _MIB,
            "hloName": program_buffers.module.names[row] if row >= 0 else "",
            "shapeIndex": [str(step) for step in program_buffers.buffers.path[buffer]],
        }
    )


def _block_entries(program_buffers: _ProgramBuffers, details: MemoryDetail) -> list[Json]:
    """The memory of all temporaries as one block, and the block of each of them."""
    if not details.heap.blocks:
        return []
    temporary_bytes = details.heap.total - details.heap.fixed_bytes
    all_temporaries = {
        "logicalBufferId": -1,
        "name": "Temporary",
        "size": temporary_bytes,
        "endStep": len(details.heap.curve) - 1,
    }
    blocks = [_block_entry(program_buffers, i, block) for i, block in enumerate(details.heap.blocks)]
    return [all_temporaries | {"category": "Temporary", "color": "#ffffff"}, *blocks]


def _block_entry(program_buffers: _ProgramBuffers, index: int, block: Block) -> Json:
    return _without_defaults(
        {
            "logicalBufferId": int(program_buffers.buffers.id[block.buffer]),
            "name": program_buffers.name(block.buffer),
            "offset": block.offset,
            "size": block.size,
            "startStep": block.begin,
            "endStep": block.end,
            **program_buffers.source_fields(block.buffer),
            "category": "Temporary",
            "shapeString": program_buffers.shape(block.buffer),
            "unpaddedSize": program_buffers.unpadded(block.buffer),
            "color": _BLOCK_COLORS[index % len(_BLOCK_COLORS)],
        }
    )
