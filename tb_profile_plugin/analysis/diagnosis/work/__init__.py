"""What devices compute, named by what tells most."""
