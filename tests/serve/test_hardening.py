"""Requests that mean harm, or nothing: refused with a problem; none leaves the logdir or breaks the server."""

import csv
import io
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import draw
import pytest
from werkzeug.test import Client, create_environ, run_wsgi_app
from werkzeug.wrappers import Request, Response

from tb_profile_plugin.compat import datatable
from tb_profile_plugin.serve import App, responses
from tb_profile_plugin.serve.access import HostGate
from tb_profile_plugin.serve.app import ROUTES
from tb_profile_plugin.store import Logdir
from tb_profile_plugin.tools import all_tools

SECRET = b"root:x:0:0"
HOSTILE = "<script>alert(1)</script>"
CELLS = Path(__file__).parents[1] / "csv_cells.json"
"""Texts, and how they stand in a CSV file; the pages' own exports are held to the same."""
PAGES = frozenset({"/", "/index.html", "/index.js", "/static/*"})
DRAWN = draw.space(
    """
/host:CPU
  python | train[0,900]{_r=1, step_num=s} =HYPERLINK("x")[100,300] <img src=x onerror=alert(1)>[500,10]
"""
    + f"hostname: {HOSTILE}",
    steps=3,
)
PATHS = [
    "..",
    "../secret",
    "../../../../../../etc/passwd",
    "/etc/passwd",
    "run/../../secret",
    "%2e%2e%2fsecret",
    "..%2fsecret",
    "..\\secret",
    "C:\\secret",
    "file:///etc/passwd",
    "run\0",
    "\0",
    "run/\u202e",
    "\ud800".encode("utf-8", "replace").decode(),
    "r" * 30_000,
    HOSTILE,
    '"><img src=x onerror=alert(1)>',
    "{{7*7}}",
    "%s%n",
    "'; DROP TABLE runs; --",
]
VALUES = [
    *PATHS,
    "-1",
    "nan",
    "inf",
    "1e400",
    "9" * 5000,
    "9" * 19 + ".0",
    "0." + "9" * 20,
    "0.99999999",
    "0.0:" + "9" * 20,
    "0.0:5-2",
    "٣.٣",
    "0.0," * 9000,
    "[[[[",
]


@pytest.fixture(scope="module")
def logdir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One real capture, and beside the logdir a secret and a capture that do not belong to it."""
    above = tmp_path_factory.mktemp("above")
    (above / "secret").write_bytes(SECRET)
    draw.session(above / "other", host=DRAWN)
    draw.session(above / "logs", **{HOSTILE.replace("/", ""): DRAWN, "plain": DRAWN})
    return above / "logs"


@pytest.fixture(scope="module")
def real(logdir: Path) -> Client:
    return Client(App(Logdir(str(logdir))))


def good(route: str) -> dict[str, str]:
    """Parameters with which the route answers."""
    given = {"run": "run", "tag": "overview_page", "host": "plain", "hosts": "plain", "lanes": "0.0", "event": "0.0"}
    return given | {"begin": "0", "end": "1000", "width": "100", "blocks": "0.0", "text": "train"}


def harmless(response: Response) -> None:
    """Whatever was asked: an answer or a problem, of a type that is not sniffed, without anybody's secret."""
    assert response.status_code < 500, response.get_data(as_text=True)
    assert SECRET not in response.data
    assert not response.headers["Content-Type"].startswith("text/html")
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert response.headers["Content-Security-Policy"].startswith("default-src 'none'")
    assert response.headers["Cache-Control"] == "no-store"
    assert "Access-Control-Allow-Origin" not in response.headers
    if response.status_code >= 400:
        assert set(response.get_json()) >= {"code", "message", "remedy", "where", "severity"}


READING = [route for route in ROUTES if route.method == "GET" and route.path not in PAGES]


@pytest.mark.parametrize("route", READING, ids=lambda route: route.path)
def test_every_parameter_of_every_route_may_hold_anything(real: Client, route: Any) -> None:
    for name in route.parameters:
        for value in VALUES:
            wanted = {key: text for key, text in good(route.path).items() if key in route.parameters}
            harmless(real.get(route.path, query_string={**wanted, name: value}))


@pytest.mark.parametrize("tool", all_tools().values(), ids=lambda tool: tool.name)
def test_every_option_of_every_tool_may_hold_anything(real: Client, tool: Any) -> None:
    for param in tool.params:
        for value in VALUES:
            asked = {"run": "run", "tag": tool.name, param.name: value}
            harmless(real.get("/data", query_string=asked))


