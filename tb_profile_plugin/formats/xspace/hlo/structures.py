"""What some opcodes say beyond operands and shapes: contractions, windows, convolutions' dimensions, replica groups.

Field numbers are those of XLA's ``DotDimensionNumbers``, ``Window``, ``ConvolutionDimensionNumbers``, ``ReplicaGroup``,
``CollectiveDeviceListProto``, ``IotaReplicaGroupListProto``, ``MeshAxesReplicaGroupListProto`` and
``DeviceAssignmentProto``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

import numpy as np

from ....runtime.arrays import Array
from ....runtime.records import NamedTuple, record
from .fields import Messages, Ragged

WINDOW, CONVOLUTION, SLICE, DOT, GROUPS, DEVICE_LIST, IOTA_LIST, MESH_AXES = 15, 16, 17, 30, 49, 87, 92, 93
"""Numbers of the fields in an ``HloInstructionProto``."""


@record
class Dimensions:
    """Numbers about dimensions: dimensions ``first[i]:first[i + 1]`` are of instruction i."""

    first: Array
    """int64[n + 1]."""
    columns: Array
    """int64[numbers, k]."""

    @staticmethod
    def read(owner: Array, dimensions: Messages, defaults: Sequence[int], instructions: int) -> Dimensions:
        """The columns of one message per dimension, whose fields count from 1; ``owner`` is the instruction of each."""
        first = np.append(0, np.cumsum(np.bincount(owner, minlength=instructions)))
        return Dimensions(first, np.stack([dimensions.integers(i, default) for i, default in enumerate(defaults, 1)]))

    def __getitem__(self, instruction: int) -> list[list[int]]:
        """The numbers of each dimension of an instruction."""
        return self.columns[:, self.first[instruction] : self.first[instruction + 1]].T.tolist()


def windows(instructions: Messages) -> Dimensions:
    """Windows by instruction, of each dimension: size, stride, padding low and high, window dilation, base dilation."""
    owner, messages = instructions.repeated_messages(WINDOW, (1,))
    window_of_dimension, dimensions = messages.repeated_messages(1, range(1, 7))
    return Dimensions.read(owner[window_of_dimension], dimensions, (1, 1, 0, 0, 1, 1), len(instructions))


def slices(instructions: Messages) -> Dimensions:
    """Slices by instruction, of each dimension: begin, end, stride."""
    owner, dimensions = instructions.repeated_messages(SLICE, (1, 2, 3))
    return Dimensions.read(owner, dimensions, (0, 0, 1), len(instructions))


class Contractions(NamedTuple):
    """Dimensions that a product sums over, and those of its batch."""

    lhs: Ragged
    rhs: Ragged
    lhs_batch: Ragged
    rhs_batch: Ragged

    @staticmethod
    def read(instructions: Messages) -> Contractions:
        """The contractions of the instructions that have one."""
        owner, dots = instructions.repeated_messages(DOT, (1, 2, 3, 4))
        return Contractions(*(dots.integer_lists(number).spread(len(instructions), owner) for number in (1, 2, 3, 4)))


class Convolutions(NamedTuple):
    """Which dimensions of input, kernel and output are what."""

    dimensions: Array
    """int64[6, n]: kernel's input and output feature, input's batch and feature, output's batch and feature."""
    kernel_spatial: Ragged
    input_spatial: Ragged
    output_spatial: Ragged

    @staticmethod
    def read(instructions: Messages) -> Convolutions:
        """The convolutions of the instructions that have one."""
        dimension_numbers = instructions.messages(CONVOLUTION, range(3, 13))
        kernel_spatial, input_spatial, output_spatial = (
            dimension_numbers.integer_lists(number) for number in (6, 11, 12)
        )
        positions = [dimension_numbers.integers(number) for number in (3, 4, 7, 8, 9, 10)]
        return Convolutions(np.stack(positions), kernel_spatial, input_spatial, output_spatial)


