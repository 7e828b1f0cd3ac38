"""Every tool on every capture: an answer that is valid, finite, documented and the same whoever asks."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import draw
import drawn
import jsonschema
import pytest
from figures import column as column_of
from werkzeug.test import Client

import tb_profile_plugin
from tb_profile_plugin import tools
from tb_profile_plugin.api import Capture
from tb_profile_plugin.cli import main
from tb_profile_plugin.runtime import problems
from tb_profile_plugin.runtime.problems import ProblemError
from tb_profile_plugin.serve import App
from tb_profile_plugin.store import Logdir
from tb_profile_plugin.tools.answers.schema import schema
from tb_profile_plugin.tools.answers.tool import Tool

ROOT = Path(__file__).resolve().parent.parent


def captures(folder: Path) -> list[Path]:
    """Run folders, and files that lie elsewhere."""
    files = folder.rglob("*.xplane.pb")
    return sorted({path.parent if path.parent.parent.name == "profile" else path for path in files})


OWN = captures(ROOT / "tests" / "traces")
PUBLIC = captures(ROOT.parent / "shared" / "profiles")
AFFECTED = {problems.AVERAGE, problems.SPREAD, problems.HOST, problems.DEVICE, problems.INPUT, problems.CLOCKS}
SHELVES = {"plugins", "profile", "run", "traces", "profiles"}


def called(path: Path) -> str:
    """A capture's name in the list of tests."""
    return "-".join(part for part in path.parts[-4:] if part not in SHELVES).removesuffix(".xplane.pb")


CAPTURES = pytest.mark.parametrize("capture", [*OWN, *PUBLIC, *map(Path, drawn.PROGRAMS)], ids=called, indirect=True)


