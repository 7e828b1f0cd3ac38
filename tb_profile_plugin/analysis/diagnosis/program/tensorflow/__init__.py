"""What a capture shows of a program of TensorFlow."""
