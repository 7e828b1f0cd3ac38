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
from ..runtime.records import NamedTuple, record
from . import port_probe
from .address import Address
from .options import Options

CONNECT_S = 4.0
"""A server that does not accept a connection within so long is taken for unreachable: packets are being dropped."""
_ANSWER_S = 6.0
"""How long a server may take for calls that record and send nothing."""
_PING_SESSION = "tb_profile_ping"
_SERVICE = "/tensorflow.ProfilerService/"
_CHANNEL = (
    # gRPC refuses more than 4 MB by default, and captures are larger.
    ("grpc.max_receive_message_length", -1),
    # Profiled processes are near; a proxy for the web knows nothing of them.
    ("grpc.enable_http_proxy", 0),
    # A failed attempt must not make the next one wait.
    ("grpc.use_local_subchannel_pool", 1),
)
_MOST_EVENTS = 1_000_000
"""The most events that a server may record."""
_START_REMEDY = Message(
    "Check that the program started its profiler there: "
    "tf.profiler.experimental.server.start(6009) or jax.profiler.start_server(6009)."
)
_VARINT, _LENGTH_DELIMITED = 0, 2
"""Protobuf's wire types."""
_TOOL_DATA, _EMPTY, _XSPACE = 6, 7, 8
"""Numbers of a ProfileResponse's fields."""
_XSPACE_FIELDS = range(1, 6)
"""Numbers of an XSpace's fields: planes and texts."""
_MOST_FIELDS = 10_000
"""The most of those fields that are checked: captures have some ten planes."""


class _FailedCall(NamedTuple):
    """A problem that calls may have."""

    matches: Callable[[Any, str], bool]
    """Whether a status of gRPC and its details are of it."""
    code: str
    message: str
    remedy: str


