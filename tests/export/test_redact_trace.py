"""Redacted traces of PyTorch hold no word of their owner in any byte, and the same figures."""

import json
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import torchtrace
from figures import figures
from hypothesis import given, settings
from hypothesis import strategies as st
from torchtrace import BASE_NS, V100, frame, launch, mark, memory, on_device, op

import tb_profile_plugin
from tb_profile_plugin.cli import main
from tb_profile_plugin.export import redact_trace
from tb_profile_plugin.export.pseudonyms import Pseudonyms
from tb_profile_plugin.export.redact_trace import redacted
from tb_profile_plugin.tools import all_tools

TRACES = Path(__file__).resolve().parent.parent / "traces"
REAL = TRACES.parents[2] / "shared" / "profiles-kineto"
HOSTS = ("falcon-7_4711", "falcon-8_4711")

SECRETS = """
walrus puffin lemur alpaca zebu ibex okapi numbat vole 10.1.2.3 narwhal dugong tapir kudu bongo serval gibbon caracal
lynx agouti fossa civet tenrec quoll bilby coati jerboa potto margay ocelot kinkajou falcon dhole eland gaurus saiga
nilgai takin springbok gerenuk oryx addax sitatunga impala topi bushbuck heron marten
""".split()


def planted() -> str:
    """A secret in every place that may hold text, also in those that no one knows."""
    hidden: dict[str, Any] = {"walrus": "puffin", "Concrete Inputs": ["lemur"], "Input Dims": [[2, "alpaca"], [3]]}
    hidden |= {"Input type": ["float", "zebu"], "Call stack": "/home/ibex/okapi.py(3): numbat;/x/torch/vole.py(2): f"}
    hidden |= {"narwhal": {"dugong": [1]}, "Process Group Description": "tapir", "address": "10.1.2.3"}
    events = [
        mark("ProfilerStep#3", 0, 100),
        frame("/home/kudu/bongo.py(12): serval", 1, 90),
        frame("nn.Module: Gibbon_0", 2, 80),
        op("caracal::lynx", 10, 20, **hidden),
        op("aten::addmm", 31, 20),
        launch(1, 35),
        on_device(1, 40, 30, "agouti_kernel<fossa>", Collective="civet", **{"Collective name": "tenrec"}),
        memory(64, 50, 1, 64),
        {"ph": "M", "name": "thread_name", "pid": 7, "tid": 7, "args": {"name": "thread 7 (quoll)"}},
        {"ph": "M", "name": "bilby", "pid": "coati", "tid": "jerboa", "args": {"labels": "potto"}},
        {"ph": "X", "cat": "margay", "name": "ocelot", "pid": "kinkajou", "tid": "stream dhole", "ts": 60, "dur": 1},
        {"ph": "s", "cat": "eland", "name": "gaurus", "id": "saiga", "pid": 7, "tid": 7, "ts": 1},
        {"ph": "C", "name": "nilgai", "pid": 7, "ts": 5, "args": {"takin": 3}},
    ]
    header: dict[str, Any] = {"host_name": "falcon-7", "username": "springbok", "tw_job": {"a": "gerenuk"}}
    header |= {
        "deviceProperties": [V100 | {"name": "Tesla oryx", "addax": "sitatunga"}],
        "cuda_runtime_version": "impala",
    }
    header |= {"distributedInfo": {"rank": 0, "backend": "topi", "pg_config": [{"pg_name": "bushbuck"}]}}
    return torchtrace.text(*events, **header, traceName="/home/heron/x.json", INFO=["marten"])


def left(content: bytes, secrets: list[str]) -> list[str]:
    text = content.decode().casefold()
    text += json.dumps(json.loads(content), ensure_ascii=False).casefold()
    return [secret for secret in secrets if secret.casefold() in text]


def test_the_trace_holds_the_secrets() -> None:
    assert len(SECRETS) > 40
    assert sorted(left(planted().encode(), SECRETS)) == sorted(SECRETS)


