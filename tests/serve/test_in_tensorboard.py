"""A real TensorBoard with this plugin among whatever else is installed answers with figures."""

import json
import sys
import urllib.request
from pathlib import Path
from urllib.parse import urlencode

from tensorboards import started

from tb_profile_plugin import plugin

TRACES = Path(__file__).resolve().parent.parent / "traces"


def test_the_overview_of_a_real_capture() -> None:
    name = plugin.OTHER_NAME if plugin._other_profile_plugin() else plugin.NAME
    query = urlencode({"run": "keras_fit/run", "tag": "overview_page"})
    with started(sys.executable, TRACES) as (address, _):
        with urllib.request.urlopen(f"{address}data/plugin/{name}/data?{query}", timeout=300) as answer:
            tables = json.load(answer)
    assert int(tables[7]["p"]["steps_complete"]) > 0


def test_one_entry_and_that_before_the_first_capture(tmp_path: Path) -> None:
    with started(sys.executable, tmp_path) as (address, _):
        with urllib.request.urlopen(f"{address}data/plugins_listing", timeout=300) as answer:
            listing = json.load(answer)
    profiles = {name: told["enabled"] for name, told in listing.items() if "profile" in name}
    assert "profile_redirect" not in profiles
    assert all(enabled for name, enabled in profiles.items() if name in (plugin.NAME, plugin.OTHER_NAME))
