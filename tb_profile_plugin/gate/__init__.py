"""Judging sessions outside of a page: the verbs that compare, check and look back."""
