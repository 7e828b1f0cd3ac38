"""Servers that speak the profiler's protocol, or something else, in this process."""

import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc
import pytest

from tb_profile_plugin.formats.protobuf import varint
from tb_profile_plugin.runtime.protos import message

SPACE = message("tensorflow.profiler.XSpace")(hostnames=["fake"])
PLANE = SPACE.planes.add(name="/host:CPU")


@dataclass
class Fake:
    """A profiler server; what it does can be set before it is asked."""

    port: int = 0
    capture: bytes = SPACE.SerializeToString()
    """An XSpace to send; empty for a server that says that nothing happened."""
    emits: bool = True
    """Whether it knows emit_xspace; older ones write a file."""
    writes: bool = True
    """Whether an older one's disk is ours."""
    errors: list[tuple[grpc.StatusCode, str]] = field(default_factory=list)
    """What it answers first."""
    hangs: bool = False
    requests: list[Any] = field(default_factory=list)
    began: list[float] = field(default_factory=list)
    stopped: threading.Event = field(default_factory=threading.Event)
    recording: bool = False
    server: Any = None

    @property
    def address(self) -> str:
        return f"localhost:{self.port}"

    def profile(self, request: Any, context: grpc.ServicerContext) -> bytes:
        self.began.append(time.monotonic())
        self.requests.append(request)
        if self.errors:
            context.abort(*self.errors.pop(0))
        if self.hangs:
            time.sleep(3)
        self.stopped.wait(request.opts.duration_ms / 1000)
        return self._answer(request)

    def _answer(self, request: Any) -> bytes:
        response = message("tensorflow.ProfileResponse")
        if not self.capture:
            return bytes(response(empty_trace=True).SerializeToString())
        if self.emits:
            # As the field lies on the wire: a message of which this test need not know the content.
            return b"\x42" + varint(len(self.capture)) + self.capture
        if self.writes:
            path = Path(request.repository_root, request.session_id, f"{request.host_name}.xplane.pb")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(self.capture)
        return b""

    def terminate(self, request: Any, context: grpc.ServicerContext) -> bytes:
        if any(each.session_id == request.session_id for each in self.requests):
            self.stopped.set()
        return b""

    def record(self, request: Any, context: grpc.ServicerContext) -> bytes:
        self.recording = True
        return b""

    def snapshot(self, request: Any, context: grpc.ServicerContext) -> bytes:
        if not self.recording:
            context.abort(grpc.StatusCode.INTERNAL, "No continuous profiling session found.")
        return self._answer(request)

    def stop_recording(self, request: Any, context: grpc.ServicerContext) -> bytes:
        self.recording = False
        return b""


def serve(fake: Fake) -> grpc.Server:
    def method(function: Any, name: str) -> grpc.RpcMethodHandler:
        return grpc.unary_unary_rpc_method_handler(function, message(f"tensorflow.{name}").FromString)

    methods = {
        "Profile": method(fake.profile, "ProfileRequest"),
        "Terminate": method(fake.terminate, "TerminateRequest"),
        "StartContinuousProfiling": method(fake.record, "ProfileRequest"),
        "GetSnapshot": method(fake.snapshot, "GetSnapshotRequest"),
        "StopContinuousProfiling": method(fake.stop_recording, "StopContinuousProfilingRequest"),
    }
    server = grpc.server(ThreadPoolExecutor(4), options=[("grpc.max_send_message_length", -1)])
    server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler("tensorflow.ProfilerService", methods)])
    fake.port = server.add_insecure_port("localhost:0")
    server.start()
    return server


@pytest.fixture
def fake() -> Iterator[Callable[..., Fake]]:
    """Start a profiler server."""
    servers = []

    def start(**facts: Any) -> Fake:
        made = Fake(**facts)
        made.server = serve(made)
        servers.append(made.server)
        return made

    yield start
    for server in servers:
        server.stop(None)


@pytest.fixture
def talker() -> Iterator[Callable[..., str]]:
    """Start a server that says some bytes to whoever connects, through TLS or not; returns its address."""
    listeners: list[socket.socket] = []

    def start(words: bytes, wrap: Callable[[socket.socket], socket.socket] = lambda peer: peer) -> str:
        listener = socket.create_server(("127.0.0.1", 0))
        listeners.append(listener)

        def talk(peer: socket.socket) -> None:
            try:
                with wrap(peer) as spoken:
                    if words:
                        spoken.recv(1000)
                        spoken.sendall(words)
                    else:
                        time.sleep(8)
            except OSError:
                return

        def listen() -> None:
            while True:
                try:
                    peer, _ = listener.accept()
                except OSError:
                    return
                threading.Thread(target=talk, args=(peer,), daemon=True).start()

        threading.Thread(target=listen, daemon=True).start()
        return f"127.0.0.1:{listener.getsockname()[1]}"

    yield start
    for listener in listeners:
        listener.close()


@pytest.fixture
def closed_port() -> int:
    """A port where nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
    return port


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A key with a certificate that it signed itself."""
    path = tmp_path_factory.mktemp("tls") / "both.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-days", "2"]
    subprocess.run([*command, "-keyout", path, "-out", path.with_suffix(".crt")], check=True, capture_output=True)
    path.write_bytes(path.read_bytes() + path.with_suffix(".crt").read_bytes())
    return path
