"""Work of XLA's programs that their caller can avoid, by what is in them."""
