"""A digest that a page sends: compared, not kept, and refused where it comes from strangers or is none."""

import json
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import draw
import pytest
from werkzeug.test import Client, TestResponse

from tb_profile_plugin.analysis.compare.load import load, named_source
from tb_profile_plugin.serve import App
from tb_profile_plugin.store import Logdir
from tb_profile_plugin.store.result_cache import ResultCache

OURS = {"X-TB-Profile": "1"}
HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    for name, long in (("slow", 200), ("fast", 100)):
        run = tmp_path / "plugins" / "profile" / name
        run.mkdir(parents=True)
        steps = " ".join(f"train[{i * long},{long - i % 3}]{{_r=1, step_num={i}}}" for i in range(10))
        text = f"/host:CPU\n  python | {steps}\n         | Work[1,{long - 50}]"
        (run / "vm.xplane.pb").write_bytes(draw.space(text).SerializeToString())
    return tmp_path


@pytest.fixture
def client(runs: Path) -> Client:
    return Client(App(Logdir(str(runs)), keep=False))


def digest(runs: Path, name: str) -> str:
    return load(named_source(str(runs / "plugins" / "profile" / name)), ResultCache(False)).to_json()


def post(client: Client, body: str | bytes, sent: Mapping[str, str] = OURS, **query: str) -> TestResponse:
    return client.post("/compare", data=body, headers=dict(sent), query_string={"run": "slow"} | query)


def test_it_is_what_the_tool_says_of_the_session(client: Client, runs: Path) -> None:
    told = client.get("/answer", query_string={"run": "slow", "tag": "compare", "base": "fast"}).get_json()
    found = post(client, digest(runs, "fast"), name="fast").get_json()
    assert found == told and found["facts"]["code"]["value"] == "slower"
    back = post(client, digest(runs, "fast"), name=HOSTILE, side="new").get_json()
    assert back["facts"]["base"]["value"] == "slow"
    assert back["facts"]["base_ps"]["value"] == found["facts"]["new_ps"]["value"] > back["facts"]["new_ps"]["value"]
    assert post(client, digest(runs, "fast"), name=HOSTILE).get_json()["facts"]["base"]["value"] == HOSTILE


def test_two_files_are_both_sides(client: Client, runs: Path) -> None:
    """Whatever session is shown, or none."""
    slow, fast = digest(runs, "slow"), digest(runs, "fast")
    told = client.get("/answer", query_string={"run": "slow", "tag": "compare", "base": "fast"}).get_json()
    both = {"side": "both", "name": "fast", "new_name": "slow", "run": ""}
    assert post(client, f"[{fast},{slow}]", OURS, **both).get_json() == told
    back = post(client, f"[{slow},{fast}]", OURS, **both | {"name": HOSTILE, "new_items": "2"}).get_json()
    assert back["facts"]["base"]["value"] == HOSTILE and back["facts"]["code"]["value"] == "faster"
    assert 2 * back["facts"]["new_ps"]["value"] == told["facts"]["base_ps"]["value"]
    assert post(client, f'[{fast},{{"kind": 0}}]', OURS, **both).get_json()["where"] == "slow"
    for body in (fast, f"[{fast}]", f"[{fast},{slow},{fast}]", f"[{fast},7]", f"[{fast},null]"):
        assert post(client, body, OURS, **both).get_json()["code"] == "bad_digest"
    assert post(client, f"[{fast},{slow}]", {}, **both).status_code == 403


def test_digests_without_a_name_get_one_in_the_language_asked_for(client: Client, runs: Path) -> None:
    fast = digest(runs, "fast")
    both = f"[{fast},{digest(runs, 'slow')}]"
    for lang, base, file in (("", "the base", "the file"), ("ja", "基準側", "ファイル")):
        assert post(client, both, side="both", lang=lang).get_json()["facts"]["base"]["value"] == base
        assert post(client, fast, lang=lang).get_json()["facts"]["base"]["value"] == file


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ({}, "missing_header"),
        (OURS | {"Origin": "http://elsewhere"}, "foreign_origin"),
        (OURS | {"Sec-Fetch-Site": "cross-site"}, "foreign_origin"),
        (OURS | {"Sec-Fetch-Site": "none"}, "foreign_origin"),
    ],
)
def test_strangers_are_refused(client: Client, runs: Path, headers: dict[str, str], code: str) -> None:
    refused = post(client, digest(runs, "fast"), headers)
    assert (refused.status_code, refused.get_json()["code"]) == (403, code)


@pytest.mark.parametrize(
    ("body", "query", "told"),
    [
        (b"", {}, (400, "bad_digest")),
        (b"{}", {}, (400, "bad_digest")),
        (b"[" * 100_000, {}, (400, "bad_digest")),
        (b"\xff\xfe", {}, (400, "bad_digest")),
        (b" " * (1 << 20 | 1), {}, (413, "too_large")),
        (b"{}", {"side": "neither"}, (400, "bad_parameter")),
        (b"{}", {"side": "both"}, (400, "bad_digest")),
        (b"[{}, {}]", {"side": "both"}, (400, "bad_digest")),
        (b"[" * 100_000, {"side": "both"}, (400, "bad_digest")),
        (b"{}", {"run": "../../etc"}, (404, "unknown_run")),
        (b"{}", {"run": ""}, (400, "missing_parameter")),
    ],
)
def test_what_is_no_digest_is_told(
    client: Client, body: bytes, query: Mapping[str, str], told: tuple[int, str]
) -> None:
    refused = post(client, body, OURS, **query)
    assert (refused.status_code, refused.get_json()["code"]) == told


def test_only_what_is_sent_is_answered_and_nothing_by_get(client: Client, runs: Path) -> None:
    good = digest(runs, "fast")
    assert client.get("/compare?run=slow").status_code == 405
    assert post(client, good, host="nobody").status_code == 404
    assert post(client, good, steps="3-1x").get_json()["code"] == "bad_option"


def _changed(data: Any, rng: random.Random) -> Any:
    """The same with one value somewhere replaced by another of its kind, or any."""
    if isinstance(data, dict) and data:
        key = rng.choice(sorted(data))
        return data | {key: _changed(data[key], rng)}
    if isinstance(data, list) and data:
        place = rng.randrange(len(data))
        return [*data[:place], _changed(data[place], rng), *data[place + 1 :]]
    if isinstance(data, int) and rng.random() < 0.8:
        return rng.choice([0, 1, -1, 2**63, 2**127, data * 1000])
    if isinstance(data, str) and rng.random() < 0.8:
        return rng.choice(["", HOSTILE, "extreme", "compute", "a/" * 1000, "f32[" + "9," * 50 + "9]", "\u2028"])
    return rng.choice([None, "", [], {}, 1e300, True])


def test_digests_that_were_tampered_with_never_make_it_fail(client: Client, runs: Path) -> None:
    good, rng, codes = json.loads(digest(runs, "fast")), random.Random(4), []
    for _ in range(400):
        data = good
        for _ in range(rng.randrange(1, 6)):
            data = _changed(data, rng)
        codes.append(post(client, json.dumps(data)).status_code)
    assert {*codes} == {200, 400} and codes.count(200) > 50