_FAILED_CALLS = (
    _FailedCall(
        lambda code, text: "profiling session active" in text.lower() or code is grpc.StatusCode.ALREADY_EXISTS,
        "busy",
        Message("The program is already being profiled."),
        Message(
            "Wait until the other capture ends, or stop the flight recorder: tb-profile capture ADDRESS --recorder "
            "stop."
        ),
    ),
    _FailedCall(
        lambda _, text: "no continuous profiling session" in text.lower(),
        "no_recorder",
        Message("The flight recorder is not running there."),
        Message("Start it first: tb-profile capture ADDRESS --recorder start."),
    ),
    _FailedCall(
        lambda code, _: code is grpc.StatusCode.UNIMPLEMENTED,
        "not_a_profiler",
        Message("A gRPC server answers there, but without this profiler call."),
        _START_REMEDY,
    ),
    _FailedCall(
        lambda code, text: (
            code is grpc.StatusCode.RESOURCE_EXHAUSTED or "serializ" in text.lower() or "too large" in text.lower()
        ),
        "too_large",
        Message("The capture is too large to transfer (2 GB at most)."),
        Message("Capture for a shorter time or at lower levels, first without the Python tracer."),
    ),
    _FailedCall(
        lambda code, _: code is grpc.StatusCode.UNAVAILABLE,
        "connection_lost",
        Message("The connection broke: the program ended, or the network failed."),
        Message("Check that the program still runs, and capture again."),
    ),
    _FailedCall(
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
            self.terminate(_PING_SESSION)
        except grpc.RpcError as error:
            raise self._ping_problem(error) from error

    def _ping_problem(self, error: Any) -> ProblemError:
        is_late = error.code() is grpc.StatusCode.DEADLINE_EXCEEDED
        if is_late or error.code() is grpc.StatusCode.UNAVAILABLE:
            other_server = port_probe.server_kind(self.address)
            if other_server:
                text = Message("{server} answers there instead of a profiler.", server=other_server)
                return self.problem("not_a_profiler", text, _START_REMEDY)
        if is_late:
            text = Message("A server listens there but did not answer within {seconds} s.", seconds=f"{_ANSWER_S:g}")
            return self.problem("silent", text, sentences(_START_REMEDY, "Check also that the program does not hang."))
        return self.call_problem(error)

    def _connect(self) -> None:
        """Raise `ProblemError` where no plain connection succeeds; its errors are clearer than gRPC's."""
        try:
            socket.create_connection((self.address.host, self.address.port), CONNECT_S).close()
        except socket.gaierror as error:
            text = Message("There is no host named {host}.", host=self.address.host)
            raise self.problem("unknown_host", text, Message("Check the name, or use the IP address.")) from error
        except ConnectionRefusedError as error:
            raise self.problem("nothing_listens", Message("Nothing listens there."), _START_REMEDY) from error
        except TimeoutError as error:
            text = Message("No answer within {seconds} s.", seconds=f"{CONNECT_S:g}")
            remedy = Message("Check that the machine runs and that no firewall drops the connection.")
            raise self.problem("no_answer", text, remedy) from error
        except OSError as error:
            text = Message("The server cannot be reached: {reason}.", reason=str(error.strerror or error))
            raise self.problem("unreachable", text, Message("Check the address and the network.")) from error

    def profile(self, request: Any, timeout_s: float) -> Any:
        """Begin a capture; the call's `result()` are bytes for `capture_answer`."""
        return self._call("Profile", request, timeout_s)

    def terminate(self, session: str) -> None:
        """End a capture early: its call returns what there is. Raises grpc.RpcError."""
        self._call("Terminate", message("tensorflow.TerminateRequest")(session_id=session), _ANSWER_S).result()

    def start_recorder(self, request: Any) -> None:
        """Keep recording, so that `snapshot` finds the last seconds; raises `ProblemError`."""
        self._response("StartContinuousProfiling", request)

    def snapshot(self) -> CaptureAnswer:
        """What the recorder holds; raises `ProblemError`."""
        return capture_answer(self._response("GetSnapshot", message("tensorflow.GetSnapshotRequest")(), 60.0))

    def stop_recorder(self) -> None:
        """End the recorder; raises `ProblemError`."""
        self._response("StopContinuousProfiling", message("tensorflow.StopContinuousProfilingRequest")())

    def _response(self, method: str, request: Any, timeout_s: float = _ANSWER_S) -> bytes:
        try:
            return self._call(method, request, timeout_s).result()
        except grpc.RpcError as error:
            raise self.call_problem(error) from error

    def _call(self, method: str, request: Any, timeout_s: float) -> Any:
        call = self._channel.unary_unary(_SERVICE + method, request_serializer=type(request).SerializeToString)
        return call.future(request, timeout=timeout_s)

    def call_problem(self, error: Any) -> ProblemError:
        """What the grpc.RpcError of a failed call means."""
        status, details = error.code(), str(error.details() or "")
        for failed_call in _FAILED_CALLS:
            if failed_call.matches(status, details):
                return self.problem(failed_call.code, failed_call.message, failed_call.remedy)
        text = Message("The profiler failed: {reason}.", reason=details or status.name)
        return self.problem("profiler_failed", text, Message("Check the program's log."))

    def problem(self, code: str, message: str, remedy: str) -> ProblemError:
        """A problem (502) with this server."""
        return problem_error(code, message, remedy, str(self.address), status=502)


def profile_request(options: Options, address: Address, session: str, root: str, start_ns: int = 0) -> Any:
    """What a server is asked for: the capture in its answer, or, from one too old for that, a file below `root`.

    `start_ns` is the moment at which all workers begin, for those that wait for it.
    """
    profile_options = message("tensorflow.ProfileOptions")(
        version=1,
        include_dataset_ops=True,
        enable_hlo_proto=True,
        host_tracer_level=options.host_tracer_level,
        device_tracer_level=options.device_tracer_level,
        python_tracer_level=options.python_tracer_level,
        duration_ms=options.duration_ms,
        start_timestamp_ns=start_ns or time.time_ns(),
        repository_path=root,
        session_id=session,
    )
    return message("tensorflow.ProfileRequest")(
        duration_ms=options.duration_ms,
        max_events=_MOST_EVENTS,
        tools=["xplane.pb"],
        opts=profile_options,
        repository_root=root,
        session_id=session,
        host_name=address.file_host,
        emit_xspace=True,
    )


def capture_answer(data: bytes) -> CaptureAnswer:
    """A ProfileResponse, its capture cut out; raises `ProblemError` (502) where it is none."""
    empty, parts, files = False, [], []
    try:
        for number, value in _fields(memoryview(data)):
            if number == _XSPACE and isinstance(value, memoryview):
                parts.append(value)
            elif number == _EMPTY:
                empty = bool(value)
            elif number == _TOOL_DATA and isinstance(value, memoryview):
                match dict(_fields(value)):
                    case {1: memoryview() as name, 2: memoryview() as content} if bytes(name).endswith(b"xplane.pb"):
                        files.append(content)
        capture = tuple(part for part in parts or files if len(part))
        for part in capture:
            _check_xspace(part)
    except (IndexError, ValueError) as error:
        remedy = Message("Check that the port is the profiler's.")
        raise problem_error("bad_answer", "The answer cannot be read.", remedy, status=502) from error
    return CaptureAnswer(empty, capture)


def _check_xspace(data: memoryview) -> None:
    """Raise IndexError or ValueError for what is no XSpace, so that nothing is kept that no page can show."""
    for number, value in islice(_fields(data), _MOST_FIELDS):
        if number not in _XSPACE_FIELDS or not isinstance(value, memoryview):
            raise ValueError(f"field {number} in a capture")


def _fields(data: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    """The fields of a message: number and varint or payload; raises IndexError or ValueError for anything else."""
    position = 0
    while position < len(data):
        tag, position = _varint(data, position)
        wire_type = tag & 7
        value, position = _varint(data, position)
        if wire_type == _VARINT:
            yield tag >> 3, value
        elif wire_type == _LENGTH_DELIMITED and value <= len(data) - position:
            yield tag >> 3, data[position : position + value]
            position += value
        else:
            raise ValueError(f"field of wire type {wire_type} at {position}")


def _varint(data: memoryview, position: int) -> tuple[int, int]:
    """(value, position behind it) of the varint there; raises IndexError or ValueError where there is none."""
    value = shift = 0
    while True:
        byte = data[position]
        position += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, position
        shift += 7
        if shift > 63:
            raise ValueError("number too long")
