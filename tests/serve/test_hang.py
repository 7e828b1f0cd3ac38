"""The page of a hang: folders of the logdir with dumps are listed, and what they tell is shown."""

from pathlib import Path

import pytest
from planted_hangs import in_a_subgroup, missing
from werkzeug.test import Client

from tb_profile_plugin.serve.app import App
from tb_profile_plugin.store import Logdir


@pytest.fixture
def client(tmp_path: Path) -> Client:
    missing().write(tmp_path / "job7" / "dumps")
    for rank, dump in enumerate(sorted(in_a_subgroup().write(tmp_path / "all").iterdir())):
        (tmp_path / "job8" / f"rank{rank}").mkdir(parents=True)
        dump.rename(tmp_path / "job8" / f"rank{rank}" / dump.name)
    return Client(App(Logdir(str(tmp_path))))


def test_folders_with_dumps_are_listed_by_job(client: Client) -> None:
    assert client.get("/sessions").get_json()["found"]["dumps"] == ["job7/dumps", "job8"]


def test_the_page_says_who_never_came_and_where_it_was(client: Client) -> None:
    response = client.get("/hang?folder=job7/dumps")
    html = response.get_data(as_text=True)
    assert response.mimetype == "text/html" and "script" not in response.headers["Content-Security-Policy"]
    assert "<h1>Rank 3 never started all_reduce" in html
    assert '<td class="bad">missing</td>' in html and '<a href="./">Profiles</a>' in html
    assert "train.py" in html
    assert "Ranks 4" in client.get("/hang?folder=job8").get_data(as_text=True)


def test_the_page_speaks_the_language_that_is_asked_for(client: Client) -> None:
    html = client.get("/hang?folder=job7/dumps&lang=ko").get_data(as_text=True)
    assert 'lang="ko"' in html and '<td class="bad">없음</td>' in html


@pytest.mark.parametrize("folder", ["..", "/etc", "job7", "none"])
def test_no_other_folder_is_read(client: Client, folder: str) -> None:
    response = client.get("/hang", query_string={"folder": folder})
    assert (response.status_code, response.get_json()["code"]) == (404, "no_dumps")
