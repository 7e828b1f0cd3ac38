"""One file for a colleague: what is in it is what the server answers, redacted, bounded, and text."""

import base64
import gzip
import hashlib
import json
import re
import subprocess
import sys
from html import unescape
from pathlib import Path
from typing import Any

import draw
import drawn
import pytest
from werkzeug.test import Client

import tb_profile_plugin
from tb_profile_plugin.api import Capture
from tb_profile_plugin.cli import main
from tb_profile_plugin.export.report import page
from tb_profile_plugin.export.report.html import style
from tb_profile_plugin.runtime.problems import ProblemError
from tb_profile_plugin.serve import App
from tb_profile_plugin.serve import report as reports
from tb_profile_plugin.serve.report import report
from tb_profile_plugin.serve.responses import STATIC
from tb_profile_plugin.store import Logdir

TRACES = Path(__file__).resolve().parent.parent / "traces"
pytestmark = pytest.mark.skipif(not (STATIC / "report.js").is_file(), reason="the pages are not built")
SECRET = "Zebrafinch"


def held(html: str) -> dict[str, Any]:
    packed = re.search(r'id="answers"[^>]*>([\w+/=]*)</script>', html)
    assert packed
    found: dict[str, Any] = json.loads(gzip.decompress(base64.b64decode(packed[1])))
    return found


def test_figures_go_over_the_chosen_steps() -> None:
    session = tb_profile_plugin.open(TRACES / "keras_fit")
    html = report(session, as_is=True, steps="10-12").html
    assert re.search(r'id="answers" data-steps="10-12"', html)
    answers = {tuple(map(tuple, json.loads(key)[1])): answer for key, answer in held(html).items() if '"answer"' in key}
    by_steps = {dict(query).get("steps"): answer for query, answer in answers.items() if ("tag", "why") in query}
    assert [*by_steps] == ["10-12"]
    assert by_steps["10-12"]["facts"] == session.answer("why", steps="10-12")["facts"] != session.answer("why")["facts"]
    with pytest.raises(ProblemError, match="not a choice of steps"):
        report(session, as_is=True, steps="some")


@pytest.mark.parametrize("redact", ["0", "1"])
def test_the_chosen_window_of_the_timeline_is_drawn(tmp_path: Path, redact: str) -> None:
    for at, host in enumerate(("early", "late")):
        ops = " ".join(f"MatMul:MatMul[{100 * op},40]" for op in range(4))
        draw.session(tmp_path, **{host: draw.space(f"/host:CPU\n  main | step[{50 * at},500]\n  ops | {ops}")})
    client = Client(App(Logdir(str(tmp_path))))
    asked = {"run": "run", "redact": redact, "begin": str(90_000_000), "end": str(150_000_000)}
    html = client.get("/share/report", query_string=asked).get_data(as_text=True)
    (drawn_window,) = re.findall(r'<article class="still window">.*?</article>', html, re.DOTALL)
    assert "Timeline from 90.0 µs to 150 µs" in drawn_window
    assert drawn_window.count("<svg") == 2 and drawn_window.count(">MatMul") == 2
    assert re.findall("<h3>(.*?)</h3>", drawn_window) == (["early", "late"] if redact == "0" else ["host-1", "host-2"])
    assert "still window" not in client.get("/share/report", query_string={"run": "run"}).get_data(as_text=True)
    asked |= {"begin": "700000000", "end": "800000000", "host": "early"}
    assert "Nothing was recorded then." in client.get("/share/report", query_string=asked).get_data(as_text=True)


def secret(folder: Path) -> Capture:
    """A session that tells much about where it comes from."""
    text = f"""
/host:CPU {{path='/home/{SECRET}/train.py'}}
  {SECRET}-thread/7 | train[0,90]{{_r=1, step_num=s}}
                    | model/{SECRET}/MatMul:MatMul[10,30]{{source='/home/{SECRET}/m.py:7'}}
hostname: {SECRET}-gpu.example.com
"""
    return draw.session(folder, **{f"{SECRET}-host": draw.space(text, steps=4, every=100)})


