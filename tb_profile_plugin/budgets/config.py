"""What a project demands of its sessions: the table ``[tool.tb-profile.check]`` of its configuration."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..runtime.messages import Message
from ..runtime.problems import ProblemError, problem_error
from .metrics import find, there_is
from .quantity import SHARE, Quantity

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ERROR, WARN = "error", "warn"
_HEAD = "[[tool.tb-profile.check.budget]]"


@dataclass(frozen=True)
class Budget:
    """A limit of one metric."""

    metric: str
    max: Quantity | None = None
    """Of the metric itself; for one that is better the higher, what it may not fall below …"""
    max_change: Quantity | None = None
    """… and of its change against the baseline; one of the two is there."""
    severity: str = ERROR


@dataclass(frozen=True)
class Config:
    """See the module."""

    name: str = "default"
    """Of the baseline: one project may check several programs."""
    baseline: str = ""
    """A folder of digests, below that of the configuration."""
    threshold: float = 0.01
    """Of the verdict that is told beside budgets: what matters, as a share of the step."""
    alpha: float = 0.05
    min_captures: int = 3
    """Fewer on a side prove nothing about changes of times, unless earlier runs tell how runs differ."""
    min_steps: int = 3
    """With fewer that count, times are not judged."""
    items_per_step: int = 1
    budgets: tuple[Budget, ...] = ()


_LIMITS = {False: ("max", "max-change"), True: ("min", "min-change")}
"""By whether more is better."""
_BUDGET = frozenset({"metric", "severity", *_LIMITS[False], *_LIMITS[True]})
_PLAIN: dict[str, type] = {
    "name": str,
    "baseline": str,
    "threshold": str,
    "alpha": float,
    "min-captures": int,
    "min-steps": int,
    "items-per-step": int,
}


def load(path: Path) -> Config:
    """The configuration in a TOML file; raises `ProblemError` for what is none, with the line."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        remedy = Message("Name one with --config, or write its first lines with tb-profile check SESSION --init.")
        raise _bad(Message("This configuration does not exist."), str(path), remedy) from error
    except (OSError, UnicodeDecodeError) as error:
        raise _bad(Message("The configuration cannot be read: {error}", error=str(error)), str(path)) from error
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _bad(Message("The configuration is not valid TOML: {error}.", error=str(error)), str(path)) from error
    table: Any = data
    for key in ("tool", "tb-profile", "check"):
        table = table.get(key) if isinstance(table, dict) else None
    if not isinstance(table, dict):
        raise _bad(Message("The configuration has no table [tool.tb-profile.check]."), str(path))
    return _config(table, text, path)


def _bad(message: str, where: str, remedy: str = Message("See docs/check.md for the valid keys.")) -> ProblemError:
    return problem_error("bad_config", message, remedy, where)


def _config(table: Mapping[str, Any], text: str, path: Path) -> Config:
    settings: dict[str, Any] = {}
    for key, value in table.items():
        if key == "budget":
            continue
        where = f"{path}:{_line(text, key)}"
        if key not in _PLAIN:
            raise _bad(Message("{key} is not a known key.", key=repr(key)), where)
        kind = _PLAIN[key]
        if not isinstance(value, (int, float) if kind is float else kind) or isinstance(value, bool):
            raise _bad(
                Message(
                    "{key} = {value} is not of type {type_name}.", key=key, value=repr(value), type_name=kind.__name__
                ),
                where,
            )
        settings[key.replace("-", "_")] = value
    if "threshold" in settings:
        settings["threshold"] = _quantity(settings["threshold"], f"{path}:{_line(text, 'threshold')}").value
    for key in ("min_captures", "min_steps", "items_per_step"):
        if settings.get(key, 1) < 1:
            raise _bad(
                Message("{key} must be at least 1.", key=key.replace("_", "-")),
                f"{path}:{_line(text, key.replace('_', '-'))}",
            )
    if not 0 < settings.get("alpha", 0.05) < 0.5:
        raise _bad(Message("alpha must be between 0 and 0.5."), f"{path}:{_line(text, 'alpha')}")
    budgets = table.get("budget", [])
    if not isinstance(budgets, list) or not all(isinstance(entry, dict) for entry in budgets):
        raise _bad(Message("Budgets must be written as {head}.", head=_HEAD), str(path))
    if not budgets:
        raise _bad(Message("The configuration has no budget."), str(path))
    heads = [number for number, line in enumerate(text.splitlines(), 1) if line.strip() == _HEAD]
    locations = [f"{path}:{heads[i]}" if i < len(heads) else str(path) for i in range(len(budgets))]
    settings["budgets"] = tuple(budget(entry, location) for entry, location in zip(budgets, locations, strict=True))
    return Config(**settings)


def budget(table: Mapping[str, Any], where: str = "") -> Budget:
    """One budget of its table; raises `ProblemError`."""
    for key, value in table.items():
        if key not in _BUDGET:
            raise _bad(Message("{key} is not a known key of a budget.", key=repr(key)), where)
        if not isinstance(value, (str, int)) or isinstance(value, bool):
            raise _bad(Message("{key} = {value} is not a text.", key=key, value=repr(value)), where)
    metric = str(table.get("metric", ""))
    named = find(metric)
    if not named:
        raise _bad(Message("There is no metric {metric}.", metric=repr(metric)), where, there_is(metric))
    limit_names = _LIMITS[named.metric.higher]
    limits = [_quantity(str(table[key]), where) if key in table else None for key in limit_names]
    if sum(key in table for keys in _LIMITS.values() for key in keys) != 1 or limits == [None, None]:
        raise _bad(
            Message(
                "A budget of {metric} needs either {one} or {other}, since {better, select, more {more} other {less}} "
                "is better.",
                metric=metric,
                one=limit_names[0],
                other=limit_names[1],
                better="more" if named.metric.higher else "less",
            ),
            where,
        )
    if limits[1] and limits[1].kind == SHARE and limits[1].value <= -1:
        raise _bad(Message("{metric} cannot decrease by {limit}.", metric=metric, limit=table[limit_names[1]]), where)
    severity = str(table.get("severity", ERROR))
    if severity not in (ERROR, WARN):
        raise _bad(Message("severity must be {error} or {warn}.", error=ERROR, warn=WARN), where)
    return Budget(metric, limits[0], limits[1], severity)


def _quantity(text: str, where: str) -> Quantity:
    try:
        return Quantity.of(text)
    except ValueError as error:
        raise _bad(Message("{text} is not a limit such as 12 ms, 6 GiB, 5% or +3%.", text=repr(text)), where) from error


def _line(text: str, key: str) -> int:
    """Where a key stands; 1 where that cannot be found."""
    lines = [
        number for number, line in enumerate(text.splitlines(), 1) if line.split("=")[0].strip().strip("\"'") == key
    ]
    return lines[0] if lines else 1
