import re
from importlib import resources

from tb_profile_plugin.serve.app import ROUTES


def documented() -> dict[tuple[str, str], tuple[str, ...]]:
    text = resources.files("tb_profile_plugin").joinpath("docs/http.md").read_text(encoding="utf-8")
    parts = re.split(r"^### (GET|POST) (\S+)$", text, flags=re.MULTILINE)[1:]
    return {
        (method, path): tuple(re.findall(r"^- `(\w+)`:", body, flags=re.MULTILINE))
        for method, path, body in zip(parts[::3], parts[1::3], parts[2::3], strict=True)
    }


def test_every_route_and_parameter_is_documented() -> None:
    assert documented() == {(route.method, route.path): route.parameters for route in ROUTES}
