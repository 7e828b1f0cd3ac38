"""All events of a host side by side: what encloses and what led to what, which belong together, and where steps are."""
