"""TensorFlow's own client, which lets the profiled process write its capture."""

import os
import sys

import tensorflow as tf

tf.profiler.experimental.client.trace(sys.argv[2], os.path.abspath(sys.argv[1]), 500)
