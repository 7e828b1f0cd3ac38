"""Captures on other machines: an S3 store, web servers and fsspec's memory, each filled with the same files."""

import errno
import gzip
import json
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

fsspec = pytest.importorskip("fsspec", reason="the extra cloud is not installed")
pytest.importorskip("aiohttp", reason="the extra cloud is not installed")
s3fs = pytest.importorskip("s3fs", reason="the extra cloud is not installed")
pytest.importorskip("moto", reason="moto's server is not installed")

from moto.server import ThreadedMotoServer  # noqa: E402

from tb_profile_plugin.analysis.health.capture_health import findings  # noqa: E402
from tb_profile_plugin.api import Capture  # noqa: E402
from tb_profile_plugin.runtime.problems import ProblemError  # noqa: E402
from tb_profile_plugin.store import Logdir, cache, read, remote, resolve  # noqa: E402
from tb_profile_plugin.store import web_server as pages  # noqa: E402

EVENT = {"ph": "X", "pid": 1, "tid": 2, "name": "work", "ts": 1, "dur": 50}
CONTENT = {
    "plugins/profile/r1/a.xplane.pb": bytes(range(256)) * 40,
    "plugins/profile/r1/b.xplane.pb.gz": gzip.compress(b"zipped" * 100),
    "train/plugins/profile/r2/vm.xplane.pb": b"vm",
    "train/events.out.tfevents.1.vm": b"",
    "other/x.xplane.pb": b"x",
    "large/plugins/profile/r3/vm.xplane.pb": b"",
    "large/plugins/profile/r3/vm.trace.json.gz": gzip.compress(json.dumps({"traceEvents": [EVENT]}).encode()),
}

pytestmark = [
    # Clients are closed by the collector when their loop is gone already.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:moto"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:botocore"),
]


class Handler(SimpleHTTPRequestHandler):
    """A plain web server without parts; below /secret nobody may look."""

    asked: list[str]

    def log_message(self, *arguments: object) -> None:
        pass

    def send_head(self):  # type: ignore[no-untyped-def]
        if "secret" in self.path:
            self.send_error(403)
            return None
        wanted = self.headers.get("Range", "")
        self.asked.append(wanted)
        path = Path(self.translate_path(self.path))
        if not (self.parts and wanted and path.is_file()):
            return super().send_head()
        low, high = (int(part) for part in wanted.removeprefix("bytes=").split("-"))
        part = path.read_bytes()[low : high + 1]
        self.send_response(206)
        self.send_header("Content-Length", str(len(part)))
        self.end_headers()
        self.wfile.write(part)
        return None

    parts = False


class HandlerOfParts(Handler):
    """One that gives parts."""

    parts = True


@pytest.fixture(scope="session")
def s3() -> Iterator[str]:
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def bucket(s3: str, monkeypatch: pytest.MonkeyPatch) -> str:
    for name, value in {
        "AWS_ENDPOINT_URL": s3,
        "AWS_ACCESS_KEY_ID": "someone",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
    }.items():
        monkeypatch.setenv(name, value)
    files = s3fs.S3FileSystem()
    if not files.exists("captures"):
        files.mkdir("captures")
        for name, content in CONTENT.items():
            files.pipe(f"captures/logs/{name}", content)
    return "s3://captures/logs"


def web_server(tmp_path: Path, handler: type[Handler]) -> Iterator[str]:
    for name, content in CONTENT.items():
        path = tmp_path / "logs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    handler.asked = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(handler, directory=str(tmp_path)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/logs"
    server.shutdown()
    server.server_close()


@pytest.fixture
def http(tmp_path: Path) -> Iterator[str]:
    yield from web_server(tmp_path, Handler)


@pytest.fixture
def http_parts(tmp_path: Path) -> Iterator[str]:
    yield from web_server(tmp_path, HandlerOfParts)


@pytest.fixture
def memory() -> Iterator[str]:
    files = fsspec.filesystem("memory")
    for name, content in CONTENT.items():
        files.pipe(f"/logs/{name}", content)
    yield "memory://logs"
    files.store.clear()
    files.pseudo_dirs[:] = [""]


@pytest.fixture(params=["memory", "bucket", "http", "http_parts"])
def url(request: pytest.FixtureRequest) -> str:
    found: str = request.getfixturevalue(request.param)
    return found


def test_sessions_below_a_url(url: str) -> None:
    survey = Logdir(url).survey()
    assert survey.near_misses == ()
    assert sorted(session.name for session in survey.sessions) == ["large/r3", "other/x", "r1", "train/r2"]
    assert survey.event_files == 1
    (r1,) = (session for session in survey.sessions if session.name == "r1")
    assert r1.hosts == ("a", "b") and r1.folder == f"{url}/plugins/profile/r1"
    assert [file.size for file in r1.files] == [
        len(CONTENT[f"plugins/profile/r1/{name}"]) for name in ("a.xplane.pb", "b.xplane.pb.gz")
    ]
    assert abs(r1.modified - survey.sessions[0].modified) < 3600 and r1.modified > 1e9


