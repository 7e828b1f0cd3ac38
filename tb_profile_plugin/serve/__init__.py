"""Sessions and tools over HTTP: one application, inside TensorBoard and on its own."""

from .app import App

__all__ = ["App"]
