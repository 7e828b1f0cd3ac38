"""Under which names time is told: those of the program's own functions, ops and lines, rather than machinery."""
