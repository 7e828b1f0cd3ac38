"""The timeline's model: what lies where, at which zoom, and what a click shows."""
