"""Hosts worked on elsewhere: what a session answers does not depend on who works, nor on who is lost."""

import gc
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import deadly
import draw
import pytest
from distributed import Client

from tb_profile_plugin import __version__, store, tools
from tb_profile_plugin.cli import main
from tb_profile_plugin.formats import xspace
from tb_profile_plugin.formats.columns import XSpace
from tb_profile_plugin.model.per_host import need
from tb_profile_plugin.model.session import Session
from tb_profile_plugin.model.worker import summarise
from tb_profile_plugin.runtime import executors, settings
from tb_profile_plugin.runtime.decoded_pool import MEMORY_PER_BYTE, DecodedPool
from tb_profile_plugin.runtime.executors import HostExecutor, LocalCores, LocalProcesses, LocalThreads, executor
from tb_profile_plugin.runtime.problems import Problem, ProblemError
from tb_profile_plugin.serve.workspace import ToolQuestion, Workspace

ROOT = Path(__file__).resolve().parents[2]
TRACES = ROOT / "tests" / "traces"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Hosts of several kinds: loops with and without tf.data, and one with a GPU."""
    folder = tmp_path_factory.mktemp("logdir") / "plugins" / "profile" / "run"
    folder.mkdir(parents=True)
    captures = [next(TRACES.glob(f"{name}/**/*.xplane.pb")) for name in ("custom_loop", "keras_fit", "starved_input")]
    for number in range(5):
        shutil.copy(captures[number % 3], folder / f"host-{number}.xplane.pb")
    (folder / "host-5.xplane.pb").write_bytes(draw.space(draw.GPU, steps=3).SerializeToString())
    return folder


@dataclass
class Cluster:
    """A Dask scheduler with workers of one thread each, all of them processes of this machine."""

    address: str
    scheduler: subprocess.Popen[bytes]
    client: Client

    def pids(self) -> dict[str, int]:
        """Of the workers by address."""
        found: dict[str, int] = self.client.run(os.getpid)
        return found


def dask(*words: str) -> subprocess.Popen[bytes]:
    # A host that ends its worker is tried on one other before it is given up.
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT / "tests"),
        "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "1",
    }
    command = [sys.executable, "-m", "dask", *words, "--no-dashboard"]
    return subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[[int], Cluster]]:
    """Starts a cluster of so many workers."""
    with ExitStack() as stack:

        def start(workers: int) -> Cluster:
            file = tmp_path / "scheduler.json"
            place = ["--scheduler-file", str(file)]
            scheduler = dask("scheduler", "--host", "127.0.0.1", "--port", "0", *place)
            started = [scheduler]
            for _ in range(workers):
                options = ["--no-nanny", "--nthreads", "1", "--local-directory", str(tmp_path)]
                started.append(dask("worker", *place, *options))
            stack.callback(lambda: [process.wait() for process in started])
            stack.callback(lambda: [process.kill() for process in started])
            wait_for(file.exists)
            client = stack.enter_context(Client(scheduler_file=str(file), set_as_default=False))
            if workers:
                client.wait_for_workers(workers)
            return Cluster(client.scheduler.address.removeprefix("tcp://"), scheduler, client)

        yield start


def wait_for(condition: Callable[[], Any]) -> Any:
    """What the condition gives as soon as it gives something."""
    end = time.monotonic() + 60
    while not (found := condition()):
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.01)
    return found


def answers(session: Session) -> dict[str, str]:
    """Of all tools but the timeline, which is the capture itself, and what is said about the session besides."""
    found: dict[str, Any] = {"facts": session.facts(tools.precheck()), "problems": session.problems()}
    for tool in tools.all_tools().values():
        found[f"{tool.name}?"] = tool.unavailable(session)
        try:
            found[tool.name] = None if tool.streamed else tool.run(session)
        except ProblemError as error:
            found[tool.name] = error.problem
    return {name: json.dumps(answer, default=Problem.as_json) for name, answer in found.items()}


def test_every_tool_answers_the_same_whoever_works(
    folder: Path, start: Callable[[int], Cluster], decoded: list[str]
) -> None:
    stored = store.resolve(folder)
    wanted = answers(Session(stored))
    for spec in ("processes:2", f"dask://{start(2).address}"):
        with closing(executor(spec)) as workers:
            decoded.clear()
            assert answers(Session(stored, executor=workers)) == wanted
            assert len(decoded) <= 2, "only Memory and Program graph look into a host: the one that they show"


def test_a_worker_that_is_killed_costs_nothing(tmp_path: Path, start: Callable[[int], Cluster]) -> None:
    capture = next(TRACES.glob("custom_loop/**/*.xplane.pb"))
    for number in range(48):
        shutil.copy(capture, tmp_path / f"host-{number:02}.xplane.pb")
    stored = store.resolve(tmp_path)
    wanted = tools.get("overview_page").run(Session(stored))
    cluster = start(3)
    pids = cluster.pids()
    with closing(executor(f"dask://{cluster.address}")) as workers, ThreadPoolExecutor(1) as pool:
        session = Session(stored, executor=workers)
        asked = pool.submit(tools.get("overview_page").run, session)
        wait_for(session.progress)
        busy = wait_for(lambda: [worker for worker, tasks in cluster.client.processing().items() if tasks])
        os.kill(pids[busy[0]], signal.SIGKILL)
        assert not asked.done()
        assert asked.result() == wanted
        assert len(cluster.client.nthreads()) == 2
        assert session.unreadable == ()


def test_a_host_that_ends_its_workers_is_named_and_the_rest_answered(
    folder: Path, start: Callable[[int], Cluster]
) -> None:
    every = store.resolve(folder)
    # On a cluster, whoever waits beside it may be lost with it.
    few = every._replace(files=every.files[:2])
    for spec, stored in (("processes:2", every), (f"dask://{start(3).address}", few)):
        with closing(executor(spec)) as workers:
            session = Session(stored, executor=workers)
            hosts = session.select("", [need(deadly.end)])
            assert [host.name for host in hosts] == [name for name in session.hosts if name != deadly.VICTIM]
            assert [(problem.code, problem.where) for problem in session.problems()] == [("worker_lost", "host-1")]
            assert session.unreadable == ("host-1",) and session.has_lost_hosts
            assert len(session.select("", tools.precheck())) == len(session.hosts)
            assert session.unreadable == () and not session.has_lost_hosts


def test_a_host_that_keeps_ending_workers_is_not_given_to_more(folder: Path) -> None:
    with closing(LocalProcesses(2)) as workers:
        session = Session(store.resolve(folder), executor=workers)
        for _ in range(3):
            assert len(session.select("", [need(deadly.end)])) == 5
        assert not session.has_lost_hosts and session.unreadable == ("host-1",)
        assert len(session.select("", tools.precheck())) == 5
        assert session.host("host-1").cpu and session.unreadable == (), "it can be looked at alone, here"
        assert len(session.select("", tools.precheck())) == 6


def test_faulty_code_on_a_worker_leaves_out_a_host(folder: Path) -> None:
    with closing(LocalProcesses(1)) as workers:
        session = Session(store.resolve(folder), executor=workers)
        assert len(session.select("", [need(deadly.fail)])) == 5
        (problem,) = session.problems()
        assert (problem.code, problem.message) == ("worker_failed", "A worker failed: ValueError: a fault")


@pytest.mark.parametrize("kind", ["threads", "processes:2", "dask"])
def test_corrupt_and_missing_hosts_are_named_and_the_rest_answered(
    folder: Path, tmp_path: Path, start: Callable[[int], Cluster], kind: str
) -> None:
    for path in folder.iterdir():
        shutil.copy(path, tmp_path)
    (tmp_path / "host-2.xplane.pb").write_bytes((tmp_path / "host-2.xplane.pb").read_bytes()[:2000])
    stored = store.resolve(tmp_path)
    (tmp_path / "host-3.xplane.pb").unlink()
    spec = f"dask://{start(1).address}" if kind == "dask" else kind
    with closing(executor(spec)) as workers:
        session = Session(stored, DecodedPool(1), workers)
        overview = tools.get("overview_page").run(session)
        assert overview["facts"]["hosts_shown"]["value"] == "host-0, host-1, host-2, host-4, host-5"
        assert session.unreadable == ("host-3",) and not session.has_lost_hosts
        told = " ".join(f"{note['message']} {note['where']}" for note in overview["notes"])
        assert "1 of 6 hosts cannot be read; figures leave out host-3." in told
        assert "damaged or cut short" in told and "host-2.xplane.pb" in told
        assert {problem.code for problem in session.problems()} >= {"unreadable", "damaged_capture"}


def test_a_cluster_that_goes_away_is_told_and_sought_again(folder: Path, start: Callable[[int], Cluster]) -> None:
    cluster = start(0)
    with closing(executor(f"dask://{cluster.address}")) as workers, ThreadPoolExecutor(1) as pool:
        session = Session(store.resolve(folder), executor=workers)
        asked = pool.submit(session.select, "", tools.precheck())
        wait_for(lambda: cluster.client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks)) == 6)
        cluster.scheduler.kill()
        with pytest.raises(ProblemError) as raised:
            asked.result()
        assert raised.value.problem.code == "cluster_lost" and session.has_lost_hosts
        with pytest.raises(ProblemError) as raised:
            session.select("", tools.precheck())
        assert raised.value.problem.code == "no_scheduler"


def test_a_cluster_without_workers_is_given_up(
    folder: Path, start: Callable[[int], Cluster], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(executors, "_PATIENCE_S", 0.2)
    with closing(executor(f"dask://{start(0).address}")) as workers, pytest.raises(ProblemError) as raised:
        Session(store.resolve(folder), executor=workers).select("", tools.precheck())
    assert "has no worker" in raised.value.problem.message and "dask worker" in raised.value.problem.remedy


def test_what_is_lost_is_not_kept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    failing = True

    class Careless(LocalThreads):
        remote = True

        def outcomes(self, function: Any, jobs: Any, most: int) -> Generator[Any, None, None]:
            for name, outcome in super().outcomes(function, jobs, most):
                lost = failing and name == "host-1"
                yield name, ProblemError(Problem("cluster_lost", "Gone.", where=name)) if lost else outcome

    monkeypatch.setattr(executors, "executor", lambda spec: Careless())
    workspace = Workspace(store.Logdir(str(folder.parents[2])))
    session, tool = workspace.session(workspace.logdir.sessions()[0].name), workspace.tool("framework_op_stats")
    partial = workspace.result(ToolQuestion(session, tool, "", {}), "named")
    assert workspace.health(session)[1][0].code == "cluster_lost"
    failing = False
    whole = workspace.result(ToolQuestion(session, tool, "", {}), "named")
    assert whole != partial and whole == workspace.result(ToolQuestion(session, tool, "", {}), "named")
    assert "cluster_lost" not in {problem.code for problem in workspace.health(session)[1]}


def test_few_hosts_are_decoded_at_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[weakref.ref[XSpace]] = []
    most, counting = 0, threading.Lock()
    decode = xspace.decode

    def counted(*arguments: Any) -> XSpace:
        nonlocal most
        space = decode(*arguments)
        with counting:
            gc.collect()
            made.append(weakref.ref(space))
            most = max(most, sum(each() is not None for each in made))
        return space

    monkeypatch.setattr(xspace, "decode", counted)
    stored = store.resolve(folder)
    largest = max(file.size for file in stored.files)
    for room in (1, 2):
        most = 0
        session = Session(stored, DecodedPool(room * largest * MEMORY_PER_BYTE), LocalThreads(4))
        tools.get("overview_page").run(session)
        tools.get("memory_profile").run(session)
        assert most <= room


def test_threads_run_no_more_than_they_may() -> None:
    together = threading.Barrier(2)

    def work(number: int) -> int:
        together.wait(30)
        return number

    found = dict(LocalThreads(8).outcomes(work, {str(number): (number,) for number in range(6)}, 2))
    assert found == {str(number): number for number in range(6)}
    with pytest.raises(ZeroDivisionError):
        list(LocalThreads(2).outcomes(lambda number: 1 // number, {"a": (0,)}, 1))


@pytest.mark.parametrize("spec", ["thread", "processes:0", "dask://host", "dask:8786", "tcp://host:1", "processes:x"])
def test_specs_that_name_nothing(spec: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ProblemError) as raised:
        executor(spec)
    assert raised.value.problem.code == "bad_executor" and "dask://" in raised.value.problem.remedy
    with pytest.raises(SystemExit) as ended:
        main.main(["tool", "overview_page", "logs", "--executor", spec])
    assert ended.value.code == 2 and "is not an executor" in capsys.readouterr().err


def test_the_environment_names_the_executor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(settings.EXECUTOR, "processes:2")
    assert isinstance(executor(), LocalProcesses)
    assert isinstance(executor("threads:3"), LocalThreads)
    monkeypatch.setenv(settings.EXECUTOR, "threads")
    assert type(executor().for_results(4)) is LocalThreads


def test_processes_work_on_hosts_that_do_not_stay(folder: Path, decoded: list[str]) -> None:
    stored = store.resolve(folder)
    wanted = tools.get("overview_page").run(Session(stored, executor=executor()))
    assert sorted(decoded) == [file.path.name for file in stored.files]
    largest = max(file.size for file in stored.files)
    for room, decoded_here in ((1, 6), (2, 0)):
        decoded.clear()
        session = Session(stored, DecodedPool(room * largest * MEMORY_PER_BYTE), LocalCores(2))
        assert tools.get("overview_page").run(session) == wanted
        assert len(decoded) == decoded_here


def test_threads_fetch_captures_of_buckets(folder: Path, decoded: list[str]) -> None:
    stored = store.resolve(folder.as_uri())
    largest = max(file.size for file in stored.files)
    session = Session(stored, DecodedPool(2 * largest * MEMORY_PER_BYTE), LocalCores(2))
    assert len(session.select("", tools.precheck())) == len(decoded) == 6


def test_one_core_is_left_to_threads_and_so_is_a_program_around_python(monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(LocalCores(2).for_results(8), LocalProcesses)
    assert not LocalCores(1).for_results(8).remote
    monkeypatch.setattr(sys, "executable", "/usr/bin/blender")
    assert not LocalCores(2).for_results(8).remote


def test_threads_do_what_no_process_can_be_started_for(
    folder: Path, tmp_path: Path, decoded: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    stored = store.resolve(folder)
    for executable in (str(tmp_path / "python"), shutil.which("false") or "false"):
        decoded.clear()
        monkeypatch.setattr(sys, "executable", executable)
        session = Session(stored, executor=LocalProcesses(2))
        assert len(session.select("", tools.precheck())) == len(decoded) == 6


def test_a_missing_package_is_told(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ProblemError) as raised:
        Session(store.resolve(folder), executor=executor("dask://127.0.0.1:1")).select("", tools.precheck())
    assert "pip install 'tb-profile-plugin[cluster]'" in raised.value.problem.remedy


def test_the_command_line_works_in_processes(folder: Path, tmp_path: Path) -> None:
    answers = []
    for number, spec in enumerate(("threads", "processes:1")):
        out = tmp_path / f"{number}.json"
        command = ["tool", "pod_viewer", str(folder), "--no-cache", "--executor", spec, "--out", str(out)]
        assert main.main(command) == 0
        answers.append(out.read_text(encoding="utf-8"))
    assert answers[0] == answers[1]


def test_a_worker_refuses_what_it_would_answer_otherwise(folder: Path) -> None:
    file = store.resolve(folder).files[0]
    with pytest.raises(ProblemError) as raised:
        summarise(file, [], "0.0.0")
    assert raised.value.problem.code == "worker_failed" and "0.0.0" in raised.value.problem.message
    with pytest.raises(ProblemError) as raised:
        summarise(file._replace(size=file.size + 1), [], __version__)
    assert raised.value.problem.code == "changed"


def test_workers_fetch_remote_captures_into_caches_of_their_own(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored = store.resolve(folder.as_uri())
    with closing(LocalProcesses(1)) as workers:
        monkeypatch.setenv("TB_PROFILE_CACHE_DIR", str(tmp_path))
        session = Session(stored, executor=workers)
        assert tools.get("pod_viewer").run(session) == tools.get("pod_viewer").run(Session(store.resolve(folder)))
    assert len(list(tmp_path.rglob("files-*"))) == len(stored.files)
    assert not any(file.path.exists() for file in stored.files)


def test_one_host_needs_nobody(folder: Path) -> None:
    class Nobody(HostExecutor):
        """Raises where it is asked."""

    session = Session(store.resolve(folder / "host-0.xplane.pb"), executor=Nobody())
    assert tools.get("overview_page").run(session)
    with pytest.raises(NotImplementedError):
        tools.get("overview_page").run(Session(store.resolve(folder), executor=Nobody()))
