"""Is one side of sessions faster than the other, by how much, why, and is that noise? Digests in, numbers out."""
