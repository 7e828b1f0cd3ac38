"""A drawing of a stretch of time: what is busiest is in it, as text, and it stays small."""

from pathlib import Path
from xml.etree import ElementTree

import draw

from tb_profile_plugin.export.report.picture import picture
from tb_profile_plugin.timeline.tiles import timeline

US = 10**6


def drawn(folder: Path, text: str, begin: int = 0, end: int = 100) -> ElementTree.Element:
    svg = picture(timeline(draw.session(folder, host=draw.space(text)).host("host")), begin * US, end * US)
    return ElementTree.fromstring(svg or "<svg/>")


def texts(svg: ElementTree.Element) -> list[str]:
    return [each.text or "" for each in svg.iter("text")]


def test_slices_lie_where_they_happened(tmp_path: Path) -> None:
    svg = drawn(
        tmp_path, "/device:GPU:0\n  Stream #7 | gemm[0,50] copy[50,50]\n/host:CPU\n  python | loop[0,100] step[10,80]"
    )
    boxes = [tuple(float(each.attrib[key]) for key in ("x", "width")) for each in svg.iter("rect")]
    assert (170.0, 395.0) in boxes and (565.0, 395.0) in boxes and (249.0, 632.0) in boxes
    assert {"gemm", "copy", "loop", "step", "python", "0", "100 µs"} <= set(texts(svg))
    assert texts(svg)[0].startswith("GPU:0")
    half = drawn(tmp_path, "/host:CPU\n  python | loop[0,100]", 50, 100)
    assert [each.attrib["width"] for each in half.iter("rect")] == ["790.0"], "cut at the edges"


def test_names_are_text(tmp_path: Path) -> None:
    svg = drawn(tmp_path, '/host:CPU\n  python | <script>&"[0,100]')
    assert any(text.startswith("<script>&") for text in texts(svg)) and not list(svg.iter("script"))


def test_nothing_is_drawn_of_nothing(tmp_path: Path) -> None:
    assert not list(drawn(tmp_path, "/host:CPU\n  python | loop[0,100]", 200, 300))
    assert not list(drawn(tmp_path, "/host:CPU"))


def test_it_stays_small(tmp_path: Path) -> None:
    lanes = "\n".join(f"  t{i} | " + " ".join(f"op{k}[{k / 4 + i / 1000},0.2]" for k in range(400)) for i in range(20))
    svg = drawn(tmp_path, f"/host:CPU\n{lanes}")
    assert 100 < len(list(svg.iter("rect"))) <= 1500
    assert sum(text.startswith("t") for text in texts(svg)) == 12
