"""tf.data's pipelines: where they spend their time, what waiting for them costs, and what would help."""
