"""The digest in a report is that of its session, and stands for it; hostile pages are answered with a sentence."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import digests
import draw
import pytest

import tb_profile_plugin
from tb_profile_plugin.analysis.digest import embedded
from tb_profile_plugin.analysis.digest.digest import digest
from tb_profile_plugin.analysis.digest.record import Digest
from tb_profile_plugin.api import Capture
from tb_profile_plugin.cli import main
from tb_profile_plugin.runtime.problems import ProblemError
from tb_profile_plugin.serve.report import report
from tb_profile_plugin.serve.responses import STATIC

TRACES = Path(__file__).resolve().parent.parent / "traces"
HOSTILE = "</script><!--\u2028&<script>alert(1)</script>"
CONFIG = '[tool.tb-profile.check]\n[[tool.tb-profile.check.budget]]\nmetric = "step"\nmax-change = "+900%"\n'
STEPS = [each * 10**7 for each in (100, 102, 98, 101, 99, 100, 103, 97, 100, 100)]

built = pytest.mark.skipif(not (STATIC / "report.js").is_file(), reason="the pages are not built")


def written(path: Path, session: Capture, as_is: bool) -> Path:
    path.write_text(report(session, as_is).html, encoding="utf-8")
    return path


@built
@pytest.mark.parametrize("name", ["jax_steps", "two_workers", "torch_workers"])
def test_a_report_holds_the_digest_of_its_session(tmp_path: Path, name: str) -> None:
    session = tb_profile_plugin.open(TRACES / name)
    known = digest(session)
    assert embedded.read(written(tmp_path / "r.html", session, as_is=True)).id == known.id
    redacted = embedded.read(written(tmp_path / "s.html", session, as_is=False))
    assert redacted.steps == known.steps and [each.sum_ps for each in redacted.parts] == [
        each.sum_ps for each in known.parts
    ]


@built
def test_verbs_take_reports_for_sessions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trace = TRACES / "jax_steps"
    page, config = written(tmp_path / "r.html", tb_profile_plugin.open(trace), True), tmp_path / "c.toml"
    assert main.main(["compare", str(page), str(trace), "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["step"]["change"] == 0 and found["matched"] == {"base": 1.0, "new": 1.0}
    config.write_text(CONFIG)
    assert main.main(["check", str(trace), "--baseline", str(page), "--config", str(config)]) == 0


@built
def test_a_capture_without_a_digest_still_has_a_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = written(tmp_path / "r.html", draw.session(tmp_path, host=draw.space("/host:CPU")), as_is=True)
    assert page.read_text(encoding="utf-8").count("<article") == 1


def test_other_verbs_say_what_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "r.html"
    path.write_text("<!doctype html>")
    assert main.main(["why", str(path)]) == 1
    assert "This is a report page, not a capture." in capsys.readouterr().err


def page_of(text: str) -> str:
    return f'<!doctype html><p>…</p><script type="application/json" id="digest">{text}</script>'


def with_(change: Callable[[dict[str, Any]], object]) -> str:
    """The page of a digest that somebody changed."""
    data = json.loads(digests.digest(STEPS, {"compute/dot": [5 * 10**8] * 10}).to_json())
    change(data)
    return page_of(json.dumps(data))


def test_names_do_not_end_the_element(tmp_path: Path) -> None:
    made = digests.digest(STEPS, {f"compute/{HOSTILE}": [5 * 10**8] * 10})
    element = embedded.element(made)
    assert element.count("<") == 2 and "\u2028" not in element
    path = tmp_path / "r.html"
    path.write_text(f"<!doctype html>{element}", encoding="utf-8")
    assert embedded.read(path).id == made.id


HOSTILE_PAGES = {
    "no digest": "<!doctype html>",
    "two": page_of("{}") * 2,
    "no end": page_of("{}").removesuffix("</script>"),
    "no JSON": page_of("nothing"),
    "no object": page_of("[1]"),
    "another kind": page_of('{"kind": "compare", "version": 1}'),
    "nothing in it": page_of('{"kind": "digest", "version": 1}'),
    "another version": with_(lambda data: data.update(version=99)),
    "very deep": page_of("[" * 200_000),
    "a very long number": page_of("9" * 10_000),
    "a text for a time": with_(lambda data: data["steps"]["ps"].__setitem__(0, "1")),
    "a fraction": with_(lambda data: data["steps"]["ps"].__setitem__(0, 0.5)),
    "no number at all": with_(lambda data: data["steps"]["ps"].__setitem__(0, float("nan"))),
    "true for a time": with_(lambda data: data["steps"]["ps"].__setitem__(0, True)),
    "a time below 0": with_(lambda data: data["steps"]["ps"].__setitem__(0, -1)),
    "an endless time": with_(lambda data: data["steps"]["ps"].__setitem__(0, 10**4000)),
    "columns of other lengths": with_(lambda data: data["steps"]["ps"].pop()),
    "steps of which none counts": with_(lambda data: data["steps"].update(reason=["cut"] * 10)),
    "a part that does not exist": with_(lambda data: data["parts"][0].update(id="__class__")),
    "an op of such a part": with_(lambda data: data["ops"][0].update(part="x")),
    "a field too many": with_(lambda data: data["ops"][0].update(more=1)),
    "a fact too few": with_(lambda data: data["facts"].pop("device")),
    "a fact of another type": with_(lambda data: data["facts"].update(levels=[1])),
    "very many ops": with_(lambda data: data.update(ops=data["ops"] * 10_000)),
}


@pytest.mark.parametrize("kind", HOSTILE_PAGES)
def test_hostile_pages_are_answered_with_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    path, good = tmp_path / "r.html", tmp_path / "good.json"
    path.write_text(HOSTILE_PAGES[kind], encoding="utf-8")
    good.write_text(digests.digest(STEPS).to_json())
    assert main.main(["compare", str(good), str(path)]) == 1
    said = capsys.readouterr()
    assert said.out == "" and "This" in said.err and "Traceback" not in said.err and len(said.err.splitlines()) == 1


def test_a_page_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "r.html"
    with path.open("wb") as file:
        file.truncate(300 << 20)
    with pytest.raises(ProblemError, match="too large"):
        embedded.read(path)


def test_what_is_left_as_it_is_reads_as_it_was() -> None:
    known = digest(tb_profile_plugin.open(TRACES / "keras_fit"))
    assert Digest.from_json(known.to_json()).id == known.id
