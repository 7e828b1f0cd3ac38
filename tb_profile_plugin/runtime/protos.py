"""The messages of protos/*.proto, in a descriptor pool of our own.

TensorFlow registers the same names in the default pool of its process; ours never meet it there.
"""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory


@cache
def _pool() -> descriptor_pool.DescriptorPool:
    data = resources.files("tb_profile_plugin").joinpath("protos.binpb").read_bytes()
    pool = descriptor_pool.DescriptorPool()
    for file in descriptor_pb2.FileDescriptorSet.FromString(data).file:
        pool.Add(file)
    return pool


@cache
def message(name: str) -> Any:
    """The class of a message, e.g. ``message("tensorflow.profiler.XSpace")``; raises KeyError for an unknown name."""
    return message_factory.GetMessageClass(_pool().FindMessageTypeByName(name))