def test_answers_are_those_of_the_server() -> None:
    session = tb_profile_plugin.open(TRACES / "starved_input")
    found = held(report(session, as_is=True).html)
    run = found['["sessions",[]]']["sessions"][0]["run"]
    for name in ("overview_page", "why", "tf_data_bottleneck_analysis"):
        key = json.dumps(
            ["answer", [["host", "ALL_HOSTS"], ["part", "1"], ["run", run], ["tag", name]]], separators=(",", ":")
        )
        assert found[key]["facts"] == session.answer(name)["facts"]
        assert found[key]["tables"].keys() == session.answer(name)["tables"].keys()


def test_it_tells_nothing_about_where_it_comes_from(tmp_path: Path) -> None:
    made = report(secret(tmp_path))
    answers = json.dumps(held(made.html))
    for text in (made.html, answers):
        assert SECRET.lower() not in text.lower() and str(tmp_path) not in text
        assert "tb-profile-report-" not in text, "nor where it was made"
    assert "MatMul" in made.html and "host-1" in answers


def test_as_it_is_is_asked_for(tmp_path: Path) -> None:
    assert SECRET in report(secret(tmp_path), as_is=True).html


def test_traces_in_json_are_redacted_too() -> None:
    session = tb_profile_plugin.open(TRACES / "torch_workers")
    for as_is, hosts in ((False, ["host-1", "host-2"]), (True, list(session.hosts))):
        made = report(session, as_is)
        assert "Summary" in made.titles
        assert held(made.html)['["sessions",[]]']["sessions"][0]["hosts"] == hosts


def test_a_key_stays_with_who_sends_the_report(tmp_path: Path) -> None:
    session = secret(tmp_path)
    out, key = tmp_path / "r.html", tmp_path / "key.json"
    assert main.main(["report", str(session.stored.folder), "--out", str(out), "--key", str(key)]) == 0
    assert SECRET in key.read_text()
    assert SECRET not in out.read_text() + json.dumps(held(out.read_text()))
    assert key.name not in out.read_text()
    assert main.main(["report", str(session.stored.folder), "--out", str(out), "--key", str(key), "--as-is"]) == 2


def test_pages_are_listed_in_the_language_that_is_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "r.html"
    assert main.main(["report", str(TRACES / "jax_steps"), "--out", str(out), "--lang", "ja"]) == 0
    assert re.search("ページ: サマリー、.*。", capsys.readouterr().out)


def test_what_cannot_be_redacted_is_given_only_as_it_is(tmp_path: Path) -> None:
    session = draw.session(tmp_path, host=draw.space(draw.GPU, steps=4).SerializeToString()[:-5])
    with pytest.raises(ProblemError, match="damaged capture cannot be redacted"):
        report(session)
    assert "Summary" in report(session, as_is=True).titles


def test_no_name_ends_its_element(tmp_path: Path) -> None:
    drawn = draw.space(
        "/host:CPU\n  python | train[0,90]{_r=1} evil[10,30]{hlo_op=x, hlo_module=m}", steps=3, every=100
    )
    hostile = "</script><script>alert(1)</script><!--<img src=x onerror=alert(1)>"
    for event in drawn.planes[0].lines[0].events:
        for stat in event.stats:
            stat.str_value = stat.str_value and hostile
    html = report(draw.session(tmp_path, host=drawn), as_is=True).html
    assert html.count("<script") == html.count("</script>") == 3
    assert "<img" not in html and "&lt;img src=x" in html


def test_the_notices_of_what_is_bundled_go_along() -> None:
    html = report(tb_profile_plugin.open(TRACES / "keras_one_batch")).html
    notices = re.search(r"<!--(.*?)-->\n<script>", html, re.DOTALL)
    assert notices and (STATIC / "report.notices.txt").read_text(encoding="utf-8") in unescape(notices[1])
    assert "Apache ECharts" in notices[1]


