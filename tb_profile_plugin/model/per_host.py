"""What is worked out per host: functions whose results a host remembers by function and arguments.

The type of a function's first parameter says what its results depend on: `Host` on the capture, `HostWithSteps` on the
choice of steps, too, by which they are then remembered.

Hosts hold the results of the 8 last used combinations of arguments of each function. Results declared with
``keep=True`` are plain data of moderate size: they stay when the host's events are evicted from memory, and travel back
from workers in other processes. All others go with the events.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable
from functools import partial, wraps
from typing import Any, TypeVar, overload
from weakref import ReferenceType, WeakKeyDictionary, ref

from ..runtime import memory
from ..runtime.records import NamedTuple

Function = TypeVar("Function", bound=Callable[..., Any])
Result = TypeVar("Result")


@overload
def per_host(function: Function) -> Function: ...


@overload
def per_host(*, keep: bool) -> Callable[[Function], Function]: ...


def per_host(function: Any = None, *, keep: bool = False) -> Any:
    """Decorates ``f(host, *args)``: worked out once per host and arguments, however many threads ask; see above.

    Arguments must be hashable. A call that has to compute is a checkpoint for cancellation.
    """
    if function is None:
        return partial(per_host, keep=keep)
    signature, name = inspect.signature(function), name_of(function)
    by_steps, has_parameters = _takes_steps(signature), len(signature.parameters) > 1

    @wraps(function)
    def once(*positional: Any, **keywords: Any) -> Any:
        if has_parameters or keywords or not positional:
            bound = signature.bind(*positional, **keywords)
            bound.apply_defaults()
            positional = bound.args
        host, *arguments = positional
        key = (host.step_event, *arguments) if by_steps else tuple(arguments)
        return host.results(name, keep).get(key, lambda: compute(*positional))

    def compute(*arguments: Any) -> Any:
        try:
            return function(*arguments)
        finally:
            memory.trim_heap_soon()

    return once


def _takes_steps(signature: inspect.Signature) -> bool:
    """Whether a function takes a `HostWithSteps`; by the name, since that class needs this file."""
    first, *_ = signature.parameters.values()
    return bool(getattr(first.annotation, "__name__", first.annotation) == "HostWithSteps")


def weakly_cached(function: Callable[[Any], Result]) -> Callable[[Any], Result]:
    """Decorates ``f(host)`` whose result is too large to keep: all who ask get the same while anybody holds it."""
    references: WeakKeyDictionary[Any, ReferenceType[Result]] = WeakKeyDictionary()

    @wraps(function)
    def shared(host: Any) -> Result:
        host = host.underlying
        reference = references.get(host)
        result = reference() if reference else None
        if result is None:
            result = function(host)
            references[host] = ref(result)
        return result

    return shared


def name_of(function: Callable[..., Any]) -> str:
    """The name under which results are remembered: module and function."""
    return f"{function.__module__}.{function.__qualname__}"


class Need(NamedTuple):
    """A per-host function with its arguments; travels between processes by name."""

    function: Callable[..., object]
    arguments: tuple[Hashable, ...]
    step_event: str | None = None
    """Event of the steps that it is asked by; None where its results depend on the capture alone."""

    @property
    def key(self) -> tuple[Hashable, ...]:
        """The key under which a host remembers the result."""
        return self.arguments if self.step_event is None else (self.step_event, *self.arguments)

    def work_out(self, host: Any) -> None:
        """Let the host know the result."""
        self.function(host if self.step_event is None else host.with_steps(self.step_event), *self.arguments)


def need(function: Callable[..., object], *, step_event: str = "", **options: Hashable) -> Need:
    """The function with its arguments: those ``options`` that it has parameters for, else the parameters' defaults."""
    signature = inspect.signature(function)
    _, *parameters = signature.parameters.values()
    arguments = tuple(options.get(parameter.name, parameter.default) for parameter in parameters)
    return Need(function, arguments, step_event if _takes_steps(signature) else None)
