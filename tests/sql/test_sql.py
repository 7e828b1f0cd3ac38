"""SQL: its answers are the tools' figures; what it must not do is refused, and what goes too far is ended."""

import json
import re
import subprocess
import sys
from pathlib import Path

import draw
import duckdb
import pytest

import tb_profile_plugin
from tb_profile_plugin.api import Capture
from tb_profile_plugin.export.frames.tables import TABLES
from tb_profile_plugin.export.sql import child
from tb_profile_plugin.export.sql import query as sql_query
from tb_profile_plugin.runtime.problems import ProblemError

TRACES = Path(__file__).resolve().parent.parent / "traces"
DOC = (Path(tb_profile_plugin.__file__).parent / "docs" / "sql.md").read_text(encoding="utf-8")
QUESTIONS = [each.strip() for each in re.findall(r"```sql\n(.*?)```", DOC, re.DOTALL)[0].split(";") if each.strip()]


@pytest.fixture
def gpu(tmp_path: Path) -> Capture:
    return draw.session(tmp_path, host=draw.space(draw.GPU, steps=4))


def run(*arguments: str, given: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tb_profile_plugin", "sql", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, input=given, encoding="utf-8")


def test_figures_are_those_of_the_frames() -> None:
    capture = tb_profile_plugin.open(TRACES / "two_workers")
    found = capture.sql(
        "SELECT host, sum(duration_ps)::BIGINT AS ps, count(*) AS n FROM steps GROUP BY host ORDER BY host"
    )
    steps = capture.steps().to_pandas()
    assert found["ps"].tolist() == steps.groupby("host", observed=True).duration_ps.sum().tolist()
    assert found["host"].tolist() == ["worker-0", "worker-1"] and found["n"].tolist() == [6, 6]
    assert capture.sql("SELECT count(*) AS n FROM events", "worker-1")["n"].tolist() == [
        len(capture.events("worker-1"))
    ]


def test_several_sessions_are_told_apart(tmp_path: Path) -> None:
    one, other = (draw.session(tmp_path / name, host=draw.space(draw.GPU, steps=n)) for name, n in (("a", 4), ("b", 2)))
    query = "SELECT session, count(*) AS n FROM steps GROUP BY session ORDER BY session"
    assert one.sql(query, also=[other]).records() == [{"session": "run (1)", "n": 4}, {"session": "run (2)", "n": 2}]
    assert one.sql(query).records() == [{"session": "run", "n": 4}]
    said = run(str(tmp_path / "a"), query, "--also", str(tmp_path / "b"), "--format", "csv").stdout
    assert said.splitlines() == ['"session","n"', '"run (1)",4', '"run (2)",2']


def test_all_tables_can_be_asked(gpu: Capture) -> None:
    query = " UNION ALL ".join(f"SELECT '{name}' AS name, count(*) AS n FROM {name}" for name in TABLES)
    counts = {row["name"]: row["n"] for row in gpu.sql(query).records()}
    assert counts == {name: len(getattr(gpu, name)()) for name in TABLES if name != "hosts"} | {"hosts": 1}
    assert gpu.sql("SELECT device, devices, events FROM hosts").records() == [
        {"device": "GPU", "devices": 1, "events": len(gpu.events())}
    ]
    joined = gpu.sql(
        "SELECT DISTINCT cause.name AS cause, effect.name AS effect, effect.op, text FROM arrows "
        "JOIN events cause ON cause.event = source JOIN events effect ON effect.event = target "
        "JOIN args ON args.event = target WHERE args.name = 'kernel_details'"
    )
    assert list(joined.rows()) == [("Launch", "gemm", "a", "regs:8 grid:1,1,1")]


def test_the_schema_tells_types() -> None:
    said = run("nowhere", "--schema").stdout
    typed = dict(line.split()[:2] for line in said.splitlines() if line.startswith("    "))
    assert typed["begin_ps"] == "BIGINT" and typed["real"] == "DOUBLE" and typed["text"] == "VARCHAR"
    connection = duckdb.connect()
    capture = tb_profile_plugin.open(TRACES / "jax_steps")
    for name in TABLES:
        for column, sort in (row[:2] for row in capture.sql(f"DESCRIBE {name}").rows()):
            assert re.search(rf"    {column} +{sort} ", said), (name, column, sort)
    connection.close()


def test_rows_become_parquet(tmp_path: Path) -> None:
    draw.session(tmp_path, host=draw.space(draw.GPU, steps=4))
    path = tmp_path / "it's.parquet"
    query = "SELECT name, launches, ms(total_ps) AS ms, tensor_core, occupancy_percent FROM kernels"
    done = run(str(tmp_path), query, "--format", "parquet", "--out", str(path))
    assert done.returncode == 0, done.stderr
    quoted = str(path).replace("'", "''")
    found = duckdb.connect().execute(f"SELECT * FROM '{quoted}'")
    assert found.fetchall() == [("gemm", 4, 0.32, None, None)]
    assert [str(column[1]) for column in found.description or ()][:3] == ["VARCHAR", "BIGINT", "DOUBLE"]
    assert run(str(tmp_path), query, "--format", "parquet").returncode == 2


@pytest.mark.parametrize("number", range(len(QUESTIONS)))
def test_the_documented_questions_run(gpu: Capture, number: int) -> None:
    assert len(gpu.sql(QUESTIONS[number]).columns) > 1


def test_gaps_are_found(gpu: Capture) -> None:
    gaps = gpu.sql(next(each for each in QUESTIONS if "Gaps" in each))
    assert gaps["gap_us"].tolist()[:3] == [980, 980, 980]


@pytest.mark.parametrize(
    "statement",
    [
        "COPY (SELECT 1) TO 'x.csv'",
        "ATTACH 'x.db'",
        "DETACH memory",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET memory_limit = '9GB'",
        "RESET memory_limit",
        "PRAGMA database_list",
        "CALL pragma_version()",
        "CREATE TABLE t (a INTEGER)",
        "CREATE MACRO f(x) AS x",
        "INSERT INTO steps VALUES (1)",
        "UPDATE steps SET number = 1",
        "DELETE FROM steps",
        "DROP VIEW steps",
        "ALTER TABLE steps RENAME TO t",
        "EXPORT DATABASE 'x'",
        "IMPORT DATABASE 'x'",
        "USE memory",
        "VACUUM",
        "CHECKPOINT",
        "BEGIN TRANSACTION",
        "PREPARE p AS SELECT 1",
        "EXECUTE p",
        "EXPLAIN SELECT 1",
        "EXPLAIN ANALYZE SELECT 1",
        "PIVOT steps ON host USING count(*)",
        "SELECT 1; SELECT 2",
        "SELECT 1; DROP VIEW steps",
        "",
        "-- nothing",
        "SELEC 1",
    ],
)
def test_statements_other_than_one_select_are_refused(statement: str) -> None:
    assert child._refusal(statement)


@pytest.mark.parametrize("statement", ["DROP VIEW steps", "SELECT 1; SELECT 2", "SELECT 1 /* " + "x" * 70_000 + " */"])
def test_what_is_refused_is_so_before_anything_is_made(statement: str) -> None:
    def made() -> None:
        raise AssertionError("a table was made")

    with pytest.raises(ProblemError) as told:
        sql_query.sql({"steps": made}, statement)  # type: ignore[dict-item]
    assert told.value.problem.code == "bad_query"


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM read_text('{path}')",
        "SELECT * FROM read_blob('{path}')",
        "SELECT * FROM read_csv('{path}')",
        "SELECT * FROM read_json('{path}')",
        "SELECT * FROM read_parquet('{path}')",
        "SELECT * FROM sniff_csv('{path}')",
        "SELECT * FROM glob('/*')",
        "FROM '{path}'",
        "SELECT * FROM 'https://example.com/x.csv'",
        "SELECT getenv('HOME')",
        "SELECT * FROM asked",
        "SELECT * FROM query('COPY (SELECT 1) TO ''x.csv''')",
        "SELECT * FROM pragma_storage_info('steps')",
        "SELECT write_log('x')",
        "SELECT * FROM sqlite_scan('{path}', 't')",
    ],
)
def test_a_query_reads_nothing_but_its_tables(tmp_path: Path, query: str) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("a\nhidden-away\n")
    try:
        found = repr(sql_query.sql({}, query.format(path=secret)).frame)
    except ProblemError as error:
        found = str(error)
    assert "hidden-away" not in found
    assert not re.search(r"Result: [1-9]", found) or "write_log" in query


