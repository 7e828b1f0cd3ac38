"""What engines that serve language models run in each iteration, by the names of their marks."""

from __future__ import annotations

import numpy as np

from .....model.host import HostWithSteps
from .....model.steps.torch_steps import serving_marks
from .....runtime.records import NamedTuple
from .....runtime.regex import regex
from .. import facts

_PREFILLED = regex(r"execute_(?:\d+_)?(?:context|new)_(\d+)(?:\((?:sq)?(\d+))?")
_DECODED = regex(r".*_(?:generation|cached)_(\d+)")
"""vLLM's marks: requests whose prompts are computed, in newer ones with their tokens, and requests that decode."""
_SGLANG = regex(r"step\[([A-Z_]+) bs=(\d+)(?: toks=(\d+))?")
_FEW_REQUESTS = 64
"""While a GPU reads all weights, it could compute some hundreds of tokens: with so few it waits for memory."""
_MANY_TOKENS = 8
"""So many tokens of prompts for each request that decodes make its iteration notably longer."""
_MOST = 0.5


class Iteration(NamedTuple):
    """What one iteration computes."""

    prompts: int
    prompt_tokens: int
    """At least as many as prompts, where the mark does not say more."""
    decoding: int
    """Requests, of which each gets its next token."""


def iteration(mark: str) -> Iteration | None:
    """What a mark says; None for any other event."""
    if sglang := _SGLANG.match(mark):
        count, tokens = int(sglang[2]), int(sglang[3] or sglang[2])
        return Iteration(0, 0, count) if sglang[1] == "DECODE" else Iteration(count, tokens, 0)
    prefilled, decoded = _PREFILLED.match(mark), _DECODED.match(mark)
    if prefilled is None or decoded is None:
        return None
    return Iteration(int(prefilled[1]), int(prefilled[2] or prefilled[1]), int(decoded[1]))


def serving_facts(host: HostWithSteps) -> set[str]:
    """Which facts of serving hold for most of the time of the iterations."""
    trace = host.trace
    marks = serving_marks(trace)
    ps = trace.end[marks] - trace.begin[marks]
    iterations = [iteration(trace.name(mark)) or Iteration(0, 0, 0) for mark in marks.tolist()]
    mixed = [0 < one.decoding * _MANY_TOKENS <= one.prompt_tokens for one in iterations]
    few = [not one.prompts and 0 < one.decoding <= _FEW_REQUESTS for one in iterations]
    holds = {facts.PREFILLS_AMONG_DECODES: mixed, facts.DECODES_FEW: few}
    return {fact for fact, are_so in holds.items() if ps[np.array(are_so, bool)].sum() > _MOST * ps.sum()}
