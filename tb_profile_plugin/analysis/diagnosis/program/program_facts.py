"""What a capture shows of its program, as far as remedies depend on it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np

from ....model.devices.capabilities import gpu_capabilities
from ....model.devices.properties import (
    AMD,
    CPU_ONLY,
    GPU,
    NVIDIA,
    TPU,
    device_count,
    device_type,
    hardware_type,
    host_device_type,
)
from ....model.events.outermost import are_inside, outermost
from ....model.framework import JAX, PYTORCH, TENSORFLOW, framework
from ....model.host import Host, HostWithSteps
from ....model.names.kernel_table import BF16, FP16
from ....model.per_host import per_host
from ....model.profiler_options import is_unrecorded, looks_for_cupti, one_op_of
from ....runtime.records import NamedTuple
from ....runtime.regex import regex
from ...activity.known_waits import waits_for_own_ops
from ...activity.states import State
from ...activity.thread_classes import activity, have_state
from . import facts
from .jax_facts import jax_facts
from .tensorflow.tensorflow_facts import tensorflow_facts
from .torch.torch_facts import torch_facts

_EVENTS_OF_FACT = {
    facts.TRACED: regex(r"\$"),
    facts.FUSED: regex(r"aten::_fused_"),
    facts.SPARSE_GRADIENTS: regex(r"aten::(?:embedding|_embedding_bag)_sparse_backward$"),
    facts.FSDP: regex(r".*(?:FullyShardedDataParallel|FSDP|fsdp)"),
    facts.USES_DATALOADER: regex(r"enumerate\(DataLoader\)|\$dataloader\.py:\d+ _next_data$"),
    facts.WORKER_PROCESSES: regex(r"enumerate\(DataLoader\)#_MultiProcessing|\$dataloader\.py:\d+ _try_get_data$"),
    facts.COPIES_BUCKETS: regex(r"torch\.distributed\.ddp\.reducer::copy_bucket_to_grad$"),
    facts.DATA_PARALLEL: regex(r"DataParallel\.forward$"),
    facts.DDP: regex(r".*DistributedDataParallel|torch\.distributed\.ddp\.reducer"),
    facts.SAVES_ASYNCHRONOUSLY: regex(r".*\bwait_until_finished\b"),
    facts.CHECKS_NUMERICS: regex(r".*:DebugNumericSummary|\$dispatch\.py:\d+ check_special"),
}
"""Events whose names show a fact; beside other frameworks PyTorch's DataLoader has names without a folder."""
_FACTS_OF_FRAMEWORK: dict[str, Callable[[HostWithSteps], set[str]]] = {
    JAX: jax_facts,
    PYTORCH: torch_facts,
    TENSORFLOW: tensorflow_facts,
}
_CONVOLUTION = regex(r"aten::convolution$|[^:]*:_?(?:Mkl)?(?:Native)?(?:Fused)?Conv2D(?!Backprop)")
_OF_CONVOLUTION = regex(r"aten::convolution_backward$|[^:]*:_?(?:Mkl)?(?:Native)?Conv2DBackpropFilter")
"""Convolutions, and gradients of their weights, in PyTorch and TensorFlow."""
_QUERY = regex(
    r"\$?<built-in method execute of sqlite3|\$(?=\S+ execute$)(?:\S*/)?(?:sqlalchemy|psycopg2?|pymysql|asyncpg)/"
)
"""Calls that ask a database for rows: of Python's own module in C, and of common libraries."""
_MANY, _MUCH_OF_TIME = 20, 0.1
"""So many queries in a step, and such a share of it, are rows that are asked for one by one; messages, too."""
_MESSAGE = regex(r"\$(?:multiprocessing/)?connection\.py:\d+ (?:send|recv)(?:_bytes)?$")
"""Functions by which Python's processes exchange objects through pipes: CPython's multiprocessing."""
_SHORT_MESSAGE_PS = 10**9
"""A message that takes so long on average (1 ms) waits for notable work, or is large."""
_SEVERAL_TIMES = 3
"""A backward pass that runs so many times for each forward pass is one for each of several losses."""
_WORDS = {GPU: "GPU", TPU: "TPU", CPU_ONLY: "CPU"}


class ProgramFacts(NamedTuple):
    """What was captured, as far as sentences and remedies differ by it; of all hosts of a session."""

    framework: str
    """Framework of most hosts, as `model.framework` names it."""
    device: str
    """As `device_word` has it."""
    facts: frozenset[str]
    """What `program_facts` says of it, and what differs between its hosts."""


