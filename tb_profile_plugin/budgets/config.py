"""What a project demands of its sessions: the table ``[tool.tb-profile.check]`` of its configuration."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..runtime.messages import Message
from ..runtime.problems import ProblemError, problem_error
from ..runtime.settings import DEFAULT_THRESHOLD
from .metrics import find_metric, metric_hint
from .quantity import SHARE, Quantity

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ERROR, WARN = "error", "warn"
_HEADER, _BUDGET_HEADER = "[tool.tb-profile.check]", "[[tool.tb-profile.check.budget]]"


@dataclass(frozen=True)
class Budget:
    """A limit of one metric."""

    metric: str
    max: Quantity | None = None
    """The metric's largest value; where more is better, its least. Either this or ``max_change`` is None."""
    max_change: Quantity | None = None
    """The metric's largest change against the baseline; where more is better, its least."""
    severity: str = ERROR

    @property
    def is_of_change(self) -> bool:
        """Whether it limits the change against the baseline, rather than the metric itself."""
        return self.max_change is not None


@dataclass(frozen=True)
class Config:
    """The whole table."""

    name: str = "default"
    """The baseline's name: one project may check several programs."""
    baseline: str = ""
    """A folder of digests, below that of the configuration."""
    threshold: float = DEFAULT_THRESHOLD
    """Least change that matters to the verdict beside the budgets, as a share of the step."""
    alpha: float = 0.05
    """Chance, 0–1, that any budget of a time breaks though nothing changed."""
    min_captures: int = 3
    """Fewer on a side prove nothing about changes of times, unless earlier runs tell how runs differ."""
    min_steps: int = 3
    """With fewer that count, times are not judged."""
    items_per_step: int = 1
    """Times are per item with more than one."""
    budgets: tuple[Budget, ...] = ()


_LIMIT_KEYS = {False: ("max", "max-change"), True: ("min", "min-change")}
"""A budget has one of these keys, by whether more is better."""
_BUDGET_KEYS = frozenset({"metric", "severity", *_LIMIT_KEYS[False], *_LIMIT_KEYS[True]})
_TYPE_OF_KEY: dict[str, type] = {
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
        raise _error(Message("This configuration does not exist."), str(path), remedy) from error
    except (OSError, UnicodeDecodeError) as error:
        raise _error(Message("The configuration cannot be read: {error}", error=str(error)), str(path)) from error
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _error(Message("The configuration is not valid TOML: {error}.", error=str(error)), str(path)) from error
    table: Any = data
    for key in ("tool", "tb-profile", "check"):
        table = table.get(key) if isinstance(table, dict) else None
    if not isinstance(table, dict):
        raise _error(Message("The configuration has no table [tool.tb-profile.check]."), str(path))
    return _config(table, text, path)


def _error(message: str, where: str, remedy: str = Message("See docs/check.md for the valid keys.")) -> ProblemError:
    return problem_error("bad_config", message, remedy, where)


def _config(table: Mapping[str, Any], text: str, path: Path) -> Config:
    settings: dict[str, Any] = {}
    for key, value in table.items():
        if key != "budget":
            settings[key.replace("-", "_")] = _setting(key, value, f"{path}:{_line_of(text, key)}")
    budgets = table.get("budget", [])
    if not isinstance(budgets, list) or not all(isinstance(entry, dict) for entry in budgets):
        raise _error(Message("Budgets must be written as {head}.", head=_BUDGET_HEADER), str(path))
    if not budgets:
        raise _error(Message("The configuration has no budget."), str(path))
    header_lines = [number for number, line in enumerate(text.splitlines(), 1) if _code(line) == _BUDGET_HEADER]
    locations = [f"{path}:{header_lines[i]}" if i < len(header_lines) else str(path) for i in range(len(budgets))]
    settings["budgets"] = tuple(budget(entry, location) for entry, location in zip(budgets, locations, strict=True))
    return Config(**settings)


def _setting(key: str, value: Any, where: str) -> Any:
    """What a key sets; raises `ProblemError` for a key that there is not, or a value that it cannot have."""
    if key not in _TYPE_OF_KEY:
        raise _error(Message("{key} is not a known key.", key=repr(key)), where)
    value_type = _TYPE_OF_KEY[key]
    fits = isinstance(value, (int, float) if value_type is float else value_type) and not isinstance(value, bool)
    if not fits:
        text = Message(
            "{key} = {value} is not of type {type_name}.", key=key, value=repr(value), type_name=value_type.__name__
        )
        raise _error(text, where)
    if value_type is int and value < 1:
        raise _error(Message("{key} must be at least 1.", key=key), where)
    if key == "alpha" and not 0 < value < 0.5:
        raise _error(Message("alpha must be between 0 and 0.5."), where)
    return _quantity(value, where).value if key == "threshold" else value


def budget(table: Mapping[str, Any], where: str = "") -> Budget:
    """A budget from its table, ``where`` in the file; raises `ProblemError`."""
    for key, value in table.items():
        if key not in _BUDGET_KEYS:
            raise _error(Message("{key} is not a known key of a budget.", key=repr(key)), where)
        if not isinstance(value, (str, int, float)) or isinstance(value, bool):
            raise _error(Message("{key} = {value} is not a text.", key=key, value=repr(value)), where)
    metric = str(table.get("metric", ""))
    measured = find_metric(metric)
    if not measured:
        raise _error(Message("There is no metric {metric}.", metric=repr(metric)), where, metric_hint(metric))
    limit_names = _LIMIT_KEYS[measured.metric.higher]
    limits = [_quantity(str(table[key]), where) if key in table else None for key in limit_names]
    if sum(key in table for keys in _LIMIT_KEYS.values() for key in keys) != 1 or limits == [None, None]:
        raise _error(
            Message(
                "A budget of {metric} needs either {one} or {other}, since {better, select, more {more} other {less}} "
                "is better.",
                metric=metric,
                one=limit_names[0],
                other=limit_names[1],
                better="more" if measured.metric.higher else "less",
            ),
            where,
        )
    if limits[1] and limits[1].kind == SHARE and limits[1].value <= -1:
        raise _error(Message("{metric} cannot decrease by {limit}.", metric=metric, limit=table[limit_names[1]]), where)
    severity = str(table.get("severity", ERROR))
    if severity not in (ERROR, WARN):
        raise _error(Message("severity must be {error} or {warn}.", error=ERROR, warn=WARN), where)
    return Budget(metric, limits[0], limits[1], severity)


def _quantity(text: str, where: str) -> Quantity:
    try:
        return Quantity.of(text)
    except ValueError as error:
        raise _error(
            Message("{text} is not a limit such as 12 ms, 6 GiB, 5% or +3%.", text=repr(text)), where
        ) from error


def _line_of(text: str, key: str) -> int:
    """The number of the table's first line with a key; 1 where it is not found, as where tables are nested."""
    lines = text.splitlines()
    first = next((number for number, line in enumerate(lines, 1) if _code(line) == _HEADER), 0)
    keys = [line.split("=")[0].strip().strip("\"'") for line in lines[first:]]
    return first + keys.index(key) + 1 if key in keys else first or 1


def _code(line: str) -> str:
    """A line without its comment."""
    return line.split("#")[0].strip()