def test_only_our_script_may_run() -> None:
    html = report(tb_profile_plugin.open(TRACES / "keras_one_batch")).html
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', html)
    script = re.search(r"<script>(.*)</script></body>", html, re.DOTALL)
    assert policy and script
    digest = base64.b64encode(hashlib.sha256(script[1].encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy[1] and "default-src 'none'" in policy[1]
    with pytest.raises(ProblemError):
        page.page({}, page.Cover(), "a</SCRIPT>", b"")


def test_title_notes_date_and_versions_stand_above_the_figures(tmp_path: Path) -> None:
    text = "Task Environment {profile_start_time=1771595660705918620u}"
    session = draw.session(tmp_path, host=draw.space(draw.GPU + text, steps=4))
    made = report(session, title="<Before>", notes="Batch 8\n& no cache\n").html
    told = made.partition('<article class="still">')[2].partition("</article>")[0]
    assert "<title>&lt;Before&gt;</title>" in made and "<h1>&lt;Before&gt;</h1>" in told
    assert '<p class="notes">Batch 8\n&amp; no cache</p>' in told and told.index("notes") < told.index("Figures")
    assert "Captured on 2026-02-20 13:54 UTC" in told


def test_words_are_not_torn_in_print() -> None:
    """Only names, which have no end, may break anywhere: where all may, columns become narrower than their words."""
    css = style("report.css")
    still = re.search(r"\.still \{([^}]*)\}", css)
    assert still and "anywhere" not in still[1] and "@page" in css


def test_its_size_is_bounded_and_what_is_missing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    session = tb_profile_plugin.open(TRACES / "starved_input")
    small = report(session, most_bytes=10_000)
    assert small.left_out and {"Summary"} <= set(small.titles)
    tools = held(small.html)[next(key for key in held(small.html) if key.startswith('["tools"'))]
    assert not set(small.left_out) & {tool["title"] for tool in tools}
    monkeypatch.setattr(reports, "_MOST_ROWS", 3)
    found = next(value for key, value in held(report(session).html).items() if "framework_op_stats" in key)
    assert found["tables"]["ops"]["rows"] == len(found["tables"]["ops"]["columns"][0]["values"]) == 3
    assert any(note["code"] == "cut_in_report" for note in found["notes"])


def test_the_verb_says_how_large_it_is_and_what_it_holds(tmp_path: Path) -> None:
    out = tmp_path / "r.html"
    command = [
        sys.executable,
        "-m",
        "tb_profile_plugin",
        "report",
        str(TRACES / "starved_input"),
        "--out",
        str(out),
    ]
    said = subprocess.run(command, capture_output=True, text=True, check=False)
    assert said.returncode == 0 and re.search(r"\d\.\d MB\. Redacted\. Pages: Summary", said.stdout)
    assert out.read_text(encoding="utf-8").startswith("<!doctype html>")
    large = subprocess.run([*command, "--max-size", "9K"], capture_output=True, text=True, check=False)
    assert "Left out because of their size" in large.stderr


def test_a_capture_without_anything_is_told(tmp_path: Path) -> None:
    made = report(draw.session(tmp_path, host=draw.space("/host:CPU")))
    heading = re.search(r"<h1>(.*)</h1>", made.html)
    assert heading and "no event" in heading[1]


def test_flame_graphs_are_in_it_by_each_weight_and_inverted(tmp_path: Path) -> None:
    draw.session(tmp_path, host=drawn.tpu())
    answers = held(report(tb_profile_plugin.open(tmp_path), as_is=True).html)
    questions = [dict(json.loads(key)[1]) for key in answers if key.startswith('["calls"')]
    assert {(asked["tag"], asked["table"]) for asked in questions} == {
        ("op_profile", "nodes"),
        ("memory_profile", "held"),
    }
    ways = {(asked.get("weight"), asked.get("inverted")) for asked in questions if asked["tag"] == "op_profile"}
    assert {(None, None), (None, "1"), ("wasted", None), ("wasted", "1")} == ways


def test_a_typical_step_is_drawn() -> None:
    html = report(tb_profile_plugin.open(TRACES / "two_workers")).html
    picture = re.search(r"<h2>A typical step: train \d+, host-1</h2><svg class=\"lanes\".*?</svg>", html, re.DOTALL)
    assert picture and picture[0].count("<rect") > 20 and len(picture[0]) < 300_000


def test_python_writes_it_too(tmp_path: Path) -> None:
    tb_profile_plugin.open(TRACES / "keras_one_batch").report(tmp_path / "r.html")
    assert "<article" in (tmp_path / "r.html").read_text(encoding="utf-8")


def step(length: int) -> Any:
    text = f"""
/host:CPU
  {SECRET}-thread/7 | train[0,{length}]{{_r=1, step_num=s}}
                    | model/{SECRET}/MatMul:MatMul[1,{length - 2}]
"""
    return draw.space(text, steps=6, every=length)


@pytest.fixture
def both(tmp_path: Path) -> tuple[Capture, Capture]:
    """A session, and one from before in which an op took longer."""
    return draw.session(tmp_path / "new", h=step(40)), draw.session(tmp_path / "old", h=step(80))


def test_before_and_after_are_in_one_report(both: tuple[Capture, Capture]) -> None:
    session, base = both
    made = report(session, base=base)
    found = held(made.html)
    assert [each["run"] for each in found['["sessions",[]]']["sessions"]] == ["session", "base"]
    assert 'id="answers" data-base="base"' in made.html and "Comparison" in made.titles
    assert SECRET.lower() not in made.html.lower() + json.dumps(found).lower()
    for run, other in (("session", "base"), ("base", "session")):
        for against in ({}, {"base": other}):
            for name in ("overview_page", "why", "compare"):
                query = {"host": "ALL_HOSTS", "part": "1", "run": run, "tag": name} | against
                assert json.dumps(["answer", sorted(query.items())], separators=(",", ":")) in found
    pairs = [["base", "base"], ["host", "ALL_HOSTS"], ["part", "1"], ["run", "session"], ["tag", "compare"]]
    compared = found[json.dumps(["answer", pairs], separators=(",", ":"))]
    assert compared["headline"]["text"].startswith("Inconclusive: −50 %")
    # Redacted with the same words, the op is one op on both sides.
    ops = {column["id"]: column["values"] for column in compared["tables"]["ops"]["columns"]}
    assert [name for name in ops["name"] if "MatMul" in name and "→" not in name]


def test_what_changed_is_read_without_scripts(both: tuple[Capture, Capture]) -> None:
    still = re.search(r'<article class="still">(.*?)</article>', report(both[0], base=both[1]).html, re.DOTALL)
    assert still
    text = " ".join(unescape(re.sub(r"<[^>]*>", " ", still[1])).split())
    assert "Before and after Inconclusive: −50 %" in text and "Before: base. After: session." in text
    assert "Step 80.0 µs 40.0 µs −40.0 µs" in text
    assert "Before and after" not in report(both[0]).html


def test_as_they_are_both_keep_their_names(both: tuple[Capture, Capture]) -> None:
    found = held(report(both[0], as_is=True, base=both[1]).html)
    first, second = (each["run"] for each in found['["sessions",[]]']["sessions"])
    assert first == both[0].name.rpartition("/")[2] and second == f"base/{both[1].name.rpartition('/')[2]}"


def test_a_session_is_no_base_of_its_own(both: tuple[Capture, Capture]) -> None:
    with pytest.raises(ProblemError, match="The base is this session itself"):
        report(both[0], base=both[0])


def test_the_command_takes_a_base_and_one_key_for_both(both: tuple[Capture, Capture], tmp_path: Path) -> None:
    out, key = tmp_path / "r.html", tmp_path / "key.json"
    new, old = (str(each.stored.folder) for each in both)
    assert main.main(["report", new, "--base", old, "--out", str(out), "--key", str(key)]) == 0
    assert 'data-base="base"' in out.read_text(encoding="utf-8")
    names = json.loads(key.read_text())
    assert sum(text == SECRET for text in names.values()) == 1 and SECRET not in out.read_text(encoding="utf-8")
    both[0].report(out, base=old)
    assert 'data-base="base"' in out.read_text(encoding="utf-8")