def test_files_are_fetched_once(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "_PIECE_BYTES", 1000)
    a, b = Logdir(url).find("r1").files
    told: list[float] = []
    assert bytes(read(a, told.append)) == CONTENT["plugins/profile/r1/a.xplane.pb"]
    assert told == sorted(told) and told[-1] == 1
    assert read(b) == b"zipped" * 100
    monkeypatch.setattr(remote, "_file_system", None)
    assert bytes(read(a)) == CONTENT["plugins/profile/r1/a.xplane.pb"]


@pytest.mark.parametrize(
    ("deeper", "name", "hosts"),
    [
        ("/plugins/profile/r1", "r1", ("a", "b")),
        ("/plugins/profile/r1/a.xplane.pb", "a", ("a",)),
        ("/train/", "r2", ("vm",)),
    ],
)
def test_a_session_by_its_url(url: str, deeper: str, name: str, hosts: tuple[str, ...]) -> None:
    stored = resolve(url + deeper)
    assert (stored.name, stored.hosts) == (name, hosts)
    assert all(read(file) for file in stored.files)


@pytest.mark.parametrize("deeper", ["/large", "/large/plugins/profile/r3"])
def test_an_empty_capture_leaves_its_place_to_the_trace_beside_it(url: str, deeper: str) -> None:
    stored = resolve(url + deeper)
    (file,) = stored.files
    assert file.url.endswith("/vm.trace.json.gz") and file.is_substitute
    session = Capture(stored)
    assert "work" in session.events().to_pandas().name.tolist()
    found = {problem.code: problem.message for problem in findings(session, session.select())}
    assert "vm" in found["empty_beside"] and "Chrome trace" in found["empty_beside"]


def test_parts_are_read_side_by_side(http_parts: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "_PIECE_BYTES", 4000)
    file = resolve(f"{http_parts}/plugins/profile/r1").files[0]
    assert len(read(file)) == 256 * 40
    wanted = {asked for asked in HandlerOfParts.asked if asked}
    assert wanted == {"bytes=0-0", "bytes=0-3999", "bytes=4000-7999", "bytes=8000-10239"}


def test_a_replaced_file_is_another_one(memory: str) -> None:
    before = resolve(f"{memory}/other").files[0]
    assert bytes(read(before)) == b"x"
    fsspec.filesystem("memory").pipe("/logs/other/x.xplane.pb", b"y")
    after = resolve(f"{memory}/other").files[0]
    assert before != after and bytes(read(after)) == b"y"


def test_a_file_that_changes_while_it_is_fetched(memory: str) -> None:
    file = resolve(f"{memory}/other").files[0]
    fsspec.filesystem("memory").pipe("/logs/other/x.xplane.pb", b"longer")
    with pytest.raises(ProblemError) as raised:
        read(file)
    assert raised.value.problem.code == "changed" and not file.path.exists()


def test_several_logdirs_of_which_one_is_remote(memory: str, tmp_path: Path) -> None:
    here = tmp_path / "local/plugins/profile/r9/vm.xplane.pb"
    here.parent.mkdir(parents=True)
    here.write_bytes(b"x")
    names = {session.name for session in Logdir(f"far:{memory},{tmp_path / 'local'}").sessions()}
    assert names == {"far/large/r3", "far/other/x", "far/r1", "far/train/r2", "r9"}


def problem_of(act: Callable[[], object]) -> tuple[str, int]:
    with pytest.raises(ProblemError) as raised:
        act()
    assert raised.value.problem.remedy and raised.value.problem.where
    return raised.value.problem.code, raised.value.status


def test_what_is_not_there_is_said(url: str, bucket: str) -> None:
    assert problem_of(lambda: resolve(f"{url}/none")) == ("no_such_path", 404)
    assert problem_of(lambda: resolve(f"{url}/none.xplane.pb")) == ("no_such_path", 404)
    assert problem_of(lambda: resolve("s3://no-such-bucket/logs")) == ("no_such_path", 404)
    (miss,) = Logdir("s3://no-such-bucket/logs").survey().near_misses
    assert "This bucket, folder or file does not exist" in miss


