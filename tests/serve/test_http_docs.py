import re
from importlib import resources

from tb_profile_plugin.serve.routes import ROUTES


def documented() -> dict[str, tuple[str, ...]]:
    text = resources.files("tb_profile_plugin").joinpath("docs/http.md").read_text(encoding="utf-8")
    parts = re.split(r"^### GET (\S+)$", text, flags=re.MULTILINE)[1:]
    return {
        path: tuple(re.findall(r"^- `(\w+)`:", body, flags=re.MULTILINE))
        for path, body in zip(parts[::2], parts[1::2], strict=True)
    }


def test_every_route_and_parameter_is_documented() -> None:
    assert documented() == {route.path: route.parameters for route in ROUTES}
