"""Tables in, numbers out: pure functions over the model."""
