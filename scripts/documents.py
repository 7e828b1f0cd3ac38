"""The documents as a site, without any network: a page with a picture for each tool, and what Python offers.

usage: documents.py OUT [--without-pictures]
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal
from urllib.parse import quote

from tb_profile_plugin import sessions, tools
from tb_profile_plugin.api import Capture
from tb_profile_plugin.tools.answers.answer import Column
from tb_profile_plugin.tools.answers.tool import Tool

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "tb_profile_plugin/docs"
BEST = {
    "overview_page": "keras_fit",
    "trace_viewer": "custom_loop",
    "pod_viewer": "two_workers",
    "compare": "eager_loop",
    "roofline_model": "tpu",
}
"""Captures of tests/traces that show a tool well; others are shown with the first that has something for them."""
MORE = {"compare": "&base=custom_loop/run"}
"""What else stands in the address of a tool's page."""
OPTIONS = ["--no-sandbox", "--disable-gpu"]
THEMES: tuple[tuple[Literal["light", "dark"], str], ...] = (("light", ""), ("dark", "-dark"))
PYTHON = {
    "tb_profile_plugin": ["open", "sessions"],
    "tb_profile_plugin.api.Capture": [name for name in dir(Capture.__new__(Capture)) if name in Capture.__dict__],
    "tb_profile_plugin.export.frames.frame.Frame": [],
}
"""What the API reference is of: objects, and which of their members, all where none are named."""


def tool_page(tool: Tool, is_pictured: bool) -> str:
    """A tool's page: its question, how to ask it, its options, and what each of its figures is."""
    question, _, more = tool.doc.partition("\n\n")
    lines = [f"# {tool.title}", "", f"**{_flat(question)}**", ""]
    if more:
        lines += [_flat(more), ""]
    if is_pictured:
        lines += [f"![The page {tool.title}](pictures/{tool.name}.png#only-light)"]
        lines += [f"![The page {tool.title}](pictures/{tool.name}-dark.png#only-dark)", ""]
    if tool.shown_on:
        lines += [f"Its answer stands on the page *{tools.get(tool.shown_on).title}*.", ""]
    lines += ["```sh", f"tb-profile tool {tool.name} logs", "```", ""]
    if tool.params:
        lines += ["## Options", "", "| option | default | what |", "|---|---|---|"]
        lines += [f"| `{param.name}` | {_code(param.default)} | {_cell(param.doc)} |" for param in tool.params]
        lines.append("")
    if tool.facts:
        lines += ["## Facts", "", *_figures(tool.facts)]
    for table in tool.tables:
        lines += [f"## {table.label} (`{table.id}`)", "", *([table.doc, ""] if table.doc else [])]
        lines += _figures(table.columns)
    return "\n".join(lines)


def _figures(columns: Sequence[Column]) -> list[str]:
    rows = [
        f"| `{column.id}` | {_cell(column.label)} | {column.unit or ('' if column.kind == 'number' else column.kind)} "
        f"| {_cell(column.doc)} |"
        for column in columns
    ]
    return ["| id | on the page | unit | what |", "|---|---|---|---|", *rows, ""]


def _flat(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()


def _cell(text: str) -> str:
    return _flat(text).replace("|", "\\|")


def _code(text: str) -> str:
    return f"`{text}`" if text else ""


def api_page() -> str:
    """What Python offers, for mkdocstrings to fill in."""
    lines = ["# Python", "", "What `import tb_profile_plugin` offers. How frames work: [frames.md](frames.md).", ""]
    for name, members in PYTHON.items():
        lines += [f"::: {name}", "    options:", f"      members: {members or 'true'}", ""]
    return "\n".join(lines)


def pictures(folder: Path) -> Iterator[str]:
    """Write a picture of each tool's page, light and dark; yields the tools that have one."""
    sys.path.insert(0, str(ROOT / "tests"))
    import draw
    import drawn
    from playwright.sync_api import sync_playwright
    from tensorboards import address_of

    logdir = ROOT / "build/site-captures"
    shutil.rmtree(logdir, ignore_errors=True)
    shutil.copytree(ROOT / "tests/traces", logdir)
    for name, space in (("nvidia", drawn.nvidia()), ("tpu", drawn.tpu())):
        draw.session(logdir / name, vm=space)
    folder.mkdir(parents=True)
    captures = sorted(sessions(logdir), key=lambda capture: capture.stored.size, reverse=True)
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    command = [sys.executable, "-m", "tb_profile_plugin", "serve", str(logdir), "--port", "0"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        address, _ = address_of(server)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=OPTIONS)
            for tool in tools.all_tools().values():
                capture = _shown_by(tool, captures)
                if capture is None or tool.shown_on:
                    continue
                for theme, ending in THEMES:
                    page = browser.new_page(viewport={"width": 1280, "height": 800}, color_scheme=theme)
                    page.goto(address + f"#run={quote(capture.name)}&tool={tool.name}{MORE.get(tool.name, '')}")
                    page.wait_for_load_state("networkidle", timeout=90_000)
                    page.wait_for_timeout(1_500)  # Charts grow into their place.
                    page.screenshot(path=folder / f"{tool.name}{ending}.png")
                    page.close()
                yield tool.name
            browser.close()
    finally:
        server.kill()


def _shown_by(tool: Tool, captures: Sequence[Capture]) -> Capture | None:
    """The capture that shows a tool best; None where none has anything for it."""
    best = [capture for capture in captures if capture.name.startswith(f"{BEST.get(tool.name)}/")]
    for capture in (*best, *captures):
        if tool.unavailable(capture) is None:
            return capture
    return None


def build(out: Path, with_pictures: bool) -> None:
    """Build the site into a folder; warnings are errors."""
    from mkdocs.commands.build import build as built
    from mkdocs.config import load_config

    source = out.parent / "site-source"
    shutil.rmtree(source, ignore_errors=True)
    shutil.copytree(DOCS, source)
    pictured = set(pictures(source / "tools/pictures")) if with_pictures else set()
    (source / "tools").mkdir(exist_ok=True)
    found = tools.all_tools().values()
    for tool in found:
        (source / f"tools/{tool.name}.md").write_text(tool_page(tool, tool.name in pictured), encoding="utf-8")
    (source / "python.md").write_text(api_page(), encoding="utf-8")
    config = load_config(str(ROOT / "mkdocs.yml"), docs_dir=str(source), site_dir=str(out), strict=True)
    assert config.nav is not None
    for entry in config.nav:
        if isinstance(entry, dict) and "For scripts" in entry:
            entry["For scripts"].insert(0, "python.md")
    config.nav.insert(2, {"Pages": [{tool.title: f"tools/{tool.name}.md"} for tool in found]})
    built(config)


if __name__ == "__main__":
    build(Path(sys.argv[1]).resolve(), "--without-pictures" not in sys.argv)
