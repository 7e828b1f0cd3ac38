"""Figures as sentences have them."""

from __future__ import annotations

PS_PER_US, PS_PER_MS, PS_PER_S = 1e6, 1e9, 1e12
_TIMES = (("s", PS_PER_S), ("ms", PS_PER_MS), ("µs", PS_PER_US))
_RATES = (("TFLOP/s", 1.0), ("GFLOP/s", 1e-3), ("MFLOP/s", 1e-6))
_SIZES = ("B", "KiB", "MiB", "GiB", "TiB")


def duration(ps: float) -> str:
    """A time in three significant digits, e.g. ``1.64 s``."""
    unit, size = next(((unit, size) for unit, size in _TIMES if abs(ps) >= size), _TIMES[-1])
    return f"{_three_digits(ps / size)} {unit}"


def flop_rate(tera: float) -> str:
    """A rate of arithmetic, given in TFLOP/s, in three significant digits, e.g. ``39.3 GFLOP/s``."""
    unit, size = next(((unit, size) for unit, size in _RATES if tera >= size), _RATES[-1])
    return f"{_three_digits(tera / size)} {unit}"


def figure_and_total(ps: float, total_ps: float) -> tuple[str, str]:
    """Texts of a time and of what it is a part of: both with a unit where one does not do for both."""
    total = duration(total_ps)
    unit = total.rsplit(" ", 1)[1]
    figure = ps / dict(_TIMES)[unit]
    return duration(ps) if abs(figure) < 0.1 and ps else _three_digits(figure), total


def _three_digits(figure: float) -> str:
    # What rounds up to one digit more has one place less: 9.996 is 10.0.
    digits = len(str(int(abs(figure) * 1.0005)))
    return f"{figure:.{max(0, 3 - digits)}f}"


def memory(size: float) -> str:
    """A size of memory in powers of 1024 and three significant digits, e.g. ``2.99 GiB``."""
    power = 0
    while size >= 1024 * 0.9995 and power < len(_SIZES) - 1:
        size, power = size / 1024, power + 1
    return f"{size:.{0 if power == 0 else max(0, 3 - len(f'{size:.0f}'))}f} {_SIZES[power]}"


def percent(share: float) -> str:
    """With as many digits as a reader needs: ``12 %``, ``0.4 %``."""
    value = 100 * share
    digits = 0 if abs(value) >= 9.95 else 1 if abs(value) >= 0.095 else 2
    text = f"{value:.{digits}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return f"{'0' if text in ('-0', '') else text.replace('-', '−')} %"
