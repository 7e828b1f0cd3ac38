"""Bytes of an XSpace capture → columns."""

from .decode import decode, warm

__all__ = ["decode", "warm"]