def replica_groups(instructions: Messages) -> dict[int, str]:
    """Replica groups of each collective that states them, as XLA writes them: ``{{0,1},{2,3}}`` or ``[2,2]<=[4]``."""
    owner, groups = instructions.repeated_messages(GROUPS, (1,))
    list_owner, lists = instructions.repeated_messages(DEVICE_LIST, (1, 2))
    list_index, groups_in_lists = lists.repeated_messages(1, (1,))
    by_instruction: dict[int, list[str]] = {}
    for owners, devices in (
        (owner, groups.integer_lists(1)),
        (list_owner[list_index], groups_in_lists.integer_lists(1)),
    ):
        for index, instruction in enumerate(owners.tolist()):
            group = ",".join(map(str, devices[index]))
            by_instruction.setdefault(instruction, []).append(f"{{{group}}}")
    answer = {instruction: f"{{{','.join(texts)}}}" for instruction, texts in by_instruction.items()}
    list_index, iota_groups = lists.repeated_messages(2, (1, 2, 3, 4))
    for owner, iota_messages in (
        instructions.repeated_messages(IOTA_LIST, (1, 2, 3, 4)),
        (list_owner[list_index], iota_groups),
    ):
        answer |= dict(zip(owner.tolist(), _iota_texts(iota_messages), strict=True))
    return answer | dict(_mesh_texts(instructions))


def _iota_texts(iota: Messages) -> Iterator[str]:
    counts, sizes, shapes, orders = (
        iota.integers(1),
        iota.integers(2),
        iota.integer_lists(3),
        iota.integer_lists(4),
    )
    for index in range(len(iota)):
        yield _iota_text((counts[index], sizes[index]), shapes[index], orders[index])


def _iota_text(groups: tuple[int, int], shape: Sequence[int], order: Sequence[int]) -> str:
    """Of the number of groups and their size: ``[4,2]<=[2,4]T(1,0)``."""
    dimensions, transposed = (",".join(map(str, numbers)) for numbers in (shape, order))
    return f"[{groups[0]},{groups[1]}]<=[{dimensions}]" + (f"T({transposed})" if order else "")


def _mesh_texts(instructions: Messages) -> Iterator[tuple[int, str]]:
    """Replica groups of collectives over axes of a mesh, as if they were ranges: none of those over parts of axes, or
    of meshes that number their devices.
    """
    owner, groups = instructions.repeated_messages(MESH_AXES, (1, 2))
    meshes = groups.messages(1, (1, 2))
    mesh_of_axis, axes = meshes.repeated_messages(1, (2,))
    group_of_reference, references = groups.repeated_messages(2, (1, 2))
    axis = np.where(references.spans(2)[1] == 0, references.integers(1), -1)
    sizes, device_ids = _lists(mesh_of_axis, axes.integers(2), len(owner)), meshes.integer_lists(2)
    axes_of_groups = _lists(group_of_reference, axis, len(owner))
    for index, instruction in enumerate(owner.tolist()):
        shape, group_axes = sizes[index], dict.fromkeys(axes_of_groups[index])
        if not device_ids[index] and group_axes.keys() <= set(range(len(shape))):
            order = [*(axis for axis in range(len(shape)) if axis not in group_axes), *group_axes]
            size = prod(shape[axis] for axis in group_axes)
            yield instruction, _iota_text((prod(shape) // max(size, 1), size), shape, order)


def _lists(owner: Array, values: Array, count: int) -> Ragged:
    """By owner, ascending and less than ``count``, its values."""
    return Ragged(np.append(0, np.cumsum(np.bincount(owner, minlength=count))), values)


def device_assignment(assignment: Messages) -> Array:
    """int64[replicas, partitions]: the device of each, of one ``DeviceAssignmentProto``; empty where it says none."""
    by_partition = assignment.repeated_messages(3, (1,))[1].integer_lists(1)
    replicas = by_partition.counts[:1].sum()
    if not replicas or (by_partition.counts != replicas).any():
        return np.empty((0, 0), np.int64)
    return by_partition.values.reshape(-1, replicas).T
