"""The verbs compare and check as they are called: exit codes, files, baselines, and what hostile names become."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import digests
import pytest
import xmlschema

from tb_profile_plugin.analysis.compare.side import side_of_digests
from tb_profile_plugin.analysis.digest.record import Digest
from tb_profile_plugin.budgets import baselines, interleave, output, quantity
from tb_profile_plugin.budgets.config import Budget
from tb_profile_plugin.budgets.decide import Outcome
from tb_profile_plugin.cli import main
from tb_profile_plugin.runtime.messages import translated, use_language
from tb_profile_plugin.runtime.problems import ProblemError

TRACES = Path(__file__).resolve().parent.parent / "traces"
JUNIT = xmlschema.XMLSchema(Path(__file__).parent / "junit.xsd")
TRACE = str(TRACES / "jax_steps")
A = [each * 10**7 for each in (100, 102, 98, 101, 99, 100, 103, 97, 100, 100)]
EXACT = (
    '[tool.tb-profile.check]\nbaseline = "perf"\n[[tool.tb-profile.check.budget]]\nmetric = "launches"\nmax = "{}"\n'
)
CHANGE = EXACT.format(9999) + '[[tool.tb-profile.check.budget]]\nmetric = "step"\nmax-change = "+3%"\n'


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "check.toml"
    path.write_text(EXACT.format(9999))
    return path


def quantity_text(folder: Path, name: str, by: int = 0, **facts: object) -> str:
    path = folder / f"{name}.json"
    path.write_text(digests.digest([each + by for each in A], **facts).to_json())  # type: ignore[arg-type]
    return str(path)


def check(*arguments: object) -> int:
    return main.main(["check", *map(str, arguments)])


def test_exit_codes(config: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert check(TRACE, "--config", config) == 0
    assert "✓ launches is" in capsys.readouterr().out
    config.write_text(EXACT.format(0))
    assert check(TRACE, "--config", config) == 3
    assert check(TRACE, "--config", tmp_path / "none.toml") == 2
    assert check(tmp_path / "nothing", "--config", config) == 1
    assert check("--config", config) == 2
    config.write_text(CHANGE)
    assert check(TRACE, "--config", config) == 4
    assert check(TRACE, "--config", config, "--missing-baseline", "pass") == 0
    assert check(TRACE, "--config", config, "--baseline", TRACE) == 0


def test_files(config: Path, tmp_path: Path) -> None:
    paths = {kind: tmp_path / f"out.{kind}" for kind in ("junit", "markdown", "json")}
    config.write_text(CHANGE.replace("9999", "0"))
    assert (
        check(TRACE, "--config", config, *(text for kind, path in paths.items() for text in (f"--{kind}", path))) == 3
    )
    JUNIT.validate(paths["junit"])
    (suite,) = ElementTree.parse(paths["junit"]).getroot()
    assert {key: suite.get(key) for key in ("tests", "failures", "skipped")} == {
        "tests": "2",
        "failures": "1",
        "skipped": "1",
    }
    assert [case.get("name") for case in suite.iter("testcase")] == ["1 launches", "2 step change"]
    assert [each.tag for case in suite.iter("testcase") for each in case] == ["failure", "skipped"]
    assert [each.get("name") for each in suite.iter("property")][:1] == ["1 launches: value"]
    assert "✗ broken | `launches`" in paths["markdown"].read_text()
    found = json.loads(paths["json"].read_text())
    assert found["exit_code"] == 3 and [each["state"] for each in found["budgets"]] == ["broken", "unjudged"]


def test_lines_for_github(
    config: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    summary = tmp_path / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    config.write_text(EXACT.format(0))
    assert check(TRACE, "--config", config, "--github") == 3
    assert "::error title=tb-profile%3A launches::launches is" in capsys.readouterr().out
    assert "1 broken" in summary.read_text()


def hostile() -> list[Outcome]:
    name = "op:]]></x>|`@all`\x00\x1b[2J\n::error title=x,y:z::\ud800%"
    return [Outcome(Budget(name), "broken", f"{name} is 3.", 3.0, 2.0, 4.0, 1.0, "time")]


def test_hostile_names_stay_names() -> None:
    (line,) = output.github(hostile())
    assert "\n" not in line and line.count("::") >= 2 and line.split("::")[1].startswith("error title=")
    assert "," not in line.split("::")[1] and "%0A" in line and line.endswith("%25 is 3.")
    JUNIT.validate(output.junit(hostile()).decode())
    tree = ElementTree.fromstring(output.junit(hostile()))
    assert tree.find("testsuite/testcase/failure") is not None
    shown = output.markdown(hostile(), "a-->b")
    assert "@all`" not in shown.replace("`op:", "") or "&#64;all" in shown
    assert shown.splitlines()[0] == "<!-- tb-profile:check-ab -->" and len(shown.splitlines()) == 6
    many = output.markdown([replace(each, text="@" * 9000) for each in hostile() * 3] + hostile() * 2000, "x")
    assert 50_000 < len(many) < 65_536 and many.endswith("|\n")
    assert "\x1b" not in output.text(hostile()) and len(output.text(hostile()).splitlines()) == 2


def test_states_and_shares_of_budgets_are_said_in_their_language() -> None:
    with use_language("ko"):
        assert "초과 |" in output.markdown(hostile(), "x")
        assert translated(quantity.quantity_text(-0.58, quantity.SHARE)) == "−58%"


def test_baselines_keep_ten_of_each_machine(tmp_path: Path) -> None:
    place = baselines.folder(tmp_path, "train")
    for i in range(12):
        baselines.write(place, [digests.digest([each + i for each in A], origin_ns=i)])
    baselines.write(place, [digests.digest(A, device="TPU")])
    mine, other = digests.digest(A), digests.digest(A, device="TPU")
    assert len(baselines.read(place, mine)) == 10 and len(baselines.read(place, other)) == 1
    assert [each.facts["origin_ns"] for _, each in baselines.read(place, mine)] == list(range(2, 12))
    assert baselines.write(place, [other]) == []
    (place / "notes.txt").write_text("mine")
    assert baselines.has_baselines(place) and not baselines.has_baselines(tmp_path / "none")
    for name in ("../up", "", "..", "a/b"):
        with pytest.raises(ProblemError):
            baselines.folder(tmp_path, name)


def test_a_baseline_is_made_used_and_guarded(config: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config.write_text(CHANGE)
    now = [quantity_text(tmp_path, f"now{i}", i) for i in range(3)]
    for path in now:
        assert check(path, "--config", config, "--update-baseline", "--missing-baseline", "pass") == 0
    assert len(list((tmp_path / "perf" / "default").iterdir())) == 3
    assert check(*now, "--config", config) == 0
    slower = [quantity_text(tmp_path, f"slow{i}", 10**8 + i) for i in range(3)]
    assert check(*slower, "--config", config, "--update-baseline") == 3
    assert "was not updated" in capsys.readouterr().err
    assert len(list((tmp_path / "perf" / "default").iterdir())) == 3
    assert check(*slower, "--config", config, "--update-baseline", "--force") == 3
    assert len(list((tmp_path / "perf" / "default").iterdir())) == 6
    other = quantity_text(tmp_path, "other", device="TPU")
    assert check(other, "--config", config) == 4
    assert "other machines" in capsys.readouterr().err


def test_baselines_without_names_still_match() -> None:
    told = {"compute/secret/dot": {"origin": "secret/dot", "source": "secret.py:1", "module": "secret"}}
    one = digests.digest(A, {"compute/secret/dot": A}, told, programs=[("secret", "aa")])
    hidden = baselines.without_names(one)
    assert "secret" not in hidden.to_json() and Digest.from_json(hidden.to_json()) == hidden
    from tb_profile_plugin.analysis.compare.engine import compare

    found = compare(side_of_digests([("a", hidden)]), side_of_digests([("b", baselines.without_names(one))]))
    assert found.matched_shares == (1.0, 1.0)


@pytest.mark.parametrize("name", ["jax_steps", "keras_fit", "starved_input", "tfdata", "two_workers"])
def test_captures_keep_the_budgets_to_begin_with(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The gate on our own captures, which are held against themselves."""
    capture, path, report = TRACES / name, tmp_path / "new.toml", tmp_path / "r.xml"
    assert check("--init", capture) == 0
    path.write_text(capsys.readouterr().out)
    assert check(capture, "--config", path, "--missing-baseline", "pass") == 0
    assert check(capture, "--config", path, "--baseline", capture, "--junit", report) == 0
    JUNIT.validate(report)
    cases = ElementTree.parse(report).getroot().iter("testcase")
    assert [case.find("failure") for case in cases].count(None) >= 4