def test_the_process_knows_no_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "hidden-away")
    started: list[dict[str, str]] = []
    popen = subprocess.Popen

    def recorded(*arguments: object, **named: object) -> subprocess.Popen[bytes]:
        started.append(named["env"])  # type: ignore[arg-type]
        return popen(*arguments, **named)  # type: ignore[call-overload]

    monkeypatch.setattr(subprocess, "Popen", recorded)
    assert sql_query.sql({}, "SELECT 1 AS one").frame["one"].tolist() == [1]
    assert "SECRET_TOKEN" not in started[0]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells what a process may")
def test_the_process_can_open_no_file() -> None:
    code = (
        "import duckdb\nfrom tb_profile_plugin.export.sql import child\nchild._limit_process(1 << 30, 5)\n"
        "try:\n    open('/etc/hostname')\nexcept OSError as error:\n    print(error.errno)\n"
        "try:\n    bytearray(1 << 31)\nexcept MemoryError:\n    print('memory')"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert said.stdout.split() == ["24", "memory"]


@pytest.mark.parametrize(
    ("query", "seconds"),
    [
        ("SELECT repeat('a', 2000000000)", 20),
        ("SELECT repeat(repeat('a', 1000000), 4000)", 20),
        ("SELECT list(range) FROM range(2000000000)", 20),
        ("SELECT count(*) FROM (SELECT DISTINCT range, hash(range) FROM range(3000000000))", 20),
        ("SELECT * FROM range(100000000) ORDER BY hash(range) DESC", 20),
        ("SELECT count(*) FROM range(10000000000000) a WHERE hash(a) = 7", 1),
        ("WITH RECURSIVE t AS (SELECT 1 AS x UNION ALL SELECT x + 1 FROM t) SELECT count(*) FROM t", 1),
    ],
)
def test_too_much_memory_or_time_ends_the_query(query: str, seconds: int) -> None:
    with pytest.raises(ProblemError) as told:
        sql_query.sql({}, query, seconds=seconds)
    assert told.value.problem.code in ("query_too_large", "query_too_long")


def test_a_process_that_does_not_end_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sql_query, "_GRACE_S", 0.0)
    with pytest.raises(ProblemError) as told:
        sql_query.sql({}, "SELECT count(*) FROM range(10000000000000) a WHERE hash(a) = 7", seconds=0.01)
    assert told.value.problem.code == "query_too_long"