def test_who_may_not_look_is_told(bucket: str, s3: str, http: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert problem_of(lambda: resolve(f"{http}/secret")) == ("unreadable", 403)
    auth = partial(Request, f"{s3}/moto-api/reset-auth", headers={"Content-Type": "text/plain"})
    urlopen(auth(b"0")).close()
    try:
        assert problem_of(lambda: resolve(bucket)) == ("unreadable", 403)
    finally:
        urlopen(auth(b"1000000")).close()
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    s3fs.S3FileSystem.clear_instance_cache()
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", os.devnull)
    assert problem_of(lambda: resolve(bucket)) == ("unreadable", 403)
    s3fs.S3FileSystem.clear_instance_cache()


def test_schemes_without_a_package_or_a_server(monkeypatch: pytest.MonkeyPatch) -> None:
    assert problem_of(lambda: resolve("nonsense://x")) == ("unknown_scheme", 400)
    assert problem_of(lambda: resolve("http://127.0.0.1:9/x")) == ("unreachable", 502)

    def absent(*arguments: object, **named: object) -> None:
        raise ImportError("Install gcsfs to access Google Storage")

    monkeypatch.setattr("fsspec.core.url_to_fs", absent)
    assert problem_of(lambda: resolve("gs://bucket/x")) == ("no_package", 501)


def test_a_cache_that_cannot_be_written(memory: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setenv("TB_PROFILE_CACHE_DIR", str(tmp_path / "file"))
    file = resolve(f"{memory}/other").files[0]
    assert problem_of(lambda: read(file)) == ("unwritable", 507)


def test_fetched_files_are_bounded(memory: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TB_PROFILE_CACHE_LIMIT", "14500")
    first, second = (resolve(f"{memory}/{name}").files[0] for name in ("plugins/profile/r1/a.xplane.pb", "other"))
    read(first)
    assert cache.usage()["files"] == (1, 10240)
    read(second)
    assert cache.usage()["files"] == (2, 10241)
    os.utime(first.path, (1, 1))
    monkeypatch.setenv("TB_PROFILE_CACHE_LIMIT", "8500")
    read(resolve(f"{memory}/train").files[0])
    assert not first.path.exists() and second.path.exists()


@pytest.mark.skipif(os.name == "nt", reason="pipes and links of POSIX")
def test_what_is_no_file_of_ours_is_not_taken_for_a_fetched_one(memory: str, tmp_path: Path) -> None:
    file = resolve(f"{memory}/other").files[0]
    other = tmp_path / "other"
    other.write_bytes(b"poison")
    for put in (os.mkfifo, lambda path: path.symlink_to(other)):
        read(file)
        file.path.unlink()
        put(file.path)
        assert bytes(memoryview(read(file))) == b"x"
    assert other.read_bytes() == b"poison"


def test_a_cache_on_a_full_disk(memory: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fill_up(files: object, path: str, file: object, draft: str, progress: object) -> None:
        Path(draft).write_bytes(b"a part")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("tb_profile_plugin.store.remote._fetch_file", fill_up)
    monkeypatch.setenv("TB_PROFILE_CACHE_DIR", str(tmp_path))
    file = resolve(f"{memory}/other").files[0]
    assert problem_of(lambda: read(file)) == ("unwritable", 507)
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["CACHEDIR.TAG"]


class Circles(Handler):
    """Pages that lead to themselves, to ever more pages, or never end, by the first part of their path."""

    def send_head(self):  # type: ignore[no-untyped-def]
        self.asked.append(self.path)
        kind = self.path.split("/")[1]
        if kind == "endless":
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            # Whoever asks hangs up before the end.
            with suppress(ConnectionError):
                for number in range(10_000):
                    self.wfile.write(b"".join(b'<a href="%d-%d/">x</a>' % (number, i) for i in range(1000)))
            return None
        links = {"circle": ["again/"], "wider": [f"{i}/" for i in range(20)]}[kind]
        body = "".join(f'<a href="{link}">x</a>' for link in [*links, "vm.xplane.pb"]).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
        return None


@pytest.fixture
def circles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setattr(pages, "_MOST_FOLDERS", 300)
    monkeypatch.setattr(pages, "_MOST_PAGE_BYTES", 1 << 20)
    for base in web_server(tmp_path, Circles):
        yield base.removesuffix("/logs")


def test_a_folder_that_leads_to_itself_ends(circles: str) -> None:
    survey = Logdir(f"{circles}/circle").survey()
    assert survey.sessions and not survey.near_misses
    assert len([path for path in Circles.asked if path.endswith("again/")]) == pages._DEEPEST - 1


def test_pages_that_lead_to_ever_more_pages_are_told(circles: str) -> None:
    (miss,) = Logdir(f"{circles}/wider").survey().near_misses
    assert "more than 300 folders" in miss and "closer to the captures" in miss
    assert len(Circles.asked) < 50


def test_a_page_that_never_ends_is_told(circles: str) -> None:
    (miss,) = Logdir(f"{circles}/endless").survey().near_misses
    assert "a page of more than 1 MiB" in miss
