"""What was found for steps in the captures below some folders: rule, count, typical step, work inside, eager share."""

import sys
from pathlib import Path

import numpy as np

from tb_profile_plugin.analysis.ops.host_ops import host_ops
from tb_profile_plugin.analysis.steps.step_coverage import coverage
from tb_profile_plugin.formats import xspace
from tb_profile_plugin.model.host import Host

print("| capture | rule | steps | typical, ms | start to start, ms | work in steps | of the loop | eager |")
print("|---|---|---|---|---|---|---|---|")
for folder in sys.argv[1:]:
    for path in sorted(Path(folder).rglob("*.xplane.pb")):
        name = str(path.relative_to(folder)).removesuffix(".xplane.pb").replace("plugins/profile/run/", "")
        host = Host(name, xspace.decode(path.read_bytes(), name)).with_steps()
        found, ops, steps = coverage(host), host_ops(host), host.steps
        loop_ps = int(steps.end.max() - steps.begin[0]) if len(steps) else 0
        shares = [(found.work_in_steps_ps, found.work_ps), (found.covered_ps, loop_ps), (ops.eager_ps, ops.self_ps)]
        percents = [f"{100 * part / whole:.1f} %" if whole else "" for part, whole in shares]
        samples = (steps.end - steps.begin)[steps.complete], np.diff(steps.begin)
        times = [f"{np.median(sample) / 1e9:.3f}" if len(sample) else "" for sample in samples]
        print("|", " | ".join([name, steps.source, str(len(steps)), *times, *percents]), "|")
