"""Named answers as people and scripts read them outside of pages: text for a terminal, Markdown, nested JSON."""
