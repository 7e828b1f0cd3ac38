"""The command ``tb-profile``: one file for verbs that belong together, and what they share."""