@pytest.fixture
def capture(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A capture on disk; that of a device that few have is drawn."""
    path: Path = request.param
    if path.name not in drawn.PROGRAMS:
        return path
    session = draw.session(tmp_path_factory.mktemp(path.name), host=drawn.PROGRAMS[path.name]())
    return Path(session.stored.files[0].path).parent


SCHEMA = schema(tools.all_tools())
VALIDATORS = {
    name: jsonschema.Draft202012Validator({"$ref": f"#/$defs/{title}", "$defs": SCHEMA["$defs"]})
    for name, title in ((name, name.title().replace("_", "")) for name in tools.all_tools())
    if title in SCHEMA["$defs"]
}


def check_named(name: str, answer: Any) -> None:
    """As the schema says; every figure explained, cells as their columns say, nothing that is no number."""
    if name not in VALIDATORS:
        return
    json.dumps(answer, allow_nan=False)
    VALIDATORS[name].validate(answer)
    kinds = {"number": (int, float), "string": (str,), "boolean": (bool,)}
    for table in answer["tables"].values():
        for column in table["columns"]:
            assert len(column["values"]) == table["rows"]
            assert all(value is None or isinstance(value, kinds[column["kind"]]) for value in column["values"])
    declared = [column for table in answer["tables"].values() for column in table["columns"]]
    for each in [*declared, *answer["facts"].values()]:
        assert each["label"] and (each["kind"] != "number" or each["doc"]), each["label"]
        assert set(each["depends"]) <= AFFECTED


def tables(answer: Any) -> Iterator[dict[str, Any]]:
    """Every DataTable in an answer."""
    if isinstance(answer, dict):
        if {"cols", "rows"} <= set(answer):
            yield answer
        else:
            for part in answer.values():
                yield from tables(part)
    elif isinstance(answer, list):
        for part in answer:
            yield from tables(part)


def check(answer: Any) -> None:
    """Finite JSON; cells as their columns say; every figure explained."""
    json.dumps(answer, allow_nan=False)
    for table in tables(answer):
        kinds = {"number": (int, float), "string": (str,), "boolean": (bool,)}
        ids = [column["id"] for column in table["cols"]]
        assert len(set(ids)) == len(ids)
        for column in table["cols"]:
            assert column["label"] and column["type"] in kinds
            assert column["type"] != "number" or column.get("p", {}).get("doc"), f"{column['id']} is not explained"
        for row in table["rows"]:
            assert len(row["c"]) == len(ids)
            for cell, column in zip(row["c"], table["cols"], strict=True):
                assert cell["v"] is None or isinstance(cell["v"], kinds[column["type"]]), (column, cell)
        assert all(isinstance(text, str) for text in table.get("p", {}).values())
        assert set(table.get("docs", {})) <= set(table.get("p", {}))


def uses_all_sessions(tool: Tool) -> bool:
    """Whether its answer tells of other sessions, too: Compare suggests one."""
    return tool.uses_all_sessions or any(param.kind == "session" for param in tool.params)


@CAPTURES
def test_every_tool_on_every_capture(capture: Path, tmp_path: Path, subtests: pytest.Subtests) -> None:
    session, client, run = opened(capture)
    served = {}
    # The other way round than below: what a session is asked first must not change what it answers later.
    for name, host in reversed(asked(session, streamed=False)):
        query = {"run": run, "tag": name} | ({"host": host} if host else {})
        # A server knows more sessions than a path does.
        if not uses_all_sessions(tools.get(name)):
            for route in ("/data", "/answer"):
                response = client.get(route, query_string=query)
                served[name, host, route] = response.status_code, response.get_json()
    out = tmp_path / "answer.json"
    for name, host in asked(session, streamed=False):
        with subtests.test(tool=name, host=host):
            try:
                status, answer, named = 200, session.xprof(name, host), session.answer(name, host)
                check(answer)
                check_named(name, named)
            except ProblemError as error:
                assert tools.get(name).unavailable(session) and error.problem.remedy
                status, answer = error.status, error.problem.as_json()
                named = answer
            assert served.get((name, host, "/data"), (status, answer)) == (status, answer)
            assert served.get((name, host, "/answer"), (status, named)) == (status, named)
            # It finds what the server kept.
            command = ["tool", name, str(capture), "--out", str(out), *(["--host", host] if host else [])]
            for arguments, expected in (([*command, "--format", "xprof"], answer), (command, named)):
                assert main.main(arguments) == (status != 200)
                assert status != 200 or json.loads(out.read_text(encoding="utf-8")) == expected


@CAPTURES
def test_the_trace_of_every_capture(capture: Path, tmp_path: Path, subtests: pytest.Subtests) -> None:
    """It is long: it is asked for once, each way."""
    session, client, run = opened(capture)
    out = tmp_path / "answer.json"
    for name, host in asked(session, streamed=True):
        with subtests.test(tool=name, host=host):
            selected = {"host": host} if host else {}
            answer = session.xprof(name, host)
            assert client.get("/data", query_string={"run": run, "tag": name} | selected).get_json() == answer
            command = ["tool", name, str(capture), "--out", str(out), *(["--host", host] if host else [])]
            assert main.main([*command, "--format", "xprof"]) == 0
            assert json.loads(out.read_text(encoding="utf-8"), parse_constant=pytest.fail) == answer


def opened(capture: Path) -> tuple[Capture, Client, str]:
    """A capture, a server that has it, and its name there."""
    session = tb_profile_plugin.open(capture)
    client = Client(App(Logdir(str(capture if capture.is_dir() else capture.parent))))
    runs = client.get("/sessions").get_json()["sessions"]
    (run,) = (run["run"] for run in runs if run["size"] == session.stored.size)
    return session, client, run


def asked(session: Capture, streamed: bool) -> list[tuple[str, str]]:
    """Each tool of these for all hosts, and for each where there are several."""
    names = [name for name, tool in tools.all_tools().items() if tool.streamed == streamed]
    return [(name, host) for name in names for host in ["", *(session.hosts if len(session.hosts) > 1 else [])]]


@CAPTURES
def test_the_step_time_is_the_same_everywhere(capture: Path) -> None:
    session = tb_profile_plugin.open(capture)
    overview, inputs = session.xprof("overview_page"), session.xprof("input_pipeline_analyzer")
    assert overview[1] == inputs[1]
    pods = session.xprof("pod_viewer")["podStatsSequence"]["podStatsMap"]
    slowest = [max(core["totalDurationUs"] for core in step["podStatsPerCore"].values()) for step in pods]
    ids = [column["id"] for column in overview[1]["cols"]]
    rows = [[cell["v"] for cell in row["c"]] for row in overview[1]["rows"]]
    times = [row[ids.index("stepTimeMs")] for row in rows]
    if len({step["stepNum"] for step in pods}) == len(times):
        assert [us / 1000 for us in slowest] == pytest.approx(times)
    parts = [i for i, key in enumerate(ids) if key.endswith("TimeMs") and key != "stepTimeMs"]
    assert [sum(row[i] for i in parts) for row in rows] == pytest.approx(times)
    shares = [row["c"][3]["v"] for row in overview[8]["rows"]]
    assert sum(shares) == pytest.approx(1.0) or not any(shares)
    named = session.answer("overview_page")
    assert column_of(named, "steps", "duration_ms") == times
    spent = zip(*(column_of(named, "steps", f"{part}_ms") for part in column_of(named, "parts", "part")), strict=True)
    assert [sum(step) for step in spent] == pytest.approx(times)
    assert column_of(session.answer("input_pipeline_analyzer"), "steps", "duration_ms") == times
    # Answers are not used up: what was asked twice is the same twice.
    assert session.xprof("overview_page") == overview


@pytest.mark.parametrize(
    ("wanted", "average"), [({}, "14.0"), ({"steps": "typical"}, "10.0"), ({"steps": "4-4"}, "30.0")]
)
def test_old_averages_go_over_the_steps_that_are_chosen(wanted: Any, average: str, tmp_path: Path) -> None:
    begins = [0, 10_000, 20_000, 30_000, 40_000]
    spans = [f"[{begin},{30_000 if begin == 40_000 else 10_000}]" for begin in begins]
    steps = " ".join(f"train{span}{{_r=1, step_num={i}}} x/MatMul:MatMul{span}" for i, span in enumerate(spans))
    session = draw.session(tmp_path, vm=draw.space(f"/host:CPU\n  t | {steps}"))
    for tool in ("overview_page", "input_pipeline_analyzer"):
        properties = session.xprof(tool, **wanted)[1]["p"]
        assert (properties["steptime_ms_average"], properties["host_compute_time_ms_avg"]) == (average, average)


HOLLOW = {
    "no bytes": b"",
    "no planes": draw.space("hostname: h"),
    "a plane without lines": draw.space("/host:CPU\n/device:GPU:0\n/device:TPU:0"),
    "lines without events": draw.space("/host:CPU\n  a |\n/device:GPU:0\n  Stream #1 |\n/device:TPU:0\n  XLA Ops |"),
    "an event without name and length": draw.space("/host:CPU\n  a | ?[0,0]\n/device:GPU:0\n  Stream #1 | ?[0,0]"),
    "a step without length": draw.space("/host:CPU\n  a | train[5,0]{_r=1, step_num=0}"),
    "another host's planes only": draw.space("/host:CPU [123]\n  a | train[0,5]{_r=1}\nTask Environment {x=1u}"),
}


@pytest.mark.parametrize("hollow", list(HOLLOW))
def test_captures_that_hold_nothing(hollow: str, tmp_path: Path, subtests: pytest.Subtests) -> None:
    every_tool_answers(draw.session(tmp_path, vm=HOLLOW[hollow]), subtests)


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "cut": lambda data: data[: len(data) * 2 // 3],
    "flipped": lambda data: bytes(byte ^ 0x41 if i % 997 == 500 else byte for i, byte in enumerate(data)),
    "text tool": lambda data: data.decode("utf-8", "replace").encode(),
}


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("capture", [path for path in OWN if path.is_dir()], ids=called)
def test_damaged_captures(capture: Path, damage: str, tmp_path: Path, subtests: pytest.Subtests) -> None:
    data = next(capture.glob("*.xplane.pb")).read_bytes()
    session = draw.session(tmp_path, vm=DAMAGES[damage](data))
    every_tool_answers(session, subtests)
    told(session)


def test_what_is_no_capture(tmp_path: Path, subtests: pytest.Subtests) -> None:
    session = draw.session(tmp_path, vm=b"not a capture at all " * 50)
    every_tool_answers(session, subtests)
    told(session)


def told(session: Capture) -> None:
    """What is wrong with it is said, and what helps."""
    assert session.problems()
    assert all(problem.remedy for problem in session.problems() if problem.severity == "error")


def test_one_unreadable_host_hides_no_other(tmp_path: Path, subtests: pytest.Subtests) -> None:
    good = next(OWN[0].glob("*.xplane.pb")).read_bytes()
    session = draw.session(tmp_path, good=good, bad=b"")
    every_tool_answers(session, subtests)
    assert [problem.code for problem in session.problems()] == ["empty_capture"]


def every_tool_answers(session: Capture, subtests: pytest.Subtests) -> None:
    """Either a checked answer or a problem for people."""
    for name, tool in tools.all_tools().items():
        with subtests.test(tool=name):
            try:
                check(session.xprof(name))
                check_named(name, session.answer(name))
                tool.unavailable(session)
            except ProblemError as error:
                assert error.problem.message and error.problem.remedy


def test_candidates_of_options_stand_in_tables_that_tools_declare() -> None:
    columns = {
        f"{table.id}.{column.id}"
        for tool in tools.all_tools().values()
        for table in tool.tables
        for column in table.columns
    }
    asked = {param.candidates for tool in tools.all_tools().values() for param in tool.params}
    assert {"step_choices.name", "memories.memory_id"} <= asked <= columns | {""}
