"""The version of this package, its one home; a build reads it from here."""

__version__ = "0.2.0"
