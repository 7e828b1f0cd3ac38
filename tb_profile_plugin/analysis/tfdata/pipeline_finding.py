"""One thing to do about a tf.data pipeline."""

from __future__ import annotations

from ...runtime.records import record
from ..finding import Finding


@record
class PipelineFinding(Finding):
    """One thing to do about a pipeline."""

    tool: str = "tf_data_bottleneck_analysis"
    stage: int = -1
    """Row in the pipeline's stages, -1 for the pipeline as a whole."""
