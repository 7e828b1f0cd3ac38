"""What the pages about workers ask of hosts: who opens one opens the other, and hosts that do not all fit into memory
are decoded once for both.
"""

from __future__ import annotations

from ...analysis.health import capture_health
from ...analysis.steps import step_time
from ...analysis.steps.device_account import device_steps
from ...analysis.workers import late_causes, worker_communication
from ...model.devices.properties import host_device_type

NEEDS = (
    *step_time.NEEDS,
    *capture_health.NEEDS,
    *worker_communication.NEEDS,
    *late_causes.NEEDS,
    host_device_type,
    device_steps,
)
