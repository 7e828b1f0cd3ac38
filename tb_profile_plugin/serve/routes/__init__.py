"""Every route: its path, its parameters and what answers it.

Routes import what they work with inside their functions, so that the server starts, and lists sessions, without loading
analyses that nobody asked for yet.
"""
