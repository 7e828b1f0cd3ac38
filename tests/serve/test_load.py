"""Many clients at once, for long: no error, nothing computed twice, memory and open files bounded."""

import os
import shutil
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import soak
from werkzeug.test import Client

from tb_profile_plugin.formats import xspace
from tb_profile_plugin.serve import App
from tb_profile_plugin.store import Logdir
from tb_profile_plugin.tools import all_tools
from tb_profile_plugin.tools.answers.tool import Tool

CLIENTS = 50
TRACES = ["custom_loop", "keras_fit", "keras_one_batch", "starved_input", "two_workers"]


@pytest.fixture
def done(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Each run of a tool, as (session, tool), and the path of each capture that was decoded."""
    found: list[Any] = []
    run, decode = Tool.run, xspace.decode

    def counting_run(tool: Tool, session: Any, host: str = "", /, **options: str) -> Any:
        found.append((session.name, tool.name))
        return run(tool, session, host, **options)

    def counting_decode(content: Any, where: str = "", *rest: Any) -> Any:
        found.append(where)
        return decode(content, where, *rest)

    monkeypatch.setattr(Tool, "run", counting_run)
    monkeypatch.setattr(xspace, "decode", counting_decode)
    return found


def test_fifty_clients_ask_for_all_tools_of_five_sessions(tmp_path: Path, done: list[Any]) -> None:
    for name in TRACES:
        shutil.copytree(soak.TRACES / name, tmp_path / name)
    app = App(Logdir(str(tmp_path)))
    at_once = threading.Barrier(CLIENTS)
    statuses: list[tuple[str, int]] = []

    def ask(number: int) -> None:
        client = Client(app)
        at_once.wait()
        for name in TRACES[number % 5 :] + TRACES[: number % 5]:
            for tool in all_tools().values():
                query = {"run": f"{name}/run", "tag": tool.name}
                # The whole trace is sent as it is made, to each who asks: a few do.
                if not tool.streamed or number < 3:
                    statuses.append((tool.name, client.get("/data", query_string=query).status_code))

    clients = [threading.Thread(target=ask, args=(number,)) for number in range(CLIENTS)]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    assert len(statuses) == CLIENTS * 5 * (len(all_tools()) - 1) + 3 * 5
    # Tools with nothing to show say so, with a problem.
    assert {status for _, status in statuses} <= {200, 404}
    assert {tool for tool, status in statuses if status == 404} <= {"memory_profile"}
    # What is known of the other sessions, which one of them tells, changes meanwhile.
    around = {key: count for key, count in Counter(done).items() if "trend" in key}
    assert all(count < CLIENTS for count in around.values())
    twice = {key for key, count in Counter(done).items() if count > 1 and "memory_profile" not in key}
    assert twice <= {*around}
    assert len([path for path in done if str(path).startswith(str(tmp_path))]) == 6


@pytest.mark.parametrize("seconds", [10, pytest.param(60, marks=pytest.mark.slow)])
@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="open files are counted as Linux shows them")
def test_random_requests(seconds: int) -> None:
    report = soak.soak(seconds)
    # 409 is the right answer to who asks for the session that is replaced meanwhile (`check_unchanged`).
    assert set(report.statuses) <= {200, 400, 403, 404, 409, 422}, report
    half = report.samples[len(report.samples) // 2 :]
    assert max(sample.files for sample in half) < 60, report
    assert half[-1].files <= half[0].files + 10, report
    assert half[-1].memory_mib < half[0].memory_mib + 150, report
    assert max(sample.memory_mib for sample in report.samples) < 1500, report