def test_rows_are_bounded() -> None:
    found = sql_query.sql({}, "SELECT range AS n FROM range(100000)", rows=7)
    assert found.frame["n"].tolist() == list(range(7)) and found.is_cut and "cut after 7" in repr(found.frame)
    large = sql_query.sql({}, "SELECT repeat('a', 1000000) AS text FROM range(100)")
    assert large.is_cut and 0 < len(large.frame) <= 8


def test_values_have_types() -> None:
    query = (
        "SELECT 1 AS a, 2 AS a, 1.5 AS d, 170141183460469231731687303715884105727 AS h, NULL AS n, true AS b, "
        "[1, 2] AS l, 'nan'::DOUBLE AS x, DATE '2026-01-02' AS t"
    )
    found = sql_query.sql({}, query).frame
    assert found.columns == ["a", "a_1", "d", "h", "n", "b", "l", "x", "t"]
    assert next(found.rows()) == (1, 2, 1.5, str(2**127 - 1), None, True, "[1, 2]", None, "2026-01-02")


def test_verb(tmp_path: Path) -> None:
    draw.session(tmp_path, host=draw.space(draw.GPU, steps=4))
    logs = str(tmp_path)
    query = "SELECT name, launches, ms(total_ps) AS ms FROM kernels"
    assert run(logs, query).stdout == "Result: 1 row\nname  launches    ms\ngemm         4  0.32\n"
    assert json.loads(run(logs, "--format", "json", given=query).stdout) == [
        {"name": "gemm", "launches": 4, "ms": 0.32}
    ]
    assert run(logs, query, "--format", "csv").stdout == '"name","launches","ms"\r\n"gemm",4,0.32\r\n'.replace("\r", "")
    assert "| gemm | 4 | 0.32 |" in run(logs, query, "--format", "markdown").stdout
    cut = run(logs, "SELECT * FROM events", "--rows", "2")
    assert cut.returncode == 0 and "Only the first 2 rows" in cut.stderr
    assert run(logs, "DROP VIEW events").returncode == 2
    said = run(logs, "--schema").stdout
    assert all(f"{name}: " in said for name in TABLES) and "duration_ps" in said


def test_a_missing_duckdb_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sql_query, "find_spec", lambda name: None)
    with pytest.raises(ProblemError, match="tb-profile-plugin\\[sql\\]"):
        sql_query.sql({}, "SELECT 1")
