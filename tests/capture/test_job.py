"""Captures from servers of our own making: the order of things, and everything that goes wrong."""

import socket
import ssl
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import grpc
import pytest

from tb_profile_plugin.capture import address, recorder, rpc, worker
from tb_profile_plugin.capture.job import Job, ping
from tb_profile_plugin.capture.options import Options
from tb_profile_plugin.runtime.problems import ProblemError

Fakes = Callable[..., Any]
Talkers = Callable[..., str]
SHORT = Options(duration_ms=200, retries=0)


def run(places: str, logdir: Path, options: Options = SHORT, stop_after: float | None = None) -> Job:
    job = Job(address.parse(places), options, logdir, "r1")
    job.start()
    if stop_after is not None:
        assert not job.wait(stop_after)
        job.stop()
    assert job.wait(30)
    return job


def codes(job: Job) -> list[str]:
    return [worker["problem"]["code"] if worker["problem"] else worker["state"] for worker in job.state()["workers"]]


def files(logdir: Path) -> list[str]:
    return sorted(str(path.relative_to(logdir)) for path in logdir.rglob("*") if path.is_file())


def test_a_capture_is_written_as_it_came(fake: Fakes, tmp_path: Path) -> None:
    server = fake()
    options = Options(300, 0, 3, 0, 1, 0)
    job = run(f"grpc://{server.address}", tmp_path, options)
    assert job.problem is None
    path = tmp_path / f"plugins/profile/r1/localhost_{server.port}.xplane.pb"
    assert path.read_bytes() == server.capture
    [state] = job.state()["workers"]
    assert (state["state"], state["size"], state["file"]) == ("done", len(server.capture), str(path))
    [request] = server.requests
    assert request.emit_xspace and request.session_id == "r1"
    assert request.opts.version == 1
    assert request.opts.duration_ms == request.duration_ms == 300
    levels = request.opts.host_tracer_level, request.opts.device_tracer_level, request.opts.python_tracer_level
    assert levels == (3, 0, 1)


def test_workers_begin_at_the_same_moment(fake: Fakes, tmp_path: Path) -> None:
    servers = [fake() for _ in range(4)]
    asked = time.monotonic()
    job = run(",".join(server.address for server in servers), tmp_path, Options(200, delay_ms=500))
    assert codes(job) == ["done"] * 4
    begins = [server.began[0] for server in servers]
    assert max(begins) - min(begins) < 0.3
    assert min(begins) - asked >= 0.5
    assert len({server.requests[0].opts.start_timestamp_ns for server in servers}) == 1


def test_a_dead_worker_is_named_and_the_rest_is_kept(fake: Fakes, closed_port: int, tmp_path: Path) -> None:
    server = fake()
    job = run(f"localhost:{closed_port},{server.address}", tmp_path)
    assert codes(job) == ["nothing_listens", "done"]
    assert job.problem is None
    assert files(tmp_path) == [f"plugins/profile/r1/localhost_{server.port}.xplane.pb"]


def test_two_hundred_addresses(fake: Fakes, closed_port: int, tmp_path: Path) -> None:
    server = fake()
    dead = [f"127.0.0.{number}:{closed_port}" for number in range(1, 200)]
    begin = time.monotonic()
    job = run(",".join([server.address, *dead]), tmp_path)
    assert codes(job) == ["done", *["nothing_listens"] * 199]
    assert time.monotonic() - begin < 15


def test_stop_keeps_what_was_recorded(fake: Fakes, tmp_path: Path) -> None:
    server = fake()
    begin = time.monotonic()
    job = run(server.address, tmp_path, Options(60_000), stop_after=0.5)
    assert codes(job) == ["done"]
    assert time.monotonic() - begin < 5
    assert len(files(tmp_path)) == 1


def test_stop_before_it_began(fake: Fakes, tmp_path: Path) -> None:
    server = fake()
    job = run(server.address, tmp_path, Options(100, delay_ms=60_000), stop_after=0.5)
    assert codes(job) == ["stopped"]
    assert job.problem and job.problem.code == "stopped"
    assert server.requests == [] and not (tmp_path / "plugins").exists()


def test_a_server_that_does_not_stop_is_given_up(fake: Fakes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "_STOP_S", 0.5)
    job = run(fake(hangs=True).address, tmp_path, Options(60_000), stop_after=0.5)
    assert codes(job) == ["not_stopped"]
    assert files(tmp_path) == []