def test_two_commands_by_turns(config: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Each copies a capture, the second one of other steps; who writes nothing is told."""
    config.write_text(CHANGE)
    script = tmp_path / "run.py"
    script.write_text(
        "import os, shutil, sys\n"
        f"shutil.copytree({TRACE!r}, os.path.join(sys.argv[1], 'logs'))\n"
        "assert os.environ['TB_PROFILE_LOGDIR'] == sys.argv[1]\n"
    )
    command = f"'{sys.executable}' '{script}' {{logdir}}"
    assert check("--ab", command, command, "--rounds", 2, "--config", config) == 0
    assert "Round 2 of 2" in capfd.readouterr().err
    assert check("--ab", f"'{sys.executable}' -c 'raise SystemExit(7)'", command, "--config", config) == 1
    assert "ended with exit code 7" in capfd.readouterr().err
    assert check("--ab", "no-such-program-at-all", command, "--config", config) == 1
    assert check("--ab", command, command, TRACE, "--config", config) == 2


def test_work_of_others_on_one_side_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 10 s of processors' time in each run the command has 4; the second run shares them with another program."""
    at = [
        interleave.Load(0, 0, 0),
        interleave.Load(4, 10, 4),
        interleave.Load(4, 10, 4),
        interleave.Load(13, 20, 8),
    ]
    told: list[str] = []

    def run(later: float) -> None:
        moments = iter([*at[:3], at[3]._replace(busy=later)])
        monkeypatch.setattr(interleave, "load_now", lambda: next(moments, None))
        commands = [f"'{sys.executable}' -c pass"] * 2
        told.clear()
        interleave.capture_folders(commands, 1, tmp_path / str(later), told.append)

    run(13)
    assert told[-1].startswith(
        "Other processes took 0% of the machine during the first command and 50% during the second"
    )
    run(8.5)
    assert not any("Other processes" in each for each in told)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells what processors do")
def test_own_work_is_not_that_of_others() -> None:
    before = interleave.load_now()
    subprocess.run([sys.executable, "-c", "sum(range(10**6))"], check=True)
    after = interleave.load_now()
    assert before and after and after.own > before.own and after.busy >= before.busy
    assert interleave.share_of_others(interleave.Load(0, 0, 0), interleave.Load(10, 20, 4)) == pytest.approx(0.3)
    assert interleave.share_of_others(None, after) is None and interleave.share_of_others(after, after) is None


def compare(*arguments: object) -> int:
    return main.main(["compare", *map(str, arguments)])


def test_compare_by_its_verb(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, other = quantity_text(tmp_path, "a"), quantity_text(tmp_path, "b", 10**8)
    assert compare(one, other) == 0
    out = capsys.readouterr().out
    assert out.startswith("Slower by 10 %") and "  why   Compute: 100 µs more" in out
    assert compare(one, other, "--format", "json") == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["kind"], found["version"], found["verdict"]["code"]) == ("compare", 1, "slower")
    assert found["sides"]["base"][0]["run"] == "a" and found["step"]["base"][0]["kept"] == 8
    assert sum(found["step"]["base"][0][key] for key in ("sum_ps",)) == sum(
        row["base_sums_ps"][0] for row in found["parts"]
    )
    assert compare("--base", one, "--new", other, "--format", "markdown", "--out", tmp_path / "c.md") == 0
    assert (tmp_path / "c.md").read_text().splitlines()[1].startswith("▲ **Slower by 10 %")
    assert compare(TRACE, f"{TRACE}#steps=0-4") == 0


def test_of_a_folder_of_runs_the_newest_is_taken_and_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for place, run in enumerate(("r1", "r2", "r3")):
        made = tmp_path / "logs" / "plugins" / "profile" / run
        shutil.copytree(next((TRACES / "jax_steps").rglob("*.xplane.pb*")).parent, made)
        for file in made.iterdir():
            os.utime(file, (10**9 + place, 10**9 + place))
    assert compare(TRACE, tmp_path / "logs") == 0
    said = f"{tmp_path / 'logs'} holds 3 sessions; only the newest, r3, is used. Name the run folders to use more."
    assert capsys.readouterr().err.splitlines() == [said]
    assert compare(TRACE, tmp_path / "logs" / "plugins" / "profile" / "r1") == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["a"],
        ["a", "b", "c"],
        ["--base", "a"],
        ["--new", "a"],
        ["a", "b", "--base", "c"],
        [f"{TRACE}#colour=3", TRACE],
    ],
)
def test_wrong_calls_of_compare(arguments: list[str]) -> None:
    assert compare(*arguments) == 2