def program_of(hosts: Sequence[Host]) -> ProgramFacts:
    """What the hosts run, and on what."""
    most = Counter(framework(host) for host in hosts).most_common(1)[0][0]
    of_hosts = [program_facts(host) for host in hosts]
    of_session = frozenset[str]().union(*of_hosts)
    if facts.USES_DATALOADER in of_session and any(
        facts.AWAITS_BROADCASTS in own and facts.USES_DATALOADER not in own for own in of_hosts
    ):
        of_session |= {facts.BROADCASTS_BATCHES}
    return ProgramFacts(most, device_word(hosts), of_session)


def device_word(hosts: Sequence[Host]) -> str:
    """What does the work, as people call it: ``GPU``, ``TPU``, ``CPU``, or ``device`` for any other."""
    return _WORDS.get(hardware_type(device_type(hosts)), "device")


@per_host(keep=True)
def program_facts(host: Host) -> frozenset[str]:
    """Which of `facts` one host's capture shows."""
    rates_of_gpus = [can.flops_per_clock for _, can in gpu_capabilities(host)]
    holds = {
        facts.ON_CPU: not device_count(host),
        facts.NO_TENSOR_CORES: any(can.tensor_cores is False for _, can in gpu_capabilities(host)),
        facts.SAMPLED: one_op_of(host) > 1,
        facts.NO_BF16: any(FP16 in rates and BF16 not in rates for rates in rates_of_gpus),
        facts.UNRECORDED_DEVICE: is_unrecorded(host),
        facts.UNRECORDED_NVIDIA: is_unrecorded(host) and host_device_type(host).startswith(NVIDIA),
        facts.UNRECORDED_AMD: is_unrecorded(host) and host_device_type(host).startswith(AMD),
        facts.LOOKS_FOR_CUPTI: looks_for_cupti(host),
        facts.OWN_OPS: waits_for_own_ops(host),
        facts.REPEATED_BACKWARD: _repeats_backward(host),
        facts.QUERIES_ROWS: _queries_rows(host),
        facts.EXCHANGES_MESSAGES: _exchanges_messages(host),
    }
    of_framework = _FACTS_OF_FRAMEWORK.get(framework(host))
    facts_of_host = frozenset(fact for fact, is_so in holds.items() if is_so).union(
        of_framework(host.with_steps()) if of_framework else (), *map(_facts_of_event, host.trace.names)
    )
    # Losses that each run through all of a graph are to be added up; there is nothing to detach.
    return facts_of_host - {facts.RUNS_GRAPH_TWICE} if facts.REPEATED_BACKWARD in facts_of_host else facts_of_host


@lru_cache(maxsize=65536)
def _facts_of_event(name: str) -> tuple[str, ...]:
    return tuple(fact for fact, pattern in _EVENTS_OF_FACT.items() if pattern.match(name))


def _repeats_backward(host: Host) -> bool:
    """Whether gradients of convolutions are computed several times as often as convolutions."""
    forward = len(host.trace.events_named(_CONVOLUTION.match))
    backward = len(host.trace.events_named(_OF_CONVOLUTION.match))
    return backward >= _SEVERAL_TIMES * forward > 0


def _queries_rows(host: Host) -> bool:
    """Whether steps, or the whole capture where it has none, run many queries, which take much of the time."""
    trace, steps = host.trace, host.with_steps().steps
    queries = outermost(trace, trace.events_named(_QUERY.match))
    if not len(queries):
        return False
    queries_ps = (trace.end[queries] - trace.begin[queries]).sum()
    return len(queries) >= _MANY * max(len(steps), 1) and bool(queries_ps >= _MUCH_OF_TIME * _steps_ps(host))


def _exchanges_messages(host: Host) -> bool:
    """Whether most of the Python that the loop runs is many short messages to and from other processes, and that takes
    much of the time; messages that belong to the input, as those of a DataLoader, are none of them.
    """
    trace, act = host.trace, activity(host)
    messages = outermost(trace, trace.events_named(_MESSAGE.match))
    if act.loop < 0 or len(messages) < _MANY * max(len(host.with_steps().steps), 1):
        return False
    rows = slice(int(act.first[act.loop]), int(act.first[act.loop + 1]))
    ps, is_python = act.end[rows] - act.begin[rows], have_state(act.state[rows], State.PYTHON)
    is_message = is_python & are_inside(act.event[rows], messages, trace.nesting.stop[messages])
    count = len(np.unique(np.searchsorted(messages, act.event[rows][is_message], "right")))
    messages_ps = ps[is_message].sum()
    is_short = messages_ps <= _SHORT_MESSAGE_PS * count
    return is_short and 2 * messages_ps > ps[is_python].sum() and messages_ps >= _MUCH_OF_TIME * _steps_ps(host)


def _steps_ps(host: Host) -> int:
    """How long steps take together, or the whole capture where it has none."""
    steps = host.with_steps().steps
    return int(steps.length.sum()) if len(steps) else host.window[1] - host.window[0]