def test_who_does_not_wait_for_what_was_recorded_need_not(fake: Fakes, tmp_path: Path) -> None:
    server = fake(hangs=True)
    job = Job(address.parse(server.address), SHORT, tmp_path, "r1")
    job.start()
    assert not job.wait(0.5)
    job.stop()
    assert not job.wait(0.5)
    job.give_up()
    assert job.wait(1) and codes(job) == ["not_stopped"] and not files(tmp_path)


@pytest.mark.parametrize(
    ("status", "details", "code"),
    [
        (grpc.StatusCode.INTERNAL, "Another profiling session active.", "busy"),
        (grpc.StatusCode.UNAVAILABLE, "Socket closed", "connection_lost"),
        (grpc.StatusCode.INTERNAL, "whatever", "profiler_failed"),
    ],
)
def test_what_may_pass_is_tried_again(
    fake: Fakes, tmp_path: Path, status: grpc.StatusCode, details: str, code: str
) -> None:
    server = fake(errors=[(status, details)])
    job = run(server.address, tmp_path, Options(100, retries=1))
    [state] = job.state()["workers"]
    assert (state["state"], state["attempt"]) == ("done", 2)
    server.errors = [(status, details)]
    assert codes(run(server.address, tmp_path / "other")) == [code]
    assert files(tmp_path / "other") == []


@pytest.mark.parametrize(
    ("status", "details", "code"),
    [
        (grpc.StatusCode.RESOURCE_EXHAUSTED, "message larger than max", "too_large"),
        (grpc.StatusCode.INTERNAL, "Failed to serialize response", "too_large"),
        (grpc.StatusCode.DEADLINE_EXCEEDED, "", "late"),
        (grpc.StatusCode.UNIMPLEMENTED, "", "not_a_profiler"),
    ],
)
def test_what_will_not_pass_is_not(
    fake: Fakes, tmp_path: Path, status: grpc.StatusCode, details: str, code: str
) -> None:
    server = fake(errors=[(status, details)])
    assert codes(run(server.address, tmp_path, Options(100, retries=3))) == [code]
    assert len(server.requests) == 1


def test_an_empty_trace_is_asked_for_again_and_then_told(fake: Fakes, tmp_path: Path) -> None:
    server = fake(capture=b"")
    job = run(server.address, tmp_path, Options(100, retries=1))
    assert codes(job) == ["empty"]
    assert job.problem and "Nothing was recorded" in job.problem.message
    assert len(server.requests) == 2
    assert not (tmp_path / "plugins").exists()


@pytest.mark.parametrize("sent", [b"<html>no capture</html>", b"\x0a\xff\xff\x7fcut", b"\x08\x01", b"\x7fELF" * 99])
def test_what_is_no_capture_is_not_kept(sent: bytes, fake: Fakes, tmp_path: Path) -> None:
    assert codes(run(fake(capture=sent).address, tmp_path)) == ["bad_answer"]
    assert not files(tmp_path)


def test_an_answer_larger_than_grpc_allows_by_default(fake: Fakes, tmp_path: Path) -> None:
    server = fake(capture=b"\x22" + b"\x80\x80\x80\x10" + b"x" * (32 << 20))
    assert codes(run(server.address, tmp_path)) == ["done"]
    [name] = files(tmp_path)
    assert (tmp_path / name).stat().st_size == len(server.capture)


def test_an_older_server_writes_its_file_on_a_shared_disk(fake: Fakes, tmp_path: Path) -> None:
    job = run(fake(emits=False).address, tmp_path)
    assert codes(job) == ["done"]
    assert len(files(tmp_path)) == 1


def test_an_older_server_with_a_disk_of_its_own_is_no_success(
    fake: Fakes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "_FILE_S", 0.3)
    job = run(fake(emits=False, writes=False).address, tmp_path)
    assert codes(job) == ["not_here"]
    assert job.problem and "did not appear here" in job.problem.message
    assert files(tmp_path) == []


def test_a_worker_that_dies_during_the_capture(fake: Fakes, tmp_path: Path) -> None:
    dying, living = fake(), fake()
    threading.Timer(0.5, lambda: dying.server.stop(None)).start()
    begin = time.monotonic()
    job = run(f"{dying.address},{living.address}", tmp_path, Options(1500, retries=1))
    assert codes(job)[1] == "done"
    assert codes(job)[0] in ("connection_lost", "nothing_listens", "profiler_failed")
    assert time.monotonic() - begin < 20
    assert len(files(tmp_path)) == 1


