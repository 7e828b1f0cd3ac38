"""`tb-profile hang` names the planted fault: which ranks, which collective, and what they did instead."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hangs import WORLD, Job
from planted_hangs import PLANTED, all_but, crossed, in_a_subgroup, missing, no_send, other_type, planted

from tb_profile_plugin.cli import main

ROOT = Path(__file__).resolve().parents[1]


def said(folder: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, dict[str, Any]]:
    """The exit code and the answer as JSON."""
    code = main.main(["hang", str(folder), "--format", "json"])
    return code, json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("plant", "sort", "sentence", "culprits"), PLANTED, ids=lambda each: getattr(each, "__name__", "")
)
@pytest.mark.parametrize("name", ["nccl_trace_rank_{}", "nccl_trace_rank_{}.json", "comm_lib_trace_rank_{}.pkl"])
def test_the_planted_fault_is_told(
    plant: Callable[[], Job],
    sort: str,
    sentence: str,
    culprits: list[int],
    name: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, answer = said(plant().write(tmp_path, name=name), capsys)
    assert (code, answer["outcome"], answer["headline"]) == (3, "hang", sentence)
    cause = answer["causes"][0]
    assert (cause["sort"], cause["culprits"]) == (sort, culprits)
    assert len(sentence.split()) <= 20


def test_without_a_fault_nothing_is_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    job = Job(8, {"tp": (0, 1), "pp": (0, 4)}).run(5).run(2, "tp").send(0, 1, "pp").receive(1, 0, "pp")
    job.batch(2, ["send 2->3", "recv 2<-3"]).batch(3, ["recv 3<-2", "send 3->2"])
    code, answer = said(job.write(tmp_path), capsys)
    assert (code, answer["outcome"], answer["causes"]) == (0, "nothing", [])
    assert answer["headline"] == "No divergence is found: all ranks called the same operations, and none waits."


def test_other_shapes_of_as_many_elements_are_no_mismatch(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    job = Job(2).run(1).call("all_reduce", ranks=[0], shape=(4, 4)).call("all_reduce", ranks=[1], shape=(16,))
    assert said(job.write(tmp_path), capsys)[0] == 0


def test_one_rank_alone_may_pass_tensors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The root of a scatter passes all parts, that of a gather takes them."""
    job = Job(2).run(1)
    job.call("gather", ranks=[0], output=(8, 4)).call("gather", ranks=[1], output=(0,))
    job.call("scatter", ranks=[0], shape=(8, 4), output=(4, 4)).call("scatter", ranks=[1], shape=(0,), output=(4, 4))
    job.call("all_to_all", ranks=[0], shape=(10,), output=(6,)).call("all_to_all", ranks=[1], shape=(2,), output=(6,))
    assert said(job.write(tmp_path), capsys)[0] == 0


