"""The profiler service of TensorFlow, JAX and PyTorch/XLA processes, call by call.

Answers stay bytes: a capture is cut out of its answer and written as it came, without being parsed.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator
from itertools import islice
from types import TracebackType
from typing import Any

import grpc

from ..runtime.messages import Message, sentences
from ..runtime.problems import ProblemError, problem_error
from ..runtime.protos import message
from ..runtime.records import record
from . import port_probe
from .address import Address
from .options import Options

CONNECT_S = 4.0
"""A server that does not accept a connection within so long is taken for unreachable: packets are being dropped."""
_ANSWER_S = 6.0
"""How long a server may take for calls that record and send nothing."""
_PING = "tb_profile_ping"
_SERVICE = "/tensorflow.ProfilerService/"
_CHANNEL = (
    # gRPC refuses more than 4 MB by default, and captures are larger.
    ("grpc.max_receive_message_length", -1),
    # Profiled processes are near; a proxy for the web knows nothing of them.
    ("grpc.enable_http_proxy", 0),
    # A failed attempt must not make the next one wait.
    ("grpc.use_local_subchannel_pool", 1),
)
_EVENTS = 1_000_000
"""The most events that a server may record."""
_START_IT = Message(
    "Check that the program started its profiler there: "
    "tf.profiler.experimental.server.start(6009) or jax.profiler.start_server(6009)."
)
_TOOL_DATA, _EMPTY, _XSPACE = 6, 7, 8
"""Numbers of a ProfileResponse's fields."""
_XSPACE_FIELDS = range(1, 6)
"""Numbers of an XSpace's fields: planes and texts."""
_MOST_FIELDS = 10_000
"""The most of those fields that are checked: captures have some ten planes."""


_Cause = tuple[Callable[[Any, str], bool], str, str, str]
"""(whether a code and details are of it, its code, message, remedy)."""
_CAUSES: tuple[_Cause, ...] = (
    (
        lambda code, text: "profiling session active" in text.lower() or code is grpc.StatusCode.ALREADY_EXISTS,
        "busy",
        Message("The program is already being profiled."),
        Message(
            "Wait until the other capture ends, or stop the flight recorder: tb-profile capture ADDRESS --recorder "
            "stop."
        ),
    ),
    (
        lambda _, text: "no continuous profiling session" in text.lower(),
        "no_recorder",
        Message("The flight recorder is not running there."),
        Message("Start it first: tb-profile capture ADDRESS --recorder start."),
    ),
    (
        lambda code, _: code is grpc.StatusCode.UNIMPLEMENTED,
        "not_a_profiler",
        Message("A gRPC server answers there, but without this profiler call."),
        _START_IT,
    ),
    (
        lambda code, text: (
            code is grpc.StatusCode.RESOURCE_EXHAUSTED or "serializ" in text.lower() or "too large" in text.lower()
        ),
        "too_large",
        Message("The capture is too large to transfer (2 GB at most)."),
        Message("Capture for a shorter time or at lower levels, first without the Python tracer."),
    ),
    (
        lambda code, _: code is grpc.StatusCode.UNAVAILABLE,
        "connection_lost",
        Message("The connection broke: the program ended, or the network failed."),
        Message("Check that the program still runs, and capture again."),
    ),
    (
        lambda code, _: code is grpc.StatusCode.DEADLINE_EXCEEDED,
        "late",
        Message("The answer did not arrive in time."),
        Message("Capture for a shorter time, or check the program's log."),
    ),
)


@record
class CaptureAnswer:
    """A server's answer to a capture."""

    empty: bool
    """Whether the server says that nothing was recorded."""
    capture: tuple[memoryview, ...]
    """Parts of an XSpace, to be written one after the other; none from a server that writes its own file."""

    @property
    def size(self) -> int:
        """Bytes of the capture."""
        return sum(len(part) for part in self.capture)


