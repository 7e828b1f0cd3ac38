"""What helps beside the remedies of causes stands in every form of the diagnosis, as on its page."""

import json
from pathlib import Path

import pytest
from simulated import written
from simulated.machine import captured, period
from simulated.programs import COMPUTE, Launch, Program, Python, Read

import tb_profile_plugin
from tb_profile_plugin.api import Capture
from tb_profile_plugin.export.report import why
from tb_profile_plugin.export.report.summary import markdown

READ_LESS = "Read results (.item(), .cpu(), print) every N steps."
PROGRAM = Program("planted", (Launch(COMPUTE, 5000, "gemm"), Read(COMPUTE), Python(900, "train.py(3): log")))


@pytest.fixture
def capture(tmp_path: Path) -> Capture:
    events = written.torch_events(PROGRAM, captured(PROGRAM))
    (tmp_path / "host.pt.trace.json").write_text(json.dumps({"traceEvents": events}))
    return tb_profile_plugin.open(tmp_path)


def test_reading_less_is_said_beside_the_causes(capture: Capture) -> None:
    answer = capture.answer("why")
    (advice,) = why.as_json(answer)["advice"]
    saves_ps = (period(PROGRAM) - period(PROGRAM, {"read": 0})) * 1e6
    assert advice["id"] == "sync" and advice["text"] == READ_LESS
    assert advice["gain_ps"] == pytest.approx(saves_ps, rel=0.05)
    *_, title, remedy, evidence = why.text(answer).splitlines()
    assert (title, remedy) == ("Other advice", f"  → {READ_LESS}")
    assert evidence.startswith("    The host waits for results") and evidence.endswith(" µs.")
    assert READ_LESS in why.markdown(answer)


def test_a_summary_says_it_too(capture: Capture) -> None:
    page = capture.summary().data
    assert [row["text"] for row in page["advice"]] == [READ_LESS]
    text = markdown(page)
    assert text.index("### Other advice") < text.index(READ_LESS) < text.index("### Ops by self time")
    # As summaries of version 0.2.0 are.
    del page["advice"]
    assert READ_LESS not in markdown(page)


def test_a_remedy_of_a_cause_is_not_said_again(capture: Capture) -> None:
    causes = why.as_json(capture.answer("why"))["causes"]
    assert READ_LESS not in {cause["remedy"]["text"] for cause in causes}
    assert why.text(capture.answer("why")).count("→ ") == len(causes) + 1