@pytest.mark.parametrize("form", ["chrome", "perfetto", "xplane"])
def test_no_secret_is_left(tmp_path: Path, form: str) -> None:
    for host in HOSTS:
        (tmp_path / f"{host}.1.pt.trace.json").write_text(planted())
    out = tmp_path / "out"
    arguments = ["export", str(tmp_path), "--format", form, "--host", HOSTS[0], "--redact", "--out", str(out)]
    assert main.main(arguments) == 0
    content = out.read_bytes()
    text = content.decode("utf-8", "replace").casefold()
    assert [secret for secret in SECRETS if secret in text] == []
    assert [word for word in (b"ProfilerStep#3", b"aten::addmm") if word not in content] == []
    if form == "xplane":
        assert left(content, SECRETS) == []
        assert b'"host_name": "machine1' in content


@settings(max_examples=40)
@given(
    st.text(st.characters(codec="utf-8", categories=["L"]), min_size=6, max_size=12).filter(
        lambda text: not text.isascii()
    )
)
def test_words_that_nobody_knows_stay_nowhere(word: str) -> None:
    """Whatever stands in names, keys, values and members."""
    told: dict[str, Any] = {word: word, "dtype": word, "Call stack": f"{word}.py(3): {word}", "x": [word]}
    event = op(f"aten::{word}", 0, 5, **told)
    data = torchtrace.text(event, frame(f"{word}.py(3): {word}", 0, 9), **{word: word}).encode()
    content = redacted(data, "h", {"h": "host-1"}, Pseudonyms(b"key"))
    assert left(content, [word]) == []
    assert len(json.loads(content)["traceEvents"]) == 2


def test_times_and_numbers_stay_to_the_nanosecond() -> None:
    told: dict[str, Any] = {"External id": 2**53 + 1, "blocks per SM": 0.074074, "Input Dims": [[4, 2], []]}
    data = torchtrace.text(op("aten::mm", 4458676522709.059, 0.001, **told))
    (event,) = json.loads(redacted(data.encode(), "h", {"h": "host-1"}, Pseudonyms(b"key")))["traceEvents"]
    assert event["args"] == told
    assert (
        '"ts": 4458676522709.059, "dur": 0.001' in redacted(data.encode(), "h", {"h": "x"}, Pseudonyms(b"key")).decode()
    )
    assert json.loads(redacted(data.encode(), "h", {"h": "x"}, Pseudonyms(b"key")))["baseTimeNanoseconds"] == BASE_NS


@pytest.mark.parametrize("data", [b"", b"[]", b"{", b'{"traceEvents": [{"ph": "X", "name": "a', b'{"traceEvents": []}'])
def test_damage_leaves_json(data: bytes) -> None:
    assert json.loads(redacted(data, "h", {"h": "host-1"}, Pseudonyms(b"key")))["traceEvents"] == []


@pytest.mark.parametrize("arrows", [(0, 1), (2,), (0, 1, 2)])
def test_arrows_are_left_out_wherever_they_stand(monkeypatch: pytest.MonkeyPatch, arrows: tuple[int, ...]) -> None:
    """Events are written a few at once, of which all may be arrows."""
    monkeypatch.setattr(redact_trace, "_EVENTS_AT_ONCE", 2)
    events = [op(f"aten::op{number}", number, 1) for number in range(5)]
    for number in arrows:
        events[number] |= {"ph": "s", "cat": "ac2g", "id": number}
    content = redact_trace.redacted(torchtrace.text(*events).encode(), "h", {"h": "host-1"}, Pseudonyms(b"key"))
    assert len(json.loads(content)["traceEvents"]) == 5 - len(arrows)


FOLDERS = [*sorted(TRACES.glob("torch_*")), *(sorted(REAL.glob("*/")) if REAL.is_dir() else ())]


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
def test_figures_stay(folder: Path, tmp_path: Path) -> None:
    names = tb_profile_plugin.open(folder).hosts
    for number, host in enumerate(names, 1):
        out = tmp_path / f"host-{number}.pt.trace.json"
        arguments = ["export", str(folder), "--format", "xplane", "--host", host, "--redact", "--out", str(out)]
        assert main.main(arguments) == 0
    sessions = [tb_profile_plugin.open(each) for each in (folder, tmp_path)]
    for name, tool in all_tools().items():
        if tool.streamed:
            continue
        found: list[Counter[Any]] = [Counter(), Counter()]
        for session, numbers in zip(sessions, found, strict=True):
            with suppress(Exception):
                figures(session.answer(name), numbers)
        assert found[0] == found[1], name
