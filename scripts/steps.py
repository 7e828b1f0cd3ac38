"""What was found for steps in the captures below some folders: rule, count, typical step, work inside, eager share."""

import sys
from pathlib import Path

from tb_profile_plugin.analysis.ops.host_ops import host_ops
from tb_profile_plugin.analysis.steps.step_evidence import coverage
from tb_profile_plugin.formats import xspace
from tb_profile_plugin.model.host import Host

print("| capture | rule | steps | typical, ms | start to start, ms | work in steps | of the loop | eager |")
print("|---|---|---|---|---|---|---|---|")
for folder in sys.argv[1:]:
    for path in sorted(Path(folder).rglob("*.xplane.pb")):
        name = str(path.relative_to(folder)).removesuffix(".xplane.pb").replace("plugins/profile/run/", "")
        host = Host(name, xspace.decode(path.read_bytes(), name)).with_steps()
        found, ops = coverage(host), host_ops(host)
        shares = (found.work_share, found.loop_share, ops.eager_ps / ops.self_ps if ops.self_ps else None)
        percents = ["" if share is None else f"{100 * share:.1f} %" for share in shares]
        times = [f"{time / 1e9:.3f}" if time else "" for time in (found.typical_ps, found.period_ps)]
        print("|", " | ".join([name, found.source, str(found.steps), *times, *percents]), "|")