def test_a_disk_that_fails_at_the_end(fake: Fakes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    job = run(fake().address, tmp_path)
    assert codes(job) == ["unwritable"]
    assert files(tmp_path) == []


def test_a_fault_of_ours_ends_one_worker_and_is_told(
    fake: Fakes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = fake(), fake()
    genuine = worker.Worker.capture

    def broken(self: worker.Worker, at_ns: int) -> None:
        if self.address.port == one.port:
            raise RuntimeError("a bug")
        genuine(self, at_ns)

    monkeypatch.setattr(worker.Worker, "capture", broken)
    job = run(f"{one.address},{other.address}", tmp_path)
    assert codes(job) == ["internal", "done"]


def problem_at(place: str) -> tuple[str, str]:
    [problem] = ping(address.parse(place))
    assert problem and problem.remedy and problem.where == place
    return problem.code, problem.message


def test_a_ping_of_a_profiler(fake: Fakes) -> None:
    server = fake()
    assert ping(address.parse(server.address)) == [None]
    assert server.requests == []


def test_nothing_listens(closed_port: int) -> None:
    assert problem_at(f"127.0.0.1:{closed_port}")[0] == "nothing_listens"


def test_a_name_that_nobody_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object) -> None:
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "create_connection", fail)
    assert problem_at("nowhere.invalid:1")[0] == "unknown_host"


def test_a_firewall_that_drops_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    def wait(place: object, timeout: float) -> None:
        raise TimeoutError

    monkeypatch.setattr(socket, "create_connection", wait)
    assert problem_at("192.0.2.1:6009")[0] == "no_answer"


def test_another_grpc_server() -> None:
    server = grpc.server(ThreadPoolExecutor(1))
    port = server.add_insecure_port("localhost:0")
    server.start()
    try:
        assert problem_at(f"localhost:{port}")[0] == "not_a_profiler"
    finally:
        server.stop(None)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "A web server"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", "An SSH server"),
        (b"220 mail\r\n", "Something else"),
    ],
)
def test_another_kind_of_server(talker: Talkers, words: bytes, told: str) -> None:
    begin = time.monotonic()
    code, message = problem_at(talker(words))
    assert code == "not_a_profiler" and message.startswith(told)
    assert time.monotonic() - begin < 15


def test_a_server_behind_tls(talker: Talkers, certificate: Path) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    code, message = problem_at(talker(b"x", lambda peer: context.wrap_socket(peer, server_side=True)))
    assert (code, message) == ("not_a_profiler", "A server behind TLS answers there instead of a profiler.")


def test_a_server_that_says_nothing(talker: Talkers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rpc, "_ANSWER_S", 1.0)
    assert problem_at(talker(b""))[0] in ("silent", "connection_lost")


@pytest.mark.parametrize("data", [b"\xff", b"\x42\x05ab", b"\x43\x00", b"\x80" * 20, b"\x42"])
def test_an_answer_that_is_none(data: bytes) -> None:
    with pytest.raises(ProblemError, match="cannot be read"):
        rpc.capture_answer(data)


def test_an_answer_in_parts_and_in_the_oldest_form() -> None:
    parts = rpc.capture_answer(b"\x42\x03\x22\x01a\x38\x00\x42\x04\x22\x02bc")
    assert (parts.empty, b"".join(parts.capture), parts.size) == (False, b"\x22\x01a\x22\x02bc", 7)
    old = rpc.capture_answer(b"\x32\x13\x0a\x0cvm.xplane.pb\x12\x03\x22\x01a\x32\x06\x0a\x01x\x12\x01y")
    assert b"".join(old.capture) == b"\x22\x01a"
    assert rpc.capture_answer(b"\x38\x01").empty


def test_the_flight_recorder(fake: Fakes, tmp_path: Path) -> None:
    servers = [fake(), fake()]
    places = address.parse(",".join(server.address for server in servers))
    with pytest.raises(ProblemError, match="not running"):
        recorder.snapshot(places, tmp_path)
    recorder.start(places, SHORT)
    folder = recorder.snapshot(places, tmp_path, "r1")
    assert folder == tmp_path / "plugins/profile/r1"
    assert len(files(tmp_path)) == 2
    recorder.stop(places)
    assert not any(server.recording for server in servers)
    servers[1].capture = b""
    recorder.start(places, SHORT)
    with pytest.raises(ProblemError, match="recorded nothing yet"):
        recorder.snapshot(places, tmp_path, "r2")
    assert len(files(tmp_path)) == 2