@pytest.mark.parametrize("path", PATHS)
def test_no_name_leaves_the_logdir(real: Client, path: str) -> None:
    for route in ("/data", "/session", "/tools", "/timeline/lanes"):
        response = real.get(route, query_string={"run": path, "tag": "overview_page"})
        assert (response.status_code, response.get_json()["code"]) == (404, "unknown_run")
    response = real.get("/data", query_string={"run": "run", "tag": "overview_page", "host": path})
    assert response.status_code == 404
    response = real.get(f"/static/{path}")
    assert response.status_code == 404
    harmless(response)


@pytest.mark.skipif(os.name == "nt", reason="pipes and devices of POSIX")
def test_links_out_are_followed_only_to_files_that_can_end(tmp_path: Path, logdir: Path) -> None:
    """Whoever writes into the logdir may link captures from elsewhere, as people do; other files tell nothing."""
    run = tmp_path / "plugins" / "profile" / "run"
    run.mkdir(parents=True)
    (run / "linked.xplane.pb").symlink_to(next((logdir.parent / "other").rglob("host.xplane.pb")))
    (run / "secret.xplane.pb").symlink_to(logdir.parent / "secret")
    (run / "endless.xplane.pb").symlink_to("/dev/zero")
    (run / "loop.xplane.pb").symlink_to("loop.xplane.pb")
    os.mkfifo(run / "pipe.xplane.pb")
    client = Client(App(Logdir(str(tmp_path))))
    entry = client.get("/session?run=run")
    assert entry.get_json().get("hosts") == ["linked", "secret"], entry.text
    assert entry.get_json()["facts"]["steps"] == 3
    harmless(entry)
    response = client.get("/data?run=run&tag=overview_page&host=secret")
    harmless(response)


def test_own_pages_run_nothing_from_elsewhere(real: Client) -> None:
    page = real.get("/")
    rules = dict(rule.split(" ", 1) for rule in page.headers["Content-Security-Policy"].split("; "))
    assert rules["default-src"] == "'none'"
    assert rules["script-src"] == rules["connect-src"] == "'self'"
    assert rules["base-uri"] == rules["form-action"] == "'none'"
    assert all("unsafe" not in rule and "*" not in rule for name, rule in rules.items() if name != "style-src")
    for response in (page, real.get("/index.js")):
        assert response.headers["X-Content-Type-Options"] == "nosniff"
        assert response.headers["Cross-Origin-Resource-Policy"] == "same-origin"


def test_tables_for_spreadsheets_hold_no_formulas(real: Client) -> None:
    response = real.get("/data_csv?run=run&tag=framework_op_stats&host=plain")
    response = response if response.status_code == 200 else real.get("/data_csv?run=run&tag=overview_page")
    assert response.status_code == 200
    for row in csv.reader(io.StringIO(response.text)):
        assert not [cell for cell in row if cell.startswith(("=", "+", "@", "\t", "\r", "\n", "|"))]


def saved(table: dict[str, Any]) -> str:
    return responses.csv_file(Request({}), datatable.csv_rows(table), "x.csv").get_data().decode()


def test_formulas_become_text() -> None:
    cases = json.loads(CELLS.read_text("utf-8"))
    table = {"cols": [{"label": "=op"}], "rows": [{"c": [{"v": text}]} for text, _ in cases]}
    wanted = ['"\'=op"', *(field for _, field in cases), ""]
    assert saved(table) == "\r\n".join(wanted)


def test_figures_stay_figures() -> None:
    table = {"cols": [{"label": "ms"}], "rows": [{"c": [{"v": value}]} for value in (-1.5, 0, None)]}
    assert saved(table) == '"ms"\r\n-1.5\r\n0\r\n\r\n'


@pytest.mark.parametrize("body", ["[" * 60_000, "null", "[1]", '"x"', "{", "\0", '{"duration": {"a": 1}}'])
def test_bodies_that_are_no_object(client: Client, body: str) -> None:
    headers = {"X-TB-Profile": "1", "Content-Type": "application/json"}
    response = client.post("/capture/start", data=body, headers=headers)
    assert response.status_code == 400
    harmless(response)


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "none"},
        {"Origin": "http://localhost.evil.example", "X-TB-Profile": "1"},
        {},
    ],
)
def test_no_other_site_captures(client: Client, headers: dict[str, str]) -> None:
    trusted = {} if not headers else {"X-TB-Profile": "1"}
    for route in [route.path for route in ROUTES if route.method == "POST"]:
        response = client.post(route, data={"service_addr": "localhost:1"}, headers={**trusted, **headers})
        assert response.status_code == 403
        assert client.get(route).status_code == 405