@pytest.mark.parametrize(
    "arguments", ["--items A=x", "--items C=1", "--items A=0", "--items A=2,A=3", "--threshold many"]
)
def test_wrong_options_of_compare(arguments: str) -> None:
    with pytest.raises(SystemExit) as raised:
        compare("a", "b", *arguments.split())
    assert raised.value.code == 2


def test_why_is_told_beside_the_budgets(config: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config.write_text(CHANGE.replace("[[", 'threshold = "50%"\n[[', 1))
    one, other = quantity_text(tmp_path, "a"), quantity_text(tmp_path, "b", 10**8)
    paths = [text for kind in ("markdown", "json") for text in (f"--{kind}", tmp_path / kind)]
    assert check(other, "--baseline", one, "--config", config, *paths) == 0
    assert "Against the baseline: No relevant difference" in capsys.readouterr().out
    config.write_text(CHANGE)
    assert check(other, "--baseline", one, "--config", config, *paths) == 0
    assert "Against the baseline: Slower by 10 %" in capsys.readouterr().out
    assert "- Compute: 100 µs more" in (tmp_path / "markdown").read_text()
    assert json.loads((tmp_path / "json").read_text())["verdict"]["code"] == "slower"
    assert check(other, "--config", config, "--missing-baseline", "pass") == 0
    assert "Against" not in capsys.readouterr().out


@pytest.mark.parametrize("verb", [["compare", TRACE, TRACE], ["check", TRACE, "--baseline", TRACE, "--config"]])
def test_what_is_known_takes_nothing_that_decodes(verb: list[str], config: Path) -> None:
    """No time is measured: what takes it is not imported."""
    arguments = [*verb, str(config)] if verb[-1] == "--config" else verb
    config.write_text(CHANGE)
    main.main(arguments)
    program = (
        f"import sys; from tb_profile_plugin.cli.main import main; main({arguments!r}); print('numpy' in sys.modules)"
    )
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert said.stdout.splitlines()[-1] == "False"
