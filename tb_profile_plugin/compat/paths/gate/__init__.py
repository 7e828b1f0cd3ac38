"""The former name of `budgets`: see compat/README.md."""
