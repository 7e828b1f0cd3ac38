"""Why steps take as long as they do, and what would help: one diagnosis that every page quotes."""