NAMES = [
    ("127.0.0.1", [], "localhost:6007", True),
    ("127.0.0.1", [], "127.0.0.1", True),
    ("127.0.0.1", [], "127.0.0.9:1", True),
    ("127.0.0.1", [], "[::1]:6007", True),
    ("127.0.0.1", [], "LocalHost.:6007", True),
    ("127.0.0.1", [], "app.localhost", True),
    ("127.0.0.1", [], "evil.example:6007", False),
    ("127.0.0.1", [], "localhost.evil.example", False),
    ("127.0.0.1", [], "127.0.0.1.evil.example", False),
    ("127.0.0.1", [], "notlocalhost", False),
    ("127.0.0.1", [], "", False),
    ("127.0.0.1", [], "10.0.0.1:6007", False),
    ("127.0.0.1", [], "[::1].evil.example", False),
    ("127.0.0.1", [], "[::1]evil.example:6007", False),
    ("127.0.0.1", [], "localhost:80@evil.example", False),
    ("127.0.0.1", [], "evil.example@localhost", False),
    ("127.0.0.1", [], "localhost:6007:80", False),
    ("127.0.0.1", [], "localhost:", False),
    ("127.0.0.1", [], "localhost:x", False),
    ("127.0.0.1", [], "localhost/evil.example", False),
    ("127.0.0.1", [], "localhost, evil.example", False),
    ("127.0.0.1", [], "localhost..", False),
    ("127.0.0.1", [], ".localhost", False),
    ("127.0.0.1", [], "evil.example#.localhost", False),
    ("127.0.0.1", [], "::1", False),
    ("127.0.0.1", [], "ſocalhost", False),
    ("127.0.0.1", [], "127.1", False),
    ("127.0.0.1", ["hub.example:443"], "hub.example", True),
    ("127.0.0.1", ["hub.example"], "HUB.example:443", True),
    ("127.0.0.1", ["hub.example"], "x.hub.example", False),
    ("::1", [], "[::1]:6007", True),
    ("0.0.0.0", [], "gpu-box:6007", True),
    ("0.0.0.0", ["gpu-box"], "gpu-box:6007", True),
    ("0.0.0.0", ["gpu-box"], "evil.example", False),
    ("gpu-box", ["other"], "gpu-box:6007", True),
]


@pytest.mark.parametrize(("listening", "allowed", "host", "answered"), NAMES)
def test_only_names_of_this_server_are_answered(
    tmp_path: Path, fakes: Any, listening: str, allowed: list[str], host: str, answered: bool
) -> None:
    app = App(Logdir(str(tmp_path)), gate=HostGate(listening, allowed))

    def get(path: str) -> Response:
        # Not by the tests' client, which cannot read all of these addresses itself with Python 3.10.
        body, status, headers = run_wsgi_app(app, create_environ(path, headers={"Host": host}), buffered=True)
        return Response(body, status, headers)

    response = get("/runs")
    assert response.status_code == (200 if answered else 403)
    harmless(response)
    if not answered:
        assert response.get_json()["code"] == "foreign_host"
        assert get("/").status_code == 403


STANDALONE, INSIDE = "standalone", "inside TensorBoard"


@pytest.mark.parametrize("server", [STANDALONE, INSIDE])
@pytest.mark.parametrize(
    ("site", "to", "answered"),
    [
        ("same-origin", "empty", "all"),
        ("none", "document", "all"),
        ("", "", "all"),
        ("cross-site", "document", "pages"),
        ("same-site", "document", "pages"),
        ("cross-site", "iframe", ""),
        ("cross-site", "", ""),
        ("cross-site", "image", ""),
        ("cross-site", "script", ""),
        ("same-site", "iframe", ""),
        ("same-site", "empty", ""),
    ],
)
def test_pages_of_other_sites_may_only_link_to_our_page(
    tmp_path: Path, fakes: Any, server: str, site: str, to: str, answered: str
) -> None:
    client = Client(App(Logdir(str(tmp_path)), gate=HostGate("127.0.0.1") if server == STANDALONE else None))
    headers = {"Sec-Fetch-Site": site, "Sec-Fetch-Dest": to, "Sec-Fetch-Mode": "navigate"} if site else {}
    wanted = {"/": bool(answered), "/runs": answered == "all", "/timeline/search?run=x&text=a": answered == "all"}
    for route, open_to_them in wanted.items():
        response = client.get(route, headers=headers)
        refused = response.status_code == 403 and response.get_json()["code"] == "foreign_origin"
        assert refused is not open_to_them, route


def test_names_are_tensorboards_own_matter(client: Client) -> None:
    assert client.get("/runs", headers={"Host": "jupyter.example"}).status_code == 200


def test_names_in_captures_stay_text(real: Client, put: Callable[[str], Path]) -> None:
    answers = [real.get("/data?run=run&tag=overview_page"), real.get("/timeline/lanes?run=run"), real.get("/sessions")]
    for response in answers:
        harmless(response)
        assert "script>" in json.dumps(response.get_json())
