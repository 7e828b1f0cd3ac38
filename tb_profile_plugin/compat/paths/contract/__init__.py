"""The former name of `tools.answers`: see compat/README.md."""
