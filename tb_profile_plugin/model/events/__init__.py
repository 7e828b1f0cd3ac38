"""All events of a host side by side: what encloses and what led to what, and which belong together."""