class ProfilerServer:
    """A connection to one profiler server."""

    def __init__(self, address: Address):
        self.address = address
        self._channel = grpc.insecure_channel(address.target, _CHANNEL)

    def __enter__(self) -> ProfilerServer:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._channel.close()

    def reach(self) -> None:
        """Raise `ProblemError` (502) saying what is wrong where no profiler answers at the address."""
        self._connect()
        try:
            self.terminate(_PING)
        except grpc.RpcError as error:
            if error.code() in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED):
                other_server = port_probe.name(self.address)
                if other_server:
                    raise self.failed(
                        "not_a_profiler",
                        Message("{server} answers there instead of a profiler.", server=other_server),
                        _START_IT,
                    ) from error
            if error.code() is grpc.StatusCode.DEADLINE_EXCEEDED:
                text = Message(
                    "A server listens there but did not answer within {seconds} s.", seconds=f"{_ANSWER_S:g}"
                )
                raise self.failed(
                    "silent", text, sentences(_START_IT, "Check also that the program does not hang.")
                ) from error
            raise self.explain(error) from error

    def _connect(self) -> None:
        """Raise `ProblemError` where no plain connection succeeds; its errors are clearer than gRPC's."""
        try:
            socket.create_connection((self.address.host, self.address.port), CONNECT_S).close()
        except socket.gaierror as error:
            remedy = Message("Check the name, or use the IP address.")
            raise self.failed(
                "unknown_host", Message("There is no host named {host}.", host=self.address.host), remedy
            ) from error
        except ConnectionRefusedError as error:
            raise self.failed("nothing_listens", Message("Nothing listens there."), _START_IT) from error
        except TimeoutError as error:
            remedy = Message("Check that the machine runs and that no firewall drops the connection.")
            raise self.failed(
                "no_answer", Message("No answer within {seconds} s.", seconds=f"{CONNECT_S:g}"), remedy
            ) from error
        except OSError as error:
            remedy = Message("Check the address and the network.")
            raise self.failed(
                "unreachable",
                Message("The server cannot be reached: {reason}.", reason=str(error.strerror or error)),
                remedy,
            ) from error

    def profile(self, request: Any, timeout_s: float) -> Any:
        """Begin a capture; the call's `result()` are bytes for `answer`."""
        return self._call("Profile", request, timeout_s)

    def terminate(self, session: str) -> None:
        """End a capture early: its call returns what there is. Raises grpc.RpcError."""
        self._call("Terminate", message("tensorflow.TerminateRequest")(session_id=session), _ANSWER_S).result()

    def start_recorder(self, request: Any) -> None:
        """Keep recording, so that `snapshot` finds the last seconds; raises `ProblemError`."""
        self._ask("StartContinuousProfiling", request)

    def snapshot(self) -> CaptureAnswer:
        """What the recorder holds; raises `ProblemError`."""
        return answer(self._ask("GetSnapshot", message("tensorflow.GetSnapshotRequest")(), 60.0))

    def stop_recorder(self) -> None:
        """End the recorder; raises `ProblemError`."""
        self._ask("StopContinuousProfiling", message("tensorflow.StopContinuousProfilingRequest")())

    def _ask(self, method: str, request: Any, timeout_s: float = _ANSWER_S) -> bytes:
        try:
            return self._call(method, request, timeout_s).result()
        except grpc.RpcError as error:
            raise self.explain(error) from error

    def _call(self, method: str, request: Any, timeout_s: float) -> Any:
        call = self._channel.unary_unary(_SERVICE + method, request_serializer=type(request).SerializeToString)
        return call.future(request, timeout=timeout_s)

    def explain(self, error: Any) -> ProblemError:
        """The problem that a failed call is, in words."""
        code, details = error.code(), str(error.details() or "")
        for matches, name, what, remedy in _CAUSES:
            if matches(code, details):
                return self.failed(name, what, remedy)
        return self.failed(
            "profiler_failed",
            Message("The profiler failed: {reason}.", reason=details or code.name),
            Message("Check the program's log."),
        )

    def failed(self, code: str, message: str, remedy: str) -> ProblemError:
        """A problem with this server."""
        return problem_error(code, message, remedy, str(self.address), status=502)


def request(options: Options, address: Address, session: str, root: str, at_ns: int = 0) -> Any:
    """What a server is asked for: the capture in its answer, or, from one too old for that, a file below `root`.

    `at_ns` is the moment at which all workers begin, for those that wait for it.
    """
    opts = message("tensorflow.ProfileOptions")(
        version=1,
        include_dataset_ops=True,
        enable_hlo_proto=True,
        host_tracer_level=options.host_tracer_level,
        device_tracer_level=options.device_tracer_level,
        python_tracer_level=options.python_tracer_level,
        duration_ms=options.duration_ms,
        start_timestamp_ns=at_ns or time.time_ns(),
        repository_path=root,
        session_id=session,
    )
    return message("tensorflow.ProfileRequest")(
        duration_ms=options.duration_ms,
        max_events=_EVENTS,
        tools=["xplane.pb"],
        opts=opts,
        repository_root=root,
        session_id=session,
        host_name=address.file_host,
        emit_xspace=True,
    )


def answer(data: bytes) -> CaptureAnswer:
    """A ProfileResponse, its capture cut out; raises `ProblemError` (502) where it is none."""
    empty, parts, files = False, [], []
    try:
        for field, value in _fields(memoryview(data)):
            if field == _XSPACE and isinstance(value, memoryview):
                parts.append(value)
            elif field == _EMPTY:
                empty = bool(value)
            elif field == _TOOL_DATA and isinstance(value, memoryview):
                file = dict(_fields(value))
                name, content = file.get(1), file.get(2)
                if (
                    isinstance(name, memoryview)
                    and isinstance(content, memoryview)
                    and bytes(name).endswith(b"xplane.pb")
                ):
                    files.append(content)
        capture_parts = [part for part in parts or files if len(part)]
        for part in capture_parts:
            _check_space(part)
    except (IndexError, ValueError) as error:
        remedy = Message("Check that the port is the profiler's.")
        raise problem_error("bad_answer", "The answer cannot be read.", remedy, status=502) from error
    return CaptureAnswer(empty, tuple(capture_parts))


def _check_space(data: memoryview) -> None:
    """Raise IndexError or ValueError for what is no XSpace, so that nothing is kept that no page can show."""
    for field, value in islice(_fields(data), _MOST_FIELDS):
        if field not in _XSPACE_FIELDS or not isinstance(value, memoryview):
            raise ValueError(f"field {field} in a capture")


def _fields(data: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    """The fields of a message: number and varint or payload; raises IndexError or ValueError for anything else."""
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        kind = tag & 7
        value, at = _varint(data, at)
        if kind == 0:
            yield tag >> 3, value
        elif kind == 2 and value <= len(data) - at:
            yield tag >> 3, data[at : at + value]
            at += value
        else:
            raise ValueError(f"field of kind {kind} at {at}")


def _varint(data: memoryview, at: int) -> tuple[int, int]:
    """(value, position behind it) of the varint there; raises IndexError or ValueError where there is none."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7
        if shift > 63:
            raise ValueError("number too long")
