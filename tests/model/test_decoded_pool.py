"""Many hosts in little memory: each is decoded once, and what they answer does not depend on the limit."""

import gc
import json
import shutil
import weakref
from functools import partial
from pathlib import Path
from typing import Any

import draw
import pytest

from tb_profile_plugin import store, tools
from tb_profile_plugin.model.session import Session
from tb_profile_plugin.runtime.decoded_pool import MEMORY_PER_BYTE, DecodedPool
from tb_profile_plugin.runtime.problems import ProblemError
from tb_profile_plugin.timeline.host_view import view_of_host

TRACES = Path(__file__).resolve().parent.parent / "traces"
HOSTS = 4


@pytest.fixture
def stored(tmp_path: Path) -> store.StoredSession:
    capture = next(TRACES.glob("custom_loop/**/*.xplane.pb*"))
    for number in range(HOSTS):
        shutil.copy(capture, tmp_path / capture.name.replace(capture.name.partition(".")[0], f"host-{number}", 1))
    return store.resolve(tmp_path)


@pytest.mark.parametrize("tool", [each.name for each in tools.all_tools().values() if not each.streamed])
def test_a_tool_merges_what_it_declared_without_any_event(
    stored: store.StoredSession, decoded: list[str], tool: str
) -> None:
    stored.files[0].path.write_bytes(draw.space(draw.GPU, steps=3).SerializeToString())
    stored = store.resolve(stored.folder)
    wanted = tools.get(tool).run(Session(stored))
    assert len(decoded) == (HOSTS if tools.get(tool).all_hosts else 1)
    decoded.clear()
    session = Session(stored, DecodedPool(1))
    assert not any(host.is_decoded for host in session.select("", tools.get(tool).host_needs()))
    assert sorted(decoded) == sorted(file.path.name for file in stored.files)
    decoded.clear()
    assert tools.get(tool).run(session) == wanted
    # The pages of memory show one host of all, and look into that one.
    assert len(decoded) == (tool in ("memory_profile", "memory_viewer", "graph_viewer"))


def test_whether_tools_have_something_to_show_takes_one_decoding(
    stored: store.StoredSession, decoded: list[str]
) -> None:
    session = Session(stored, DecodedPool(1))
    session.facts(tools.precheck())
    for tool in tools.all_tools().values():
        tool.unavailable(session)
    assert sorted(decoded) == sorted(file.path.name for file in stored.files)


def test_one_host_alone_is_decoded_once_for_all_tools(stored: store.StoredSession, decoded: list[str]) -> None:
    session = Session(store.resolve(stored.files[0].path), DecodedPool(1))
    for tool in ("overview_page", "input_pipeline_analyzer", "framework_op_stats", "pod_viewer"):
        tools.get(tool).run(session)
    assert decoded == [stored.files[0].path.name]


def test_every_tool_answers_the_same_with_little_memory(stored: store.StoredSession) -> None:
    roomy, tight = Session(stored), Session(stored, DecodedPool(1))
    for tool in tools.all_tools().values():
        if not (tool.streamed or tool.unavailable(roomy)):
            assert json.dumps(tool.run(tight)) == json.dumps(tool.run(roomy)), tool.name
    assert tight.facts() == roomy.facts()
    assert tight.problems() == roomy.problems()


def test_a_released_host_comes_back(stored: store.StoredSession, decoded: list[str]) -> None:
    session = Session(stored, DecodedPool(1))
    first, second = session.host("host-0"), session.host("host-1")
    again = session.host("host-0")
    assert first.cpu is not None and first.trace.slice_of(first.cpu) and len(decoded) == 2, (
        "who has one, keeps it whole"
    )
    assert again.underlying is not first.underlying and session.host("host-1").underlying is second.underlying
    assert len(again.trace) == len(first.trace) and len(decoded) == 3
    assert session.host("host-0").underlying is again.underlying
    assert session.host("host-1").underlying is not second.underlying


def test_a_host_that_was_replaced_meanwhile_is_not_mixed_with_the_old_one(stored: store.StoredSession) -> None:
    session = Session(stored, DecodedPool(1))
    session.host("host-0")
    session.host("host-1")
    stored.files[0].path.write_bytes(stored.files[1].path.read_bytes() + b"\0")
    with pytest.raises(ProblemError) as raised:
        _ = session.host("host-0").trace
    assert raised.value.problem.code == "changed"


def test_a_host_that_is_deleted_as_it_is_read_again(
    stored: store.StoredSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = Session(stored, DecodedPool(1))
    session.host("host-0")
    session.host("host-1")
    contents = store.contents

    def read_and_delete(file: store.StoredFile, *more: Any) -> Any:
        for content in contents(file, *more):
            file.path.unlink()
            yield content

    monkeypatch.setattr(store, "contents", read_and_delete)
    with pytest.raises(ProblemError) as raised:
        _ = session.host("host-0").trace
    assert raised.value.problem.code == "changed"


def test_a_session_that_is_closed_while_it_is_decoded_leaves_nothing_behind(
    stored: store.StoredSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    decoded_pool = DecodedPool(1 << 40)
    sessions, contents = [Session(stored, decoded_pool)], store.contents

    def close_and_read(file: store.StoredFile, *more: Any) -> Any:
        sessions[0].close()
        return contents(file, *more)

    monkeypatch.setattr(store, "contents", close_and_read)
    decoded = weakref.ref(sessions[0].host("host-0").space)
    assert sessions[0].host("host-0").steps
    sessions.clear()
    gc.collect()
    assert decoded() is None


def test_the_memory_of_a_host_that_leaves_is_free_at_once(stored: store.StoredSession) -> None:
    gc.collect()
    gc.disable()
    try:
        session = Session(store.resolve(stored.files[0].path))
        for tool in tools.all_tools().values():
            if not (tool.streamed or tool.unavailable(session)):
                tool.run(session)
        host = session.host(session.hosts[0])
        assert view_of_host(host).timeline.sections
        left = weakref.ref(host)
        del host
        session.close()
        assert left() is None
    finally:
        gc.enable()


def test_the_least_recently_used_leave() -> None:
    decoded_pool = DecodedPool(3 * MEMORY_PER_BYTE)
    left: list[int] = []
    for number in range(3):
        decoded_pool.add(number, 1, partial(left.append, number))
    decoded_pool.use(0)
    decoded_pool.add(3, 1, partial(left.append, 3))
    assert left == [1]
    decoded_pool.add(4, 7, partial(left.append, 4))
    assert left == [1, 2, 0, 3]
    decoded_pool.drop(4)
    decoded_pool.drop(4)
    assert left == [1, 2, 0, 3, 4]
    assert decoded_pool.fits(3) and not decoded_pool.fits(4)