def test_what_follows_comes_after_its_cause(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answer = said(in_a_subgroup().write(tmp_path), capsys)[1]
    assert [(each["group"], each["culprits"], each["follows"]) for each in answer["causes"]] == [
        ("tp", [5], []),
        (WORLD, [4, 5], [0]),
    ]
    assert "Rank 4 waits in all_reduce 3 of group tp instead." in answer["details"]
    assert "Rank 5 called all_reduce 2 of group tp last, which completed." in answer["details"]


def test_ranks_that_wait_for_one_another_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, answer = said(crossed().write(tmp_path), capsys)
    assert (code, answer["headline"]) == (3, "Ranks 0-1 wait for one another in groups a and b.")
    assert "Rank 1 never started all_reduce 1 of group a; rank 0 waits in it." in answer["details"]
    assert "Rank 1 waits in all_reduce 1 of group b instead." in answer["details"]


def test_two_that_both_send_first_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    job = Job(2).run(1).send(0, 1, state="started").send(1, 0, state="started")
    code, answer = said(job.write(tmp_path), capsys)
    assert (code, answer["headline"]) == (3, "Ranks 0-1 wait for one another in group default_pg.")
    assert "Rank 1 never received from rank 0 in group default_pg; rank 0 waits in send 1." in answer["details"]


def test_a_part_of_a_batch_without_its_peer_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answer = said(no_send().write(tmp_path), capsys)[1]
    assert answer["causes"][0]["culprits"] == [1]
    assert answer["causes"][0]["sort"] == "no_peer"


@pytest.mark.parametrize("last", [1, 3, 5])
def test_what_was_overwritten_is_not_missing(last: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    job = Job(4, {"tp": (0, 1)}).run(1, "tp").run(10)
    code, answer = said(job.write(tmp_path, last=last), capsys)
    assert (code, answer["causes"]) == (0, [])
    job.call("all_reduce", state="started", ranks=[0, 1, 2])
    code, answer = said(job.write(tmp_path, last=last), capsys)
    assert (code, answer["causes"][0]["culprits"]) == (3, [3])


def test_of_active_entries_alone_the_status_tells_who_stopped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As `/fr_trace` asks for them: what is done is not among them."""
    code, answer = said(missing().write(tmp_path / "a", only_active=True), capsys)
    assert (code, answer["headline"]) == (3, PLANTED[0][2])
    job = Job(4).run(2).call("all_reduce", ranks=[1]).call("all_reduce", state="started", ranks=[0, 2, 3])
    answer = said(job.write(tmp_path / "b", only_active=True), capsys)[1]
    assert [each["sort"] for each in answer["causes"]] == ["all_wait"]
    assert answer["headline"] == "Ranks 0, 2-3 wait in all_reduce 5 of group default_pg; no call differs."


def test_a_rank_without_a_dump_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    job = Job(8).run(3).call("all_reduce", state="started")
    code, answer = said(job.write(tmp_path, without=[5]), capsys)
    assert code == 3 and answer["silent"] == [5]
    assert answer["headline"] == "Rank 5 left no dump; the other 7 ranks wait in all_reduce 7 of group default_pg."


def test_without_all_dumps_nothing_is_judged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, answer = said(Job(8).run(3).write(tmp_path, without=[5]), capsys)
    assert (code, answer["outcome"]) == (4, "not_judged")
    assert answer["details"] == ["Rank 5 left no dump that can be read."]


def test_dumps_of_different_moments_are_no_hang(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of a job that goes on: what all others completed, the rank has not recorded yet."""
    assert said(Job(4).run(3).call("all_reduce", ranks=[0, 1, 2]).write(tmp_path), capsys)[0] == 0


def test_groups_of_one_name_are_told_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As `split_group` makes them: the ranks of each have the same name for it."""
    job = Job(4, {"a": (0, 1), "b": (2, 3)}).run(1)
    job.names["b"] = job.names["a"]
    job.call("all_reduce", "a").call("all_reduce", "b").call("all_reduce", "b", state="started", ranks=[2])
    code, answer = said(job.write(tmp_path), capsys)
    assert (code, answer["causes"][0]["culprits"], answer["causes"][0]["waiting"]) == (3, [3], [2])


@pytest.mark.parametrize("seed", range(100))
def test_a_fault_at_any_place_is_found(seed: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    job, fault, group, culprit = planted(seed)
    code, answer = said(job.write(tmp_path), capsys)
    assert code == 3
    first = answer["causes"][0]
    assert (first["sort"], first["group"], first["culprits"]) == (fault, group, [culprit])
    assert answer["headline"].startswith(f"Rank {culprit} ") and len(answer["headline"].split()) <= 20


@pytest.mark.parametrize(
    ("kinds", "words"),
    [
        (
            ["reduce", "broadcast", "all_reduce"],
            "Rank 2 skipped all_reduce 5; what follows agrees with the other ranks again.",
        ),
        (
            ["broadcast", "all_reduce"],
            "Rank 2 skipped all_reduce 5 to reduce 6; what follows agrees with the other ranks again.",
        ),
        (
            ["barrier", "all_reduce", "reduce"],
            "Rank 2 also called barrier 5; what follows agrees with the other ranks again.",
        ),
        (["scatter"], ""),
        (["broadcast"], ""),
    ],
)
def test_a_collective_too_few_or_too_many_is_told(
    kinds: list[str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One that agrees by chance does not do."""
    job = Job(4).run(2)
    for kind in ("all_reduce", "reduce", "broadcast", "all_reduce"):
        job.call(kind, state="started", ranks=[0, 1, 3])
    for kind in kinds:
        job.call(kind, state="started", ranks=[2])
    answer = said(job.write(tmp_path), capsys)[1]
    assert answer["causes"][0]["culprits"] == [2]
    assert [each for each in answer["details"] if "again" in each] == ([words] if words else [])


def test_recorders_that_kept_nothing_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, answer = said(Job(2).write(tmp_path), capsys)
    assert (code, answer["headline"]) == (
        4,
        "No rank recorded an operation. Set TORCH_FR_BUFFER_SIZE=2000, and run again.",
    )


def test_the_text_has_table_stack_and_profiles(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    missing().write(tmp_path)
    shutil.copytree(ROOT / "traces/torch_workers", tmp_path / "profiles")
    assert main.main(["hang", str(tmp_path)]) == 3
    assert capsys.readouterr().out == (
        "Rank 3 never started all_reduce 7 of group default_pg; the other 7 ranks wait in it.\n"
        "  Rank 3 called all_reduce 6 of group default_pg last, which completed.\n"
        "\n"
        "Group default_pg, 8 ranks\n"
        "  ranks     4           5                 6           7\n"
        "            all_reduce  _all_gather_base  all_reduce  all_reduce\n"
        "  0-2, 4-7  completed   completed         completed   started\n"
        "  3         completed   completed         completed   missing\n"
        "\n"
        "Rank 3 called all_reduce 6 of group default_pg from:\n"
        "  torch/distributed/distributed_c10d.py:3245 in all_reduce\n"
        "  train.py:15 in step\n"
        "\n"
        f"The folder also holds profiles. Open them: tb-profile serve {tmp_path}\n"
    )


def test_what_follows_in_many_groups_is_cut(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    job = Job(40, {f"g{at}": (0, at) for at in range(1, 40)}).run(1)
    for at in range(1, 40):
        job.call("all_reduce", f"g{at}", state="started", ranks=[at])
    folder = job.write(tmp_path)
    assert main.main(["hang", str(folder)]) == 3
    lines = capsys.readouterr().out.splitlines()
    assert "more sentences; --format json lists all." in lines[13] and len(lines) < 80
    assert len(said(folder, capsys)[1]["details"]) > 38


def test_markdown_goes_into_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, out = other_type().write(tmp_path / "dumps"), tmp_path / "hang.md"
    assert main.main(["hang", str(folder), "--format", "markdown", "--out", str(out)]) == 3
    text = out.read_text(encoding="utf-8")
    assert text.startswith("**Rank 6 called broadcast as operation 5 of group")
    assert "| 6 | completed | completed | completed | broadcast started |" in text
    assert "1. `train.py:14 in step`" in text


def test_the_page_holds_it_all_and_runs_nothing(tmp_path: Path) -> None:
    job = Job(8, {"<script>alert(1)</script>": range(8)}).run(2)
    job.call("all_reduce", "<script>alert(1)</script>", state="started", ranks=all_but(3))
    out = tmp_path / "hang.html"
    assert main.main(["hang", str(job.write(tmp_path / "dumps")), "--format", "html", "--out", str(out)]) == 3
    text = out.read_text(encoding="utf-8")
    assert "<script" not in text and "default-src 'none'" in text
    group = "&lt;script&gt;alert(1)&lt;/script&gt;"
    assert f"<h1>Rank 3 never started all_reduce 1 of group {group}; the other 7 ranks wait in it.</h1>" in text
    assert '<tr><th scope="row">3</th><td class="bad">missing</td></tr>' in text
    assert "<li>train.py:13 in step</li>" in text


def test_who_left_what_is_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answer = said(missing().write(tmp_path), capsys)[1]
    assert [each["rank"] for each in answer["ranks"]] == list(range(8))
    assert answer["ranks"][3]["at"] == {"group": WORLD, "operation": "all_reduce 6", "state": "completed"}
    assert answer["ranks"][0]["at"]["state"] == "started"
    assert answer["groups"][0]["rows"][1] == {"ranks": [3], "cells": ["completed"] * 3 + ["missing"]}
