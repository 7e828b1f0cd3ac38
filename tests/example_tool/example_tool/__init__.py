"""A distribution that adds a tool and its page: what a tool of others needs, and no more."""
