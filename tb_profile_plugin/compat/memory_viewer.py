"""The memory viewer as the existing plugin answers: PreprocessResult as proto3 JSON, without defaults."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..analysis.heap import CONSTANT, OUTPUT, PARAMETER, TEMPORARY
from ..analysis.programmemory import Detail, Held, detail, program_memories
from ..contract.answer import Json
from ..contract.named import Named
from ..model.host import Host
from ..tools.memory_viewer import choose
from ..xspace.hlo import Module

_MIB = 2**20
_GROUPS = {PARAMETER: "Parameter", OUTPUT: "Output", CONSTANT: "Constant", TEMPORARY: "Temporary"}


def memory_viewer(answer: Named, hosts: Sequence[Host], options: Mapping[str, str]) -> Json:
    """See the module."""
    chosen = choose(program_memories(hosts[0]), str(options["module_name"]), str(options["memory_space"]))
    if chosen is None:
        return {}
    module = hosts[0].modules[chosen.program]
    found = detail(module, chosen.color)
    heap = found.heap
    in_order = sorted(found.held, key=lambda each: (each.kind != TEMPORARY, each.begin))
    place = {id(each): i for i, each in enumerate(in_order)}
    by_size = [place[id(each)] for each in found.held]
    parameters, outputs = heap.bytes_of(PARAMETER), heap.bytes_of(OUTPUT)
    everything: dict[str, Any] = {
        "heapSizes": [size / _MIB for size in heap.curve],
        "unpaddedHeapSizes": [size / _MIB for size in heap.curve],
        "maxHeap": [_heap_object(i, each) for i, each in enumerate(in_order)],
        "maxHeapBySize": [_heap_object(place[id(each)], each) for each in found.held],
        "logicalBufferSpans": {
            str(module.assignment.buffers.id[block.buffer]): _without_defaults(
                {"start": block.begin, "limit": block.end - 1}
            )
            for block in heap.blocks
        },
        "maxHeapToBySize": sorted(range(len(by_size)), key=by_size.__getitem__),
        "bySizeToMaxHeap": by_size,
        "moduleName": module.name,
        "entryComputationName": module.computation_names[module.entry] if module.computation_names else "",
        "peakHeapMib": heap.peak_bytes / _MIB,
        "peakUnpaddedHeapMib": heap.peak_bytes / _MIB,
        "peakHeapSizePosition": max(heap.peak - 1, 0),
        "entryComputationParametersMib": parameters / _MIB,
        "maybeLiveOutMib": outputs / _MIB,
        "indefiniteLifetimes": [_lifetime(module, each.allocation, each.size) for each in heap.fixed],
        "totalBufferAllocationMib": heap.total / _MIB,
        "indefiniteBufferAllocationMib": heap.fixed_bytes / _MIB,
        "hloInstructionNames": heap.instructions,
        "bufferBlocks": _blocks(module, found),
    }
    return _without_defaults(everything)


def _without_defaults(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value not in (0, 0.0, "", [], {}, None)}


def _heap_object(number: int, each: Held) -> Json:
    file, _, line = each.source.rpartition(":")
    source = _without_defaults({"fileName": file, "lineNumber": int(line) if line.isdecimal() else 0})
    return {"numbered": number} | _without_defaults(
        {
            "label": f"{each.name}: {each.shape}" + (f" # {each.op_name}" if each.op_name else ""),
            "logicalBufferSizeMib": each.size / _MIB,
            "unpaddedShapeMib": (each.size if each.unpadded is None else each.unpadded) / _MIB,
            "instructionName": each.name,
            "shapeString": each.shape,
            "tfOpName": each.op_name,
            "groupName": _GROUPS[each.kind],
            "opCode": each.category,
            "sourceInfo": source,
        }
    )


def _lifetime(module: Module, allocation: int, size: int) -> Json:
    assignment = module.assignment
    flags = {
        "entry computation parameter": assignment.allocations.parameter,
        "may-be live out": assignment.allocations.live_out,
        "constant": assignment.allocations.constant,
    }
    held = [buffer for buffer in assignment.allocations.buffers[allocation] if buffer >= 0]
    return {
        "sizeMib": size / _MIB,
        "attributes": [name for name, column in flags.items() if column[allocation]],
        "logicalBuffers": [
            {
                "id": str(assignment.buffers.id[buffer]),
                "shape": module.shapes.text(int(shape)) if (shape := assignment.buffers.shape[buffer]) >= 0 else "",
                "sizeMib": float(assignment.buffers.size[buffer]) / _MIB,
                "hloName": module.names[row] if (row := int(assignment.buffers.instruction[buffer])) >= 0 else "",
            }
            for buffer in held
        ],
    }


def _blocks(module: Module, found: Detail) -> list[Json]:
    ids = module.assignment.buffers.id
    return [
        _without_defaults(
            {
                "logicalBufferId": int(ids[block.buffer]),
                "name": name,
                "startStep": block.begin,
                "endStep": block.end,
                "offset": block.offset,
                "size": block.size,
            }
        )
        for name, block in zip(found.names, found.heap.blocks, strict=True)
    ]
