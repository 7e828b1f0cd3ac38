from pathlib import Path

import pytest
from werkzeug.test import Client

from tb_profile_plugin.serve import responses


@pytest.fixture
def pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    built = tmp_path / "built"
    (built / "static").mkdir(parents=True)
    (built / "index.html").write_text("<!doctype html>")
    (built / "index.js").write_text("export const x = 1;" * 200)
    (built / "static/chart-a_B-123x.js").write_text("1")
    (built / "static/odd.exe").write_text("1")
    (tmp_path / "secret.js").write_text("1")
    monkeypatch.setattr(responses, "STATIC", built)
    return built


def test_types_and_caching(client: Client, pages: Path) -> None:
    script = client.get("/index.js", headers={"Accept-Encoding": "gzip"})
    assert script.mimetype == "text/javascript"
    assert script.content_encoding == "gzip"
    assert script.headers["Cache-Control"] == "no-cache"
    again = client.get("/index.js", headers={"If-None-Match": script.headers["ETag"]})
    assert (again.status_code, again.data) == (304, b"")
    chunk = client.get("/static/chart-a_B-123x.js")
    assert "immutable" in chunk.headers["Cache-Control"]
    for response in [script, chunk, again]:
        assert response.headers["X-Content-Type-Options"] == "nosniff"


def test_the_page_allows_nothing_from_elsewhere(client: Client, pages: Path) -> None:
    for route in ["/", "/index.html"]:
        page = client.get(route)
        assert page.mimetype == "text/html"
        policy = page.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self';" in policy
        assert "http" not in policy


def test_a_rebuilt_file_is_served_anew(client: Client, pages: Path) -> None:
    client.get("/index.html")
    (pages / "index.html").write_text("<!doctype html><p>new")
    assert "new" in client.get("/").text


@pytest.mark.parametrize("name", ["odd.exe", "none.js", "../../secret.js", "%2e%2e/%2e%2e/secret.js", "a%00.js", ""])
def test_nothing_else_is_served(client: Client, pages: Path, name: str) -> None:
    assert client.get(f"/static/{name}").status_code == 404


def test_missing_pages_say_how_to_get_them(client: Client, pages: Path) -> None:
    (pages / "index.html").unlink()
    response = client.get("/")
    assert response.status_code == 500
    assert response.get_json()["code"] == "not_built"
