"""Bytes of an XSpace capture → columns."""

from .decode import decode

__all__ = ["decode"]
