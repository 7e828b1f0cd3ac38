"""What the page Why says of devices beside their idleness."""

from pathlib import Path
from typing import Any

import draw

import tb_profile_plugin
from tb_profile_plugin import tools

TRACES = Path(__file__).resolve().parent.parent / "traces"
NAMES = "queues communication copies".split()
BUSY = """
/host:CPU
  python | train[0,90]{_r=1, step_num=s} cudaMemcpyAsync[5,12]{c=1} cuLaunchKernel[20,2]{c=2} cuLaunchKernel[23,2]{c=3}
/device:GPU:0
  Stream #1 | MemcpyH2D[7,10]{c=1, memcpy_details='kind_src:pageable kind_dst:device size:1000000'} gemm[25,20]{c=2}
  Stream #2 | ncclDevKernel_AllReduce[35,40]{c=3}
"""


def rows(answer: Any, table: str) -> list[dict[str, Any]]:
    columns = {column["id"]: column["values"] for column in answer["tables"][table]["columns"]}
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def test_queues_collectives_and_copies_of_a_device(tmp_path: Path) -> None:
    answer = draw.session(tmp_path, host=draw.space(BUSY, steps=4, every=100)).answer("why")
    queue, collective, copy = (rows(answer, name)[0] for name in NAMES)
    assert queue["launches"] == 12
    assert queue["starved_share"] > 0
    assert collective["kind"] == "all-reduce"
    assert [collective[f"{part}_ps"] / 4e6 for part in ("time", "hidden", "exposed")] == [40, 10, 30]
    assert collective["waiting_ps"] is collective["last"] is None
    assert (copy["memory"], copy["count"], copy["blocking"]) == ("pageable to device", 4, 4)
    assert abs(copy["gb_per_s"] - 100) < 1e-6


def test_who_came_last_is_named_for_each_kind() -> None:
    answer = tb_profile_plugin.open(TRACES / "two_workers").answer("why")
    waited = {row["host"]: row["waiting_ps"] for row in rows(answer, "communication")}
    assert {row["last"] for row in rows(answer, "communication")} == {"worker-1"}
    assert waited["worker-0"] > waited["worker-1"] == 0


def test_what_a_capture_does_not_hold_is_no_error() -> None:
    """A page without anything to show says so quietly, unless the capture is to blame."""
    session = tb_profile_plugin.open(TRACES / "keras_fit")
    found = [tool.unavailable(session) for tool in tools.all_tools().values()]
    assert {problem.severity for problem in found if problem} == {"info"}
