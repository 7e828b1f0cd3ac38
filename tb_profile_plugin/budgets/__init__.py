"""Whether budgets are kept: configuration, outcomes, baselines, and what continuous integration reads."""
